"""What several test files need: the repository's root, the shared data where it is there, a store of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cache import ollama_client
from pages.parts.live import cursor

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory):
    """No test reads or writes the user's store; vectors are shared between tests of one run."""
    before = os.environ.get("CHUNKSCOPE_CACHE")
    os.environ["CHUNKSCOPE_CACHE"] = str(tmp_path_factory.mktemp("store"))
    yield
    if before is None:
        del os.environ["CHUNKSCOPE_CACHE"]
    else:
        os.environ["CHUNKSCOPE_CACHE"] = before


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Ollama server is named by the environment, and between two tries of a request there is hardly a wait;
    nor is any for a browser to draw."""
    monkeypatch.setattr(ollama_client, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(cursor, "HEAD_START", 0)
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
