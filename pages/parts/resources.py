"""What all sessions share: the bundled corpus, models behind one store. And a session's own corpus and trials."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from cache import BUILT_IN, OLLAMA, Choice, Look, chat_models, default_chat_name, look, open_chat, open_embedder
from cache.answering import Answerer
from cache.chat import Chat
from cache.embedder import CachedEmbedder
from cache.errors import ModelChanged
from cache.pulling import Pulls
from cache.store import Store, default_folder
from chunking.experiment import Trial, run
from chunking.index import Config, Index
from chunking.study import Record, record
from chunking.types import Corpus, Describe, Embed, Question
from data.bundled import bundled
from data.documents import read_files
from data.questions import read_questions
from data.report import ReadError, Report
from pages.parts.hosts import Host, host, local

T = TypeVar("T")

_MOST_TRIALS = 400  # kept by a session; the oldest go first


@st.cache_resource(show_spinner=False)
def bundled_corpus() -> Corpus:
    """The bundled posts and questions."""
    return bundled()[0]


def server() -> Look:
    """What is at the address of this session's Ollama server: looked for once a minute, and when a pull has ended."""
    address, typed = host()
    return _look(address, typed, _ended(address))


def look_again() -> None:
    """Has every server looked for anew when it is next asked for."""
    _look.clear()


@st.cache_resource(show_spinner=False, ttl=60, max_entries=32)
def _look(address: str | None, typed: bool, ended: int) -> Look:
    return look(address, typed)


def _ended(address: str | None) -> int:
    try:
        return pulls().ended(address)
    except ValueError:  # the address: `look` says what is wrong with it
        return 0


@st.cache_resource(show_spinner=False)
def pulls() -> Pulls:
    """The models that servers fetch for any session."""
    return Pulls()


def embedder(name: str, prefixes: Mapping[str, str]) -> CachedEmbedder:
    """The embedder of that name on this session's server, one for all sessions that want the same."""
    address, typed = host() if name != BUILT_IN else Host(None, False)
    return _embedder(name, address, typed, tuple(sorted(prefixes.items())))


@st.cache_resource(show_spinner=False, max_entries=8)
def _embedder(name: str, address: str | None, typed: bool, prefixes: tuple[tuple[str, str], ...]) -> CachedEmbedder:
    return open_embedder(name, store(), address, dict(prefixes), typed)


def default_chat() -> Choice:
    """The chat model to begin with; where there is none its name is '' and the sentence says what to do."""
    return default_chat_name(server())


def chats() -> list[str]:
    """The chat models of the Ollama server, the one to begin with first."""
    return list(dict.fromkeys(filter(None, [default_chat().name, *chat_models(server())])))


def chat(name: str) -> Chat:
    """The chat model of that name on this session's server, one for all sessions that want the same."""
    return _chat(name, *host())


@st.cache_resource(show_spinner=False, max_entries=8)
def _chat(name: str, address: str | None, typed: bool) -> Chat:
    return open_chat(name, store(), address, typed)


def answerer(name: str) -> Answerer:
    """The chat model of that name as it answers questions, one for all sessions that want the same."""
    return _answerer(name, *host())


@st.cache_resource(show_spinner=False, max_entries=8)
def _answerer(name: str, address: str | None, typed: bool) -> Answerer:
    return Answerer(name.removeprefix(OLLAMA), address, typed)


def let_go_if_changed(error: Exception) -> None:
    """After a ModelChanged, opens every model anew when it is next asked for; vectors are in the store."""
    if isinstance(error, ModelChanged):
        _embedder.clear()
        _chat.clear()
        _answerer.clear()
        look_again()


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The store of vectors, one for all sessions."""
    return Store(default_folder())


def for_readers(warnings: Iterable[str]) -> list[str]:
    """The warnings, without the store's folder where others than the people at this machine read them."""
    if local():
        return list(warnings)
    folder = str(store().folder)
    return [warning.replace(f" in {folder}", "").replace(folder, "its folder") for warning in warnings]


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
        keep(corpus, embed, [run(corpus, config, embed, index, describe)])
    return kept[config]


def keep(corpus: Corpus, embed: Embed, more: Iterable[Trial]) -> None:
    """Has the session keep trials that were measured elsewhere."""
    kept = trials(corpus, embed)
    for trial in more:
        kept.setdefault(trial.config, trial)
    let_oldest_go(kept, _MOST_TRIALS)


def record_of(trial: Trial, embed: Embed) -> Record:
    """The record of a trial of this session, made once."""
    return remembered("records", trial, _MOST_TRIALS, lambda: record(trial, embed))


def remembered(name: str, key: Hashable, most: int, make: Callable[[], T]) -> T:
    """What the session keeps under a name for a key, made where it is not there. Of more than `most` the oldest goes."""
    kept: dict[Hashable, T] = st.session_state.setdefault(name, {})
    if key not in kept:
        kept[key] = make()
        let_oldest_go(kept, most)
    return kept[key]


def let_oldest_go(kept: dict[Any, Any], most: int) -> None:
    """Takes what was put in first out until there are no more than `most`."""
    while len(kept) > most:
        kept.pop(next(iter(kept)))
