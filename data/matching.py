"""Finding a quoted passage in a document: exactly, or with Unicode forms, quotes and white space made alike."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from chunking.types import Document

_LIKE = {ord(mark): "'" for mark in "‘’‚‛"} | {ord(mark): '"' for mark in "“”„‟"} | {ord(mark): "-" for mark in "‐‑–—"}
_SOFT_HYPHEN = "\u00ad"
# A letter with its accents, a word parted by a hyphen at a line's end, a run of white space, any other character.
_UNIT = re.compile(r"(?<=\w)-\n[ \t]*(?=\w)|\s+|\S[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]*")


@dataclass(frozen=True, slots=True)
class Match:
    """Where a quote was found, and whether letter by letter."""

    start: int
    end: int
    exact: bool


def find_all(document: Document, quote: str) -> list[Match]:
    """All places of a quote in a document, white space at its ends aside; [] where there is none.

    Places that are the same letter by letter are preferred; only without any are forms that look alike searched. A match
    never parts a letter from its accent.
    """
    quote = quote.strip()
    if not quote:
        return []
    exact = [Match(start, end, True) for start, end in _occurrences(document.text, quote) if _whole(document.text, end)]
    if exact:
        return exact
    text, starts, ends = document.keep("alike", lambda: _alike(document.text))
    wanted = _alike(quote)[0].strip()
    return [Match(starts[start], ends[end - 1], False) for start, end in _occurrences(text, wanted)]


def _occurrences(text: str, quote: str) -> list[tuple[int, int]]:
    found = []
    start = text.find(quote) if quote else -1
    while start >= 0:
        found.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    return found


def _whole(text: str, end: int) -> bool:
    return end >= len(text) or not unicodedata.combining(text[end])


def _alike(text: str) -> tuple[str, list[int], list[int]]:
    """A text in one Unicode form (NFKC), straight quotes, single blanks, no hyphens at line ends; and where each of its
    characters comes from: start and end in the text given."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for unit in _UNIT.finditer(text):
        raw = unit.group()
        if raw.isspace():
            like = " "
        elif raw == _SOFT_HYPHEN or "\n" in raw:
            like = ""
        else:
            like = unicodedata.normalize("NFKC", raw).translate(_LIKE)
        parts.append(like)
        starts += [unit.start()] * len(like)
        ends += [unit.end()] * len(like)
    return "".join(parts), starts, ends
