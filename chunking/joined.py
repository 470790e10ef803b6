"""Documents laid end to end, so that one pass of arithmetic cuts them all: a position is a document's base + an offset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from chunking.segments import blocks, headings, level_starts, section_starts, solid, words, words_begun, words_within
from chunking.types import Corpus, Document, Ints, Keeper, Spans
from chunking.units import Ruler, Unit, ruler

SCOPES = ("document", "section", "body")


@dataclass(frozen=True, eq=False)
class Joined(Keeper):
    """Documents in order, one line end between two of them. What was found in each is moved to its place, once."""

    documents: tuple[Document, ...]

    @cached_property
    def bases(self) -> Ints:
        """Where each document begins, and where one more would, (n + 1,)."""
        return np.array([0, *accumulate(len(document.text) + 1 for document in self.documents)], np.int64)

    @cached_property
    def text(self) -> str:
        """All texts, a line end between two of them."""
        return "\n".join(document.text for document in self.documents)

    @cached_property
    def words(self) -> Spans:
        """The spans of all words."""
        return self.spans(words)

    @cached_property
    def solid(self) -> Ints:
        """The number of non-space characters before each position, (len(text) + 1,)."""
        return self._counts(solid)

    @cached_property
    def words_begun(self) -> Ints:
        """The number of words that begin before each position, (len(text) + 1,)."""
        return self._counts(words_begun)

    @cached_property
    def headings(self) -> Spans:
        """The spans of all heading lines."""
        return self.spans(_heading_spans)

    @cached_property
    def tables(self) -> Spans:
        """The spans of all tables."""
        return self.spans(lambda document: blocks(document).tables)

    @cached_property
    def table_heads(self) -> Spans:
        """The spans of all tables' header rows."""
        return self.spans(lambda document: blocks(document).table_heads)

    def level(self, name: str) -> Ints:
        """Where the pieces of a level begin (`chunking.segments.level_starts`)."""
        return self.keep(("level", name), lambda: self.starts(lambda document: level_starts(document, name)))

    def ruler(self, unit: Unit) -> Ruler:
        """The ruler of all documents for a unit."""
        return self.keep(("ruler", unit), lambda: self._ruler(unit))

    def counts(self, unit: Unit) -> tuple[Ints, Ints]:
        """For every position, the units that end at or before it, and those that begin before it, (len(text) + 1,) each.

        The ruler's `low` and `high` looked up: many lengths cost no search.
        """
        return self.keep(("counts", unit), lambda: self._tables(unit))

    def trimmed_ends(self, ends: Ints) -> Ints:
        """Each end moved back to just behind the last non-space character before it, (n,)."""
        return np.minimum(ends, self.words.ends[self.words_begun[ends] - 1])

    def regions(self, scope: str) -> Spans:
        """What a scope names: each document, its sections, or its sections without their headings."""
        return self.keep(("regions", scope), lambda: self.spans(lambda document: regions_of(document, scope)))

    def number(self, positions: Ints) -> Ints:
        """The number of the document that each position lies in, (n,)."""
        return np.searchsorted(self.bases, positions, "right") - 1

    def count_words(self, starts: Ints, ends: Ints) -> Ints:
        """Words that lie in each span, at least in part, (n,)."""
        return words_within(self.words, starts, ends)

    def starts(self, of: Callable[[Document], Ints]) -> Ints:
        """What is found in each document, moved to its place."""
        if len(self.documents) == 1:
            return of(self.documents[0])
        found = [of(document) + base for document, base in zip(self.documents, self.bases.tolist(), strict=False)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def spans(self, of: Callable[[Document], Spans]) -> Spans:
        """The spans found in each document, moved to their places."""
        found = [of(document) for document in self.documents]
        if len(found) == 1:
            return found[0]
        moved = [(a + base, b + base) for (a, b), base in zip(found, self.bases.tolist(), strict=False)]
        return Spans(*(np.concatenate(column) for column in zip(Spans.empty(), *moved, strict=True)))

    def _tables(self, unit: Unit) -> tuple[Ints, Ints]:
        rule, size = self.ruler(unit), int(self.bases[-1])
        if rule.before is None:
            return np.arange(size), np.arange(size)
        ended = np.cumsum(np.bincount(rule.atoms.ends, minlength=size))
        begun = np.cumsum(np.bincount(rule.atoms.starts + 1, minlength=size))[:size]
        return rule.before[ended], rule.before[begun]

    def _counts(self, of: Callable[[Document], Ints]) -> Ints:
        """Cumulative counts of each document, carried on from one to the next."""
        found = [of(document) for document in self.documents]
        before = [0, *accumulate(int(counts[-1]) for counts in found)]
        return np.concatenate([np.zeros(0, np.int64), *(a + b for a, b in zip(found, before, strict=False))])

    def _ruler(self, unit: Unit) -> Ruler:
        rulers = [ruler(document, unit) for document in self.documents]
        if len(rulers) == 1:
            return rulers[0]
        if all(rule.before is None and not len(rule.atoms.starts) for rule in rulers):
            return Ruler(Spans.empty(), None)
        atoms = self.spans(lambda document: ruler(document, unit).listed(len(document.text)))
        if any(rule.before is None for rule in rulers):
            return Ruler(atoms, None)
        before = [0, *accumulate(int(rule.before[-1]) for rule in rulers if rule.before is not None)]
        counts = [
            rule.before[:-1] + count for rule, count in zip(rulers, before, strict=False) if rule.before is not None
        ]
        return Ruler(atoms, np.concatenate([*counts, np.array(before[-1:], np.int64)]))


def joined(corpus: Corpus) -> Joined:
    """The documents of a corpus laid end to end, made once."""
    return corpus.keep("joined", lambda: Joined(corpus.documents))


def alone(document: Document) -> Joined:
    """One document by itself, made once; positions are its offsets."""
    return document.keep("joined", lambda: Joined((document,)))


def regions_of(document: Document, scope: str) -> Spans:
    """The whole of a document, its sections, or its sections without their headings; none where there is no word."""
    spans = words(document)
    if not len(spans.starts):
        return Spans.empty()
    if scope == "document":
        return Spans(spans.starts[:1], spans.ends[-1:])
    starts = section_starts(document)
    stops = np.append(starts[1:], len(document.text))
    if scope == "body":
        heads = _heading_spans(document)
        place = np.searchsorted(heads.starts, starts, "right") - 1
        starts = np.maximum(starts, np.append(heads.ends, 0)[place])
    return trimmed(spans, Spans(starts, stops))


def solid_starts(spans: Spans, starts: Ints) -> Ints:
    """Each start moved on to the next non-space character, each place once; `spans` are those of the words."""
    place = np.searchsorted(spans.ends, starts, "right")
    return np.unique(np.maximum(starts, np.append(spans.starts, np.iinfo(np.int64).max)[place]))


def trimmed(spans: Spans, tiles: Spans) -> Spans:
    """The tiles without white space at their ends, and without those of white space alone."""
    place = np.searchsorted(spans.ends, tiles.starts, "right")
    starts = np.maximum(tiles.starts, np.append(spans.starts, np.iinfo(np.int64).max)[place])
    ends = np.minimum(tiles.ends, spans.ends[np.searchsorted(spans.starts, tiles.ends, "left") - 1])
    whole = ends > starts
    return Spans(starts[whole], ends[whole])


def _heading_spans(document: Document) -> Spans:
    heads = headings(document)
    return Spans(np.array([head.start for head in heads], np.int64), np.array([head.end for head in heads], np.int64))
