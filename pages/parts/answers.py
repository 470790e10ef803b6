"""What a chat model answers from exactly the chunks that are sent, as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import streamlit as st

from cache import EmbedderError
from cache.answering import cited
from chunking.experiment import Found
from chunking.index import Index
from pages.parts import resources
from pages.parts.controls import select
from pages.parts.words import plain

_MOST = 50  # answers kept by a session; the oldest go first


def show(index: Index, question: str, found: Sequence[Found]) -> None:
    """The answer to the question, once it has been asked for; another one for other chunks."""
    first = resources.default_chat()
    if not first.name:
        st.caption(plain(first.sentence.replace("Context by a chat model", "An answer")))
        return
    name = select("answers", "Chat model", resources.chats(), first.name, str,
                  "The model that answers. It is shown the chunks above and nothing else.")  # fmt: skip
    key = (name, question, tuple(hit.span for hit in found))
    kept = st.session_state.setdefault("answers", {})
    pressed = st.button("Answer from these chunks", disabled=not found)
    if key not in kept and not pressed:
        return
    spot = st.empty()
    if pressed:
        kept[key] = _written(spot, index, name, question, found)
        resources.let_oldest_go(kept, _MOST)
    spot.markdown(_lines(kept[key]))
    st.caption(_cited(kept[key], len(found)))


def _written(
    spot: st.delta_generator.DeltaGenerator, index: Index, name: str, question: str, found: Sequence[Found]
) -> str:
    """The answer, drawn as it grows. Any other press on the page ends it, and the model's work on it."""
    texts = [index.corpus.by_id[hit.span.document].text[hit.span.start : hit.span.end] for hit in found]
    said = ""
    spot.caption("The model reads the chunks …")
    try:
        with closing(resources.answerer(name)(question, texts)) as pieces:
            for piece in pieces:
                said += piece
                spot.markdown(_lines(said))
    except EmbedderError as error:
        if not said:
            raise
        said += f" … (broken off: {error})"
    return said


def _lines(text: str) -> str:
    """A text of the model's as it is, with its line ends."""
    return plain(text).replace("\n", "  \n")


def _cited(answer: str, sent: int) -> str:
    """Which of the chunks the answer cites, in words."""
    numbers = cited(answer)
    right = [f"#{number}" for number in numbers if 1 <= number <= sent]
    wrong = [f"[{number}]" for number in numbers if not 1 <= number <= sent]
    said = f"It cites {', '.join(right)}." if right else "It cites none of the chunks."
    return plain(said + (f" {', '.join(wrong)} was not sent." if wrong else ""))
