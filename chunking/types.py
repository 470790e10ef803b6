"""The nouns: spans, documents, chunks, questions, corpora. Offsets are code points, spans are half-open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]  # (n, d), rows of unit length
Kind = Literal["document", "query"]
TokenSpans = Callable[[str], Ints]  # text -> (n, 2) spans of the tokens of some tokenizer


class Embed(Protocol):
    """What the core needs of an embedder: unit rows for texts, and how far into each document text the model read.

    `token_spans` is the model's own tokenizer, `token_sums` the vectors of a whole text's tokens for late pooling; None
    where it has none to offer.
    """

    name: str  # as people choose it: minilm, ollama:nomic-embed-text
    identity: str  # differs wherever vectors may: model, digest, prefixes
    token_spans: TokenSpans | None
    token_sums: Callable[[Sequence[str]], list[TokenSums]] | None

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Vectors (n, d), float32, rows of unit length."""
        ...

    def read(self, texts: Sequence[str]) -> Ints:
        """Code points of each document text that the model read, (n,)."""
        ...


class Spans(NamedTuple):
    """Many spans, column by column: `starts` and `ends`, (n,) each, in order of start."""

    starts: Ints
    ends: Ints

    @classmethod
    def empty(cls) -> Spans:
        """No span."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))


class TokenSums(NamedTuple):
    """The token vectors of a text, read as a whole and summed up: tokens i to j - 1 together are `sums[j] - sums[i]`.

    `starts` and `ends` are the tokens' spans, (t,) each; `sums` is (t + 1, d) and begins with zeros.
    """

    starts: Ints
    ends: Ints
    sums: NDArray[np.float64]


class Describe(Protocol):
    """What `contextual` context needs of a chat model: a sentence or two that place each chunk in its document."""

    identity: str  # differs wherever answers may: model, digest, prompt

    def __call__(self, document: Document, texts: Sequence[str]) -> list[str]:
        """One description for each chunk text of the document, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level from 1, its title as written but for the heading's own marks, the span of its line or lines, the titles above it."""

    level: int
    title: str
    start: int
    end: int
    path: tuple[str, ...]  # titles from the outermost heading down to this one


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is embedded and ranked: `[start, end)` is matched, `[returned_start, returned_end)` is sent."""

    document: str
    start: int
    end: int
    returned_start: int
    returned_end: int
    prefix: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of one document, column by column, in order of start; (n,) each.

    `heads` is context that a chunk needs of its own (the header row of the table it continues), one text a chunk, ''
    where it needs none; empty where no chunk does. `lost` is what a library returned that is not in the text it was
    given, each with the place where that text begins.
    """

    starts: Ints
    ends: Ints
    returned_starts: Ints
    returned_ends: Ints
    heads: tuple[str, ...] = ()
    lost: tuple[tuple[int, str], ...] = ()

    @classmethod
    def plain(cls, starts: Ints, ends: Ints) -> Chunks:
        """Chunks that return what they match."""
        return cls(starts, ends, starts, ends)

    @classmethod
    def empty(cls) -> Chunks:
        """No chunk: what a document of white space alone is cut into."""
        return cls.plain(*Spans.empty())

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        columns = (self.starts, self.ends, self.returned_starts, self.returned_ends)
        return iter(zip(*(column.tolist() for column in columns), strict=True))


@dataclass(frozen=True, eq=False)
class Keeper:
    """What keeps with it what was found in it once."""

    kept: dict[Any, Any] = field(default_factory=dict, repr=False, init=False)

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value kept under `key`, made at the first request."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


@dataclass(frozen=True, eq=False)
class Document(Keeper):
    """One source text. What is found in it once (words, sentences, sections) is kept with it: `chunking.segments`."""

    id: str
    text: str
    title: str = ""
    date: str = ""
    markdown: bool = True


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document that answers a question."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its needs: each need is a tuple of interchangeable passages, one of which must be found whole.

    `also` holds, need by need, restatements that count only in the lenient hit rate. `phrase` and `section` belong to
    the published rule of the PEP study: a span of that section which contains that phrase.
    """

    id: str
    text: str
    needs: tuple[tuple[Passage, ...], ...]
    also: tuple[tuple[Passage, ...], ...] = ()
    phrase: str = ""
    section: Passage | None = None
    fields: tuple[tuple[str, Any], ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every passage of the question's needs, in order."""
        return tuple(passage for need in self.needs for passage in need)

    @property
    def document(self) -> str:
        """The document of the question's first passage: its cluster in the statistics."""
        return self.needs[0][0].document


@dataclass(frozen=True, eq=False)
class Corpus(Keeper):
    """Documents that are searched together, and the questions asked of them."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Document]:
        """The documents by their id."""
        return {document.id: document for document in self.documents}

    def trimmed(self, passage: Passage) -> Passage:
        """A passage without white space at its ends."""
        text = self.by_id[passage.document].text[passage.start : passage.end]
        start = passage.start + len(text) - len(text.lstrip())
        return Passage(passage.document, start, start + len(text.strip()))
