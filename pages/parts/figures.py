"""The live figures of a setting, each with its meaning one hover away and its change against a pinned setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import streamlit as st

from chunking.experiment import Trial
from chunking.index import Index
from pages.parts.charts import FATE_COLOURS
from pages.parts.words import REASONS, amount_of, counted, percent, plain, range_of

Better = Literal["normal", "inverse", "off"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its name, its value now and in the pinned setting, how it is written, what it means."""

    label: str
    value: float
    pinned: float | None
    kind: str  # percent, count or decimal
    better: Better  # how a rise is coloured: as good, as bad, not at all
    help: str


def cut_figures(index: Index) -> None:
    """What the cut alone tells, without any question."""
    _grid([
        Figure("Chunks", len(index), None, "count", "off", _CHUNKS),
        Figure("Words each", _mean(index), None, "decimal", "off", _WORDS),
        Figure("Repeated", index.repeated_words, None, "percent", "off", _REPEATED),
    ])  # fmt: skip


def notes(index: Index) -> None:
    """What is to be said about the cut: chunks with a flag, and texts of a library that are not in the document."""
    counts = index.flag_counts
    said = [f"{counted(count, 'chunk')} {_FLAGS[flag]}" for flag, count in counts.items() if count]
    if said:
        st.caption(f"{'; '.join(said)}.", help="Over the limit: it cannot be cut further, or is to be kept whole. A heading last: it is parted from the text below it.")  # fmt: skip
    if index.lost:
        name, text = index.lost[0]
        st.warning(plain(f"The library returned {counted(len(index.lost), 'text')} that cannot be found in the documents; they are left out. "
                         f"The first, of {name}: {text[:80]!r}"))  # fmt: skip


def trial_figures(trial: Trial, pinned: Trial | None) -> None:
    """The figures of a trial, and why questions were missed."""
    _grid(_figures(trial, pinned))
    spread = trial.hit_rate_interval
    hits = sum(result.hit for result in trial.results)
    narrow = " It is too narrow: it takes questions as independent, and those about one document hang together."
    st.caption(
        f"{hits} of {len(trial.results)} questions answered {amount_of(trial.config)}; {range_of(spread)}.",
        help=f"How far the hit rate may be off by chance alone ({spread.method}).{narrow if spread.too_narrow else ''}",
    )
    if trial.unread_chunks:
        st.warning(
            f"{counted(trial.unread_chunks, 'chunk')} without a vector: the model gave none for the text, and it is ranked last."
        )
    empty = sum(not result.sent for result in trial.results)
    if empty:
        st.caption(f"For {empty} of {len(trial.results)} questions nothing is sent: no chunk fits the budget.")
    _misses(trial)


def _figures(trial: Trial, pinned: Trial | None) -> list[Figure]:
    def figure(label: str, take: Callable[[Trial], float], kind: str, better: Better, help: str) -> Figure:
        return Figure(label, take(trial), take(pinned) if pinned else None, kind, better, help)

    return [
        figure("Hit rate", lambda t: t.hit_rate, "percent", "normal",
               "Share of questions with every needed passage whole in one of the spans sent. trec_eval calls it Success@k, some Recall@k."),
        figure("Split", lambda t: t.split_share, "percent", "inverse",
               "Share of questions whose passage is whole in no chunk: the cut decided, no search can find it. 100% less this is the ceiling."),
        figure("Coverage", lambda t: t.mean(r.cover.coverage for r in t.results), "percent", "normal",
               "Share of the passages' characters that was sent, in whatever pieces."),
        figure("Precision", lambda t: t.mean(r.cover.precision for r in t.results), "percent", "normal",
               "Share of the characters sent that belong to the passages. Text sent twice counts twice."),
        figure("Words sent", lambda t: t.mean(r.words_sent for r in t.results), "count", "inverse",
               "Words of all spans sent for a question, mean. Words sent twice count twice."),
        figure("Chunks", lambda t: len(t.index), "count", "off", _CHUNKS),
        figure("Words each", lambda t: _mean(t.index), "decimal", "off", _WORDS),
        figure("Repeated", lambda t: t.index.repeated_words, "percent", "off", _REPEATED),
        figure("Truncated", lambda t: t.truncated_chunks, "count", "inverse",
               "Chunks longer than the model reads: the rest of them is in no vector. None where search is by keywords or pooling is late."),
        figure("Never read", lambda t: t.index.unread_share(t.read_ends), "percent", "inverse",
               "Share of the text that no vector has read, because chunks are longer than the model reads."),
        figure("Lenient", lambda t: t.mean(r.lenient_hit for r in t.results), "percent", "normal",
               "The hit rate if restatements of an answer elsewhere count too, where the questions list them."),
        figure("Ideal prec.", lambda t: t.mean(r.ideal_precision for r in t.results), "percent", "normal",
               "Ideal precision, what the cut alone would allow: passages over text sent if exactly the chunks that share a character with them were sent."),
    ]  # fmt: skip


_FLAGS = {"over_limit": "over the limit", "heading_last": "with a heading last"}
_CHUNKS = "Chunks in the index: what is embedded and ranked."
_WORDS = "Words of a chunk's matched span, mean over all chunks."
_REPEATED = "Words that stand in more than one chunk, over all words: how much overlap makes the index grow."


def _mean(index: Index) -> float:
    return float(index.words.mean()) if len(index) else 0.0


def _grid(figures: Sequence[Figure]) -> None:
    for first in range(0, len(figures), 4):
        for column, figure in zip(st.columns(4), figures[first : first + 4], strict=False):
            change = None if figure.pinned is None else _change(figure.value - figure.pinned, figure.kind)
            still = change is not None and not any(digit in "123456789" for digit in change)
            column.metric(figure.label, _written(figure.value, figure.kind), change, "off" if still else figure.better, help=figure.help,
                          delta_arrow="off" if still else "auto")  # fmt: skip


def _written(value: float, kind: str) -> str:
    return {"percent": percent(value), "count": f"{value:,.0f}", "decimal": f"{value:,.1f}"}[kind]


def _change(change: float, kind: str) -> str:
    """A change with its sign, percentages in points."""
    return {"percent": f"{100 * change:+.1f} pts", "count": f"{change:+,.0f}", "decimal": f"{change:+,.1f}"}[kind]


def _misses(trial: Trial) -> None:
    """Why questions were missed, as a bar and in words; with the hits they add to 100%."""
    total = len(trial.results)
    shares = [(reason, count) for reason, count in trial.misses.items() if count]
    bars = "".join(
        f'<span style="width:{100 * count / total:.2f}%;background:{FATE_COLOURS[reason]}" title="{escape(REASONS[reason])}: {count}"></span>'
        for reason, count in shares
    )
    said = "; ".join(f"{REASONS[reason]} {percent(count / total)}" for reason, count in shares) or "none"
    st.html(f'<div class="cs-misses" role="img" aria-label="Misses: {escape(said)}">{bars}</div>')
    st.caption(f"Misses: {said}.", help="Split: whole in no chunk. Truncated: held by a chunk, but the model never read that part. "
               "Outranked: held and read, but other chunks scored higher.")  # fmt: skip
