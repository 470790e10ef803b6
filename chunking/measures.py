"""Measures of one question, on the spans that were sent for it. Means and intervals come after.

Lengths count non-space characters by default; `raw` counts all, for comparison with Chroma's evaluation, whose
definitions of recall (our coverage), precision, IoU and precision omega (our ideal precision) these are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chunking.joined import joined
from chunking.segments import count_words, solid
from chunking.types import Corpus, Document, Passage
from chunking.units import Unit

Length = Callable[[str, int, int], int]  # (document, start, end) -> characters
Need = tuple[Passage, ...]


def solid_length(corpus: Corpus) -> Length:
    """Lengths in non-space characters."""
    before = {document.id: solid(document) for document in corpus.documents}
    return lambda document, start, end: int(before[document][end] - before[document][start])


def raw_length(document: str, start: int, end: int) -> int:
    """Lengths in all characters, as Chroma's evaluation counts."""
    return end - start


def union(spans: Iterable[Passage]) -> list[Passage]:
    """The spans merged where they touch or overlap, by document and start."""
    merged: list[Passage] = []
    for span in sorted(spans, key=lambda span: (span.document, span.start)):
        last = merged[-1] if merged else None
        if last and last.document == span.document and span.start <= last.end:
            merged[-1] = Passage(last.document, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def common(one: Sequence[Passage], other: Sequence[Passage]) -> list[Passage]:
    """What two unions share."""
    by_document = defaultdict(list)
    for span in other:
        by_document[span.document].append(span)
    shared = [
        Passage(a.document, max(a.start, b.start), min(a.end, b.end)) for a in one for b in by_document[a.document]
    ]
    return [span for span in shared if span.end > span.start]


def total(spans: Iterable[Passage], length: Length) -> int:
    """The summed length of spans; what is in two of them counts twice."""
    return sum(length(span.document, span.start, span.end) for span in spans)


@dataclass(frozen=True, slots=True)
class Cover:
    """How much of a question's passages was sent, and at what price."""

    coverage: float
    precision: float
    iou: float


def cover(needs: Sequence[Need], sent: Sequence[Passage], length: Length) -> Cover:
    """Coverage, precision and IoU of what was sent, each need by its best-covered passage.

    Precision divides by everything sent: text sent twice counts twice, other documents in full; 0 where nothing is
    sent. IoU divides by that plus what is not covered.
    """
    merged = union(sent)
    wanted = union(_best_covered(need, merged, length) for need in needs)
    covered = total(common(wanted, merged), length)
    asked = total(wanted, length)
    price = total(sent, length)
    return Cover(covered / asked, covered / price if price else 0.0, covered / (price + asked - covered))


def _best_covered(need: Need, merged: Sequence[Passage], length: Length) -> Passage:
    if len(need) == 1:
        return need[0]
    return max(need, key=lambda passage: total(common([passage], merged), length) / total([passage], length))


def ideal_precision(needs: Sequence[Need], returned: Sequence[Passage], length: Length, touch: bool = False) -> float:
    """The IoU if exactly the returned spans that share a character with a passage were sent, overlaps merged.

    What the cut alone would allow (Chroma's precision omega). With `touch` a span that only touches a passage counts
    too, as published. Of interchangeable passages the one whose spans are shortest is taken.
    """
    wanted: list[Passage] = []
    ideal: list[Passage] = []
    for need in needs:
        options = [(passage, _touching(passage, returned, touch)) for passage in need]
        passage, spans = min(options, key=lambda option: (not option[1], total(union(option[1]), length)))
        wanted.append(passage)
        ideal += spans
    merged = union(ideal)
    wanted = union(wanted)
    covered = total(common(wanted, merged), length)
    return covered / (total(merged, length) + total(wanted, length) - covered)


def _touching(passage: Passage, returned: Sequence[Passage], touch: bool) -> list[Passage]:
    slack = 1 if touch else 0
    return [
        span for span in returned
        if span.document == passage.document and span.start < passage.end + slack and span.end > passage.start - slack
    ]  # fmt: skip


def word_length(corpus: Corpus) -> Length:
    """Lengths in words; one that lies in a span in part counts."""
    source = joined(corpus)
    ended, begun = source.counts(Unit("words"))
    bases = {document.id: base for document, base in zip(corpus.documents, source.bases.tolist(), strict=False)}
    return lambda document, start, end: int(begun[bases[document] + end] - ended[bases[document] + start])


def words_of(document: Document, start: int, end: int) -> int:
    """The number of words in a span."""
    return int(count_words(document, np.array([start]), np.array([end]))[0])


def question_rank(ranks: Sequence[int | None]) -> int | None:
    """The rank of a question from those of its needs: the largest; None where a need has none. The same for words."""
    found = [rank for rank in ranks if rank is not None]
    return max(found) if len(found) == len(ranks) else None


def phrase_hit(text: str, phrase: str) -> bool:
    """Whether a text contains a phrase, letter case and white space aside."""
    return " ".join(phrase.split()).casefold() in " ".join(text.split()).casefold()
