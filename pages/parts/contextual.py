"""Context by a chat model: what it would cost, the button that starts it, and how far it is."""

from __future__ import annotations

import streamlit as st

from cache.described import Described, price
from chunking.index import Config, build
from chunking.types import Corpus, Describe, Embed
from pages.parts import resources
from pages.parts.words import counted, plain


def described(corpus: Corpus, config: Config, embed: Embed) -> Describe | None:
    """The chat model, once it has described every chunk of the configuration; None until then, and what is to be done.

    Descriptions are kept one by one: moving a slider, or Stop, ends the run, and the next one goes on from there.
    """
    chat = resources.chat(config.chat)
    for warning in chat.warnings:
        st.warning(plain(warning))
    cost = price(chat, corpus, config, embed)
    calls = cost.calls
    if not calls:
        return chat
    st.info(plain(
        f"{config.chat} has still to describe {counted(calls, 'chunk')}, {cost.cached:,} are described: {counted(calls, 'call')}, "
        f"at most about {cost.prompt_tokens:,} tokens read and {cost.answer_tokens:,} written. What is done is kept."
    ))  # fmt: skip
    if not st.button(f"Describe {counted(calls, 'chunk')}", type="primary"):
        return None
    st.button("Stop")  # any press runs the page anew, which ends this run after the answer at hand
    bar = st.progress(0.0, f"Described 0 of {calls:,} chunks")

    def progress(done: int, total: int) -> None:
        bar.progress(done / total, f"Described {done:,} of {total:,} chunks")

    build(corpus, config, embed, describe=Described(chat, calls, progress))
    st.rerun()  # all is kept: the next run finds nothing to describe, and says nothing of it
