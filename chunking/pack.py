"""Next fit: pieces are joined, left to right, while the joined span holds no more than the limit."""

from __future__ import annotations

import numpy as np

from chunking.parts import Pieces
from chunking.types import Chunks, Ints


def packed(pieces: Pieces, size: int, overlap: int = 0, breaks: Ints | None = None) -> Chunks:
    """The chunks of pieces packed up to `size`: see `pack`."""
    return joined(pieces, *pack(pieces, size, overlap, breaks))


def joined(pieces: Pieces, firsts: Ints, lasts: Ints) -> Chunks:
    """The chunks made of pieces `firsts[i]` to `lasts[i]`, both included."""
    return Chunks.plain(pieces.starts[firsts], pieces.ends[lasts])


def pack(pieces: Pieces, size: int, overlap: int = 0, breaks: Ints | None = None) -> tuple[Ints, Ints]:
    """The first and the last piece of each chunk. No chunk goes across a break (by default the regions' beginnings).

    With an overlap a chunk begins with the last pieces of the one before it: as many as fit in `overlap` and leave
    room for one new piece. A piece longer than `size` is a chunk of its own.
    Example: lengths 3, 4, 5, 2 and size 7 -> first pieces 0, 2 and last pieces 1, 3
    """
    low, high = pieces.low, pieces.high
    begins = pieces.breaks if breaks is None else breaks
    count = len(low)
    place = np.arange(count)
    stop = np.repeat(np.append(begins[1:], count), np.diff(np.append(begins, count)))
    # Where a chunk that began with each piece would end, and the next one begin: then it is one walk along these.
    after = np.clip(np.searchsorted(high, low + size, "right"), place + 1, stop)
    following = after
    if overlap:
        new = np.minimum(after, count - 1)
        back = np.searchsorted(low, np.maximum(high[after - 1] - overlap, high[new] - size), "left")
        following = np.where(after < stop, np.clip(back, place + 1, after), after)
    firsts = np.array(_walk(following.tolist()), np.int64)
    return firsts, after[firsts] - 1


def _walk(following: list[int]) -> list[int]:
    """The places 0, following[0], following[following[0]], ... up to the end."""
    places = []
    place = 0
    while place < len(following):
        places.append(place)
        place = following[place]
    return places
