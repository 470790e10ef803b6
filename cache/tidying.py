"""Removes what models made that are no longer there."""

import re
from collections.abc import Collection, Iterable

from cache import ollama_models as models
from cache.errors import EmbedderError
from cache.ollama_client import Server
from cache.store import Store

#: How the tag of a row begins that a model of an Ollama server made; see `identity` of `Ollama` and `Chat`.
_OLLAMA_TAG = re.compile(r"ollama:.+?, digest ([0-9a-f]+), ")


def uninstalled(tags: Iterable[str], digests: Collection[str]) -> list[str]:
    """Of the tags of a store, those of Ollama models whose digest is none of a server's; none where one is unknown."""
    if not all(digests):
        return []
    return [
        tag
        for tag in tags
        if (made := _OLLAMA_TAG.match(tag)) and not any(digest.startswith(made[1]) for digest in digests)
    ]


def remove_uninstalled(store: Store, host: str | None = None, typed: bool = False) -> tuple[str, dict[str, int]]:
    """The address of the Ollama server that was asked, and the values removed by tag: those of models it does not have.

    A model of the same name with another digest is another model. An EmbedderError where no server answers.
    """
    server = Server(host, typed=typed)
    digests = [models.digest(entry) for entry in server.tags().values()]
    if not all(digests):
        raise EmbedderError(
            f"the server at {server.host} does not tell the digest of every model, so nothing is removed"
        )
    return server.host, {tag: store.remove(tag) for tag in uninstalled(store.tags(), digests)}
