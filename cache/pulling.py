"""Models on their way to an Ollama server: fetched by it, watched and ended from here."""

import asyncio
import json
import threading
from typing import Any

import httpx

from cache import ollama_models as models
from cache.errors import EmbedderError, NotOllama, ServerAway
from cache.ollama_address import server_host
from cache.ollama_client import READ_SECONDS, connection, explained

#: Seconds within which a pull that is cancelled lets its connection go.
_PATIENCE = 0.1


class Pull:
    """One model that a server fetches, in a thread of its own; its attributes tell how far it is.

    `done` of `total` bytes are there, of the parts that the server has named so far. `problem` is why it failed, as a
    part of a sentence.
    """

    def __init__(self, host: str, model: str, typed: bool) -> None:
        self.host = host
        self.model = model
        self.status = "starting"
        self.problem = ""
        self.cancelled = False
        self._typed = typed
        self._parts: dict[str, tuple[int, int]] = {}  # by digest: bytes that are there, and all
        self._succeeded = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the server is still at it, as far as is known here."""
        return self._thread.is_alive()

    @property
    def done(self) -> int:
        """The bytes that are there."""
        return sum(done for done, _ in list(self._parts.values()))

    @property
    def total(self) -> int:
        """The bytes of the parts that were named so far; 0 where none was."""
        return sum(total for _, total in list(self._parts.values()))

    def cancel(self) -> None:
        """Ends the connection, and so what the server does for it; what it has fetched it keeps for another time."""
        self.cancelled = True

    def join(self) -> None:
        """Waits for the end."""
        self._thread.join()

    def _work(self) -> None:
        try:
            asyncio.run(self._until_cancelled())
        except (EmbedderError, httpx.HTTPError, httpx.InvalidURL) as error:
            self.problem = str(_explained(error, self.host, self.model))

    async def _until_cancelled(self) -> None:
        """Reads what the server says to its end, unless `cancel` is called before."""
        reading = asyncio.create_task(self._read())
        while not reading.done():
            if self.cancelled:
                reading.cancel()
            await asyncio.wait([reading], timeout=_PATIENCE)
        self.cancelled = reading.cancelled()  # too late where all is there already
        if not self.cancelled:
            reading.result()

    async def _read(self) -> None:
        settings = connection(self.host, READ_SECONDS, self._typed)
        async with (
            httpx.AsyncClient(**settings) as client,
            client.stream("POST", f"{self.host}/api/pull", json={"model": self.model, "stream": True}) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise _refused(response.status_code, await response.aread(), self.host, self.model)
            async for line in response.aiter_lines():
                self._heed(line)
        if not self._succeeded:
            raise ServerAway(f"the Ollama server at {self.host} broke off while it fetched {self.model}: try again")

    def _heed(self, line: str) -> None:
        """Takes over what one line says; errors come in a line as well, after the status 200."""
        told = _object(line.encode())
        if told is None:
            raise NotOllama(f"what answers at {self.host} is not an Ollama server")
        if "error" in told:
            raise _failed(told["error"], self.host, self.model)
        self.status = str(told.get("status") or self.status)
        self._succeeded = self._succeeded or self.status == "success"
        total = told.get("total")
        if isinstance(total, int) and total > 0:
            done = told.get("completed")
            self._parts[str(told.get("digest"))] = (done if isinstance(done, int) else 0, total)


class Pulls:
    """All pulls of this process: one at a time for a model and a server, however many ask for it."""

    def __init__(self) -> None:
        self._pulls: list[Pull] = []
        self._lock = threading.Lock()

    def begin(self, host: str | None, model: str, typed: bool = False) -> Pull:
        """The pull of that model to that server: the one that is running, else a new one. ValueError without a name."""
        name = models.short_name(model.strip())
        if not name:
            raise ValueError("name the model to fetch, such as nomic-embed-text")
        with self._lock:
            same = [pull for pull in self.running(host) if pull.model == name]
            return same[0] if same else self._new(Pull(server_host(host), name, typed))

    def running(self, host: str | None) -> list[Pull]:
        """The pulls to that server that are running."""
        return [pull for pull in self._at(host) if pull.running]

    def ended(self, host: str | None) -> int:
        """How many pulls to that server have ended: when it changes, the server may have other models."""
        return sum(not pull.running for pull in self._at(host))

    def _at(self, host: str | None) -> list[Pull]:
        address = server_host(host)
        return [pull for pull in self._pulls if pull.host == address]

    def _new(self, pull: Pull) -> Pull:
        self._pulls.append(pull)
        return pull


def _object(data: bytes) -> dict[str, Any] | None:
    """The JSON object in these bytes, or None where they are none."""
    try:
        told = json.loads(data)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def _refused(status: int, body: bytes, host: str, model: str) -> EmbedderError:
    told = _object(body)
    if told is None or "error" not in told:
        return NotOllama(f"what answers at {host} is not an Ollama server (status {status})")
    return _failed(told["error"], host, model)


def _failed(message: object, host: str, model: str) -> EmbedderError:
    said = " ".join(str(message).split())[:200]
    if "file does not exist" in said:
        said = "there is no model of that name"
    return EmbedderError(f"the Ollama server at {host} could not fetch {model}: {said}")


def _explained(error: Exception, host: str, model: str) -> EmbedderError:
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return ServerAway(f"the Ollama server at {host} broke off while it fetched {model}: try again")
    return explained(error, host, model)
