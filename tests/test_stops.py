"""The table that the browser redraws from says at each stop what the core cuts and measures there."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from chunking.experiment import run
from chunking.index import Config, build
from chunking.registry import STRATEGIES, Number, missing
from chunking.segments import blocks
from chunking.stops import Slider, allowed, config_at, cut_figures, drawn_cut, nearest, passages_of, stops
from chunking.types import Corpus, Document
from data.bundled import bundled
from tests.fakes import BagOfWords

SLIDERS = [
    (strategy.name, number.name)
    for strategy in STRATEGIES.values()
    for number in strategy.parameters
    if isinstance(number, Number) and not missing(strategy)
]


@cache
def corpus() -> Corpus:
    """Three posts with their questions."""
    everything, _ = bundled()
    documents = everything.documents[:3]
    names = {document.id for document in documents}
    asked = [question for question in everything.questions if {p.document for n in question.needs for p in n} <= names]
    return Corpus(documents, tuple(asked))


def slider(strategy: str, name: str, **settings: object) -> Slider:
    number = next(one for one in STRATEGIES[strategy].parameters if one.name == name)
    assert isinstance(number, Number)
    if number.when:
        settings[number.when[0]] = number.when[1]
    config = Config.of(strategy, settings)
    return Slider(name, {stop: config_at(config, {name: stop}) for stop in allowed(number, config.values)}, cuts=True)


@pytest.mark.parametrize(("strategy", "name"), SLIDERS)
def test_a_stop_is_what_build_cuts_and_run_measures(strategy: str, name: str) -> None:
    embed = BagOfWords()
    moved = slider(strategy, name)
    document = corpus().documents[1]
    table = list(stops(corpus(), moved, document, embed))
    assert [stop.value for stop in table] == list(moved.configs)
    for stop in table[:: max(1, len(table) // 4)]:
        config = moved.configs[stop.value]
        assert config.values[name] == stop.value
        index = build(corpus(), config, embed)
        chunks = index.chunks(1)
        assert stop.cut.starts.tolist() == [chunk.start for chunk in chunks]
        assert stop.cut.ends.tolist() == [chunk.end for chunk in chunks]
        assert stop.cut.words.tolist() == index.words[index.documents == 1].tolist()
        assert stop.cut.held.tolist() == [index.holds(passage) for passage in passages_of(corpus(), document)]
        trial = run(corpus(), config, embed)
        assert stop.figures.split_share == trial.split_share
        assert stop.figures.chunks == len(trial.index)
        assert stop.figures.words_each == trial.index.words.mean()
        assert stop.figures.repeated_words == trial.index.repeated_words


def test_a_table_embeds_nothing_where_the_slider_says_so() -> None:
    for strategy, name in SLIDERS:
        number = next(one for one in STRATEGIES[strategy].parameters if one.name == name)
        if STRATEGIES[strategy].embeds and not number.embeds:
            embed = BagOfWords()
            moved = slider(strategy, name)
            build(corpus(), next(iter(moved.configs.values())), embed)
            seen = len(embed.seen["document"])
            list(stops(corpus(), moved, corpus().documents[0], embed))
            assert len(embed.seen["document"]) == seen, (strategy, name)


def test_context_by_a_chat_model_is_not_asked_for() -> None:
    moved = slider("fixed", "size")
    asked = {value: replace(config, context="contextual", chat="a") for value, config in moved.configs.items()}
    table = stops(corpus(), replace(moved, configs=asked), corpus().documents[0], None)
    assert len(list(table)) == len(asked)


def test_a_number_gives_way_to_the_one_it_must_stay_below_and_comes_back() -> None:
    config = Config.of("fixed", {"size": 200, "overlap": 0})
    assert config_at(config, {"size": 25, "overlap": 50}).values == {"size": 25, "overlap": 20, "unit": "words"}
    assert config_at(config, {"size": 200, "overlap": 50}).values == {"size": 200, "overlap": 50, "unit": "words"}
    family = Config.of("parent_child", {"child": 50, "parent": 200})
    assert config_at(family, {"child": 200, "parent": 100}).values["child"] == 100
    assert nearest(STRATEGIES["fixed"].parameters[0], -3, {}) == 200


def test_parents_are_drawn_where_they_lie_side_by_side() -> None:
    embed, document = BagOfWords(), corpus().documents[0]
    family = build(corpus(), Config.of("parent_child", {"child": 50, "parent": 200}), embed)
    parents = drawn_cut(family, document).parents.tolist()
    assert parents == sorted({span.start for span in family.spans if span.document == document.id})
    for strategy in ("fixed", "sentence_window"):
        assert not len(drawn_cut(build(corpus(), Config.of(strategy), embed), document).parents)


def test_figures_of_an_empty_cut_and_of_one_without_questions() -> None:
    blank = build(Corpus((Document("a", " "),)), Config.of("fixed"))
    figures = cut_figures(blank)
    assert (figures.chunks, figures.words_each, figures.repeated_words, figures.split_share) == (0, 0.0, 0.0, None)
    cut = drawn_cut(blank, blank.corpus.documents[0])
    assert len(cut.starts) == len(cut.held) == 0


def test_tokens_are_counted_where_there_is_a_tokenizer() -> None:
    embed, document = BagOfWords(), Document("a", "One two three.\n\nFour.")
    index = build(Corpus((document,)), Config.of("sentence", {"size": 3}), embed)
    tokens = drawn_cut(index, document).tokens
    assert tokens is not None
    assert np.array_equal(tokens, [len(embed.token_spans("One two three.")), len(embed.token_spans("Four."))])
    assert drawn_cut(build(index.corpus, index.config), document).tokens is None


def test_looks_name_the_kind_of_every_block_from_the_start_of_its_line() -> None:
    text = "# Title\n\nText.\n- one\n  more\n- two\n\n> said\n\n    code\n\n```\nx\n```\n\n| a |\n|--|\n| b |\n\n[ref]: there\n"
    found = [(text[start:].split("\n")[0], kind) for start, kind in blocks(Document("a", text)).looks]
    assert found == [
        ("# Title", "heading 1"), ("Text.", "text"), ("- one", "list"), ("- two", "list"), ("> said", "quote"),
        ("    code", "code"), ("```", "code"), ("| a |", "table"), ("[ref]: there", "text"),
    ]  # fmt: skip
    plain = blocks(Document("a", "# No\n\n    heading", markdown=False)).looks
    assert [kind for _, kind in plain] == ["text", "text"]
