"""Semchunk (`semchunk`)."""

from __future__ import annotations

from chunking.libraries.common import Returned, counter, library, placed
from chunking.parts import Part
from chunking.types import Chunks
from chunking.units import Unit


def semchunk(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `semchunk.chunk`: parted at the longest runs of line ends, then tabs, spaces and marks, and merged.

    With an overlap it cuts to the smaller of overlap and size less overlap, and joins the pieces to windows.
    """
    chunk = library("semchunk", "semchunk", "semchunk").chunk
    count = counter(unit)

    def split(text: str) -> Returned:
        # Its memory of lengths is never emptied: not used.
        texts, offsets = chunk(text, size, count, memoize=False, offsets=True, overlap=overlap or None)
        return [(start, returned) for returned, (start, _) in zip(texts, offsets, strict=True)]

    return placed("semchunk", part, split)
