"""Compare: chosen trials side by side, what their differences are worth, and what became of every question."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.index import Config
from chunking.types import Corpus
from pages.parts import frame, leaderboard, overlay, studies, trials, versus
from pages.parts.address import choose, chosen
from pages.parts.embedding import watched
from pages.parts.trials import Compared

Section = Callable[[Compared, CachedEmbedder], None]

SECTIONS: dict[str, tuple[str, Section]] = {
    "leaderboard": ("Leaderboard", leaderboard.show),
    "misses": ("Misses", lambda compared, _: versus.misses(compared)),
    "questions": ("Each question", lambda compared, _: versus.questions(compared)),
    "budget": ("Equal k, equal words", lambda compared, _: versus.budgets(compared)),
    "kinds": ("Kinds of question", lambda compared, _: versus.kinds(compared)),
    "cuts": ("Two cuts on one text", lambda compared, _: overlay.show(compared)),
    "report": ("Study and report", studies.show),
}


def show(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """The trials that are picked, and the section that is open."""
    if embedder is None:
        st.info("Trials are measured with an embedder: choose one in the sidebar.")
        return
    if not corpus.questions:
        st.info("Trials are compared on questions: add a questions file in the sidebar.")
        return
    embed = watched(embedder, st.empty(), (embedder.identity, id(corpus), "compare"))
    compared = trials.pick(corpus, config, embedder, embed)
    section = _section()
    if compared:
        SECTIONS[section][1](compared, embedder)


def _section() -> str:
    """The section that is open: only what it shows is computed."""
    name = chosen("section") if chosen("section") in SECTIONS else "leaderboard"
    st.session_state["w_section"] = name
    st.segmented_control("Section", list(SECTIONS), required=True, key="w_section", on_change=_keep, label_visibility="collapsed",
                         format_func=lambda name: SECTIONS[name][0])  # fmt: skip
    return name


def _keep() -> None:
    choose("section", st.session_state["w_section"])


frame.run("Compare", show)
