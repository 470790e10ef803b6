"""Ranking: exact cosine over the whole corpus, and the walk down a ranking that decides what is sent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.types import Ints, Passage, Vectors


def cosine_scores(questions: Vectors, chunks: Vectors) -> NDArray[np.float64]:
    """The score of every chunk for every question, (q, n), rounded to 6 decimals so that ties are ties everywhere."""
    # In 64 bits: the noise of 32 lies at the sixth decimal, and differs with how many questions are asked at once.
    scores: NDArray[np.float64] = questions.astype(np.float64) @ chunks.astype(np.float64).T
    scores[:, ~chunks.any(axis=1)] = -1  # without a vector, last
    return scores.round(6)


RRF = 60  # the constant of reciprocal rank fusion, as published


def fused_scores(dense: NDArray[np.float64], keyword: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every chunk by reciprocal rank fusion, (q, n), rounded to 6 decimals.

    1 / (60 + rank) from each of the two rankings, added up (Cormack, Clarke and Büttcher 2009). A chunk that shares no
    term with the question is not in the keyword ranking, and gets nothing from it.
    Example: first by meaning and third by keyword -> 1 / 61 + 1 / 63 = 0.032266
    """
    return (_reciprocal(dense) + np.where(keyword > 0, _reciprocal(keyword), 0)).round(6)


def _reciprocal(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    order = rank(scores)
    places = np.empty(order.shape)
    np.put_along_axis(places, order, np.arange(1.0, order.shape[1] + 1)[None, :], axis=1)
    return 1 / (RRF + places)


def rank(scores: NDArray[np.float64]) -> Ints:
    """Chunks by descending score, (q, n); ties by place in the index, which is by document, then start."""
    return np.argsort(-scores, axis=1, kind="stable")


def walk(order: Ints, returned: Ints, repeats: str = "skip") -> Ints:
    """Returned spans in rank order, (m,): `order` holds chunks, `returned[chunk]` is the number of its returned span.

    A span already taken is skipped, unless `repeats` is keep.
    Example: order 2, 0, 1 and returned 7, 8, 7 -> 7, 8
    """
    spans = returned[order]
    if repeats == "keep" or not len(spans):
        return spans
    place = np.arange(len(spans))
    first = np.empty(int(spans.max()) + 1, np.int64)
    first[spans[::-1]] = place[::-1]  # of places written to the same span the last stays, which is its first
    return spans[first[spans] == place]


def taken(words: Ints, k: int, budget: int | None) -> int:
    """How many spans are sent: `k`, or as many of the first as hold no more than `budget` words together.

    `words` are the lengths of the spans in rank order.
    """
    if budget is None:
        return min(k, len(words))
    return int(np.searchsorted(np.cumsum(words), budget, "right"))


class Union:
    """Spans taken in rank order and merged where they overlap: `parts` are what is sent, in order of their first span."""

    def __init__(self) -> None:
        self.parts: list[Passage] = []

    def add(self, span: Passage) -> Passage | None:
        """The part that holds the span now; None where it was held already, so that nothing is added."""
        over = [
            part for part in self.parts
            if part.document == span.document and part.start < span.end and span.start < part.end
        ]  # fmt: skip
        if any(part.start <= span.start and span.end <= part.end for part in over):
            return None
        merged = Passage(
            span.document, min(part.start for part in [*over, span]), max(part.end for part in [*over, span])
        )
        if not over:
            self.parts.append(merged)
            return merged
        self.parts[self.parts.index(over[0])] = merged
        self.parts = [part for part in self.parts if part not in over[1:]]
        return merged
