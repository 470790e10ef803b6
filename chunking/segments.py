"""Segment once: the words, sentences, paragraphs, headings and sections of a document, found at the first request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chunking.markdown import Layout, Leaf, layout
from chunking.sentences import sentence_starts
from chunking.types import Document, Heading, Ints, Spans
from chunking.words import code_points, is_space, word_spans

_LINE_END = re.compile(r"\r\n?|\n")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-+*•]|\d{1,9}[.)])[ \t]+\S")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Where the blocks of a document begin, its headings and its tables.

    `paragraphs`, `blocks`, `items`, `parts` and `sentences` are the starts of tilings: each tile goes on to the next start. A
    paragraph is what blank lines part (blank lines inside code do not); a heading is one of its own. A block is a
    paragraph, a whole list, table, quote or piece of code, as the parser has it; an item is a block, or a list item or
    table row in it; a part is an item, or a paragraph, whole table or piece of code in it. A list item, a table row and a line of code are each at least one sentence. `tables` are the spans
    of whole tables, `table_heads` those of their header rows. `looks` are the starts of lines from which on the text is
    of another kind, each with the kind: heading 1 to heading 6, list, quote, table, code, text.
    """

    paragraphs: Ints
    blocks: Ints
    items: Ints
    parts: Ints
    sentences: Ints
    headings: tuple[Heading, ...]
    tables: Spans
    table_heads: Spans
    looks: tuple[tuple[int, str], ...]


def words(document: Document) -> Spans:
    """The spans of all words."""
    return document.keep("words", lambda: word_spans(document.text))


def solid(document: Document) -> Ints:
    """The number of non-space characters before each position, (len(text) + 1,): lengths are its differences."""
    return document.keep("solid", lambda: np.concatenate(([0], np.cumsum(~is_space(code_points(document.text))))))


def words_begun(document: Document) -> Ints:
    """The number of words that begin before each position, (len(text) + 1,)."""

    def count() -> Ints:
        begins = np.bincount(words(document).starts, minlength=len(document.text))
        return np.concatenate(([0], np.cumsum(begins)))

    return document.keep("words_begun", count)


def headings(document: Document) -> tuple[Heading, ...]:
    """The headings in order; none in plain text."""
    return blocks(document).headings


def blocks(document: Document) -> Blocks:
    """The paragraphs, sentences and headings of a document."""
    return document.keep("blocks", lambda: _blocks(document))


def section_starts(document: Document) -> Ints:
    """Where the sections begin: at the first word, and at every heading."""
    return document.keep("section_starts", lambda: _section_starts(document))


def heading_of(document: Document, positions: Ints) -> Ints:
    """For each position the place in `headings` of the heading whose section it lies in, -1 before the first, (n,)."""
    starts = np.array([heading.start for heading in headings(document)], np.int64)
    return np.searchsorted(starts, positions, "right") - 1


def count_words(document: Document, starts: Ints, ends: Ints) -> Ints:
    """Words that lie in each span, at least in part, (n,)."""
    return words_within(words(document), starts, ends)


def words_within(spans: Spans, starts: Ints, ends: Ints) -> Ints:
    """The same where the spans of the words are at hand."""
    return np.searchsorted(spans.starts, ends, "left") - np.searchsorted(spans.ends, starts, "right")


def level_starts(document: Document, level: str) -> Ints:
    """Where the pieces of a level (section; paragraph, or block and item; sentence; word) begin.

    Each parts wherever the one before it does.
    """
    if level == "section":
        return section_starts(document)
    found = blocks(document)
    named = {"paragraph": found.paragraphs, "block": found.blocks, "item": found.items, "part": found.parts,
             "sentence": found.sentences}  # fmt: skip
    if level in named:
        return named[level]
    return np.union1d(words(document).starts, found.sentences)


def _section_starts(document: Document) -> Ints:
    starts = np.array([heading.start for heading in headings(document)], np.int64)
    return np.union1d(words(document).starts[:1], starts)


def _blocks(document: Document) -> Blocks:
    text = document.text
    lines = _lines(text)
    blank = [not text[start:end].strip() for start, end in pairwise(lines)]
    laid = layout(text) if document.markdown else _plain_layout(text, lines, blank)
    found = laid.leaves
    first_word = _first_solid(document, lines)
    paragraphs = {first_word[line] for line in _paragraph_lines(found, blank)}
    held = [leaf for leaf in found if leaf.kind != "rule"]
    outside = {first_word[line] for line in _loose_lines(laid.outermost, blank)}
    whole = outside.union(first_word[leaf.block] for leaf in held)
    items = whole.union(first_word[leaf.item] for leaf in held)
    parts = items.union(first_word[leaf.whole] for leaf in held)
    loose_lines = _loose_lines(_held(found), blank)
    loose = {first_word[line] for line in loose_lines}
    sentences = paragraphs.union(loose, items, *(_leaf_starts(text, leaf, lines, blank, first_word) for leaf in found))
    tables, table_heads = _tables(text, laid.tables, lines, first_word)
    heads = _headings(text, found, lines, first_word)
    return Blocks(
        _tiling(paragraphs, text), _tiling(whole, text), _tiling(items, text), _tiling(parts, text), _tiling(sentences, text),
        heads, tables, table_heads, _looks(found, loose_lines, lines),
    )  # fmt: skip


def _tiling(starts: set[int], text: str) -> Ints:
    return np.array(sorted(start for start in starts if start < len(text)), np.int64)


def _lines(text: str) -> list[int]:
    """Where the lines begin, and the text's length: one more than there are lines."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def _first_solid(document: Document, places: list[int]) -> list[int]:
    """For each place the first non-space character from there on, the text's length where there is none."""
    spans = words(document)
    after = np.append(spans.starts, len(document.text))[np.searchsorted(spans.ends, places, "right")]
    return np.maximum(places, after).tolist()


def _plain_layout(text: str, lines: list[int], blank: list[bool]) -> Layout:
    leaves = _plain_leaves(text, lines, blank)
    return Layout(leaves, [(leaf.first, leaf.last) for leaf in leaves], [])


def _plain_leaves(text: str, lines: list[int], blank: list[bool]) -> list[Leaf]:
    """Plain text has paragraphs between blank lines; a line with a list marker begins a block of its own."""
    found: list[Leaf] = []
    first = None
    for line, is_blank in enumerate([*blank, True]):
        begins = not is_blank and (first is None or _LIST_ITEM.match(text, lines[line], lines[line + 1]))
        if first is not None and (is_blank or begins):
            found.append(Leaf("text", first, line, block=first, item=first, whole=first))
            first = None
        if begins:
            first = line
    return found


def _tables(text: str, tables: list[tuple[int, int]], lines: list[int], first_word: list[int]) -> tuple[Spans, Spans]:
    """The spans of the tables and of their header rows."""
    starts = np.array([first_word[first] for first, _ in tables], np.int64)
    ends, heads = (
        np.array([_end(text, Leaf("row", first, stop), lines) for first, stop in rows], np.int64)
        for rows in (tables, [(first, first + 1) for first, _ in tables])
    )
    return Spans(starts, ends), Spans(starts, heads)


def _looks(found: list[Leaf], loose_lines: list[int], lines: list[int]) -> tuple[tuple[int, str], ...]:
    """Where blocks of each kind begin, at the start of a line; a table is one block."""
    looks = {lines[line]: "text" for line in loose_lines}
    looks |= {lines[leaf.whole]: _look(leaf) for leaf in found}
    return tuple(sorted(looks.items()))


def _look(leaf: Leaf) -> str:
    if leaf.kind == "heading":
        return f"heading {leaf.level}"
    if leaf.kind in ("row", "code"):
        return {"row": "table", "code": "code"}[leaf.kind]
    return leaf.within or "text"


def _headings(text: str, found: list[Leaf], lines: list[int], first_word: list[int]) -> tuple[Heading, ...]:
    heads: list[Heading] = []
    above: list[tuple[int, str]] = []
    for leaf in found:
        if leaf.kind == "heading":
            above = [*((level, title) for level, title in above if level < leaf.level), (leaf.level, leaf.title)]
            path = tuple(title for _, title in above)
            heads.append(Heading(leaf.level, leaf.title, first_word[leaf.first], _end(text, leaf, lines), path))
    return tuple(heads)


def _end(text: str, leaf: Leaf, lines: list[int]) -> int:
    """The end of a leaf's last line, without the white space there."""
    end = lines[leaf.last]
    while end > lines[leaf.first] and text[end - 1].isspace():
        end -= 1
    return end


def _paragraph_lines(found: list[Leaf], blank: list[bool]) -> list[int]:
    """The lines at which a paragraph begins: after a blank line outside of code, at a heading and after one.

    A thematic break is no paragraph: it stays with what is before it.
    """
    parting = np.array(blank, bool)
    for leaf in found:
        if leaf.kind in ("code", "html", "front matter"):
            parting[leaf.first : leaf.last] = False
    begins = np.ones(len(blank) + 1, bool)
    begins[1:-1] = parting[:-1] & ~parting[1:]
    for leaf in found:
        if leaf.kind == "rule":
            begins[leaf.first] = False
        elif leaf.kind in ("heading", "front matter"):
            begins[leaf.first] = begins[leaf.last] = True
    return np.flatnonzero(begins[:-1]).tolist()


def _leaf_starts(text: str, leaf: Leaf, lines: list[int], blank: list[bool], first_word: list[int]) -> list[int]:
    """Where the sentences of a block begin: each line of code, each row of a table, the sentences of running text."""
    if leaf.kind == "rule":
        return []
    if leaf.kind == "text":
        return sentence_starts(text, first_word[leaf.first], _end(text, leaf, lines))
    if leaf.kind != "code":
        return [first_word[leaf.first]]
    # A fence's marks stay with the code beside them: the opening one with the first line, the closing with the last.
    fenced = text.startswith(("`", "~"), first_word[leaf.first])
    last = leaf.last - 1 if fenced and text.startswith(("`", "~"), first_word[leaf.last - 1]) else leaf.last
    inner = [line for line in range(leaf.first + fenced, last) if not blank[line]]
    return [first_word[line] for line in [leaf.first, *inner[fenced:]]]


def _held(found: list[Leaf]) -> list[tuple[int, int]]:
    """The lines of each leaf; a table's dashes stay with its head."""
    return [(leaf.first, leaf.last + (leaf.kind == "row")) for leaf in found]


def _loose_lines(held: list[tuple[int, int]], blank: list[bool]) -> list[int]:
    """The first of each run of lines that are not blank and not held (reference definitions outside of all blocks)."""
    free = ~np.array(blank, bool)
    for first, last in held:
        free[first:last] = False
    return np.flatnonzero(free & ~np.concatenate(([False], free[:-1]))).tolist()
