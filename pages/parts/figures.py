"""The live figures of a setting, each with its meaning one hover away and its change against a pinned setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from chunking.experiment import Trial
from chunking.index import Index
from pages.parts.words import REASONS, amount_of, percent, range_of

_MISS_COLOURS = {"split": "#c2313c", "truncated": "#7a5195", "outranked_same_document": "#e69f00",
                 "outranked_other_document": "#56b4e9"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its name, its value now and in the pinned setting, how it is written, what it means."""

    label: str
    value: float
    pinned: float | None
    kind: str  # percent, count or decimal
    better: str  # up, down or neither
    help: str


def cut_figures(index: Index) -> None:
    """What the cut alone tells, without any question."""
    _grid([
        Figure("Chunks", len(index), None, "count", "neither", _CHUNKS),
        Figure("Words per chunk", _mean(index), None, "decimal", "neither", _WORDS),
        Figure("Repeated words", index.repeated_words, None, "percent", "neither", _REPEATED),
    ])  # fmt: skip


def trial_figures(trial: Trial, pinned: Trial | None) -> None:
    """The figures of a trial, and why questions were missed."""
    _grid([figure for figure in _figures(trial, pinned)])
    spread = trial.hit_rate_interval
    note = ": too narrow, there are few documents and questions about one document hang together" if spread.too_narrow else ""
    hits = round(trial.hit_rate * len(trial.results))
    st.caption(f"{hits} of {len(trial.results)} questions answered {amount_of(trial.config)}; {range_of(spread)} ({spread.method}{note}).")
    _misses(trial)


def _figures(trial: Trial, pinned: Trial | None) -> list[Figure]:
    def figure(label, take, kind, better, help):  # type: ignore[no-untyped-def]
        return Figure(label, take(trial), take(pinned) if pinned else None, kind, better, help)

    return [
        figure("Hit rate", lambda t: t.hit_rate, "percent", "up",
               "Share of questions with every needed passage whole in one of the spans sent. trec_eval calls it Success@k, some Recall@k."),
        figure("Split share", lambda t: t.split_share, "percent", "down",
               "Share of questions whose passage is whole in no chunk: the cut decided, no search can find it. 100% less this is the ceiling."),
        figure("Coverage", lambda t: t.mean(r.cover.coverage for r in t.results), "percent", "up",
               "Share of the passages' characters that was sent, in whatever pieces."),
        figure("Precision", lambda t: t.mean(r.cover.precision for r in t.results), "percent", "up",
               "Share of the characters sent that belong to the passages. Text sent twice counts twice."),
        figure("Words sent", lambda t: t.mean(r.words_sent for r in t.results), "count", "down",
               "Words of all spans sent for a question, mean. Words sent twice count twice."),
        figure("Chunks", lambda t: len(t.index), "count", "neither", _CHUNKS),
        figure("Words per chunk", lambda t: _mean(t.index), "decimal", "neither", _WORDS),
        figure("Repeated words", lambda t: t.index.repeated_words, "percent", "neither", _REPEATED),
        figure("Truncated", lambda t: t.truncated_chunks, "count", "down",
               "Chunks longer than the model reads: the rest of them is in no vector."),
        figure("Never read", lambda t: t.index.unread_share(t.read_ends), "percent", "down",
               "Share of the text that no vector has read, because chunks are longer than the model reads."),
        figure("Lenient hits", lambda t: t.mean(r.lenient_hit for r in t.results), "percent", "up",
               "The hit rate if restatements of an answer elsewhere count too."),
        figure("Ideal precision", lambda t: t.mean(r.ideal_precision for r in t.results), "percent", "up",
               "What the cut alone would allow: the overlap of passages and text if exactly the chunks that touch them were sent."),
    ]  # fmt: skip


_CHUNKS = "Chunks in the index: what is embedded and ranked."
_WORDS = "Words of a chunk's matched span, mean over all chunks."
_REPEATED = "Words that stand in more than one chunk, over all words: how much overlap makes the index grow."


def _mean(index: Index) -> float:
    return float(index.words.mean()) if len(index) else 0.0


def _grid(figures: Sequence[Figure]) -> None:
    for first in range(0, len(figures), 4):
        for column, figure in zip(st.columns(4), figures[first : first + 4], strict=False):
            change = None if figure.pinned is None else figure.value - figure.pinned
            colour = {"up": "normal", "down": "inverse", "neither": "off"}[figure.better]
            column.metric(figure.label, _written(figure.value, figure.kind), _change(change, figure.kind), colour, help=figure.help)


def _written(value: float, kind: str) -> str:
    return {"percent": percent(value), "count": f"{value:,.0f}", "decimal": f"{value:,.1f}"}[kind]


def _change(change: float | None, kind: str) -> str | None:
    """A change with its sign; '0' where there is none, so that its absence is seen."""
    if change is None:
        return None
    if kind == "percent":
        return f"{100 * change:+.1f} points" if abs(change) >= 0.0005 else "0.0 points"
    return f"{change:+,.0f}" if kind == "count" else f"{change:+,.1f}"


def _misses(trial: Trial) -> None:
    """Why questions were missed, as a bar and in words; with the hits they add to 100%."""
    total = len(trial.results)
    shares = [(reason, count) for reason, count in trial.misses.items() if count]
    bars = "".join(
        f'<span style="width:{100 * count / total:.2f}%;background:{_MISS_COLOURS[reason]}" title="{escape(REASONS[reason])}: {count}"></span>'
        for reason, count in shares
    )
    said = "; ".join(f"{REASONS[reason]} {percent(count / total)}" for reason, count in shares) or "none"
    st.html(f'<div class="cs-misses" role="img" aria-label="Misses: {escape(said)}">{bars}</div>')
    st.caption(f"Misses by reason: {said}.", help="Split: whole in no chunk. Truncated: held by a chunk, but the model never read that part. "
               "Outranked: held and read, but other chunks scored higher.")  # fmt: skip
