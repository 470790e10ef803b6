"""`multi`: several sizes of one strategy in one index."""

import numpy as np

from chunking.parts import Part
from chunking.strategies.fixed import fixed
from chunking.strategies.recursive import recursive
from chunking.strategies.sentence import sentence
from chunking.types import Chunks
from chunking.units import Unit


def multi(part: Part, sizes: tuple[int, ...], base: str, unit: Unit) -> Chunks:
    """The chunks of every size together, each span once. Where several are sent, what overlaps is sent once."""
    cuts = [_cut(part, size, base, unit) for size in sizes]
    spans = np.concatenate([np.column_stack((chunks.starts, chunks.ends)) for chunks in cuts])
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    starts, ends = spans[order].T
    new = np.append(True, (np.diff(starts) != 0) | (np.diff(ends) != 0))
    return Chunks.plain(starts[new], ends[new])


def _cut(part: Part, size: int, base: str, unit: Unit) -> Chunks:
    if base == "fixed":
        return fixed(part, size, 0, unit)
    return recursive(part, size, 0, unit, "keep") if base == "recursive" else sentence(part, size, 0, unit, "keep")
