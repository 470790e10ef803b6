"""An embedder that tells how far it is while it embeds."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from cache.embedder import CachedEmbedder, Kind, Tell
from chunking.types import TokenSums


class Watched:
    """The same embedder, which calls `tell(progress)` before and after each batch; what that raises stops the run there."""

    def __init__(self, embedder: CachedEmbedder, tell: Tell) -> None:
        self.name = embedder.name
        self.identity = embedder.identity
        self.token_spans = embedder.token_spans
        self.token_sums: Callable[[Sequence[str]], list[TokenSums]] | None = None
        if embedder.token_reader is not None:
            self.token_sums = partial(embedder.token_reader, tell=tell)
        self._embedder = embedder
        self._tell = tell

    def __call__(self, texts: Sequence[str], kind: Kind) -> np.ndarray:
        """(n, d) float32, one unit row for each text."""
        return self._embedder.embed(texts, kind, self._tell)

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user about the model and the store, as they are by now."""
        return self._embedder.warnings

    def read(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: how many code points of each document text the model reads."""
        return self._embedder.read(texts, self._tell)
