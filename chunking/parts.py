"""What a strategy cuts: regions of joined documents, cut apart from one another, as tilings measured in a unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunking.joined import SCOPES, Joined
from chunking.types import Ints, Keeper, Spans
from chunking.units import Ruler, Unit


class Pieces(NamedTuple):
    """Spans in order, measured: the units before each one's start and before its end, and where regions begin.

    The length of pieces i to j joined is `high[j] - low[i]`; `breaks` are the numbers of the regions' first pieces.
    """

    starts: Ints
    ends: Ints
    low: Ints
    high: Ints
    breaks: Ints


@dataclass(frozen=True, eq=False)
class Part(Keeper):
    """Regions of joined documents in order, none overlapping another, each beginning and ending on a non-space character."""

    source: Joined
    regions: Spans

    def ruler(self, unit: Unit) -> Ruler:
        """The ruler of the documents for a unit."""
        return self.source.ruler(unit)

    def tiles(self, level: str) -> Spans:
        """The pieces of a level (section, paragraph, sentence, word), parted at the regions too."""
        return self.keep(level, lambda: self.parted(self.source.level(level)))

    def pieces(self, level: str, unit: Unit) -> Pieces:
        """The pieces of a level, measured in a unit."""
        return self.keep((level, unit), lambda: self.measured(self.tiles(level), unit))

    def parted(self, starts: Ints) -> Spans:
        """The tiling that begins at those `starts` which lie in a region, and at each region's start."""
        return parted(self.source, self.regions, starts)

    def measured(self, tiles: Spans, unit: Unit) -> Pieces:
        """A tiling of the regions with its lengths in a unit."""
        low, high = self.lengths(tiles, unit)
        return Pieces(*tiles, low, high, np.searchsorted(tiles.starts, self.regions.starts))

    def lengths(self, tiles: Spans, unit: Unit) -> tuple[Ints, Ints]:
        """The units before each tile's start and before its end, (n,) each."""
        low, high = self.source.counts(unit)
        return low[tiles.starts], high[tiles.ends]

    def region_of(self, starts: Ints) -> Ints:
        """The number of the region that each position lies in, (n,)."""
        return np.searchsorted(self.regions.starts, starts, "right") - 1


def check_scope(scope: str) -> None:
    """ValueError where there is no such scope."""
    if scope not in SCOPES:
        raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")


def part_of(source: Joined, scope: str) -> Part:
    """The part of the documents that a scope names: all, their sections, or their sections without the headings."""
    check_scope(scope)
    return source.keep(("part", scope), lambda: Part(source, source.regions(scope)))


def parted(source: Joined, regions: Spans, starts: Ints) -> Spans:
    """The tiling of regions that begins at each region's start and at those `starts` that lie inside one."""
    first = np.searchsorted(starts, regions.starts, "right")
    count = np.maximum(np.searchsorted(starts, regions.ends, "left") - first, 0)
    heads = np.cumsum(count + 1) - count - 1  # the places of the regions' own starts
    begins = np.empty(int(count.sum()) + len(count), np.int64)
    inner = np.ones(len(begins), bool)
    inner[heads] = False
    begins[heads] = regions.starts
    begins[inner] = starts[stretches(first, count)]
    stops = np.append(begins[1:], 0)
    stops[heads + count] = regions.ends
    return Spans(begins, source.trimmed_ends(stops))


def stretches(first: Ints, count: Ints) -> Ints:
    """The numbers `first[i]`, `first[i]` + 1, ... of each of several stretches, one after the other.

    Example: first 3, 7 and count 2, 3 -> 3, 4, 7, 8, 9
    """
    return np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
