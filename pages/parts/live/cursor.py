"""The chart of hit rates: a figure that stays as it is, and over it the present setting, which follows the sliders.

A figure whose data change is drawn anew from nothing, with a flicker and without its zoom. So what changes with a slider,
the ring around the present setting and the points measured since, is laid over the figure in the browser.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from chunking.experiment import Trial
from chunking.index import Config
from chunking.stops import Slider
from pages.parts import controls
from pages.parts.charts import MARK, Point, colour_of, fits, hit_rate_chart, point_of
from pages.parts.downloads import chart_config
from pages.parts.live import script

#: Seconds in which a browser draws the text of a new session before it gets the first chart: it takes about as long to
#: start the chart's library, and draws nothing meanwhile.
HEAD_START = 1.0
_STARTED = "chart_library"

_cursor = st.components.v2.component("chunkscope_cursor", js=script("svg.js", "cursor.js"))


@dataclass
class _Chart:
    """What a session's chart shows: the points of its trials, those that are in the figure, and the figure."""

    trials: Mapping[Config, Trial]
    points: dict[Config, Point] = field(default_factory=dict)
    shown: list[Point] = field(default_factory=list)
    figure: go.Figure = field(default_factory=go.Figure)


def renew(trials: Mapping[Config, Trial]) -> None:
    """Takes every measured setting into the chart that is drawn next."""
    kept = _kept(trials)
    kept.shown = list(kept.points.values())
    kept.figure = hit_rate_chart(kept.shown)


def chart(trials: Mapping[Config, Trial]) -> None:
    """Draws the measured settings: as before, unless a new one has no place on the chart of before."""
    kept = _kept(trials)
    if not fits(kept.shown, list(kept.points.values())):
        renew(trials)
    if _STARTED not in st.session_state:
        time.sleep(HEAD_START)
        st.session_state[_STARTED] = True
    st.plotly_chart(kept.figure, theme="streamlit", config=chart_config("chunkscope-hit-rate"))


def cursor(trials: Mapping[Config, Trial], present: Trial, sliders: Sequence[Slider]) -> None:
    """Lays over the chart what has changed since it was drawn: the present setting, and where each slider would take it."""
    kept = _kept(trials)
    shown = set(kept.shown)
    data = {
        "present": _packed(kept.points[present.config]),
        "more": [_packed(point) for point in kept.points.values() if shown and point not in shown],
        "at": {slider.name: _now(slider, present.config) for slider in sliders},
        "stops": {slider.name: _measured(slider, kept.points) for slider in sliders},
    }
    _cursor(key="cs_cursor", data=data, on_picked_change=_take)


def _take() -> None:
    """The setting of a point that was clicked becomes the present one."""
    controls.take(st.session_state["cs_cursor"]["picked"])


def _kept(trials: Mapping[Config, Trial]) -> _Chart:
    """The session's chart of these trials, with a point for each of them."""
    kept = st.session_state.get("charted")
    if kept is None or kept.trials is not trials:
        kept = st.session_state["charted"] = _Chart(trials)
    for config in trials.keys() - kept.points.keys():
        kept.points[config] = point_of(trials[config], controls.packed(config))
    return kept


def _now(slider: Slider, config: Config) -> str:
    return str(next(value for value, at in slider.configs.items() if at == config))


def _measured(slider: Slider, points: Mapping[Config, Point]) -> dict[str, dict[str, Any]]:
    """The points of those stops that were measured already."""
    return {str(value): _packed(points[config]) for value, config in slider.configs.items() if config in points}


def _packed(point: Point) -> dict[str, Any]:
    return {
        "words": point.words, "hit": 100 * point.hit_rate, "low": 100 * point.low, "high": 100 * point.high,
        "title": f"{point.title} {MARK}" if point.truncated else point.title, "setting": point.setting, "colour": colour_of(point.strategy),
    }  # fmt: skip
