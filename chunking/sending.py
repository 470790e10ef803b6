"""What is sent for a question: the walk down its ranking, until k spans are taken or the budget of words is used up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunking.index import Index
from chunking.measures import words_of
from chunking.ranking import Union, taken
from chunking.types import Ints, Passage


@dataclass(frozen=True, slots=True)
class Sending:
    """The spans that are sent, in rank order, and at which place of the whole walk each passage is whole in one.

    `costs` are the words that the walk has sent by that place: the smallest budget under which it gets there.
    """

    spans: tuple[Passage, ...]
    taken: int  # returned spans that were taken to make them
    words: int
    tokens: int | None
    places: Mapping[Passage, int]
    costs: Mapping[Passage, int]

    def rank(self, need: Sequence[Passage]) -> int | None:
        """The rank of a need: the first place at which one of its passages is whole; None where none ever is."""
        return min((self.places[passage] for passage in need if passage in self.places), default=None)

    def cost(self, need: Sequence[Passage]) -> int | None:
        """The words sent when one of a need's passages is first whole; None where none ever is."""
        return min((self.costs[passage] for passage in need if passage in self.costs), default=None)


def sending(index: Index, spans: Ints, passages: Sequence[Passage] = ()) -> Sending:
    """What is sent of returned spans in rank order, and the places of passages without white space at their ends.

    Where the strategy merges, a span that adds nothing to those taken is skipped, and overlapping ones are sent as one.
    """
    return _merged(index, spans, passages) if index.merges else _plain(index, spans, passages)


def _plain(index: Index, spans: Ints, passages: Sequence[Passage]) -> Sending:
    count = taken(index.span_words[spans], index.config.k, index.config.budget)
    sent = spans[:count]
    at = np.empty(len(index.spans), np.int64)
    at[spans[::-1]] = np.arange(len(spans), 0, -1)  # the first place of each span
    held = {passage: index.holding(passage) for passage in passages}
    places = {passage: int(at[holding].min()) for passage, holding in held.items() if len(holding)}
    spent = np.cumsum(index.span_words[spans])
    costs = {passage: int(spent[place - 1]) for passage, place in places.items()}
    tokens = int(index.span_tokens[sent].sum()) if index.span_tokens is not None else None
    return Sending(
        tuple(index.spans[span] for span in sent.tolist()), count, int(index.span_words[sent].sum()), tokens, places,
        costs,
    )  # fmt: skip


def _merged(index: Index, spans: Ints, passages: Sequence[Passage]) -> Sending:
    union = Union()
    waiting = {passage for passage in passages if index.holds(passage)}
    places: dict[Passage, int] = {}
    costs: dict[Passage, int] = {}
    sent: tuple[Passage, ...] | None = None
    count = place = 0
    for span in spans.tolist():
        before = tuple(union.parts) if sent is None else ()
        part = union.add(index.spans[span])
        if part is None:
            continue
        if sent is None and _full(index, place, union.parts):
            sent, count = before, place
        if sent is not None and not waiting:
            break
        place += 1
        for passage in [one for one in waiting if _inside(one, part)]:
            places[passage] = place
            costs[passage] = _words(index, union.parts)
            waiting.remove(passage)
    if sent is None:
        sent, count = tuple(union.parts), place
    return Sending(sent, count, _words(index, sent), _tokens(index, sent), places, costs)


def _full(index: Index, place: int, parts: Sequence[Passage]) -> bool:
    """Whether with one more span, which makes these parts, too much would be sent; `place` spans were taken before."""
    budget = index.config.budget
    return place >= index.config.k if budget is None else _words(index, parts) > budget


def _inside(passage: Passage, part: Passage) -> bool:
    return passage.document == part.document and part.start <= passage.start and passage.end <= part.end


def _words(index: Index, parts: Sequence[Passage]) -> int:
    return sum(words_of(index.corpus.by_id[part.document], part.start, part.end) for part in parts)


def _tokens(index: Index, parts: Sequence[Passage]) -> int | None:
    """Tokens of the parts in the embedder's tokenizer; None where it has none to offer."""
    rule = index.token_ruler
    if rule is None:
        return None
    numbers = np.array([index.numbers[part.document] for part in parts], np.int64)
    starts, ends = (
        index.placed(numbers, np.array(at, np.int64)) for at in ([p.start for p in parts], [p.end for p in parts])
    )
    return int((rule.high(ends) - rule.low(starts)).sum())
