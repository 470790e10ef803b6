"""A typed question, or one of the set: the chunks that come back, and where the cuts fell through its passage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from chunking.experiment import Found, Result
from chunking.index import Index
from chunking.measures import words_of
from chunking.segments import heading_of, headings
from chunking.types import Corpus, Passage, Question
from pages.parts.address import choose, chosen
from pages.parts.highlight import passage_html
from pages.parts.words import REASONS, counted, plain


def pick_question(corpus: Corpus) -> tuple[str, Question | None]:
    """The text asked and, where it is one of the set, that question. A typed question goes before a picked one."""
    typed = chosen("q")
    st.session_state["w_q"] = typed
    st.text_input("Ask a question of these documents", key="w_q", on_change=_keep, args=("q",), max_chars=500,
                  placeholder="Type a question and press Enter")  # fmt: skip
    if not corpus.questions:
        return typed.strip(), None
    by_id = {question.id: question for question in corpus.questions}
    picked = chosen("question") if chosen("question") in by_id else ""
    st.session_state["w_question"] = picked
    st.selectbox("or take one of the set", ["", *by_id], key="w_question", on_change=_keep, args=("question",),
                 format_func=lambda name: by_id[name].text if name else "none")  # fmt: skip
    if typed.strip():
        return typed.strip(), next((question for question in corpus.questions if question.text == typed.strip()), None)
    return (by_id[picked].text, by_id[picked]) if picked else ("", None)


def _keep(name: str) -> None:
    choose(name, st.session_state[f"w_{name}"])
    if name == "question":
        choose("q", "")


def answer(index: Index, found: Sequence[Found], asked: Question | None, result: Result | None) -> None:
    """What came back, in rank order, each span with its place, score and text; `result` is that of the asked one."""
    if result:
        verdict(index, result)
    if not found:
        why = "no chunk fits the reading budget" if len(index) else "there are no chunks"
        st.info(f"Nothing is sent: {why}.")
    passages = asked.passages if asked else ()
    for rank, hit in enumerate(found, 1):
        _card(index, rank, hit, [passage for passage in passages if passage.document == hit.span.document])


def verdict(index: Index, result: Result) -> None:
    """Whether the answer is in what is sent; if not why, and where the cuts fell."""
    if result.hit:
        st.success(f"Found: the answer is whole in what is sent (rank {result.rank}).", icon=":material/check:")
    else:
        rank = f" Its rank is {result.rank}." if result.rank else ""
        st.warning(f"Missed: {REASONS[result.reason]}.{rank}")
    for need in result.question.needs:
        if not any(index.holds(passage) for passage in need):
            st.caption(plain(_cuts(index, need[0])))


def words_in(index: Index, span: Passage) -> int:
    """The number of words of a span."""
    return words_of(index.corpus.by_id[span.document], span.start, span.end)


def _cuts(index: Index, passage: Passage) -> str:
    """Where the cuts fell through a passage that is whole in no returned span."""
    document = index.corpus.by_id[passage.document]
    over = [
        span
        for span in index.spans
        if span.document == passage.document and span.start < passage.end and span.end > passage.start
    ]
    held = [words_of(document, max(passage.start, span.start), min(passage.end, span.end)) for span in over]
    parts = " and ".join(str(count) for count in held) or "none"
    whole = counted(words_of(document, passage.start, passage.end), "word")
    return f"In {document.id} the passage of {whole} is cut: the chunks over it hold {parts} of them."


def _card(index: Index, rank: int, hit: Found, passages: list[Passage]) -> None:
    document = index.corpus.by_id[hit.span.document]
    place = int(heading_of(document, np.array([hit.span.start]))[0])
    path = " > ".join(headings(document)[place].path) if place >= 0 else document.title
    start, end = int(index.starts[hit.row]), int(index.ends[hit.row])
    facts = [
        f"score {hit.score:.4f}",
        counted(words_in(index, hit.span), "word"),
        f"characters {hit.span.start:,} to {hit.span.end:,}",
    ]
    if (start, end) != (hit.span.start, hit.span.end):
        facts.append(f"matched on {start:,} to {end:,}")
    if hit.read_end < end:
        facts.append("not read to its end by the model")
    with st.container(border=True):
        st.markdown(f"**#{rank}** {plain(document.id)}")
        st.caption(plain(f"{path} · {' · '.join(facts)}"))
        st.html(passage_html(document, hit.span.start, hit.span.end, passages))
