"""The servers that public cases describe under `mock`, faked on the double of an Ollama server.

with faked({"table": {"One.": [1, 0], "Two.": [0, 1]}}) as server:
    embedder = open_embedder(f"ollama:{MODEL}", store, host=server.host)
"""

from __future__ import annotations

import re
import socket
import threading
from typing import Any

from cache.canaries import CANARIES
from tests.ollama_double import OllamaDouble, embedding_model

#: A model of every faked server, for cases that name none. No prefix belongs to its name.
MODEL = "case-model"


def faked(mock: str | dict[str, Any]) -> CaseServer | SilentServer:
    """The server that a case describes, in words or in fields."""
    return SilentServer() if isinstance(mock, str) and "never answers" in mock.split(";")[0] else CaseServer(mock)


class CaseServer(OllamaDouble):
    """A double that also answers from a table of vectors, cuts what is too long without a word, or ignores blank texts."""

    def __init__(self, mock: str | dict[str, Any]) -> None:
        super().__init__()
        fields: dict[str, Any] = mock if isinstance(mock, dict) else {"rule": mock}
        rule = fields.get("rule", "")
        self.table: dict[str, list[float]] = fields.get("table", {})
        self.window: int = fields.get("window", 0)  # tokens that are read of a text; 0 where all are or it is refused
        self.heeds_blank = "never answers a blank" not in rule
        self.closed = threading.Event()
        if bad := re.search(r'contains "([^"]+)": HTTP (\d+)', rule):
            self.nan_on, self.nan_status = bad[1], int(bad[2])
        model = embedding_model("bert", self.window or 2048)
        if self.table:
            model["model_info"]["bert.embedding_length"] = len(next(iter(self.table.values())))
        self.models[f"{MODEL}:latest"] = model
        self.digests[f"{MODEL}:latest"] = "c" * 64

    def __exit__(self, *error: object) -> None:
        self.closed.set()
        super().__exit__(*error)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """As the double answers, but for the texts and tokens of this case."""
        if path != "/api/embed":
            return super().answer(path, body)
        texts: list[str] = body["input"]
        if not self.heeds_blank and not all(text.strip() for text in texts):
            self.closed.wait()
        if self.table:
            return 200, {"model": body["model"], "embeddings": [self.vector(text) for text in texts]}
        if not self.window:
            return super().answer(path, body)
        status, answer = super().answer(path, {**body, "truncate": True})
        return status, {**answer, "prompt_eval_count": sum(min(_tokens(text), self.window) for text in texts)}

    def vector(self, text: str) -> list[float]:
        """The vector of the table; any, for the texts by which engines are told apart."""
        if text in CANARIES:
            return [1.0] + [0.0] * (len(next(iter(self.table.values()))) - 1)
        return self.table[text]


def _tokens(text: str) -> int:
    """The tokens of a text to a server that cuts: its words and the two that stand at its ends."""
    return len(text.split()) + 2


class SilentServer:
    """A server that accepts connections and never answers."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))  # the system accepts, nobody reads

    def __enter__(self) -> SilentServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def host(self) -> str:
        """The address to give as OLLAMA_HOST."""
        return "127.0.0.1:{1}".format(*self._socket.getsockname())
