"""What all sessions share: the bundled corpus, the embedders behind one store. And a session's own corpus and trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from cache import OLLAMA, Choice, chat_models, default_chat_name, default_embedder_name, open_chat, open_embedder
from cache.answering import Answerer
from cache.chat import Chat
from cache.embedder import CachedEmbedder
from cache.store import Store, default_folder
from chunking.experiment import Trial, run
from chunking.index import Config, Index
from chunking.types import Corpus, Describe, Embed, Question
from data.bundled import bundled
from data.documents import read_files
from data.questions import read_questions
from data.report import ReadError, Report

_MOST_TRIALS = 400  # kept by a session; the oldest go first


@st.cache_resource(show_spinner=False)
def bundled_corpus() -> Corpus:
    """The bundled posts and questions."""
    return bundled()[0]


@st.cache_resource(show_spinner=False)
def embedder(name: str) -> CachedEmbedder:
    """The embedder of that name, one for all sessions."""
    return open_embedder(name, _store())


@st.cache_resource(show_spinner=False, ttl=60)
def default_choice() -> Choice:
    """The embedder to begin with, and why: an Ollama server is looked for at most once a minute."""
    return default_embedder_name()


@st.cache_resource(show_spinner=False, ttl=60)
def default_chat() -> Choice:
    """The chat model to begin with; where there is none its name is '' and the sentence says what to do."""
    return default_chat_name()


@st.cache_resource(show_spinner=False, ttl=60)
def chats() -> list[str]:
    """The chat models of the Ollama server."""
    return chat_models()


@st.cache_resource(show_spinner=False)
def chat(name: str) -> Chat:
    """The chat model of that name, one for all sessions."""
    return open_chat(name, _store())


@st.cache_resource(show_spinner=False)
def answerer(name: str) -> Answerer:
    """The chat model of that name as it answers questions, one for all sessions."""
    return Answerer(name.removeprefix(OLLAMA))


@st.cache_resource(show_spinner=False)
def _store() -> Store:
    return Store(default_folder())


def own_corpus(files: Sequence[Any], questions: Any) -> tuple[Corpus, Report]:
    """A corpus of uploaded files and what is to say about them; read again only when the files change."""
    key = (tuple((file.file_id, file.name) for file in files), questions.file_id if questions else None)
    if st.session_state.get("own_key") != key:
        documents, report = read_files((file.name, file.getvalue()) for file in files)
        asked: tuple[Question, ...] = ()
        if questions and documents:
            try:
                asked, more = read_questions(questions.name, questions.getvalue(), documents)
                report = Report(report.problems + more.problems, report.notes + more.notes)
            except ReadError as error:
                report.problems.append(str(error))
        _forget(st.session_state.get("own"))
        st.session_state["own_key"] = key
        st.session_state["own"] = (Corpus(documents, asked), report)
    return st.session_state["own"]


def _forget(own: tuple[Corpus, Report] | None) -> None:
    """Lets the trials of an earlier upload go."""
    kept = st.session_state.get("trials", {})
    for key in [key for key in kept if own and key[0] == id(own[0])]:
        del kept[key]


def trials(corpus: Corpus, embed: Embed) -> dict[Config, Trial]:
    """The trials that this session has measured on a corpus with an embedder, in order of measuring."""
    kept = st.session_state.setdefault("trials", {})
    return kept.setdefault((id(corpus), embed.identity), {})


def measured(
    corpus: Corpus, config: Config, embed: Embed, index: Index | None = None, describe: Describe | None = None
) -> Trial:  # fmt: skip
    """The trial of a configuration, measured unless this session has it already."""
    kept = trials(corpus, embed)
    if config not in kept:
        kept[config] = run(corpus, config, embed, index, describe)
        while len(kept) > _MOST_TRIALS:
            kept.pop(next(iter(kept)))
    return kept[config]
