"""Next fit: pieces are joined, left to right, while the joined span holds no more than the limit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from chunking.parts import Pieces


def pack(pieces: Pieces, size: int, overlap: int = 0, breaks: list[int] | None = None) -> tuple[list[int], list[int]]:
    """The first and the last piece of each chunk. No chunk goes across a break (by default the regions' beginnings).

    With an overlap a chunk begins with the last pieces of the one before it: as many as fit in `overlap` and leave
    room for one new piece. A piece longer than `size` is a chunk of its own.
    Example: lengths 3, 4, 5, 2 and size 7 -> first pieces 0, 2 and last pieces 1, 3
    """
    low, high = pieces.low, pieces.high
    firsts: list[int] = []
    lasts: list[int] = []
    begins = pieces.breaks if breaks is None else breaks
    for first, stop in zip(begins, [*begins[1:], len(low)], strict=True):
        while first < stop:
            after = bisect_right(high, low[first] + size, first, stop)
            if after == first:
                after += 1
            firsts.append(first)
            lasts.append(after - 1)
            if overlap and after < stop:
                first = bisect_left(low, max(high[after - 1] - overlap, high[after] - size), first + 1, after)
            else:
                first = after
    return firsts, lasts
