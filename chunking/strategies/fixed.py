"""`fixed`: a window of `size` units that steps `size - overlap`."""

import numpy as np

from chunking.joined import trimmed
from chunking.pack import pack
from chunking.parts import Part, Pieces, stretches
from chunking.types import Chunks, Ints, Spans
from chunking.units import Ruler, Unit


def fixed(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Windows over words, characters or tokens; the window that reaches a region's end is its last.

    Characters that belong together (a letter and its accents) and tokens that share a character are not parted: there
    a window takes whole ones only.
    Example: size 3, overlap 1 over the words 'ant bee cat dog' -> 'ant bee cat', 'cat dog'
    """
    rule = part.ruler(unit)
    if not rule.even:
        atoms = part.keep(("atoms", unit), lambda: _atoms(part, rule))
        firsts, lasts = pack(atoms, size, overlap)
        return Chunks.plain(*_distinct(trimmed(part.source.words, Spans(atoms.starts[firsts], atoms.ends[lasts]))))
    low, high = rule.low(part.regions.starts), rule.high(part.regions.ends)
    starts, ends, region = _windows(low, high, size, overlap)
    if rule.before is None:
        return Chunks.plain(*_distinct(trimmed(part.source.words, Spans(starts, ends))))
    starts = np.maximum(rule.atoms.starts[starts], part.regions.starts[region])
    windows = Spans(starts, np.minimum(rule.atoms.ends[ends - 1], part.regions.ends[region]))
    return Chunks.plain(*(windows if unit.name == "words" else _distinct(trimmed(part.source.words, windows))))


def _atoms(part: Part, rule: Ruler) -> Pieces:
    """The atoms of each region, white space included: a window counts it, and is trimmed of it afterwards."""
    regions, atoms = part.regions, rule.atoms
    first = np.searchsorted(atoms.ends, regions.starts, "right")
    count = np.searchsorted(atoms.starts, regions.ends, "left") - first
    place, region = stretches(first, count), np.repeat(np.arange(len(first)), count)
    starts = np.maximum(atoms.starts[place], regions.starts[region])
    ends = np.minimum(atoms.ends[place], regions.ends[region])
    low, high = (starts, ends) if rule.before is None else (rule.before[place], rule.before[place + 1])
    return Pieces(starts, ends, low, high, np.cumsum(count) - count)


def _windows(low: Ints, high: Ints, size: int, overlap: int) -> tuple[Ints, Ints, Ints]:
    """The windows over each range `[low, high)`: their starts and ends, and the number of their range, (n,) each."""
    step = size - overlap
    if len(low) == 1:  # the usual case, and three times as fast
        starts = np.arange(low[0], max(high[0] - overlap, low[0] + 1), step)
        return starts, np.minimum(starts + size, high[0]), np.zeros(len(starts), np.int64)
    count = 1 + np.maximum(0, -((size - (high - low)) // step))
    region = np.repeat(np.arange(len(low)), count)
    turn = np.arange(len(region)) - np.repeat(np.cumsum(count) - count, count)
    starts = low[region] + turn * step
    return starts, np.minimum(starts + size, high[region]), region


def _distinct(spans: Spans) -> Spans:
    """Spans without those that, trimmed of white space, lie within a neighbour."""
    reach = np.concatenate(([-1], np.maximum.accumulate(spans.ends)[:-1]))
    kept = Spans(spans.starts[spans.ends > reach], spans.ends[spans.ends > reach])
    last = np.append(kept.starts[1:] > kept.starts[:-1], True)
    return Spans(kept.starts[last], kept.ends[last])
