"""The Explore page in Streamlit's own test runner, with a stand-in for the model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from cache import Choice
from cache.embedder import CachedEmbedder
from cache.records import Record
from chunking import registry
from chunking.experiment import run
from chunking.index import Config
from chunking.types import Document, Passage
from data.bundled import bundled
from pages.parts import models, resources
from pages.parts.highlight import passage_html
from tests.conftest import ROOT
from tests.fakes import BagOfWords, letter_pieces
from tests.ollama_double import OllamaDouble


class Backend:
    """A model that needs no weights, for `CachedEmbedder`; it reads 900 characters of a text."""

    name = identity = "minilm"
    fingerprint = ("stand-in",)
    dimension, limit = 64, 256
    prefixes = {"document": "", "query": ""}  # noqa: RUF012 - read only
    batch_texts, batch_characters = 16, 100_000
    warnings: list[str] = []  # noqa: RUF012 - read only
    token_spans = staticmethod(letter_pieces)

    def encode(self, texts: Sequence[str]) -> list[Record]:
        vectors = BagOfWords()(texts, "document")
        return [
            Record(vector, None, min(len(text), 900), len(text) > 900)
            for text, vector in zip(texts, vectors, strict=True)
        ]


def stand_in(name: str, *_: object) -> CachedEmbedder:
    assert name == "minilm"
    return CachedEmbedder(Backend(), None)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    st.cache_resource.clear()
    monkeypatch.setattr(resources, "open_embedder", stand_in)
    monkeypatch.setattr(
        models, "default_embedder_name", lambda found: Choice("minilm", "The built-in $minilm$ is used.")
    )
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    yield
    st.cache_resource.clear()


def page(**address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    return app.run()


def pressed(app: AppTest, label: str) -> Button:
    return next(button for button in app.button if button.label == label).click()


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def sent(app: AppTest, part: str) -> dict:
    """What a part of the document's view was given: `view`, `document`, `measured`, `table size` and so on."""
    given = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return next(data for data in given if data.get("name", "view") == part)


def measured(strategy: str, settings: dict, **axes) -> dict[str, str]:
    corpus, _ = bundled()
    trial = run(corpus, Config.of(strategy, settings, **axes), stand_in("minilm"))
    return {
        "Hit rate": f"{100 * trial.hit_rate:.1f}%",
        "Split": f"{100 * trial.split_share:.1f}%",
        "Chunks": f"{len(trial.index):,}",
        "Words sent": f"{trial.mean(result.words_sent for result in trial.results):,.0f}",
        "Truncated": f"{trial.truncated_chunks:,}",
    }


def test_the_page_opens_with_measured_figures_and_the_basic_strategies() -> None:
    app = page()
    assert not app.exception
    assert not app.error
    assert measured("recursive", {}).items() <= figures(app).items()
    kept = next(iter(app.session_state["trials"].values()))
    assert {(config.strategy, config.values.get("overlap")) for config in kept} >= {
        ("whole", None), ("fixed", 0), ("fixed", 50), ("sentence", 0), ("recursive", 0), ("semantic", None), ("parent_child", None),
    }  # fmt: skip


def test_moving_a_slider_moves_cuts_and_figures_to_what_the_core_gives() -> None:
    app = page(strategy="fixed")
    before = sent(app, "view")
    live = sent(app, "table size")["stops"]["75"]
    app.select_slider(key="w_size").set_value(75).run()
    assert measured("fixed", {"size": 75}).items() <= figures(app).items()
    assert len(sent(app, "view")["cut"]["starts"]) > len(before["cut"]["starts"])
    assert sent(app, "view")["cut"] == live, "what is confirmed is what the drag has shown"
    assert sent(app, "view")["tables"]["size"] == before["tables"]["size"], "the moved slider's table stays as it is"
    assert app.query_params["size"] in ("75", ["75"])


def test_an_address_brings_back_all_that_was_set() -> None:
    app = page(
        strategy="parent_child",
        child="75",
        parent="400",
        scope="section",
        context="headings",
        k="3",
        post="bloom-filters.md",
    )
    expected = measured("parent_child", {"child": 75, "parent": 400}, scope="section", context="headings", k=3)
    assert expected.items() <= figures(app).items()
    assert app.selectbox(key="w_post").value == "bloom-filters.md"


def test_a_size_from_the_terminal_that_is_no_stop_is_taken_from_the_address() -> None:
    app = page(strategy="fixed", size="137")
    assert measured("fixed", {"size": 137}).items() <= figures(app).items()


@pytest.mark.parametrize(
    "address",
    [
        {"strategy": "nonsense"}, {"size": "-4"}, {"size": "many"}, {"strategy": "fixed", "size": "50", "overlap": "90"},
        {"k": "0"}, {"k": "nan"}, {"strategy": "semantic", "threshold": "7"}, {"post": "gone.md"}, {"question": "gone"},
        {"strategy": "fixed", "size": "1"}, {"pin": "strategy=none"}, {"budget": "-1", "by": "budget"}, {"corpus": "x"},
    ],
)  # fmt: skip
def test_an_address_with_a_wrong_value_opens_all_the_same(address: dict[str, str]) -> None:
    app = page(**address)
    assert not app.exception
    assert not app.error
    assert "Hit rate" in figures(app)


def test_every_strategy_opens() -> None:
    for strategy in (
        "whole",
        "fixed",
        "sentence",
        "paragraph",
        "section",
        "recursive",
        "semantic",
        "parent_child",
        "sentence_window",
    ):
        app = page(strategy=strategy)
        assert not app.exception, strategy
        assert not app.error, strategy


def test_a_pinned_setting_gives_every_figure_its_change() -> None:
    app = page(strategy="fixed", size="100")
    next(button for button in app.button if button.label == "Pin this setting").click().run()
    app.select_slider(key="w_size").set_value(400).run()
    words = next(metric for metric in app.metric if metric.label == "Words sent")
    now, then = measured("fixed", {"size": 400}), measured("fixed", {"size": 100})
    number = lambda text: float(text.replace(",", ""))  # noqa: E731
    assert abs(number(words.delta) - (number(now["Words sent"]) - number(then["Words sent"]))) <= 1


@pytest.mark.parametrize(
    "address",
    [
        {}, {"strategy": "fixed", "size": "100", "overlap": "150"}, {"by": "budget"}, {"by": "k", "budget": "200"},
        {"strategy": "semantic", "threshold": "0.3"}, {"strategy": "parent_child", "scope": "body", "context": "headings", "k": "2"},
        {"strategy": "whole"},
    ],
)  # fmt: skip
def test_straight_after_pinning_every_change_is_nought(address: dict[str, str]) -> None:
    app = page(**address)
    next(button for button in app.button if button.label == "Pin this setting").click().run()
    assert not app.exception
    assert {metric.delta.strip("+-") for metric in app.metric} <= {"0", "0.0", "0.0 pts"}


def test_a_typed_question_brings_back_chunks_with_their_places() -> None:
    app = page()
    app.switch_page("pages/ask.py")
    app.query_params["q"] = "How does CLOCK choose what to throw out?"
    app.run()
    cards = [
        element.proto.body for element in app.get("html") if element.proto.body.startswith('<div class="cs-chunk"')
    ]
    assert len(cards) == 5
    first = next(one.value for one in app.markdown if one.value.startswith("**#1** ")).removeprefix("**#1** ")
    post = page(q="How does CLOCK choose what to throw out?", post=first.replace("\\", ""))
    assert 1 in sent(post, "measured")["ranks"].values()


def test_a_question_of_the_set_says_whether_it_was_found_and_why_not() -> None:
    corpus, _ = bundled()
    trial = run(corpus, Config.of("fixed", {"size": 50}), stand_in("minilm"))
    miss = next(result for result in trial.results if result.reason == "split")
    app = page(strategy="fixed", size="50", question=miss.question.id, post=miss.question.document)
    assert any("Missed: split" in warning.value for warning in app.warning)
    assert any("is cut: the chunks over it hold" in caption.value.replace("\\", "") for caption in app.caption)
    view = sent(app, "view")
    assert [view["cut"]["held"][number] for number in view["marked"]] == [0]


def test_text_of_documents_is_escaped() -> None:
    text = "<script>alert(1)</script> & $x$ <b id='probe'>"
    assert "<script" not in passage_html(Document('"d"><b>', text), 0, len(text), [Passage("d", 3, 12)])


def test_a_budget_sends_words_instead_of_a_number_of_chunks() -> None:
    app = page(by="budget", budget="400", strategy="sentence", size="100")
    assert measured("sentence", {"size": 100}, budget=400).items() <= figures(app).items()


def test_the_page_says_for_how_many_questions_no_chunk_fits_the_budget() -> None:
    app = page(by="budget", budget="100", strategy="whole")
    assert any("nothing is sent" in caption.value for caption in app.caption)
    assert figures(app)["Words sent"] == "0"
    assert figures(app)["Precision"] == "0.0%"


def test_an_embedder_that_is_not_there_leaves_the_text_and_says_what_to_do() -> None:
    app = page(embedder="ollama:nomic-embed-text")
    assert not app.exception
    assert any("ollama serve" in error.value for error in app.error)
    assert sent(app, "view")["cut"]["starts"]
    assert not sent(app, "view")["waits"]
    assert "Hit rate" not in figures(app)
    assert figures(app)["Chunks"]


def test_strategies_that_need_the_model_say_so_where_it_is_not_there() -> None:
    app = page(embedder="ollama:x", strategy="semantic")
    assert not app.exception
    assert any("needs an embedder" in error.value for error in app.error)


def test_own_files_without_any_ask_for_some() -> None:
    app = page(corpus="own")
    assert not app.exception
    assert any("Add documents" in info.value for info in app.info)


def test_uploaded_documents_are_cut_and_measured() -> None:
    app = page(corpus="own")
    app.file_uploader(key="own_files").set_value([("a.md", b"# Tanks\n\nThe blue tank is full. The red one is empty.", "text/markdown"),
                                                  ("b.txt", b"Ravens are clever birds.", "text/plain")]).run()  # fmt: skip
    assert figures(app)["Chunks"] == "2"
    assert "Hit rate" not in figures(app)
    app.file_uploader(key="own_questions").set_value(
        [("q.csv", b"question,passage\nWhich tank is full?,The blue tank is full.\nWhat?,Nowhere\n", "text/csv")]
    ).run()
    assert figures(app)["Hit rate"] == "100.0%"
    assert any("Not used: line 3" in caption.value.replace("\\", "") for caption in app.caption)


def test_figures_have_their_meaning_one_hover_away() -> None:
    app = page()
    assert all(metric.help for metric in app.metric)
    assert np.all([len(metric.help) > 30 for metric in app.metric])


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[OllamaDouble]:
    """An Ollama server with a chat model, and a store of its own."""
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "store"))
        server.reply = lambda prompt: "It is on engineering."
        yield server


def test_context_by_a_chat_model_tells_its_price_and_waits_for_the_button(chat_server: OllamaDouble) -> None:
    app = page(strategy="whole", context="contextual")
    assert not app.exception
    assert not chat_server.chats, "nothing is asked before the button is pressed"
    assert "has still to describe 23 chunks" in app.info[0].value
    assert not app.metric, "no figure is shown for what was not measured"
    pressed(app, "Describe 23 chunks").run()
    assert len(chat_server.chats) == 23
    assert figures(app)["Chunks"] == "23"
    app.run()
    assert len(chat_server.chats) == 23, "each chunk is described once, ever"


def test_without_a_chat_model_contextual_context_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    app = page(context="contextual")
    assert not app.exception
    assert "needs an Ollama server with a chat model" in app.warning[0].value
    assert figures(app) == figures(page()), "chunks have no context until then"


@pytest.mark.parametrize("search", ["keyword", "hybrid"])
def test_every_search_gives_what_the_core_gives(search: str) -> None:
    app = page(strategy="section", search=search)
    expected = measured("section", {}, search=search)
    assert {name: figures(app)[name] for name in expected} == expected


def test_several_sizes_are_chosen_and_kept_in_the_address() -> None:
    app = page(strategy="multi", sizes="50,120,7")
    assert app.multiselect[0].value == [7, 50, 120]
    app.multiselect[0].set_value([50, 200]).run()
    assert app.query_params["sizes"] == "50,200"
    expected = measured("multi", {"sizes": [50, 200]})
    assert {name: figures(app)[name] for name in expected} == expected


def test_the_threshold_gives_way_to_a_percentile() -> None:
    app = page(strategy="semantic", cut_by="percentile", percentile="75")
    labels = [slider.label for slider in app.select_slider]
    assert "Percentile" in labels
    assert "Threshold" not in labels


def test_a_library_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chonkie", None)
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "chonkie" else find_spec(name))
    app = page(strategy="chonkie_token")
    assert not app.exception
    assert "Chonkie tokens (not installed)" in app.selectbox(key="w_strategy").options
    assert "install with pip install" in app.info[0].value.replace("\\", "")
    assert "needs chonkie" in app.error[0].value.replace("\\", "")


CONTEXTUAL = "strategy=whole&context=contextual&chat=ollama%3Allama3.2&k=5"


def test_a_pinned_setting_asks_no_chat_model_unbidden(chat_server: OllamaDouble) -> None:
    app = page(strategy="whole", pin=CONTEXTUAL)
    assert not chat_server.chats
    assert any("not described yet" in caption.value for caption in app.caption)
    assert figures(app)["Chunks"] == "23", "the page is there all the same"
    assert "Unpin" in [button.label for button in app.button]


def test_a_pin_that_cannot_be_measured_leaves_the_page_and_can_be_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    for pin in (CONTEXTUAL, "strategy=fixed&pooling=late&k=5&size=200"):
        app = page(strategy="whole", pin=pin)
        assert not app.error
        assert figures(app)["Chunks"] == "23"
        app.button[[button.label for button in app.button].index("Unpin")].click().run()
        assert "pin" not in app.query_params


def test_once_all_is_described_the_page_says_nothing_of_it(chat_server: OllamaDouble) -> None:
    app = page(strategy="whole", context="contextual")
    pressed(app, "Describe 23 chunks").run()
    assert not app.info
    assert not any(button.label.startswith("Describe") for button in app.button)


def test_sizes_out_of_range_in_the_address_give_way_to_the_default() -> None:
    app = page(strategy="multi", sizes="0,9999999")
    assert not app.error
    assert app.multiselect[0].value == [100, 200, 400]
