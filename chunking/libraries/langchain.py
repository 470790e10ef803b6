"""LangChain's text splitters: recursive, and by Markdown headings (`langchain-text-splitters`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from chunking.libraries.common import NOWHERE, Returned, counter, from_numbered, library, placed
from chunking.libraries.numbered import Numbered
from chunking.parts import Part
from chunking.types import Chunks
from chunking.units import Unit

_PACKAGE, _MODULE = "langchain-text-splitters", "langchain_text_splitters"
_SEPARATORS: dict[str, list[str] | None] = {"default": None, "words": ["\n\n", "\n", " "]}
_MARK = re.compile(r"\\?[#`*_-]")  # in the patterns that LangChain lists for Markdown
_LINE = re.compile(r"[^\n]+")


def langchain_recursive(part: Part, size: int, overlap: int, unit: Unit, separators: str) -> Chunks:
    """Chunks of `RecursiveCharacterTextSplitter`.

    `separators`: its own (default: blank lines, line ends, spaces, then characters), the same without characters
    (words), or those it lists for Markdown (markdown). The places that it can add to its chunks are not used: with an
    overlap they are wrong.
    """
    splitters = library("langchain_recursive", _PACKAGE, _MODULE)
    count = counter(unit)

    def split(text: str) -> Returned:
        numbered = Numbered.of(text)
        splitter = splitters.RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, length_function=lambda piece: count(numbered.plain(piece)),
            **_separators(splitters, separators, numbered),
        )  # fmt: skip
        return from_numbered(numbered, splitter.split_text(numbered.numbered))

    return placed("langchain_recursive", part, split)


def _separators(splitters: Any, name: str, numbered: Numbered) -> dict[str, Any]:
    """The arguments that set the separators, in a numbered text."""
    if name != "markdown":
        return {"separators": _SEPARATORS[name]}
    patterns = splitters.RecursiveCharacterTextSplitter.get_separators_for_language(splitters.Language.MARKDOWN)
    found = [_MARK.sub(lambda mark: f"[{numbered.marks(mark.group()[-1])}]", pattern) for pattern in patterns]
    return {"separators": found, "is_separator_regex": True}


def langchain_markdown(part: Part, levels: int, headings: str) -> Chunks:
    """Chunks of `MarkdownHeaderTextSplitter`: what stands below headings of the first `levels` levels.

    The heading itself is left out (`headings` drop, as the splitter does) or kept. It strips every line, leaves blank
    lines out and joins what remains. A chunk whose words are not those of a span of the document is lost: where two
    sections of one title are joined without the heading between them, or a character that cannot be printed is left
    out within a line (a tab, a no-break space, the joiner of an emoji).
    """
    splitters = library("langchain_markdown", _PACKAGE, _MODULE)
    marks = [("#" * level, f"Header {level}") for level in range(1, levels + 1)]
    splitter = splitters.MarkdownHeaderTextSplitter(marks, strip_headers=headings == "drop")
    return placed("langchain_markdown", part, lambda text: _in_lines(text, splitter.split_text(text)))


def _in_lines(text: str, documents: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """The span of the text that has each document's lines: they follow one another as the lines of the text do."""
    lines = [(line.start(), line.end(), _printable(line.group())) for line in _LINE.finditer(text)]
    at = 0
    for document in documents:
        returned: str = document.page_content
        held: list[int] = []
        for one in filter(None, map(_printable, returned.split("\n"))):
            while at < len(lines) and lines[at][2] != one:
                at += 1
            held += lines[at][:2] if at < len(lines) else ()
            at += 1
        own = text[held[0] : held[-1]] if held else ""
        yield (held[0], own) if held and own.split() == returned.split() else (NOWHERE, returned)


def _printable(line: str) -> str:
    """What the splitter keeps of a line."""
    return "".join(filter(str.isprintable, line)).strip()
