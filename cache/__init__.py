"""Embedders and the store of their vectors; the only folder that talks to a model.

`open_embedder("minilm")` or `open_embedder("ollama:nomic-embed-text")` gives what the rest of the program calls.
Nothing heavy is imported before one is opened.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.errors import EmbedderError

if TYPE_CHECKING:
    from cache.embedder import Backend, CachedEmbedder
    from cache.store import Store

__all__ = ["BUILT_IN", "Choice", "EmbedderError", "default_embedder_name", "open_embedder"]

BUILT_IN = "minilm"
OLLAMA = "ollama:"
PREFERRED = "nomic-embed-text"


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder that is used unless the user picks another, and a sentence that says why."""

    name: str
    sentence: str


def open_embedder(name: str, store: "Store | None" = None, host: str | None = None) -> "CachedEmbedder":
    """The embedder of that name, in front of the given store, else of the default one.

    `host` is the address of the Ollama server, else that of OLLAMA_HOST, else this machine.
    """
    from cache.embedder import CachedEmbedder
    from cache.store import Store, default_folder

    backend = _backend(name, host)
    return CachedEmbedder(backend, store or Store(default_folder()))


def default_embedder_name(host: str | None = None) -> Choice:
    """An embedding model of the Ollama server that answers within two seconds, else the built-in model."""
    from cache.ollama_address import server_host
    from cache.ollama_client import probe

    try:
        address = server_host(host)
    except ValueError as error:
        return Choice(BUILT_IN, f"The built-in minilm is used, because {error}.")
    server = probe(address)
    if server is None:
        return Choice(
            BUILT_IN,
            f"The built-in minilm is used, because no Ollama server answers at {address}; "
            "to use one, start it or set OLLAMA_HOST, then choose one of its models.",
        )
    if not server.models:
        return Choice(
            BUILT_IN,
            f"The built-in minilm is used, because the Ollama server at {address} has no embedding model; "
            f"`ollama pull {PREFERRED}` fetches one.",
        )
    model = next((name for name in server.models if name.split(":")[0] == PREFERRED), server.models[0])
    return Choice(
        f"{OLLAMA}{model}", f"{model} of the Ollama server at {address} is used; choose minilm to do without."
    )


def _backend(name: str, host: str | None) -> "Backend":
    if name == BUILT_IN:
        from cache.minilm import MiniLM

        return MiniLM()
    model = name.removeprefix(OLLAMA).strip()
    if not name.startswith(OLLAMA) or not model:
        raise ValueError(f'the embedder must be "{BUILT_IN}" or "{OLLAMA}MODEL", got {name!r}')
    from cache.ollama_client import Ollama

    return Ollama(model, host)
