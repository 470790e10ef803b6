"""The embedder that the rest of the program uses: a model behind a memory and a store of finished vectors.

`CachedEmbedder` gives one vector a text, `TokenReader` the vectors of a text's tokens; `_Once` is what both share.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import ceil
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from cache.errors import BadVectors
from cache.records import (
    NO_NUMBER,
    Record,
    Window,
    keyed_by,
    no_vector,
    pack,
    pack_rows,
    quote,
    readable,
    token_rows,
    unit_vector,
    unpack,
    unpack_rows,
)
from cache.store import Store
from chunking.types import TokenSums

Kind = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in different texts, or in windows of them."""

    done: int  # of those that have to be embedded
    total: int  # that have to be embedded
    cached: int  # that were known before
    truncated: int  # of all so far, those that the model reads in part
    failed: int  # of all so far, those that it has no vector for


Tell = Callable[[Progress], None]

#: The most records kept in memory: 100,000 vectors of 384 numbers are 150 MB. The store keeps all.
MEMORY = 100_000

#: The share of texts of which the model knows too little that is passed over in silence.
STRANGE_TEXTS = 0.05

#: The most windows kept in memory, 25 MB: enough to hand them from one thread to another that waits for them.
WINDOWS = 128

#: The most bytes of token sums kept in memory, the least recently used dropped first: 170,000 tokens of 384 numbers.
SUMS = 512 * 2**20

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


@runtime_checkable
class TokenBackend(Backend, Protocol):
    """A model that also gives the vectors of its tokens, for late pooling."""

    token_fingerprint: tuple[str, ...]  # all that a token's vector depends on, but its window
    batch_windows: int  # the most windows that are read between two calls of the progress function

    def windows(self, text: str) -> tuple[np.ndarray, list[Window]]:
        """The text's tokens, (t, 2) spans, and the windows whose kept vectors, one after another, are theirs."""
        ...

    def token_vectors(self, windows: Sequence[Window]) -> list[np.ndarray]:
        """The kept vectors of each window, (last - first, dimension) float32."""
        ...


Item = TypeVar("Item")
Value = TypeVar("Value")


class _Once(ABC, Generic[Item, Value]):
    """What a model makes of items, each item's value made once, ever: it is kept in memory and in the store.

    Threads may share it: what one makes, another that needs it waits for instead of making it again.
    """

    def __init__(self, store: Store | None, identity: str, memory: int) -> None:
        self.identity = identity
        self._store = store
        self._most = memory  # values kept in memory
        self._memory: dict[str, Value] = {}  # key -> value, oldest first
        self._claimed: set[str] = set()  # keys whose values some thread is making now
        self._changed = threading.Condition()  # guards the two above

    @abstractmethod
    def _make(self, items: Sequence[Item]) -> list[Value]:
        """The model's value for each item; BadVectors where it cannot be used."""

    @abstractmethod
    def _batch(self, items: Iterable[tuple[str, Item]]) -> Iterable[tuple[str, Item]]:
        """The leading (key, item) pairs, at least one, that the model should get at once."""

    @abstractmethod
    def _pack(self, value: Value) -> bytes:
        """The value as it is stored."""

    @abstractmethod
    def _unpack(self, item: Item, data: bytes) -> Value | None:
        """The item's value in these bytes, or None where they hold none."""

    @abstractmethod
    def _flaws(self, value: Value) -> tuple[bool, bool]:
        """Whether the model read the item in part only, and whether it has nothing for it."""

    def _values(self, wanted: Mapping[str, Item], tell: Tell | None) -> dict[str, Value]:
        """The values by key, from memory, the store, or the model."""
        found = self._known(wanted)
        missing = {key: item for key, item in wanted.items() if key not in found}
        if not missing:
            return found
        return self._made(found, missing, tell or (lambda progress: None))

    def _known(self, wanted: Mapping[str, Item]) -> dict[str, Value]:
        """The values that memory or the store holds, by key."""
        with self._changed:
            found = {key: self._memory[key] for key in wanted if key in self._memory}
        if self._store is not None and len(found) < len(wanted):
            stored = self._store.get_many(key for key in wanted if key not in found)
            values = {key: self._unpack(wanted[key], data) for key, data in stored.items()}
            whole = {key: value for key, value in values.items() if value is not None}
            self._remember(whole)
            found |= whole
        return found

    def _made(self, found: Mapping[str, Value], missing: Mapping[str, Item], tell: Tell) -> dict[str, Value]:
        """The values found and those that are missing, by key; made batch by batch, shared with other threads."""
        waiting = dict(missing)
        values = dict(found)
        truncated, failed = self._flawed(values)
        tell(Progress(0, len(missing), len(found), truncated, failed))
        while waiting:
            done, batch = self._claim(waiting)
            if batch:
                done |= self._run(batch)
            values |= done
            for key in done:
                del waiting[key]
            more = self._flawed(done)
            truncated, failed = truncated + more[0], failed + more[1]
            tell(Progress(len(missing) - len(waiting), len(missing), len(found), truncated, failed))
        return values

    def _flawed(self, values: Mapping[str, Value]) -> tuple[int, int]:
        """How many of the values are of items read in part, and how many are of items that there is nothing for."""
        flaws = [self._flaws(value) for value in values.values()]
        return sum(truncated for truncated, _ in flaws), sum(failed for _, failed in flaws)

    def _claim(self, waiting: Mapping[str, Item]) -> tuple[dict[str, Value], dict[str, Item]]:
        """What other threads have made meanwhile, and the next batch, now this thread's to make.

        Where all that is left is in other threads' hands, it waits a moment for them.
        """
        with self._changed:
            ready, batch = self._next_batch(waiting)
            if not ready and not batch:
                self._changed.wait(_PATIENCE)
                ready, batch = self._next_batch(waiting)
            self._claimed.update(batch)
        return ready, batch

    def _next_batch(self, waiting: Mapping[str, Item]) -> tuple[dict[str, Value], dict[str, Item]]:
        ready = {key: self._memory[key] for key in waiting if key in self._memory}
        free = ((key, item) for key, item in waiting.items() if key not in ready and key not in self._claimed)
        return ready, dict(self._batch(free))

    def _run(self, batch: Mapping[str, Item]) -> dict[str, Value]:
        """The values of one claimed batch, by key, kept in memory and in the store."""
        try:
            values = dict(zip(batch, self._make(list(batch.values())), strict=True))
            self._remember(values)
            if self._store is not None:
                self._store.put_many({key: self._pack(value) for key, value in values.items()}, tag=self.identity)
            return values
        finally:  # also where the model failed: another thread may then try
            with self._changed:
                self._claimed.difference_update(batch)
                self._changed.notify_all()

    def _remember(self, values: Mapping[str, Value]) -> None:
        with self._changed:
            self._memory.update(values)
            for key in list(islice(self._memory, max(0, len(self._memory) - self._most))):
                del self._memory[key]


class CachedEmbedder(_Once[str, Record]):
    """`embedder(texts, "document") -> (n, d)` float32 rows of unit length, each text embedded once, ever.

    Threads may share it. `token_sums` is the model's `TokenReader`, None where it gives no vectors of tokens; it reads
    documents as they are, without a prefix. `prefixes` replaces the model's own, of one kind or of both.
    """

    def __init__(self, backend: Backend, store: Store | None, prefixes: Mapping[str, str] | None = None) -> None:
        _check_prefixes(prefixes or {}, backend.prefixes)
        other = {kind: text for kind, text in (prefixes or {}).items() if text != backend.prefixes[kind]}
        named = "".join(f", {kind} prefix {other[kind]!r}" for kind in sorted(other))
        super().__init__(store, backend.identity + named, MEMORY)
        self.name = backend.name
        self.dimension = backend.dimension
        self.limit = backend.limit
        self.prefixes = {**backend.prefixes, **other}
        self.token_spans = backend.token_spans
        self.token_reader = TokenReader(backend, store) if isinstance(backend, TokenBackend) else None
        self.token_sums: Callable[[Sequence[str]], list[TokenSums]] | None = self.token_reader
        self._backend = backend
        self._key = keyed_by(backend.fingerprint)
        self._without: dict[str, str] = {}  # the texts that the model has no vector for, and why

    def __call__(self, texts: Sequence[str], kind: Kind) -> np.ndarray:
        """(n, d) float32, one unit row for each text."""
        return self.embed(texts, kind)

    def embed(self, texts: Sequence[str], kind: Kind, tell: Tell | None = None) -> np.ndarray:
        """(n, d) float32, one unit row for each text; zeros for a document text that the model has no vector for.

        Where some must be embedded, `tell(progress)` is called before the first batch and after each, when it is safe
        in the store, and may raise to cancel.
        BadVectors where a query, or every one of the documents, has no vector.
        """
        records = self._records(texts, kind, tell)
        if not records:
            return np.empty((0, self.dimension), np.float32)
        without = [number for number, record in enumerate(records) if record.why]
        if without and (kind == "query" or len(without) == len(texts)):
            first = without[0]
            which = (
                f"the text {quote(texts[first])}"
                if len(without) == 1
                else f"{len(without)} texts, the first {quote(texts[first])}"
            )
            raise BadVectors(f"{self.name} has no vector for {which}: {records[first].why}")
        return np.stack([record.vector for record in records])

    def read(self, texts: Sequence[str], tell: Tell | None = None) -> np.ndarray:
        """(n,) int64: how many code points of each document text the model reads, from its start. `tell` as for `embed`."""
        prefix = len(self.prefixes["document"])
        return np.array([max(0, record.read - prefix) for record in self._records(texts, "document", tell)], np.int64)

    def tokens(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: the model's tokens in each document text, prefix and special ones included; -1 where unknown."""
        records = self._records(texts, "document")
        return np.array([-1 if record.tokens is None else record.tokens for record in records], np.int64)

    def missing(self, texts: Sequence[str], kind: Kind) -> int:
        """How many different texts would have to be embedded now."""
        wanted = {self._key(text): text for text in self._inputs(texts, kind)}
        return len(wanted.keys() - self._known(wanted).keys())

    def seconds(self, texts: Sequence[str], sample: int = 24) -> float:
        """About how long the model takes to embed these texts, in seconds: by a sample of them, embedded anew and not kept."""
        inputs = sorted(set(self._inputs(texts, "document")), key=len)
        some = inputs[:: ceil(len(inputs) / sample)] if inputs else []
        began = time.perf_counter()
        for batch in range(0, len(some), self._backend.batch_texts):
            self._make(some[batch : batch + self._backend.batch_texts])
        taken = time.perf_counter() - began
        return taken * sum(map(len, inputs)) / sum(map(len, some)) if some else 0.0

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user about the model and the store; they quote no text, because others may see them too."""
        without = Counter(self._without.copy().values())
        told = [
            f"{self.name} has no vector for {number} of the texts so far, which no search by meaning finds: {why}."
            for why, number in without.items()
        ]
        return [*self._backend.warnings, *told, *self._strange(), *(self._store.warnings if self._store else [])]

    def _strange(self) -> list[str]:
        """A sentence where the model knows too little of too many of the texts so far."""
        with self._changed:
            strange = [record.strange for record in self._memory.values()]
        if sum(strange) <= STRANGE_TEXTS * len(strange):
            return []
        return [
            f"{self.name} does not know many of the characters in {sum(strange)} of {len(strange)} texts, so their "
            "vectors tell little: choose a model for their language."
        ]

    def _inputs(self, texts: Sequence[str], kind: Kind) -> list[str]:
        """The texts as the model gets them; ValueError for what cannot be embedded."""
        if kind not in self.prefixes:
            raise ValueError(f'kind must be "document" or "query", got {kind!r}')
        _check_list(texts)
        for index, text in enumerate(texts):
            if not text.strip():
                raise ValueError(f"a text must have a character that is not white space, got {text!r} at {index}")
        prefix = self.prefixes[kind]
        return [readable(prefix + text) for text in texts]

    def _records(self, texts: Sequence[str], kind: Kind, tell: Tell | None = None) -> list[Record]:
        """One record for each text, from memory, the store, or the model."""
        inputs = self._inputs(texts, kind)
        keys = [self._key(text) for text in inputs]
        found = self._values(dict(zip(keys, inputs, strict=True)), tell)
        return [found[key] for key in keys]

    def _make(self, texts: Sequence[str]) -> list[Record]:
        """The model's records, each vector of the right length, finite and of unit length, or none."""
        records = self._backend.encode(texts)
        if len(records) != len(texts):
            raise BadVectors(f"{self.name} must answer one vector for each of {len(texts)} texts, got {len(records)}")
        return [self._checked(text, record) for text, record in zip(texts, records, strict=True)]

    def _checked(self, text: str, record: Record) -> Record:
        if not record.vector.any():
            self._without[text] = record.why or NO_NUMBER
            return no_vector(self._without[text], self.dimension)  # if stored, it is read back as nothing
        return replace(record, vector=unit_vector(record.vector, self.dimension, self.name, text))

    def _batch(self, items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        return _fitting(items, self._backend.batch_texts, self._backend.batch_characters)

    def _pack(self, value: Record) -> bytes:
        return pack(value)

    def _unpack(self, item: str, data: bytes) -> Record | None:
        return unpack(data, self.dimension)

    def _flaws(self, value: Record) -> tuple[bool, bool]:
        has_vector = bool(value.vector.any())
        return value.truncated and has_vector, not has_vector


class TokenReader(_Once[Window, np.ndarray]):
    """`reader(texts) -> [TokenSums]`: a text's tokens as a model reads them within the whole text, summed up.

    The model side of late chunking (Günther et al. 2024, arXiv 2409.04701): any cut of the text is then arithmetic.
    """

    def __init__(self, backend: TokenBackend, store: Store | None) -> None:
        super().__init__(store, f"{backend.identity}, windows of tokens", WINDOWS)
        self._backend = backend
        self._key = keyed_by(backend.token_fingerprint)
        self._sums: dict[str, TokenSums] = {}  # text -> sums, least recently used first
        self._bytes = 0  # of them; both guarded as the memory is

    def __call__(self, texts: Sequence[str], tell: Tell | None = None) -> list[TokenSums]:
        """The sums of each text, not to be written to; of a text without tokens they are one row of zeros.

        `tell` is called as by `CachedEmbedder.embed`, and counts windows. The answer takes 3 kB a token of 384 numbers, so a large corpus is better asked for in parts.
        """
        _check_list(texts)
        found = self._recalled(texts)
        read = {text: self._tokens(text) for text in dict.fromkeys(texts) if text not in found}
        wanted = dict(chain.from_iterable(keyed for _, keyed in read.values()))
        vectors = self._values(wanted, tell)
        for text, (spans, keyed) in read.items():
            found[text] = self._summed(spans, [vectors[key] for key, _ in keyed])
            self._keep(text, found[text])
        return [found[text] for text in texts]

    def _tokens(self, text: str) -> tuple[np.ndarray, list[tuple[str, Window]]]:
        """The tokens' spans, (t, 2), and their windows, each with its key."""
        spans, windows = self._backend.windows(text)
        return spans, [(self._key(str(window)), window) for window in windows]

    def _summed(self, spans: np.ndarray, parts: Sequence[np.ndarray]) -> TokenSums:
        """The sums of all parts' rows, in 64 bits: a difference of two is then as exact as a sum of its own."""
        sums = np.zeros((len(spans) + 1, self._backend.dimension))
        if parts:
            np.cumsum(np.concatenate(parts), axis=0, dtype=np.float64, out=sums[1:])
        whole = TokenSums(spans[:, 0].copy(), spans[:, 1].copy(), sums)
        for array in whole:
            array.flags.writeable = False  # all who ask share it
        return whole

    def _recalled(self, texts: Sequence[str]) -> dict[str, TokenSums]:
        """What memory holds of the texts' sums; it counts as used now."""
        with self._changed:
            found = {text: self._sums.pop(text) for text in dict.fromkeys(texts) if text in self._sums}
            self._sums.update(found)
        return found

    def _keep(self, text: str, sums: TokenSums) -> None:
        with self._changed:
            if text in self._sums:  # another thread was first
                return
            self._sums[text] = sums
            self._bytes += _size(sums)
            while self._bytes > SUMS:
                self._bytes -= _size(self._sums.pop(next(iter(self._sums))))

    def _make(self, items: Sequence[Window]) -> list[np.ndarray]:
        vectors = self._backend.token_vectors(items)
        if len(vectors) != len(items):
            raise BadVectors(f"{self._backend.name} must answer for each of {len(items)} windows, got {len(vectors)}")
        return [
            token_rows(rows, self._shape(window), self._backend.name)
            for rows, window in zip(vectors, items, strict=True)
        ]

    def _batch(self, items: Iterable[tuple[str, Window]]) -> Iterator[tuple[str, Window]]:
        return islice(items, self._backend.batch_windows)

    def _pack(self, value: np.ndarray) -> bytes:
        return pack_rows(value)

    def _unpack(self, item: Window, data: bytes) -> np.ndarray | None:
        return unpack_rows(data, self._shape(item))

    def _flaws(self, value: np.ndarray) -> tuple[bool, bool]:
        return False, False  # a document's windows hold all of it

    def _shape(self, window: Window) -> tuple[int, int]:
        return window.last - window.first, self._backend.dimension


def _check_list(texts: Sequence[str]) -> None:
    """ValueError for a single text, which is a sequence of texts as well."""
    if isinstance(texts, str):
        raise ValueError(f"texts must be a list of texts, got the one text {quote(texts)}")


def _check_prefixes(given: Mapping[str, str], own: Mapping[str, str]) -> None:
    for kind, prefix in given.items():
        if kind not in own or not isinstance(prefix, str):
            raise ValueError(f'prefixes must be texts for "query" or "document", got {prefix!r} for {kind!r}')


def _size(sums: TokenSums) -> int:
    return sum(array.nbytes for array in sums)


def _fitting(items: Iterable[tuple[str, str]], texts: int, characters: int) -> Iterator[tuple[str, str]]:
    """The leading (key, text) pairs that make up a batch: at least one, then while both limits hold."""
    total = 0
    for count, (key, text) in enumerate(items):
        total += len(text)
        if count and (count == texts or total > characters):
            return
        yield key, text
