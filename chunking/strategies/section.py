"""`section`: one chunk for each heading section."""

from chunking.parts import Part
from chunking.types import Chunks


def section(part: Part) -> Chunks:
    """A chunk for each heading with the text up to the next heading; text before the first heading is one too."""
    return Chunks.plain(*part.tiles("section"))
