"""The straight line: a corpus and a configuration are cut, embedded, ranked and measured, and a `Trial` comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunking.index import Config, Index, build
from chunking.intervals import Interval, interval
from chunking.keyword import keyword_scores
from chunking.measures import (
    Cover,
    Need,
    cover,
    ideal_precision,
    phrase_hit,
    question_rank,
    solid_length,
    total,
    union,
    word_length,
)  # fmt: skip
from chunking.pooling import late_vectors
from chunking.ranking import Union, cosine_scores, fused_scores, rank, walk
from chunking.sending import Sending, sending
from chunking.types import Corpus, Describe, Embed, Ints, Passage, Question, Vectors

Scores = NDArray[np.float64]

REASONS = ("hit", "split", "truncated", "outranked_same_document", "outranked_other_document")


@dataclass(frozen=True, slots=True)
class Result:
    """What one configuration did for one question."""

    question: Question
    rank: int | None
    lenient_rank: int | None
    reason: str
    cover: Cover
    ideal_precision: float
    sent: tuple[Passage, ...]
    taken: int  # returned spans that were taken: as many as were sent, but where what overlaps is sent as one
    words_sent: int
    distinct_words: int
    tokens_sent: int | None
    phrase_rank: int | None
    words_needed: int | None  # the smallest budget under which it is hit; None where there is none

    @property
    def hit(self) -> bool:
        """Whether every need has a passage whole in something that was sent."""
        return self.reason == "hit"

    @property
    def reciprocal_rank(self) -> float:
        """1 / rank, 0 where there is none."""
        return 1 / self.rank if self.rank else 0.0

    @property
    def lenient_hit(self) -> bool:
        """The same where a restatement counts too."""
        return self.lenient_rank is not None and self.lenient_rank <= self.taken


@dataclass(frozen=True, eq=False)
class Trial:
    """One configuration measured on one question set: per-question results first, means after."""

    config: Config
    embedder: str
    index: Index
    results: tuple[Result, ...]
    read_ends: Ints
    unread_chunks: int = 0  # chunks that the model gave no vector for: they are ranked last

    @cached_property
    def hit_rate(self) -> float:
        """The share of questions with a hit among what was sent (trec_eval: Success@k; some call it Recall@k)."""
        return self.mean(result.hit for result in self.results)

    @cached_property
    def hit_rate_interval(self) -> Interval:
        """The 95% interval of the hit rate."""
        return self.interval([float(result.hit) for result in self.results], rate=True)

    @property
    def split_share(self) -> float:
        """The share of questions that the cut alone decided: some need is whole in no returned span."""
        return self.mean(result.rank is None for result in self.results)

    @property
    def whole_share(self) -> float:
        """The ceiling of any search: the share of questions that are not split."""
        return 1 - self.split_share

    @property
    def read_share(self) -> float:
        """The ceiling of this model: the share of questions that are neither split nor missed as truncated."""
        return self.mean(result.reason not in ("split", "truncated") for result in self.results)

    @property
    def truncated_chunks(self) -> int:
        """Chunks that the model did not read to their end."""
        return int((self.read_ends < self.index.ends).sum())

    def cut_short(self, span: Passage) -> bool:
        """Whether the model did not read some chunk inside a span to its end."""
        index = self.index
        inside = (
            (index.documents == index.numbers[span.document]) & (index.starts >= span.start) & (index.ends <= span.end)
        )
        return bool((self.read_ends < index.ends)[inside].any())

    @property
    def misses(self) -> dict[str, int]:
        """Questions by the reason of their miss; with the hits they are all."""
        count = Counter(result.reason for result in self.results)
        return {reason: count[reason] for reason in REASONS if reason != "hit"}

    @property
    def reciprocal_rank(self) -> float:
        """The mean of 1 / rank, 0 where there is none."""
        return self.mean(result.reciprocal_rank for result in self.results)

    def hit_at(self, k: int) -> float:
        """The hit rate had the first k spans been sent."""
        return self.mean(result.rank is not None and result.rank <= k for result in self.results)

    def mean(self, values: Iterable[float]) -> float:
        """The mean of per-question values."""
        return float(np.mean(list(values)))

    def interval(self, values: list[float], rate: bool = False) -> Interval:
        """The 95% interval of the mean of per-question values."""
        return interval(values, [result.question.document for result in self.results], rate)


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that came back for a typed question: its row in the index, its score, its returned span, how far read."""

    row: int
    score: float
    span: Passage
    read_end: int


@dataclass(frozen=True, eq=False)
class Ranked:
    """An index with its chunks ranked for every question, (q, n): what trials that only send more or less share."""

    index: Index
    embedder: str
    orders: Ints
    read_ends: Ints
    unread_chunks: int

    def trial(self, config: Config) -> Trial:
        """The trial of a configuration that differs from the index's at most in k, budget and repeats."""
        index = self.index if self.index.config == config else replace(self.index, config=config)
        judge = _Judge(index, self.read_ends)
        results = tuple(judge.result(*pair) for pair in zip(_asked(index.corpus), self.orders, strict=True))
        return Trial(config, self.embedder, index, results, self.read_ends, self.unread_chunks)


def run(
    corpus: Corpus, config: Config, embed: Embed, index: Index | None = None, describe: Describe | None = None
) -> Trial:
    """The trial of a configuration on the corpus's questions. ValueError where there are no questions or no chunks.

    `index` may be given where it was built before for the same corpus and configuration; `describe` is asked for the
    sentences of contextual context.
    """
    return ranked(corpus, config, embed, index, describe).trial(config)


def ranked(
    corpus: Corpus, config: Config, embed: Embed, index: Index | None = None, describe: Describe | None = None
) -> Ranked:
    """The chunks of a configuration ranked for the corpus's questions: all of a trial but how much is sent."""
    if not corpus.questions:
        raise ValueError("a trial needs questions, and this corpus has none")
    index = index or build(corpus, config, embed, describe=describe)
    if not len(index):
        raise ValueError("a trial needs text, and the documents of this corpus have none")
    vectors = vectors_of(index, embed)
    scores = _scores(index, [question.text for question in corpus.questions], embed, vectors)
    read_ends = read_by(index, embed)
    missing = 0 if vectors is None else int((~vectors.any(axis=1)).sum())
    return Ranked(index, embed.name, rank(scores), read_ends, missing)


def scores_of(index: Index, questions: Sequence[str], embed: Embed) -> Scores:
    """The score of every chunk for every question, (q, n), by the search of the index's configuration."""
    return _scores(index, questions, embed, vectors_of(index, embed))


def vectors_of(index: Index, embed: Embed) -> Vectors | None:
    """The vector of every chunk, (n, d), zeros where the model gave none; None where the search uses no vectors."""
    if index.config.search == "keyword":
        return None
    return late_vectors(index, embed) if index.config.pooling == "late" else embed(index.texts, "document")


def _scores(index: Index, questions: Sequence[str], embed: Embed, vectors: Vectors | None) -> Scores:
    if vectors is None:
        return keyword_scores(index, questions)
    dense = cosine_scores(embed(questions, "query"), vectors)
    return dense if index.config.search == "dense" else fused_scores(dense, keyword_scores(index, questions))


def read_by(index: Index, embed: Embed) -> Ints:
    """How far into its document each chunk was read by the search, (n,): to its end but where vectors are isolated."""
    if index.config.search == "keyword" or index.config.pooling == "late":
        return index.ends
    return index.read_ends(embed.read(index.texts))


def search(index: Index, question: str, embed: Embed) -> list[Found]:
    """What would be sent for a typed question, in rank order. ValueError where the question is blank."""
    if not question.strip():
        raise ValueError("the question is blank: type a few words")
    if not len(index):
        return []
    scores = scores_of(index, [question], embed)
    order = rank(scores)[0]
    read_ends = read_by(index, embed)
    sent = sending(index, walk(order, index.returned, index.config.repeats))
    found: list[Found] = []
    rows = order.tolist()
    for span in sent.spans:
        row = next(row for row in rows if _gives(index, index.spans[index.returned[row]], span))
        rows.remove(row)
        found.append(Found(row, float(scores[0, row]), span, int(read_ends[row])))
    return found


def asked(index: Index, question: Question, embed: Embed) -> Result:
    """What one index does for one question. ValueError where the index has no chunks."""
    if not len(index):
        raise ValueError("a question needs text to be found in, and the documents of this corpus have none")
    order = rank(scores_of(index, [question.text], embed))[0]
    return _Judge(index, read_by(index, embed)).result(_ready(index.corpus, question), order)


def _gives(index: Index, returned: Passage, sent: Passage) -> bool:
    """Whether a returned span is what was sent, or is part of it where what overlaps is sent as one."""
    if not index.merges:
        return returned == sent
    return returned.document == sent.document and sent.start <= returned.start and returned.end <= sent.end


class _Asked(NamedTuple):
    """A question with its needs, no white space at the ends of passages, and the needs where restatements count too."""

    question: Question
    needs: tuple[Need, ...]
    lenient: tuple[Need, ...]


def _asked(corpus: Corpus) -> list[_Asked]:
    """The questions of a corpus, made ready once."""
    return corpus.keep("asked", lambda: [_ready(corpus, question) for question in corpus.questions])


def _ready(corpus: Corpus, question: Question) -> _Asked:
    needs, also = (
        tuple(tuple(map(corpus.trimmed, need)) for need in group) for group in (question.needs, question.also)
    )
    lenient = tuple(need + more for need, more in zip(needs, also or ((),) * len(needs), strict=True))
    return _Asked(question, needs, lenient)


class _Judge:
    """Measures questions against one index. What does not depend on the ranking is found once for all of them."""

    def __init__(self, index: Index, read_ends: Ints) -> None:
        self.index = index
        self.read_ends = read_ends
        self.length = solid_length(index.corpus)
        self.words = word_length(index.corpus)

    def result(self, asked: _Asked, order: Ints) -> Result:
        """The measures of one question; `order` holds the chunks by descending score."""
        index, question = self.index, asked.question
        spans = walk(order, index.returned, index.config.repeats)
        sent = sending(index, spans, [passage for need in asked.lenient for passage in need])
        ranks = [sent.rank(need) for need in asked.needs]
        rank = question_rank(ranks)
        return Result(
            question, rank, question_rank([sent.rank(need) for need in asked.lenient]),
            self._reason(asked, rank, ranks, sent), cover(asked.needs, sent.spans, self.length), self._ideal(asked),
            sent.spans, sent.taken, sent.words, total(union(sent.spans), self.words), sent.tokens,
            self._phrase_rank(question, spans), question_rank([sent.cost(need) for need in asked.needs]),
        )  # fmt: skip

    def _reason(self, question: _Asked, rank: int | None, ranks: list[int | None], sent: Sending) -> str:
        if rank is None:
            return "split"
        if rank <= sent.taken:
            return "hit"
        dense = self.index.config.search == "dense"
        if dense and not all(any(self._read(passage) for passage in need) for need in question.needs):
            return "truncated"
        missed = [need for need, place in zip(question.needs, ranks, strict=True) if place and place > sent.taken]
        answering = {passage.document for need in missed for passage in need}
        same = any(span.document in answering for span in sent.spans)
        return "outranked_same_document" if same else "outranked_other_document"

    def _read(self, passage: Passage) -> bool:
        """Whether a chunk that returns the passage whole had any of it read by the model."""
        index = self.index
        rows = index.documents == index.numbers[passage.document]
        if not index.merges:
            returns = np.zeros(len(index.spans), bool)
            returns[index.holding(passage)] = True
            rows = returns[index.returned]
        read = np.minimum(self.read_ends[rows], passage.end) > np.maximum(index.starts[rows], passage.start)
        return bool(read.any())

    def _ideal(self, question: _Asked) -> float:
        index = self.index
        near = {row for need in question.needs for passage in need for row in index.sharing(passage).tolist()}
        return ideal_precision(question.needs, [index.spans[row] for row in sorted(near)], self.length)

    def _phrase_rank(self, question: Question, spans: Ints) -> int | None:
        """The place of the first span of the answering section that contains the answering phrase."""
        section = question.section
        if not question.phrase or section is None:
            return None
        index = self.index
        number = self.index.numbers[section.document]
        text = index.corpus.documents[number].text
        if index.merges:
            return self._merged_phrase_rank(question, section, text, spans)
        near = (index.span_documents == number) & (index.span_starts < section.end) & (index.span_ends > section.start)
        for place in np.flatnonzero(near[spans]).tolist():
            span = index.spans[spans[place]]
            if phrase_hit(text[span.start : span.end], question.phrase):
                return place + 1
        return None

    def _merged_phrase_rank(self, question: Question, section: Passage, text: str, spans: Ints) -> int | None:
        """The same where overlapping spans are sent as one: only a span that adds something has a place."""
        union, place = Union(), 0
        for span in spans.tolist():
            part = union.add(self.index.spans[span])
            place += part is not None
            near = part and part.document == section.document and part.start < section.end and part.end > section.start
            if part and near and phrase_hit(text[part.start : part.end], question.phrase):
                return place
        return None
