"""Pickers for what is measured and with what: the corpus (bundled or uploaded) and the embedder."""

from __future__ import annotations

import streamlit as st

from cache import BUILT_IN, EmbedderError
from cache.embedder import CachedEmbedder
from chunking.types import Corpus
from data.report import Report
from pages.parts import resources
from pages.parts.address import choose, chosen
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


def pick_embedder() -> CachedEmbedder | None:
    """The chosen embedder; None, with the reason on the page, where it is not to be had."""
    first = resources.default_choice()
    name = chosen("embedder", first.name)
    options = list(dict.fromkeys([first.name, BUILT_IN, name]))
    st.session_state["w_embedder"] = name
    st.selectbox("Embedder", options, key="w_embedder", accept_new_options=True, on_change=_keep,
                 help="minilm is built in and needs no server. Type ollama:MODEL for a model of an Ollama server.")  # fmt: skip
    st.caption(plain(first.sentence) if name == first.name else "")
    try:
        embedder = resources.embedder(name)
    except (EmbedderError, ValueError, OSError) as error:
        st.error(plain(str(error)))
        return None
    limit = (
        f"It reads {embedder.limit} tokens of a chunk" + (", about 200 words." if name == BUILT_IN else ".")
        if embedder.limit
        else ""
    )
    prefixes = [f"{kind}: {prefix!r}" for kind, prefix in embedder.prefixes.items() if prefix]
    st.caption(plain(" ".join([limit, *prefixes])), help=plain(embedder.identity))
    for warning in embedder.warnings:
        st.warning(plain(warning))
    return embedder


def _keep() -> None:
    choose("embedder", (st.session_state["w_embedder"] or "").strip())
