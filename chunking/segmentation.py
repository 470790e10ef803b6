"""The best segmentation: neighbouring pieces joined so that the sum of the chunks' rewards is as large as can be.

Dynamic programming goes from piece to piece. Here many stretches of pieces, the lanes, go together, with one numpy step
for the piece that each has come to. Where a lane begins amid a region the best sums before it are not known yet: it is
first worked out from each place where the last chunk before it may end, then the lanes are linked one after the other.
"""

from __future__ import annotations

from bisect import bisect_right
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from chunking.types import Ints

_UNIT = 1e9  # sums are counted in billionths: whole numbers up to 2^53 add up exactly, in whatever order
_SHORT = 64  # pieces of a region that is never cut into lanes
_PART = 32  # steps whose numbers stay in the processor's cache
_LINE = 8  # numbers in a cache line; arrays whose rows begin with one are added up faster

Rows = NDArray[np.float64]


def best_segmentation(rewards: Rows, breaks: Ints) -> tuple[Ints, Ints]:
    """The first and last pieces of the chunks with the largest sum of rewards, in order, (chunks,) each.

    `rewards[i, j]` is that of the chunk which ends with piece i and holds j + 1 pieces, (n, most), read to nine
    decimals; -inf where no such chunk is allowed. `breaks` are the first pieces of the regions, 0 and so on: no chunk
    goes across one. Of equal sums the one with the shorter last chunk wins, then with the shorter chunk before it, and
    so on. Each region must have a segmentation that is allowed, as it has where every piece may stand alone. Sums up
    to 9,000,000 are exact.
    Example: rewards (0, -inf), (0, 1), (0, 2), (0, 1) and breaks 0 -> first pieces 0, 1, 3 and last pieces 0, 2, 3
    """
    count = len(rewards)
    if not count:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    begins, amid, steps = _lanes(count, breaks)
    pieces = np.minimum(begins + np.arange(steps)[:, None], count - 1)
    options = _options(rewards, breaks, pieces)
    lengths = _lengths(options, _starts(options, amid))
    own = np.arange(steps) < np.diff(np.append(begins, count))[:, None]  # a lane may end before the last step
    lasts = np.array(_walk(lengths.T[own].tolist()), np.int64)
    return np.append(0, lasts[:-1] + 1), lasts


def _lanes(count: int, breaks: Ints) -> tuple[Ints, list[int], int]:
    """The first piece of each lane, (lanes,); which lanes begin amid a region; the most pieces of a lane.

    A lane ends with the last region that fits, and only a region longer than a lane is cut: two lanes in a row always
    hold more than one could, however uneven the regions are. Empty lanes make the number of lanes a multiple of 8.
    """
    steps = min(count, max(_SHORT, isqrt(count)))
    stops = [*breaks.tolist(), count]
    begins = [0]
    amid = []
    while begins[-1] + steps < count:
        full = begins[-1] + steps
        stop = stops[bisect_right(stops, full) - 1]
        if stop <= begins[-1]:
            amid.append(len(begins))
            stop = full
        begins.append(stop)
    return np.array(begins + [count] * (-len(begins) % _LINE), np.int64), amid, steps


def _options(rewards: Rows, breaks: Ints, pieces: Ints) -> Rows:
    """The rewards of the chunks that end with each of the pieces, the longest chunk first: (most, steps, lanes)."""
    count, most = rewards.shape
    options = _aligned(most, *pieces.shape)
    for step in range(0, len(pieces), _PART):
        rows = np.take(rewards, pieces[step : step + _PART], axis=0)
        np.multiply(rows[..., ::-1].transpose(2, 0, 1), _UNIT, out=options[:, step : step + _PART])
    np.rint(options, out=options)
    before = (np.arange(count) - np.repeat(breaks, np.diff(np.append(breaks, count))))[pieces]  # pieces of its region
    options[before < np.arange(most - 1, -1, -1)[:, None, None]] = -np.inf  # fewer than the chunk holds: it goes across
    return options


def _starts(options: Rows, amid: list[int]) -> Rows:
    """The best sums up to each of the `most` pieces before each lane, the farthest first: (most, 1, lanes).

    `amid` are the lanes that begin amid a region. Before the others all is 0: no chunk of theirs reaches back there.
    """
    most, steps, lanes = options.shape
    starts = np.zeros((lanes, most))
    if amid:
        alone = np.where(np.eye(most), 0, -np.inf)[..., None]  # as if all chunks ended at this one of the pieces
        sums = np.broadcast_to(alone, (most, most, lanes))
        for step in range(0, steps, _PART):
            sums = _sums(options[:, step : step + _PART], sums)[-most:]
        gains = sums.transpose(2, 1, 0).copy()
        for lane in amid:
            np.maximum.reduce(gains[lane - 1] + starts[lane - 1][:, None], axis=0, out=starts[lane])
    return starts.T[:, None]


def _sums(options: Rows, starts: Rows) -> Rows:
    """The best sums up to the `most` pieces before each lane, and up to its own: (most + steps, cases, lanes).

    `starts` are those before it, (most, cases, lanes), in one case or many.
    """
    most, steps, _ = options.shape
    sums = _aligned(most + steps, *starts.shape[1:])
    sums[:most] = starts
    found = _aligned(*starts.shape)
    for step in range(steps):
        np.add(sums[step : step + most], options[:, step, None], out=found)
        np.maximum.reduce(found, axis=0, out=sums[most + step])
    return sums


def _lengths(options: Rows, starts: Rows) -> Ints:
    """The pieces of the last chunk of the best segmentation up to each piece, the fewest of equals: (steps, lanes)."""
    most, steps, lanes = options.shape
    sums = _sums(options, starts)[:, 0]
    lengths = np.empty((steps, lanes), np.int64)
    for place in range(most):  # the longest first: what is shorter and equal is written over it
        lengths[sums[place : place + steps] + options[place] == sums[most:]] = most - place
    return lengths


def _aligned(*shape: int) -> Rows:
    """An array, not filled, that begins with a cache line."""
    size = prod(shape)
    room = np.empty(size + _LINE - 1)
    skip = -(room.ctypes.data // room.itemsize) % _LINE
    return room[skip : skip + size].reshape(shape)


def _walk(lengths: list[int]) -> list[int]:
    """The last pieces of the chunks in order, from the pieces of the chunk that ends with each piece."""
    lasts = []
    last = len(lengths) - 1
    while last >= 0:
        lasts.append(last)
        last -= lengths[last]
    return lasts[::-1]
