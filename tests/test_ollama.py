"""Vectors from an Ollama server, against a double that speaks its protocol; see `ollama_double.py`."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import httpx
import numpy as np
import ollama
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cache
from cache import canaries, ollama_client, ollama_models, open_embedder
from cache.embedder import CachedEmbedder
from cache.errors import (
    BadVectors,
    EmbedderError,
    ModelChanged,
    ModelMissing,
    NotAnEmbeddingModel,
    NotOllama,
    ServerAway,
)
from cache.minilm import MiniLM
from cache.ollama_address import key_header, server_host
from cache.ollama_client import Server, Verdict, judge, probe
from cache.ollama_embedder import MOST_CRASHES, Ollama, next_cut
from cache.store import Store
from cache.tidying import remove_uninstalled
from tests.case_server import MODEL, CaseServer, SilentServer
from tests.ollama_double import OllamaDouble, embedding_model

TEXTS = [f"Post number {index} is about retrieval." for index in range(70)]
CANARY_ROW = 1  # in the store, after an embedder was opened
LONG = "The harbour master kept two books, and in the second she wrote the truth. " * 40


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture
def server(alone: None) -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        yield double


def opened(server: OllamaDouble, model: str = "all-minilm", store: Store | None = None) -> CachedEmbedder:
    """An embedder in front of the double, with no store unless one is given; what opening asks is not recorded."""
    embedder = CachedEmbedder(Ollama(model, server.host, store), store)
    server.asked.clear()
    server.taken.clear()
    return embedder


# Vectors


def test_vectors_are_the_models_own_in_batches_of_32(server: OllamaDouble, minilm: MiniLM) -> None:
    vectors = opened(server)(TEXTS, "document")
    expected = np.stack([record.vector for record in minilm.encode(TEXTS)])
    assert np.abs(vectors - expected).max() < 1e-6
    assert vectors.dtype == np.float32
    assert server.sizes == [32, 32, 6]


def test_order_is_kept_although_the_short_are_asked_for_first(server: OllamaDouble, minilm: MiniLM) -> None:
    texts = ["a long text about bridges and floods", "b", "a middling text"]
    vectors = opened(server)(texts, "document")
    assert server.asked[0]["input"] == ["b", "a middling text", "a long text about bridges and floods"]
    assert np.abs(vectors - np.stack([record.vector for record in minilm.encode(texts)])).max() < 1e-6


def test_long_texts_make_smaller_batches(server: OllamaDouble) -> None:
    opened(server, "nomic-embed-text")([f"{index} " + "word " * 1900 for index in range(7)], "query")
    assert server.sizes == [3, 1, 3, 1], "the second asks whether what is too long is refused"


def test_the_options_are_the_same_in_every_request(server: OllamaDouble) -> None:
    embedder = opened(server)
    embedder([*TEXTS[:3], LONG], "document")
    assert {str(body["options"]) for body in server.asked} == {"{'num_ctx': 256, 'num_batch': 256}"}
    assert {body["truncate"] for body in server.asked} == {False}


def test_each_kind_has_its_prefix_on_the_wire(server: OllamaDouble) -> None:
    embedder = opened(server, "nomic-embed-text")
    embedder(["why?"], "query")
    embedder(["why?"], "document")
    assert [body["input"] for body in server.asked] == [["search_query: why?"], ["search_document: why?"]]
    assert embedder.prefixes == {"query": "search_query: ", "document": "search_document: "}


def test_what_is_stored_is_not_asked_for_again(server: OllamaDouble, tmp_path: Path) -> None:
    first = opened(server, store=Store(tmp_path))(TEXTS, "document")
    server.asked.clear()
    again = opened(server, store=Store(tmp_path))(TEXTS, "document")
    assert again.tobytes() == first.tobytes()
    assert server.sizes == []


def test_a_lone_surrogate_reaches_the_server_as_a_replacement(server: OllamaDouble) -> None:
    opened(server)(["half \ud83d letter"], "document")
    assert server.asked[0]["input"] == ["half \ufffd letter"]


def test_what_the_user_is_shown(server: OllamaDouble) -> None:
    embedder = opened(server, "nomic-embed-text")
    assert embedder.name == "ollama:nomic-embed-text"
    assert re.fullmatch(
        "ollama:nomic-embed-text, digest 000000000000, engine from 0.30, [0-9a-f]{8}", embedder.identity
    )
    assert embedder.limit == 2048
    assert embedder.dimension == 384
    assert embedder.token_spans is None
    assert embedder.warnings == []


def test_the_dimension_is_asked_for_where_the_server_does_not_tell_it(server: OllamaDouble) -> None:
    del server.models["all-minilm:latest"]["model_info"]["bert.embedding_length"]
    assert opened(server)([], "document").shape == (0, 384)


# Texts that are too long


def test_a_long_text_is_cut_here_and_the_cut_is_known(server: OllamaDouble, minilm: MiniLM) -> None:
    embedder = opened(server)
    texts = [*TEXTS[:20], LONG, *TEXTS[20:40]]
    vectors = embedder(texts, "document")
    read = embedder.read(texts)
    assert [length for text, length in zip(texts, read, strict=True) if length != len(text)] == [read[20]]
    cut = LONG[: read[20]]
    (expected,) = minilm.encode([cut])
    assert np.abs(vectors[20] - expected.vector).max() < 1e-6
    assert 256 * 0.9 <= (expected.tokens or 0) <= 256
    assert vectors[20] @ minilm.encode([LONG])[0].vector > 0.99


def test_the_prefix_is_not_counted_as_read(server: OllamaDouble) -> None:
    server.models["nomic-embed-text:latest"] = embedding_model("nomic-bert", 64)
    embedder = opened(server, "nomic-embed-text")
    (read,) = embedder.read([LONG])
    assert max(server.taken, key=len) == "search_document: " + LONG[:read]


def test_many_long_texts_cost_few_requests(server: OllamaDouble) -> None:
    texts = [f"{index} {LONG}" for index in range(4)]
    opened(server)(texts, "document")
    assert len(server.taken) <= 4 * 4
    assert len(server.asked) <= 7 + 4 * 5


@given(st.integers(1, 200_000), st.integers(1, 200_000), st.integers(1, 20_000))
def test_the_search_for_the_cut_ends_close_below_the_longest_taken(length: int, longest: int, guess: int) -> None:
    longest = min(longest, length - 1)
    low, high, requests = 0, length, 0
    while cut := next_cut(low, high, guess):
        assert low < cut < high
        requests += 1
        low, high = (cut, high) if cut <= longest else (low, cut)
    assert low <= longest
    assert longest - low <= max(1, low * 0.05)
    assert requests <= 50


# Failures of the server


def test_a_busy_server_is_asked_again(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.busy = 3
    assert embedder(TEXTS[:3], "document").shape == (3, 384)
    assert server.sizes == [3, 3, 3, 3]


def test_a_server_that_stays_busy_is_given_up_after_four_tries(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.busy = 100
    with pytest.raises(ServerAway, match=r"stayed unable to answer .*503.*maximum pending requests"):
        embedder(TEXTS[:3], "document")
    assert server.sizes == [3, 3, 3, 3]


def test_a_cut_connection_is_tried_again(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.cut = 2
    assert embedder(TEXTS[:3], "document").shape == (3, 384)
    assert server.sizes == [3, 3, 3]


def test_a_crash_is_tried_again_once(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.crash = 1
    assert embedder(TEXTS[:4], "document").shape == (4, 384)
    assert server.sizes == [4, 4]


def test_a_crash_over_many_texts_is_got_round_with_fewer(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.crash = 2
    assert embedder(TEXTS[:4], "document").shape == (4, 384)
    assert server.sizes == [4, 4, 2, 2]


def test_a_text_that_breaks_the_server_down_does_not_lose_the_others(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    embedder = opened(server, store=store)
    server.crash_on = "number 5 "
    vectors = embedder(TEXTS[:8], "document")
    assert np.flatnonzero(~vectors.any(axis=1)).tolist() == [5]
    assert "no vector for 1 of the texts so far" in embedder.warnings[0]
    assert embedder.warnings[0].endswith("the server broke down twice over it.")
    assert server.sizes == [8, 8, 4, 4, 4, 2, 2, 1, 1, 1, 2]
    server.crash_on = ""
    server.asked.clear()
    assert opened(server, store=store)(TEXTS[:8], "document").any(axis=1).all()
    assert server.sizes == [1], "only that one is asked for in the next run"


def test_a_long_text_that_breaks_the_server_down_when_cut_does_not_lose_the_others(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.on_embed = lambda: setattr(server, "crash_on", "gloom" if len(server.asked) > 3 else "")
    vectors = embedder(["One.", "gloom " * 400, "Two."], "document")
    assert vectors.any(axis=1).tolist() == [True, False, True]


def test_a_server_that_breaks_down_over_every_text_ends_the_run(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.crash_on = "e"
    with pytest.raises(BadVectors, match=r"broke down twice over the text 'Post number \d+ is about retrieval\.'"):
        embedder(TEXTS[:32], "document")
    assert server.sizes.count(1) == 2 * (MOST_CRASHES + 2), "and one that cannot be to blame"


def test_many_texts_that_break_the_server_down_do_not_end_the_run(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.crash_on = "number 1"  # 1, and 10 to 19
    vectors = embedder(TEXTS[:32], "document")
    assert np.flatnonzero(~vectors.any(axis=1)).tolist() == [1, *range(10, 20)]


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_text_without_a_vector_is_told_and_the_others_have_theirs(
    server: OllamaDouble, tmp_path: Path, status: int
) -> None:
    store = Store(tmp_path)
    embedder = opened(server, store=store)
    server.nan_on, server.nan_status = "number 5 ", status
    vectors = embedder(TEXTS[:8], "document")
    assert np.flatnonzero(~vectors.any(axis=1)).tolist() == [5]
    assert embedder.read(TEXTS[:8]).tolist() == [0 if row == 5 else len(TEXTS[row]) for row in range(8)]
    assert "no vector for 1 of the texts so far" in embedder.warnings[0]
    assert "retrieval" not in embedder.warnings[0], "what one user asks for is not shown to others"
    assert server.sizes == [8, 4, 4, 2, 1, 1, 2], "halved down to it; a NaN comes again, so it is not asked for twice"
    server.nan_on = ""
    assert opened(server, store=store)(TEXTS[:8], "document").any(axis=1).all(), "asked for again in the next run"


def test_a_question_without_a_vector_is_refused(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.nan_on = "number 5 "
    with pytest.raises(BadVectors, match="no vector for the text 'Post number 5"):
        embedder(TEXTS[:8], "query")


def test_a_server_that_has_no_vector_for_anything_is_refused(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.nan_on = "number"
    with pytest.raises(BadVectors, match="no vector for 8 texts, the first 'Post number 0"):
        embedder(TEXTS[:8], "document")


def test_a_server_that_cuts_though_asked_not_to_is_seen_by_its_count_of_tokens(tmp_path: Path) -> None:
    with CaseServer({"window": 256}) as server:
        embedder = open_embedder(f"ollama:{MODEL}", Store(tmp_path), server.host)
        texts = ["word " * 100, "word " * 500]
        embedder(texts, "document")
        whole, cut = embedder.read(texts).tolist()
    assert whole == len(texts[0])
    assert 0.9 * 254 * 5 <= cut <= 254 * 5


def test_a_model_that_is_not_there_names_the_command(server: OllamaDouble) -> None:
    with pytest.raises(ModelMissing) as caught:
        opened(server, "bge-m3")
    assert "`ollama pull bge-m3`" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_is_removed_meanwhile_names_the_command(server: OllamaDouble) -> None:
    embedder = opened(server)
    del server.models["all-minilm:latest"]
    with pytest.raises(ModelMissing, match=r"`ollama pull all-minilm`$"):
        embedder(TEXTS[:1], "document")


def test_a_chat_model_is_refused_at_the_door(server: OllamaDouble) -> None:
    with pytest.raises(NotAnEmbeddingModel, match=r"llama3\.2 is not an embedding model"):
        opened(server, "llama3.2")


def test_a_model_that_turns_out_to_give_no_vectors_is_refused(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.models["all-minilm:latest"] = {"capabilities": ["completion"], "model_info": {}}
    with pytest.raises(NotAnEmbeddingModel, match="all-minilm"):
        embedder(TEXTS[:1], "document")
    assert len(server.asked) == 1


def test_a_model_that_is_replaced_meanwhile_leaves_nothing_in_the_store(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    embedder = opened(server, store=store)

    def replaced() -> None:
        server.digests["all-minilm:latest"] = "f" * 64

    server.on_embed = replaced
    with pytest.raises(ModelChanged, match="was replaced on the server"):
        embedder(TEXTS[:3], "document")
    assert store.count() == CANARY_ROW


def test_a_server_without_digests_is_refused(server: OllamaDouble) -> None:
    server.digests["all-minilm:latest"] = ""
    with pytest.raises(EmbedderError, match="does not tell the digest of all-minilm"):
        opened(server)


class Slow:
    """A request for vectors that is in time for so many texts only."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
        self.sizes: list[int] = []
        embed = Server.embed

        def answer(server: Server, model: str, texts: Sequence[str], tokens: int) -> ollama.EmbedResponse:
            self.sizes.append(len(texts))
            if len(texts) > most:
                raise httpx.ReadTimeout("timed out")
            return embed(server, model, texts, tokens)

        monkeypatch.setattr(Server, "embed", answer)


def test_a_slow_server_gets_half_the_texts_and_later_batches_are_as_small(
    server: OllamaDouble, minilm: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = opened(server)
    slow = Slow(monkeypatch, 8)
    vectors = embedder(TEXTS[10:58], "document")
    assert slow.sizes == [32, 16, 8, 8, 16, 8, 8, 8, 8], "only the first batch is waited for in vain"
    assert np.abs(vectors - np.stack([record.vector for record in minilm.encode(TEXTS[10:58])])).max() < 1e-6


def test_a_server_that_is_too_slow_for_a_quarter_is_given_up(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = opened(server)
    slow = Slow(monkeypatch, 1)
    with pytest.raises(ServerAway, match="did not answer in time"):
        embedder(TEXTS[:32], "document")
    assert slow.sizes == [32, 16, 8]


def test_another_web_site_is_recognised(server: OllamaDouble) -> None:
    server.html = True
    with pytest.raises(NotOllama, match=rf"what answers at http://{server.host} is not an Ollama server"):
        opened(server)


def test_another_web_site_in_the_middle_of_the_work_is_recognised(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.html = True
    with pytest.raises(NotOllama):
        embedder(TEXTS[:3], "document")
    assert len(server.asked) == 1


def test_no_server_is_said_plainly() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with pytest.raises(ServerAway, match=rf"no Ollama server answers at http://127.0.0.1:{port}: start it"):
        Ollama("all-minilm", f"127.0.0.1:{port}")


def test_a_slow_server_is_waited_for_only_so_long(server: OllamaDouble) -> None:
    server.delay = 1.0
    with pytest.raises(ServerAway, match="did not answer in time"):
        Server(server.host, read_seconds=0.1).version()


def test_a_server_that_never_answers_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama_client, "ASK_SECONDS", 0.2)
    with SilentServer() as server, pytest.raises(ServerAway, match="did not answer in time"):
        Ollama("all-minilm", server.host)


def test_wrong_answers_do_not_reach_the_store(
    server: OllamaDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*vectors: Sequence[float]) -> None:
        response = ollama.EmbedResponse(model="all-minilm", embeddings=list(vectors))
        monkeypatch.setattr(Server, "embed", lambda *_: response)

    store = Store(tmp_path)
    embedder = opened(server, store=store)
    unit = [1.0] + [0.0] * 383
    for vectors, message in [
        ([unit], "must answer 2 vectors, got 1"),
        ([unit, unit[:-1]], r"must answer 384 numbers for a text, got \(383,\)"),
        ([unit, [0.1] * 384], r"length 1, got length 1\.96"),
    ]:
        answer(*vectors)
        with pytest.raises(BadVectors, match=message):
            embedder(TEXTS[:2], "document")
    assert store.count() == CANARY_ROW
    answer(unit, [1.0004] + [0.0] * 383)
    assert embedder(TEXTS[:2], "document")[1][0] == 1, "what is nearly of unit length is made so"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (ConnectionError("Failed to connect"), Verdict.AGAIN),
        (httpx.ConnectTimeout("slow"), Verdict.AGAIN),
        (httpx.RemoteProtocolError("gone"), Verdict.AGAIN),
        (httpx.ReadTimeout("slow"), Verdict.SLOW),
        (ollama.ResponseError("server busy, please try again.", 503), Verdict.AGAIN),
        (ollama.ResponseError("", 502), Verdict.AGAIN),
        (ollama.ResponseError("llama-server process has terminated: signal", 500), Verdict.AGAIN),
        (ollama.ResponseError("model requires more system memory (9 GiB) than is available", 500), Verdict.STOP),
        (ollama.ResponseError('do embedding request: Post "http://x": EOF', 400), Verdict.CRASH),
        (ollama.ResponseError('Post "http://127.0.0.1:1/tokenize": connect: connection refused', 400), Verdict.CRASH),
        (ollama.ResponseError("the input length exceeds the context length", 400), Verdict.LONG),
        (ollama.ResponseError("input exceeds maximum context length", 400), Verdict.LONG),
        (ollama.ResponseError("request (9 tokens) exceeds the available context size (8 tokens)", 400), Verdict.LONG),
        (ollama.ResponseError("model runner has unexpectedly stopped, this may be due to", 500), Verdict.CRASH),
        (ollama.ResponseError("an error was encountered while running the model: GGML_ASSERT", 500), Verdict.CRASH),
        (ollama.ResponseError("prediction aborted, token repeat limit reached", 500), Verdict.LOOP),
        (ollama.ResponseError("embedding contains NaN or Inf values", 400), Verdict.NAN),
        (ollama.ResponseError("failed to encode response: json: unsupported value: NaN", 500), Verdict.NAN),
        (ollama.ResponseError("failed to encode response: json: unsupported value: +Inf", 500), Verdict.NAN),
        (ollama.ResponseError("invalid model name", 400), Verdict.STOP),
        (ollama.ResponseError("", 403), Verdict.STOP),
        (ollama.ResponseError('{"error":{}}', 500), Verdict.STOP),
        (ValueError("no JSON"), Verdict.STOP),
    ],
)
def test_a_failure_is_judged_by_what_it_says(error: Exception, verdict: Verdict) -> None:
    assert judge(error) is verdict


# Finding a server and its models


def test_probe_finds_the_embedding_models(server: OllamaDouble) -> None:
    info = probe(server.host)
    assert info is not None
    assert (info.host, info.version) == (f"http://{server.host}", "0.33.0")
    assert info.models == ("all-minilm", "nomic-embed-text")


def test_probe_asks_older_servers_for_each_model(server: OllamaDouble) -> None:
    server.tells_capabilities = False
    server.models["old:latest"] = {"model_info": {"general.architecture": "bert", "bert.pooling_type": 1}}
    server.models["broken:latest"] = {"model_info": 5, "capabilities": 5}
    server.digests |= {"old:latest": "a" * 64, "broken:latest": "b" * 64}
    info = probe(server.host)
    assert info is not None
    assert info.models == ("all-minilm", "nomic-embed-text", "old")


def test_probe_tells_apart_nothing_and_something_else(server: OllamaDouble) -> None:
    server.html = True
    assert probe(server.host) is None
    assert probe("127.0.0.1:1") is None
    with pytest.raises(ValueError, match="must look like"):
        probe("http://two words")


@contextmanager
def silent_host() -> Iterator[str]:
    """A host that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def dripping_host() -> Iterator[str]:
    """A host that sends one byte every tenth of a second, so that no single wait is ever long."""

    def drip() -> None:
        connection, _ = listener.accept()
        with closing(connection):
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b" " * 100:
                try:
                    connection.send(bytes([byte]))
                except OSError:
                    return
                time.sleep(0.1)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=drip, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("host", [silent_host, dripping_host])
def test_probe_is_back_in_time_whatever_the_host_does(host: Callable[[], AbstractContextManager[str]]) -> None:
    with host() as address:
        start = time.monotonic()
        assert probe(address, timeout=0.5) is None
        assert time.monotonic() - start < 2.0


def test_the_preferred_model_is_the_default_where_a_server_has_it(server: OllamaDouble) -> None:
    choice = cache.default_embedder_name(cache.look(server.host))
    assert choice.name == "ollama:nomic-embed-text"
    assert "choose minilm" in choice.sentence
    del server.models["nomic-embed-text:latest"]
    assert cache.default_embedder_name(cache.look(server.host)).name == "ollama:all-minilm"


def test_the_built_in_model_is_the_default_elsewhere(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    server.models = {"llama3.2:latest": server.models["llama3.2:latest"]}
    choice = cache.default_embedder_name(cache.look(server.host))
    assert choice.name == "minilm"
    assert "ollama pull nomic-embed-text" in choice.sentence
    assert (
        "no Ollama server answers at http://127.0.0.1:1"
        in cache.default_embedder_name(cache.look("127.0.0.1:1")).sentence
    )
    monkeypatch.setenv("OLLAMA_HOST", "http://[broken")
    choice = cache.default_embedder_name(cache.look())
    assert choice.name == "minilm"
    assert "got 'http://[broken'" in choice.sentence


@pytest.mark.parametrize("name", ["", "mini", "ollama:", "ollama: ", "openai:x", "MiniLM"])
def test_an_unknown_embedder_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match='must be "minilm" or "ollama:MODEL", got'):
        cache.open_embedder(name)


def test_open_embedder_goes_to_the_host_of_the_environment(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path))
    embedder = cache.open_embedder("ollama:all-minilm:latest")
    embedder(TEXTS[:2], "document")
    assert embedder.name == "ollama:all-minilm"
    assert Store(tmp_path).count() == 2 + CANARY_ROW


# Addresses and keys


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  box \n", "http://box:11434"),
        ('"box:1234"', "http://box:1234"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("HTTP://Box:99", "http://box:99"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://me:secret@box:99/x?y=z", "http://box:99/x"),
    ],
)
def test_an_address_is_read_as_ollama_reads_it(given: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    assert server_host(given) == expected


@pytest.mark.parametrize("given", ["ftp://box", "box:port", "two words", "http://[box", "box:99999", "a:b:c", "b\\x"])
def test_a_malformed_address_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="the address of an Ollama server must look like"):
        server_host(given)


def test_the_key_goes_only_where_it_belongs(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    opened(server)(TEXTS[:1], "document")
    assert all("secret" not in str(headers) for headers in server.headers)
    assert key_header(server_host("https://ollama.com")) == {"authorization": "Bearer secret"}
    for other in ("https://example.org:443", "https://ollama.com.example.org:443", "http://ollama.com:80"):
        assert key_header(server_host(other)) == {}
    assert key_header("http://example.org:80") == {}
    monkeypatch.setenv("OLLAMA_HOST", "not [ an address")
    assert key_header("http://example.org:80") == {}
    server.headers.clear()
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    opened(server)(TEXTS[:1], "document")
    assert all(headers["authorization"] == "Bearer secret" for headers in server.headers)


def test_a_proxy_is_not_asked_for_this_machine(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert opened(server)(TEXTS[:1], "document").shape == (1, 384)


# What is known of models and versions


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q4_K_M", "search_query: ", "search_document: "),
        ("nomic-embed-text-v2-moe:latest", "search_query: ", "search_document: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("hf.co/x/snowflake-arctic-embed-l-v2.0-GGUF", "query: ", ""),
        ("bge-large", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("all-minilm", "", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        (
            "qwen3-embedding:0.6b",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
            "",
        ),
    ],
)
def test_prefixes_by_model(model: str, query: str, document: str) -> None:
    assert ollama_models.prefixes(model) == {"query": query, "document": document}


@pytest.mark.parametrize(
    ("version", "epoch"),
    [
        ("0.3.14", "before 0.12"),
        ("0.12.0", "0.12 to 0.13.0"),
        ("0.13.0", "0.12 to 0.13.0"),
        ("0.13.1", "0.13.1 to 0.29"),
        ("0.24.0-rc1", "0.13.1 to 0.29"),
        ("0.30.0", "from 0.30"),
        ("1.2", "from 0.30"),
        ("0.0.0", "unknown version 0.0.0"),
        ("main", "unknown version main"),
    ],
)
def test_epochs_of_versions(version: str, epoch: str) -> None:
    assert ollama_models.epoch(version) == epoch


@pytest.mark.parametrize(
    ("architecture", "context", "parameters", "version", "limit"),
    [
        ("nomic-bert", 2048, "num_ctx    8192", "0.33.0", 2048),
        ("bert", 512, "stop x\nnum_ctx    256", "0.33.0", 256),
        ("bert", 8192, "", "0.33.0", 8192),
        ("qwen3", 32768, "", "0.33.0", 2048),
        ("qwen3", 32768, "", "0.12.0", 8192),
        ("qwen3", 32768, "", "0.0.0", 2048),
    ],
)
def test_the_limit_in_tokens(architecture: str, context: int, parameters: str, version: str, limit: int) -> None:
    assert ollama_models.reading_limit(embedding_model(architecture, context, parameters), version) == limit


def test_the_limit_of_a_model_that_tells_nothing() -> None:
    assert ollama_models.reading_limit({"model_info": None, "parameters": None}, "0.24.0") == 2048


def test_versions_that_give_wrong_vectors_are_warned_of(server: OllamaDouble) -> None:
    server.version = "0.24.0"
    (warning,) = opened(server).warnings
    assert "0.24.0 gives wrong vectors" in warning
    server.version = "0.5.7"
    assert "mix up vectors" in opened(server).warnings[0]
    server.version = "0.0.0"
    assert "cannot be told" in opened(server).warnings[0]
    assert ollama_models.version_warnings("0.24.0", "qwen3") == []
    assert ollama_models.version_warnings("0.12.0", "bert") == []


# Engines told apart by what they make of a few texts


def moved(by: float) -> Callable[[Server, str, Sequence[str], int], ollama.EmbedResponse]:
    """What asks a server whose vectors all have moved by so much."""
    embed = Server.embed

    def answer(self: Server, model: str, texts: Sequence[str], tokens: int) -> ollama.EmbedResponse:
        rows = np.array(embed(self, model, texts, tokens).embeddings)
        rows += by * np.linspace(-1, 1, 384) / np.linalg.norm(np.linspace(-1, 1, 384))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return ollama.EmbedResponse(model=model, embeddings=rows.tolist())

    return answer


@pytest.mark.parametrize(("by", "missing"), [(0.05, 3), (1e-7, 0)])
def test_an_engine_whose_vectors_have_moved_shares_none_with_the_old(
    server: OllamaDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: float, missing: int
) -> None:
    before = opened(server, store=Store(tmp_path))
    before(TEXTS[:3], "document")
    server.version = "0.34.0"
    monkeypatch.setattr(Server, "embed", moved(by))
    after = opened(server, store=Store(tmp_path))
    assert after.missing(TEXTS[:3], "document") == missing
    assert (after.identity != before.identity) == bool(missing)


def test_canaries_are_asked_for_once_a_version(server: OllamaDouble, tmp_path: Path) -> None:
    for version, sizes in [("0.33.0", [5]), ("0.33.0", []), ("0.33.1", [5]), ("0.33.0", [])]:
        server.version = version
        server.asked.clear()
        Ollama("all-minilm", server.host, Store(tmp_path))
        assert server.sizes == sizes
    assert server.taken[:5] == list(canaries.CANARIES)


@pytest.mark.parametrize(
    ("sees", "said"),
    [
        (lambda text: "[UNK]" if text.isupper() else text, "'REPLACE SUMP PUMP' and 'CREATE A SPREADSHEET'"),
        (lambda text: text if text.isascii() else "[UNK]", "'Hokkaidō' and 'Éire'"),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_server_that_mixes_texts_up_is_warned_of_whatever_its_version(
    server: OllamaDouble, tmp_path: Path, sees: Callable[[str], str], said: str, again: bool
) -> None:
    server.sees = sees
    if again:
        opened(server, store=Store(tmp_path))
    (warning,) = opened(server, store=Store(tmp_path)).warnings
    assert said in warning
    assert "ollama:all-minilm on Ollama 0.33.0" in warning


def test_canaries_without_a_vector_are_told_and_do_not_stop_the_work(server: OllamaDouble, tmp_path: Path) -> None:
    server.nan_on = "PUMP"
    embedder = opened(server, store=Store(tmp_path))
    assert "is not known: all-minilm:latest has no vector for the text 'REPLACE SUMP PUMP'" in embedder.warnings[0]
    assert embedder.identity.endswith("unseen")
    assert embedder(TEXTS[:2], "document").shape == (2, 384)
    server.nan_on = ""
    assert opened(server, store=Store(tmp_path)).missing(TEXTS[:2], "document") == 2, "the engine is seen now"


def test_a_server_that_is_changed_meanwhile_leaves_nothing_in_the_store(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    embedder = opened(server, store=store)
    embedder(TEXTS[:3], "document")
    server.version = "0.34.0"
    with pytest.raises(
        ModelChanged, match=r"changed from 0\.33\.0 to 0\.34\.0 meanwhile: choose ollama:all-minilm again"
    ):
        embedder(TEXTS[:5], "document")
    assert store.count() == CANARY_ROW + 3


@pytest.mark.parametrize("change", ["digest", "version", "limit"])
def test_vectors_of_different_models_or_engines_never_meet(server: OllamaDouble, tmp_path: Path, change: str) -> None:
    opened(server, store=Store(tmp_path))(TEXTS[:3], "document")
    if change == "digest":
        server.digests["all-minilm:latest"] = "f" * 64
    elif change == "version":
        server.version = "0.24.0"
    else:
        server.models["all-minilm:latest"] = embedding_model("bert", 512)
    assert opened(server, store=Store(tmp_path)).missing(TEXTS[:3], "document") == 3


def test_what_a_replaced_model_made_is_removed_and_nothing_else(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    open_embedder("minilm", store)(TEXTS[:2], "document")
    server.digests |= {"all-minilm:latest": "a" * 64, "nomic-embed-text:latest": "b" * 64}
    for model in ("all-minilm", "nomic-embed-text"):
        open_embedder(f"ollama:{model}", store, server.host)(TEXTS[:3], "document")
    server.digests["all-minilm:latest"] = "f" * 64
    _, removed = remove_uninstalled(store, server.host)
    assert sorted(removed.values()) == [1, 3], "the vectors, and those of the canaries"
    assert all(tag.startswith("ollama:all-minilm, ") for tag in removed)
    assert sorted(store.tags().values()) == [1, 2, 3]


def test_two_names_of_one_model_share_their_vectors(server: OllamaDouble, tmp_path: Path) -> None:
    opened(server, "all-minilm", Store(tmp_path))(TEXTS[:3], "document")
    assert opened(server, "all-minilm:latest", Store(tmp_path)).missing(TEXTS[:3], "document") == 0
