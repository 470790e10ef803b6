"""`semantic`: a new chunk wherever two neighbouring sentences are less alike than a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.pack import packed
from chunking.parts import Part
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks, Embed, Ints
from chunking.units import Unit


def semantic(
    part: Part, cut_by: str, threshold: float, percentile: float, size: int, buffer: int, unit: Unit, oversize: str, embed: Embed
) -> Chunks:  # fmt: skip
    """Packs sentences; a chunk ends where the next sentence is unlike it, or at the cap `size`.

    `cut_by` threshold: where the cosine of the two is below `threshold`; with one below every similarity it equals
    `sentence`. `cut_by` percentile: where their distance (1 less the cosine) is above that percentile of the distances in the
    region, as LangChain's SemanticChunker and G. Kamradt's notebook do. With a `buffer` a sentence is embedded together
    with so many of its neighbours on each side. A sentence over the cap stays whole (`oversize` keep) or is cut between
    words (cut), and its words are not parted by likeness.
    """
    alike = similarities(part, embed, buffer)
    unlike = alike < threshold if cut_by == "threshold" else _distant(part, embed, buffer, percentile)
    changes = part.tiles("sentence").starts[1:][unlike]
    if oversize == "keep":
        pieces = part.pieces("sentence", unit)
    else:
        pieces = cut_oversize(part, ("sentence", "word"), size, unit)
    begins = np.zeros(len(pieces.starts), bool)
    begins[pieces.breaks] = True
    begins[np.searchsorted(pieces.starts, changes)] = True
    return packed(pieces, size, breaks=np.flatnonzero(begins))


def similarities(part: Part, embed: Embed, buffer: int = 0) -> NDArray[np.float64]:
    """The cosine of each sentence and the next, rounded to 6 decimals so that equal sentences are alike exactly, (n - 1,).

    Sentences on either side of a region's border are neighbours here too; the border parts them anyway.
    """
    return part.keep(("similarities", embed.identity, buffer), lambda: _similarities(part, embed, buffer))


def inner(part: Part) -> NDArray[np.bool_]:
    """Which of the borders between two sentences lie inside a region, (n - 1,)."""
    return part.keep("inner", lambda: np.diff(part.region_of(part.tiles("sentence").starts)) == 0)


def _similarities(part: Part, embed: Embed, buffer: int) -> NDArray[np.float64]:
    starts, ends = part.tiles("sentence")
    if len(starts) < 2:
        return np.zeros(max(0, len(starts) - 1))
    place = np.arange(len(starts))
    region = part.region_of(starts)
    first = starts[np.maximum(place - buffer, np.searchsorted(region, region, "left"))]
    last = ends[np.minimum(place + buffer, np.searchsorted(region, region, "right") - 1)]
    text = part.source.text
    vectors = embed([text[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)], "document")
    rows = vectors.astype(np.float64)
    return np.round(np.einsum("ij,ij->i", rows[:-1], rows[1:]), 6)


def _distant(part: Part, embed: Embed, buffer: int, percentile: float) -> NDArray[np.bool_]:
    """Which borders are wider than the percentile of those in their region, (n - 1,)."""
    distances = np.round(1 - similarities(part, embed, buffer), 6)  # 1 - 0.7 is not 0.3
    if not len(distances) or not inner(part).any():
        return np.zeros(len(distances), bool)
    number, count, ranked = part.keep(("ranked", embed.identity, buffer), lambda: _ranked(part, distances))
    # numpy's linear percentile for all regions at once: between the two nearest of the sorted distances.
    place = (count - 1) * percentile / 100
    low = np.floor(place).astype(np.int64)
    first = np.cumsum(count) - count
    below, above = (ranked[first + np.clip(at, 0, count - 1)] for at in (low, low + 1))
    limit = below + (above - below) * (place - low)
    return inner(part) & (distances > np.round(limit, 9)[number])


def _ranked(part: Part, distances: NDArray[np.float64]) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """For each border its region's place among those that have borders, their counts, and their sorted distances."""
    inside = inner(part)
    regions = part.region_of(part.tiles("sentence").starts[1:])
    names, count = np.unique(regions[inside], return_counts=True)
    ranked = distances[inside][np.lexsort((distances[inside], regions[inside]))]
    return np.minimum(np.searchsorted(names, regions), max(0, len(names) - 1)), count, ranked
