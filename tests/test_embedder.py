"""Each text is embedded once, ever; what is finished is safe; bad answers and bad input get one clear sentence."""

import hashlib
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cache
from cache import embedder as embedder_module
from cache.embedder import CachedEmbedder, Progress
from cache.errors import BadVectors
from cache.minilm import MiniLM
from cache.records import Record, keyed_by, pack, unit_vector, unpack
from cache.store import Store

ROOT = Path(__file__).parents[1]
TEXTS = [f"text number {index}" for index in range(50)]
DIMENSION = 8


def vector_of(text: str) -> np.ndarray:
    """(8,) float32 of unit length that depends on the whole text."""
    numbers = np.frombuffer(hashlib.sha256(text.encode()).digest(), "<u4").astype(np.float64)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


class Fake:
    """A model that reads 40 characters, counts what it is asked, and fails when told to."""

    name = "fake"
    dimension = DIMENSION
    limit: int | None = None
    batch_texts = 16
    batch_characters = 10_000
    token_spans = None

    def __init__(self, digest: str = "1", prefixes: tuple[str, str] = ("", ""), delay: float = 0.0) -> None:
        self.identity = f"fake {digest}"
        self.fingerprint: tuple[str, ...] = ("fake", digest)
        self.prefixes = {"document": prefixes[0], "query": prefixes[1]}
        self.warnings: list[str] = []
        self.delay = delay
        self.asked: list[list[str]] = []
        self.spoil: Callable[[list[Record]], list[Record]] = lambda records: records

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.asked for text in batch]

    def encode(self, texts: Sequence[str]) -> list[Record]:
        self.asked.append(list(texts))
        time.sleep(self.delay)
        records = [Record(vector_of(text), len(text.split()), min(len(text), 40), len(text) > 40) for text in texts]
        return self.spoil(records)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def expected(texts: Sequence[str]) -> np.ndarray:
    return np.stack([unit_vector(vector_of(text), DIMENSION, "fake", text) for text in texts])


# Each text once


def test_rows_are_float32_units_in_the_order_of_the_texts(store: Store) -> None:
    vectors = CachedEmbedder(Fake(), store)(TEXTS, "document")
    assert vectors.dtype == np.float32
    assert vectors.shape == (50, DIMENSION)
    assert vectors.tobytes() == expected(TEXTS).tobytes()


def test_a_duplicate_is_embedded_once(store: Store) -> None:
    backend = Fake()
    vectors = CachedEmbedder(backend, store)(["a", "b", "a", "a"], "document")
    assert backend.texts == ["a", "b"]
    assert vectors.tobytes() == expected(["a", "b", "a", "a"]).tobytes()


def test_no_texts_give_no_rows(store: Store) -> None:
    backend = Fake()
    vectors = CachedEmbedder(backend, store)([], "query")
    assert vectors.shape == (0, DIMENSION)
    assert vectors.dtype == np.float32
    assert backend.asked == []


def test_the_memory_gives_the_same_bits_without_inference() -> None:
    backend = Fake()
    embedder = CachedEmbedder(backend, None)
    first = embedder(TEXTS, "document")
    backend.asked.clear()
    assert embedder(TEXTS, "document").tobytes() == first.tobytes()
    assert backend.asked == []


def test_the_store_gives_the_same_bits_without_inference(store: Store) -> None:
    first = CachedEmbedder(Fake(), store)(TEXTS, "document")
    backend = Fake()
    again = CachedEmbedder(backend, Store(store.folder))(TEXTS, "document")
    assert again.tobytes() == first.tobytes()
    assert backend.asked == []


def test_the_store_is_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    CachedEmbedder(Fake(), store)(TEXTS, "document")
    embedder = CachedEmbedder(Fake(), store)
    embedder(TEXTS, "document")
    monkeypatch.setattr(store, "get_many", None)
    assert embedder(TEXTS, "document").tobytes() == expected(TEXTS).tobytes()


def test_the_caller_may_change_what_it_was_given() -> None:
    embedder = CachedEmbedder(Fake(), None)
    embedder(["a"], "document")[:] = 0
    assert embedder(["a"], "document").tobytes() == expected(["a"]).tobytes()


def test_only_what_is_missing_is_embedded(store: Store) -> None:
    CachedEmbedder(Fake(), store)(TEXTS[:10], "document")
    backend = Fake()
    CachedEmbedder(backend, store)(TEXTS[5:15], "document")
    assert backend.texts == TEXTS[10:15]


def test_missing_counts_different_texts_that_are_not_there(store: Store) -> None:
    embedder = CachedEmbedder(Fake(), store)
    embedder(TEXTS[:3], "document")
    assert embedder.missing(TEXTS[:3], "document") == 0
    assert embedder.missing([*TEXTS[:5], *TEXTS[:5]], "document") == 2
    assert CachedEmbedder(Fake(), Store(store.folder)).missing(TEXTS[:4], "document") == 1


def test_batches_hold_the_limits_of_the_model() -> None:
    backend = Fake()
    CachedEmbedder(backend, None)(TEXTS, "document")
    assert [len(batch) for batch in backend.asked] == [16, 16, 16, 2]
    backend.asked.clear()
    CachedEmbedder(backend, None)(["x" * 6000, "y" * 4000, "z", "w" * 20_000], "document")
    assert [[text[0] for text in batch] for batch in backend.asked] == [["x", "y"], ["z"], ["w"]]


def test_the_memory_forgets_the_oldest_and_the_store_does_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_module, "MEMORY", 20)
    backend = Fake()
    embedder = CachedEmbedder(backend, store)
    assert embedder(TEXTS, "document").tobytes() == expected(TEXTS).tobytes()
    assert len(embedder._memory) == 20
    assert embedder.missing(TEXTS, "document") == 0
    assert len(backend.texts) == 50


# Kinds, prefixes, models


def test_the_prefix_of_the_kind_goes_before_the_text(store: Store) -> None:
    backend = Fake(prefixes=("document: ", "query: "))
    embedder = CachedEmbedder(backend, store)
    embedder(["why"], "query")
    embedder(["why"], "document")
    assert backend.texts == ["query: why", "document: why"]


def test_prefixes_can_be_replaced_and_are_told(store: Store) -> None:
    backend = Fake(prefixes=("document: ", "query: "))
    CachedEmbedder(backend, store)(["why"], "query")
    embedder = CachedEmbedder(backend, store, {"query": "find: "})
    assert embedder.missing(["why"], "query") == 1, "another prefix is another text"
    embedder(["why"], "query")
    assert backend.texts == ["query: why", "find: why"]
    assert embedder.prefixes == {"document": "document: ", "query": "find: "}
    assert embedder.identity == "fake 1, query prefix 'find: '"
    assert embedder.read(["why"]).tolist() == [3]
    assert CachedEmbedder(backend, store, {"query": "query: "}).identity == "fake 1", "the model's own is no other"


@pytest.mark.parametrize("prefixes", [{"passage": "x"}, {"query": 5}])
def test_a_prefix_of_another_kind_is_refused(prefixes: dict) -> None:
    with pytest.raises(ValueError, match='must be texts for "query" or "document", got '):
        CachedEmbedder(Fake(), None, prefixes)


def test_a_text_that_is_the_same_for_both_kinds_is_embedded_once() -> None:
    backend = Fake()
    embedder = CachedEmbedder(backend, None)
    assert embedder(["why"], "query").tobytes() == embedder(["why"], "document").tobytes()
    assert backend.texts == ["why"]


@pytest.mark.parametrize("other", [Fake(digest="2"), Fake(prefixes=("passage: ", "query: "))])
def test_two_digests_or_two_prefixes_never_meet(store: Store, other: Fake) -> None:
    CachedEmbedder(Fake(prefixes=("document: ", "query: ")), store)(TEXTS[:3], "document")
    assert CachedEmbedder(other, store).missing(TEXTS[:3], "document") == 3


def test_rows_are_tagged_with_the_model(store: Store) -> None:
    CachedEmbedder(Fake(), store)(["a"], "document")
    with closing(sqlite3.connect(store.folder / "cache.db")) as connection:
        assert connection.execute("SELECT tag FROM Cache").fetchall() == [("fake 1",)]


FIELDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=4)


@given(FIELDS, FIELDS, st.text(max_size=4), st.text(max_size=4))
def test_two_keys_are_equal_only_if_everything_is(one: list[str], two: list[str], text: str, other: str) -> None:
    text, other = (value.encode("utf-8", "replace").decode() for value in (text, other))
    assert (keyed_by(one)(text) == keyed_by(two)(other)) == ((one, text) == (two, other))


def test_a_letter_does_not_wander_between_fields() -> None:
    keys = {keyed_by(["ab", "c"])("d"), keyed_by(["a", "bc"])("d"), keyed_by(["ab"])("cd"), keyed_by(["ab", "cd"])("")}
    assert len(keys) == 4
    assert all(len(key) == 64 for key in keys)


def test_a_key_does_not_change_between_processes() -> None:
    script = "from cache.records import keyed_by; print(keyed_by(['minilm', '1'])('é'))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout.strip() == keyed_by(["minilm", "1"])("é")


# What was read


def test_read_gives_code_points_of_the_text_without_the_prefix(store: Store) -> None:
    embedder = CachedEmbedder(Fake(prefixes=("document: ", "")), store)
    texts = ["short", "🚀" * 30, "x" * 31, "y" * 100]
    assert embedder.read(texts).tolist() == [5, 30, 30, 30]
    assert embedder.read(texts).dtype == np.int64
    assert embedder.read([]).shape == (0,)


def test_a_prefix_that_fills_the_model_leaves_nothing_read() -> None:
    assert CachedEmbedder(Fake(prefixes=("p" * 50, "")), None).read(["abc"]).tolist() == [0]


def test_read_and_tokens_are_served_from_the_same_records(store: Store) -> None:
    CachedEmbedder(Fake(), store)(["one two", "x " * 50], "document")
    backend = Fake()
    embedder = CachedEmbedder(backend, store)
    assert embedder.read(["one two", "x " * 50]).tolist() == [7, 40]
    assert embedder.tokens(["one two", "x " * 50]).tolist() == [2, 50]
    assert backend.asked == []


def test_tokens_that_the_model_does_not_tell_are_minus_one(store: Store) -> None:
    backend = Fake()
    backend.spoil = lambda records: [Record(r.vector, None, r.read, r.truncated) for r in records]
    CachedEmbedder(backend, store)(["a"], "document")
    assert CachedEmbedder(Fake(), Store(store.folder)).tokens(["a"]).tolist() == [-1]


# Progress and cancelling


def test_progress_is_told_after_each_batch_what_is_done(store: Store) -> None:
    CachedEmbedder(Fake(), store)(TEXTS[:10], "document")
    calls: list[Progress] = []
    embedder = CachedEmbedder(Fake(), store)
    embedder.embed([*TEXTS, *TEXTS], "document", calls.append)
    assert calls == [Progress(done, 40, cached=10, truncated=0, failed=0) for done in (0, 16, 32, 40)]
    embedder.embed(TEXTS, "document", calls.append)
    assert len(calls) == 4, "nothing was embedded"


def test_progress_counts_what_is_cut_and_what_failed_known_texts_included(store: Store) -> None:
    def spoilt(records: list[Record]) -> list[Record]:
        first, second, *rest = records
        return [replace(first, truncated=True), Record(np.zeros_like(second.vector), None, 0, True), *rest]

    backend = Fake()
    backend.spoil = spoilt
    calls: list[Progress] = []
    embedder = CachedEmbedder(backend, store)
    embedder.embed(TEXTS[:20], "document", calls.append)
    assert [(now.done, now.truncated, now.failed) for now in calls] == [(0, 0, 0), (16, 1, 1), (20, 2, 2)]
    embedder.embed(TEXTS[:30], "document", calls.append)
    assert (calls[3].cached, calls[3].total, calls[3].truncated) == (20, 10, 2)


class Stop(BaseException):
    """As Streamlit's own: not an Exception."""


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, ValueError])
def test_cancelling_keeps_the_finished_batches(store: Store, error: type[BaseException]) -> None:
    def stop(now: Progress) -> None:
        if now.done == 32:
            raise error

    embedder = CachedEmbedder(Fake(), store)
    with pytest.raises(error):
        embedder.embed(TEXTS, "document", stop)
    assert store.count() == 32
    assert not embedder._claimed
    assert embedder.missing(TEXTS, "document") == 18
    assert embedder(TEXTS, "document").tobytes() == expected(TEXTS).tobytes()


def test_a_failure_in_one_batch_keeps_those_before(store: Store) -> None:
    backend = Fake()
    embedder = CachedEmbedder(backend, store)
    backend.spoil = lambda records: records if len(backend.asked) < 3 else []
    with pytest.raises(BadVectors, match="one vector for each of 16 texts, got 0"):
        embedder(TEXTS, "document")
    backend.spoil = lambda records: records
    assert store.count() == 32
    assert embedder(TEXTS, "document").tobytes() == expected(TEXTS).tobytes()


# Refusals


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u2003"])
def test_a_blank_text_is_refused_before_any_work(blank: str) -> None:
    backend = Fake()
    with pytest.raises(ValueError, match=r"not white space, got .* at 1"):
        CachedEmbedder(backend, None)(["a", blank], "document")
    assert backend.asked == []


def test_another_kind_or_a_single_string_is_refused() -> None:
    embedder = CachedEmbedder(Fake(), None)
    with pytest.raises(ValueError, match='kind must be "document" or "query", got \'title\''):
        embedder(["a"], "title")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a list of texts, got the one text 'abc'"):
        embedder("abc", "document")


def test_a_lone_surrogate_is_embedded_as_a_replacement(store: Store) -> None:
    backend = Fake()
    CachedEmbedder(backend, store)(["a\udc80b"], "document")
    assert backend.texts == ["a\ufffdb"]


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.ones(DIMENSION - 1, np.float32), r"must answer 8 numbers for a text, got \(7,\) for 'b'"),
        (np.full(DIMENSION, np.nan, np.float32), "must answer finite numbers, got NaN or infinity for 'b'"),
        (np.full(DIMENSION, np.inf, np.float32), "must answer finite numbers"),
        (np.full(DIMENSION, 0.01, np.float32), "must answer vectors of length 1, got length 0"),
        (np.ones(DIMENSION, np.float32), r"must answer vectors of length 1, got length 2\.828"),
    ],
)
def test_a_bad_vector_is_refused_and_not_stored(store: Store, vector: np.ndarray, message: str) -> None:
    backend = Fake()
    backend.spoil = lambda records: [records[0], Record(vector, 1, 1, False)]
    with pytest.raises(BadVectors, match=message):
        CachedEmbedder(backend, store)(["a", "b"], "document")
    assert store.count() == 0


def test_a_vector_of_zeros_is_none(store: Store) -> None:
    backend = Fake()
    backend.spoil = lambda records: [records[0], Record(np.zeros(DIMENSION, np.float32), 1, 1, False)]
    embedder = CachedEmbedder(backend, store)
    assert embedder(["a", "b"], "document").any(axis=1).tolist() == [True, False]
    assert embedder.read(["a", "b"]).tolist() == [1, 0]
    backend.spoil = lambda records: records
    assert CachedEmbedder(backend, store)(["a", "b"], "document").any(axis=1).all(), "asked for again in the next run"


@pytest.mark.parametrize(("strange", "told"), [(2, False), (3, True)])
def test_texts_of_unknown_characters_are_told_also_when_they_come_from_the_store(
    store: Store, strange: int, told: bool
) -> None:
    backend = Fake()
    backend.spoil = lambda records: [
        Record(r.vector, 1, 1, False, number < strange) for number, r in enumerate(records)
    ]
    backend.batch_texts = 40
    CachedEmbedder(backend, store)(TEXTS[:40], "document")
    embedder = CachedEmbedder(Fake(), Store(store.folder))
    assert embedder.warnings == []
    embedder(TEXTS[:40], "document")
    assert ["characters in 3 of 40 texts" in warning for warning in embedder.warnings] == [True] * told


def test_a_vector_that_is_nearly_a_unit_is_made_one() -> None:
    vector = unit_vector(vector_of("a") * np.float32(1.0005), DIMENSION, "fake", "a")
    assert np.linalg.norm(vector.astype(np.float64)) == pytest.approx(1, abs=1e-7)


# Records


@given(st.none() | st.integers(0, 10**6), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_a_record_survives_its_bytes(tokens: int | None, read: int, truncated: bool, strange: bool) -> None:
    record = Record(vector_of("a"), tokens, read, truncated, strange)
    again = unpack(pack(record), DIMENSION)
    assert again is not None
    assert again.vector.tobytes() == record.vector.tobytes()
    assert (again.tokens, again.read, again.truncated, again.strange) == (tokens, read, truncated, strange)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        pack(Record(vector_of("a")[:7], 1, 1, False)),
        pack(Record(vector_of("a"), 1, 1, False)) + b"\0\0\0\0",
        pack(Record(vector_of("a") * np.float32(np.nan), 1, 1, False)),
        pack(Record(vector_of("a") * np.float32(2), 1, 1, False)),
        b"\xff\xff" + pack(Record(vector_of("a"), 1, 1, False))[2:],
    ],
)
def test_bytes_that_are_no_record_are_a_miss_and_are_replaced(store: Store, data: bytes) -> None:
    assert unpack(data, DIMENSION) is None
    backend = Fake()
    store.put_many({keyed_by(backend.fingerprint)("a"): data}, "fake 1")
    assert CachedEmbedder(backend, store)(["a"], "document").tobytes() == expected(["a"]).tobytes()
    assert backend.texts == ["a"]
    assert CachedEmbedder(Fake(), store).missing(["a"], "document") == 0


def test_a_planted_pickle_is_a_miss_and_is_not_run(store: Store, tmp_path: Path) -> None:
    CachedEmbedder(Fake(), store)(["a"], "document")
    target = tmp_path / "ran"

    class Bomb:
        def __reduce__(self) -> tuple:
            return Path.touch, (target,)

    with closing(sqlite3.connect(store.folder / "cache.db")) as connection, connection:
        connection.execute("UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(Bomb()),))
    backend = Fake()
    assert CachedEmbedder(backend, store)(["a"], "document").tobytes() == expected(["a"]).tobytes()
    assert backend.texts == ["a"]
    assert not target.exists()


def test_work_goes_on_without_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    embedder = CachedEmbedder(Fake(), Store(tmp_path / "file" / "store"))
    assert embedder(TEXTS, "document").tobytes() == expected(TEXTS).tobytes()
    assert "cannot be used" in embedder.warnings[0]
    assert embedder.missing(TEXTS, "document") == 0, "the memory has them"


# Company


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Runs the work in so many threads; the first failure comes out here."""
    failures: list[BaseException] = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


def test_eight_threads_embed_each_text_once(store: Store) -> None:
    backend = Fake(delay=0.02)
    embedder = CachedEmbedder(backend, store)
    texts = [f"text {index}" for index in range(200)]

    def work(index: int) -> None:
        own = texts[index * 10 :] + texts[: index * 10]
        assert embedder(own, "document").tobytes() == expected(own).tobytes()

    in_threads(8, work)
    assert sorted(backend.texts) == sorted(texts)
    assert store.count() == 200


def test_one_that_waits_for_another_can_be_cancelled() -> None:
    backend = Fake(delay=2.0)
    embedder = CachedEmbedder(backend, None)
    first = threading.Thread(target=embedder, args=(["a"], "document"))
    first.start()
    while not backend.asked:
        time.sleep(0.01)

    told: list[Progress] = []

    def stop(now: Progress) -> None:
        assert (now.done, now.total) == (0, 1)
        if told:  # while it waits, not only before
            raise Stop
        told.append(now)

    start = time.monotonic()
    with pytest.raises(Stop):
        embedder.embed(["a"], "document", stop)
    assert time.monotonic() - start < 1.5
    first.join()
    assert backend.texts == ["a"]


def test_one_that_waits_goes_on_as_soon_as_the_other_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_module, "_PATIENCE", 20.0)
    embedder = CachedEmbedder(Fake(delay=0.2), None)
    start = time.monotonic()
    in_threads(2, lambda _: embedder(["a"], "document"))
    assert time.monotonic() - start < 5


def test_one_that_waits_takes_over_when_the_other_fails() -> None:
    backend = Fake(delay=0.2)
    backend.spoil = lambda records: [] if len(backend.asked) == 1 else records
    embedder = CachedEmbedder(backend, None)
    outcomes: list[str] = []

    def work(_: int) -> None:
        try:
            embedder(["a"], "document")
            outcomes.append("vector")
        except BadVectors:
            outcomes.append("failure")

    in_threads(2, work)
    assert sorted(outcomes) == ["failure", "vector"]
    assert backend.texts == ["a", "a"]


# The built-in model behind it all

RUN = """
import json, sys
import cache
from cache.minilm import MiniLM
from cache.store import Store

texts = [f"Paragraph {index} tells how a bridge was closed after the flood." for index in range(int(sys.argv[2]))]
embedded = 0
encode = MiniLM.encode

def counted(self, batch):
    global embedded
    embedded += len(batch)
    return encode(self, batch)

MiniLM.encode = counted
embedder = cache.open_embedder("minilm", Store(sys.argv[1]))
vectors = embedder.embed(texts, "document", lambda now: print(now.done, flush=True))
print(json.dumps([embedded, hash(vectors.tobytes()), embedder.warnings]))
"""


def start(folder: Path, count: int) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", RUN, str(folder), str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen) -> str:
    with process:
        assert process.stdout is not None
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == 0
    return last


def test_a_run_that_is_killed_resumes_with_what_is_missing(tmp_path: Path) -> None:
    with start(tmp_path, 400) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.kill()
        lines += process.stdout.readlines()
    acknowledged = int(lines[-1])
    assert 3 * MiniLM.batch_texts <= acknowledged < 400
    stored = Store(tmp_path).count()
    assert acknowledged <= stored <= acknowledged + MiniLM.batch_texts
    assert result(start(tmp_path, 400)).startswith(f"[{400 - stored}, ")
    assert result(start(tmp_path, 400)).startswith("[0, ")


def test_two_processes_come_to_the_same_vectors(tmp_path: Path) -> None:
    both = [start(tmp_path, 60), start(tmp_path, 60)]
    one, two = (cache_result.split(", ", 1)[1] for cache_result in map(result, both))
    assert one == two
    assert one.endswith("[]]"), "no warnings"
    assert Store(tmp_path).count() == 60


def test_a_text_has_the_same_bits_whatever_it_was_embedded_with(tmp_path: Path) -> None:
    texts = ["A short one.", "A bridge was closed after the flood. " * 20, "Why?"]
    together = cache.open_embedder("minilm", Store(tmp_path / "1"))(texts, "document")
    alone = cache.open_embedder("minilm", Store(tmp_path / "2"))
    for text, row in zip(texts, together, strict=True):
        assert alone([text], "query").tobytes() == row.tobytes()


def test_the_built_in_embedder_tells_what_it_is(tmp_path: Path) -> None:
    embedder = cache.open_embedder("minilm", Store(tmp_path))
    assert embedder.name == "minilm"
    assert embedder.identity == "minilm, weights 53aa51172d14"
    assert embedder.limit == 256
    assert embedder.prefixes == {"document": "", "query": ""}
    assert embedder.token_spans is not None
    assert embedder.token_spans("two words").tolist() == [[0, 3], [4, 9]]
    long = "bridge " * 300
    assert embedder.read([long, "short"]).tolist() == [254 * 7 - 1, 5]
    assert embedder.tokens([long, "short"]).tolist() == [302, 3]


def test_importing_the_folder_imports_nothing_heavy() -> None:
    script = (
        "import sys, cache; print([name for name in ('numpy', 'onnxruntime', 'tokenizers', 'ollama', 'httpx', "
        "'diskcache', 'tenacity') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_malformed_address_in_the_environment_does_not_stop_the_built_in_model(tmp_path: Path) -> None:
    script = "import cache; print(cache.default_embedder_name(cache.look()).name, cache.open_embedder('minilm').missing(['a'], 'query'))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OLLAMA_HOST": "http://[x", "CHUNKSCOPE_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "minilm 1", done.stderr


def test_the_time_of_embedding_is_reckoned_from_a_sample_that_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.test_pages import Backend

    taken: list[str] = []
    clock = iter([0.0, 2.0])
    backend = Backend()
    monkeypatch.setattr(backend, "encode", lambda texts: taken.extend(texts) or Backend.encode(backend, texts))
    embedder = CachedEmbedder(backend, None)
    monkeypatch.setattr("cache.embedder.time.perf_counter", lambda: next(clock))
    texts = [f"text {number:04}" for number in range(96)]
    assert embedder.seconds([*texts, *texts], sample=24) == pytest.approx(8.0)
    assert len(taken) == 24
    assert embedder.missing(texts, "document") == 96
