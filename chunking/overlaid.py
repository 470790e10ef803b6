"""Two settings on one document: the boundaries that both have and those that one has alone; how alike its sentences are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunking.index import Index
from chunking.joined import joined
from chunking.parts import part_of
from chunking.strategies.semantic import inner, similarities
from chunking.types import Corpus, Document, Embed, Ints


@dataclass(frozen=True, slots=True)
class Overlaid:
    """Where boundaries lie in a document, in order: code points at which the text after the boundary begins."""

    both: tuple[int, ...]
    one: tuple[int, ...]
    other: tuple[int, ...]


def overlaid(one: Index, other: Index, document: Document) -> Overlaid:
    """The boundaries of what two indexes could send of a document: those of both, of the one alone, of the other alone.

    Boundaries with white space alone between them are one, and the document's own ends are none.
    """
    mine, theirs = (set(boundaries(index, document).tolist()) for index in (one, other))
    return Overlaid(tuple(sorted(mine & theirs)), tuple(sorted(mine - theirs)), tuple(sorted(theirs - mine)))


def boundaries(index: Index, document: Document) -> Ints:
    """Where what could be sent of a document begins or ends inside it: the places of the next text, in order."""
    number = index.numbers[document.id]
    low, high = index.source.bases[[number, number + 1]].tolist()
    places = np.concatenate(index.sendable)
    solid = index.source.solid
    counts = np.unique(solid[places[(places >= low) & (places < high)]])  # ends and starts alike, by the text before
    counts = counts[(counts > solid[low]) & (counts < solid[high - 1])]
    return np.searchsorted(solid, counts, "right") - 1 - low


@dataclass(frozen=True, slots=True)
class Likeness:
    """Neighbouring sentences of a document: where the second of each pair begins, and the cosine of the two, (n,) each.

    `inner` tells which pairs lie inside a region: at the border of two regions a chunk ends in any case.
    """

    places: Ints
    cosines: NDArray[np.float64]
    inner: NDArray[np.bool_]


def likeness(corpus: Corpus, document: Document, embed: Embed, scope: str = "document", buffer: int = 0) -> Likeness:
    """How alike the neighbouring sentences of a document are: what `semantic` cuts by."""
    source = joined(corpus)
    part = part_of(source, scope)
    number = [one.id for one in corpus.documents].index(document.id)
    low, high = source.bases[[number, number + 1]].tolist()
    starts = part.tiles("sentence").starts
    mine = (starts[:-1] >= low) & (starts[1:] < high)
    return Likeness(starts[1:][mine] - low, similarities(part, embed, buffer)[mine], inner(part)[mine])
