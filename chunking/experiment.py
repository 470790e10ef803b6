"""The straight line: a corpus and a configuration are cut, embedded, ranked and measured, and a `Trial` comes out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chunking.index import Config, Index, build
from chunking.intervals import Interval, interval
from chunking.measures import (
    Cover,
    Need,
    cover,
    distinct_words,
    ideal_precision,
    phrase_hit,
    question_rank,
    solid_length,
)  # fmt: skip
from chunking.ranking import cosine_scores, rank, taken, walk
from chunking.types import Corpus, Embed, Ints, Passage, Question

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
    words_sent: int
    distinct_words: int
    tokens_sent: int | None
    phrase_rank: int | None

    @property
    def hit(self) -> bool:
        """Whether every need has a passage whole in something that was sent."""
        return self.reason == "hit"

    @property
    def lenient_hit(self) -> bool:
        """The same where a restatement counts too."""
        return self.lenient_rank is not None and self.lenient_rank <= len(self.sent)


@dataclass(frozen=True, eq=False)
class Trial:
    """One configuration measured on one question set: per-question results first, means after."""

    config: Config
    embedder: str
    index: Index
    results: tuple[Result, ...]
    read_ends: Ints

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
    def truncated_chunks(self) -> int:
        """Chunks that the model did not read to their end."""
        return int((self.read_ends < self.index.ends).sum())

    @property
    def misses(self) -> dict[str, int]:
        """Questions by the reason of their miss; with the hits they are all."""
        count = Counter(result.reason for result in self.results)
        return {reason: count[reason] for reason in REASONS if reason != "hit"}

    @property
    def reciprocal_rank(self) -> float:
        """The mean of 1 / rank, 0 where there is none."""
        return self.mean(1 / result.rank if result.rank else 0.0 for result in self.results)

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


def run(corpus: Corpus, config: Config, embed: Embed, index: Index | None = None) -> Trial:
    """The trial of a configuration on the corpus's questions. ValueError where there are no questions or no chunks.

    `index` may be given where it was built before for the same corpus and configuration.
    """
    if not corpus.questions:
        raise ValueError("a trial needs questions, and this corpus has none")
    index = index or build(corpus, config, embed)
    if not len(index):
        raise ValueError("a trial needs text, and the documents of this corpus have none")
    vectors = embed(index.texts, "document")
    read_ends = index.read_ends(embed.read(index.texts))
    questions = embed([question.text for question in corpus.questions], "query")
    order = rank(cosine_scores(questions, vectors))
    judge = _Judge(index, read_ends)
    results = tuple(judge.result(question, row) for question, row in zip(corpus.questions, order, strict=True))
    return Trial(config, embed.name, index, results, read_ends)


def search(index: Index, question: str, embed: Embed) -> list[Found]:
    """What would be sent for a typed question, in rank order. ValueError where the question is blank."""
    if not question.strip():
        raise ValueError("the question is blank: type a few words")
    if not len(index):
        return []
    scores = cosine_scores(embed([question], "query"), embed(index.texts, "document"))
    order = rank(scores)[0]
    read_ends = index.read_ends(embed.read(index.texts))
    spans = walk(order, index.returned, index.config.repeats)
    sent = spans[: taken(index.span_words[spans], index.config.k, index.config.budget)].tolist()
    best: dict[int, list[int]] = defaultdict(list)  # the rows that return a span, best last
    for row in order[::-1].tolist():
        best[int(index.returned[row])].append(row)
    rows = [best[span].pop() for span in sent]
    return [Found(row, float(scores[0, row]), index.spans[index.returned[row]], int(read_ends[row])) for row in rows]


class _Judge:
    """Measures questions against one index. What does not depend on the ranking is found once for all of them."""

    def __init__(self, index: Index, read_ends: Ints) -> None:
        self.index = index
        self.read_ends = read_ends
        self.number = {document.id: number for number, document in enumerate(index.corpus.documents)}
        self.length = solid_length(index.corpus)

    def result(self, question: Question, order: Ints) -> Result:
        """The measures of one question; `order` holds the chunks by descending score."""
        index = self.index
        asked = self._trimmed(question)
        spans = walk(order, index.returned, index.config.repeats)
        sent = spans[: taken(index.span_words[spans], index.config.k, index.config.budget)]
        places = np.empty(len(index.spans), np.int64)
        places[spans[::-1]] = np.arange(len(spans), 0, -1)
        ranks = [self._rank(need, places) for need in asked.needs]
        rank = question_rank(ranks)
        listed = tuple(index.spans[span] for span in sent.tolist())
        also = asked.also or ((),) * len(asked.needs)
        lenient = [self._rank(need + more, places) for need, more in zip(asked.needs, also, strict=True)]
        return Result(
            question, rank, question_rank(lenient), self._reason(asked, rank, ranks, listed),
            cover(asked.needs, listed, self.length), self._ideal(asked), listed, int(index.span_words[sent].sum()),
            distinct_words(index.corpus, listed),
            int(index.span_tokens[sent].sum()) if index.span_tokens is not None else None,
            self._phrase_rank(question, spans),
        )  # fmt: skip

    def _trimmed(self, question: Question) -> Question:
        """The question with passages that have no white space at their ends."""
        texts = self.index.corpus.by_id

        def trim(passage: Passage) -> Passage:
            text = texts[passage.document].text[passage.start : passage.end]
            start = passage.start + len(text) - len(text.lstrip())
            return Passage(passage.document, start, start + len(text.strip()))

        needs, also = (tuple(tuple(map(trim, need)) for need in group) for group in (question.needs, question.also))
        return replace(question, needs=needs, also=also)

    def _holding(self, passage: Passage) -> Ints:
        """The returned spans that contain a passage whole."""
        index = self.index
        return np.flatnonzero(
            (index.span_documents == self.number[passage.document])
            & (index.span_starts <= passage.start) & (index.span_ends >= passage.end)
        )  # fmt: skip

    def _rank(self, need: Need, places: Ints) -> int | None:
        """The rank of a need: the first place of a span that holds one of its passages whole."""
        held = [places[span] for passage in need for span in self._holding(passage)]
        return int(min(held)) if held else None

    def _reason(self, question: Question, rank: int | None, ranks: list[int | None], sent: tuple[Passage, ...]) -> str:
        if rank is None:
            return "split"
        if rank <= len(sent):
            return "hit"
        if not all(any(self._read(passage) for passage in need) for need in question.needs):
            return "truncated"
        missed = [need for need, place in zip(question.needs, ranks, strict=True) if place and place > len(sent)]
        answering = {passage.document for need in missed for passage in need}
        same = any(span.document in answering for span in sent)
        return "outranked_same_document" if same else "outranked_other_document"

    def _read(self, passage: Passage) -> bool:
        """Whether a chunk that returns the passage whole had any of it read by the model."""
        index = self.index
        rows = np.isin(index.returned, self._holding(passage))
        read = np.minimum(self.read_ends[rows], passage.end) > np.maximum(index.starts[rows], passage.start)
        return bool(read.any())

    def _ideal(self, question: Question) -> float:
        names = {passage.document for need in question.needs for passage in need}
        rows = np.flatnonzero(np.isin(self.index.span_documents, [self.number[name] for name in names]))
        return ideal_precision(question.needs, [self.index.spans[row] for row in rows.tolist()], self.length)

    def _phrase_rank(self, question: Question, spans: Ints) -> int | None:
        """The place of the first span of the answering section that contains the answering phrase."""
        section = question.section
        if not question.phrase or section is None:
            return None
        index = self.index
        number = self.number[section.document]
        text = index.corpus.documents[number].text
        near = (index.span_documents == number) & (index.span_starts < section.end) & (index.span_ends > section.start)
        for place in np.flatnonzero(near[spans]).tolist():
            span = index.spans[spans[place]]
            if phrase_hit(text[span.start : span.end], question.phrase):
                return place + 1
        return None
