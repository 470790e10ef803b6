"""`sentence`: whole sentences, packed up to a limit."""

from chunking.pack import packed
from chunking.parts import Part
from chunking.strategies.finer import cut_oversize
from chunking.types import Chunks
from chunking.units import Unit


def sentence(part: Part, size: int, overlap: int, unit: Unit, oversize: str) -> Chunks:
    """Packs whole sentences until the next would pass the limit.

    A sentence over the limit stays whole (`oversize` keep) or is cut between words (cut).
    """
    pieces = (
        part.pieces("sentence", unit) if oversize == "keep" else cut_oversize(part, ("sentence", "word"), size, unit)
    )
    return packed(pieces, size, overlap)
