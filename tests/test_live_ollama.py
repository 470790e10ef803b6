"""The same promises against a server that runs: `make test-ollama`, with OLLAMA_HOST where it is not on this machine.

What the double says is held here to what a server says. Models that are not installed are left out, and nothing is
fetched. Without an Ollama server the double can stand in for it: `python -m tests.ollama_double`.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from cache import open_embedder
from cache.embedder import CachedEmbedder
from cache.errors import ModelMissing, NotAnEmbeddingModel
from cache.ollama_address import key_header, server_host
from cache.ollama_client import ServerInfo, probe
from cache.ollama_models import full_name
from cache.store import Store
from tests.conftest import SHARED

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.environ.get("CHUNKSCOPE_LIVE") != "1", reason="asks an Ollama server: make test-ollama"),
]

#: The address before another test changes the environment.
HOST = os.environ.get("OLLAMA_HOST")
SENTENCE = "why is the sky blue?"
RECORDED = SHARED / "reference" / "ollama_embed.json"
TEXTS = ["Bread is baked in an oven.", "The harbour master kept two books.", SENTENCE, "A short one."]
LONG = "The harbour master kept two books, and in the second she wrote the truth. " * 1500


@cache
def live() -> ServerInfo:
    """The server, or a failure that says that there is none: whoever asks for this suite wants it to run."""
    info = probe(HOST, timeout=10)
    assert info is not None, f"no Ollama server answers at {server_host(HOST)}: start it or set OLLAMA_HOST"
    return info


@cache
def recorded() -> dict[str, np.ndarray]:
    """Vectors that Ollama itself recorded, by the model's full name, made unit vectors."""
    if not RECORDED.is_file():
        return {}
    given = json.loads(RECORDED.read_text(encoding="utf-8"))
    vectors = {full_name(name): np.array(numbers) for name, numbers in given.items()}
    return {name: vector / np.linalg.norm(vector) for name, vector in vectors.items()}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each embedding model of the server; none is asked unless the suite is to run."""
    if "model" in metafunc.fixturenames:
        info = probe(HOST, timeout=10) if os.environ.get("CHUNKSCOPE_LIVE") == "1" else None
        metafunc.parametrize("model", info.models if info else [])


def opened(model: str, folder: Path) -> CachedEmbedder:
    return open_embedder(f"ollama:{model}", Store(folder), HOST)


def asked(path: str, body: Any = None, method: str = "POST") -> httpx.Response:
    """A request without our client layer."""
    url = server_host(HOST)
    return httpx.request(method, url + path, json=body, headers=key_header(url), timeout=300)


def test_a_server_answers_and_has_an_embedding_model() -> None:
    assert live().models, "`ollama pull all-minilm` fetches a small one"


# Vectors


def test_the_vectors_are_unit_rows_in_order(model: str, tmp_path: Path) -> None:
    embedder = opened(model, tmp_path)
    together = embedder(TEXTS, "document")
    alone = np.concatenate([opened(model, tmp_path / str(row))([TEXTS[row]], "document") for row in range(len(TEXTS))])
    assert together.shape == (len(TEXTS), embedder.dimension)
    assert together.dtype == np.float32
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-6
    assert (together * alone).sum(axis=1).min() > 0.9999, "neighbours do not change a vector"
    assert np.argmax(together @ alone.T, axis=1).tolist() == list(range(len(TEXTS)))


def test_what_is_stored_is_not_asked_for_again(model: str, tmp_path: Path) -> None:
    first = opened(model, tmp_path)(TEXTS, "document")
    again = opened(model, tmp_path)
    assert again.missing(TEXTS, "document") == 0
    assert again(TEXTS, "document").tobytes() == first.tobytes()


def test_a_long_text_is_cut_here_and_the_cut_is_known(model: str, tmp_path: Path) -> None:
    embedder = opened(model, tmp_path)
    vectors = embedder([LONG, *TEXTS], "document")
    read = embedder.read([LONG, *TEXTS]).tolist()
    assert 0 < read[0] < len(LONG)
    assert read[1:] == [len(text) for text in TEXTS]
    cut = opened(model, tmp_path / "cut")([LONG[: read[0]]], "document")
    assert vectors[0] @ cut[0] > 0.9999


def test_known_faults_of_a_server_are_warned_of(model: str, tmp_path: Path) -> None:
    embedder = opened(model, tmp_path)
    capitals = embedder(["REPLACE SUMP PUMP", "CREATE A SPREADSHEET"], "document")
    accents = embedder(["Hokkaidō", "Éire"], "document")
    alike = max(float(pair[0] @ pair[1]) for pair in (capitals, accents))
    assert alike < 0.98 or embedder.warnings, "texts that differ have the same vector"


def test_the_vectors_are_those_that_ollama_recorded(model: str) -> None:
    expected = recorded().get(full_name(model))
    if expected is None:
        pytest.skip(f"no vector of {model} is recorded in {RECORDED.name}")
    (vector,) = asked("/api/embed", {"model": model, "input": SENTENCE}).json()["embeddings"]
    assert len(vector) == len(expected)
    assert np.array(vector) @ expected > 0.99, "another quantization keeps this much"


# Words and statuses


def test_a_model_that_is_not_there_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="`ollama pull no-such-model`"):
        opened("no-such-model", tmp_path)
    answer = asked("/api/embed", {"model": "no-such-model", "input": "x"})
    assert answer.status_code == 404
    assert "not found" in answer.json()["error"]


def test_a_chat_model_is_refused_at_the_door(tmp_path: Path) -> None:
    chat = sorted(set(live().chat_models) - set(live().models) - set(live().elsewhere))
    if not chat:
        pytest.skip("the server has no chat model of its own")
    with pytest.raises(NotAnEmbeddingModel):
        opened(chat[0], tmp_path)


def test_an_embedding_model_does_not_chat(model: str) -> None:
    answer = asked("/api/chat", {"model": model, "messages": [{"role": "user", "content": "x"}], "stream": False})
    assert answer.status_code == 400
    assert "does not support chat" in answer.json()["error"]


def test_no_input_is_no_error(model: str) -> None:
    answer = asked("/api/embed", {"model": model, "input": []})
    assert (answer.status_code, answer.json()["embeddings"]) == (200, [])


@pytest.mark.parametrize("wrong", [None, 5])
def test_what_is_not_text_is_refused(model: str, wrong: object) -> None:
    answer = asked("/api/embed", {"model": model, "input": ["x", wrong]})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid input type")


def test_a_wrong_option_is_refused(model: str) -> None:
    answer = asked("/api/embed", {"model": model, "input": "x", "options": {"num_ctx": "many"}})
    assert answer.status_code == 500
    assert "must be of type integer" in answer.json()["error"]


def test_what_is_too_long_is_refused_where_that_is_asked(model: str) -> None:
    answer = asked("/api/embed", {"model": model, "input": LONG, "truncate": False, "options": {"num_ctx": 256}})
    assert answer.status_code == 400
    assert "context length" in answer.json()["error"]


def test_a_wrong_path_and_a_wrong_verb() -> None:
    assert asked("/api/no-such-path", {}).status_code == 404
    assert asked("/api/embed", method="GET").status_code == 405
    assert asked("/api/version", method="GET").json()["version"] == live().version
