"""The embedder that the rest of the program uses: a model behind a memory and a store of finished vectors."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal, Protocol

import numpy as np

from cache.errors import BadVectors
from cache.records import Record, keyed_by, pack, quote, readable, unit_vector, unpack
from cache.store import Store
from chunking.types import TokenSums

Kind = Literal["document", "query"]
Progress = Callable[[int, int], None]  # (texts embedded so far, texts to embed)

#: The most records kept in memory: 100,000 vectors of 384 numbers are 150 MB. The store keeps all.
MEMORY = 100_000

#: Seconds between two calls of the progress function while another thread embeds what this one waits for.
_PATIENCE = 0.5


class Backend(Protocol):
    """A model: what it is called, what it reads, and the vectors it gives."""

    name: str  # "minilm" or "ollama:MODEL"
    identity: str  # the name with what tells two versions of the model apart
    fingerprint: tuple[str, ...]  # all that a vector depends on, but the text
    dimension: int
    limit: int | None  # tokens that the model reads
    prefixes: dict[str, str]  # by kind; put before the text
    batch_texts: int  # the most texts, and characters, that are embedded between two calls of the progress function
    batch_characters: int
    warnings: list[str]

    @property
    def token_spans(self) -> Callable[[str], np.ndarray] | None:
        """The function from a text to its tokens' spans, where there is one."""
        ...

    def encode(self, texts: Sequence[str]) -> list[Record]:
        """One record for each text, in order."""
        ...


class CachedEmbedder:
    """`embedder(texts, "document") -> (n, d)` float32 rows of unit length, each text embedded once, ever.

    Threads may share it: what one embeds, another that needs it waits for instead of embedding it again.
    """

    def __init__(self, backend: Backend, store: Store | None) -> None:
        self.name = backend.name
        self.identity = backend.identity
        self.dimension = backend.dimension
        self.limit = backend.limit
        self.prefixes = dict(backend.prefixes)
        self.token_spans = backend.token_spans
        self.token_sums: Callable[[Sequence[str]], list[TokenSums]] | None = None
        self._backend = backend
        self._store = store
        self._key = keyed_by(backend.fingerprint)
        self._memory: dict[str, Record] = {}  # key -> record, oldest first
        self._claimed: set[str] = set()  # keys that some thread is embedding now
        self._changed = threading.Condition()  # guards the two above

    def __call__(self, texts: Sequence[str], kind: Kind) -> np.ndarray:
        """(n, d) float32, one unit row for each text."""
        return self.embed(texts, kind)

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> np.ndarray:
        """(n, d) float32, one unit row for each text.

        After each batch, when it is safe in the store, `progress(done, total)` is called, and may raise to cancel.
        """
        records = self._records(texts, kind, progress)
        if not records:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([record.vector for record in records])

    def read(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: how many code points of each document text the model reads, from its start."""
        prefix = len(self.prefixes["document"])
        return np.array([max(0, record.read - prefix) for record in self._records(texts, "document")], np.int64)

    def tokens(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: the model's tokens in each document text, prefix and special ones included; -1 where unknown."""
        records = self._records(texts, "document")
        return np.array([-1 if record.tokens is None else record.tokens for record in records], np.int64)

    def missing(self, texts: Sequence[str], kind: Kind) -> int:
        """How many different texts would have to be embedded now."""
        keys = {self._key(text) for text in self._inputs(texts, kind)}
        return len(keys - self._known(keys).keys())

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user about the model and the store."""
        return [*self._backend.warnings, *(self._store.warnings if self._store else [])]

    def _inputs(self, texts: Sequence[str], kind: Kind) -> list[str]:
        """The texts as the model gets them; ValueError for what cannot be embedded."""
        if kind not in self.prefixes:
            raise ValueError(f'kind must be "document" or "query", got {kind!r}')
        if isinstance(texts, str):
            raise ValueError(f"texts must be a list of texts, got the one text {quote(texts)}")
        for index, text in enumerate(texts):
            if not text.strip():
                raise ValueError(f"a text must have a character that is not white space, got {text!r} at {index}")
        prefix = self.prefixes[kind]
        return [readable(prefix + text) for text in texts]

    def _records(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> list[Record]:
        """One record for each text, from memory, the store, or the model."""
        inputs = self._inputs(texts, kind)
        keys = [self._key(text) for text in inputs]
        found = self._known(keys)
        missing = {key: text for key, text in zip(keys, inputs, strict=True) if key not in found}
        found |= self._embedded(missing, progress)
        return [found[key] for key in keys]

    def _known(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records that memory or the store holds, by key."""
        distinct = dict.fromkeys(keys)
        with self._changed:
            found = {key: self._memory[key] for key in distinct if key in self._memory}
        if self._store is not None and len(found) < len(distinct):
            stored = self._store.get_many(key for key in distinct if key not in found)
            whole = {key: record for key, data in stored.items() if (record := unpack(data, self.dimension))}
            self._remember(whole)
            found |= whole
        return found

    def _embedded(self, missing: Mapping[str, str], progress: Progress | None) -> dict[str, Record]:
        """The records of texts that are not known, by key; batch by batch, shared with other threads."""
        total = len(missing)
        waiting = dict(missing)
        done: dict[str, Record] = {}
        while waiting:
            others, batch = self._claim(waiting)
            done |= others
            if batch:
                done |= self._run(batch)
            for key in (*others, *batch):
                del waiting[key]
            if progress is not None:
                progress(len(done), total)
        return done

    def _claim(self, waiting: Mapping[str, str]) -> tuple[dict[str, Record], dict[str, str]]:
        """What other threads have embedded meanwhile, and the next batch, now this thread's to embed.

        Where all that is left is in other threads' hands, it waits a moment for them.
        """
        with self._changed:
            ready, batch = self._next_batch(waiting)
            if not ready and not batch:
                self._changed.wait(_PATIENCE)
                ready, batch = self._next_batch(waiting)
            self._claimed.update(batch)
        return ready, batch

    def _next_batch(self, waiting: Mapping[str, str]) -> tuple[dict[str, Record], dict[str, str]]:
        ready = {key: self._memory[key] for key in waiting if key in self._memory}
        free = ((key, text) for key, text in waiting.items() if key not in ready and key not in self._claimed)
        return ready, dict(_fitting(free, self._backend.batch_texts, self._backend.batch_characters))

    def _run(self, batch: Mapping[str, str]) -> dict[str, Record]:
        """The records of one claimed batch, by key, kept in memory and in the store."""
        try:
            records = dict(zip(batch, self._checked(list(batch.values())), strict=True))
            self._remember(records)
            if self._store is not None:
                self._store.put_many({key: pack(record) for key, record in records.items()}, tag=self.identity)
            return records
        finally:  # also where the model failed: another thread may then try
            with self._changed:
                self._claimed.difference_update(batch)
                self._changed.notify_all()

    def _checked(self, texts: Sequence[str]) -> list[Record]:
        """The model's records, each vector of the right length, finite and of unit length."""
        records = self._backend.encode(texts)
        if len(records) != len(texts):
            raise BadVectors(f"{self.name} must answer one vector for each of {len(texts)} texts, got {len(records)}")
        return [
            replace(record, vector=unit_vector(record.vector, self.dimension, self.name, text))
            for text, record in zip(texts, records, strict=True)
        ]

    def _remember(self, records: Mapping[str, Record]) -> None:
        with self._changed:
            self._memory.update(records)
            for key in list(islice(self._memory, max(0, len(self._memory) - MEMORY))):
                del self._memory[key]


def _fitting(items: Iterable[tuple[str, str]], texts: int, characters: int) -> Iterator[tuple[str, str]]:
    """The leading (key, text) pairs that make up a batch: at least one, then while both limits hold."""
    total = 0
    for count, (key, text) in enumerate(items):
        total += len(text)
        if count and (count == texts or total > characters):
            return
        yield key, text
