"""Charts of the Compare page: results in, plotly figures out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from chunking.curves import Curve
from chunking.intervals import Interval
from chunking.kinds import Kind
from chunking.moves import Move
from chunking.overlaid import Likeness
from chunking.study import Record
from pages.parts.charts import FATE_COLOURS
from pages.parts.words import FATES, percent

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a8a00", "#7a5195", "#888888", "#332288",
           "#44aa99", "#aa4499")  # fmt: skip
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "square", "triangle-up", "cross", "x", "star", "hexagon", "pentagon", "diamond", "bowtie", "hourglass", "octagon")  # fmt: skip
_FATE_SHAPES = {
    "hit": "",
    "split": "/",
    "truncated": "x",
    "outranked_same_document": ".",
    "outranked_other_document": "\\",
}
_LEGEND = {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0, "font": {"size": 11}}


def reasons_chart(records: Mapping[str, Record]) -> go.Figure:
    """What became of the questions of each trial, a bar each: found, or why not; they add to 100%."""
    figure = go.Figure()
    names = list(records)
    for fate, title in FATES.items():
        colour, shape = FATE_COLOURS[fate], _FATE_SHAPES[fate]
        counts = [fate_count(one, fate) for one in records.values()]
        shares = [100 * count / one["questions"] for count, one in zip(counts, records.values(), strict=True)]
        figure.add_bar(y=names, x=shares, name=title, orientation="h", marker={"color": colour, "pattern": {"shape": shape, "fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.7)", "size": 7}},
                       hovertext=[f"{escape(name)}<br>{title}: {count} questions, {share:.1f}%"
                                  for name, count, share in zip(names, counts, shares, strict=True)], hoverinfo="text")  # fmt: skip
    figure.update_xaxes(title="Share of questions (%)", range=[0, 100], ticksuffix="%")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return _laid_out(figure, 130 + 34 * len(names), barmode="stack", legend={**_LEGEND, "y": -90 / (130 + 34 * len(names)), "traceorder": "normal"})  # fmt: skip


def fate_count(record: Record, fate: str) -> int:
    """How many questions of a trial met a fate: hit, or a reason of a miss."""
    misses: dict[str, int] = record["misses"]
    return record["questions"] - sum(misses.values()) if fate == "hit" else misses[fate]


def ranks_chart(moves: Sequence[Move], before: str, after: str) -> go.Figure:
    """The rank of each question in two trials, a point each; on the diagonal nothing moved. Split stands beyond all ranks."""
    ranks = [rank for move in moves for rank in (move.before.rank, move.after.rank) if rank]
    beyond = 2.0 * max(ranks, default=1)
    figure = go.Figure()
    figure.add_scatter(x=[1, beyond], y=[1, beyond], mode="lines", line={"dash": "dot", "color": "#888888", "width": 1}, hoverinfo="skip", showlegend=False)  # fmt: skip
    groups = (("found by both", "circle", "#009e73", (True, True)), ("won", "triangle-up", "#0072b2", (False, True)),
              ("lost", "triangle-down", "#d55e00", (True, False)), ("found by neither", "x", "#888888", (False, False)))  # fmt: skip
    for title, symbol, colour, hits in groups:
        mine = [move for move in moves if (move.before.hit, move.after.hit) == hits]
        figure.add_scatter(
            x=[move.before.rank or beyond for move in mine], y=[move.after.rank or beyond for move in mine], mode="markers",
            name=f"{title} ({len(mine)})", marker={"symbol": symbol, "color": colour, "size": 10, "opacity": 0.75},
            hovertext=[_move_hint(move) for move in mine], hoverinfo="text",
        )  # fmt: skip
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if tick <= 0.7 * beyond]
    axis = {"type": "log", "tickvals": [*ticks, beyond], "ticktext": [*map(str, ticks), "split"]}
    figure.update_xaxes(title=f"Rank with {escape(before)}", **axis)
    figure.update_yaxes(title="Rank beside it", **axis)
    figure.update_layout(title={"text": f"Rank with {escape(after)} (upwards)", "font": {"size": 13}})
    return _laid_out(figure, 460, top=36)


def _move_hint(move: Move) -> str:
    ranks = " to ".join(f"rank {one.rank}" if one.rank else "split" for one in (move.before, move.after))
    return f"{escape(move.before.question.text)}<br>{escape(move.before.question.id)}: {ranks}"


def curves_chart(
    curves: Mapping[str, Curve], bands: Mapping[str, tuple[Interval, ...]], budgets: Sequence[int]
) -> go.Figure:
    """Budget curves up to the budget, with 95% bands where they are given."""
    figure = go.Figure()
    for place, (name, curve) in enumerate(curves.items()):
        colour, dash = COLOURS[place % len(COLOURS)], _DASHES[place % len(_DASHES)]
        if name in bands:
            low, high = ([100 * getattr(one, end) for one in bands[name]] for end in ("low", "high"))
            figure.add_scatter(x=[*budgets, *reversed(budgets)], y=[*high, *reversed(low)], fill="toself", fillcolor=colour, opacity=0.14,
                               mode="none", hoverinfo="skip", showlegend=False)  # fmt: skip
        words = [word for word in curve.words.tolist() if word <= curve.budget]
        rates = [100 * curve.at(word) for word in [*words, curve.budget]]
        figure.add_scatter(x=[*words, curve.budget], y=rates, mode="lines", line={"shape": "hv", "color": colour, "dash": dash, "width": 2},
                           name=f"{name}: {percent(curve.area)}", hovertemplate="%{y:.1f}% within %{x:,} words<extra></extra>")  # fmt: skip
    figure.update_xaxes(
        title="Budget (words sent for a question)",
        tickformat=",",
        range=[0, max(curve.budget for curve in curves.values())],
    )
    figure.update_yaxes(title="Hit rate (% of questions)", rangemode="tozero")
    return _laid_out(
        figure, 300 + 20 * len(curves), legend={**_LEGEND, "orientation": "v", "y": -0.16 - 0.002 * len(curves)}
    )


def equal_k_chart(rates: Mapping[str, Sequence[float]]) -> go.Figure:
    """The hit rate of each trial had the first 1, 2, 3 ... spans been sent."""
    figure = go.Figure()
    for place, (name, row) in enumerate(rates.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "dash": _DASHES[place % len(_DASHES)], "width": 2}
        figure.add_scatter(x=list(range(1, len(row) + 1)), y=[100 * rate for rate in row], mode="lines+markers", line=look, name=name,
                           marker={"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 6},
                           hovertemplate="%{y:.1f}% at %{x}<extra></extra>")  # fmt: skip
    figure.update_xaxes(
        title="k (chunks sent)", tickvals=[1, 3, 5, 10, 15, 20], range=[0.5, max(map(len, rates.values())) + 0.5]
    )
    figure.update_yaxes(title="Hit rate (% of questions)", rangemode="tozero")
    return _laid_out(
        figure, 300 + 20 * len(rates), legend={**_LEGEND, "orientation": "v", "y": -0.16 - 0.002 * len(rates)}
    )


def kinds_chart(kinds: Sequence[Kind], names: Sequence[str], measure: str) -> go.Figure:
    """Each trial's mean by kind of question, with its interval."""
    figure = go.Figure()
    labels = [kind_label(kind) for kind in kinds]
    for place, name in enumerate(names):
        means = [100 * kind.means[place] for kind in kinds]
        up, down = (
            [100 * abs(getattr(kind.intervals[place], end) - kind.means[place]) for kind in kinds]
            for end in ("high", "low")
        )
        shift = 0.7 * (place - (len(names) - 1) / 2) / len(names)
        figure.add_scatter(
            x=[at + shift for at in range(len(kinds))], y=means, mode="markers", name=name,
            error_y={"type": "data", "array": up, "arrayminus": down, "thickness": 1.2, "width": 3},
            marker={"color": COLOURS[place % len(COLOURS)], "symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 9},
            hovertext=[f"{escape(name)}<br>{escape(label)}: {mean:.1f}%" for label, mean in zip(labels, means, strict=True)], hoverinfo="text",
        )  # fmt: skip
    figure.update_xaxes(tickvals=list(range(len(kinds))), ticktext=[escape(label) for label in labels], showgrid=False)
    figure.update_yaxes(title=f"{measure.capitalize()} (%)", range=[-2, 102], dtick=20)
    return _laid_out(figure, 300 + 20 * len(names), legend={**_LEGEND, "orientation": "v", "y": -0.12})


def kind_label(kind: Kind) -> str:
    """A kind with the number of its questions. Example: 'how (6 questions, few)'"""
    return f"{kind.name or 'without a kind'} ({kind.questions} questions{', few' if kind.small else ''})"


def likeness_chart(found: Likeness, threshold: float) -> go.Figure:
    """The cosine of each sentence and the next along a document, and the threshold: below it a chunk ends."""
    figure = go.Figure()
    numbers = list(range(1, len(found.cosines) + 1))
    below = found.cosines < threshold
    figure.add_scatter(x=numbers, y=found.cosines.tolist(), mode="lines", line={"color": "#888888", "width": 1}, hoverinfo="skip", showlegend=False)  # fmt: skip
    for title, group, symbol, colour in (
        ("a chunk ends", below, "x", "#d55e00"),
        ("goes on", ~below, "circle", "#0072b2"),
    ):
        figure.add_scatter(
            x=[number for number, own in zip(numbers, group, strict=True) if own], y=found.cosines[group].tolist(), mode="markers",
            marker={"symbol": symbol, "color": colour, "size": 8}, name=f"{title} ({int(group.sum())})",
            hovertemplate="sentences %{x} and the next: %{y:.3f}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(
        threshold, line={"color": "#c2313c", "dash": "dash"}, annotation={"text": f"threshold {threshold:g}"}
    )
    figure.update_xaxes(title="Sentence, and the next one")
    figure.update_yaxes(title="Cosine of the two")
    return _laid_out(figure, 320)


def _laid_out(figure: go.Figure, height: int, top: int = 8, **more: object) -> go.Figure:
    figure.update_layout(
        **{
            "height": height,
            "margin": {"l": 8, "r": 8, "t": top, "b": 8},
            "hovermode": "closest",
            "legend": _LEGEND,
            **more,
        }
    )
    return figure
