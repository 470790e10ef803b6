"""Ranking: exact cosine over the whole corpus, and the walk down a ranking that decides what is sent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.types import Ints, Vectors


def cosine_scores(questions: Vectors, chunks: Vectors) -> NDArray[np.float64]:
    """The score of every chunk for every question, (q, n), rounded to 6 decimals so that ties are ties everywhere."""
    # In 64 bits: the noise of 32 lies at the sixth decimal, and differs with how many questions are asked at once.
    scores: NDArray[np.float64] = questions.astype(np.float64) @ chunks.astype(np.float64).T
    return scores.round(6)


def rank(scores: NDArray[np.float64]) -> Ints:
    """Chunks by descending score, (q, n); ties by place in the index, which is by document, then start."""
    return np.argsort(-scores, axis=1, kind="stable")


def walk(order: Ints, returned: Ints, repeats: str = "skip") -> Ints:
    """Returned spans in rank order, (m,): `order` holds chunks, `returned[chunk]` is the number of its returned span.

    A span already taken is skipped, unless `repeats` is keep.
    Example: order 2, 0, 1 and returned 7, 8, 7 -> 7, 8
    """
    spans = returned[order]
    if repeats == "keep":
        return spans
    _, first = np.unique(spans, return_index=True)
    return spans[np.sort(first)]


def taken(words: Ints, k: int, budget: int | None) -> int:
    """How many spans are sent: `k`, or as many of the first as hold no more than `budget` words together.

    `words` are the lengths of the spans in rank order.
    """
    if budget is None:
        return min(k, len(words))
    return int(np.searchsorted(np.cumsum(words), budget, "right"))
