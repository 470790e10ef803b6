"""A chat model that tells how far it is while it describes the chunks of one document after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chunking.types import Document

if TYPE_CHECKING:
    from cache.chat import Chat


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
