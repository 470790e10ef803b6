"""Where the blocks of a Markdown document lie, line by line, by a CommonMark parser (tables and front matter too)."""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

_PARSER = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
_PARSER.core.ruler.enableOnly(["normalize", "block"])  # where blocks lie needs no look at what is inside them

_LEAVES = {"paragraph_open": "text", "heading_open": "heading", "fence": "code", "code_block": "code",
           "html_block": "html", "tr_open": "row", "front_matter": "front matter", "hr": "rule"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds text itself: its kind and its lines `[first, last)`; a heading's level and its title as written."""

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
    tokens = _PARSER.parse(text)
    for place, token in enumerate(tokens):
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        first, last = token.map
        if kind == "heading" and token.level == 0:
            found.append(Leaf(kind, first, last, int(token.tag[1:]), " ".join(tokens[place + 1].content.split())))
        else:
            found.append(Leaf("text" if kind == "heading" else kind, first, last))
    return found
