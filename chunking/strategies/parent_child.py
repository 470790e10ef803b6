"""`parent_child`: match a small child, return the parent it was cut from."""

import numpy as np

from chunking.parts import Part
from chunking.strategies.fixed import fixed
from chunking.strategies.recursive import recursive
from chunking.types import Chunks, Spans
from chunking.units import Unit


def parent_child(part: Part, child: int, parent: int, base: str, unit: Unit) -> Chunks:
    """Children of at most `child` units inside parents of at most `parent` units, both cut by `base`."""
    # Kept: while one slider moves the other stands still.
    parents = part.keep(("parents", parent, base, unit), lambda: _parents(part, parent, base, unit))
    children = _cut(parents, child, base, unit)
    starts, ends = parents.regions
    place = np.searchsorted(starts, children.starts, "right") - 1
    return Chunks(children.starts, children.ends, starts[place], ends[place])


def _parents(part: Part, parent: int, base: str, unit: Unit) -> Part:
    chunks = _cut(part, parent, base, unit)
    return Part(part.source, Spans(chunks.starts, chunks.ends))


def _cut(part: Part, size: int, base: str, unit: Unit) -> Chunks:
    return fixed(part, size, 0, unit) if base == "fixed" else recursive(part, size, 0, unit, "keep")
