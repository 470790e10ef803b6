"""The picker of what is measured: the bundled corpus or uploaded files."""

from __future__ import annotations

import streamlit as st

from chunking.types import Corpus
from data.report import Report
from pages.parts import resources
from pages.parts.controls import select
from pages.parts.kept import with_kept
from pages.parts.words import counted, plain

_SHOWN = 8  # lines of a report before the rest is folded away


def pick_corpus() -> Corpus:
    """The bundled corpus, or the user's own files of this session."""
    which = select("corpus", "Corpus", ["bundled", "own"], "bundled", {"bundled": "Bundled posts", "own": "Your own files"}.__getitem__,
                   "Posts of an engineering blog with questions on them, or files of yours: they stay on this machine.")  # fmt: skip
    if which == "bundled":
        return with_kept(resources.bundled_corpus())
    files = st.file_uploader(
        "Documents (md, txt)", type=["md", "markdown", "txt"], accept_multiple_files=True, key="own_files"
    )
    questions = st.file_uploader("Questions (csv, jsonl, json)", type=["csv", "jsonl", "json"], key="own_questions",
                                 help="Columns: question and passage (quoted from a document); or document, start and end.")  # fmt: skip
    corpus, report = resources.own_corpus(files, questions)
    if files:
        st.caption(f"Read: {counted(len(corpus.documents), 'document')}, {counted(len(corpus.questions), 'question')}. "
                   "The address keeps your settings, not your files: after a reload upload them again.")  # fmt: skip
    _show(report)
    return with_kept(corpus)


def _show(report: Report) -> None:
    lines = [*(f"Not used: {problem}" for problem in report.problems), *report.notes]
    for line in lines[:_SHOWN]:
        st.caption(plain(line))
    if len(lines) > _SHOWN:
        with st.expander(f"{len(lines) - _SHOWN} more lines"):
            for line in lines[_SHOWN:]:
                st.caption(plain(line))
