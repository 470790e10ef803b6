"""What describing the chunks of a corpus costs, and a chat model that tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

from cache.chat import Chat, Estimate
from chunking.index import Config, build
from chunking.types import Corpus, Document, Embed


def price(chat: Chat, corpus: Corpus, config: Config, embed: Embed | None) -> Estimate:
    """What it costs to have all chunks of a configuration described now, all documents together."""
    index = build(corpus, replace(config, context="none", chat=""), embed)
    costs = [
        chat.estimate(document, [document.text[chunk.start : chunk.end] for chunk in index.chunks(number)])
        for number, document in enumerate(corpus.documents)
    ]
    return Estimate(*(sum(column) for column in zip((0, 0, 0, 0), *map(astuple, costs), strict=True)))


class Described:
    """The same model with `progress(done, total)` called after each answer; `total` counts those of all documents."""

    def __init__(self, chat: Chat, total: int, progress: Callable[[int, int], None]) -> None:
        self.identity = chat.identity
        self._chat = chat
        self._total = total
        self._done = 0
        self._progress = progress

    def __call__(self, document: Document, texts: Sequence[str]) -> list[str]:
        """One description for each chunk text of the document, in order."""
        return self._chat.describe(document, texts, self._answered)

    def _answered(self, done: int, total: int) -> None:
        self._done += 1
        self._progress(self._done, max(self._total, self._done))
