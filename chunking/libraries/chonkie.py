"""Chonkie's chunkers: recursive, token, sentence and fast (`chonkie`)."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from chunking.libraries.common import counter, library, placed
from chunking.parts import Part
from chunking.types import Chunks
from chunking.units import Unit
from chunking.words import word_spans


def chonkie_recursive(part: Part, size: int, unit: Unit) -> Chunks:
    """Chunks of `RecursiveChunker`: line ends, sentences, pauses, spaces, then the unit itself, and merged."""
    return _cut("chonkie_recursive", "RecursiveChunker", part, unit, chunk_size=size)


def chonkie_token(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `TokenChunker`: a window of so many units."""
    return _cut("chonkie_token", "TokenChunker", part, unit, chunk_size=size, chunk_overlap=overlap)


def chonkie_sentence(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `SentenceChunker`: whole sentences, as it finds them, up to the limit; one over it stays whole."""
    return _cut("chonkie_sentence", "SentenceChunker", part, unit, chunk_size=size, chunk_overlap=overlap)


def chonkie_fast(part: Part, size_bytes: int) -> Chunks:
    """Chunks of `FastChunker`: at most `size_bytes` bytes, cut behind the last line end, full stop or question mark in them.

    Where there is none it cuts at the byte, and gives up if a character is parted.
    """
    chunker = library("chonkie_fast", "chonkie", "chonkie").FastChunker(chunk_size=size_bytes)
    return placed("chonkie_fast", part, lambda text: [(one.start_index, one.text) for one in chunker.chunk(text)])


def _cut(strategy: str, name: str, part: Part, unit: Unit, **settings: int) -> Chunks:
    tokenizer = _tokenizer(unit, library(strategy, "chonkie", "chonkie.tokenizer"))
    chunker = getattr(library(strategy, "chonkie", "chonkie"), name)(tokenizer=tokenizer, **settings)
    return placed(strategy, part, lambda text: [(one.start_index, one.text) for one in chunker.chunk(text)])


def _tokenizer(unit: Unit, tokenizers: Any) -> Any:
    """A tokenizer whose tokens are the pieces of a text themselves, each with the white space after it.

    What Chonkie cuts by tokens is then the text letter by letter, and so its places are right: with its own tokenizer
    'word' a space is lost between two chunks, and every later place is one less than it should be.
    """
    own = SimpleNamespace(
        encode=lambda text: _pieces(text, unit), decode="".join, count_tokens=counter(unit),
        decode_batch=lambda groups: ["".join(group) for group in groups],
    )  # fmt: skip
    return tokenizers.ChonkieAutoTokenizer(own)


def _pieces(text: str, unit: Unit) -> list[str]:
    if unit.name == "characters":
        return list(text)
    if unit.name == "words" or unit.token_spans is None:
        starts = word_spans(text).starts
    else:
        starts = np.reshape(unit.token_spans(text), (-1, 2))[:, 0]
    return [text[start:stop] for start, stop in pairwise([0, *starts[1:].tolist(), len(text)])]
