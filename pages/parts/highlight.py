"""Text of a document as HTML: pure, everything from the document escaped, its text exactly once and unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import pairwise

from chunking.overlaid import Overlaid
from chunking.types import Document, Passage


def passage_html(document: Document, start: int, end: int, passages: Iterable[Passage]) -> str:
    """A returned span of a document with the answering passages in it marked."""
    edges = {start, end}
    inside = [(max(start, passage.start), min(end, passage.end)) for passage in passages]
    inside = [(low, high) for low, high in inside if low < high]
    places = sorted(edges.union(*inside) if inside else edges)
    parts = []
    for low, high in pairwise(places):
        answers = any(first <= low < last for first, last in inside)
        shown = escape(document.text[low:high])
        parts.append(f'<mark class="cs-answer">{shown}</mark>' if answers else shown)
    return f'<div class="cs-chunk" data-document="{escape(document.id)}">{"".join(parts)}</div>'


def overlaid_html(text: str, found: Overlaid, passages: Iterable[Passage]) -> str:
    """A document with the boundaries of two settings, each labelled with whose it is, and its answering passages marked."""
    labels = {**dict.fromkeys(found.both, "A B"), **dict.fromkeys(found.one, "A"), **dict.fromkeys(found.other, "B")}
    marked = [(passage.start, passage.end) for passage in passages]
    places = sorted({0, len(text), *labels, *(place for span in marked for place in span)})
    parts = []
    for low, high in pairwise(places):
        if low in labels:
            kind = labels[low].replace(" ", "").lower()
            parts.append(f'<span class="cs-cut cs-cut-{kind}">{labels[low]}</span>')
        shown = escape(text[low:high])
        answers = any(start <= low < end for start, end in marked)
        parts.append(f'<mark class="cs-answer">{shown}</mark>' if answers else shown)
    frame = 'class="cs-chunk cs-overlaid" tabindex="0" role="region" aria-label="The document with both settings\' boundaries"'
    return f"<div {frame}>{''.join(parts)}</div>"


STYLE = """
.stMainBlockContainer { padding: 2.75rem 1.75rem 3rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding-top: 4.25rem; } }
[data-testid="stMetric"] { padding: 0; }
[data-testid="stMetricLabel"] p { font-size: 0.8rem; }
[data-testid="stMetricValue"] { font-size: 1.3rem; line-height: 1.3; }
[data-testid="stMetricDelta"] { font-size: 0.75rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0.5rem; }
.st-key-cs_figures[data-outdated] { opacity: 0.45; }
.st-key-cs_stores { display: none; }
[data-testid="stMultiSelect"] [data-tag] { background: rgba(120, 120, 130, 0.18); }
[data-testid="stMultiSelect"] [data-tag], [data-testid="stMultiSelect"] [data-tag] * { color: inherit; }
[data-testid="stCaptionContainer"] a { color: inherit; }
.cs-chunk { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.65; font-size: 0.95rem; }
.cs-chunk mark.cs-answer { text-decoration: underline solid 2px #c2313c; text-underline-offset: 0.22em; color: inherit;
  background: rgba(194, 49, 60, 0.14); }
.cs-overlaid { max-height: 36rem; overflow-y: auto; padding: 0.6rem 0.8rem; border: 1px solid rgba(120, 120, 130, 0.35); border-radius: 4px; }
.cs-cut { display: inline-block; padding: 0 0.3em; margin: 0 0.15em; border-radius: 2px; border-left: 3px solid; font-size: 0.75rem;
  line-height: 1.3; font-weight: 600; color: inherit; user-select: none; background: rgba(120, 120, 130, 0.16); }
.cs-cut-a { border-left: 3px solid #0072b2; }
.cs-cut-b { border-left: 3px dashed #d55e00; }
.cs-cut-ab { border-left: 4px double currentColor; }
.cs-misses { display: flex; height: 0.7rem; border-radius: 2px; overflow: hidden; background: rgba(120, 120, 130, 0.2);
  forced-color-adjust: none; }
"""
