"""The measures of one question, row by row with the numbers worked out by hand; and what is sent for a ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chunking.index import Config, build
from chunking.measures import (
    cover,
    ideal_precision,
    phrase_hit,
    question_rank,
    raw_length,
    solid_length,
    total,
    union,
    word_length,
    words_of,
)
from chunking.pack import pack
from chunking.parts import Pieces
from chunking.ranking import cosine_scores, rank, taken, walk
from chunking.types import Corpus, Document, Passage


def spans(*ranges: tuple[int, int], document: str = "a") -> tuple[Passage, ...]:
    """Spans of one document."""
    return tuple(Passage(document, start, end) for start, end in ranges)


OTHER = spans((0, 10), document="b")

#: needs, what was sent, coverage, precision, IoU; lengths in raw characters.
COVER = {
    "all of it and no more": ([spans((10, 20))], spans((10, 20)), 1, 1, 1),
    # 10 of 10 covered, 40 sent; 10 / (40 + 0).
    "all of it in a longer span": ([spans((10, 20))], spans((0, 40)), 1, 10 / 40, 10 / 40),
    # 5 of 10 covered, 10 sent; 5 / (10 + 5).
    "half of it": ([spans((10, 20))], spans((5, 15)), 0.5, 5 / 10, 5 / 15),
    # The sent span ends where the passage begins: nothing is shared; 0 / (10 + 10).
    "touching before": ([spans((10, 20))], spans((0, 10)), 0, 0, 0),
    "touching after": ([spans((10, 20))], spans((20, 30)), 0, 0, 0),
    # The two halves meet inside the passage: 10 of 10, 20 sent.
    "two spans that touch inside it": ([spans((10, 20))], spans((5, 15), (15, 25)), 1, 10 / 20, 10 / 20),
    # 15-20 is sent twice: covered once (10), paid twice (15 + 10); 10 / (25 + 0).
    "overlap is covered once and paid twice": ([spans((10, 20))], spans((5, 20), (15, 25)), 1, 10 / 25, 10 / 25),
    "the same span twice": ([spans((10, 20))], spans((10, 20), (10, 20)), 1, 10 / 20, 10 / 20),
    # 10 of the 20 sent belong to another document.
    "another document is paid in full": ([spans((10, 20))], (*spans((10, 20)), *OTHER), 1, 10 / 20, 10 / 20),
    "the same place in another document": ([spans((0, 10))], OTHER, 0, 0, 0),
    # 0 / 0 for precision counts as 0; 0 / (0 + 10) for IoU.
    "nothing sent": ([spans((10, 20))], (), 0, 0, 0),
    # Two needs of 10 and 30; the first whole, 15 of the second: 25 of 40; sent 10 + 15; 25 / (25 + 15).
    "two needs": ([spans((10, 20)), spans((100, 130))], spans((10, 20), (100, 115)), 25 / 40, 1, 25 / 40),
    "two needs in two documents": ([spans((10, 20)), OTHER], (*spans((10, 20)), *OTHER), 1, 1, 1),
    # Interchangeable passages: the second is covered best (whole), so the first does not count as missing.
    "any of two passages": ([spans((10, 20), (50, 60))], spans((50, 60)), 1, 1, 1),
    # 5 of 10 against 12 of 30: the share decides, not the number of characters.
    "the passage of the larger share": ([spans((0, 10), (50, 80))], spans((5, 10), (50, 62)), 5 / 10, 5 / 17, 5 / 22),
    # Both needs may be met by the same characters: wanted is their union 0-20, 10 + 0.
    "two needs that overlap": ([spans((0, 15)), spans((5, 20))], spans((0, 10)), 10 / 20, 1, 10 / 20),
}  # fmt: skip


@pytest.mark.parametrize(("needs", "sent", "coverage", "precision", "iou"), COVER.values(), ids=COVER)
def test_coverage_precision_and_iou(needs, sent, coverage: float, precision: float, iou: float) -> None:  # type: ignore[no-untyped-def]
    measured = cover(needs, sent, raw_length)
    assert (measured.coverage, measured.precision, measured.iou) == pytest.approx((coverage, precision, iou))


def test_lengths_leave_white_space_out_unless_they_are_raw() -> None:
    """'ab  cd ef': the passage 'ab  cd' holds 4 letters in 6 characters; 'cd ef' sent: 2 of 4, 2 of 4, 2 / (4 + 2)."""
    corpus = Corpus((Document("a", "ab  cd ef"),))
    measured = cover([spans((0, 6))], spans((4, 9)), solid_length(corpus))
    assert (measured.coverage, measured.precision, measured.iou) == pytest.approx((2 / 4, 2 / 4, 2 / 6))
    raw = cover([spans((0, 6))], spans((4, 9)), raw_length)
    assert (raw.coverage, raw.precision, raw.iou) == pytest.approx((2 / 6, 2 / 5, 2 / 9))


#: needs, returned spans of the index, ideal precision, and the same where a span that touches counts.
IDEAL = {
    # 10 of one span of 40; nothing is left over.
    "one span holds it": ([spans((10, 20))], spans((0, 40), (40, 80)), 10 / 40, 10 / 40),
    # Two spans of 15 share characters with it: 10 / 30.
    "cut in two": ([spans((10, 20))], spans((0, 15), (15, 30)), 10 / 30, 10 / 30),
    # 0-20 and 10-30 both share characters: merged 0-30, not 40.
    "overlaps are merged": ([spans((10, 20))], spans((0, 20), (10, 30)), 10 / 30, 10 / 30),
    # 0-10 touches: it shares no character; as published it is sent too: 10 / 20 against 10 / 30.
    "a span that touches": ([spans((10, 20))], spans((0, 10), (10, 30)), 10 / 20, 10 / 30),
    # 5 of 10 are in no span: 5 / (5 + 10 - 5).
    "part of it is in no span": ([spans((10, 20))], spans((10, 15)), 5 / 10, 5 / 10),
    "none of it is in a span": ([spans((10, 20))], spans((30, 40)), 0, 0),
    # Of two occurrences the one whose spans are shorter is taken: 10 / 12, not 10 / 40.
    "the cheaper of two occurrences": ([spans((10, 20), (50, 60))], spans((0, 40), (49, 61)), 10 / 12, 10 / 12),
    # An occurrence without any span is the cheapest (0 characters) and yet not taken.
    "an occurrence in no span is not taken": ([spans((10, 20), (50, 60))], spans((0, 40)), 10 / 40, 10 / 40),
    # 20 wanted in spans of 40 and 20.
    "two needs": ([spans((10, 20)), spans((50, 60))], spans((0, 40), (45, 65)), 20 / 60, 20 / 60),
    "other documents are not touched": ([spans((0, 10))], (*spans((0, 20)), *OTHER), 10 / 20, 10 / 20),
}


@pytest.mark.parametrize(("needs", "returned", "expected", "touching"), IDEAL.values(), ids=IDEAL)
def test_ideal_precision(needs, returned, expected: float, touching: float) -> None:  # type: ignore[no-untyped-def]
    assert ideal_precision(needs, returned, raw_length) == pytest.approx(expected)
    assert ideal_precision(needs, returned, raw_length, touch=True) == pytest.approx(touching)


def test_a_union_merges_what_touches_within_a_document() -> None:
    merged = union([*spans((5, 9)), *OTHER, *spans((0, 5), (20, 30), (22, 25))])
    assert merged == [*spans((0, 9), (20, 30)), *OTHER]
    assert union([]) == []


def test_distinct_words_count_each_place_once() -> None:
    """'one two' and 'two three' share a word; the same words in another document are other words."""
    corpus = Corpus((Document("a", "one two three"), Document("b", "one two three")))
    sent = (*spans((0, 7), (4, 13)), *spans((0, 7), document="b"))
    assert [words_of(corpus.by_id[span.document], span.start, span.end) for span in sent] == [2, 2, 2]
    assert total(union(sent), word_length(corpus)) == 3 + 2
    assert total(union(()), word_length(corpus)) == 0


@pytest.mark.parametrize(("ranks", "expected"), [([3], 3), ([1, 7, 2], 7), ([1, None], None), ([None], None)])
def test_the_rank_of_a_question_is_that_of_its_last_need(ranks: list[int | None], expected: int | None) -> None:
    assert question_rank(ranks) == expected


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("Always use\n  `IS not`.", "use `is NOT`", True),
        ("Straße", "STRASSE", True),
        ("use it", "used", False),
        ("Use\u00a0it", "use it", True),
    ],
)
def test_a_phrase_is_found_letter_case_and_white_space_aside(text: str, phrase: str, expected: bool) -> None:
    assert phrase_hit(text, phrase) is expected


class TestRanking:
    """Exact cosine over everything, and the walk down a ranking."""

    def test_ties_break_by_place_in_the_index(self) -> None:
        """Scores are rounded to 6 decimals first: 0.5000001 and 0.5 are a tie."""
        questions = np.array([[1, 0]], np.float32)
        chunks = np.array([[0.5, 0], [0.9, 0], [0.5000001, 0], [0.500002, 0]], np.float32)
        scores = cosine_scores(questions, chunks)
        assert scores.dtype == np.float64
        assert scores.tolist() == [[0.5, 0.9, 0.5, 0.500002]]
        assert rank(scores).tolist() == [[1, 3, 0, 2]]

    def test_a_span_already_taken_is_skipped_or_kept(self) -> None:
        order, returned = np.array([2, 0, 3, 1]), np.array([7, 8, 7, 7])
        assert walk(order, returned).tolist() == [7, 8]
        assert walk(order, returned, "keep").tolist() == [7, 7, 7, 8]

    @pytest.mark.parametrize(
        ("lengths", "k", "budget", "expected"),
        [
            ([5, 5, 5], 2, None, 2),
            ([5, 5], 20, None, 2),
            ([], 5, None, 0),
            ([5, 5, 5], 1, 10, 2),  # the budget decides, not k; exactly full is not over
            ([5, 5, 5], 5, 14, 2),
            ([5, 9, 1], 5, 6, 1),  # it stops before the first that does not fit, though the third would
            ([5, 5], 5, 4, 0),  # nothing fits
            ([5, 5], 5, 100, 2),
            ([], 5, 100, 0),
        ],
    )
    def test_how_many_spans_are_sent(self, lengths: list[int], k: int, budget: int | None, expected: int) -> None:
        assert taken(np.array(lengths, np.int64), k, budget) == expected


@pytest.mark.parametrize(
    ("lengths", "size", "overlap", "breaks", "expected"),
    [
        ([3, 4, 5, 2], 7, 0, [0], [(0, 1), (2, 3)]),
        ([3, 4, 5, 2], 6, 0, [0], [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([9, 1, 9], 5, 0, [0], [(0, 0), (1, 1), (2, 2)]),
        ([1, 1, 1, 1], 3, 0, [0, 2], [(0, 1), (2, 3)]),
        ([1, 1, 1, 1], 3, 1, [0], [(0, 2), (2, 3)]),
        ([1, 1, 1, 1], 3, 2, [0], [(0, 2), (1, 3)]),
        ([1, 1, 2, 3], 4, 3, [0], [(0, 2), (3, 3)]),  # 1 + 2 fits in the overlap, but 3 more not even beside 2
        ([1, 1, 2, 2], 4, 3, [0], [(0, 2), (2, 3)]),
        ([2, 9, 2], 4, 3, [0], [(0, 0), (1, 1), (2, 2)]),
    ],
)  # fmt: skip
def test_next_fit(
    lengths: list[int], size: int, overlap: int, breaks: list[int], expected: list[tuple[int, int]]
) -> None:
    """Pieces join while their sum is within the size; overlap repeats pieces that leave room for a new one."""
    high = np.cumsum(lengths)
    low = high - lengths
    pieces = Pieces(low, high, low, high, np.array(breaks))
    firsts, lasts = pack(pieces, size, overlap)
    assert list(zip(firsts.tolist(), lasts.tolist(), strict=True)) == expected


def test_no_measure_is_ever_out_of_range_or_undefined() -> None:
    """All pairs of short spans against a passage: coverage, precision and IoU lie from 0 to 1, IoU below the others."""
    ranges = [(start, end) for start in range(0, 8) for end in range(start + 1, 9)]
    for first in ranges:
        for second in ranges:
            measured = cover([spans((3, 6))], spans(first, second), raw_length)
            values = (measured.coverage, measured.precision, measured.iou)
            assert all(0 <= value <= 1 and not math.isnan(value) for value in values)
            assert measured.iou <= min(measured.coverage, measured.precision) + 1e-12


def test_a_word_that_a_span_cuts_through_counts_at_both_ends() -> None:
    """In the second of two documents, so that places are looked up behind the first."""
    corpus = Corpus((Document("a", "one two"), Document("b", "red blue green grey")))
    words = word_length(corpus)
    text = corpus.documents[1].text
    assert words("b", 0, len(text)) == 4
    assert words("b", text.index("lue"), text.index("een")) == 2
    assert words("b", text.index(" green"), text.index(" grey")) == 1
    assert words("b", 3, 4) == 0


def test_the_returned_spans_that_hold_a_passage_and_those_that_share_a_character_with_it() -> None:
    """Windows of two words that step by one: '... red blue', 'blue green', 'green grey' are numbers 1 to 3."""
    corpus = Corpus((Document("a", "one two"), Document("b", "red blue green grey")))
    index = build(corpus, Config.of("fixed", {"size": 2, "overlap": 1}))
    text = corpus.documents[1].text
    green = Passage("b", text.index("green"), text.index("green") + 5)
    assert index.holding(green).tolist() == [2, 3]
    assert index.sharing(green).tolist() == [2, 3]
    blue_to_grey = Passage("b", text.index("lue"), text.index(" grey") + 2)
    assert index.holding(blue_to_grey).tolist() == []
    assert index.sharing(blue_to_grey).tolist() == [1, 2, 3]
    assert index.sharing(Passage("b", text.index(" green"), text.index("green"))).tolist() == [2]
