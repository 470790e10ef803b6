"""What can be taken along: charts as pictures, tables as CSV, trials as a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from chunking.experiment import Trial
from chunking.study import Record, Study, record
from chunking.types import Corpus, Embed
from data.studies import csv_text, row_of, versions
from pages.parts.address import chosen
from pages.parts.controls import select

_FORMATS = ("png", "svg")


def picture_format() -> None:
    """The choice of what the camera of a chart saves."""
    select("image", "Charts are saved as", _FORMATS, "png", str.upper, "By the camera at the top of a chart.")


def chart_config(name: str) -> dict[str, Any]:
    """How plotly shows a chart: with its bar, whose camera saves the chart under a name."""
    chosen_format = chosen("image", "png")
    return {
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d"],
        "toImageButtonOptions": {"format": chosen_format if chosen_format in _FORMATS else "png", "filename": name, "scale": 2},
    }  # fmt: skip


def table(rows: Sequence[Mapping[str, Any]], name: str) -> None:
    """A button that saves rows as CSV."""
    _csv(lambda: rows, name)


def figures(records: Sequence[Record], name: str) -> None:
    """A button that saves every figure of trials as CSV."""
    table([row_of(record) for record in records], name)


def measured(trials: Sequence[Trial], embed: Embed, name: str) -> None:
    """A button that saves every figure of trials of this session as CSV."""
    _csv(lambda: [row_of(record(trial, embed)) for trial in trials], name)


def _csv(rows: Callable[[], Sequence[Mapping[str, Any]]], name: str) -> None:
    """A button that saves rows as CSV. They are made and written when it is pressed."""
    st.download_button("Table (CSV)", lambda: csv_text(rows()), f"{name}.csv", "text/csv", on_click="ignore")


def study(corpus: Corpus, records: Sequence[Record], name: str) -> None:
    """A button that saves trials as a study, as `sweep --study` writes it."""
    st.download_button("Study (JSON)", lambda: study_json(corpus, records), f"{name}.json", "application/json", on_click="ignore",
                       help="Trials with their settings, figures and each question's result; no text of documents or questions.")  # fmt: skip


def study_json(corpus: Corpus, records: Sequence[Record]) -> str:
    """The trials as the text of a study file."""
    made = Study.of(corpus, versions())
    for one in records:
        made.add(one)
    return json.dumps(made.to_object(), ensure_ascii=False)
