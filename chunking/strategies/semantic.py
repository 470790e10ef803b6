"""`semantic`: a new chunk wherever two neighbouring sentences are less alike than a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.pack import pack
from chunking.parts import Part, joined
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks, Embed
from chunking.units import Unit


def semantic(part: Part, threshold: float, size: int, unit: Unit, oversize: str, embed: Embed) -> Chunks:
    """Packs sentences; a chunk ends where the cosine to the next sentence is below `threshold`, or at the cap `size`.

    With a threshold below every similarity it equals `sentence`. A sentence over the cap stays whole (`oversize` keep)
    or is cut between words (cut), and its words are not parted by likeness.
    """
    sentences = part.tiles("sentence")
    changes = sentences.starts[1:][similarities(part, embed) < threshold]
    pieces = (
        part.pieces("sentence", unit) if oversize == "keep" else cut_oversize(part, ("sentence", "word"), size, unit)
    )
    breaks = np.union1d(pieces.breaks, np.searchsorted(pieces.starts, changes)).astype(np.int64)
    return joined(pieces, *pack(pieces, size, breaks=breaks.tolist()))


def similarities(part: Part, embed: Embed) -> NDArray[np.float64]:
    """The cosine of each sentence and the next, rounded to 6 decimals so that equal sentences are alike exactly, (n - 1,).

    Sentences on either side of a region's border are neighbours here too; the border parts them anyway.
    """
    return part.keep(("similarities", embed.identity), lambda: _similarities(part, embed))


def _similarities(part: Part, embed: Embed) -> NDArray[np.float64]:
    text = part.document.text
    tiles = part.tiles("sentence")
    texts = [text[start:end] for start, end in zip(tiles.starts.tolist(), tiles.ends.tolist(), strict=True)]
    if len(texts) < 2:
        return np.zeros(max(0, len(texts) - 1))
    vectors = embed(texts, "document").astype(np.float64)
    return np.round(np.einsum("ij,ij->i", vectors[:-1], vectors[1:]), 6)
