"""The menu that every page shows; Streamlit's own is switched off."""

from __future__ import annotations

import streamlit as st

from pages.parts import address

PAGES = (
    ("app.py", "Explore"),
    ("pages/ask.py", "Ask"),
    ("pages/sweep.py", "Sweep"),
    ("pages/compare.py", "Compare"),
)


def menu() -> None:
    """The links to the pages, in the sidebar. They carry the settings, which a plain link would drop."""
    with st.sidebar:
        st.markdown("**Chunkscope**")
        for path, label in PAGES:
            st.page_link(path, label=label, query_params=address.kept())
