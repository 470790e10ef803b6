"""Late pooling: a chunk's vector is the mean of its tokens' vectors, each read in the context of its whole document.

Late chunking, after Günther, Mohr, Williams, Wang and Xiao 2024 (arXiv 2409.04701).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.index import Index
from chunking.types import Embed, Ints, TokenSums, Vectors


def late_vectors(index: Index, embed: Embed) -> Vectors:
    """The vector of each chunk, (n, d), of unit length: the mean over the tokens that have a character in its span.

    The tokens of a context prefix, read by themselves, count like the chunk's own. A chunk without any token has a
    vector of zeros: it is like nothing. Once a document's tokens are known no cut of it needs the model.
    ValueError where the embedder has no token vectors.
    """
    if embed.token_sums is None:
        raise ValueError(f"pooling late needs the vectors of tokens, and {embed.name} gives none: choose minilm")
    documents = embed.token_sums([document.text for document in index.corpus.documents])
    distinct = [prefix for prefix in dict.fromkeys(index.prefixes) if prefix]
    prefixes = dict(zip(distinct, embed.token_sums(distinct), strict=True)) if distinct else {}
    sums = np.zeros((len(index), documents[0].sums.shape[1]))
    for number, tokens in enumerate(documents):
        rows = np.flatnonzero(index.documents == number)
        sums[rows] = _span_sums(tokens, index.starts[rows], index.ends[rows])
    for row, prefix in enumerate(index.prefixes):
        if prefix:
            sums[row] += prefixes[prefix].sums[-1]
    # The mean and the sum point the same way, and only the direction counts.
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(length > 0, length, 1)).astype(np.float32)


def _span_sums(tokens: TokenSums, starts: Ints, ends: Ints) -> NDArray[np.float64]:
    """The sum of the vectors of the tokens that have a character in each span, (n, d)."""
    first = np.searchsorted(tokens.ends, starts, "right")
    after = np.searchsorted(tokens.starts, ends, "left")
    return tokens.sums[np.maximum(first, after)] - tokens.sums[first]
