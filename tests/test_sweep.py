"""Sweeps: which configurations a plan makes, that each text is embedded once, which settings cut identically; the table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from cache.embedder import CachedEmbedder
from cache.records import Record
from chunking.experiment import run
from chunking.index import Config, build
from chunking.study import record
from chunking.sweep import alike, cut_hash, plan, sweep, values_of
from chunking.table import identical, table
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords, Scored

A = Document("a", "one two three four five six seven eight")
B = Document("b", "red blue green grey")


def asked(name: str, text: str, document: Document = A) -> Question:
    start = document.text.index(text)
    return Question(name, f"{text}?", ((Passage(document.id, start, start + len(text)),),))


CORPUS = Corpus((A, B), (asked("q1", "two three"), asked("q2", "red blue", B)))


def sizes(configs: Sequence[Config]) -> list[tuple[int, int]]:
    return [(config.values["size"], config.values["overlap"]) for config in configs]


class TestPlan:
    def test_every_combination_the_last_named_fastest(self) -> None:
        found = plan(["fixed"], {}, {"size": [4, 8], "overlap": [0, 2]})
        assert sizes(found.configs) == [(4, 0), (4, 2), (8, 0), (8, 2)]
        assert found.refused == ()

    def test_what_the_strategy_refuses_is_left_out_and_told(self) -> None:
        found = plan(["fixed"], {}, {"size": [4, 8], "overlap": [0, 4]})
        assert sizes(found.configs) == [(4, 0), (8, 0), (8, 4)]
        assert found.refused == ("fixed: overlap must be at least 0 and below size, got overlap 4 and size 4",)

    def test_a_strategy_without_the_varied_setting_is_measured_once(self) -> None:
        found = plan(["whole", "fixed"], {"overlap": 1}, {"size": [4, 8]}, k=3)
        assert [config.strategy for config in found.configs] == ["whole", "fixed", "fixed"]
        assert sizes(found.configs[1:]) == [(4, 1), (8, 1)]
        assert {config.k for config in found.configs} == {3}

    def test_axes_vary_like_settings(self) -> None:
        found = plan(["fixed"], {"size": 4}, {"scope": ["document", "section"], "budget": [None, 9]}, k=2)
        assert [(config.scope, config.k, config.budget) for config in found.configs] == [
            ("document", 2, None), ("document", 2, 9), ("section", 2, None), ("section", 2, 9),
        ]  # fmt: skip

    def test_the_chat_model_goes_with_contextual_context_alone(self) -> None:
        found = plan(["fixed"], {}, {"context": ["none", "contextual"]}, chat="ollama:x")
        assert [config.chat for config in found.configs] == ["", "ollama:x"]

    @pytest.mark.parametrize(
        ("strategies", "settings", "varied", "sentence"),
        [
            (["fixed"], {}, {"sise": [1]}, "no strategy of this sweep (fixed) has a setting 'sise'"),
            (["whole"], {"size": 3}, {}, "no strategy of this sweep (whole) has a setting 'size'"),
            (["fixed"], {}, {"size": [0]}, "fixed: size must be from 1 to 1000000, got 0"),
            (["fixed"], {}, {"size": []}, "a sweep needs a strategy, and each varied parameter a value"),
            (["fixed"], {}, {"size": range(1, 2500)}, "a sweep must have at most 2000 configurations, got more: take larger steps"),
        ],
    )  # fmt: skip
    def test_what_leaves_nothing_to_measure_is_refused(self, strategies, settings, varied, sentence) -> None:
        with pytest.raises(ValueError, match=re.escape(sentence)) as error:
            plan(strategies, settings, varied)
        assert str(error.value) == sentence


class TestValues:
    @pytest.mark.parametrize(
        ("name", "text", "values"),
        [
            ("size", "50:200:50", [50, 100, 150, 200]),
            ("size", "50:210:50", [50, 100, 150, 200]),
            ("size", "25,800", [25, 800]),
            ("threshold", "0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
            ("unit", "words,characters", ["words", "characters"]),
            ("sizes", "100,200;50,400", [[100, 200], [50, 400]]),
            ("k", "1:3:1", [1, 2, 3]),
            ("search", "dense,keyword", ["dense", "keyword"]),
        ],
    )
    def test_low_high_step_or_a_list(self, name: str, text: str, values: list) -> None:
        found = values_of(["semantic", "multi"], name, text)
        assert found == values
        assert [type(one) for one in found] == [type(one) for one in values]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("9:1:2", "size must be low:high:step with a step above 0, got '9:1:2'"),
            ("1:9:0", "size must be low:high:step with a step above 0, got '1:9:0'"),
            ("1:inf:1", "size must be low:high:step with a step above 0, got '1:inf:1'"),
            ("1:9", "size must be low:high:step with a step above 0, got '1:9'"),
            ("1:9999999:1", "size must have at most 2000 values, got 9999999"),
            ("a,b", "size must be a number, got 'a'"),
        ],
    )
    def test_what_gives_no_values_is_refused(self, text: str, sentence: str) -> None:
        with pytest.raises(ValueError, match=re.escape(sentence)) as error:
            values_of(["fixed"], "size", text)
        assert str(error.value) == sentence


class Counting:
    """A model that counts how often it is given each text."""

    name, identity, fingerprint, dimension, limit = "counting", "counting 1", ("counting",), 8, None
    prefixes = {"query": "", "document": ""}  # noqa: RUF012
    batch_texts, batch_characters = 3, 10_000
    token_spans = None

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.given: Counter[str] = Counter()

    def encode(self, texts: Sequence[str]) -> list[Record]:
        self.given.update(texts)
        rows = np.array([np.bincount([len(text) % 8], minlength=8) for text in texts], np.float32)
        return [Record(row, None, len(text), False) for row, text in zip(rows, texts, strict=True)]


def test_each_distinct_text_is_embedded_once_over_the_whole_sweep() -> None:
    model = Counting()
    configs = plan(["fixed", "recursive"], {}, {"size": [2, 4, 8, 16], "budget": [None, 6]}).configs
    trials = list(sweep(CORPUS, configs, CachedEmbedder(model, None)))
    wanted = {text for trial in trials for text in trial.index.texts} | {question.text for question in CORPUS.questions}
    assert [trial.config for trial in trials] == list(configs)
    assert len(trials) == 16
    assert set(model.given) == wanted
    assert set(model.given.values()) == {1}


def test_a_trial_of_a_sweep_is_the_trial_of_its_configuration() -> None:
    embed = BagOfWords()
    for trial in sweep(
        CORPUS, plan(["fixed"], {"size": 2}, {"repeats": ["skip", "keep"], "budget": [None, 5]}).configs, embed
    ):
        alone = run(CORPUS, trial.config, embed)
        assert trial.results == alone.results
        assert (trial.config, trial.index.config) == (alone.config, alone.config)


def test_trials_come_one_by_one_so_that_a_sweep_can_be_stopped() -> None:
    embed = BagOfWords()
    trials = sweep(CORPUS, plan(["fixed"], {}, {"size": [2, 4, 8]}).configs, embed)
    assert next(trials).config.values["size"] == 2
    assert "one two three four five six seven eight" not in embed.seen["document"]


def test_the_three_lines_of_size() -> None:
    """'two three' is split at size 2; at size 4 it is whole and, read to 7 characters, found; at size 8 'seven' is unread."""
    corpus = Corpus((A, B), (asked("q1", "two three"), asked("q2", "seven")))
    trials = list(
        sweep(corpus, plan(["fixed"], {}, {"size": [2, 4, 8]}, k=1).configs, Scored({"red": 0.9, "one": 0.5}, limit=8))
    )
    assert [(trial.whole_share, trial.read_share, trial.hit_rate) for trial in trials] == [
        (0.5, 0.5, 0),
        (1, 0.5, 0),
        (1, 0.5, 0),
    ]
    assert [trial.misses["truncated"] for trial in trials] == [0, 1, 1]


class TestIdenticalCuts:
    def test_two_settings_cut_identically_where_all_spans_are_the_same(self) -> None:
        def key(strategy: str, settings: dict) -> str:
            return cut_hash(build(CORPUS, Config.of(strategy, settings)))

        assert key("fixed", {"size": 8}) == key("fixed", {"size": 9}) == key("whole", {})
        assert key("fixed", {"size": 8}) != key("fixed", {"size": 7})
        assert key("parent_child", {"child": 2, "parent": 4}) != key("parent_child", {"child": 2, "parent": 8})

    def test_groups_of_at_least_two(self) -> None:
        assert alike([("a", 1), ("b", 2), ("c", 1), ("a", 1)]) == [["a", "c"]]

    def test_they_are_named(self) -> None:
        embed = BagOfWords()
        records = [
            record(trial, embed)
            for trial in sweep(CORPUS, plan(["fixed"], {}, {"size": [2, 8, 9], "budget": [None, 9]}).configs, embed)
        ]
        assert identical(records) == ["size 8 and size 9 cut identically"]

    def test_what_never_moves_a_cut_is_not_news(self) -> None:
        embed = BagOfWords()
        configs = plan(["fixed"], {}, {"size": [2, 4], "search": ["dense", "keyword"]}).configs
        assert identical([record(trial, embed) for trial in sweep(CORPUS, configs, embed)]) == []


class TestTable:
    def lines(self, varied: dict, *measures: str) -> list[str]:
        embed = Scored({"two": 0.9, "red": 0.8})
        trials = sweep(CORPUS, plan(["fixed"], {}, varied, k=1).configs, embed)
        return table([record(trial, embed) for trial in trials], measures)

    def test_a_row_for_each_cut_at_k_and_within_the_budget(self) -> None:
        lines = self.lines({"size": [2, 4], "budget": [None, 8]}, "hit_rate", "repeated_words")
        assert " ".join(lines[0].split()) == (
            "size chunks words/chunk whole read at 1 hit_rate at 1 repeated_words words at 1 "
            "read in 8 words hit_rate in 8 words words in 8 words"
        )
        assert len(lines) == 3
        assert lines[1].split()[:8] == ["2", "6", "2.0", "50.0%", "50.0%", "0.0%", "(0.0%", "to"]
        assert lines[2].split()[:6] == ["4", "3", "4.0", "100.0%", "100.0%", "50.0%"]
        assert lines[2].split()[-6:] == ["100.0%", "100.0%", "(34.2%", "to", "100.0%)", "8"]

    def test_more_than_two_amounts_stand_below_each_other(self) -> None:
        lines = self.lines({"k": [1, 2, 3]}, "hit_rate")
        assert lines[0].split()[:3] == ["strategy", "sent", "chunks"]
        assert [line.split()[1:3] for line in lines[1:]] == [["at", "1"], ["at", "2"], ["at", "3"]]

    def test_an_unknown_measure_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"measure must be one of questions, .*, got 'hits'"):
            self.lines({"k": [1]}, "hits")
