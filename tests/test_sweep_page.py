"""The Sweep page in Streamlit's own test runner, with a stand-in for the model."""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from cache import Choice
from cache.embedder import CachedEmbedder
from cache.errors import ServerAway
from cache.records import Record
from chunking.best import verdict
from chunking.comparing import compare
from chunking.experiment import Trial, run
from chunking.index import Config
from chunking.registry import STRATEGIES
from chunking.study import Study, config_of, record
from chunking.summaries import arms
from data.bundled import bundled
from pages.parts import controls, downloads, jobs, models, resources, standing, sweep_charts, sweeps
from pages.parts.jobs import Arm, Job, Measured
from tests.conftest import ROOT
from tests.test_pages import Backend, stand_in

EMBED = stand_in("minilm")
CORPUS, _ = bundled()


class Counting(Backend):
    """Counts how often it is given each text, and can be held up or break down."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.gate: threading.Event | None = None
        self.broken = False
        self.batches = 0

    def encode(self, texts: Sequence[str]) -> list[Record]:
        if self.broken:
            raise ServerAway("the server went away")
        if self.gate:
            assert self.gate.wait(30)
        self.seen.update(texts)
        self.batches += 1
        return super().encode(texts)


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    st.cache_resource.clear()
    made = Counting()
    monkeypatch.setattr(resources, "open_embedder", lambda *_: CachedEmbedder(made, None))
    monkeypatch.setattr(models, "default_embedder_name", lambda found: Choice("minilm", "The built-in one is used."))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    yield made
    if made.gate:
        made.gate.set()
    st.cache_resource.clear()


def page(**address: str) -> AppTest:
    """The page of an address, once its sweep has ended."""
    return finished(begun(**address))


def begun(**address: str) -> AppTest:
    """The same as it is first drawn."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["embedder"] = "ollama:none"  # nothing is measured on the way
    app.run()
    app.switch_page("pages/sweep.py")
    del app.query_params["embedder"]
    for name, value in address.items():
        app.query_params[name] = value
    return app.run()


def finished(app: AppTest) -> AppTest:
    """The page once the job has ended."""
    if "sweep_job" in app.session_state:
        app.session_state["sweep_job"].wait(120)
        app.run()
    return app


def job(app: AppTest) -> Job:
    return app.session_state["sweep_job"]


def charts(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def said(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.main.caption, *app.main.info]
    return "\n".join(element.value.replace("\\", "") for element in texts)


def press(app: AppTest, label: str) -> AppTest:
    return next(one for one in app.button if one.label == label).click().run()


@pytest.mark.parametrize(("kind", "strategy", "panels", "arm_count"), [
    ("size", "recursive", 2, 1), ("overlap", "recursive", 2, 1), ("threshold", "semantic", 3, 1), ("dial", "parent_child", 2, 1),
    ("map", "recursive", 2, 1), ("amount", "recursive", 2, 1), ("summaries", "recursive", 2, 2), ("any", "recursive", 1, 1),
])  # fmt: skip
def test_every_kind_shows_what_the_core_measures(kind: str, strategy: str, panels: int, arm_count: int) -> None:
    app = page(sweep=kind)
    assert not app.exception
    assert not app.error
    done = job(app)
    assert len(done.done) == done.total == len(done.configs) * arm_count
    assert {config.strategy for config in done.configs} == {strategy}
    assert len(charts(app)) == panels
    assert len(app.dataframe[0].value) == done.total
    assert app.dataframe[0].value.hit_rate.tolist() == [100 * one.record["hit_rate"] for one in done.found]
    one = done.done[len(done.done) // 2]
    assert run(one.arm.corpus, one.trial.config, EMBED).hit_rate == one.record["hit_rate"]


def test_the_grid_has_every_strategy_of_ours() -> None:
    app = page(sweep="strategies")
    assert not app.exception
    assert {config.strategy for config in job(app).configs} == {
        name for name, one in STRATEGIES.items() if not one.module
    }
    assert {(config.k, config.budget) for config in job(app).configs} == {(5, None), (5, 800)}


def test_the_three_lines_of_size_are_the_ceilings_and_the_hit_rate() -> None:
    app = page(strategy="fixed", k="3", budget="600")
    for chart, amount in zip(charts(app), ({"k": 3}, {"k": 3, "budget": 600}), strict=True):
        lines = {trace["name"]: trace for trace in chart["data"] if "name" in trace}
        assert set(lines) == {"whole in a chunk", "whole and read", "found"}
        place = decoded(lines["found"]["x"]).index(100)
        trial = run(CORPUS, Config.of("fixed", {"size": 100}, **amount), EMBED)
        for name, value in (
            ("whole in a chunk", trial.whole_share),
            ("whole and read", trial.read_share),
            ("found", trial.hit_rate),
        ):
            assert decoded(lines[name]["y"])[place] == pytest.approx(100 * value)


def decoded(values: object) -> list:
    """A column of a figure: a list, or numbers in base64."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return list(values)


def test_the_page_takes_the_settings_that_are_not_varied_from_the_sidebar() -> None:
    app = page(strategy="sentence", overlap="30", scope="section", search="keyword")
    assert {(config.strategy, config.values["overlap"], config.scope, config.search) for config in job(app).configs} == {
        ("sentence", 30, "section", "keyword")}  # fmt: skip
    assert "size 25," not in app.dataframe[0].value.setting.str.cat()
    assert "1 setting left out" in [one.label for one in app.expander]


def test_a_strategy_without_the_parameter_gives_way_and_the_page_says_so() -> None:
    app = page(strategy="section")
    assert {config.strategy for config in job(app).configs} == {"fixed"}
    assert "Sections has nothing of the kind to vary: this is of Fixed window." in said(app)


def test_the_verdict_is_that_of_the_core_and_the_plateau_is_outlined() -> None:
    app = page(strategy="fixed", sweep="map")
    trials = [one.trial for one in job(app).found if one.trial.config.budget is None]
    result = verdict(trials)
    best = trials[result.winner].config.values
    assert f"Best at 5 chunks: size {best['size']}, overlap {best['overlap']} with" in said(app)
    assert f"{len(result.ruled_out)} settings of {len(trials)} are ruled out" in said(app)
    chart = charts(app)[0]
    starred = [text for row in chart["data"][0]["text"] for text in row if text.startswith("★")]
    assert len(starred) == 1
    assert chart["layout"]["shapes"]


def test_the_outline_goes_round_the_plateau_and_nowhere_inside() -> None:
    edges = sweep_charts._edges({(1, 10), (1, 20)}, [1, 2], [10, 20])
    assert sorted(tuple(edge.values()) for edge in edges) == [
        (-0.5, -0.5, -0.5, 0.5), (-0.5, -0.5, 0.5, -0.5), (-0.5, 0.5, 0.5, 0.5), (0.5, -0.5, 1.5, -0.5), (0.5, 0.5, 1.5, 0.5),
        (1.5, -0.5, 1.5, 0.5),
    ]  # fmt: skip


def test_chunks_beyond_the_limit_are_marked_and_explained() -> None:
    app = page(strategy="fixed")
    found = next(trace for trace in charts(app)[0]["data"] if trace.get("name") == "found")
    marked = dict(zip(decoded(found["x"]), found["text"], strict=True))
    assert marked[800] == "†"
    assert marked[25] == ""
    assert "† marks settings with chunks longer than the model reads" in said(app)


def test_settings_that_cut_identically_are_named() -> None:
    app = page(sweep="any", strategy="sentence_window", parameter="repeats")
    assert not app.exception
    app = page(sweep="any", strategy="fixed", size="3000", parameter="size", values_size="20000,30000,100")
    assert "size 20000 and size 30000 cut identically." in said(app)


def test_any_parameter_against_any_measure() -> None:
    app = page(sweep="any", strategy="fixed", parameter="overlap", values_overlap="0:60:20", measure="chunks")
    assert [decoded(trace["x"]) for trace in charts(app)[0]["data"]] == [[0, 20, 40, 60]]
    expected = [len(run(CORPUS, Config.of("fixed", {"overlap": overlap}), EMBED).index) for overlap in (0, 20, 40, 60)]
    assert decoded(charts(app)[0]["data"][0]["y"]) == expected


@pytest.mark.parametrize("name", ["scope", "context", "search", "k", "budget", "unit", "oversize", "repeats"])
def test_choices_and_axes_are_swept_too(name: str) -> None:
    app = page(sweep="any", parameter=name)
    assert not app.exception
    assert not app.error
    assert len({sweeps.value_of(config, name) for config in job(app).configs}) > 1
    assert "contextual" not in {config.context for config in job(app).configs}


@pytest.mark.parametrize("measure", sweep_charts.WORDS)
def test_every_measure_has_a_chart(measure: str) -> None:
    corpus_trials = [run(CORPUS, Config.of("fixed", {"size": size}, k=5, budget=budget), EMBED)
                     for size in (100, 300) for budget in (None, 800)]  # fmt: skip
    sweep = sweeps.any_sweep(Config.of("fixed"), 5, 800, "size", "100,300", measure)
    arm = Arm("", CORPUS, {})
    found = [Measured(arm, trial, record(trial, EMBED)) for trial in corpus_trials]
    figure = sweep_charts.figure_of(sweep.panels[0], found, {trial.config: "x" for trial in corpus_trials}, None)
    assert any(list(trace.x) == [100, 300] for trace in figure.data)


@pytest.mark.parametrize(("values", "rule"), [
    ("many", "size must be a number, got 'many'"), ("1:2", "low:high:step"), ("100:50:10", "low:high:step"), ("-5", "size must be from 1"),
    ("1:1000:1", "at most 300 trials, got 2000"), ("", "size must be a number"),
])  # fmt: skip
def test_wrong_values_get_one_sentence(values: str, rule: str) -> None:
    app = page(sweep="any", parameter="size", values_size=values)
    assert not app.exception
    assert rule in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize("address", [
    {"sweep": "nonsense"}, {"sweep": "any", "parameter": "gone"}, {"sweep": "any", "measure": "gone"}, {"budget": "-4"}, {"k": "99"},
    {"image": "bmp"}, {"sweep": "any", "strategy": "whole"},
])  # fmt: skip
def test_an_address_with_a_wrong_value_opens_all_the_same(address: dict[str, str]) -> None:
    app = page(**address)
    assert not app.exception
    assert not app.error
    assert charts(app)


def test_what_is_chosen_is_in_the_address() -> None:
    app = page(strategy="fixed")
    app.selectbox(key="w_sweep").set_value("any").run()
    app.selectbox(key="w_parameter").set_value("overlap").run()
    app.text_input(key="w_values_overlap").set_value("0,50").run()
    app.selectbox(key="w_measure").set_value("coverage").run()
    kept = {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    assert {
        "sweep": "any",
        "parameter": "overlap",
        "values_overlap": "0,50",
        "measure": "coverage",
    }.items() <= kept.items()


def test_each_distinct_text_is_embedded_once_over_the_whole_sweep(backend: Counting) -> None:
    page(strategy="fixed", sweep="map")
    assert backend.seen
    assert set(backend.seen.values()) == {1}


def test_what_was_measured_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = page(strategy="fixed")
    asked: list[Config] = []
    whole = sweeps.size_sweep(Config.of("fixed"), 5, 800).plan.configs
    monkeypatch.setattr(jobs, "sweep", lambda corpus, configs, embed: asked.extend(configs) or iter(()))
    app.selectbox(key="w_sweep").set_value("overlap").run()
    overlaps = set(asked)
    asked.clear()
    app.selectbox(key="w_sweep").set_value("size").run()
    assert overlaps
    assert asked == []
    assert [one.trial.config for one in job(app).found] == list(whole)


def stopped_midway(backend: Counting, **address: str) -> AppTest:
    """The page of a sweep that was stopped while the model was at work."""
    backend.gate = threading.Event()
    app = begun(**address)
    assert job(app).running
    assert [one.label for one in app.button if one.label in ("Stop", "Go on")] == ["Stop"]
    return press(app, "Stop")


def test_stop_ends_it_after_the_batch_at_hand_and_go_on_measures_the_rest(backend: Counting) -> None:
    app = stopped_midway(backend, strategy="fixed")
    assert "Stopped: 0 of 34 trials are measured, and are kept." in said(app)
    job(app).wait(0)
    backend.gate.set()
    job(app).wait(30)
    assert backend.batches == 1
    app = finished(press(app, "Go on"))
    assert len(job(app).done) == 34
    assert set(backend.seen.values()) == {1}, "the batch at hand was kept"


def test_another_sweep_ends_the_one_before(backend: Counting) -> None:
    backend.gate = threading.Event()
    app = stopped_midway(backend)
    app = press(app, "Go on")
    first = job(app)
    app.selectbox(key="w_sweep").set_value("overlap").run()
    assert first.cancelled
    assert job(app) is not first


def test_two_sessions_sweep_at_once_and_share_what_is_embedded(backend: Counting) -> None:
    backend.gate = threading.Event()
    apps = [begun(strategy="fixed") for _ in range(2)]
    assert all(job(app).running for app in apps)
    backend.gate.set()
    for app in apps:
        finished(app)
    one, two = (app.dataframe[0].value for app in apps)
    assert one.equals(two)
    assert job(apps[0]) is not job(apps[1])
    assert set(backend.seen.values()) == {1}


def test_a_model_that_breaks_down_leaves_what_is_measured_and_says_why(backend: Counting) -> None:
    app = page(strategy="fixed")
    backend.broken = True
    app.selectbox(key="w_strategy").set_value("sentence").run()
    app = finished(app)
    assert "the server went away" in app.error[0].value
    assert "Broken off: 0 of 34 trials" in said(app)
    backend.broken = False
    app = finished(press(app, "Go on"))
    assert not app.error
    assert len(job(app).done) == 34


def test_a_point_holds_its_setting_and_taking_it_leaves_the_sweep_as_it_is() -> None:
    app = page(strategy="fixed")
    found = next(trace for trace in charts(app)[1]["data"] if trace.get("name") == "found")
    setting = found["customdata"][decoded(found["x"]).index(75)]
    assert controls.unpacked(setting) == Config.of("fixed", {"size": 75}, budget=800)
    before = job(app)
    for name, value in (("size", "75"), ("by", "budget"), ("budget", "800")):
        app.query_params[name] = value
    app.run()
    assert job(app) is before


def test_summaries_are_found_by_headings_that_can_be_edited() -> None:
    app = page(sweep="summaries", strategy="fixed")
    both = arms(CORPUS)
    assert f"{len(both.left_out)} question" in said(app)
    config = Config.of("fixed", {"size": 200})
    difference = compare(run(both.removed, config, EMBED), run(both.kept, config, EMBED))
    assert standing.difference_said(difference, config) in said(app)
    app.text_input(key="w_summaries").set_value("no such heading").run()
    assert "No document has a section under one of these headings." in said(app)
    assert not charts(app)


def test_advice_has_the_numbers_of_the_corpus() -> None:
    app = page(strategy="fixed")
    assert "Does not hold: The collection has 32,476 words and does not fit a prompt of 30,000." in said(app)
    assert "questions ask by an identifier; of those keyword search finds" in said(app)


def test_the_setting_as_code_says_where_a_library_cuts_differently() -> None:
    app = page(strategy="recursive", size="120")
    assert not app.code
    app.session_state["code_panel"] = True
    app.run()
    assert any("120" in one.value for one in app.code)
    assert any(caption.value.startswith("It cuts differently") for caption in app.caption)
    assert {"Python", "LangChain", "LlamaIndex", "Chonkie"} <= {tab.label for tab in app.tabs}


def test_downloads_hold_every_figure_and_a_study_that_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Callable[[], str]] = {}
    monkeypatch.setattr(downloads.st, "download_button", lambda label, data, *_, **__: given.update({label: data}))
    app = page(strategy="fixed")
    lines = given["Table (CSV)"]().splitlines()
    assert len(lines) == 1 + 34
    assert {"hit_rate", "hit_rate_low", "whole_share", "words_sent", "truncated_chunks"} <= set(lines[0].split(","))
    study = Study.from_object(json.loads(given["Study (JSON)"]()))
    assert [config_of({k: v for k, v in one["config"].items()}) for one in study.trials.values()] == list(
        job(app).configs
    )


def test_without_questions_or_an_embedder_it_says_what_to_do() -> None:
    assert "choose one in the sidebar" in page(embedder="ollama:none").info[0].value
    app = page(corpus="own")
    app.file_uploader(key="own_files").set_value([("a.txt", b"One two three.", "text/plain")]).run()
    assert "add a questions file" in app.info[0].value


def test_one_trial_that_cannot_be_judged_is_shown_all_the_same() -> None:
    app = page(sweep="any", parameter="size", values_size="100")
    assert not app.exception
    assert len(app.dataframe[0].value) == 2
    assert isinstance(job(app).done[0].trial, Trial)
