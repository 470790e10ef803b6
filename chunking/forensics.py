"""Cut forensics: where the cut fell in a split passage, and which setting would have kept it whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from chunking.index import Index, merged
from chunking.measures import words_of
from chunking.registry import STRATEGIES, Number, Numbers, Parameter, cut
from chunking.types import Chunks, Document, Embed, Passage, Question
from chunking.units import Unit, ruler

_SIZES = ("size", "parent", "sizes", "window", "size_bytes")  # the settings that bound what is returned
_CUTS = 400  # tried for one setting at most


@dataclass(frozen=True, slots=True)
class Remedy:
    """A setting to change, and the value that keeps the passage whole; None where none of the values tried does."""

    setting: str
    value: int | None


@dataclass(frozen=True, slots=True)
class Forensics:
    """What became of a split passage. Places are code points of its document.

    `cuts` are the places inside it where something that could be sent ends or begins; an end and a beginning with white
    space alone between them are one cut. `before` is what holds the most of its beginning, `after` of its end, None
    where nothing does; with them the words of the passage that each holds. What both hold counts in both.
    `remedies` are the smallest overlap and the nearest size, for those of them that the strategy has.
    """

    passage: Passage
    cuts: tuple[int, ...]
    before: Passage | None
    words_before: int
    after: Passage | None
    words_after: int
    remedies: tuple[Remedy, ...]


def in_words(found: Forensics, index: Index) -> str:
    """Forensics in a sentence or two. Example: Cut once: ... An overlap of 8 words would keep it whole."""
    times = {1: "once", 2: "twice"}.get(len(found.cuts), f"{len(found.cuts)} times")
    where = f"Cut {times}: the best chunks hold its first {_words(found.words_before)} and its last {_words(found.words_after)}."
    if not found.remedies:
        return f"{where} Neither an overlap nor a size can be set with {index.config.strategy}."
    unit = index.config.values.get("unit", "")
    helping = [_remedy(remedy, unit) for remedy in found.remedies if remedy.value is not None]
    tried = " or ".join(remedy.setting for remedy in found.remedies)
    return (
        f"{where} {' or '.join(helping).capitalize()} would keep it whole."
        if helping
        else f"{where} No {tried} that was tried keeps it whole."
    )


def _words(count: int) -> str:
    return f"{count:,} word{'' if count == 1 else 's'}"


def _remedy(remedy: Remedy, unit: str) -> str:
    unit = {"window": "sentences", "size_bytes": "bytes"}.get(remedy.setting, unit)
    name = {"overlap": "an overlap", "sizes": "a largest size", "size_bytes": "a size"}.get(
        remedy.setting, f"a {remedy.setting}"
    )
    return f"{name} of {remedy.value:,} {unit if remedy.value != 1 else unit.removesuffix('s')}"


def split_passages(index: Index, question: Question) -> tuple[Passage, ...]:
    """The passages of a question's needs that have none whole in anything that could be sent."""
    split = (need for need in question.needs if not any(map(index.holds, need)))
    return tuple(passage for need in split for passage in need)


def examine(index: Index, passage: Passage, embed: Embed | None = None) -> Forensics:
    """The forensics of a split passage, white space at its ends aside. ValueError where it is not split.

    Strategies that cut by meaning need the embedder; without it they get no remedy.
    """
    passage = index.corpus.trimmed(passage)
    if index.holds(passage):
        raise ValueError(
            f"forensics are for split passages, and {passage.start} to {passage.end} of {passage.document} is whole"
        )
    document = index.corpus.by_id[passage.document]
    base = int(index.source.bases[index.numbers[passage.document]])
    places = np.column_stack(index.sendable) - base
    spans = places[(places[:, 0] < passage.end) & (places[:, 1] > passage.start)].tolist()
    heads = [Passage(passage.document, start, end) for start, end in spans if start <= passage.start]
    tails = [Passage(passage.document, start, end) for start, end in spans if end >= passage.end]
    before = max(heads, key=lambda span: span.end, default=None)
    after = min(tails, key=lambda span: span.start, default=None)
    return Forensics(
        passage, _cuts(index, passage, base, spans),
        before, words_of(document, passage.start, before.end) if before else 0,
        after, words_of(document, after.start, passage.end) if after else 0,
        remedies(index, passage, embed),
    )  # fmt: skip


def _cuts(index: Index, passage: Passage, base: int, spans: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The places inside the passage where a span ends or begins, those with no character between them once."""
    solid = index.source.solid
    inside = sorted({place for span in spans for place in span if passage.start < place < passage.end})
    first = {int(solid[base + place]): place for place in reversed(inside)}
    return tuple(sorted(first.values()))


def remedies(index: Index, passage: Passage, embed: Embed | None = None) -> tuple[Remedy, ...]:
    """The smallest overlap at the same size, and the nearest size at the same overlap, that keep a passage whole.

    Of what bounds the returned span: the size, the parent's, the largest of several, the window. Every whole number is
    tried up to 400 of them, then evenly spaced ones; the stops of the slider where a library or an embedder cuts. Of two
    sizes as near the smaller is given.
    """
    strategy = STRATEGIES.get(index.config.strategy)  # chunks brought along have none
    if strategy is None or (strategy.embeds and embed is None):
        return ()
    by_name = {parameter.name: parameter for parameter in strategy.parameters}
    document = index.corpus.by_id[passage.document]
    trial = _Trial(index, document, passage, embed)
    stops_only = strategy.embeds or bool(strategy.module)
    found = []
    if "overlap" in by_name:
        overlaps = _overlaps(by_name["overlap"], index.config.values["size"], stops_only)
        found.append(Remedy("overlap", trial.first("overlap", overlaps)))
    for name in _SIZES:
        if name in by_name:
            sizes = _stops(by_name[name]) if stops_only else range(1, trial.reach(name) + 1)
            found.append(Remedy(name, trial.first(name, trial.nearest(name, sizes))))
    return tuple(found)


def _overlaps(overlap: Parameter, size: int, stops_only: bool) -> Iterable[int]:
    if stops_only:
        return [stop for stop in _stops(overlap) if stop < size]
    return range(0, size, ceil(size / _CUTS))


def _stops(parameter: Parameter) -> list[int]:
    return [int(stop) for stop in parameter.stops] if isinstance(parameter, Number | Numbers) else []


class _Trial:
    """Cuts one document again and again, with one setting changed."""

    def __init__(self, index: Index, document: Document, passage: Passage, embed: Embed | None) -> None:
        self.index = index
        self.document = document
        self.passage = passage
        self.embed = embed
        self.values = index.config.values

    def first(self, name: str, candidates: Iterable[int]) -> int | None:
        """The first candidate that keeps the passage whole."""
        return next((value for value in candidates if self._keeps(name, value)), None)

    def reach(self, name: str) -> int:
        """The largest size that is tried: twice the present one and the passage on top."""
        unit = Unit(self.values.get("unit", "words"), self.index.token_spans)
        rule = ruler(self.document, unit)
        ends = (np.array([place]) for place in (self.passage.start, self.passage.end))
        start, end = ends
        return 2 * self._present(name) + int((rule.high(end) - rule.low(start))[0])

    def nearest(self, name: str, sizes: Iterable[int]) -> list[int]:
        """The sizes that go with the other settings, nearest to the present one first, no more than may be tried."""
        present, own = self._present(name), self.values[name]
        others = own[:-1] if isinstance(own, tuple) else ()
        least = max(self.values.get("overlap", 0) + 1, self.values.get("child", 1), *(size + 1 for size in others))
        near = sorted(
            (size for size in sizes if size >= least and size != present), key=lambda size: (abs(size - present), size)
        )
        return near[:: ceil(len(near) / _CUTS) or 1]

    def _present(self, name: str) -> int:
        return int(np.max(self.values[name]))

    def _keeps(self, name: str, value: int) -> bool:
        chunks = self._cut(name, value)
        starts, ends = chunks.returned_starts, chunks.returned_ends
        if self.index.merges:
            starts, ends = merged(starts, ends)
        return bool(((starts <= self.passage.start) & (ends >= self.passage.end)).any())

    def _cut(self, name: str, value: int) -> Chunks:
        config, present = self.index.config, self.values[name]
        changed = (*present[:-1], value) if isinstance(present, tuple) else value
        settings: dict[str, Any] = {**self.values, name: changed}
        return cut(self.document, config.strategy, settings, config.scope, self.index.token_spans, self.embed)
