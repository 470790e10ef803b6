"""The only file that talks to an Ollama server: which models it has, vectors from one, answers from another; and what
its failures mean. `ollama_embedder.py` and `chat.py` ask through it.
"""

import functools
import json
import os
import ssl
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from cache import ollama_models as models
from cache.errors import (
    BadVectors,
    EmbedderError,
    ModelMissing,
    NotAChatModel,
    NotAnEmbeddingModel,
    NotOllama,
    ServerAway,
)
from cache.ollama_address import is_loopback, key_header, server_host
from cache.records import quote

_ENVIRONMENT = threading.Lock()


@contextmanager
def _without(variable: str) -> Iterator[None]:
    """Hides an environment variable for a moment."""
    with _ENVIRONMENT:
        value = os.environ.pop(variable, None)
        try:
            yield
        finally:
            if value is not None:
                os.environ[variable] = value


with _without("OLLAMA_HOST"):  # the client cannot even be imported while the variable is malformed
    import ollama

T = TypeVar("T")

CONNECT_SECONDS = 5.0
#: A batch on a slow processor, the loading of the model included, stays well below this.
READ_SECONDS = 300.0
#: What a server says of itself and its models it says at once, or never.
ASK_SECONDS = 15.0
#: A chat model on a slow processor reads a long prompt for minutes before it answers, and sends nothing meanwhile.
CHAT_SECONDS = 900.0
#: Seconds that the first of the waits before another try lasts at most; each further one may last twice as long.
FIRST_WAIT = 0.5

# What the client raises, besides its own error, where the answer is not what it expects.
_STRANGE = (ValueError, TypeError, AttributeError)
#: What a request can raise, as `judge` and `explained` take it.
REQUEST_ERRORS = (ConnectionError, httpx.HTTPError, httpx.InvalidURL, ollama.ResponseError, *_STRANGE)


class NotFinite(ValueError):  # noqa: N818 - a finding that is turned into BadVectors once the text is known
    """A vector with NaN or infinity, which the client lets through."""


class CutUnasked(ValueError):  # noqa: N818 - a finding, answered by cutting the text here
    """A text that is too long was not refused as was asked, but cut by the server."""


class Verdict(Enum):
    """What to do about a failed request."""

    AGAIN = "try again"
    SLOW = "try with fewer texts, a few times"
    LARGE = "try with fewer texts"
    CRASH = "try again once, then with fewer texts"
    LONG = "a text is too long"
    NAN = "a text has no vector"
    LOOP = "the model says the same word without end"
    STOP = "tell the user"


_TRIES = {Verdict.AGAIN: 4, Verdict.CRASH: 2}
_LONG = ("context length", "available context size")
_NAN = ("NaN", "+Inf", "-Inf")
_LOOP = ("token repeat limit",)
# The server answers 400 for some of these, as if the request were at fault.
_CRASH = (
    *("do embedding request", "EOF", "connection refused", "actively refused", "/tokenize", "no longer running"),
    *("unexpectedly stopped", "while running the model"),
)
_LOADING = ("terminated", "timed out waiting", "error starting")
_TRANSIENT_STATUS = {429, 499, 502, 503, 504}


def judge(error: BaseException) -> Verdict:
    """The verdict on what a request raised; by the message, because Ollama answers 400 for nearly everything."""
    if isinstance(error, NotFinite):
        return Verdict.NAN
    if isinstance(error, CutUnasked):
        return Verdict.LONG
    if isinstance(error, ollama.ResponseError):
        return _judge_answer(str(error.error), error.status_code)
    if isinstance(error, httpx.ReadTimeout):
        return Verdict.SLOW
    if isinstance(error, httpx.UnsupportedProtocol):
        return Verdict.STOP
    return Verdict.AGAIN if isinstance(error, ConnectionError | httpx.TransportError) else Verdict.STOP


def _judge_answer(message: str, status: int) -> Verdict:
    def says(phrases: Sequence[str]) -> bool:
        return any(phrase in message for phrase in phrases)

    if status in _TRANSIENT_STATUS:
        return Verdict.AGAIN
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:  # of a proxy; Ollama itself sets no limit
        return Verdict.LARGE
    if says(_LONG):
        return Verdict.LONG
    if says(_NAN):
        return Verdict.NAN
    if says(_LOOP):
        return Verdict.LOOP
    if status in (400, 500) and says(_CRASH):
        return Verdict.CRASH
    return Verdict.AGAIN if status == 500 and says(_LOADING) else Verdict.STOP


def refuses_thinking(error: BaseException) -> bool:
    """True where the server says that the model's thinking cannot be switched."""
    return isinstance(error, ollama.ResponseError) and error.status_code == 400 and "think" in str(error.error)


def tried(request: Callable[[], T]) -> T:
    """What the request gives, tried again where that may help; raises what its last try raises."""
    retrying = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, Exception)),
        stop=_tried_enough,
        wait=wait_random_exponential(multiplier=FIRST_WAIT, max=10),
        reraise=True,
    )
    return retrying(request)


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that a server has and that gives vectors."""

    name: str
    size: int  # bytes on the server's disk
    loaded: bool  # whether it is in the server's memory now
    limit: int | None = None  # tokens that it reads; None where the server did not tell in time


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """An Ollama server that answered: its address, its version, and the models it has."""

    host: str
    version: str
    embedding: tuple[Installed, ...]
    chat_models: tuple[str, ...]  # that answer in words
    elsewhere: tuple[str, ...]  # of those, the ones that it only passes questions on to
    digests: tuple[str, ...]  # of all models; '' for one whose digest it does not tell

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that give vectors."""
        return tuple(model.name for model in self.embedding)


class Server:
    """One server, asked with time limits; what goes wrong comes out as an EmbedderError, but for `embed` and `chat`.

    To an address that was `typed` into the page no key is sent.
    """

    def __init__(self, host: str | None = None, read_seconds: float = READ_SECONDS, typed: bool = False) -> None:
        self.host = server_host(host)
        settings = connection(self.host, read_seconds, typed)
        patience = httpx.Timeout(min(ASK_SECONDS, read_seconds), connect=min(CONNECT_SECONDS, read_seconds))
        self._http = httpx.Client(base_url=self.host, **settings | {"timeout": patience})
        with _without("OLLAMA_API_KEY"):  # the client would send it to any host
            self._client = ollama.Client(self.host, **settings)
        for client in (self._http, self._client):  # their connections end with this object
            weakref.finalize(self, client.close)

    def version(self) -> str:
        """The server's version, such as "0.33.0"."""
        return str(self._asked(lambda: self._get("/api/version")["version"]))

    def tags(self) -> dict[str, dict[str, Any]]:
        """What /api/tags says of each installed model, by its name with tag."""
        entries = self._asked(lambda: [(str(entry["name"]), entry) for entry in self._get("/api/tags")["models"]])
        return {models.full_name(name): entry for name, entry in entries}

    def loaded(self) -> set[str]:
        """The names, with tag, of the models that are in the server's memory now."""
        return {
            models.full_name(name)
            for name in self._asked(lambda: [str(one["name"]) for one in self._get("/api/ps")["models"]])
        }

    def show(self, model: str) -> dict[str, Any]:
        """What /api/show says of a model: capabilities, model_info, parameters."""
        return self._asked(lambda: self._client.show(model).model_dump(by_alias=True), model)

    def entry(self, model: str) -> dict[str, Any]:
        """What /api/tags says of the model of that full name; ModelMissing where it is not installed."""
        entry = self.tags().get(model)
        if entry is None:
            raise _missing(model, self.host)
        return entry

    def digest(self, model: str) -> str:
        """The sha256 of the model of that full name, which another model of the same name does not have."""
        digest = models.digest(self.entry(model))
        if not digest:  # without it, what two models of one name give could be mixed in the store
            raise EmbedderError(f"the server at {self.host} does not tell the digest of {model}")
        return digest

    def embed(self, model: str, texts: Sequence[str], tokens: int) -> ollama.EmbedResponse:
        """The server's answer for one list of texts; raises what the client raises.

        Always the same options for a model, because the server loads it anew for others.
        """
        options = {"num_ctx": tokens, "num_batch": tokens}
        return self._client.embed(model, list(texts), truncate=False, options=options, keep_alive="10m")

    def chat(
        self, model: str, prompt: str, options: Mapping[str, float], think: bool | None = None
    ) -> ollama.ChatResponse:
        """The server's whole answer to one prompt; raises what the client raises.

        The client cannot say `truncate` and `shift`: without them, what does not fit is left out in silence.
        """
        body = _chat_body(model, prompt, options, think) | {"stream": False}
        patience = httpx.Timeout(CHAT_SECONDS, connect=CONNECT_SECONDS)
        return ollama.ChatResponse.model_validate(_json(self._http.post("/api/chat", json=body, timeout=patience)))

    def chat_parts(
        self, model: str, prompt: str, options: Mapping[str, float], think: bool | None = None
    ) -> Iterator[dict[str, Any]]:
        """The server's answer to one prompt, part by part as it comes; raises what the client raises.

        An error in the midst of it is raised as one before it. Closing the iterator ends the model's work.
        """
        body = _chat_body(model, prompt, options, think) | {"stream": True}
        patience = httpx.Timeout(CHAT_SECONDS, connect=CONNECT_SECONDS)
        with self._http.stream("POST", "/api/chat", json=body, timeout=patience) as response:
            if response.status_code != httpx.codes.OK:
                response.read()
                raise ollama.ResponseError(response.text, response.status_code)
            for line in response.iter_lines():
                part = json.loads(line)
                if "error" in part:
                    raise ollama.ResponseError(str(part["error"]), httpx.codes.INTERNAL_SERVER_ERROR)
                yield part

    def show_chat(self, model: str) -> dict[str, Any]:
        """What /api/show says of a chat model; NotAChatModel where it is none."""
        show = self.show(model)
        if not models.is_chat(show):
            raise not_a_chat_model(model)
        return show

    def _get(self, path: str) -> Any:
        return _json(self._http.get(path))

    def _asked(self, question: Callable[[], T], model: str = "") -> T:
        try:
            return question()
        except (*REQUEST_ERRORS, LookupError) as error:
            raise explained(error, self.host, model) from error


def connection(host: str, read_seconds: float, typed: bool) -> dict[str, Any]:
    """How every client of ours connects to the server at an address, as arguments of httpx's."""
    return {
        "timeout": httpx.Timeout(read_seconds, connect=min(CONNECT_SECONDS, read_seconds)),
        "trust_env": not is_loopback(host),  # a proxy for the world is none for this machine
        "follow_redirects": False,  # a redirected POST arrives as a GET, and a key could travel with it
        "verify": _certificates(),
        "headers": key_header(host, typed),
    }


def _chat_body(model: str, prompt: str, options: Mapping[str, float], think: bool | None) -> dict[str, Any]:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "truncate": False,
        "shift": False,
        "options": options,
        "keep_alive": "10m",
    }
    return body if think is None else {**body, "think": think}


@functools.cache
def _certificates() -> ssl.SSLContext:
    """What encrypted addresses are checked with; reading it takes a while, so it is read once."""
    return httpx.create_ssl_context()


def _json(response: httpx.Response) -> Any:
    """What the server sent; ResponseError, as the client raises it, where it refuses."""
    if response.status_code != httpx.codes.OK:
        raise ollama.ResponseError(response.text, response.status_code)
    return response.json()


def explained(error: Exception, host: str, model: str, text: str = "") -> EmbedderError:
    """The error that tells the user, in one sentence, what the server's failure means."""
    if isinstance(error, EmbedderError):
        return error
    if isinstance(error, ollama.ResponseError):
        return _explained_answer(_said(error), error.status_code, host, model, text)
    if isinstance(error, NotFinite):
        return no_vector_for(model, text)
    if isinstance(error, httpx.ReadTimeout):
        return ServerAway(f"the Ollama server at {host} did not answer in time: try a smaller model, or later")
    if isinstance(error, ConnectionError | httpx.TransportError):
        return ServerAway(f"no Ollama server answers at {host}: start it with `ollama serve` or set OLLAMA_HOST")
    return NotOllama(f"what answers at {host} is not an Ollama server")


def _said(error: ollama.ResponseError) -> str:
    """The server's own words on one line; '' where it sent a web page, or an object in place of words."""
    words = " ".join(error.error.split()) if isinstance(error.error, str) else ""
    return "" if words.startswith(("<", "{")) else words


def _explained_answer(message: str, status: int, host: str, model: str, text: str) -> EmbedderError:
    """The sentence for an answer that is no success; by the verdict where that says it all."""
    match _judge_answer(message, status):
        case Verdict.NAN:
            return no_vector_for(model, text)
        case Verdict.CRASH:
            return BadVectors(f"the server broke down twice over the text {quote(text)} with {model}: {message}")
        case Verdict.LARGE:
            return EmbedderError(f"a proxy before {host} refuses a request of one text as too large (status {status})")
        case Verdict.AGAIN if status == httpx.codes.INTERNAL_SERVER_ERROR:
            return ServerAway(
                f"the Ollama server at {host} could not load {models.short_name(model)} ({message}): "
                "see its log, free memory, or choose a smaller model"
            )
        case Verdict.AGAIN:
            reason = f"{status}: {message}" if message else f"status {status}"
            return ServerAway(f"the Ollama server at {host} stayed unable to answer ({reason}): try again later")
    return _explained_refusal(message, status, host, model)


def _explained_refusal(message: str, status: int, host: str, model: str) -> EmbedderError:
    if status == 404 and message.startswith("model "):
        return _missing(model, host)
    if status == 501 or "does not support embeddings" in message:
        return not_an_embedding_model(model)
    if "does not support chat" in message:
        return not_a_chat_model(model)
    if status == httpx.codes.FORBIDDEN and not message:
        return EmbedderError(
            f"the server at {host} does not answer to that name (status 403): "
            "start Ollama with OLLAMA_HOST=0.0.0.0, or let the proxy send the Host header localhost"
        )
    if status in (301, 302, 307, 308, 404, 405):
        return NotOllama(f"what answers at {host} is not an Ollama server (status {status})")
    return EmbedderError(f"the Ollama server at {host} refused (status {status}): {message or 'no reason given'}")


def not_an_embedding_model(model: str) -> NotAnEmbeddingModel:
    """The error for a model that gives no vectors."""
    name = models.short_name(model)
    return NotAnEmbeddingModel(f"{name} is not an embedding model: choose one that is, such as nomic-embed-text")


def not_a_chat_model(model: str) -> NotAChatModel:
    """The error for a model that does not answer in words."""
    return NotAChatModel(f"{models.short_name(model)} is not a chat model: choose one that is, such as llama3.2")


def no_vector_for(model: str, text: str) -> BadVectors:
    """The error for a text that the model answers with NaN."""
    return BadVectors(
        f"{model} has no vector for the text {quote(text)}: it answers NaN, as some models do on a graphics card; "
        "leave the text out, or run the model with num_gpu 0"
    )


def _missing(model: str, host: str) -> ModelMissing:
    name = models.short_name(model)
    return ModelMissing(f"the Ollama server at {host} does not have {name}: fetch it with `ollama pull {name}`")


def probe(host: str | None = None, timeout: float = 2.0, typed: bool = False) -> ServerInfo | None:
    """The server at the host, or None where none answers; back within `timeout` seconds, whatever the host does.

    Models that could not be looked at in that time are left out.
    """
    seen = _Seen(server_host(host), typed)
    thread = threading.Thread(target=_look, args=(seen, timeout), daemon=True)
    thread.start()
    thread.join(timeout)  # neither the look-up of a name nor an answer in drips heeds the limits of a request
    if not seen.version:
        return None
    return ServerInfo(
        seen.address, seen.version, tuple(seen.embedding), tuple(seen.chat_models), tuple(seen.elsewhere), seen.digests
    )


@dataclass(slots=True)
class _Seen:
    """What has been seen of a server so far."""

    address: str
    typed: bool
    version: str = ""
    digests: tuple[str, ...] = ()
    embedding: list[Installed] = field(default_factory=list)
    chat_models: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def _look(seen: _Seen, timeout: float) -> None:
    try:
        server = Server(seen.address, timeout, seen.typed)
        tags = server.tags()
        seen.digests = tuple(models.digest(entry) for entry in tags.values())
        loaded = _loaded(server)
        seen.version = server.version()
    except EmbedderError:
        return
    for name, entry in tags.items():
        told = _told(server, name, entry)
        if models.is_embedding(told):
            seen.embedding.append(Installed(models.short_name(name), models.size(entry), name in loaded))
        if models.is_chat(told):
            seen.chat_models.append(models.short_name(name))
            seen.elsewhere += [models.short_name(name)] if entry.get("remote_host") else []
    for place, model in enumerate(seen.embedding):  # last, because a list of names is of use without it
        seen.embedding[place] = replace(model, limit=_limit(server, model.name, seen.version))


def _loaded(server: Server) -> set[str]:
    """The models in the server's memory; none where it does not tell, as before 0.1.33."""
    try:
        return server.loaded()
    except EmbedderError:
        return set()


def _limit(server: Server, name: str, version: str) -> int | None:
    try:
        return models.reading_limit(server.show(name), version)
    except EmbedderError:
        return None


def _told(server: Server, name: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What tells the kind of a model; servers before 0.30 do not in their list, but when asked for the model."""
    try:
        return entry if entry.get("capabilities") else server.show(name)
    except EmbedderError:  # one damaged model does not hide the others
        return {}


def _tried_enough(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    return error is None or state.attempt_number >= _TRIES.get(judge(error), 1)
