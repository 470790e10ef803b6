"""A line over a chart that goes up and down with a slider while it is dragged."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.live import script

_level = st.components.v2.component("chunkscope_level", js=script("svg.js", "level.js"))


def level(inside: str, value: float, heights: Sequence[float]) -> None:
    """Follows the slider in the container of that key, over the chart there, and tells how many of the heights are below.

    `value` is what the chart was drawn for: where the slider stands there, nothing is laid over it.
    """
    _level(key=f"cs_level_{inside}", data={"inside": inside, "value": value, "heights": list(heights)})
