"""The index: the chunks of a whole corpus under one configuration, before any of them is embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunking.context import CONTEXTS, prefixes, with_prefix
from chunking.parts import SCOPES
from chunking.registry import checked, cut, flag_names, flags, strategy_named
from chunking.segments import count_words, solid, words_begun
from chunking.types import Chunk, Chunks, Corpus, Describe, Document, Embed, Ints, Passage, TokenSpans
from chunking.units import Unit, ruler

POOLINGS = ("isolated", "late")
SEARCHES = ("dense", "keyword", "hybrid")
REPEATS = ("skip", "keep")

Count = Callable[[Document, Ints, Ints], Ints]  # (document, starts, ends) -> a number for each span


@dataclass(frozen=True)
class Config:
    """One configuration of a trial: how the corpus is cut, embedded and searched, and how much is sent.

    Made by `Config.of`, which refuses what is wrong. `k` spans are sent, or, with a `budget`, that many words.
    """

    strategy: str
    settings: tuple[tuple[str, Any], ...]
    scope: str = "document"
    context: str = "none"
    pooling: str = "isolated"
    search: str = "dense"
    k: int = 5
    budget: int | None = None
    repeats: str = "skip"

    @classmethod
    def of(cls, strategy: str, settings: dict[str, Any] | None = None, **axes: Any) -> Config:
        """A checked configuration, defaults filled in. ValueError with rule and value where something is wrong."""
        values = checked(strategy_named(strategy), settings or {})
        config = cls(strategy, tuple(sorted(values.items())), **axes)
        for name, allowed in (("scope", SCOPES), ("context", CONTEXTS), ("pooling", POOLINGS), ("search", SEARCHES),
                              ("repeats", REPEATS)):  # fmt: skip
            if getattr(config, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(config, name)!r}")
        if type(config.k) is not int or not 1 <= config.k <= 20:
            raise ValueError(f"k must be a whole number from 1 to 20, got {config.k!r}")
        if config.budget is not None and (type(config.budget) is not int or config.budget < 1):
            raise ValueError(f"budget must be a whole number of words, at least 1, got {config.budget!r}")
        return config

    @property
    def values(self) -> dict[str, Any]:
        """The settings of the strategy as a dictionary."""
        return dict(self.settings)


@dataclass(frozen=True, eq=False)
class Index:
    """All chunks of a corpus, column by column in order of document, then start; (n,) each.

    `returned` numbers the distinct returned spans, which are listed in `spans` with their lengths in words. `lost` holds
    what a library returned that is not in its document: the document's id and the text.
    """

    corpus: Corpus
    config: Config
    documents: Ints
    starts: Ints
    ends: Ints
    prefixes: list[str]
    flags: Ints
    returned: Ints
    spans: list[Passage]
    span_words: Ints
    span_documents: Ints
    span_starts: Ints
    span_ends: Ints
    token_spans: TokenSpans | None = field(default=None, repr=False)
    lost: list[tuple[str, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def texts(self) -> list[str]:
        """The text of each chunk as it is embedded: the context prefix and the matched text."""
        bodies = [document.text for document in self.corpus.documents]
        rows = zip(self.documents.tolist(), self.starts.tolist(), self.ends.tolist(), self.prefixes, strict=True)
        return [with_prefix(prefix, bodies[document][start:end]) for document, start, end, prefix in rows]

    @cached_property
    def words(self) -> Ints:
        """Words of each matched span, (n,)."""
        return _by_document(self.corpus, self.documents, self.starts, self.ends, count_words)

    @cached_property
    def span_tokens(self) -> Ints | None:
        """Tokens of each returned span in the embedder's tokenizer, (u,); None where it has none to offer."""
        if self.token_spans is None:
            return None
        unit = Unit("tokens", self.token_spans)

        def count(document: Document, starts: Ints, ends: Ints) -> Ints:
            rule = ruler(document, unit)
            return rule.high(ends) - rule.low(starts)

        return _by_document(self.corpus, self.span_documents, self.span_starts, self.span_ends, count)

    @property
    def repeated_words(self) -> float:
        """Index growth: words in all matched spans over the words they cover, less 1. 0.25 means a quarter more.

        A word counts where it begins, so one that a cut parts is not counted twice.
        """
        total = distinct = 0
        for number, document in enumerate(self.corpus.documents):
            rows = self.documents == number
            begun = words_begun(document)
            total += int((begun[self.ends[rows]] - begun[self.starts[rows]]).sum())
            distinct += _covered(begun, self.starts[rows], self.ends[rows])
        return total / distinct - 1 if distinct else 0.0

    def chunks(self, document: int) -> list[Chunk]:
        """The chunks of the document of that number."""
        name = self.corpus.documents[document].id
        rows = np.flatnonzero(self.documents == document).tolist()
        return [
            Chunk(name, int(self.starts[row]), int(self.ends[row]), self.spans[self.returned[row]].start,
                  self.spans[self.returned[row]].end, self.prefixes[row], flag_names(int(self.flags[row])))
            for row in rows
        ]  # fmt: skip

    def read_ends(self, read: Ints) -> Ints:
        """How far into the document the model read each chunk, (n,), from the code points of its text that it read."""
        before = np.array([len(prefix) + 1 if prefix else 0 for prefix in self.prefixes], np.int64)
        return np.clip(self.starts + read - before, self.starts, self.ends)

    def unread_share(self, read_ends: Ints) -> float:
        """The share of the matched text that no vector has read: 0 where every chunk was read to its end."""
        unread = matched = 0
        for number, document in enumerate(self.corpus.documents):
            rows = self.documents == number
            seen = _covered(solid(document), self.starts[rows], read_ends[rows])
            everything = _covered(solid(document), self.starts[rows], self.ends[rows])
            unread += everything - seen
            matched += everything
        return unread / matched if matched else 0.0


def build(
    corpus: Corpus, config: Config, embed: Embed | None = None, token_spans: TokenSpans | None = None,
    describe: Describe | None = None,
) -> Index:  # fmt: skip
    """The index of a corpus under a configuration. `token_spans` defaults to the embedder's own tokenizer.

    `describe` is asked for the sentences of `contextual` context.
    """
    token_spans = token_spans or (embed.token_spans if embed else None)
    cuts = [
        cut(document, config.strategy, config.values, config.scope, token_spans, embed) for document in corpus.documents
    ]
    bits = [
        flags(document, config.strategy, config.values, chunks, token_spans)
        for document, chunks in zip(corpus.documents, cuts, strict=True)
    ]
    return assemble(corpus, config, cuts, bits, token_spans, describe)


def assemble(
    corpus: Corpus, config: Config, cuts: Sequence[Chunks], bits: Sequence[Ints],
    token_spans: TokenSpans | None = None, describe: Describe | None = None,
) -> Index:  # fmt: skip
    """The index of given chunks: for each document those it was cut into, and their flags."""
    columns: list[tuple[Ints, ...]] = []
    heads: list[str] = []
    for number, (document, chunks, flagged) in enumerate(zip(corpus.documents, cuts, bits, strict=True)):
        heads += prefixes(document, chunks, config.context, describe)
        columns.append((np.full(len(chunks), number), chunks.starts, chunks.ends, chunks.returned_starts,
                        chunks.returned_ends, flagged))  # fmt: skip
    documents, starts, ends, returned_starts, returned_ends, flagged = (
        np.concatenate(column) for column in zip(*(columns or [(np.zeros(0, np.int64),) * 6]), strict=True)
    )
    rows = np.column_stack((documents, returned_starts, returned_ends))
    distinct, returned = np.unique(rows, axis=0, return_inverse=True)
    span_documents, span_starts, span_ends = distinct.T
    names = [document.id for document in corpus.documents]
    spans = [Passage(names[number], start, end) for number, start, end in distinct.tolist()]
    span_words = _by_document(corpus, span_documents, span_starts, span_ends, count_words)
    lost = [(name, text) for name, chunks in zip(names, cuts, strict=True) for text in chunks.lost]
    return Index(
        corpus, config, documents, starts, ends, heads, flagged, returned.ravel(), spans, span_words,
        span_documents, span_starts, span_ends, token_spans, lost,
    )  # fmt: skip


def _by_document(corpus: Corpus, documents: Ints, starts: Ints, ends: Ints, count: Count) -> Ints:
    """`count(document, starts, ends)` for spans of several documents, (n,)."""
    result = np.zeros(len(starts), np.int64)
    for number, document in enumerate(corpus.documents):
        rows = np.flatnonzero(documents == number)
        if len(rows):
            result[rows] = count(document, starts[rows], ends[rows])
    return result


def _covered(lengths: NDArray[np.int64], starts: Ints, ends: Ints) -> int:
    """What the union of spans holds, spans in order of start; `lengths` is the count before each position."""
    if not len(starts):
        return 0
    reach = np.concatenate(([0], np.maximum.accumulate(ends)[:-1]))
    begins = np.minimum(np.maximum(starts, reach), ends)
    return int((lengths[ends] - lengths[begins]).sum())
