"""The menu that every page shows; Streamlit's own is switched off."""

from __future__ import annotations

import streamlit as st

PAGES = (("app.py", "Explore"),)


def menu() -> None:
    """The links to the pages, in the sidebar."""
    with st.sidebar:
        st.markdown("**Chunkscope**")
        for path, label in PAGES:
            st.page_link(path, label=label)
