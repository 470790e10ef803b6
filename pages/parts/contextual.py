"""Context by a chat model: what it would cost, the button that starts it, and how far it is."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from cache.described import Described
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
    index = build(corpus, replace(config, context="none", chat=""), embed)
    texts = [[document.text[chunk.start : chunk.end] for chunk in index.chunks(number)]
             for number, document in enumerate(corpus.documents)]  # fmt: skip
    costs = [chat.estimate(document, mine) for document, mine in zip(corpus.documents, texts, strict=True)]
    calls = sum(cost.calls for cost in costs)
    if not calls:
        return chat
    tokens, answers = sum(cost.prompt_tokens for cost in costs), sum(cost.answer_tokens for cost in costs)
    st.info(plain(
        f"{config.chat} has still to describe {counted(calls, 'chunk')}, {sum(cost.cached for cost in costs):,} are described: "
        f"{counted(calls, 'call')}, at most about {tokens:,} tokens read and {answers:,} written. What is done is kept."
    ))  # fmt: skip
    if not st.button(f"Describe {counted(calls, 'chunk')}", type="primary"):
        return None
    st.button("Stop")  # any press runs the page anew, which ends this run after the answer at hand
    bar = st.progress(0.0, f"Described 0 of {calls:,} chunks")

    def progress(done: int, total: int) -> None:
        bar.progress(done / total, f"Described {done:,} of {total:,} chunks")

    describe = Described(chat, calls, progress)
    for document, mine in zip(corpus.documents, texts, strict=True):
        describe(document, mine)
    bar.empty()
    return chat
