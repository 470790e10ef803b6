"""Cutting what is over the limit at the next finer boundary: shared by strategies that know several boundaries."""

from __future__ import annotations

import numpy as np

from chunking.joined import solid_starts
from chunking.parts import Part, Pieces, parted
from chunking.types import Ints, Spans
from chunking.units import Unit


def cut_oversize(part: Part, levels: tuple[str, ...], size: int, unit: Unit) -> Pieces:
    """The flat list of pieces: those of the first level, each one over `size` replaced by its pieces of the next level.

    What is over the limit at the last level stays as it is.
    """
    pieces = part.pieces(levels[0], unit)
    columns = pieces[:4]
    kept: list[tuple[Ints, ...]] = []
    for level in levels[1:]:
        over = columns[3] - columns[2] > size
        if not over.any():
            break
        kept.append(tuple(column[~over] for column in columns))
        parents = Spans(columns[0][over], columns[1][over])
        tiles = parted(part.source, parents, _starts(part, level, unit))
        columns = (*tiles, *part.lengths(tiles, unit))
    if not kept:
        return pieces
    starts, ends, low, high = (np.concatenate(column) for column in zip(*kept, columns, strict=True))
    order = np.argsort(starts, kind="stable")  # a merge of sorted runs
    starts = starts[order]
    return Pieces(starts, ends[order], low[order], high[order], np.searchsorted(starts, part.regions.starts))


def _starts(part: Part, level: str, unit: Unit) -> Ints:
    source = part.source
    return source.level(level) if level != "atom" else source.keep(("atoms", unit), lambda: _atoms(part, unit))


def _atoms(part: Part, unit: Unit) -> Ints:
    """Where the atoms of a unit begin, and the words."""
    source = part.source
    atoms = part.ruler(unit).listed(len(source.text)).starts
    return np.union1d(source.level("word"), solid_starts(source.words, atoms))
