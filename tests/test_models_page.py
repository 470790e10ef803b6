"""The page with an Ollama server: its models, pulls, hosts and prefixes; progress and Stop; the store. On the double."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from cache.embedder import Progress
from cache.minilm import LIMIT
from cache.ollama_embedder import Ollama
from cache.store import Store
from chunking.experiment import run
from chunking.index import Config
from chunking.types import Corpus, Document
from pages.parts import charts, embedding, hosts, resources
from pages.parts.words import bytes_of, time_left
from tests.conftest import ROOT
from tests.fakes import BagOfWords
from tests.ollama_double import OllamaDouble, stand_in

NOMIC = "ollama:nomic-embed-text"


def sentences(name: str) -> str:
    """Thirty sentences, no two of them alike."""
    return " ".join(f"On day {day} the {name} is full of water." for day in range(30))


@pytest.fixture(autouse=True)
def small_and_fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A corpus of two documents, a store of its own, and nothing left over from another test."""
    st.cache_resource.clear()
    corpus = Corpus(tuple(Document(f"{name}.md", f"# {name}\n\n{sentences(name)}") for name in ("tank", "well")))
    monkeypatch.setattr(resources, "bundled_corpus", lambda: corpus)
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "store"))
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)
    yield
    st.cache_resource.clear()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaDouble]:
    with OllamaDouble(vectors=stand_in) as double:
        double.size = {"nomic-embed-text:latest": 274_302_450, "all-minilm:latest": 45_960_996}
        double.running = ["nomic-embed-text:latest"]
        monkeypatch.setenv("OLLAMA_HOST", double.host)
        yield double


def page(**address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"strategy": "fixed", "size": "25", **address}.items():
        app.query_params[name] = value
    return app.run()


def said(app: AppTest) -> str:
    """Every sentence on the page, without the marks that keep Markdown off."""
    elements = [*app.caption, *app.info, *app.warning, *app.error, *app.markdown]
    return "\n".join(element.value.replace("\\", "") for element in elements)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label.replace("\\", "") == label).click().run()


def labels(app: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in app.button]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# Picking a model


def test_the_picker_tells_models_apart_by_limit_size_and_whether_they_are_loaded(server: OllamaDouble) -> None:
    app = page()
    assert not app.exception
    assert app.selectbox(key="w_embedder").options == [
        f"minilm · {LIMIT} tokens · built in",
        "nomic-embed-text · 2,048 tokens · 274 MB · loaded",
        "all-minilm · 256 tokens · 46 MB",
    ]
    assert app.selectbox(key="w_embedder").value == NOMIC
    assert f"digest {server.digests['nomic-embed-text:latest'][:12]}" in said(app)
    assert "It reads 2,048 tokens" in said(app)


def test_another_model_is_kept_in_the_address_and_its_prefixes_are_its_own(server: OllamaDouble) -> None:
    app = page(query_prefix='"find: "')
    app.selectbox(key="w_embedder").set_value("ollama:all-minilm").run()
    assert app.query_params["embedder"] == "ollama:all-minilm"
    assert "query_prefix" not in app.query_params
    assert "It reads 256 tokens" in said(app)


def test_a_model_of_the_address_that_is_not_there_gets_a_sentence_and_no_question(server: OllamaDouble) -> None:
    app = page(embedder="ollama:gone")
    assert not app.exception
    assert "ollama:gone is no embedding model of the Ollama server" in said(app)
    assert "choose another, or fetch it below" in said(app)
    assert not server.asked
    app.selectbox(key="w_embedder").set_value("ollama:all-minilm").run()
    assert not app.error


def test_the_server_is_looked_for_once_and_again_when_asked(server: OllamaDouble) -> None:
    app = page(embedder="minilm")
    asked = len(server.headers)
    app.run()
    assert len(server.headers) == asked, "not on each rerun"
    server.running = []
    resources.look_again()
    app.run()
    assert "nomic-embed-text · 2,048 tokens · 274 MB" in app.selectbox(key="w_embedder").options


def test_no_server_is_one_calm_sentence_and_a_button(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    app = page()
    assert not app.error
    assert "because no Ollama server answers at http://127.0.0.1:9: start it with `ollama serve`" in said(app)
    assert "Fetch" not in labels(app)
    with OllamaDouble(vectors=stand_in) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        press(app, "Look again")
        assert app.selectbox(key="w_embedder").value == NOMIC


def test_a_model_that_was_replaced_is_opened_anew_without_a_restart(server: OllamaDouble) -> None:
    app = page()
    server.digests["nomic-embed-text:latest"] = "f" * 64
    app.select_slider(key="w_size").set_value(50).run()
    assert [error.value.replace("\\", "") for error in app.error] == [
        f"{NOMIC} was replaced on the server meanwhile: choose it again to use the new one"
    ]
    app.run()
    assert not app.error
    assert "digest ffffffffffff" in said(app)


# Fetching a model


def test_a_model_is_fetched_with_progress_and_can_be_chosen_then(server: OllamaDouble) -> None:
    del server.models["nomic-embed-text:latest"]
    server.pull_wait = 0.1
    app = page(embedder="minilm")
    press(app, "Fetch")
    assert "Cancel nomic-embed-text" in labels(app)
    until(lambda: "nomic-embed-text:latest" in server.models and not resources.pulls().running(None))
    app.run()
    assert "nomic-embed-text is there, and can be chosen above." in said(app)
    assert "Cancel nomic-embed-text" not in labels(app)
    app.selectbox(key="w_embedder").set_value(NOMIC).run()
    assert not app.error


def test_a_pull_is_cancelled_and_said_to_be(server: OllamaDouble) -> None:
    server.pull_wait = 0.5
    app = page(embedder="minilm")
    press(app, "Fetch")
    press(app, "Cancel nomic-embed-text")
    until(lambda: not resources.pulls().running(None))
    app.run()
    assert "nomic-embed-text: cancelled." in said(app)
    until(lambda: server.pulls_left == 1)


def test_a_pull_that_fails_says_why(server: OllamaDouble) -> None:
    app = page(embedder="minilm")
    app.text_input(key="w_pull").set_value("<b>no</b>")
    press(app, "Fetch")
    until(lambda: not resources.pulls().running(None))
    app.run()
    assert "could not fetch <b>no</b>: there is no model of that name." in said(app)


# Where the server is


def test_a_typed_host_is_this_sessions_and_gets_no_credential(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    with OllamaDouble(vectors=stand_in) as other:
        app = page()
        assert {headers.get("authorization") for headers in server.headers} == {"Bearer secret"}
        app.text_input(key="w_host").set_value(f"http://user:pass@{other.host}").run()
        press(app, "Fetch")
        app.select_slider(key="w_size").set_value(50).run()
        assert other.asked, "texts go there"
        assert {headers.get("authorization") for headers in other.headers} == {None}
        assert "pass" not in json.dumps(other.headers)
        app.selectbox(key="w_context").set_value("contextual").run()
        press(app, next(label for label in labels(app) if label.startswith("Describe")))
        assert other.chats, "and to its chat model"
        assert {headers.get("authorization") for headers in other.headers} == {None}
        asked = len(other.headers)
        page()
        assert len(other.headers) == asked, "another session stays where it was"
        server.headers.clear()
        app.text_input(key="w_host").set_value(server.host).run()
        assert {headers.get("authorization") for headers in server.headers} == {None}, "not even where it usually goes"


def test_a_malformed_host_gets_its_sentence(server: OllamaDouble) -> None:
    app = page()
    app.text_input(key="w_host").set_value("ftp://box").run()
    assert not app.exception
    assert "the address of an Ollama server must look like" in said(app)
    app.text_input(key="w_host").set_value("").run()
    assert app.selectbox(key="w_embedder").value == NOMIC


@pytest.mark.parametrize(
    ("listens", "allowed", "offered"),
    [
        ("localhost", None, True), ("127.0.0.1", None, True), ("::1", None, True), ("0.0.0.0", None, False),
        ("0.0.0.0", True, True), ("localhost", False, False), (None, None, False), ("0.0.0.0", "true", False),
    ],
)  # fmt: skip
def test_a_host_is_typed_only_where_the_page_is_for_this_machine_or_it_is_allowed(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch, listens: str | None, allowed: object, offered: bool
) -> None:
    monkeypatch.setattr(hosts, "_secret", {"allow_typed_host": allowed}.get)
    monkeypatch.setattr(hosts.st, "get_option", lambda name: {"server.address": listens}[name])
    app = AppTest.from_function(_host_only)
    app.session_state["typed_host"] = "elsewhere"
    app.run()
    assert bool(app.text_input) == offered
    assert app.caption[0].value == ("elsewhere True" if offered else "None False")


def _host_only() -> None:
    import streamlit as st

    from pages.parts import hosts

    if hosts.may_type():
        hosts.type_host()
    st.caption(" ".join(map(str, hosts.host())))


def test_the_host_of_the_secrets_goes_before_that_of_the_environment(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaDouble(vectors=stand_in) as other:
        other.version = "0.31.0"
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        app.secrets["ollama_host"] = other.host
        app.run()
        assert "Ollama 0.31.0 at" in said(app)
        app.text_input(key="w_host").set_value(server.host).run()
        assert "Ollama 0.33.0 at" in said(app)


# Prefixes


def test_prefixes_are_shown_edited_hashed_and_put_back(server: OllamaDouble) -> None:
    app = page(q="Is it full?")
    assert app.text_input(key="w_query_prefix").value == "search_query: "
    assert app.text_input(key="w_document_prefix").value == "search_document: "
    server.asked.clear()
    app.text_input(key="w_document_prefix").set_value("").run()
    app.text_input(key="w_query_prefix").set_value("find\\n").run()
    assert app.query_params["query_prefix"] == '"find\\n"'
    assert app.query_params["document_prefix"] == '""'
    texts = [text for body in server.asked for text in body["input"]]
    assert "find\nIs it full?" in texts
    assert any(text.startswith("# tank") for text in texts)
    assert "Before each query: 'find\\n'." in said(app).replace("\\\\", "\\").replace("findn", "find\\n")
    press(app, "Back to the model's own")
    assert "query_prefix" not in app.query_params
    assert app.text_input(key="w_query_prefix").value == "search_query: "
    assert "Back to the model's own" not in labels(app)


@pytest.mark.parametrize("prefix", ["find: ", "5", "[1]", '"\\ud800"', '"' + "x" * 5000 + '"'])
def test_a_prefix_of_the_address_that_is_none_does_no_harm(server: OllamaDouble, prefix: str) -> None:
    app = page(query_prefix=prefix)
    assert not app.exception
    assert not app.error


def test_the_built_in_model_takes_prefixes_too() -> None:
    app = page(embedder="minilm", document_prefix='"passage: "')
    assert "document prefix 'passage: '" in said(app)


# Progress and Stop


def test_progress_says_what_is_done_cached_cut_and_failed_and_the_time_left() -> None:
    now = Progress(1240, 3100, cached=860, truncated=12, failed=1)
    assert embedding.words(now, 80.0) == (
        "Embedding 1,240 of 3,100 texts · 860 more from the store · 12 cut at the model's limit · 1 failed · about 2 min left"
    )
    assert embedding.words(Progress(0, 9, 0, 0, 0), 0.0) == "Embedding 0 of 9 texts"
    assert [time_left(seconds) for seconds in (0, 31, 59, 61, 5399, 7200)] == [
        "about 5 s left", "about 30 s left", "about 60 s left", "about 1 min left", "about 90 min left", "about 2.0 h left",
    ]  # fmt: skip
    assert [bytes_of(number) for number in (0, 2100, 274_302_450, 1_340_000_000)] == [
        "0 kB",
        "2 kB",
        "274 MB",
        "1.3 GB",
    ]


def test_after_stop_nothing_is_embedded_until_go_on(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    works: list[object] = []
    watched, words = embedding.watched, embedding.words

    def noting(*arguments: object) -> object:
        works.append(arguments[-1])
        return watched(*arguments)

    def pressing_stop(now: Progress, seconds: float) -> str:
        if now.done:
            embedding._stop(works[-1])
            st.rerun()  # as a press does: at the next call of Streamlit's
        return words(now, seconds)

    monkeypatch.setattr(Ollama, "batch_texts", 4)
    monkeypatch.setattr(embedding, "watched", noting)
    monkeypatch.setattr(embedding, "words", pressing_stop)
    app = page(q="Is it full?", embedder=NOMIC)
    assert not app.exception
    assert re.search(r"Stopped: 4 of \d\d texts are embedded, and are kept.", said(app))
    assert int(next(metric.value for metric in app.metric if metric.label == "Chunks")) > 8, "the cuts are there"
    taken = len(server.taken)
    app.run()
    assert len(server.taken) == taken, "nothing is begun unasked"
    monkeypatch.setattr(embedding, "words", words)
    press(app, "Go on")
    assert "Stopped" not in said(app)
    assert "Go on" not in labels(app)
    assert len(server.taken) > taken
    assert len(server.taken) == len(set(server.taken)), "what was done before was kept"


def test_what_was_stopped_is_this_setting_alone(server: OllamaDouble) -> None:
    app = page(q="Is it full?", embedder=NOMIC)
    embedder = resources.embedder(NOMIC, {"query": "search_query: ", "document": "search_document: "})
    config = Config.of("fixed", {"size": 50})
    app.session_state["stopped"] = {(embedder.identity, id(resources.bundled_corpus()), config)}
    app.select_slider(key="w_size").set_value(50).run()
    assert "Stopped: " in said(app)
    app.select_slider(key="w_size").set_value(75).run()
    assert "Stopped" not in said(app)


# The store


def test_the_store_is_read_only_when_its_panel_is_open(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Store, "tags", lambda self: asked.append("tags") or {})
    monkeypatch.setattr(Store, "volume", lambda self: asked.append("volume") or 0)
    app = page()
    assert not asked
    app.session_state["store_panel"] = True
    app.run()
    assert asked == ["tags", "volume"]
    assert "It is empty." in said(app)


def test_the_store_tells_its_size_and_models_and_removes_what_nobody_can_use(server: OllamaDouble) -> None:
    app = page()
    store = resources.store()
    store.put_many(
        {f"key{number}": b"vector" for number in range(1200)}, "ollama:old, digest 0123456789ab, engine x, y"
    )
    app.session_state["store_panel"] = True
    app.run()
    assert str(store.folder) in said(app)
    assert "ollama:nomic-embed-text, digest 000000000000, vectors: " in said(app)
    assert said(app).count("ollama:old, digest 0123456789ab, vectors: 1,200") == 2, "in the list, and in what would go"
    press(app, "Remove vectors of models no longer installed")
    assert "ollama:old" not in said(app)
    assert "has every Ollama model of the store" in said(app)
    assert store.count() > 0


def test_without_a_server_nothing_is_offered_for_removal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    app = page()
    resources.store().put_many({"key": b"vector"}, "ollama:old, digest 0123456789ab, engine x, y")
    app.session_state["store_panel"] = True
    app.run()
    assert "ollama:old" in said(app)
    assert "Remove vectors of models no longer installed" not in labels(app)


def test_far_from_the_machine_no_folder_is_shown_and_a_typed_host_removes_nothing(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "cache.db").write_text("no database " * 100)
    app = page()
    assert str(tmp_path) in said(app), "at the machine the warning says where"
    assert "was damaged" in said(app)
    monkeypatch.setattr(hosts, "local", lambda: False)
    monkeypatch.setattr(resources, "local", lambda: False)
    monkeypatch.setattr("pages.parts.storage.local", lambda: False)
    monkeypatch.setattr(hosts, "may_type", lambda: True)
    resources.store().put_many({"key": b"vector"}, "ollama:old, digest 0123456789ab, engine x, y")
    app.session_state["store_panel"] = True
    app.session_state["typed_host"] = server.host
    app.run()
    assert "was damaged" in said(app)
    assert str(tmp_path) not in said(app)
    assert "Remove vectors of models no longer installed" not in labels(app)


def test_a_store_that_cannot_be_used_is_said_and_stops_nothing(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    app = page()
    monkeypatch.setattr("cache.store._write", full)
    app.select_slider(key="w_size").set_value(50).run()
    assert not app.error
    assert "database or disk is full" in said(app), "in the run in which it happened"


# Charts


def test_a_point_with_truncated_chunks_is_marked_and_says_how_many() -> None:
    from data.bundled import bundled

    corpus, _ = bundled()
    cut = charts.point_of(run(corpus, Config.of("whole"), BagOfWords(limit=900)), "")
    read = charts.point_of(run(corpus, Config.of("whole"), BagOfWords()), "")
    assert f"{charts.MARK} 23 of 23 chunks truncated" in cut.hint
    assert charts.MARK not in read.hint
    figure = charts.hit_rate_chart([cut, read])
    assert [list(trace.text) for trace in figure.data if trace.mode != "lines"] == [[charts.MARK, ""]]
