"""Embedders, chat models, and the store of what they gave; the only folder that talks to a model.

`open_embedder("minilm")` or `open_embedder("ollama:nomic-embed-text")` gives what the rest of the program calls for
vectors, `open_chat("ollama:llama3.2")` what it calls for descriptions of chunks. Nothing heavy is imported before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.errors import EmbedderError

if TYPE_CHECKING:
    from cache.chat import Chat
    from cache.embedder import Backend, CachedEmbedder
    from cache.ollama_client import ServerInfo
    from cache.store import Store

__all__ = [
    "BUILT_IN",
    "OLLAMA",
    "Choice",
    "EmbedderError",
    "Look",
    "chat_models",
    "default_chat_name",
    "default_embedder_name",
    "look",
    "open_chat",
    "open_embedder",
    "own_prefixes",
]

BUILT_IN = "minilm"
OLLAMA = "ollama:"
PREFERRED = "nomic-embed-text"
SMALL_CHAT = "llama3.2"


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that is used unless the user picks another, '' where there is none, and a sentence that says why."""

    name: str
    sentence: str


def open_embedder(
    name: str,
    store: "Store | None" = None,
    host: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    typed: bool = False,
) -> "CachedEmbedder":
    """The embedder of that name, in front of the given store, else of the default one.

    `host` is the address of the Ollama server, else that of OLLAMA_HOST, else this machine; to one that was `typed` into
    the page no key is sent. `prefixes` are what is put before a "query" and before a "document", where that is not to be
    what the model was trained with.
    """
    from cache.embedder import CachedEmbedder
    from cache.store import Store, default_folder

    store = store or Store(default_folder())
    return CachedEmbedder(_backend(name, host, store, typed), store, prefixes)


def open_chat(name: str, store: "Store | None" = None, host: str | None = None, typed: bool = False) -> "Chat":
    """The chat model of that name, "ollama:MODEL", in front of the given store, else of the default one.

    `host` and `typed` are as for `open_embedder`.
    """
    model = name.removeprefix(OLLAMA).strip()
    if not name.startswith(OLLAMA) or not model:
        raise ValueError(f'the chat model must be "{OLLAMA}MODEL", got {name!r}')
    from cache.chat import Chat
    from cache.store import Store, default_folder

    return Chat(model, store or Store(default_folder()), host, typed)


@dataclass(frozen=True, slots=True)
class Look:
    """What was found at the address of an Ollama server: the server, or why there is none, as part of a sentence."""

    server: "ServerInfo | None"
    problem: str = ""


def look(host: str | None = None, typed: bool = False) -> Look:
    """The Ollama server at the host; back within two seconds, whatever the host does."""
    from cache.ollama_address import server_host
    from cache.ollama_client import probe

    try:
        server = probe(host, typed=typed)
    except ValueError as error:
        return Look(None, str(error))
    away = f"no Ollama server answers at {server_host(host)}: start it with `ollama serve` or set OLLAMA_HOST"
    return Look(server, "" if server else away)


def default_embedder_name(found: Look) -> Choice:
    """An embedding model of the Ollama server, else the built-in model."""
    server = found.server
    if server is None:
        return Choice(BUILT_IN, f"The built-in minilm is used, because {found.problem}.")
    if not server.models:
        return Choice(
            BUILT_IN,
            f"The built-in minilm is used, because the Ollama server at {server.host} has no embedding model; "
            f"`ollama pull {PREFERRED}` fetches one.",
        )
    model = next((name for name in server.models if name.split(":")[0] == PREFERRED), server.models[0])
    return Choice(
        f"{OLLAMA}{model}", f"{model} of the Ollama server at {server.host} is used; choose minilm to do without."
    )


def default_chat_name(found: Look) -> Choice:
    """The first chat model by name of the Ollama server.

    One that runs elsewhere is never the default: the documents would leave for a machine that the user did not name.
    """
    need = "Context by a chat model needs an Ollama server with a chat model"
    server = found.server
    if server is None:
        return Choice("", f"{need}, and {found.problem}.")
    own = sorted(set(server.chat_models) - set(server.elsewhere))
    if not own:
        return Choice(
            "", f"{need}: the one at {server.host} has none of its own; `ollama pull {SMALL_CHAT}` fetches one."
        )
    return Choice(f"{OLLAMA}{own[0]}", f"{own[0]} of the Ollama server at {server.host} describes the chunks.")


def chat_models(found: Look) -> list[str]:
    """The names of the chat models that can be opened, those that run elsewhere last; none where no server answers."""
    server = found.server
    if server is None:
        return []
    return [f"{OLLAMA}{name}" for name in sorted(server.chat_models, key=lambda name: (name in server.elsewhere, name))]


def own_prefixes(name: str) -> dict[str, str]:
    """What the model of that name was trained to see before a "query" and before a "document"."""
    from cache.ollama_models import prefixes

    return prefixes(name.removeprefix(OLLAMA))


def _backend(name: str, host: str | None, store: "Store", typed: bool) -> "Backend":
    if name == BUILT_IN:
        from cache.minilm import MiniLM

        return MiniLM()
    model = name.removeprefix(OLLAMA).strip()
    if not name.startswith(OLLAMA) or not model:
        raise ValueError(f'the embedder must be "{BUILT_IN}" or "{OLLAMA}MODEL", got {name!r}')
    from cache.ollama_embedder import Ollama

    return Ollama(model, host, store, typed)
