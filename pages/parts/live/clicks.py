"""A click on a point of a chart, told each time: what Streamlit tells of a selection leaves maps and repeated clicks out."""

from __future__ import annotations

import streamlit as st

from pages.parts import controls
from pages.parts.live import text_of

KEY = "cs_clicks"
_clicks = st.components.v2.component("chunkscope_clicks", js=text_of("clicks.js"))


def clicks(inside: str) -> None:
    """Has a click on a point of any chart in the container of that key take the point's setting (its `customdata`)."""
    _clicks(key=KEY, data={"inside": inside}, on_picked_change=_take)


def _take() -> None:
    controls.take(st.session_state[KEY]["picked"] or "")
