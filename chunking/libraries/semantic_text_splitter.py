"""The splitters of `semantic-text-splitter`, for text and for Markdown."""

from __future__ import annotations

from typing import Any

from chunking.libraries.common import Returned, counter, library, placed
from chunking.parts import Part
from chunking.types import Chunks
from chunking.units import Unit

_PACKAGE, _MODULE = "semantic-text-splitter", "semantic_text_splitter"


def semantic_text_splitter(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `TextSplitter`: the largest of line ends, sentences, words and characters whose parts fit."""
    return _cut("semantic_text_splitter", "TextSplitter", part, size, overlap, unit)


def semantic_markdown_splitter(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `MarkdownSplitter`: the same with Markdown's headings, blocks and inline elements above sentences."""
    return _cut("semantic_markdown_splitter", "MarkdownSplitter", part, size, overlap, unit)


def _cut(strategy: str, name: str, part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    kind = getattr(library(strategy, _PACKAGE, _MODULE), name)
    in_characters = unit.name == "characters"
    splitter = kind(size, overlap) if in_characters else kind.from_callback(counter(unit), size, overlap)
    return placed(strategy, part, lambda text: _indices(splitter, text))


def _indices(splitter: Any, text: str) -> Returned:
    """Its chunks with their places; ValueError where it panics, which no `except Exception` would see.

    It does so where a chunk that was trimmed is followed by one that begins with the indent trimmed from it.
    """
    try:
        found: Returned = splitter.chunk_indices(text)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(str(error)) from error
    return found
