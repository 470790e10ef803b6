"""Removes what models made that are no longer there."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from cache import ollama_models as models
from cache.errors import EmbedderError
from cache.ollama_client import Server
from cache.store import Store

#: How the tag of a row begins that a model of an Ollama server made; see `identity` of `Ollama` and `Chat`.
_OLLAMA_TAG = re.compile(r"ollama:.+?, digest ([0-9a-f]+), ")


def by_model(tags: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """The values of a store by the model and its version, as "minilm, weights 53aa51172d14", and by what they are."""
    counts: Counter[tuple[str, str]] = Counter()
    for tag, number in sorted(tags.items()):
        counts[", ".join(tag.split(", ")[:2]), _kind(tag)] += number
    return dict(counts)


def _kind(tag: str) -> str:
    if tag.endswith(", windows of tokens"):
        return "windows of tokens"
    return "descriptions" if ", prompt " in tag else "checks of the engine" if ", canaries " in tag else "vectors"


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
