"""Cutting what is over the limit at the next finer boundary: shared by `sentence`, `paragraph` and `recursive`."""

from __future__ import annotations

import numpy as np

from chunking.parts import Part, Pieces, solid_starts
from chunking.types import Spans
from chunking.units import Unit, ruler


def cut_oversize(part: Part, levels: tuple[str, ...], size: int, unit: Unit) -> Pieces:
    """The flat list of pieces: those of the first level, each one over `size` replaced by its pieces of the next level.

    What is over the limit at the last level stays as it is.
    """
    rule = ruler(part.document, unit)
    tiles = part.tiles(levels[0])
    over = rule.high(tiles.ends) - rule.low(tiles.starts) > size
    flat = [tiles.starts]
    for level in levels[1:]:
        if not over.any():
            break
        parents = Spans(tiles.starts[over], tiles.ends[over])
        tiles = _inside(parents, _finer(part, level, unit))
        flat.append(tiles.starts)
        over = rule.high(tiles.ends) - rule.low(tiles.starts) > size
    if len(flat) == 1:
        return part.pieces(levels[0], unit)
    return part.measured(part.parted(np.unique(np.concatenate(flat))), unit)


def _finer(part: Part, level: str, unit: Unit) -> Spans:
    return part.tiles(level) if level != "atom" else part.keep(("atom tiles", unit), lambda: _atoms(part, unit))


def _atoms(part: Part, unit: Unit) -> Spans:
    """The words of a part, cut into the atoms of a unit."""
    atoms = ruler(part.document, unit).atoms.starts
    if not len(atoms):
        words = part.tiles("word")
        lengths = words.ends - words.starts
        first = np.cumsum(lengths) - lengths
        atoms = np.repeat(words.starts - first, lengths) + np.arange(int(lengths.sum()))
    return part.parted(np.union1d(part.tiles("word").starts, solid_starts(part.document, atoms)))


def _inside(parents: Spans, tiles: Spans) -> Spans:
    """The tiles that lie in one of the parents, which begin and end where tiles do."""
    place = np.searchsorted(parents.starts, tiles.starts, "right") - 1
    inside = (place >= 0) & (tiles.starts < parents.ends[place])
    return Spans(tiles.starts[inside], tiles.ends[inside])
