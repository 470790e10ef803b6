"""Where the blocks of a Markdown document lie, line by line, by a CommonMark parser (tables and front matter too)."""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

_PARSER = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
_PARSER.core.ruler.enableOnly(["normalize", "block"])  # where blocks lie needs no look at what is inside them

_LEAVES = {"paragraph_open": "text", "heading_open": "heading", "fence": "code", "code_block": "code",
           "html_block": "html", "tr_open": "row", "front_matter": "front matter", "hr": "rule"}  # fmt: skip
_HOLDERS = {"bullet_list_open": "list", "ordered_list_open": "list", "blockquote_open": "quote"}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block that holds text itself: its kind and its lines `[first, last)`; a heading's level and its title as written.

    `block` is the first line of the outermost block that it stands in (a whole list, table or quote), `item` that of its
    list item or row there; its own first line where it stands in none. `whole` is its own first line, or its table's.
    `within` tells what that outermost block is where it is a list or a quote.
    """

    kind: str
    first: int
    last: int
    level: int = 0
    title: str = ""
    block: int = -1
    item: int = -1
    whole: int = -1
    within: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The leaf blocks of a text in order; by their lines `[first, last)` its outermost blocks, and its tables.

    The first line of a table is the header row.
    """

    leaves: list[Leaf]
    outermost: list[tuple[int, int]]
    tables: list[tuple[int, int]]


def layout(text: str) -> Layout:
    """The leaf blocks of a Markdown text: text, heading, code, html, row (of a table), front matter, rule.

    Only headings that stand outside lists and quotes count as headings; one inside is text.
    """
    found: list[Leaf] = []
    outermost: list[tuple[int, int]] = []
    tables: list[tuple[int, int]] = []
    block = item = -1
    within = ""
    tokens = _PARSER.parse(text)
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map
        if token.level == 0:
            block = item = first
            within = _HOLDERS.get(token.type, "")
            outermost.append((first, last))
        elif token.type == "list_item_open" and token.level == 1:
            item = first
        if token.type == "table_open":
            tables.append((first, last))
        whole = tables[-1][0] if token.type == "tr_open" else first
        kind = _LEAVES.get(token.type)
        if kind == "heading" and token.level == 0:
            title = " ".join(tokens[place + 1].content.split())
            found.append(Leaf(kind, first, last, int(token.tag[1:]), title, block, item, whole))
        elif kind is not None:
            own = kind == "row" and token.level == 2  # of a table that stands in no list or quote
            kind = "text" if kind == "heading" else kind
            found.append(Leaf(kind, first, last, 0, "", block, first if own else item, whole, within))
    return Layout(found, outermost, tables)
