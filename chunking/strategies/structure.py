"""`structure`: Markdown blocks, packed inside each section."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunking.pack import packed
from chunking.parts import Part
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks, Ints
from chunking.units import Unit


def structure(part: Part, size: int, unit: Unit, oversize: str) -> Chunks:
    """Packs whole blocks up to the limit, never across a section: a table, list or piece of code stays whole while it fits.

    A block over the limit stays whole (`oversize` keep) or is cut between its rows or items, then sentences or lines of
    code, then words (cut). A chunk that begins inside a table has the table's header row as its head.
    """
    levels = ("block",) if oversize == "keep" else ("block", "item", "part", "sentence", "word")
    pieces = cut_oversize(part, levels, size, unit)
    chunks = packed(pieces, size, breaks=np.searchsorted(pieces.starts, part.tiles("section").starts))
    return replace(chunks, heads=_heads(part, chunks.starts))


def _heads(part: Part, starts: Ints) -> tuple[str, ...]:
    """For each chunk the header row of the table that it begins in, '' where it begins in none or with that row."""
    tables, rows = part.source.tables, part.source.table_heads
    place = np.searchsorted(tables.starts, starts, "right") - 1
    inside = (place >= 0) & (starts < np.append(tables.ends, 0)[place]) & (starts >= np.append(rows.ends, 0)[place])
    if not inside.any():
        return ()
    text = part.source.text
    heads = [text[start:end] for start, end in zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)]
    return tuple(heads[at] if within else "" for at, within in zip(place.tolist(), inside.tolist(), strict=True))
