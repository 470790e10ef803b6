"""Charts: results in, plotly figures out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import log10

import plotly.graph_objects as go

from chunking.curves import steps
from chunking.experiment import Trial
from chunking.registry import STRATEGIES
from pages.parts.words import amount_of, counted, percent, range_of, title_of

# Okabe and Ito's colours, told apart by colour-blind readers; symbols differ too.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a8a00", "#7a5195", "#888888")
_SYMBOLS = ("circle", "square", "triangle-up", "cross", "x", "star", "hexagon", "pentagon", "triangle-down", "diamond",
            "bowtie", "hourglass", "star-square", "octagon")  # fmt: skip
# Nine colours and fourteen symbols go round together: no two of 126 strategies look alike.
_LOOK = dict(zip(STRATEGIES, zip(cycle(_COLOURS), cycle(_SYMBOLS), strict=False), strict=False))

#: The colours of what became of a question.
FATE_COLOURS = {"hit": "#009e73", "split": "#c2313c", "truncated": "#7a5195", "outranked_same_document": "#e69f00",
                "outranked_other_document": "#56b4e9"}  # fmt: skip

_TICKS = [mantissa * 10**power for power in range(6) for mantissa in (1, 2, 5)]


@dataclass(frozen=True, slots=True)
class Point:
    """A measured setting on the chart; `setting` is its configuration as one text."""

    strategy: str
    title: str
    words: float
    hit_rate: float
    low: float
    high: float
    hint: str
    setting: str
    truncated: bool = False  # some of its chunks are longer than the model reads
    curve: tuple[tuple[int, float], ...] = ()  # from so many words on the mean hit under a budget of them


#: Stands at a point with truncated chunks.
MARK = "†"


def point_of(trial: Trial, setting: str) -> Point:
    """The point of a trial."""
    spread = trial.hit_rate_interval
    words = trial.mean(result.words_sent for result in trial.results)
    title = title_of(trial.config)
    hint = f"<b>{title}</b><br>hit rate {percent(trial.hit_rate)} {amount_of(trial.config)}<br>{range_of(spread)}<br>{words:,.0f} words sent"
    cut = trial.truncated_chunks
    if cut:
        hint += f"<br>{MARK} {cut:,} of {counted(len(trial.index), 'chunk')} truncated: longer than the model reads"
    return Point(
        trial.config.strategy, title, words, trial.hit_rate, spread.low, spread.high, hint, setting, cut > 0, steps(trial)
    )  # fmt: skip


def colour_of(strategy: str) -> str:
    """The colour of a strategy's points."""
    return _LOOK[strategy][0]


def hit_rate_chart(points: Sequence[Point]) -> go.Figure:
    """Hit rate against words sent: every measured setting a point, and for the last of each strategy its budget curve."""
    figure = go.Figure()
    for strategy, (colour, symbol) in _LOOK.items():
        mine = [point for point in points if point.strategy == strategy]
        if mine:
            budgets, rates = zip(*mine[-1].curve, strict=True) if mine[-1].curve else ((), ())
            figure.add_scatter(
                x=budgets, y=[100 * rate for rate in rates], mode="lines", opacity=0.45, hoverinfo="skip",
                line={"color": colour, "width": 1.2, "shape": "hv"}, legendgroup=strategy, showlegend=False,
            )  # fmt: skip
            figure.add_scatter(
                legendgroup=strategy, x=[point.words for point in mine], y=[100 * point.hit_rate for point in mine], mode="markers+text",
                text=[_mark(point) for point in mine], textposition="top right",
                name=STRATEGIES[strategy].title, hovertext=[point.hint for point in mine], hoverinfo="text",
                customdata=[point.setting for point in mine],
                marker={"color": colour, "symbol": symbol, "size": 10, "line": {"width": 1, "color": "rgba(128,128,128,0.6)"}},
            )  # fmt: skip
    wide = _wide(points)
    low, high = _reach(points)
    figure.update_xaxes(title="Words sent for a question (mean)", type="log" if wide else "linear", tickformat=",",
                        range=[log10(low), log10(high)] if wide else [0, high],
                        **({"tickvals": _TICKS} if wide else {"nticks": 6}))  # fmt: skip
    figure.update_yaxes(title="Hit rate (% of questions)", range=[-2, 102], dtick=20)
    figure.update_layout(height=400, margin={"l": 8, "r": 8, "t": 32, "b": 8}, hovermode="closest",  # room for plotly's buttons
                         legend={"orientation": "h", "yanchor": "top", "y": -0.22, "x": 0, "font": {"size": 11}, "itemsizing": "constant"})  # fmt: skip
    return figure


def _mark(point: Point) -> str:
    return MARK if point.truncated else ""


def fits(shown: Sequence[Point], more: Sequence[Point]) -> bool:
    """Whether more points can be laid over the chart of those shown: its legend has their strategies, its axis reaches them."""
    strategies = {point.strategy for point in shown}
    low, high = _reach(shown)
    return all(point.strategy in strategies and low <= point.words <= high for point in more)


def _reach(points: Sequence[Point]) -> tuple[float, float]:
    """From where to where the axis of words goes: with room, so that a smaller size needs no other axis."""
    words = [point.words for point in points if point.words > 0] or [1.0]
    low = min(50.0, 0.8 * min(words)) if _wide(points) else 0.0
    return low, (1.4 if _wide(points) else 1.15) * max(words)


def _wide(points: Sequence[Point]) -> bool:
    """Whether words sent differ so much that only a logarithmic axis shows them all."""
    words = [point.words for point in points if point.words > 0]
    return bool(words) and max(words) > 5 * min(words)
