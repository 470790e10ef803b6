"""`recursive`: sections, then paragraphs, sentences and words, as far as the limit asks; then next fit."""

from chunking.pack import packed
from chunking.parts import Part
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks
from chunking.units import Unit

_LEVELS = ("section", "paragraph", "sentence", "word")


def recursive(part: Part, size: int, overlap: int, unit: Unit, oversize: str) -> Chunks:
    """Splits on headings, and a piece still over the limit on paragraphs, then sentences, then words; then packs.

    The flat list of pieces is packed left to right, across paragraphs and headings too. A single word over the limit
    (in characters or tokens) stays whole (`oversize` keep) or is cut between characters or tokens (cut).
    """
    levels = _LEVELS if oversize == "keep" else (*_LEVELS, "atom")
    pieces = cut_oversize(part, levels, size, unit)
    return packed(pieces, size, overlap)
