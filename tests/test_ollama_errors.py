"""What is done about every way in which a request for vectors can fail, in the words of three generations of Ollama.

Each fault of `ollama_double.FAULTS` is met once, and then without end. The texts of the requests tell what was done:
`[4, 4]` is tried again, `[4, 2, 2]` is halved, and `[4]` stops at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from cache import ollama_embedder
from cache.embedder import CachedEmbedder
from cache.errors import (
    BadVectors,
    EmbedderError,
    ModelMissing,
    NotAnEmbeddingModel,
    NotOllama,
    ServerAway,
)
from cache.minilm import MiniLM
from cache.ollama_client import Server
from cache.ollama_embedder import Ollama
from tests.ollama_double import FAULTS, GENERATIONS, OllamaDouble, minilm, stand_in

TEXTS = [f"Text {index} is short." for index in range(4)]


@dataclass(frozen=True)
class Course:
    """What a fault leads to: the sizes of the requests where it comes once, or always; and the error in the end."""

    once: list[int]
    always: list[int]
    error: type[EmbedderError]


AGAIN = Course([4, 4], [4, 4, 4, 4], ServerAway)
CRASH = Course([4, 4], [4, 4, *[2, 2, 1, 1, 1, 1] * 2], BadVectors)
HALVED = Course([4, 2, 2], [4, 2, 1, 1, 2, 1, 1], BadVectors)


def stop(error: type[EmbedderError]) -> Course:
    """The user is told at once."""
    return Course([4], [4], error)


#: The course of each fault, and what the sentence must say.
EXPECTED: dict[str, tuple[Course, str]] = {
    "model missing": (stop(ModelMissing), "does not have all-minilm: fetch it with `ollama pull all-minilm`"),
    "name empty": (stop(ModelMissing), "does not have all-minilm"),
    "name invalid": (stop(EmbedderError), "refused (status 400): invalid model name"),
    "chat model": (stop(NotAnEmbeddingModel), "all-minilm is not an embedding model: choose one that is"),
    "no input": (stop(BadVectors), "must answer 4 vectors, got 0"),
    "empty text": (stop(EmbedderError), "refused (status 500): no input provided"),
    "wrong input": (stop(EmbedderError), "refused (status 400): invalid input type"),
    "nan": (HALVED, "has no vector for 4 texts, the first 'Text 0 is short.'"),
    "crash": (CRASH, "for 4 texts, the first 'Text 0 is short.': the server broke down twice"),
    "runner restarts": (CRASH, "for 4 texts, the first 'Text 0 is short.': the server broke down twice"),
    "runner gone": (CRASH, "for 4 texts, the first 'Text 0 is short.': the server broke down twice"),
    "load terminated": (AGAIN, "process has terminated: signal: killed"),
    "load not started": (AGAIN, "error starting llama-server"),
    "load timed out": (AGAIN, "timed out waiting for"),
    "load without memory": (stop(EmbedderError), "requires more system memory (9.1 GiB) than is available"),
    "load incompatible": (stop(EmbedderError), "may be incompatible with your version of Ollama"),
    "bad json": (stop(EmbedderError), "invalid character"),
    "no body": (stop(EmbedderError), "missing request body"),
    "wrong option": (stop(EmbedderError), 'option "num_ctx" must be of type integer'),
    "queue full": (AGAIN, "server busy, please try again. maximum pending requests exceeded"),
    "client gone": (AGAIN, "499: request canceled"),
    "unknown path": (stop(NotOllama), "is not an Ollama server"),
    "wrong verb": (stop(NotOllama), "is not an Ollama server"),
    "wrong host": (stop(EmbedderError), "status 403"),
    "no key": (stop(EmbedderError), "refused (status 401): unauthorized"),
    "proxy page": (stop(NotOllama), "is not an Ollama server"),
    "proxy bad gateway": (AGAIN, "502"),
    "empty error": (stop(EmbedderError), "refused (status 500)"),
    "list": (stop(NotOllama), "is not an Ollama server"),
    "list, refused": (stop(NotOllama), "is not an Ollama server"),
    "null vectors": (stop(NotOllama), "is not an Ollama server"),
    "cut": (AGAIN, "no Ollama server answers at"),
    "cut in the answer": (AGAIN, "no Ollama server answers at"),
}

#: Texts that are refused as too long are cut in the end, which takes requests of its own.
TOO_LONG = ("text without tokens", "too long", "too long, in other words", "num_ctx tiny")

CASES = [(fault, version) for fault in EXPECTED for version in GENERATIONS]


@pytest.fixture
def server(alone: None) -> Iterator[OllamaDouble]:
    with OllamaDouble(vectors=stand_in) as double:
        yield double


def opened(server: OllamaDouble, version: str = GENERATIONS[0]) -> CachedEmbedder:
    server.version = version
    embedder = CachedEmbedder(Ollama("all-minilm", server.host), None)
    server.asked.clear()  # the canaries were asked for
    return embedder


def refused(server: OllamaDouble, fault: str, version: str = GENERATIONS[0], texts: list[str] = TEXTS) -> EmbedderError:
    """The error where the fault comes without end."""
    embedder = opened(server, version)
    server.always = fault
    with pytest.raises(EmbedderError) as caught:
        embedder(texts, "document")
    return caught.value


def test_every_fault_is_expected_here() -> None:
    assert {*EXPECTED, *TOO_LONG, "slow", "proxy too large"} == {*FAULTS}


@pytest.mark.parametrize(("fault", "version"), CASES)
def test_a_fault_that_comes_once(server: OllamaDouble, fault: str, version: str) -> None:
    course, _ = EXPECTED[fault]
    embedder = opened(server, version)
    server.faults = [fault]
    if len(course.once) > 1:
        expected = np.array(stand_in(TEXTS), np.float32)
        assert np.abs(embedder(TEXTS, "document") - expected).max() < 1e-6
    else:
        with pytest.raises(course.error):
            embedder(TEXTS, "document")
    assert server.sizes == course.once


@pytest.mark.parametrize(("fault", "version"), CASES)
def test_a_fault_that_comes_always(server: OllamaDouble, fault: str, version: str) -> None:
    course, sentence = EXPECTED[fault]
    error = refused(server, fault, version)
    assert type(error) is course.error
    assert sentence in str(error)
    assert "\n" not in str(error)
    assert server.sizes == course.always


@pytest.mark.parametrize("fault", TOO_LONG)
@pytest.mark.parametrize("version", GENERATIONS)
def test_a_batch_that_is_too_long_is_halved(server: OllamaDouble, fault: str, version: str) -> None:
    embedder = opened(server, version)
    server.faults = [fault]
    assert embedder(TEXTS, "document").any(axis=1).all()
    assert server.sizes == [4, 2, 2]


@pytest.mark.parametrize("fault", TOO_LONG)
def test_a_text_that_is_always_too_long_is_named(server: OllamaDouble, fault: str) -> None:
    assert "takes not even one character of the text 'Text 0 is short.'" in str(refused(server, fault))


def test_the_doubles_vectors_are_those_of_the_built_in_model() -> None:
    with OllamaDouble(vectors=minilm) as double:
        ours = CachedEmbedder(MiniLM(), None)(TEXTS, "document")
        assert opened(double)(TEXTS, "document").tobytes() == ours.tobytes()


def test_a_slow_batch_is_halved(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama_embedder, "Server", partial(Server, read_seconds=0.3))
    embedder = opened(server)
    server.faults = ["slow"]
    assert embedder(TEXTS, "document").any(axis=1).all()
    assert server.sizes == [4, 2, 2]


def test_a_server_that_stays_slow_is_told(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama_embedder, "Server", partial(Server, read_seconds=0.3))
    error = refused(server, "slow")
    assert isinstance(error, ServerAway)
    assert "did not answer in time" in str(error)


def test_a_batch_too_large_for_a_proxy_is_halved(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.faults = ["proxy too large"]
    assert embedder(TEXTS, "document").any(axis=1).all()
    assert server.sizes == [4, 2, 2]


@pytest.mark.parametrize("fault", ["proxy too large", "proxy bad gateway", "empty error"])
def test_no_markup_in_a_sentence(server: OllamaDouble, fault: str) -> None:
    assert not {"<", "{"} & set(str(refused(server, fault)))


def test_a_refused_host_name_says_what_to_do(server: OllamaDouble) -> None:
    assert "OLLAMA_HOST" in str(refused(server, "wrong host"))


def test_a_long_text_without_a_vector_does_not_lose_the_others(server: OllamaDouble) -> None:
    embedder = opened(server)
    server.nan_on = "gloom"
    vectors = embedder(["One.", "gloom " * 400, "Two."], "document")
    assert vectors.any(axis=1).tolist() == [True, False, True]


def test_a_cut_connection_after_the_batch_is_tried_again(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = opened(server)
    cut = iter([FAULTS["cut"][0]])
    monkeypatch.setattr(server, "fault", lambda path, _: next(cut, None) if path == "/api/tags" else None)
    assert embedder(TEXTS, "document").any(axis=1).all()


def test_a_server_that_cuts_unasked_is_found_out_although_it_is_busy(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = opened(server)
    answer = server.answer
    monkeypatch.setattr(server, "answer", lambda path, body: answer(path, {**body, "truncate": True}))

    def first_busy() -> None:
        server.busy = 1 if len(server.asked) == 2 else 0

    server.on_embed = first_busy
    long = "word " * 400
    assert embedder.read([long])[0] < len(long)
