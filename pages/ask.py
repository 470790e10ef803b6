"""Ask: what comes back for a question, where the cuts fell, how each strategy fares, and what a chat model answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.basics import basic_configs
from chunking.experiment import Result, asked, search
from chunking.index import Config, Index, build
from chunking.registry import STRATEGIES, missing
from chunking.types import Corpus, Describe, Embed, Question
from pages.parts import answers, ask, contextual, downloads, frame, kept
from pages.parts.embedding import watched
from pages.parts.words import FATES, amount_of, plain, title_of


def show(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """The question, what comes back for it, and what becomes of it elsewhere."""
    if embedder is None:
        st.info("A question is compared with the chunks by an embedder: choose one in the sidebar.")
        return
    question, known = ask.pick_question(corpus)
    if not question:
        st.info(
            "Type a question, or take one of the set: the chunks that would be sent for it are shown here in the order of their rank."
        )
        return
    embed = watched(embedder, st.empty(), (embedder.identity, id(corpus), config, "ask"))
    describe: Describe | None = None
    if config.context == "contextual":
        describe = contextual.described(corpus, config, embed)
        if describe is None:
            return
    left, right = st.columns([3, 2], gap="medium")
    index = build(corpus, config, embed, describe=describe)
    found = search(index, question, embed)
    with left:
        st.subheader("What is sent", anchor=False)
        ask.answer(index, found, known, asked(index, known, embed) if known else None)
    with right:
        st.subheader("The answer from these chunks", anchor=False)
        answers.show(index, question, found)
        st.subheader("Under every strategy", anchor=False)
        _compared(index, embed, question, known)
        st.subheader("Test questions", anchor=False)
        if known:
            st.caption(plain(kept.described(corpus, known)))
        kept.panel(corpus, question, known)


def _compared(present: Index, embed: Embed, question: str, known: Question | None) -> None:
    """A table with a row for each strategy, the present one first, row by row as they are measured."""
    corpus, config = present.corpus, present.config
    if known is None:
        st.caption(
            "Where its answer stands is not known yet: keep it as a test question below, and its rank is shown here."
        )
    every = st.toggle("All strategies, each at its first settings", key="w_every",
                      help="Chunks that have no vector yet are embedded first. Any other move ends that; what is done is kept.")  # fmt: skip
    spot, rows = st.empty(), []
    for one in _configs(corpus, config, embed, every):
        index = present if one == config else build(corpus, one, embed)
        rows.append(_row(one, index, known, question, embed))
        spot.table([{**row, "Strategy": plain(row["Strategy"])} for row in rows])
    downloads.table(rows, "chunkscope-ask")
    st.caption(
        f"All {amount_of(config)}. The rank is that of the first chunk sent with the whole answer; it is split where no chunk holds it."
    )


def _configs(corpus: Corpus, config: Config, embed: Embed, every: bool) -> Iterator[Config]:
    """The present configuration, the basic ones, and if asked for all others, with the axes of the present one."""

    def like(strategy: str, settings: Mapping[str, Any]) -> Config:
        return Config.of(strategy, dict(settings), scope=config.scope, search=config.search, pooling=config.pooling,
                         k=config.k, budget=config.budget)  # fmt: skip

    basic = [like(one.strategy, one.values) for one in basic_configs(corpus, embed, config.k, config.budget)]
    others = [like(name, {}) for name, strategy in STRATEGIES.items() if every and not missing(strategy)]
    yield from dict.fromkeys([config, *basic, *others])


def _row(config: Config, index: Index, known: Question | None, question: str, embed: Embed) -> dict[str, str]:
    result = asked(index, known, embed) if known else None
    words = result.words_sent if result else _words(index, question, embed)
    return {
        "Strategy": title_of(config),
        "Answer": FATES[result.reason] if result else "–",
        "Rank": _rank(result),
        "Words sent": f"{words:,}",
    }


def _words(index: Index, question: str, embed: Embed) -> int:
    spans = [hit.span for hit in search(index, question, embed)]
    return sum(ask.words_in(index, span) for span in spans)


def _rank(result: Result | None) -> str:
    return str(result.rank) if result and result.rank else "–"


frame.run("Ask", show)
