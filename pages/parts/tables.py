"""Tables as text: what stands in a cell is never markup, and every table can be downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from data.studies import csv_text
from pages.parts.words import plain


def table(rows: Sequence[Mapping[str, str]], file: str) -> None:
    """A table, and below it the same as a CSV file of that name."""
    st.table([{plain(name): plain(value) for name, value in row.items()} for row in rows], hide_index=True)
    download(csv_text(rows), file)


def download(content: str, file: str) -> None:
    """A button that hands out a table's CSV file."""
    st.download_button(
        "Download as CSV", content, file, "text/csv", key=f"csv_{file}", on_click="ignore", type="tertiary"
    )
