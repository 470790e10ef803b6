"""Where the blocks of a Markdown document lie, line by line, by a CommonMark parser (tables and front matter too)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

_PARSER = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
_BLOCKS = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])  # titles alone need the inline pass: most of the time is saved

_LEAVES = {"paragraph_open": "text", "heading_open": "heading", "fence": "code", "code_block": "code",
           "html_block": "html", "tr_open": "row", "front_matter": "front matter", "hr": "rule"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds text itself: its kind and its lines `[first, last)`; a heading's level and title."""

    kind: str
    first: int
    last: int
    level: int = 0
    title: str = ""


def leaves(text: str) -> list[Leaf]:
    """The leaf blocks of a Markdown text in order: text, heading, code, html, row (of a table), front matter, rule.

    Only headings that stand outside lists and quotes count as headings; one inside is text.
    """
    found = []
    tokens = _BLOCKS.parse(text)
    for place, token in enumerate(tokens):
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        first, last = token.map
        if kind == "heading" and token.level == 0:
            found.append(Leaf(kind, first, last, int(token.tag[1:]), _plain(tokens[place + 1].content)))
        else:
            found.append(Leaf("text" if kind == "heading" else kind, first, last))
    return found


def _plain(source: str) -> str:
    """A heading's text without its marks. Example: 'The `cut` of **all**' -> 'The cut of all'"""
    parts: list[str] = []
    for token in _PARSER.parseInline(source):
        _gather(token.children or [], parts)
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _gather(tokens: list[Token], parts: list[str]) -> None:
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.children:
            _gather(token.children, parts)
