"""What the adapters share: the import when it is needed, lengths in a unit, and spans that were made sure of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from chunking.joined import trimmed
from chunking.libraries.numbered import Numbered
from chunking.parts import Part
from chunking.types import Chunks, Spans
from chunking.units import Unit
from chunking.words import word_spans

REQUIREMENTS = "requirements-libraries.txt"
NOWHERE = -1
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: some libraries take none

Returned = Iterable[tuple[int, str]]  # each text that a library returns, and where it begins in the text it was given


def library(strategy: str, package: str, module: str) -> Any:
    """A module of a package, imported at the first request. ValueError with the command where the package is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ValueError(f"strategy {strategy} needs {package}: install with pip install -r {REQUIREMENTS}") from error


def counter(unit: Unit) -> Callable[[str], int]:
    """What a library is given to measure a text with: its length in a unit."""
    if unit.name == "characters":
        return len
    token_spans = unit.token_spans
    if unit.name == "words" or token_spans is None:
        return _count_words
    return lambda text: len(token_spans(text)) if text else 0


def _count_words(text: str) -> int:
    return len(text.split()) if text.isascii() else len(word_spans(text).starts)


def from_numbered(numbered: Numbered, pieces: Iterable[str]) -> Returned:
    """The texts that a library returns of a numbered text, with their places."""
    places = ((numbered.place(piece), numbered.plain(piece)) for piece in pieces)
    return [(NOWHERE if start is None else start, text) for start, text in places]


def placed(strategy: str, part: Part, split: Callable[[str], Returned]) -> Chunks:
    """What `split` returns of every region as chunks: trimmed, in order of start, then end, each span once.

    Each text is compared with the region at its place. One that does not stand there letter by letter is lost; one of
    white space alone is left out.
    """
    source = part.source
    found: list[tuple[int, int]] = []
    lost: list[tuple[int, str]] = []
    for begin, stop in zip(part.regions.starts.tolist(), part.regions.ends.tolist(), strict=True):
        text = _LONE_SURROGATE.sub("\ufffd", source.text[begin:stop])
        for start, returned in _split(strategy, split, text):
            if start >= 0 and text.startswith(returned, start):
                found.append((begin + start, begin + start + len(returned)))
            elif returned.strip():
                lost.append((begin, returned))
    columns = np.array(found, np.int64).reshape(-1, 2).T
    starts, ends = np.unique(np.column_stack(trimmed(source.words, Spans(*columns))), axis=0).T
    return Chunks(starts, ends, starts, ends, lost=tuple(lost))


def _split(strategy: str, split: Callable[[str], Returned], text: str) -> list[tuple[int, str]]:
    """What the library returns; ValueError with what it said where it gives up on a text."""
    try:
        return list(split(text))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"strategy {strategy}: the library cannot cut a text at these settings: {error}") from error
