"""Token vectors for late pooling: those of the model itself, each from the window that shows it most, each made once."""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from cache import embedder as embedder_module
from cache import minilm
from cache.embedder import CachedEmbedder, Progress
from cache.errors import BadVectors
from cache.minilm import STRIDE, WINDOW, MiniLM, find_folder, load_session, load_tokenizer, window_plan
from cache.records import Record, Window, keyed_by, pack_rows, unpack_rows
from cache.store import Store
from cache.watched import Watched
from chunking.types import TokenSums

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT.parent / "shared" / "reference" / "minilm.json"
POST = max(sorted((ROOT / "data" / "posts").glob("*.md")), key=lambda path: path.stat().st_size)

SHORT = [
    "An iron bridge, closed after the flood.",
    "🚀 Café, unaffordability 🚀 and a half letter \ud83d in it",
    "a [SEP] b [CLS] c",
    "Pumps fail. " * 60,
    "a " * WINDOW,  # as many tokens as one window holds
]


class Counting:
    """A session that notes how many tokens each run reads."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.runs: list[int] = []

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        self.runs.append(len(inputs["ids"]))
        return self.session.run(outputs, inputs)


@pytest.fixture(scope="module")
def counting() -> Counting:
    return Counting(load_session(find_folder() / minilm.WEIGHTS))


@pytest.fixture(scope="module")
def model(counting: Counting) -> MiniLM:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minilm, "load_session", lambda _: counting)
        model = MiniLM()
        model.token_spans("loads it")
    return model


@pytest.fixture
def runs(counting: Counting) -> list[int]:
    counting.runs.clear()
    return counting.runs


@pytest.fixture(scope="module")
def post() -> str:
    return POST.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def post_sums(model: MiniLM, post: str) -> TokenSums:
    return sums_of(CachedEmbedder(model, None), [post])[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def sums_of(embedder: CachedEmbedder | Watched, texts: Sequence[str]) -> list[TokenSums]:
    assert embedder.token_sums is not None
    return embedder.token_sums(texts)


def read_directly(model: MiniLM, text: str) -> tuple[np.ndarray, np.ndarray]:
    """(t, 2) spans and (t, 384) last hidden states of one run over the whole text, special tokens included."""
    encoding = load_tokenizer(find_folder() / minilm.TOKENIZER).encode(text.replace("\ud83d", "\ufffd"))
    (hidden,) = model._model()[1].run(["hidden"], {"ids": np.array(encoding.ids, np.int64)})
    return np.array(encoding.offsets), hidden


def bits(all_sums: Sequence[TokenSums]) -> list[bytes]:
    return [array.tobytes() for sums in all_sums for array in sums]


# The vectors of the model


@pytest.mark.parametrize("text", SHORT, ids=lambda text: text[:12].encode("ascii", "replace").decode())
def test_means_of_spans_are_those_of_one_direct_run(model: MiniLM, text: str) -> None:
    offsets, hidden = read_directly(model, text)
    ((starts, ends, sums),) = sums_of(CachedEmbedder(model, None), [text])
    assert np.column_stack([starts, ends]).tolist() == offsets[1:-1].tolist()
    assert (starts.dtype, ends.dtype, sums.dtype) == (np.int64, np.int64, np.float64)
    words = [match.span() for match in re.finditer(r"\S+", text)]
    for start, end in [(0, len(text)), *words[:10], (words[1][0], words[-1][1])]:
        inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= end)
        inside[[0, -1]] = False  # the special tokens
        first, last = np.searchsorted(starts, start), np.searchsorted(ends, end, side="right")
        assert last - first == inside.sum()
        if first == last:  # the tokenizer drops what stands for the half letter
            continue
        mean = (sums[last] - sums[first]) / (last - first)
        assert np.abs(mean - hidden[inside].mean(axis=0, dtype=np.float64)).max() < 1e-6


@pytest.mark.skipif(not REFERENCE.exists(), reason="the whole reference lies outside the repository")
def test_with_the_special_tokens_the_mean_is_the_vector_of_the_text_alone(model: MiniLM) -> None:
    items = json.loads(REFERENCE.read_text(encoding="utf-8"))["items"]
    short = [item for item in items if item["n_tokens"] < 256]
    assert len(short) > 20
    for item in short:
        _, hidden = read_directly(model, item["text"])
        ((_, _, sums),) = sums_of(CachedEmbedder(model, None), [item["text"]])
        total, expected = sums[-1] + hidden[0] + hidden[-1], np.array(item["vector"])
        assert total @ expected / np.linalg.norm(total) / np.linalg.norm(expected) >= 0.9999999, item["text"][:40]


def test_a_long_text_has_each_token_once_in_order(model: MiniLM, post: str, post_sums: TokenSums) -> None:
    starts, ends, sums = post_sums
    assert len(starts) > 2000
    assert np.array_equal(np.column_stack([starts, ends]), model.token_spans(post))
    assert sums.shape == (len(starts) + 1, 384)
    assert not sums[0].any()


def test_each_vector_comes_from_the_window_that_shows_the_token_most(
    model: MiniLM, post: str, post_sums: TokenSums
) -> None:
    ids = load_tokenizer(find_folder() / minilm.TOKENIZER).encode(post).ids[1:-1]
    begins = [begin for begin, _, _ in window_plan(len(ids))]
    session = model._model()[1]
    hidden = [
        session.run(["hidden"], {"ids": np.array([101, *ids[begin : begin + WINDOW], 102], np.int64)})[0]
        for begin in begins
    ]
    for token in range(len(ids)):
        best = most_shown(token, begins, len(ids))
        expected = hidden[best][1 + token - begins[best]]
        assert np.abs(np.diff(post_sums.sums[token : token + 2], axis=0) - expected).max() < 1e-6, token


def most_shown(token: int, begins: Sequence[int], tokens: int) -> int:
    """The window whose nearer end lies furthest from the token, the first of equals; the text's ends do not count."""

    def nearer(begin: int) -> float:
        left = token - begin if begin > 0 else np.inf
        right = begin + WINDOW - 1 - token if begin + WINDOW < tokens else np.inf
        return min(left, right) if begin <= token < begin + WINDOW else -1

    return max(range(len(begins)), key=lambda index: nearer(begins[index]))


@pytest.mark.parametrize(
    "tokens", [1, WINDOW, WINDOW + 1, WINDOW + STRIDE, WINDOW + STRIDE + 1, 700, 2000, 2001, 2002, 5003]
)
def test_windows_are_full_spread_evenly_and_share_the_tokens_out(tokens: int) -> None:
    plan = window_plan(tokens)
    begins = [begin for begin, _, _ in plan]
    assert begins[0] == 0
    assert begins[-1] == max(0, tokens - WINDOW)
    steps = np.diff(begins)
    assert len(steps) == 0 or (steps.max() <= STRIDE and steps.max() - steps.min() <= 1)
    assert len(begins) == 1 + int(np.ceil(max(0, tokens - WINDOW) / STRIDE))
    given = [index for index, (_, first, last) in enumerate(plan) for _ in range(first, last)]
    assert [token for _, first, last in plan for token in range(first, last)] == list(range(tokens))
    assert given == [most_shown(token, begins, tokens) for token in range(tokens)]


def test_the_parts_of_a_word_keep_their_places_where_windows_meet(model: MiniLM) -> None:
    text = "unaffordability " * 150
    spans, windows = model.windows(text)
    assert np.array_equal(spans, model.token_spans(text))
    assert sum(window.last - window.first for window in windows) == len(spans)
    turns = np.cumsum([window.last - window.first for window in windows])[:-1]
    assert any(spans[turn - 1][1] == spans[turn][0] for turn in turns), "a word is parted"
    assert all(len(window.ids) <= 256 and window.ids[0] == 101 and window.ids[-1] == 102 for window in windows)


def test_tokens_that_share_a_letter_all_have_vectors(model: MiniLM) -> None:
    ((starts, ends, sums),) = sums_of(CachedEmbedder(model, None), ["한"])
    assert len(starts) > 1
    assert set(starts) == {0}
    assert set(ends) == {1}
    assert sums.shape == (len(starts) + 1, 384)
    assert np.diff(sums, axis=0).any(axis=1).all()


@pytest.mark.parametrize("text", ["", " \n", "\x00\x01"])
def test_a_text_without_tokens_is_one_row_of_zeros(model: MiniLM, runs: list[int], text: str) -> None:
    ((starts, ends, sums),) = sums_of(CachedEmbedder(model, None), [text])
    assert starts.shape == ends.shape == (0,)
    assert sums.tolist() == [[0.0] * 384]
    assert runs == []


# Each window once


class Plain:
    """A model that gives no vectors of tokens."""

    name = "fake"
    identity = "fake 1"
    fingerprint: tuple[str, ...] = ("fake", "1")
    dimension = 4
    limit: int | None = None
    batch_texts = batch_characters = 10_000
    token_spans = None

    def __init__(self) -> None:
        self.prefixes = {"document": "", "query": ""}
        self.warnings: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[Record]:
        return [Record(np.array([1, 0, 0, 0], np.float32), 1, len(text), False) for text in texts]


class Fake(Plain):
    """A model whose tokens are words, ten to a window; it counts the windows that it is asked for."""

    token_fingerprint: tuple[str, ...] = ("fake", "tokens", "1")
    batch_windows = 4

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay
        self.asked: list[list[str]] = []
        self.spoil: Callable[[list[np.ndarray]], list[np.ndarray]] = lambda vectors: vectors

    @property
    def count(self) -> int:
        return sum(map(len, self.asked))

    def windows(self, text: str) -> tuple[np.ndarray, list[Window]]:
        words = list(re.finditer(r"\S+", text))
        ids = np.array([crc32(word.group().encode()) for word in words], np.int64)
        parts = [ids[start : start + 10] for start in range(0, len(ids), 10)]
        spans = np.array([word.span() for word in words], np.int64).reshape(-1, 2)
        return spans, [Window(part, 0, len(part)) for part in parts]

    def token_vectors(self, windows: Sequence[Window]) -> list[np.ndarray]:
        self.asked.append([str(window) for window in windows])
        time.sleep(self.delay)
        return self.spoil([self.rows(window.ids) for window in windows])

    @staticmethod
    def rows(ids: np.ndarray) -> np.ndarray:
        return np.column_stack([ids % 7, ids % 11, ids % 13, ids % 17]).astype(np.float32)


TEXTS = [" ".join(f"word{text}x{index}" for index in range(95)) for text in range(3)]  # ten windows each


def expected(texts: Sequence[str]) -> list[bytes]:
    fake, answers = Fake(), []
    for text in texts:
        spans, windows = fake.windows(text)
        rows = [np.zeros((1, 4)), *(fake.rows(window.ids) for window in windows)]
        answers.append(TokenSums(spans[:, 0], spans[:, 1], np.cumsum(np.concatenate(rows), axis=0, dtype=np.float64)))
    return bits(answers)


def test_sums_come_in_the_order_of_the_texts(store: Store) -> None:
    texts = [TEXTS[2], "", TEXTS[0], TEXTS[2]]
    fake = Fake()
    assert bits(sums_of(CachedEmbedder(fake, store), texts)) == expected(texts)
    assert fake.count == 20
    assert [len(batch) for batch in fake.asked] == [4, 4, 4, 4, 4]
    assert sums_of(CachedEmbedder(fake, store), []) == []


def test_the_second_time_no_model_runs(model: MiniLM, store: Store, runs: list[int]) -> None:
    embedder = CachedEmbedder(model, store)
    first = sums_of(embedder, SHORT)
    assert len(runs) == len(SHORT)
    assert bits(sums_of(embedder, SHORT[::-1])[::-1]) == bits(first)
    again = CachedEmbedder(model, Store(store.folder))
    assert bits(sums_of(again, SHORT)) == bits(first)
    assert len(runs) == len(SHORT)


def test_a_window_that_two_texts_or_one_twice_have_is_read_once(store: Store) -> None:
    fake = Fake()
    texts = [TEXTS[0], TEXTS[0] + " more", "ten words that come again and again and never end " * 5]
    assert bits(sums_of(CachedEmbedder(fake, store), texts)) == expected(texts)
    assert fake.count == 10 + 1 + 1


def test_vectors_of_tokens_and_of_texts_never_meet(store: Store) -> None:
    embedder = CachedEmbedder(Fake(), store)
    sums_of(embedder, TEXTS[:1])
    embedder(TEXTS[:1], "document")
    assert store.count() == 10 + 1
    other = Fake()
    other.token_fingerprint = ("fake", "tokens", "2")
    sums_of(CachedEmbedder(other, store), TEXTS[:1])
    assert other.count == 10


def test_all_that_a_kept_vector_depends_on_is_in_its_key() -> None:
    ids = np.arange(5)
    windows = [Window(ids, 0, 5), Window(ids, 1, 5), Window(ids, 0, 4), Window(ids[::-1], 0, 5), Window(ids[:4], 0, 4)]
    assert len({str(window) for window in windows}) == 5
    assert str(Window(np.arange(5), 0, 5)) == str(windows[0])


def test_a_damaged_row_is_read_again_by_the_model(model: MiniLM, store: Store, post: str, runs: list[int]) -> None:
    text = post[:6000]
    first = bits(sums_of(CachedEmbedder(model, store), [text]))
    assert len(runs) == store.count() > 5
    runs.clear()
    with closing(sqlite3.connect(store.folder / "cache.db")) as connection, connection:
        (row, value) = connection.execute("SELECT rowid, value FROM Cache LIMIT 1 OFFSET 2").fetchone()
        spoilt = value[:500] + bytes([value[500] ^ 1]) + value[501:]
        connection.execute("UPDATE Cache SET value = ? WHERE rowid = ?", (spoilt, row))
    for count in (1, 1):  # mended the first time
        assert bits(sums_of(CachedEmbedder(model, store), [text])) == first
        assert len(runs) == count


@pytest.mark.parametrize("data", [b"", bytes(4 * 39), bytes(4 * 41), pack_rows(np.full((10, 4), np.nan))])
def test_bytes_that_are_not_the_window_are_a_miss(store: Store, data: bytes) -> None:
    assert unpack_rows(data, (10, 4)) is None
    fake = Fake()
    key = keyed_by(fake.token_fingerprint)(str(fake.windows(TEXTS[0])[1][0]))
    store.put_many({key: data}, "fake 1")
    assert bits(sums_of(CachedEmbedder(fake, store), TEXTS[:1])) == expected(TEXTS[:1])
    assert fake.count == 10


def test_rows_survive_their_bytes() -> None:
    rows = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32)
    again = unpack_rows(pack_rows(rows), (7, 4))
    assert again is not None
    assert again.dtype == np.float32
    assert np.array_equal(again, rows)


# Memory


def test_the_least_recently_used_sums_are_dropped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 96 * 4 * 8 + 2 * 95 * 8
    monkeypatch.setattr(embedder_module, "SUMS", 2 * size)
    fake = Fake()
    embedder = CachedEmbedder(fake, store)
    reader = embedder.token_reader
    assert reader is not None
    for index in (0, 1, 0, 2):
        assert bits(reader([TEXTS[index]])) == expected([TEXTS[index]])
    assert list(reader._sums) == [TEXTS[0], TEXTS[2]]
    assert reader._bytes == 2 * size
    assert bits(reader(TEXTS)) == expected(TEXTS)
    assert fake.count == 30, "the store had them"
    monkeypatch.setattr(embedder_module, "SUMS", size - 1)
    assert bits(reader(["one"])) == expected(["one"])
    assert list(reader._sums) == ["one"]


def test_memory_gives_sums_without_the_store_or_the_tokenizer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake()
    embedder = CachedEmbedder(fake, store)
    first = sums_of(embedder, TEXTS)
    monkeypatch.setattr(store, "get_many", None)
    monkeypatch.setattr(fake, "windows", None)
    assert all(one is two for one, two in zip(sums_of(embedder, TEXTS), first, strict=True))


def test_nobody_can_change_the_sums_that_all_share() -> None:
    (sums,) = sums_of(CachedEmbedder(Fake(), None), TEXTS[:1])
    for array in sums:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


# Progress, cancelling, company, refusals


def test_progress_tells_the_windows_done_and_to_do(store: Store) -> None:
    calls: list[tuple[int, int]] = []
    embedder = CachedEmbedder(Fake(), store)
    watched = Watched(embedder, lambda now: calls.append((now.done, now.total)))
    assert bits(sums_of(watched, TEXTS[:1])) == expected(TEXTS[:1])
    assert calls == [(0, 10), (4, 10), (8, 10), (10, 10)]
    sums_of(watched, TEXTS[:1])
    assert len(calls) == 4, "nothing was read"
    sums_of(watched, TEXTS)
    assert calls[4:] == [(0, 20), (4, 20), (8, 20), (12, 20), (16, 20), (20, 20)]


class Stop(BaseException):
    """As Streamlit's own: not an Exception."""


def test_cancelling_in_the_middle_of_a_text_keeps_what_is_finished(store: Store) -> None:
    def stop(now: Progress) -> None:
        if now.done == 16:
            raise Stop

    embedder = CachedEmbedder(Fake(), store)
    with pytest.raises(Stop):
        sums_of(Watched(embedder, stop), TEXTS)
    assert store.count() == 16
    fake = Fake()
    assert bits(sums_of(CachedEmbedder(fake, Store(store.folder)), TEXTS)) == expected(TEXTS)
    assert fake.count == 14
    assert bits(sums_of(embedder, TEXTS)) == expected(TEXTS)


def test_a_model_that_fails_keeps_what_came_before(store: Store) -> None:
    fake = Fake()
    embedder = CachedEmbedder(fake, store)
    fake.spoil = lambda vectors: vectors if len(fake.asked) < 3 else vectors[:-1]
    with pytest.raises(BadVectors, match="fake must answer for each of 2 windows, got 1"):
        sums_of(embedder, TEXTS[:1])
    fake.spoil = lambda vectors: vectors
    assert store.count() == 8
    assert bits(sums_of(embedder, TEXTS[:1])) == expected(TEXTS[:1])


@pytest.mark.parametrize("rows", [np.zeros((9, 4), np.float32), np.full((10, 4), np.nan, np.float32)])
def test_an_answer_of_another_shape_or_not_finite_is_refused_and_not_stored(store: Store, rows: np.ndarray) -> None:
    fake = Fake()
    fake.spoil = lambda vectors: [rows, *vectors[1:]]
    with pytest.raises(BadVectors, match=r"must answer finite numbers of shape \(10, 4\) for a window"):
        sums_of(CachedEmbedder(fake, store), TEXTS[:1])
    assert store.count() == 0


@pytest.mark.parametrize("stored", [True, False])
def test_threads_that_ask_for_the_same_text_read_it_once(store: Store, stored: bool) -> None:
    fake = Fake(delay=0.02)
    embedder = CachedEmbedder(fake, store if stored else None)
    answers: list[list[bytes]] = []
    threads = [threading.Thread(target=lambda: answers.append(bits(sums_of(embedder, TEXTS)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [expected(TEXTS)] * 4
    assert fake.count == 30
    reader = embedder.token_reader
    assert reader is not None
    assert reader._bytes == sum(len(array) for array in expected(TEXTS)), "counted once, whoever was first"


def test_a_single_text_is_refused() -> None:
    with pytest.raises(ValueError, match="texts must be a list of texts, got the one text 'abc'"):
        sums_of(CachedEmbedder(Fake(), None), "abc")


def test_a_model_without_token_vectors_offers_no_sums() -> None:
    embedder = CachedEmbedder(Plain(), None)
    assert embedder.token_sums is None
    assert Watched(embedder, lambda now: None).token_sums is None


def test_steps_between_windows_leave_each_token_company() -> None:
    for tokens in range(WINDOW + 1, 1500):
        for (begin, _, last), (later, first, _) in pairwise(window_plan(tokens)):
            assert last == first
            assert begin + WINDOW - last >= STRIDE // 2
            assert first - later >= STRIDE // 2
