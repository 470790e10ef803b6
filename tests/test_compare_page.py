"""The Compare page in Streamlit's own test runner, with a stand-in for the embedder; figures against the core."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from cache import Choice
from chunking.best import verdict
from chunking.comparing import compare_all
from chunking.curves import budget_curve
from chunking.experiment import Trial, run
from chunking.forensics import examine, split_passages
from chunking.forensics import in_words as forensics_in_words
from chunking.gate import in_words, needed_in_words, verdict_in_words
from chunking.index import Config
from chunking.kinds import by_kind
from chunking.moves import moves
from chunking.overlaid import overlaid
from chunking.study import Study, record
from data.bundled import bundled
from data.studies import trials_of, versions
from pages.parts import models, resources
from pages.parts.controls import packed
from pages.parts.highlight import overlaid_html
from pages.parts.trials import name_of
from tests.conftest import ROOT
from tests.test_pages import stand_in

EMBED = stand_in("minilm")
SMALL, LARGE, SAME, MEANING = (
    Config.of("fixed", {"size": 50}), Config.of("fixed", {"size": 200}), Config.of("fixed", {"size": 200}, k=8),
    Config.of("semantic", {"size": 200, "threshold": 0.3}),
)  # fmt: skip
CHOSEN = "|".join(map(packed, (SMALL, LARGE, SAME)))


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    st.cache_resource.clear()
    monkeypatch.setattr(
        resources, "open_embedder", lambda *_: EMBED
    )  # one for all tests: it remembers what it embedded
    monkeypatch.setattr(models, "default_embedder_name", lambda *_: Choice("minilm", "The built-in one is used."))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    yield
    st.cache_resource.clear()


def page(**address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["corpus"] = "own"  # Explore, which opens first, has nothing to measure
    app.run().switch_page("pages/compare.py")
    del app.query_params["corpus"]
    for name, value in {"trials": CHOSEN, **address}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert not app.error
    return app


@cache
def trial(config: Config) -> Trial:
    return run(bundled()[0], config, EMBED)


def cells(app: AppTest, table: int = 0) -> list[dict[str, str]]:
    """The rows of a table as people see them."""
    return [{key.replace("\\", ""): str(value).replace("\\", "") for key, value in row.items()}
            for row in app.table[table].value.to_dict("records")]  # fmt: skip


def said(app: AppTest) -> str:
    return "\n".join(one.value for kind in (app.markdown, app.caption, app.info) for one in kind).replace("\\", "")


def test_the_page_opens_with_the_present_setting_and_the_basic_ones() -> None:
    app = page(trials="")
    rows = cells(app)
    assert len(rows) == 7
    assert {"best"} <= {row["Verdict"] for row in rows}
    assert any(row["Trial"].startswith("Recursive, size 200, at 5 chunks") for row in rows)


class TestLeaderboard:
    def test_every_row_has_the_figures_of_the_core_best_first(self) -> None:
        rows = cells(page())
        expected = sorted((trial(one) for one in (SMALL, LARGE, SAME)), key=lambda one: -one.hit_rate)
        for row, one in zip(rows, expected, strict=True):
            spread = one.hit_rate_interval
            assert row["Trial"].removesuffix(" †") == name_of(one.config)
            assert row["Hit rate"] == f"{100 * one.hit_rate:.1f}% ({100 * spread.low:.1f}% to {100 * spread.high:.1f}%)"
            assert row["Split"].startswith(f"{100 * one.split_share:.1f}%")
        assert rows[0]["Verdict"] == "best"

    def test_the_verdict_and_the_differences_are_said_in_words(self) -> None:
        app = page(base=packed(LARGE))
        trials = [trial(one) for one in (SMALL, LARGE, SAME)]
        for line in verdict_in_words(verdict(trials), [name_of(one.config) for one in trials], "hit rate"):
            assert line in said(app)
        found = compare_all([trials[0], trials[2]], trials[1])
        rows = cells(app, 1)
        assert [row["In words"] for row in rows] == [in_words(one) for one in found]
        assert [row["To tell them apart"] for row in rows] == [needed_in_words(one) or "told already" for one in found]

    def test_another_measure_is_compared(self) -> None:
        rows = cells(page(measure="coverage"), 1)
        (small, _) = compare_all([trial(LARGE), trial(SAME)], trial(SMALL), measure=measure("coverage"))
        assert rows[0]["Difference"].startswith(f"{100 * small.mean:+.1f} points")

    def test_costs_and_the_price_of_a_thousand_questions(self) -> None:
        app = page(price="2")
        row = next(row for row in cells(app, 2) if row["Trial"].startswith(name_of(SMALL)))
        one = trial(SMALL)
        tokens = one.mean(result.tokens_sent for result in one.results)
        assert row["1,000 questions"] == f"{tokens * 1000 * 2 / 1e6:.2f}"
        assert row["Chunks"] == f"{len(one.index):,}"
        assert row["Texts to embed"] == f"{len(set(one.index.texts)):,}"
        assert row["Time to embed"] == "–"
        assert "1,000 questions" not in cells(page(), 2)[0]

    def test_embedding_is_timed_when_it_is_asked_for(self) -> None:
        app = page()
        next(button for button in app.button if button.label == "Time the embedding").click().run()
        assert all(row["Time to embed"].startswith("about ") for row in cells(app, 2))

    def test_settings_that_cut_identically_and_chunks_too_long_for_the_model_are_said(self) -> None:
        app = page()
        assert f"{name_of(SAME)} and {name_of(LARGE)} cut identically" in said(app)
        truncated = trial(LARGE).truncated_chunks
        assert truncated
        assert (
            f"† {name_of(LARGE)}: {truncated} of {len(trial(LARGE).index)} chunks are longer than the model reads"
            in said(app)
        )

    @pytest.mark.parametrize("address", [{"base": "gone"}, {"measure": "words"}, {"section": "x"}, {"price": "nan"}, {"trials": "strategy=x|size"}, {"price": "-1"}])  # fmt: skip
    def test_an_address_with_a_wrong_value_opens_all_the_same(self, address: dict[str, str]) -> None:
        assert len(cells(page(**address))) >= 3

    def test_one_trial_is_no_comparison(self) -> None:
        assert "Choose at least two trials" in page(trials=packed(SMALL)).info[0].value


def measure(name: str):
    from chunking.comparing import MEASURES

    return MEASURES[name]


def test_reasons_add_to_a_hundred() -> None:
    app = page(section="misses")
    row = next(row for row in cells(app) if row["Trial"] == name_of(SMALL))
    counts = [int(cell.split("(")[1].rstrip(")")) for name, cell in row.items() if name != "Trial"]
    assert sum(counts) == len(trial(SMALL).results)
    assert row["Split"] == f"{100 * trial(SMALL).split_share:.1f}% ({trial(SMALL).misses['split']})"
    bars = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    shares = [sum(column) for column in zip(*(bar["x"] for bar in bars), strict=True)]
    assert shares == pytest.approx([100] * 3)


def test_questions_that_moved_most_and_one_side_by_side() -> None:
    first = moves(trial(LARGE), trial(SMALL))[0]
    app = page(section="questions", other=packed(LARGE))
    assert cells(app)[0]["Question"] == first.before.question.text
    sent = [one.proto.body for one in app.get("html") if one.proto.body.startswith('<div class="cs-chunk"')]
    assert len(sent) == len(first.before.sent) + len(first.after.sent)
    assert len(app.success) == first.before.hit + first.after.hit
    assert len(app.warning) == 2 - first.before.hit - first.after.hit
    chosen = page(section="questions", question="cache-eviction-1")
    assert chosen.selectbox(key="w_question").value == "cache-eviction-1"


def test_curves_have_the_areas_of_the_core() -> None:
    rows = {row["Trial"]: row for row in cells(page(section="budget", upto="500"))}
    curve = budget_curve(trial(SMALL), 500)
    low, high = curve.area_interval.low, curve.area_interval.high
    row = rows[name_of(SMALL)]
    assert row["Area to 500 words"] == f"{100 * curve.area:.1f}% ({100 * low:.1f}% to {100 * high:.1f}%)"
    assert row["250 words"] == f"{100 * curve.at(250):.1f}%"
    assert row["k = 10"] == f"{100 * trial(SMALL).hit_at(10):.1f}%"
    assert rows[name_of(LARGE)]["k = 20"] == rows[name_of(SAME)]["k = 20"], "at equal k they are the same"


def test_kinds_of_question() -> None:
    rows = cells(page(section="kinds"))
    kinds = by_kind([trial(one) for one in (SMALL, LARGE, SAME)])
    assert rows[1]["Trial"] == name_of(LARGE)
    for kind in kinds:
        (title,) = (name for name in rows[1] if name.startswith(f"{kind.name} ({kind.questions} questions"))
        assert rows[1][title].startswith(f"{100 * kind.means[1]:.1f}% (")
        assert title.endswith("few)") == kind.small


def test_two_cuts_on_one_text_with_the_questions_won_and_lost() -> None:
    corpus, _ = bundled()
    document = corpus.by_id["backpressure.md"]
    app = page(section="cuts", post=document.id, other=packed(LARGE))
    found = overlaid(trial(SMALL).index, trial(LARGE).index, document)
    assert f"A {name_of(SMALL)}: {len(found.one)} boundaries of its own" in said(app).replace("**", "")
    (text,) = (
        one.proto.body for one in app.get("html") if "cs-cut" in one.proto.body and "<style>" not in one.proto.body
    )
    assert (text.count(">A<"), text.count(">B<"), text.count(">A B<")) == tuple(
        map(len, (found.one, found.other, found.both))
    )
    pairs = [
        pair
        for pair in zip(trial(SMALL).results, trial(LARGE).results, strict=True)
        if pair[0].question.document == document.id
    ]
    assert len(cells(app)) == len(pairs)
    result = next(
        result
        for result in trial(SMALL).results
        if result.question.document == document.id and result.reason == "split"
    )
    passage = split_passages(trial(SMALL).index, result.question)[0]
    assert forensics_in_words(examine(trial(SMALL).index, passage), trial(SMALL).index) in [
        row["What happened"] for row in cells(app, 1)
    ]


def test_two_settings_that_cut_identically_are_said_to() -> None:
    app = page(section="cuts", base=packed(LARGE), other=packed(SAME))
    assert "The two settings cut all documents identically." in said(app)


def test_the_curve_of_similarities_has_a_threshold_that_can_be_taken() -> None:
    app = page(section="cuts", trials="|".join(map(packed, (SMALL, MEANING))), other=packed(MEANING))
    slider = app.slider[0]
    assert slider.value == 0.3
    slider.set_value(0.45).run()
    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert spec["layout"]["shapes"][0]["y0"] == 0.45
    next(button for button in app.button if button.label == "Take this threshold").click().run()
    assert app.query_params["threshold"] in ("0.45", ["0.45"])
    assert app.query_params["strategy"] in ("semantic", ["semantic"])


def study(config: Config, **changed: str) -> bytes:
    made = Study.of(bundled()[0], {**versions(), **changed})
    made.add(record(trial(config), EMBED))
    return json.dumps(made.to_object()).encode()


def load(app: AppTest, content: bytes, name: str = "mine.json") -> AppTest:
    app.file_uploader(key="study_file").set_value([(name, content, "application/json")]).run()
    return app


class TestStudies:
    def test_a_study_that_is_loaded_joins_the_leaderboard_and_what_differs_is_named(self) -> None:
        app = load(page(section="report"), study(MEANING, numpy="0.1"))
        assert "mine.json: 1 trial, read-only in the leaderboard" in said(app)
        assert "numpy was 0.1 and is" in said(app)
        app.query_params["section"] = "leaderboard"
        app.run()
        assert not app.exception
        row = next(row for row in cells(app) if "(mine.json)" in row["Trial"])
        assert row["Hit rate"].startswith(f"{100 * trial(MEANING).hit_rate:.1f}%")
        assert any("(mine.json)" in row["Trial"] for row in cells(app, 1))

    def test_a_study_of_other_documents_is_named_and_left_out(self) -> None:
        value = json.loads(study(MEANING))
        value["documents"]["backpressure.md"] = "0" * 16
        app = load(page(section="report"), json.dumps(value).encode())
        assert "not compared, it was measured on something else" in said(app)
        assert "1 document changed: backpressure.md" in said(app)
        next(button for button in app.button if button.label == "Remove mine.json").click().run()
        assert "mine.json" not in said(app)

    @pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'{"per_question": []}'])
    def test_a_file_that_is_no_study_is_told(self, content: bytes) -> None:
        app = load(page(section="report"), content)
        assert not app.exception
        assert app.error[0].value.startswith("mine\\.json")


def test_the_downloads_hold_a_study_that_loads_and_a_report_that_stands_alone() -> None:
    from pages.parts import trials
    from pages.parts.downloads import study_json
    from pages.parts.report import report_html

    own = [trial(one) for one in (SMALL, LARGE)]
    names = [f"<img src=x onerror=alert(1)> {name_of(one.config)}" for one in own]
    compared = trials.Compared(bundled()[0], EMBED, dict(zip(names, own, strict=True)), [], names[0], measure("hit"))
    assert [one["id"] for one in trials_of("s", study_json(compared.corpus, compared.records).encode()).records] == [
        record(one, EMBED)["id"] for one in own
    ]
    html = report_html(compared)
    seen = Tags()
    seen.feed(html)
    assert seen.images == 0
    assert seen.sources == []
    assert html.count("Plotly.newPlot(") >= 3
    assert 3e6 < len(html) < 8e6, "the library is in it once"
    assert f"{100 * own[1].hit_rate:.1f}% (" in html


class Tags(HTMLParser):
    images = 0

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.images += tag == "img"
        self.sources += [str(value) for name, value in attrs if name in ("src", "href")]


def test_boundaries_over_a_text_are_escaped_text() -> None:
    from chunking.overlaid import Overlaid

    html = overlaid_html("<b>x</b> & y", Overlaid((3,), (), (9,)), [])
    assert html.split(">", 1)[1] == ('&lt;b&gt;<span class="cs-cut cs-cut-ab">A B</span>x&lt;/b&gt; '
                    '<span class="cs-cut cs-cut-b">B</span>&amp; y</div>')  # fmt: skip
