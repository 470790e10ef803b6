"""The Ask page in Streamlit's own test runner, with a stand-in for the embedder and the double of an Ollama server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from cache import Choice
from chunking.experiment import asked
from chunking.index import Config, build
from chunking.registry import STRATEGIES
from data.bundled import bundled
from pages.parts import models, resources
from tests.conftest import ROOT
from tests.ollama_double import OllamaDouble
from tests.test_pages import stand_in

QUESTION = "backpressure-1"
EMBED = stand_in("minilm")


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaDouble]:
    st.cache_resource.clear()
    monkeypatch.setattr(resources, "open_embedder", stand_in)
    monkeypatch.setattr(models, "default_embedder_name", lambda found: Choice("minilm", "The built-in one is used."))
    with OllamaDouble() as double:
        monkeypatch.setenv("OLLAMA_HOST", double.host)
        double.reply = lambda _: "So <b>it</b> is [2] [9].\nOr $x$ [1]."
        yield double
    st.cache_resource.clear()


def page(**address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/ask.py")
    for name, value in address.items():
        app.query_params[name] = value
    return app.run()


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


def test_without_a_question_it_says_what_to_do() -> None:
    app = page()
    assert not app.exception
    assert "Type a question" in app.info[0].value


def test_each_strategy_has_the_rank_and_the_words_of_its_own_measurement() -> None:
    app = page(question=QUESTION)
    corpus, _ = bundled()
    question = next(one for one in corpus.questions if one.id == QUESTION)
    table = app.table[0].value
    assert table["Strategy"][0] == "Recursive, size 200"
    fixed = asked(build(corpus, Config.of("fixed", {"size": 200}), EMBED), question, EMBED)
    row = table[table["Strategy"] == "Fixed window, size 200"].iloc[0]
    assert (row["Rank"], row["Words sent"]) == (str(fixed.rank or "–"), f"{fixed.words_sent:,}")
    assert row["Answer"] == ("found" if fixed.hit else row["Answer"])
    said = [one.value.replace("\\", "") for one in app.caption]
    assert any("words of backpressure.md, characters" in one for one in said)


def test_chunks_that_a_model_describes_stand_beside_the_other_strategies() -> None:
    app = page(question=QUESTION, context="contextual", strategy="fixed", size="800")
    next(one for one in app.button if one.label.startswith("Describe")).click().run()
    assert not app.error
    assert list(app.table[0].value["Strategy"])[:2] == [
        "Fixed window, size 800, context contextual, ollama\\:llama3\\.2", "Fixed window, size 200",
    ]  # fmt: skip


def test_all_strategies_are_there_if_asked_for() -> None:
    app = page(question=QUESTION)
    app.toggle(key="w_every").set_value(True)
    app.run(timeout=300)
    titles = " ".join(app.table[0].value["Strategy"])
    ours = [one.title for one in STRATEGIES.values() if not one.module]
    assert [title for title in ours if title not in titles] == []


def test_a_typed_question_has_no_rank_until_its_passage_is_kept() -> None:
    app = page(q="Which eviction rule was measured?")
    assert set(app.table[0].value["Rank"]) == {"–"}
    assert set(app.table[0].value["Answer"]) == {"–"}
    corpus, _ = bundled()
    document = corpus.documents[0]
    words = document.text[400:460].strip()
    app.text_area(key="w_passage").set_value(words).run()
    button(app, "Keep as a test question").click().run()
    assert not app.exception
    (row,) = json.loads(app.query_params["kept"])
    assert row[:2] == ["Which eviction rule was measured?", document.id]
    assert document.text[row[2] : row[3]] == words
    assert set(app.table[0].value["Answer"]) != {"–"}
    assert len(resources_questions(app)) == len(corpus.questions) + 1
    button(app, "Remove").click().run()
    assert "kept" not in app.query_params


def resources_questions(app: AppTest) -> list[str]:
    box = next(one for one in app.selectbox if one.key == "w_question")
    return box.options[1:]


def test_a_passage_that_is_not_there_is_told_and_nothing_is_lost() -> None:
    app = page(q="Why?")
    app.text_area(key="w_passage").set_value("these words are in no post at all").run()
    button(app, "Keep as a test question").click().run()
    assert "these words are in no post" in app.error[0].value
    assert app.text_area(key="w_passage").value == "these words are in no post at all"
    assert "kept" not in app.query_params


@pytest.mark.parametrize(
    "kept", ["no json", "[[1]]", '[["q","nowhere.md",0,5]]', '[["q","backpressure.md",5,99999999]]', "{}"]
)
def test_what_the_address_wrongly_says_is_kept_is_left_out(kept: str) -> None:
    app = page(question=QUESTION, kept=kept)
    assert not app.exception
    assert not app.error
    assert len(app.table[0].value) > 5


def test_the_answer_comes_from_exactly_the_chunks_that_are_shown(server: OllamaDouble) -> None:
    app = page(question=QUESTION)
    button(app, "Answer from these chunks").click().run()
    corpus, _ = bundled()
    question = next(one for one in corpus.questions if one.id == QUESTION)
    sent = asked(build(corpus, Config.of("recursive", {}), EMBED), question, EMBED).sent
    (chat,) = server.chats
    prompt = chat["messages"][0]["content"]
    texts = [corpus.by_id[span.document].text[span.start : span.end] for span in sent]
    assert [f"[{number}]\n{text}\n" in prompt for number, text in enumerate(texts, 1)] == [True] * 5
    shown = [one.value for one in app.markdown]
    assert any(r"So \<b\>it\</b\> is \[2\] \[9\]\.  " in one and r"\$x\$" in one for one in shown), (
        "it is shown as text"
    )
    assert any(r"It cites \#2, \#1\. \[9\] was not sent\." in one.value for one in app.caption)


def test_the_answer_stays_while_the_chunks_are_the_same(server: OllamaDouble) -> None:
    app = page(question=QUESTION)
    button(app, "Answer from these chunks").click().run()
    app.run()
    assert any("So" in one.value for one in app.markdown)
    assert len(server.chats) == 1
    app.select_slider(key="w_k").set_value(3).run()
    assert not any(r"So \<b\>" in one.value for one in app.markdown), "other chunks, another answer"


def test_a_model_that_fails_is_told(server: OllamaDouble) -> None:
    app = page(question=QUESTION)
    server.reply = lambda _: ""
    button(app, "Answer from these chunks").click().run()
    assert "gave no answer" in app.error[0].value
