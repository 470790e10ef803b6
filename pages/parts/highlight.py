"""A document with its cuts as HTML: pure, everything from the document escaped, its text exactly once and unchanged.

Numbers and marks are drawn by the style sheet from data attributes, so that what is copied is the text itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from chunking.types import Passage


@dataclass(frozen=True, slots=True)
class Mark:
    """A chunk as it is drawn: matched and returned span, how far the model read, and its rank for the asked question."""

    start: int
    end: int
    returned_start: int
    returned_end: int
    read_end: int
    words: int
    rank: int = 0


def document_html(text: str, marks: Sequence[Mark], passages: Iterable[tuple[Passage, bool]]) -> str:
    """The text with boundaries, chunk numbers, overlaps, unread parts and answering passages.

    `marks` are in order of start; each passage comes with whether the cut split it.
    """
    layers = _Layers(marks, list(passages))
    places = sorted(layers.places(len(text)))
    parts = [_segment(text, start, end, layers) for start, end in pairwise(places)]
    return (
        f'<div class="cs-doc" tabindex="0" role="document" aria-label="Document with its cuts">{"".join(parts)}</div>'
    )


def passage_html(text: str, start: int, end: int, passages: Iterable[Passage]) -> str:
    """A returned span with the answering passages in it marked."""
    edges = {start, end}
    inside = [(max(start, passage.start), min(end, passage.end)) for passage in passages]
    inside = [(low, high) for low, high in inside if low < high]
    places = sorted(edges.union(*inside) if inside else edges)
    parts = []
    for low, high in pairwise(places):
        answers = any(first <= low < last for first, last in inside)
        shown = escape(text[low:high])
        parts.append(f'<mark class="cs-answer">{shown}</mark>' if answers else shown)
    return f'<div class="cs-chunk">{"".join(parts)}</div>'


class _Layers:
    """What lies over each position of a document."""

    def __init__(self, marks: Sequence[Mark], passages: list[tuple[Passage, bool]]) -> None:
        self.marks = marks
        self.passages = passages
        self.starts = [mark.start for mark in marks]
        self.openings: dict[int, list[int]] = defaultdict(list)
        for number, mark in enumerate(marks):
            self.openings[mark.start].append(number)
        parents = sorted({(mark.returned_start, mark.returned_end) for mark in marks
                          if (mark.returned_start, mark.returned_end) != (mark.start, mark.end)})  # fmt: skip
        nested = all(one[1] <= two[0] for one, two in pairwise(parents))
        self.parents = {start: number for number, (start, _) in enumerate(parents, 1)} if nested else {}
        self.widest = max((mark.end - mark.start for mark in marks), default=0)

    def places(self, length: int) -> set[int]:
        """Where anything begins or ends."""
        edges = {0, length}
        for mark in self.marks:
            edges |= {mark.start, mark.end, mark.read_end}
        for passage, _ in self.passages:
            edges |= {passage.start, passage.end}
        return edges | set(self.parents)

    def over(self, place: int) -> list[int]:
        """The numbers of the chunks over a position."""
        last = bisect_right(self.starts, place)
        first = bisect_right(self.starts, place - self.widest - 1)
        return [number for number in range(first, last) if self.marks[number].end > place]


def _segment(text: str, start: int, end: int, layers: _Layers) -> str:
    """One run of text under the same chunks and passages."""
    over = layers.over(start)
    classes = []
    if over:
        classes.append(f"cs-c{over[-1] % 2}")
        if len(over) > 1:
            classes.append("cs-shared")
        if all(layers.marks[number].read_end <= start for number in over):
            classes.append("cs-unread")
    answers = [split for passage, split in layers.passages if passage.start <= start < passage.end]
    if answers:
        classes.append("cs-answer")
        if all(answers):
            classes.append("cs-split")
    opens = _openings(start, over, layers, bool(answers) and _inside(start, layers))
    shown = escape(text[start:end])
    hint = f' title="{_hint(over, layers)}"' if over else ""
    return f'{opens}<span class="{" ".join(classes)}"{hint}>{shown}</span>' if classes else f"{opens}{shown}"


def _inside(place: int, layers: _Layers) -> bool:
    """Whether a cut at this place goes through a passage that is whole in no chunk."""
    return any(split and passage.start < place < passage.end for passage, split in layers.passages)


def _openings(place: int, over: list[int], layers: _Layers, through: bool) -> str:
    """The bars of the chunks (and parents) that begin here."""
    bars = ""
    if place in layers.parents:
        bars += f'<i class="cs-bar cs-parent" data-n="P{layers.parents[place]}"></i>'
    for number in layers.openings.get(place, ()):
        mark = layers.marks[number]
        rank = f' data-rank="#{mark.rank}"' if mark.rank else ""
        cut = " cs-through" if through else ""
        bars += f'<i class="cs-bar cs-c{number % 2}{cut}" data-n="{number + 1}"{rank}></i>'
    return bars


def _hint(over: list[int], layers: _Layers) -> str:
    parts = []
    for number in over:
        mark = layers.marks[number]
        read = "" if mark.read_end >= mark.end else ", not read to its end"
        parts.append(f"chunk {number + 1}: {mark.words} words{read}")
    return " and ".join(parts)


STYLE = """
.stMainBlockContainer { padding: 2.75rem 1.75rem 3rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding-top: 4.25rem; } }
[data-testid="stMetric"] { padding: 0; }
[data-testid="stMetricLabel"] p { font-size: 0.8rem; }
[data-testid="stMetricValue"] { font-size: 1.3rem; line-height: 1.3; }
[data-testid="stMetricDelta"] { font-size: 0.75rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0.5rem; }
.cs-doc, .cs-chunk { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.65; font-size: 0.95rem; }
.cs-doc { padding: 0.25rem 0.5rem 2rem; max-width: 76ch; }
.cs-doc span { padding: 0.12em 0; }
.cs-doc span.cs-c0 { background: rgba(56, 132, 222, 0.17); }
.cs-doc span.cs-c1 { background: rgba(232, 140, 30, 0.20); }
.cs-doc span.cs-shared { background-image: repeating-linear-gradient(135deg, rgba(110, 110, 120, 0.24) 0 2px, transparent 2px 7px); }
.cs-doc span.cs-unread { opacity: 0.55; }
.cs-answer { text-decoration: underline solid 2px #c2313c; text-underline-offset: 0.22em; background: none; color: inherit; }
.cs-split { text-decoration-style: wavy; }
.cs-chunk mark.cs-answer { background: rgba(194, 49, 60, 0.14); }
.cs-bar { font-style: normal; border-left: 3px solid rgb(38, 103, 183); margin-left: 1px; }
.cs-bar.cs-c1 { border-left-color: rgb(190, 100, 10); }
.cs-bar::before { content: attr(data-n); font-size: 0.66rem; font-weight: 600; line-height: 1; vertical-align: super;
  padding: 0 0.28em 0 0.2em; font-variant-numeric: tabular-nums; user-select: none; }
.cs-bar[data-rank]::before { content: attr(data-n) " " attr(data-rank); background: rgba(120, 120, 130, 0.28); border-radius: 2px; }
.cs-bar.cs-parent { border-left: 5px double currentColor; }
.cs-bar.cs-through { border-left: 4px solid #c2313c; }
.cs-bar.cs-through::after { content: "cut"; font-size: 0.62rem; font-weight: 700; color: #fff; background: #b3202c;
  padding: 0 0.3em; border-radius: 2px; vertical-align: super; user-select: none; }
[data-testid="stCaptionContainer"] a { color: inherit; }
.cs-key { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; font-size: 0.8rem; opacity: 0.9; margin: 0; }
.cs-key b { font-weight: 400; padding: 0 0.35em; }
.cs-misses { display: flex; height: 0.7rem; border-radius: 2px; overflow: hidden; background: rgba(120, 120, 130, 0.2); }
"""

KEY = """<p class="cs-key cs-doc" style="white-space:normal;padding:0">
<span><b><i class="cs-bar cs-c0" data-n="1"></i><span class="cs-c0">chunk</span> <i class="cs-bar cs-c1" data-n="2"></i><span class="cs-c1">next chunk</span></b></span>
<span><span class="cs-c1 cs-shared">&nbsp;shared&nbsp;</span></span>
<span><span class="cs-answer">answers a question</span></span>
<span><span class="cs-answer cs-split">cut</span> <i class="cs-bar cs-through" data-n=""></i></span>
<span><span class="cs-c0 cs-unread">never read by the model</span></span></p>"""
