"""Sentences inside one block of text, by a maintained segmenter (sentencex), with the cuts it gets wrong taken back."""

from __future__ import annotations

import re
from itertools import pairwise

import sentencex

# A list or quote marker (and a task box) at the start of a block belongs to its first sentence.
_MARKER = re.compile(r"(?:[ \t]*(?:[-+*•]|\d{1,9}[.)]|>)(?:[ \t]+|(?<=>)))*(?:\[[ xX]\][ \t]+)?")
# What may stand between a full stop and the white space after it: closing quotes, brackets, emphasis, footnote marks.
_CLOSERS = re.compile(r"(?:[*_~`)\]}\"'”’»]|\[\^?[\w-]+\])*")
_NOT_AN_END = re.compile(r"(?:\b(?:et al|cf|e\.g|i\.e|vs|approx|Fig|Figs|Eq|Eqs|Sec|Ch|No|Nos|Vol|pp|ca)\.|\]|\))\s*$")
_CONTINUES = re.compile(r"\s*[a-z\[(]")
_FULL_STOPS = frozenset("。！？．…｡」』）।॥؟۔।")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: the segmenter takes none
_MOST = 8000  # characters that the segmenter is given at a time
_SURE_END = re.compile(r"[。！？।॥](?=[^\s。！？」』）”’»])")
_SCRIPTS = (
    (re.compile("[\u3041-\u30ff]"), "ja"),
    (re.compile("[\u3400-\u9fff]"), "zh"),
    (re.compile("[\u0900-\u097f]"), "hi"),
    (re.compile("[\u0600-\u06ff]"), "ar"),
)


def language(text: str) -> str:
    """The segmenter's language for a text, by its script; English where no other script tells."""
    if text.isascii():
        return "en"
    return next((name for pattern, name in _SCRIPTS if pattern.search(text)), "en")


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Where the sentences of the block `[start, end)` of a text begin, the block's own start first.

    Example: '1. Red. Blue.' -> [0, 8]
    """
    found = [start]
    marker = _MARKER.match(text, start, end)
    content = marker.end() if marker else start
    block = _LONE_SURROGATE.sub("\ufffd", text[content:end])
    for first, last in _portions(block):
        portion = block[first:last]
        begins = [first] if first else []
        begins += [place + first for sentence in sentencex.get_sentence_boundaries(language(portion), portion)[1:]
                   if (place := _boundary(portion, sentence["start_index"]))]  # fmt: skip
        found += [content + place for place in begins if content + place > found[-1]]
    return found


def _portions(block: str) -> list[tuple[int, int]]:
    """A block in portions of some thousand characters, parted behind full stops that end nothing but a sentence.

    In the scripts that have them the segmenter's time grows with the square of the text.
    """
    edges = [0]
    while len(block) - edges[-1] > _MOST:
        window = block[edges[-1] : edges[-1] + _MOST]
        ends = [match.end() for match in _SURE_END.finditer(window)]
        if not ends:
            break
        edges.append(edges[-1] + ends[-1])
    return list(pairwise([*edges, len(block)]))


def _boundary(block: str, place: int) -> int:
    """The boundary meant by the segmenter's `place`, moved behind closing marks; 0 where there is none."""
    before = block[place - 1]
    if not before.isspace() and before not in _FULL_STOPS:
        place = _CLOSERS.match(block, place).end()  # type: ignore[union-attr]  # matches the empty string too
        if place >= len(block) or not block[place].isspace():
            return 0
    if _NOT_AN_END.search(block, max(0, place - 24), place) and _CONTINUES.match(block, place):
        return 0
    while place < len(block) and block[place].isspace():
        place += 1
    return place if place < len(block) else 0
