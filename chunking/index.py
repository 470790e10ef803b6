"""The index: the chunks of a whole corpus under one configuration, before any of them is embedded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunking.context import CONTEXTS, prefixes, with_prefix
from chunking.joined import SCOPES, Joined, joined
from chunking.registry import FLAGS, STRATEGIES, checked, cut_joined, flag_names, flags, heading_last, strategy_named
from chunking.types import Chunk, Chunks, Corpus, Describe, Embed, Ints, Passage, TokenSpans
from chunking.units import Ruler, Unit

POOLINGS = ("isolated", "late")
SEARCHES = ("dense", "keyword", "hybrid")
REPEATS = ("skip", "keep")


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
    chat: str = ""  # the chat model of contextual context

    @classmethod
    def of(cls, strategy: str, settings: dict[str, Any] | None = None, **axes: Any) -> Config:
        """A checked configuration, defaults filled in. ValueError with rule and value where something is wrong."""
        values = checked(strategy_named(strategy), settings or {})
        config = cls(strategy, tuple(sorted(values.items())), **axes)
        for name, allowed in (("scope", SCOPES), ("context", CONTEXTS), ("pooling", POOLINGS), ("search", SEARCHES),
                              ("repeats", REPEATS)):  # fmt: skip
            if getattr(config, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(config, name)!r}")
        if (config.context == "contextual") != bool(config.chat):
            raise ValueError("context contextual and a chat model go together: give both or neither")
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

    `returned` numbers the distinct returned spans, which are listed in `spans`, by document, then start. `lost` holds
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

    @property
    def source(self) -> Joined:
        """The documents of the corpus, laid end to end."""
        return joined(self.corpus)

    def placed(self, documents: Ints, offsets: Ints) -> Ints:
        """Offsets in documents as positions in the joined documents, (n,)."""
        return self.source.bases[documents] + offsets

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each document by its id."""
        return {document.id: number for number, document in enumerate(self.corpus.documents)}

    @property
    def merges(self) -> bool:
        """Whether returned spans that overlap are sent as one."""
        return self.config.strategy in STRATEGIES and STRATEGIES[self.config.strategy].merges

    def holding(self, passage: Passage) -> Ints:
        """The returned spans that contain a passage whole, by number."""
        mine = self._spans_of[self.numbers[passage.document]]
        whole = (self.span_starts[mine] <= passage.start) & (self.span_ends[mine] >= passage.end)
        return mine.start + whole.nonzero()[0]

    def sharing(self, passage: Passage) -> Ints:
        """The returned spans that share a character with a passage, by number."""
        mine = self._spans_of[self.numbers[passage.document]]
        near = (self.span_starts[mine] < passage.end) & (self.span_ends[mine] > passage.start)
        return mine.start + near.nonzero()[0]

    @cached_property
    def _spans_of(self) -> list[slice]:
        """Where the returned spans of each document are listed."""
        first = np.searchsorted(self.span_documents, np.arange(len(self.corpus.documents) + 1)).tolist()
        return [slice(*pair) for pair in pairwise(first)]

    def holds(self, passage: Passage) -> bool:
        """Whether a passage, white space at its ends aside, is whole in something that could be sent; if not, it is split."""
        return bool(self.hold(*self.trimmed([passage]))[0])

    def trimmed(self, passages: Iterable[Passage]) -> tuple[Ints, Ints]:
        """Where passages begin and end in the joined documents, white space at their ends aside, (p,) each."""
        at = [(self.numbers[one.document], one.start, one.end) for one in map(self.corpus.trimmed, passages)]
        documents, starts, ends = np.array(at, np.int64).reshape(-1, 3).T
        return self.placed(documents, starts), self.placed(documents, ends)

    def hold(self, begin: Ints, end: Ints) -> NDArray[np.bool_]:
        """Whether stretches of the joined documents are whole in something that could be sent, (p,)."""
        starts, ends = self.sendable
        # Of the spans that begin no later than a stretch, the one that reaches farthest decides.
        reach = np.append(-1, np.maximum.accumulate(ends))
        return np.asarray(reach[np.searchsorted(starts, begin, "right")] >= end)

    @cached_property
    def sendable(self) -> tuple[Ints, Ints]:
        """Where what could be sent begins and ends in the joined documents: the returned spans, merged where they are."""
        return merged(*self.placed_spans) if self.merges else self.placed_spans

    @cached_property
    def words(self) -> Ints:
        """Words of each matched span, (n,)."""
        return self.source.count_words(*self.matched)

    @cached_property
    def span_words(self) -> Ints:
        """Words of each returned span, (u,)."""
        return self.source.count_words(*self.placed_spans)

    @property
    def token_ruler(self) -> Ruler | None:
        """The ruler for the embedder's tokens; None where it has no tokenizer to offer."""
        return self.source.ruler(Unit("tokens", self.token_spans)) if self.token_spans else None

    @cached_property
    def span_tokens(self) -> Ints | None:
        """Tokens of each returned span in the embedder's tokenizer, (u,); None where it has none to offer."""
        rule = self.token_ruler
        if rule is None:
            return None
        starts, ends = self.placed_spans
        return rule.high(ends) - rule.low(starts)

    @property
    def matched(self) -> tuple[Ints, Ints]:
        """Where each matched span begins and ends in the joined documents, (n,) each."""
        return self.placed(self.documents, self.starts), self.placed(self.documents, self.ends)

    @property
    def placed_spans(self) -> tuple[Ints, Ints]:
        """Where each returned span begins and ends in the joined documents, (u,) each."""
        return self.placed(self.span_documents, self.span_starts), self.placed(self.span_documents, self.span_ends)

    @property
    def repeated_words(self) -> float:
        """Index growth: words in all matched spans over the words they cover, less 1. 0.25 means a quarter more.

        A word counts where it begins, so one that a cut parts is not counted twice.
        """
        begun = self.source.words_begun
        starts, ends = self.matched
        distinct = _covered(begun, starts, ends)
        return int((begun[ends] - begun[starts]).sum()) / distinct - 1 if distinct else 0.0

    @property
    def flag_counts(self) -> dict[str, int]:
        """How many chunks have each flag."""
        return {name: int((self.flags >> place & 1).sum()) for place, name in enumerate(FLAGS)}

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
        solid = self.source.solid
        starts, ends = self.matched
        matched = _covered(solid, starts, ends)
        return 1 - _covered(solid, starts, self.placed(self.documents, read_ends)) / matched if matched else 0.0


def build(
    corpus: Corpus, config: Config, embed: Embed | None = None, token_spans: TokenSpans | None = None,
    describe: Describe | None = None,
) -> Index:  # fmt: skip
    """The index of a corpus under a configuration. `token_spans` defaults to the embedder's own tokenizer.

    `describe` is asked for the sentences of `contextual` context.
    """
    token_spans = token_spans or (embed.token_spans if embed else None)
    source = joined(corpus)
    chunks = cut_joined(source, config.strategy, config.values, config.scope, token_spans, embed)
    bits = flags(source, config.strategy, config.values, chunks, token_spans)
    return _indexed(corpus, config, chunks, bits, token_spans, describe)


def assemble(corpus: Corpus, config: Config, cuts: Sequence[Chunks], token_spans: TokenSpans | None = None) -> Index:
    """The index of chunks that were made elsewhere: those of each document, in order of the corpus's documents."""
    bases = joined(corpus).bases.tolist()
    cuts = cuts or [Chunks.empty()]
    columns = [
        np.concatenate([column + base for column, base in zip(same, bases, strict=False)])
        for same in zip(*((cut.starts, cut.ends, cut.returned_starts, cut.returned_ends) for cut in cuts), strict=True)
    ]
    starts, ends, returned_starts, returned_ends = columns
    heads = tuple(head for cut in cuts for head in cut.heads or ("",) * len(cut))
    chunks = Chunks(starts, ends, returned_starts, returned_ends, heads)
    bits = 2 * heading_last(joined(corpus), starts, ends)
    return _indexed(corpus, config, chunks, bits, token_spans, None)


def _indexed(
    corpus: Corpus, config: Config, chunks: Chunks, bits: Ints, token_spans: TokenSpans | None, describe: Describe | None
) -> Index:  # fmt: skip
    """The index of chunks in joined positions."""
    source = joined(corpus)
    documents = source.number(chunks.starts)
    bases = source.bases[documents]
    # A span as one number: far faster to sort than pairs, and in the same order.
    width = int(source.bases[-1]) + 1
    distinct, returned = np.unique(chunks.returned_starts * width + chunks.returned_ends, return_inverse=True)
    span_starts, span_ends = np.divmod(distinct, width)
    span_documents = source.number(span_starts)
    span_starts, span_ends = span_starts - source.bases[span_documents], span_ends - source.bases[span_documents]
    names = [document.id for document in corpus.documents]
    rows = zip(span_documents.tolist(), span_starts.tolist(), span_ends.tolist(), strict=True)
    places = source.number(np.array([place for place, _ in chunks.lost], np.int64)).tolist()
    return Index(
        corpus, config, documents, chunks.starts - bases, chunks.ends - bases,
        _prefixes(corpus, chunks, documents, config.context, describe), bits, returned.ravel(),
        [Passage(names[number], start, end) for number, start, end in rows],
        span_documents, span_starts, span_ends, token_spans,
        [(names[number], text) for number, (_, text) in zip(places, chunks.lost, strict=True)],
    )  # fmt: skip


def _prefixes(corpus: Corpus, chunks: Chunks, documents: Ints, context: str, describe: Describe | None) -> list[str]:
    """The prefix of every chunk; the documents are asked for theirs one by one."""
    heads = chunks.heads or ("",) * len(chunks)
    if context == "none":
        return list(heads)
    bases = joined(corpus).bases
    first = np.searchsorted(documents, np.arange(len(corpus.documents) + 1)).tolist()
    result: list[str] = []
    for number, document in enumerate(corpus.documents):
        rows = slice(first[number], first[number + 1])
        starts, ends = chunks.starts[rows] - bases[number], chunks.ends[rows] - bases[number]
        result += prefixes(document, Chunks(starts, ends, starts, ends, heads[rows]), context, describe)
    return result


def merged(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Spans in order of start, merged where they overlap."""
    reach = np.maximum.accumulate(ends)
    first = np.flatnonzero(np.append(True, starts[1:] >= reach[:-1]))
    return starts[first], reach[np.append(first[1:], len(reach)) - 1]


def _covered(lengths: NDArray[np.int64], starts: Ints, ends: Ints) -> int:
    """What the union of spans holds, spans in order of start; `lengths` is the count before each position."""
    if not len(starts):
        return 0
    reach = np.concatenate(([0], np.maximum.accumulate(ends)[:-1]))
    begins = np.minimum(np.maximum(starts, reach), ends)
    return int((lengths[ends] - lengths[begins]).sum())
