"""The basic strategies that every chart begins with: six ways to cut at 200 words, and the whole document beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chunking.index import Config
from chunking.joined import joined
from chunking.parts import part_of
from chunking.strategies.semantic import inner, similarities
from chunking.types import Corpus, Embed


def basic_configs(corpus: Corpus, embed: Embed, k: int, budget: int | None = None) -> Iterator[Config]:
    """The configurations of the basic strategies, scope document, without context; `whole` is the last.

    The threshold of `semantic`, for which every sentence is embedded, is looked for when its turn comes.
    """

    def config(strategy: str, **settings: float) -> Config:
        return Config.of(strategy, settings, k=k, budget=budget)

    yield config("fixed", size=200)
    yield config("fixed", size=200, overlap=50)
    yield config("sentence", size=200)
    yield config("recursive", size=200)
    yield config("parent_child", child=50, parent=200)
    yield config("semantic", size=200, threshold=threshold_at(corpus, embed, 10))
    yield config("whole")


def threshold_at(corpus: Corpus, embed: Embed, percentile: float) -> float:
    """The cosine below which that percentage of the corpus's neighbouring sentences lie, rounded to 2 decimals.

    0 where no document has two sentences.
    """
    part = part_of(joined(corpus), "document")
    values = similarities(part, embed)[inner(part)]
    return round(float(np.percentile(values, percentile)), 2) if len(values) else 0.0
