"""The chart of hit rates: a figure that stays as it is, and over it the present setting, which follows the sliders.

A figure whose data change is drawn anew from nothing, with a flicker and without its zoom. So what changes with a slider,
the ring around the present setting and the points measured since, is laid over the figure in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from chunking.experiment import Trial
from chunking.index import Config
from chunking.stops import Slider
from pages.parts import controls
from pages.parts.charts import Point, colour_of, fits, hit_rate_chart, point_of
from pages.parts.live import script

_cursor = st.components.v2.component("chunkscope_cursor", js=script("cursor.js"))


def chart(trials: Mapping[Config, Trial], fresh: bool = False) -> None:
    """Draws the measured settings: as before, unless `fresh` or a new one has no place on the chart of before."""
    points = _points(trials)
    if fresh or not fits(_shown(trials), points):
        st.session_state["charted"] = (trials, points)
    st.plotly_chart(hit_rate_chart(_shown(trials)), theme="streamlit", config={"displayModeBar": False})


def cursor(trials: Mapping[Config, Trial], present: Trial, sliders: Sequence[Slider]) -> None:
    """Lays over the chart what has changed since it was drawn: the present setting, and where each slider would take it."""
    shown = set(_shown(trials))
    data = {
        "present": _packed(point_of(present, controls.packed(present.config))),
        "more": [_packed(point) for point in _points(trials) if point not in shown],
        "at": {slider.name: _now(slider, present.config) for slider in sliders},
        "stops": {slider.name: _measured(slider, trials) for slider in sliders},
    }
    _cursor(key="cs_cursor", data=data, on_picked_change=_take)


def _take() -> None:
    """The setting of a point that was clicked becomes the present one."""
    controls.take(st.session_state["cs_cursor"]["picked"])


def _shown(trials: Mapping[Config, Trial]) -> list[Point]:
    """The points of the figure as it was drawn last for these trials; none where it was drawn for others."""
    drawn_for, points = st.session_state.get("charted", (None, []))
    return points if drawn_for is trials else []


def _points(trials: Mapping[Config, Trial]) -> list[Point]:
    return [point_of(trial, controls.packed(config)) for config, trial in trials.items()]


def _now(slider: Slider, config: Config) -> str:
    return str(next(value for value, at in slider.configs.items() if at == config))


def _measured(slider: Slider, trials: Mapping[Config, Trial]) -> dict[str, dict[str, Any]]:
    """The points of those stops that were measured already."""
    return {
        str(value): _packed(point_of(trials[config], controls.packed(config)))
        for value, config in slider.configs.items()
        if config in trials
    }


def _packed(point: Point) -> dict[str, Any]:
    return {
        "words": point.words, "hit": 100 * point.hit_rate, "low": 100 * point.low, "high": 100 * point.high,
        "title": point.title, "setting": point.setting, "colour": colour_of(point.strategy),
    }  # fmt: skip
