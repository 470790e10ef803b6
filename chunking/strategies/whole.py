"""`whole`: each region as one chunk."""

from chunking.parts import Part
from chunking.types import Chunks


def whole(part: Part) -> Chunks:
    """One chunk for the document, or for each section where the scope is one."""
    return Chunks.plain(*part.regions)
