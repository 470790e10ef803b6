"""`sentence_window`: match one sentence, return it with its neighbours."""

import numpy as np

from chunking.parts import Part
from chunking.types import Chunks


def sentence_window(part: Part, window: int) -> Chunks:
    """Each sentence, returned with up to `window` sentences before and after it from the same region."""
    starts, ends = part.tiles("sentence")
    place = np.arange(len(starts))
    first = np.searchsorted(starts, part.regions.starts)
    after = np.append(first[1:], len(starts))
    region = np.searchsorted(first, place, "right") - 1
    returned_starts = starts[np.maximum(place - window, first[region])]
    returned_ends = ends[np.minimum(place + window, after[region] - 1)]
    return Chunks(starts, ends, returned_starts, returned_ends)
