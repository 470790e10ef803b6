"""`paragraph`: whole paragraphs, packed up to a limit."""

from chunking.pack import packed
from chunking.parts import Part
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks
from chunking.units import Unit


def paragraph(part: Part, size: int, unit: Unit, oversize: str) -> Chunks:
    """Packs whole paragraphs until the next would pass the limit.

    A paragraph over the limit stays whole (`oversize` keep) or is cut between sentences, and a sentence still over it
    between words (cut); the pieces are packed like paragraphs.
    """
    if oversize == "keep":
        pieces = part.pieces("paragraph", unit)
    else:
        pieces = cut_oversize(part, ("paragraph", "sentence", "word"), size, unit)
    return packed(pieces, size)
