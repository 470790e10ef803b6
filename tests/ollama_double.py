"""A double of an Ollama server for the tests. It is not Ollama: it speaks the same JSON over real HTTP, with the
status codes and messages of three generations of the server; its vectors come from the built-in MiniLM whatever the
model is called, or from `stand_in`, and its answers in words from a function of the prompt.

    with OllamaDouble() as server:
        server.busy = 2                      # the next two requests for vectors are answered 503
        server.faults = ["crash", "cut"]     # and the two after them fail as `FAULTS` tells
        embedder = open_embedder("ollama:all-minilm", store, host=server.host)
        ...
        assert server.sizes == [3, 3, 3]     # texts in each request for vectors, refused ones included

In a prompt, four letters of a word or one mark are a token; in an answer, a word is.
`python -m tests.ollama_double` serves one until it is interrupted, for `make test-ollama` where there is no Ollama.
"""

import argparse
import contextlib
import hashlib
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from cache.minilm import MiniLM
from cache.ollama_models import parsed_version

Vectors = Callable[[Sequence[str]], list[list[float]]]

NDJSON = "application/x-ndjson"

_MINILM = MiniLM()
_PIECE = re.compile(r"\w{1,4}|[^\w\s]")


def minilm(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of the built-in model; through JSON and back to 32 bits they keep every bit."""
    return [record.vector.tolist() for record in _MINILM.encode(texts)]


def stand_in(texts: Sequence[str]) -> list[list[float]]:
    """Unit vectors that say nothing of what the texts mean, but always the same for a text; they cost next to nothing."""
    return [_drawn(text).tolist() for text in texts]


def _drawn(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    vector = np.random.default_rng(seed).standard_normal(384)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def remembered(vectors: Vectors) -> Vectors:
    """The same vectors, each computed once."""
    memory: dict[str, list[float]] = {}

    def recalled(texts: Sequence[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in memory]
        memory.update(zip(new, vectors(new), strict=True))
        return [memory[text] for text in texts]

    return recalled


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes over the wire in place of vectors."""

    status: int
    body: bytes = b""
    kind: str = "application/json; charset=utf-8"
    computes: bool = False  # the vectors were computed, and are lost
    sent: float = 1.0  # the share of the body after which the connection breaks; below 0, not even the status is sent
    wait: float = 0.0  # seconds before it


def told(status: int, message: Any, computes: bool = False) -> Reply:
    """Ollama's way to refuse."""
    return Reply(status, json.dumps({"error": message}).encode(), computes=computes)


def page(status: int, title: str) -> Reply:
    """A page of some other web server, as it is sent by what stands before an Ollama server."""
    html = f"<html>\r\n<head><title>{title}</title></head>\r\n<body><h1>{title}</h1><hr>nginx</body>\r\n</html>"
    return Reply(status, html.encode(), "text/html")


#: The generations of the server that differ in what they say, newest first, by a version of each.
GENERATIONS = ("0.33.0", "0.24.0", "0.12.0")

_RUNNER = "http://127.0.0.1:40513"
_NO_EMBEDDINGS = "this model does not support embeddings"
_UNABLE = "failed to encode response: json: unsupported value: NaN"


def _each(*replies: Reply) -> tuple[Reply, Reply, Reply]:
    """The replies of the three generations; of fewer, the last one also stands for what is older."""
    first, second, third = (*replies, replies[-1], replies[-1])[:3]
    return first, second, third


#: How a request for vectors can fail, by name: the reply of each generation.
FAULTS: dict[str, tuple[Reply, Reply, Reply]] = {
    "model missing": _each(told(404, 'model "all-minilm" not found, try pulling it first')),
    "name empty": _each(told(404, "model '' not found")),
    "name invalid": _each(told(400, "invalid model name")),
    "chat model": _each(
        told(501, "This server does not support embeddings. Start it with `--embeddings`"),
        told(501, _NO_EMBEDDINGS),
        told(500, _NO_EMBEDDINGS),
    ),
    "no input": _each(Reply(200, b'{"model":"all-minilm","embeddings":[]}')),
    "text without tokens": _each(
        told(400, "input exceeds maximum context length and cannot be truncated further"),
    ),
    "empty text": _each(told(500, "no input provided")),  # as servers before 0.30 say it
    "wrong input": _each(told(400, "invalid input type")),
    "too long": _each(
        told(400, "the input length exceeds the context length"),
        told(400, "the input length exceeds the context length"),
        told(400, "input exceeds maximum context length"),
    ),
    "too long, in other words": _each(told(400, "input length exceeds maximum context length")),
    "num_ctx tiny": _each(told(400, "input after truncation exceeds maximum context length")),
    "nan": _each(told(400, "embedding contains NaN or Inf values", computes=True), told(500, _UNABLE, computes=True)),
    "crash": _each(
        told(400, f'do embedding request: Post "{_RUNNER}/v1/embeddings": EOF', computes=True),
        told(400, f'do embedding request: Post "{_RUNNER}/embedding": EOF', computes=True),
        told(500, f'do embedding request: Post "{_RUNNER}/embedding": EOF', computes=True),
    ),
    "runner restarts": _each(
        told(400, f'Post "{_RUNNER}/tokenize": dial tcp 127.0.0.1:40513: connect: connection refused')
    ),
    "runner gone": _each(told(500, "llama runner process no longer running: -1")),
    "load terminated": _each(
        told(500, "llama-server process has terminated: signal: killed"),
        told(500, "llama runner process has terminated: signal: killed"),
    ),
    "load not started": _each(told(500, "error starting llama-server: fork/exec: resource temporarily unavailable")),
    "load timed out": _each(
        told(500, "timed out waiting for llama-server to start"),
        told(500, "timed out waiting for llama runner to start - progress 0.00"),
    ),
    "load without memory": _each(
        told(500, "model requires more system memory (9.1 GiB) than is available (2.0 GiB)"),
    ),
    "load incompatible": _each(
        told(500, "unable to load model: this model may be incompatible with your version of Ollama")
    ),
    "bad json": _each(told(400, "invalid character 'x' looking for beginning of value")),
    "no body": _each(told(400, "missing request body")),
    "wrong option": _each(told(500, 'option "num_ctx" must be of type integer')),
    "queue full": _each(told(503, "server busy, please try again.  maximum pending requests exceeded")),
    "client gone": _each(told(499, "request canceled", computes=True)),
    "unknown path": _each(Reply(404, b"404 page not found", "text/plain")),
    "wrong verb": _each(Reply(405, b"405 method not allowed", "text/plain")),
    "wrong host": _each(Reply(403)),
    "no key": _each(told(401, "unauthorized")),
    "proxy page": _each(page(200, "Welcome")),
    "proxy too large": _each(page(413, "413 Request Entity Too Large")),
    "proxy bad gateway": _each(page(502, "502 Bad Gateway")),
    "empty error": _each(told(500, {})),
    "list": _each(Reply(200, b'[{"embedding":[0.1]}]')),
    "list, refused": _each(Reply(500, b'["error"]')),
    "null vectors": _each(Reply(200, b'{"model":"all-minilm","embeddings":null}')),
    "cut": _each(Reply(200, computes=True, sent=-1.0)),
    "cut in the answer": _each(Reply(200, b'{"model":"all-minilm","embeddings":[[0.1,', computes=True, sent=0.5)),
    "slow": _each(Reply(200, b"{}", computes=True, wait=2.0)),
}


def generation(version: str) -> int:
    """The column of `FAULTS` that a version is in."""
    numbers = parsed_version(version) or (0, 33, 0)
    return 0 if numbers >= (0, 30, 0) else 1 if numbers >= (0, 13, 0) else 2


def embedding_model(architecture: str, context: int, parameters: str = "") -> dict[str, Any]:
    """What /api/show says of an embedding model, but for what nobody here reads."""
    return {
        "capabilities": ["embedding"],
        "parameters": parameters,
        "model_info": {
            "general.architecture": architecture,
            f"{architecture}.context_length": context,
            f"{architecture}.embedding_length": 384,
            f"{architecture}.pooling_type": 1,
        },
    }


def chat_model(context: int = 131072, *abilities: str) -> dict[str, Any]:
    """What /api/show says of a chat model, but for what nobody here reads."""
    return {
        "capabilities": ["completion", *abilities],
        "model_info": {"general.architecture": "llama", "llama.context_length": context},
    }


#: How llama-server says that a prompt is too long; Ollama passes it on as it is.
TOO_LONG = '{{"error":{{"code":400,"message":"request ({} tokens) exceeds the available context size ({} tokens), try increasing it"}}}}'
STOPPED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)


NO_MANIFEST = "pull model manifest: file does not exist"


def pulled(size: int, steps: int = 10) -> list[dict[str, Any]]:
    """What a server says while it fetches a model of so many bytes, in two layers; the first line of one has no
    `completed`."""
    layers = (("sha256:aaaa", size - 400), ("sha256:bbbb", 400))
    lines: list[dict[str, Any]] = [{"status": "pulling manifest"}]
    for digest, total in layers:
        layer = {"status": f"pulling {digest[7:]}", "digest": digest, "total": total}
        lines += [layer, *(layer | {"completed": total * step // steps} for step in range(1, steps + 1))]
    return [*lines, {"status": "verifying sha256 digest"}, {"status": "writing manifest"}, {"status": "success"}]


class OllamaDouble:
    """A server on a free port of this machine; its attributes say how it behaves and record what it was asked."""

    def __init__(self, version: str = "0.33.0", vectors: Vectors = minilm, port: int = 0) -> None:
        self.version = version
        self.vectors = vectors
        self.models: dict[str, dict[str, Any]] = {
            "llama3.2:latest": chat_model(),
            "all-minilm:latest": embedding_model("bert", 512, "num_ctx                        256"),
            "nomic-embed-text:latest": embedding_model("nomic-bert", 2048),
        }
        self.digests = {name: f"{index:064x}" for index, name in enumerate(self.models, start=1)}
        self.tells_capabilities = True  # in /api/tags, as since 0.30
        self.remote: dict[str, str] = {}  # the address where a model runs, if elsewhere
        self.size: dict[str, int] = {}  # bytes of a model, where not 1
        self.running: list[str] = []  # models that are in its memory
        self.library = {"nomic-embed-text:latest": embedding_model("nomic-bert", 2048)}  # what it can fetch
        self.pull_lines = pulled(274_000_000)  # what it says while it fetches
        self.pull_wait = 0.0  # seconds before each of these lines
        self.pulls: list[str] = []  # the models that it was to fetch
        self.pulls_left = 0  # of them, those that the client broke off
        # Of the requests for vectors and for answers in words:
        self.busy = 0  # so many to answer with 503
        self.cut = 0  # so many to break off without an answer
        self.crash = 0  # so many over which the runner breaks down
        self.crash_on = ""  # breaks down whenever a text contains this
        self.nan_on = ""  # finds no vector whenever a text contains this
        self.nan_status = 0  # 200 lets the NaN through; 400 and 500 are those of its generations, 0 that of its own
        self.faults: list[str] = []  # names in FAULTS, one for each of the next requests for vectors
        self.always = ""  # the name of the fault that every request for vectors meets
        self.sees: Callable[[str], str] = lambda text: text  # what its tokenizer makes of a text
        self.html = False  # answers everything as some other web site would
        self.delay = 0.0  # seconds before each answer
        self.pace = 0.0  # seconds between two lines of an answer that is streamed
        self.lines = 0  # such lines sent
        self.on_embed: Callable[[], None] = lambda: None  # called with each request for vectors
        self.on_chat: Callable[[], None] = lambda: None  # called with each request for an answer
        self.reply: Callable[[str], str] = lambda prompt: f"It stands in a prompt of {len(prompt)} characters."
        self.thought = ""  # what a model with the ability "thinking" thinks first, unless told not to
        self.keeps_thinking = False  # refuses to be told not to
        self.loops = 0  # answers that are broken off because the same word comes again and again
        self.asked: list[dict[str, Any]] = []  # the requests for vectors
        self.chats: list[dict[str, Any]] = []  # the requests for answers
        self.taken: list[str] = []  # the texts that got a vector
        self.lost: list[str] = []  # the texts whose vector was computed, and lost by a fault
        self.headers: list[dict[str, str]] = []  # of every request
        self._server = _Listener(("127.0.0.1", port), type("Handler", (_Handler,), {"double": self}))

    def __enter__(self) -> "OllamaDouble":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        """The address to give as OLLAMA_HOST."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def sizes(self) -> list[int]:
        """The number of texts in each request for vectors."""
        return [len(body["input"]) for body in self.asked]

    def used_up(self, fault: str) -> bool:
        """True, and one fewer to come, while faults of this kind are left."""
        left = getattr(self, fault)
        setattr(self, fault, max(0, left - 1))
        return left > 0

    def fault(self, path: str, body: dict[str, Any]) -> Reply | None:
        """What this request meets instead of an answer."""
        if path != "/api/embed":
            return None
        name = self.faults.pop(0) if self.faults else self.always
        return FAULTS[name][generation(self.version)] if name else None

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the JSON for a request."""
        if path == "/api/version":
            return 200, {"version": self.version}
        if path == "/api/tags":
            return 200, {"models": [self._tag(name) for name in self.models]}
        if path == "/api/ps":
            return 200, {"models": [{"name": name, "model": name} for name in self.running]}
        name = body.get("model", "")
        if not name:
            return self._fails("name empty")
        name = name if ":" in name else f"{name}:latest"
        if name not in self.models:
            return 404, {"error": f'model "{name}" not found, try pulling it first'}
        if path == "/api/show":
            return 200, self.models[name]
        return self._chat(name, body) if path == "/api/chat" else self._embed(name, body)

    def _fails(self, fault: str, column: int | None = None) -> tuple[int, dict[str, Any]]:
        """The status and the JSON of a fault, in the words of the server's own generation unless another is named."""
        reply = FAULTS[fault][generation(self.version) if column is None else column]
        return reply.status, json.loads(reply.body)

    def _tag(self, name: str) -> dict[str, Any]:
        tag = {"name": name, "model": name, "digest": self.digests[name], "size": self.size.get(name, 1), "details": {}}
        tag |= {"remote_model": name, "remote_host": self.remote[name]} if name in self.remote else {}
        return tag | ({"capabilities": self.models[name]["capabilities"]} if self.tells_capabilities else {})

    def fetch(self, name: str) -> Iterator[bytes]:
        """The lines that the server sends while it fetches a model, which it has after the last one."""
        self.pulls.append(name)
        full = name if ":" in name else f"{name}:latest"
        lines = self.pull_lines if full in self.library else [{"status": "pulling manifest"}, {"error": NO_MANIFEST}]
        for line in lines:
            time.sleep(self.pull_wait)
            yield json.dumps(line).encode() + b"\n"
        if lines[-1] == {"status": "success"}:
            self.models[full] = self.library[full]
            self.digests[full] = hashlib.sha256(full.encode()).hexdigest()

    def _embed(self, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        given = body.get("input") or []
        texts = [given] if isinstance(given, str) else given
        self.on_embed()
        if self.used_up("busy"):
            return self._fails("queue full")
        if "embedding" not in self.models[name]["capabilities"]:
            return self._fails("chat model")
        if not all(isinstance(text, str) for text in texts):
            return self._fails("wrong input")
        if not all(isinstance(value, int) for value in body.get("options", {}).values()):
            return self._fails("wrong option")
        if not texts:
            return 200, {"model": body["model"], "embeddings": []}
        if self.used_up("crash") or (self.crash_on and any(self.crash_on in text for text in texts)):
            return self._fails("crash")
        return self._computed(texts, self._limit(name, body), body)

    def _computed(self, texts: list[str], limit: int, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The answer with vectors, where each text has one and none is too long."""
        tokens = [len(_MINILM.token_spans(text)) + 2 for text in texts]
        if max(tokens) > limit and not body.get("truncate", True):
            return self._fails("too long")
        vectors = self.vectors([self.sees(text) for text in texts])
        without = [bool(self.nan_on) and self.nan_on in text for text in texts]
        if any(without) and self.nan_status != 200:
            return self._fails("nan", {400: 0, 500: 1}.get(self.nan_status))
        vectors = [[float("nan")] * 384 if nan else vector for nan, vector in zip(without, vectors, strict=True)]
        self.taken.extend(texts)
        total = sum(min(count, limit) for count in tokens)
        return 200, {"model": body["model"], "embeddings": vectors, "prompt_eval_count": total}

    def _chat(self, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.on_chat()
        abilities, options = self.models[name]["capabilities"], body.get("options", {})
        (message,) = body["messages"]
        if self.used_up("busy"):
            return self._fails("queue full")
        if "completion" not in abilities:
            return 400, {"error": f'"{body["model"]}" does not support chat'}
        if "think" in body and self.keeps_thinking:
            return 400, {"error": f'think value "{body["think"]}" is not supported for this model'}
        if self.used_up("crash"):
            return 500, {"error": STOPPED}
        if self.used_up("loops"):
            return 500, {"error": "prediction aborted, token repeat limit reached"}
        tokens = len(_PIECE.findall(message["content"]))
        if tokens >= options.get("num_ctx", 4096) and not body.get("truncate", True):
            return 400, {"error": TOO_LONG.format(tokens, options.get("num_ctx", 4096))}
        thought = self.thought if "thinking" in abilities and body.get("think") is not False else ""
        return 200, {"model": body["model"], "done": True} | self._said(message["content"], thought, options)

    def _said(self, prompt: str, thought: str, options: dict[str, Any]) -> dict[str, Any]:
        """The message and the reason for its end: thought and answer together have `num_predict` words."""
        most, answer = options.get("num_predict", 10**6), self.reply(prompt)
        words = len(thought.split())
        left = max(0, most - words)
        reason = "length" if words + len(answer.split()) > most else "stop"
        said = answer if reason == "stop" else " ".join(answer.split()[:left])
        message = {"role": "assistant", "content": said} | ({"thinking": thought} if thought else {})
        return {"message": message, "done_reason": reason}

    def _limit(self, name: str, body: dict[str, Any]) -> int:
        info = self.models[name]["model_info"]
        context = info[f"{info['general.architecture']}.context_length"]
        options = body.get("options", {})
        return min(context, options.get("num_ctx", 4096), options.get("num_batch", 2048))


def streamed(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer in words as the server streams it, word by word; its thoughts come first, and its end last."""
    message = answer["message"]
    for name in ("thinking", "content"):
        for word in re.findall(r"\s*\S+", message.get(name, "")):
            yield {"model": answer["model"], "done": False, "message": {"role": "assistant", "content": "", name: word}}
    last = {"role": "assistant", "content": ""}
    yield {"model": answer["model"], "done": True, "done_reason": answer["done_reason"], "message": last}


def _line(part: dict[str, Any]) -> str:
    return json.dumps(part) + "\n"


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nothing to speak of."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


_PATHS = {"/api/version": "GET", "/api/tags": "GET", "/api/show": "POST", "/api/chat": "POST", "/api/embed": "POST",
          "/api/ps": "GET", "/api/pull": "POST"}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    double: OllamaDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for the client to acknowledge its headers

    def do_GET(self) -> None:
        self._send(self._reply(b""))

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path == "/api/pull" and not self.double.html:
            self._pull(json.loads(data)["model"])
        else:
            self._send(self._reply(data))

    def _pull(self, name: str) -> None:
        """Sends the lines of a pull as they come, until the last or until the client is gone."""
        self.double.headers.append({key.lower(): value for key, value in self.headers.items()})
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in self.double.fetch(name):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            self.double.pulls_left += 1
            self.close_connection = True

    def _reply(self, data: bytes) -> Reply:
        self.double.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.path not in _PATHS:
            return FAULTS["unknown path"][0]
        if self.command != _PATHS[self.path]:
            return FAULTS["wrong verb"][0]
        if self.command == "POST" and not data:
            return FAULTS["no body"][0]
        try:
            return self._answer(json.loads(data or b"{}"))
        except json.JSONDecodeError:
            return FAULTS["bad json"][0]

    def _answer(self, body: dict[str, Any]) -> Reply:
        double = self.double
        asked = {"/api/embed": double.asked, "/api/chat": double.chats}.get(self.path)
        if asked is not None:
            asked.append(body)
        time.sleep(double.delay)
        if double.html:
            return page(200, "Some other site")
        if asked is not None and double.used_up("cut"):
            return FAULTS["cut"][0]
        if fault := double.fault(self.path, body):
            double.lost.extend(body.get("input", []) if fault.computes else [])
            return fault
        status, answer = double.answer(self.path, body)
        if self.path == "/api/chat" and body.get("stream") and status == 200:
            return Reply(status, "".join(map(_line, streamed(answer))).encode(), NDJSON)
        return Reply(status, json.dumps(answer).encode())

    def _send(self, reply: Reply) -> None:
        time.sleep(reply.wait)
        if reply.sent >= 0:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self._write(reply.body[: int(len(reply.body) * reply.sent)], reply.kind)
        if reply.sent < 1:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _write(self, body: bytes, kind: str) -> None:
        """All at once, or line by line where that is how the server sends it."""
        if kind != NDJSON:
            self.wfile.write(body)
            return
        for line in body.splitlines(keepends=True):
            self.wfile.write(line)
            self.double.lines += 1
            time.sleep(self.double.pace)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at what was recorded."""


def main() -> None:
    """Serves a double with two of the models whose names are true: all-minilm, and one to chat with."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: any that is free")
    parser.add_argument("--version", default=GENERATIONS[0], help=f"the version to speak as (default {GENERATIONS[0]})")
    options = parser.parse_args()
    double = OllamaDouble(options.version, port=options.port)
    del double.models["nomic-embed-text:latest"]
    with double:
        print(f"a double of Ollama {double.version}, which it is not, at OLLAMA_HOST={double.host}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
