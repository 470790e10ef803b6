"""Units in which a limit holds: words, characters, or the tokens of a tokenizer. A ruler turns positions into counts."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import partial

import numpy as np

from chunking.segments import words
from chunking.types import Document, Ints, Spans, TokenSpans

UNITS = ("words", "characters", "tokens")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of length; `tokens` needs the tokenizer's `token_spans`."""

    name: str
    token_spans: TokenSpans | None = None

    def __post_init__(self) -> None:
        if self.name not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {self.name!r}")
        if self.name == "tokens" and self.token_spans is None:
            raise ValueError(
                "unit tokens needs a tokenizer: choose the embedder minilm, or the unit words or characters"
            )


@dataclass(frozen=True, slots=True)
class Ruler:
    """The smallest pieces of a document in a unit (`atoms`) and the count of units before each of them.

    `before` has one more entry than there are atoms; None for characters, where a position is its own count.
    """

    atoms: Spans
    before: Ints | None

    def low(self, starts: Ints) -> Ints:
        """Units that end at or before each position, (n,)."""
        if self.before is None:
            return starts
        return self.before[np.searchsorted(self.atoms.ends, starts, "right")]

    def high(self, ends: Ints) -> Ints:
        """Units that begin before each position, (n,); `high(end) - low(start)` is the length of a span."""
        if self.before is None:
            return ends
        return self.before[np.searchsorted(self.atoms.starts, ends, "left")]

    def listed(self, length: int) -> Spans:
        """The atoms, also where they were left out because every one of `length` characters is one."""
        if self.before is None and not len(self.atoms.starts):
            return Spans(np.arange(length), np.arange(1, length + 1))
        return self.atoms

    @property
    def even(self) -> bool:
        """Whether every atom is one unit long, so that a window is arithmetic."""
        if self.before is None:
            return len(self.atoms.starts) == 0
        return int(self.before[-1]) == len(self.atoms.starts)


def ruler(document: Document, unit: Unit) -> Ruler:
    """The ruler of a document for a unit, made once."""
    return document.keep(("ruler", unit), partial(_MAKERS[unit.name], document, unit))


def _words(document: Document, unit: Unit) -> Ruler:
    spans = words(document)
    return Ruler(spans, np.arange(len(spans.starts) + 1))


def _characters(document: Document, unit: Unit) -> Ruler:
    """Atoms only where they matter: what must not be parted (a letter and its accents); else none are listed."""
    text = document.text
    if text.isascii() or not any(map(_joins, set(text))):
        return Ruler(Spans.empty(), None)
    first = np.array([not (_joins(c) or (i and text[i - 1] == "\u200d")) for i, c in enumerate(text)])
    starts = np.flatnonzero(first | np.array([i == 0 or text[i - 1].isspace() for i in range(len(text))]))
    return Ruler(Spans(starts, np.append(starts[1:], len(text))), None)


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: an accent, a variation selector, a joiner, a skin tone."""
    return (
        unicodedata.combining(character) > 0
        or character in "\u200d\ufe0f\ufe0e"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _tokens(document: Document, unit: Unit) -> Ruler:
    """Atoms of whole characters: tokens that share a character are one atom that weighs as many units.

    Non-space characters that no token holds (control characters) go with the atom before them.
    """
    assert unit.token_spans is not None  # Unit refuses it
    spans = np.asarray(unit.token_spans(document.text), np.int64).reshape(-1, 2)
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not len(spans) or not len(words(document).starts):
        return _words(document, unit)
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate(([True], spans[1:, 0] >= reach[:-1]))
    places = np.flatnonzero(first)
    starts = spans[places, 0]
    solid = words(document)
    starts[0] = min(starts[0], solid.starts[0])
    stops = np.append(starts[1:], len(document.text))
    last_word = np.searchsorted(solid.starts, stops, "left") - 1
    ends = np.minimum(stops, solid.ends[last_word])
    return Ruler(Spans(starts, ends), np.append(places, len(spans)))


_MAKERS = {"words": _words, "characters": _characters, "tokens": _tokens}
