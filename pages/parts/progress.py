"""How far the embedding is, on the page."""

from __future__ import annotations

from streamlit.delta_generator import DeltaGenerator

from cache.embedder import CachedEmbedder
from cache.watched import Watched


def watched(embedder: CachedEmbedder, spot: DeltaGenerator) -> Watched:
    """The embedder with its progress on the page. Moving a slider stops it between two batches; those are kept."""

    def progress(done: int, total: int) -> None:
        if done < total:
            spot.progress(done / total, f"Embedding {done:,} of {total:,} texts")
        else:
            spot.empty()

    return Watched(embedder, progress)
