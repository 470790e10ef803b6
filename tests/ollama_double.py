"""A double of an Ollama server for the tests. It is not Ollama: it speaks the same JSON over real HTTP, with the
status codes and messages of version 0.33; its vectors come from the built-in MiniLM whatever the model is called, and
its answers in words from a function of the prompt.

    with OllamaDouble() as server:
        server.busy = 2                      # the next two requests for vectors are answered 503
        embedder = open_embedder("ollama:all-minilm", store, host=server.host)
        ...
        assert server.sizes == [3, 3, 3]     # texts in each request for vectors, refused ones included

In a prompt, four letters of a word or one mark are a token; in an answer, a word is.
"""

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cache.minilm import MiniLM

_MINILM = MiniLM()
_PIECE = re.compile(r"\w{1,4}|[^\w\s]")


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


BUSY = 503, {"error": "server busy, please try again.  maximum pending requests exceeded"}
#: How llama-server says that a prompt is too long; Ollama passes it on as it is.
TOO_LONG = '{{"error":{{"code":400,"message":"request ({} tokens) exceeds the available context size ({} tokens), try increasing it"}}}}'
STOPPED = (
    "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, "
    "check ollama server logs for details"
)


class OllamaDouble:
    """A server on a free port of this machine; its attributes say how it behaves and record what it was asked."""

    def __init__(self, version: str = "0.33.0") -> None:
        self.version = version
        self.models: dict[str, dict[str, Any]] = {
            "llama3.2:latest": chat_model(),
            "all-minilm:latest": embedding_model("bert", 512, "num_ctx                        256"),
            "nomic-embed-text:latest": embedding_model("nomic-bert", 2048),
        }
        self.digests = {name: f"{index:064x}" for index, name in enumerate(self.models, start=1)}
        self.tells_capabilities = True  # in /api/tags, as since 0.30
        self.remote: dict[str, str] = {}  # the address where a model runs, if elsewhere
        # Of the requests for vectors and for answers in words:
        self.busy = 0  # so many to answer with 503
        self.cut = 0  # so many to break off without an answer
        self.crash = 0  # so many over which the runner breaks down
        self.crash_on = ""  # breaks down whenever a text contains this
        self.nan_on = ""  # finds no vector whenever a text contains this
        self.nan_status = 400  # 400 since 0.14, 500 before; 200 lets the NaN through
        self.sees: Callable[[str], str] = lambda text: text  # what its tokenizer makes of a text
        self.html = False  # answers everything as some other web site would
        self.delay = 0.0  # seconds before each answer
        self.on_embed: Callable[[], None] = lambda: None  # called with each request for vectors
        self.on_chat: Callable[[], None] = lambda: None  # called with each request for an answer
        self.reply: Callable[[str], str] = lambda prompt: f"It stands in a prompt of {len(prompt)} characters."
        self.thought = ""  # what a model with the ability "thinking" thinks first, unless told not to
        self.keeps_thinking = False  # refuses to be told not to
        self.loops = 0  # answers that are broken off because the same word comes again and again
        self.asked: list[dict[str, Any]] = []  # the requests for vectors
        self.chats: list[dict[str, Any]] = []  # the requests for answers
        self.taken: list[str] = []  # the texts that got a vector
        self.headers: list[dict[str, str]] = []  # of every request
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

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

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the JSON for a request."""
        if path == "/api/version":
            return 200, {"version": self.version}
        if path == "/api/tags":
            return 200, {"models": [self._tag(name) for name in self.models]}
        name = body.get("model", "")
        name = name if ":" in name else f"{name}:latest"
        if name not in self.models:
            return 404, {"error": f'model "{name}" not found, try pulling it first'}
        if path == "/api/show":
            return 200, self.models[name]
        return self._chat(name, body) if path == "/api/chat" else self._embed(name, body)

    def _tag(self, name: str) -> dict[str, Any]:
        tag = {"name": name, "model": name, "digest": self.digests[name], "size": 1, "details": {}}
        tag |= {"remote_model": name, "remote_host": self.remote[name]} if name in self.remote else {}
        return tag | ({"capabilities": self.models[name]["capabilities"]} if self.tells_capabilities else {})

    def _embed(self, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        texts = body["input"]
        self.on_embed()
        if self.used_up("busy"):
            return BUSY
        if "embedding" not in self.models[name]["capabilities"]:
            return 501, {"error": "This server does not support embeddings. Start it with `--embeddings`"}
        if self.used_up("crash") or (self.crash_on and any(self.crash_on in text for text in texts)):
            return 400, {"error": 'do embedding request: Post "http://127.0.0.1:40513/v1/embeddings": EOF'}
        tokens = [len(_MINILM.token_spans(text)) + 2 for text in texts]
        if max(tokens) > self._limit(name, body) and not body.get("truncate", True):
            return 400, {"error": "the input length exceeds the context length"}
        vectors = [record.vector.tolist() for record in _MINILM.encode([self.sees(text) for text in texts])]
        if self.nan_on and any(self.nan_on in text for text in texts):
            if self.nan_status == 400:
                return 400, {"error": "embedding contains NaN or Inf values"}
            if self.nan_status == 500:
                return 500, {"error": "failed to encode response: json: unsupported value: NaN"}
            vectors = [
                [float("nan")] * 384 if self.nan_on in text else v for text, v in zip(texts, vectors, strict=True)
            ]
        self.taken.extend(texts)
        return 200, {"model": body["model"], "embeddings": vectors, "prompt_eval_count": sum(tokens)}

    def _chat(self, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.on_chat()
        abilities, options = self.models[name]["capabilities"], body.get("options", {})
        (message,) = body["messages"]
        if self.used_up("busy"):
            return BUSY
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


def _handler(double: OllamaDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer waits 40 ms for the client to acknowledge its headers

        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/embed":
                double.asked.append(body)
            if self.path == "/api/chat":
                double.chats.append(body)
            self._reply(body)

        def _reply(self, body: dict[str, Any]) -> None:
            double.headers.append({name.lower(): value for name, value in self.headers.items()})
            time.sleep(double.delay)
            if double.html:
                self._send(200, "text/html", b"<!doctype html><title>Some other site</title>")
            elif self.path in ("/api/embed", "/api/chat") and double.used_up("cut"):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                status, answer = double.answer(self.path, body)
                self._send(status, "application/json; charset=utf-8", json.dumps(answer).encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing: the tests look at what was recorded."""

    return Handler
