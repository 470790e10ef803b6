"""The charts of a sweep: measured trials in, plotly figures out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from chunking.index import Config
from chunking.registry import STRATEGIES
from chunking.study import Record
from chunking.sweep import AXES
from chunking.table import SHARES, shown
from pages.parts.charts import MARK
from pages.parts.jobs import Measured
from pages.parts.sweeps import Line, Panel, value_of
from pages.parts.words import amount_of, title_of, value_text

# Okabe and Ito's colours; dashes and symbols differ too.
_LOOKS = (("#0072b2", "solid", "circle"), ("#d55e00", "dash", "square"), ("#009e73", "dot", "triangle-up"))
_GREY = "rgba(128,128,128,0.9)"
_HIDDEN = {"hoverinfo": "skip", "showlegend": False}
_SCALE = "Cividis"  # even to the eye, also of the colour-blind
BEST, LEVEL = "★", "="
WORDS = {
    "chunks": "Chunks", "words_per_chunk": "Words per chunk (mean)", "words_per_chunk_spread": "Words per chunk (standard deviation)",
    "repeated_words": "Index growth (% of words repeated)", "split_share": "Split (% of questions)",
    "whole_share": "Whole in a chunk (% of questions)", "ideal_precision": "Ideal precision (%)",
    "truncated_chunks": "Chunks longer than the model reads", "unread_chunks": "Chunks without a vector",
    "unread_share": "Never read (% of text)", "mean_reciprocal_rank": "Mean reciprocal rank", "hit_rate": "Hit rate (% of questions)",
    "lenient_hit_rate": "Lenient hit rate (% of questions)", "read_share": "Whole and read (% of questions)",
    "coverage": "Coverage (% of passages)", "precision": "Precision (% of what is sent)", "iou": "IoU (%)",
    "words_sent": "Words sent for a question", "distinct_words_sent": "Distinct words sent for a question",
    "tokens_sent": "Tokens sent for a question",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """Which settings of those that were compared are best, and cannot be told from the best."""

    best: Config
    level: frozenset[Config]


def figure_of(
    panel: Panel, found: Sequence[Measured], settings: Mapping[Config, str], standing: Standing | None
) -> go.Figure:
    """The chart of a panel; `settings` holds each configuration as the text that a click on it hands over."""
    if len(panel.over) == 2:
        return _map(panel, found, settings, standing)
    return _lines(panel, found, settings) if panel.over else _rows(panel, found, settings, standing)


def of_line(line: Line, found: Iterable[Measured]) -> list[Measured]:
    """The trials of a line's amount and arm."""
    return [
        one for one in found
        if (one.trial.config.budget is not None) == (line.amount == "budget") and one.arm.name == line.arm
    ]  # fmt: skip


def _lines(panel: Panel, found: Sequence[Measured], settings: Mapping[Config, str]) -> go.Figure:
    """A line for each measure over a parameter, its interval as a band; choices stand side by side with bars."""
    figure, name = go.Figure(), panel.over[0]
    measures = list(dict.fromkeys(line.measure for line in panel.lines))
    values = [_written(value_of(one.trial.config, name)) for one in found]
    numbers = all(isinstance(value, int | float) for value in values)
    for line, (colour, dash, symbol) in zip(panel.lines, _LOOKS, strict=False):
        mine = of_line(line, found)
        x = [_written(value_of(one.trial.config, name)) for one in mine]
        if numbers:
            order = sorted(range(len(mine)), key=lambda place: x[place])
            mine, x = [mine[place] for place in order], [x[place] for place in order]
            _band(figure, x, mine, line.measure, colour)
        figure.add_scatter(
            x=x, y=[_value(one.record, line.measure) for one in mine], name=line.name, offsetgroup=line.name,
            mode="lines+markers+text" if numbers else "markers+text", line={"color": colour, "dash": dash, "width": 2},
            marker={"color": colour, "symbol": symbol, "size": 8}, textposition="top center",
            text=[_mark(one) if line.measure == "hit_rate" else "" for one in mine],
            hovertext=[_hint(one, line.measure) for one in mine], hoverinfo="text",
            customdata=[settings[one.trial.config] for one in mine],
            **({} if numbers else {"error_y": _bars(mine, line.measure)}),
        )  # fmt: skip
    share = all(measure in SHARES for measure in measures)
    title = "% (shares of questions, passages, words)" if len(measures) > 1 else WORDS[measures[0]]
    if len(measures) > 1 and "repeated_words" not in measures:
        title = "% of questions"
    figure.update_xaxes(title=axis_title(found, name), **({} if numbers else {"type": "category"}))
    figure.update_yaxes(
        title=title,
        rangemode="tozero",
        **({"range": [-2, 104], "dtick": 20} if share and _full(found, measures) else {}),
    )
    return _laid_out(figure, 340, scattermode="overlay" if numbers else "group")


def _band(figure: go.Figure, x: Sequence[Any], mine: Sequence[Measured], measure: str, colour: str) -> None:
    """The interval of a line, where its measure has one."""
    if not mine or measure not in mine[0].record["intervals"]:
        return
    ends = [[_scaled(end, measure) for end in one.record["intervals"][measure]] for one in mine]
    figure.add_scatter(x=x, y=[high for _, high in ends], mode="lines", line={"width": 0}, **_HIDDEN)
    figure.add_scatter(x=x, y=[low for low, _ in ends], mode="lines", line={"width": 0}, fill="tonexty",
                       fillcolor=_clear(colour), **_HIDDEN)  # fmt: skip


def _map(
    panel: Panel, found: Sequence[Measured], settings: Mapping[Config, str], standing: Standing | None
) -> go.Figure:
    """The hit rate over two parameters; the plateau is outlined, the best has a star."""
    line, (first, second) = panel.lines[0], panel.over
    mine = of_line(line, found)
    at = {(value_of(one.trial.config, second), value_of(one.trial.config, first)): one for one in mine}
    rows, columns = (sorted({place[axis] for place in at}) for axis in (0, 1))
    cells = [[at.get((row, column)) for column in columns] for row in rows]
    figure = go.Figure(go.Heatmap(
        x=[f"{column:g}" for column in columns], y=[f"{row:g}" for row in rows], colorscale=_SCALE, xgap=1, ygap=1,
        z=[[_value(cell.record, line.measure) if cell else None for cell in row] for row in cells],
        text=[[_cell(cell, line.measure, standing) for cell in row] for row in cells], texttemplate="%{text}",
        hovertext=[[_hint(cell, line.measure) if cell else "refused: it cannot be cut so" for cell in row] for row in cells],
        hoverinfo="text", customdata=[[settings[cell.trial.config] if cell else "" for cell in row] for row in cells],
        colorbar={"title": "%", "thickness": 12},
    ))  # fmt: skip
    if standing:
        plateau = {place for place, one in at.items() if one.trial.config in standing.level}
        for edge in _edges(plateau, rows, columns):
            figure.add_shape(type="line", **edge, line={"color": "#e6007e", "width": 3})
    figure.update_xaxes(title=axis_title(found, first), type="category", showgrid=False)
    figure.update_yaxes(title=axis_title(found, second), type="category", showgrid=False)
    return _laid_out(figure, 110 + 36 * max(5, len(rows)))


def _edges(plateau: set[tuple[Any, Any]], rows: Sequence[Any], columns: Sequence[Any]) -> list[dict[str, float]]:
    """The outline of some cells, edge by edge, in numbers of rows and columns."""
    inside = {(rows.index(row), columns.index(column)) for row, column in plateau}
    found = []
    for y, x in inside:
        for (up, right), line in {
            (0, -1): (x - 0.5, y - 0.5, x - 0.5, y + 0.5), (0, 1): (x + 0.5, y - 0.5, x + 0.5, y + 0.5),
            (-1, 0): (x - 0.5, y - 0.5, x + 0.5, y - 0.5), (1, 0): (x - 0.5, y + 0.5, x + 0.5, y + 0.5),
        }.items():  # fmt: skip
            if (y + up, x + right) not in inside:
                found.append(dict(zip(("x0", "y0", "x1", "y1"), line, strict=True)))
    return found


def _cell(one: Measured | None, measure: str, standing: Standing | None) -> str:
    if one is None:
        return ""
    best = BEST if standing and one.trial.config == standing.best else ""
    return f"{best}{_value(one.record, measure):.0f}{_mark(one)}"


def _rows(
    panel: Panel, found: Sequence[Measured], settings: Mapping[Config, str], standing: Standing | None
) -> go.Figure:
    """A row for each setting, the best at the top, with its interval as a bar; those of the plateau are filled."""
    line = panel.lines[0]
    mine = sorted(of_line(line, found), key=lambda one: _value(one.record, line.measure) or 0)
    names = [f"{_sign(one, standing)} {title_of(one.trial.config)}{_mark(one)}" for one in mine]
    level = [standing is None or one.trial.config in standing.level for one in mine]
    figure = go.Figure(go.Scatter(
        x=[_value(one.record, line.measure) for one in mine], y=names, mode="markers", hoverinfo="text",
        hovertext=[_hint(one, line.measure) for one in mine], customdata=[settings[one.trial.config] for one in mine],
        error_x=_bars(mine, line.measure), showlegend=False,
        marker={"size": 10, "color": "#0072b2", "symbol": ["circle" if one else "circle-open" for one in level]},
    ))  # fmt: skip
    figure.update_xaxes(title=WORDS[line.measure], range=[-2, 102])
    figure.update_yaxes(type="category", automargin=True, tickfont={"size": 11})
    return _laid_out(figure, 90 + 22 * max(5, len(mine)))


def _sign(one: Measured, standing: Standing | None) -> str:
    if standing is None or one.trial.config not in standing.level:
        return ""
    return BEST if one.trial.config == standing.best else LEVEL


def axis_title(found: Sequence[Measured], name: str) -> str:
    """What an axis says of a parameter: its label and its unit."""
    if name in AXES:
        return {"k": "k (chunks sent)", "budget": "Reading budget (words)"}.get(name, name.capitalize())
    config = found[0].trial.config
    parameter = next(one for one in STRATEGIES[config.strategy].parameters if one.name == name)
    unit = config.values.get("unit", "words") if getattr(parameter, "sized", False) else ""
    return f"{parameter.label} ({unit})" if unit else parameter.label


def _bars(mine: Sequence[Measured], measure: str) -> dict[str, Any]:
    """The intervals of points as bars; none where the measure has no interval."""
    spans = [one.record["intervals"].get(measure) for one in mine]
    if not all(spans):
        return {}
    values = [_value(one.record, measure) or 0 for one in mine]
    ends = [[_scaled(end, measure) for end in span] for span in spans if span]
    return {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3,
        "array": [high - value for value, (_, high) in zip(values, ends, strict=True)],
        "arrayminus": [value - low for value, (low, _) in zip(values, ends, strict=True)],
    }  # fmt: skip


def _hint(one: Measured, measure: str) -> str:
    """What is told where the pointer rests on a point."""
    config, values = one.trial.config, one.record
    said = [f"<b>{title_of(config)}</b>", *([one.arm.name] if one.arm.name else []),
            f"{WORDS[measure].partition(' (')[0]} {shown(values, measure)} {amount_of(config)}"]  # fmt: skip
    if measure in values["intervals"]:
        low, high = (shown({measure: end}, measure) for end in values["intervals"][measure])
        said.append(f"95% interval {low} to {high}")
    said.append(f"{values['chunks']:,} chunks, {values['words_sent']:,.0f} words sent")
    if values["truncated_chunks"]:
        said.append(f"{MARK} {values['truncated_chunks']:,} chunks are longer than the model reads")
    return "<br>".join(said)


def _value(record: Record, measure: str) -> float | None:
    return None if record[measure] is None else _scaled(record[measure], measure)


def _scaled(value: float, measure: str) -> float:
    return 100 * value if measure in SHARES else value


def _mark(one: Measured) -> str:
    return MARK if one.record["truncated_chunks"] else ""


def _written(value: Any) -> Any:
    """A value on an axis: numbers as they are, the rest as text."""
    return value if isinstance(value, int | float) else value_text(value)


def _full(found: Sequence[Measured], measures: Sequence[str]) -> bool:
    """Whether shares are large enough for an axis that shows all of 0 to 100%."""
    return max((_value(one.record, measure) or 0 for one in found for measure in measures), default=0) > 30


def _clear(colour: str) -> str:
    """The colour, as clear as a band."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"


def _laid_out(figure: go.Figure, height: int, **more: Any) -> go.Figure:
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 30, "b": 8}, hovermode="closest",
                         legend={"orientation": "h", "yanchor": "top", "y": -0.24, "x": 0, "traceorder": "normal"}, **more)  # fmt: skip
    return figure
