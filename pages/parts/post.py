"""One document with its cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from chunking.experiment import Found
from chunking.index import Index
from chunking.types import Document, Ints, Passage, Question
from pages.parts.highlight import KEY, Mark, document_html


def show(
    spot: DeltaGenerator, index: Index, document: Document, read_ends: Ints | None, found: Sequence[Found],
    asked: Question | None,
) -> None:  # fmt: skip
    """Draws the document into a spot: its chunks, the passages of its questions (of the asked one alone, if one is)."""
    number = index.corpus.documents.index(document)
    rows = np.flatnonzero(index.documents == number).tolist()
    ends = index.ends if read_ends is None else read_ends
    ranks = {hit.row: rank for rank, hit in enumerate(found, 1)}
    marks = []
    for row in rows:
        span = index.spans[index.returned[row]]
        marks.append(Mark(int(index.starts[row]), int(index.ends[row]), span.start, span.end, int(ends[row]),
                          int(index.words[row]), ranks.get(row, 0)))  # fmt: skip
    questions = [asked] if asked else index.corpus.questions
    with spot.container(height=640, border=True):
        st.html(document_html(document.text, marks, passages_in(index, document, questions)))


def key() -> None:
    """What the marks mean."""
    st.html(KEY)


def passages_in(index: Index, document: Document, questions: Sequence[Question]) -> list[tuple[Passage, bool]]:
    """The answering passages in a document, each with whether it is whole in no returned span."""
    passages = {
        passage
        for question in questions
        for need in question.needs
        for passage in need
        if passage.document == document.id
    }
    ordered = sorted(passages, key=lambda passage: passage.start)
    return [(passage, not index.holds(passage)) for passage in ordered]
