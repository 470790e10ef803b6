"""What a strategy cuts: regions of a document, cut apart from one another, as tilings measured in a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from chunking.segments import blocks, heading_of, headings, section_starts, words
from chunking.types import Chunks, Document, Ints, Spans
from chunking.units import Unit, ruler

SCOPES = ("document", "section", "body")


class Pieces(NamedTuple):
    """A tiling of a part, measured: spans, the units before each piece's start and before its end, where regions begin.

    The length of pieces i to j joined is `high[j] - low[i]`. `low`, `high` and `breaks` are lists: bisect is fast on them.
    """

    starts: Ints
    ends: Ints
    low: list[int]
    high: list[int]
    breaks: list[int]


@dataclass(frozen=True, eq=False)
class Part:
    """Regions of a document in order, none overlapping another. What was found in them is kept with them."""

    document: Document
    regions: Spans
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value kept under `key`, made at the first request."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def tiles(self, level: str) -> Spans:
        """The pieces of a level (section, paragraph, sentence, word), parted at the regions too."""
        return self.keep(level, lambda: self.parted(level_starts(self.document, level)))

    def pieces(self, level: str, unit: Unit) -> Pieces:
        """The pieces of a level, measured in a unit."""
        return self.keep((level, unit), lambda: self.measured(self.tiles(level), unit))

    def parted(self, starts: Ints) -> Spans:
        """The tiling that begins at those `starts` which lie in a region, and at each region's start."""
        regions = self.regions
        if len(regions.starts) == 1:
            inside = starts[
                np.searchsorted(starts, regions.starts[0], "right") : np.searchsorted(starts, regions.ends[0])
            ]
            begins = np.concatenate((regions.starts, inside))
            stops = np.append(begins[1:], regions.ends)
        else:
            region = np.searchsorted(regions.starts, starts, "right") - 1
            inside = starts[(region >= 0) & (starts < regions.ends[region])]
            begins = np.union1d(regions.starts, inside)
            region = np.searchsorted(regions.starts, begins, "right") - 1
            stops = np.minimum(np.append(begins[1:], len(self.document.text)), regions.ends[region])
        return Spans(begins, trimmed_ends(self.document, stops))

    def measured(self, tiles: Spans, unit: Unit) -> Pieces:
        """A tiling with its lengths in a unit."""
        rule = ruler(self.document, unit)
        breaks = np.searchsorted(tiles.starts, self.regions.starts).tolist()
        return Pieces(*tiles, rule.low(tiles.starts).tolist(), rule.high(tiles.ends).tolist(), breaks)


def part_of(document: Document, scope: str) -> Part:
    """The part of a document that a scope names: the whole, its sections, or its sections without their headings."""
    if scope not in SCOPES:
        raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")
    return document.keep(("part", scope), lambda: Part(document, _regions(document, scope)))


def _regions(document: Document, scope: str) -> Spans:
    spans = words(document)
    if not len(spans.starts):
        return Spans.empty()
    if scope == "document":
        return Spans(spans.starts[:1], spans.ends[-1:])
    starts = section_starts(document)
    stops = np.append(starts[1:], len(document.text))
    if scope == "body":
        place = heading_of(document, starts)
        head_ends = np.array([heading.end for heading in headings(document)] + [0])[place]
        starts = np.maximum(starts, head_ends)
    return trimmed(document, Spans(starts, stops))


def level_starts(document: Document, level: str) -> Ints:
    """Where the pieces of a level begin in the whole document. Each level parts wherever the one above it does."""
    if level == "section":
        return section_starts(document)
    if level == "paragraph":
        return blocks(document).paragraphs
    if level == "sentence":
        return blocks(document).sentences
    return document.keep("word_starts", lambda: np.union1d(words(document).starts, blocks(document).sentences))


def solid_starts(document: Document, starts: Ints) -> Ints:
    """Each start moved on to the next non-space character, each place once."""
    spans = words(document)
    place = np.searchsorted(spans.ends, starts, "right")
    return np.unique(np.maximum(starts, np.append(spans.starts, len(document.text))[place]))


def trimmed_ends(document: Document, ends: Ints) -> Ints:
    """Each end moved back to just behind the last non-space character before it, (n,)."""
    spans = words(document)
    return np.minimum(ends, spans.ends[np.searchsorted(spans.starts, ends, "left") - 1])


def trimmed(document: Document, tiles: Spans) -> Spans:
    """The spans without white space at their ends; those of white space alone are left out."""
    spans = words(document)
    place = np.searchsorted(spans.ends, tiles.starts, "right")
    starts = np.maximum(tiles.starts, np.append(spans.starts, len(document.text))[place])
    ends = trimmed_ends(document, tiles.ends)
    solid = ends > starts
    return Spans(starts[solid], ends[solid])


def joined(pieces: Pieces | Spans, firsts: list[int], lasts: list[int]) -> Chunks:
    """The chunks made of pieces `firsts[i]` to `lasts[i]`, both included."""
    return Chunks.plain(pieces.starts[firsts], pieces.ends[lasts])
