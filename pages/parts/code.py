"""The present setting as working code."""

from __future__ import annotations

import streamlit as st

from chunking.export import exports
from chunking.index import Config
from pages.parts.words import plain, title_of


def panel(config: Config, embedder: str) -> None:
    """The code for each library, with where it cuts differently. Nothing is written while it is closed."""
    with st.expander("This setting as code", key="code_panel", on_change="rerun") as opened:
        if not opened.open:
            return
        try:
            found = exports(config, embedder)
        except ValueError as error:
            st.info(plain(str(error)))
            return
        st.caption(plain(title_of(config)))
        for tab, one in zip(st.tabs([one.title for one in found]), found, strict=True):
            with tab:
                st.caption(
                    plain(
                        f"It cuts differently: {one.differs}"
                        if one.differs
                        else "It cuts the same as what is shown here."
                    )
                )
                st.code(one.code, "python", height=360)
