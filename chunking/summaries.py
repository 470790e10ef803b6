"""Self-summaries: sections in which a document says again, shorter, what it has said; and documents without them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chunking.segments import headings
from chunking.types import Corpus, Document, Ints, Passage, Question, Spans

NAMES = ("abstract", "at a glance", "conclusion", "conclusions", "executive summary", "highlights", "in brief", "in short",
         "in summary", "key points", "key takeaways", "recap", "summary", "takeaways", "tl;dr", "tldr", "to sum up",
         "wrap-up", "wrapping up")  # fmt: skip
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")


class Arms(NamedTuple):
    """A corpus with its self-summaries and without them, the same questions asked of both, and which are left out."""

    kept: Corpus
    removed: Corpus
    left_out: tuple[Question, ...]


def summary_spans(document: Document, names: Sequence[str] = NAMES) -> Spans:
    """The sections whose heading has one of these names, each up to the next heading of its level or above.

    Letter case, a number before the name and marks at its ends do not count. None of the spans overlap.
    Example: '# Tanks ... ## 4. Key takeaways ...' -> from the second heading to the end
    """
    wanted = {_plain(name) for name in names}
    heads = headings(document)
    found: list[tuple[int, int]] = []
    for place, head in enumerate(heads):
        if _plain(head.title) in wanted and (not found or head.start >= found[-1][1]):
            after = (later.start for later in heads[place + 1 :] if later.level <= head.level)
            found.append((head.start, next(after, len(document.text))))
    return Spans(*np.array(found, np.int64).reshape(-1, 2).T)


def _plain(title: str) -> str:
    return _NUMBER.sub("", title.strip()).strip(" *_`#:.!").casefold()


def arms(corpus: Corpus, names: Sequence[str] = NAMES) -> Arms:
    """The corpus as it is and without its self-summaries, with passages moved to where they stand there.

    A question that has a passage in a summary is left out of both, so that both are asked the same; so are restatements
    (`also`) that stand in one.
    """
    spans = {document.id: summary_spans(document, names) for document in corpus.documents}
    asked = [_without(question, spans) for question in corpus.questions]
    same = [question for question in asked if question is not None]
    documents = tuple(
        replace(document, text=_cut_out(document.text, spans[document.id])) for document in corpus.documents
    )
    return Arms(
        Corpus(corpus.documents, tuple(same)),
        Corpus(documents, tuple(_moved(question, spans) for question in same)),
        tuple(question for question, kept in zip(corpus.questions, asked, strict=True) if kept is None),
    )


def _cut_out(text: str, spans: Spans) -> str:
    edges = [0, *np.column_stack(spans).ravel().tolist(), len(text)]
    return "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _without(question: Question, spans: dict[str, Spans]) -> Question | None:
    """The question without restatements in a summary; None where one of its passages is in one."""
    if any(_in_summary(passage, spans) for passage in question.passages):
        return None
    also = tuple(tuple(one for one in need if not _in_summary(one, spans)) for need in question.also)
    return replace(question, also=also)


def _in_summary(passage: Passage, spans: dict[str, Spans]) -> bool:
    starts, ends = spans[passage.document]
    return bool(((starts < passage.end) & (ends > passage.start)).any())


def _moved(question: Question, spans: dict[str, Spans]) -> Question:
    """The question with its passages where they stand once the summaries are cut out."""

    def moved(passage: Passage) -> Passage:
        places = np.array([passage.start, passage.end], np.int64)
        start, end = (places - _removed_before(places, spans[passage.document])).tolist()
        return Passage(passage.document, start, end)

    needs, also = (tuple(tuple(map(moved, need)) for need in group) for group in (question.needs, question.also))
    return replace(question, needs=needs, also=also, section=moved(question.section) if question.section else None)


def _removed_before(places: Ints, spans: Spans) -> Ints:
    """How many characters are cut out before each place, (n,)."""
    inside = np.clip(places[:, None] - spans.starts, 0, spans.ends - spans.starts)
    return inside.sum(axis=1)
