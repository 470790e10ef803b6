"""A slider's stops: the configuration at each of them, and what the cut is there, before anything is embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chunking.index import Config, Index, build
from chunking.registry import STRATEGIES, Number, checked
from chunking.types import Corpus, Document, Embed, Ints, Passage

#: The stops of what is sent: chunks, or words.
KS = tuple(range(1, 21))
BUDGETS = (100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 4000)


@dataclass(frozen=True, slots=True)
class CutFigures:
    """What the cut of a whole corpus tells without any vector; `split_share` is None where there are no questions."""

    chunks: int
    words_each: float
    repeated_words: float
    split_share: float | None


@dataclass(frozen=True, eq=False)
class DrawnCut:
    """The chunks of one document as they are drawn, in order of start, (n,) each; rows begin with `first` in the index.

    `tokens` are those of the matched text, None where the embedder has no tokenizer. `parents` are the starts of the
    returned spans where they differ from the matched ones and lie side by side. `held` tells of each passage of the
    document (`passages_of`) whether it is whole in something that could be sent.
    """

    first: int
    starts: Ints
    ends: Ints
    words: Ints
    tokens: Ints | None
    parents: Ints
    held: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of a slider: the cut of the shown document there, and the figures of the whole corpus."""

    value: float
    cut: DrawnCut
    figures: CutFigures


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider on the screen: the configuration at each of its stops, with the other settings as they would be.

    `cuts` tells whether it moves cuts, and needs no new vector to do so.
    """

    name: str
    configs: Mapping[float, Config]
    cuts: bool


def allowed(number: Number, settings: Mapping[str, float]) -> list[float]:
    """The stops that a number may have beside the other settings."""
    return [stop for stop in number.stops if stop <= _top(number, settings)]


def nearest(number: Number, wanted: float, settings: Mapping[str, float]) -> float:
    """What is wanted where it is allowed beside the other settings, else the largest stop that is."""
    if not number.lowest <= wanted <= number.highest:
        wanted = number.default
    top = _top(number, settings)
    return wanted if wanted <= top else max(allowed(number, settings), default=top)


def _top(number: Number, settings: Mapping[str, float]) -> float:
    if number.below:
        return settings[number.below] - 1
    return settings[number.upto] if number.upto else number.highest


def config_at(config: Config, wanted: Mapping[str, float]) -> Config:
    """The configuration with its numbers at what is wanted, as far as each is allowed beside the others."""
    strategy = STRATEGIES[config.strategy]
    settings = {**config.values, **wanted}
    for number in strategy.parameters:
        if isinstance(number, Number):
            settings[number.name] = nearest(number, settings[number.name], settings)
    return replace(config, settings=tuple(sorted(checked(strategy, settings).items())))


def stops(corpus: Corpus, slider: Slider, document: Document, embed: Embed | None) -> Iterator[Stop]:
    """What the cut is at each stop of a slider, one by one: what `build` gives for the configuration there."""
    for value, config in slider.configs.items():
        # Context is no part of a span, and a chat model's would have to be asked for.
        index = build(corpus, replace(config, context="none", chat=""), embed)
        yield Stop(value, drawn_cut(index, document), cut_figures(index))


def cut_figures(index: Index) -> CutFigures:
    """The figures of a cut that need no vector."""
    words = float(index.words.mean()) if len(index) else 0.0
    return CutFigures(len(index), words, index.repeated_words, _split_share(index))


def drawn_cut(index: Index, document: Document) -> DrawnCut:
    """The chunks of one document."""
    number = index.numbers[document.id]
    first, last = np.searchsorted(index.documents, [number, number + 1]).tolist()
    rows = slice(first, last)
    starts, ends = index.starts[rows], index.ends[rows]
    held = index.hold(*index.trimmed(passages_of(index.corpus, document)))
    return DrawnCut(first, starts, ends, index.words[rows], _tokens(index, rows), _parents(index, rows), held)


def passages_of(corpus: Corpus, document: Document) -> list[Passage]:
    """The passages of a document that answer some question of the corpus, in order."""
    found = {
        passage for question in corpus.questions for passage in question.passages if passage.document == document.id
    }
    return sorted(found, key=lambda passage: (passage.start, passage.end))


def _split_share(index: Index) -> float | None:
    """The share of questions of which some need is whole in nothing that could be sent."""
    corpus = index.corpus
    if not corpus.questions:
        return None
    begin, end, needs, questions = corpus.keep("needs", lambda: _needs(index))
    held = np.logical_or.reduceat(index.hold(begin, end), needs)
    return float(np.mean(~np.logical_and.reduceat(held, questions)))


def _needs(index: Index) -> tuple[Ints, Ints, Ints, Ints]:
    """Where all passages begin and end, the number of the first one of each need, and of each question's first need."""
    asked = index.corpus.questions
    begin, end = index.trimmed(passage for question in asked for passage in question.passages)
    sizes = [len(need) for question in asked for need in question.needs]
    needs, questions = (np.cumsum([0, *counts[:-1]]) for counts in (sizes, [len(question.needs) for question in asked]))
    return begin, end, needs, questions


def _tokens(index: Index, rows: slice) -> Ints | None:
    rule = index.token_ruler
    if rule is None:
        return None
    starts, ends = index.matched
    return rule.high(ends[rows]) - rule.low(starts[rows])


def _parents(index: Index, rows: slice) -> Ints:
    """Where the returned spans begin; none where they are the matched ones, or overlap one another."""
    returned = np.unique(index.returned[rows])
    starts, ends = index.span_starts[returned], index.span_ends[returned]
    matched = np.array_equal(starts, index.starts[rows]) and np.array_equal(ends, index.ends[rows])
    return np.zeros(0, np.int64) if matched or (ends[:-1] > starts[1:]).any() else starts
