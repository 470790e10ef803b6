"""Questions of one's own, kept as test questions with the passage that answers each; they live in the address."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from chunking.measures import words_of
from chunking.types import Corpus, Question
from data.questions import read_questions
from data.report import ReadError
from pages.parts.address import choose, chosen
from pages.parts.live import text_of
from pages.parts.words import counted, plain

#: An address takes some thousands of characters.
MOST = 20

#: Characters of a passage.
LONGEST = 4000

Row = tuple[str, str, int, int]  # (question, document, start, end)

_selection = st.components.v2.component("chunkscope_selection", js=text_of("selection.js"))


def with_kept(corpus: Corpus) -> Corpus:
    """The corpus with the questions kept on it; the same object as long as they are the same."""
    if not chosen("kept") or not corpus.documents:
        return corpus
    key = (id(corpus), chosen("kept"))
    made = st.session_state.get("with_kept")
    if made is None or made[0] != key:
        more = _questions(corpus, _rows())
        # The first corpus is held with it, so that no other one gets its id.
        made = (key, corpus, Corpus(corpus.documents, corpus.questions + more) if more else corpus)
        st.session_state["with_kept"] = made
    return made[2]


def panel(corpus: Corpus, question: str, asked: Question | None) -> None:
    """A form that keeps the question that is asked, unless it is a test question already; and the kept ones."""
    rows = _rows()
    if asked is None:
        _form(corpus, question, len(rows))
    for place, row in enumerate(rows):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.caption(plain(f"{row[0]}  ({row[1]}, characters {row[2]:,} to {row[3]:,})"))
        right.button("Remove", key=f"w_unkeep_{place}", on_click=_put, args=([*rows[:place], *rows[place + 1 :]],))
    if rows:
        st.download_button("Download the kept questions (JSONL)", _jsonl(rows), "questions.jsonl", "application/jsonl")


def _form(corpus: Corpus, question: str, kept: int) -> None:
    if kept >= MOST:
        st.caption(f"{MOST} questions are kept, as many as an address holds: download them and upload them as a file.")
        return
    _selection(key="cs_selection", on_selected_change=_take)
    passage = st.text_area("The passage that answers it", key="w_passage", max_chars=LONGEST,
                           placeholder="Select it in a chunk, or paste it here",
                           help="It must stand in a document word for word; white space may differ.")  # fmt: skip
    documents = ["", *corpus.by_id]
    if st.session_state.get("w_passage_document") not in documents:
        st.session_state["w_passage_document"] = ""
    document = st.selectbox("It stands in", documents, key="w_passage_document",
                            format_func=lambda name: name or "the only document that has it")  # fmt: skip
    if not st.button("Keep as a test question", disabled=not passage.strip()):
        return
    row = json.dumps({"question": question, "passage": passage, "document": document or None})
    try:
        found, report = read_questions("typed.jsonl", row.encode(), corpus.documents)
    except ReadError as error:
        st.error(plain(str(error)))
        return
    for problem in report.problems:
        st.error(plain(problem.removeprefix("line 1: ")))
    if found:
        first = found[0].needs[0][0]
        _put([*_rows(), (question, first.document, first.start, first.end)])
        st.session_state.pop("w_passage", None)
        st.rerun()


def _take() -> None:
    """What was selected in a chunk becomes the passage."""
    selected = st.session_state["cs_selection"]["selected"]
    st.session_state["w_passage"] = str(selected["text"])[:LONGEST]
    st.session_state["w_passage_document"] = str(selected["document"])


def described(corpus: Corpus, question: Question) -> str:
    """Where the answer of a test question stands, in words."""
    places = []
    for passage in (need[0] for need in question.needs):
        words = words_of(corpus.by_id[passage.document], passage.start, passage.end)
        places.append(
            f"{counted(words, 'word')} of {passage.document}, characters {passage.start:,} to {passage.end:,}"
        )
    return f"The answer is in {'; and in '.join(places)}."


def _rows() -> list[Row]:
    """The kept questions that the address holds; what is not one is left out."""
    try:
        given = json.loads(chosen("kept") or "[]")
    except (ValueError, RecursionError):
        return []
    rows = given if isinstance(given, list) else []
    return [(row[0], row[1], row[2], row[3]) for row in rows if _is_row(row)][:MOST]


def _is_row(row: object) -> bool:
    return isinstance(row, list) and [type(field) for field in row] == [str, str, int, int] and bool(row[0].strip())


def _questions(corpus: Corpus, rows: Sequence[Row]) -> tuple[Question, ...]:
    """The questions of those rows whose place is in the corpus."""
    if not rows:
        return ()
    lines = [
        json.dumps({"id": f"kept {number}", "question": text, "document": document, "start": start, "end": end})
        for number, (text, document, start, end) in enumerate(rows, 1)
    ]
    known = {question.id for question in corpus.questions}
    found, _ = read_questions("kept.jsonl", "\n".join(lines).encode(), corpus.documents)
    return tuple(question for question in found if question.id not in known)


def _put(rows: Sequence[Row]) -> None:
    choose("kept", json.dumps(rows, ensure_ascii=False, separators=(",", ":")) if rows else "")


def _jsonl(rows: Sequence[Row]) -> str:
    names = ("question", "document", "start", "end")
    return "".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
