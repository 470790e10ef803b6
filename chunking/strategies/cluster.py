"""`cluster`: Chroma's cluster-semantic chunker (B. Smith and A. Troynikov, Evaluating Chunking Strategies, 2024)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chunking.joined import trimmed
from chunking.pack import joined
from chunking.parts import Part, Pieces
from chunking.segmentation import best_segmentation
from chunking.types import Chunks, Embed, Ints, Spans
from chunking.units import Ruler, Unit

PIECE = 50  # units; the published size of a piece
_MOST = 16  # pieces for which the likeness is worked out at once: chunks of 800 units
_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")

Rows = NDArray[np.float64]


def cluster(part: Part, size: int, unit: Unit, embed: Embed) -> Chunks:
    """Joins neighbouring pieces so that the likeness within chunks is largest, at most `size` // 50 of them in a chunk.

    The text is first cut into pieces of at most 50 units at blank lines, line ends, full stops, question and exclamation
    marks, then spaces, as published: a separator opens the piece after it. The likeness of two pieces is their cosine
    less the mean over all pairs of the region, and that of a piece with itself 0; of all segmentations under the cap
    the one with the largest sum within chunks is found by dynamic programming.
    """
    pieces = part.keep(("cluster pieces", unit), lambda: _pieces(part, unit))
    most = size // PIECE
    known = max(most, _MOST)
    key = (unit, embed.identity, known)
    rewards = part.keep(("rewards", *key), lambda: _rewards(part, pieces, known, embed))[:, :most]
    lengths = part.keep(("lengths", *key), lambda: _lengths(pieces, known))[:, :most]
    return joined(pieces, *best_segmentation(np.where(lengths <= size, rewards, -np.inf), pieces.breaks))


def _lengths(pieces: Pieces, most: int) -> Ints:
    """The units of the chunk that ends with piece i and holds j + 1 pieces, (n, most); 0 for a piece alone.

    A piece alone is a chunk, whatever it holds.
    """
    first = np.maximum(np.arange(len(pieces.starts))[:, None] - np.arange(most), 0)
    lengths = pieces.high[:, None] - pieces.low[first]
    lengths[:, 0] = 0
    return lengths


def _rewards(part: Part, pieces: Pieces, most: int, embed: Embed) -> Rows:
    """The likeness within the chunk that ends with piece i and holds j + 1 pieces, (n, most); -inf across a break."""
    text = part.source.text
    texts = [text[start:end] for start, end in zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)]
    vectors = embed(texts, "document").astype(np.float64)
    region = part.region_of(pieces.starts)
    means = _mean_likeness(vectors, pieces.breaks)[region]
    rewards = np.full((len(texts), most), -np.inf)
    rewards[:, 0] = 0
    added = np.zeros(len(texts))  # the likeness of the last piece to the ones before it in the chunk
    for back in range(1, min(most, len(texts))):
        cosines = np.einsum("ij,ij->i", vectors[back:], vectors[:-back])
        added[back:] += cosines - means[back:]
        same = region[back:] == region[:-back]
        rewards[back:, back] = np.where(same, rewards[back - 1 : -1, back - 1] + 2 * added[back:], -np.inf)
    return rewards.round(9)  # so that ties are ties


def _mean_likeness(vectors: Rows, breaks: Ints) -> Rows:
    """The mean cosine over all pairs of different pieces of each region; 0 where there is one piece, (regions,)."""
    count = np.diff(np.append(breaks, len(vectors)))
    total = np.square(np.add.reduceat(vectors, breaks)).sum(axis=1)
    own = np.add.reduceat(np.square(vectors).sum(axis=1), breaks)
    return (total - own) / np.maximum(count * (count - 1), 1)


def _pieces(part: Part, unit: Unit) -> Pieces:
    rule = part.ruler(unit)
    starts: list[int] = []
    for start, end in zip(part.regions.starts.tolist(), part.regions.ends.tolist(), strict=True):
        starts += _split(part.source.text, start, end, _SEPARATORS, rule)
    stops = np.append(np.array(starts[1:], np.int64), part.regions.ends[-1:])
    last = np.searchsorted(starts, part.regions.starts[1:]) - 1
    stops[last] = part.regions.ends[:-1]
    tiles = trimmed(part.source.words, Spans(np.array(starts, np.int64), stops))
    return part.measured(tiles, unit)


def _split(text: str, start: int, end: int, separators: tuple[str, ...], rule: Ruler) -> list[int]:
    """Where the pieces of a span begin: it is parted at the first separator that it holds, short parts are packed."""
    place = next((at for at, one in enumerate(separators) if not one or text.find(one, start, end) >= 0))
    splits = np.array([*_splits(text, start, end, separators[place], rule), end])
    low, high = rule.low(splits[:-1]).tolist(), rule.high(splits[1:]).tolist()
    starts: list[int] = []
    opened: int | None = None  # the units before the open piece, None where none is open
    for number, (at, stop) in enumerate(pairwise(splits.tolist())):
        if high[number] - low[number] >= PIECE and separators[place]:
            starts += _split(text, at, stop, separators[place + 1 :], rule)
            opened = None
        elif opened is None or high[number] - opened > PIECE:
            starts.append(at)
            opened = low[number]
    return starts


def _splits(text: str, start: int, end: int, separator: str, rule: Ruler) -> list[int]:
    """The start of a span and of every separator in it; with the separator '' every atom of the unit."""
    splits = [start]
    if not separator:
        atoms = rule.atoms.starts if len(rule.atoms.starts) else np.arange(start, end)
        return splits + atoms[(atoms > start) & (atoms < end)].tolist()
    at = text.find(separator, start, end)
    while at >= 0:
        if at > start:
            splits.append(at)
        at = text.find(separator, at + len(separator), end)
    return splits
