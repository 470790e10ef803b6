"""What is sent for a ranking: k spans or a budget of words; and several sizes, where what overlaps is sent once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.experiment import Result, Trial, run, search
from chunking.index import Config, Index, build
from chunking.ranking import Union, walk
from chunking.registry import STRATEGIES, checked, cut
from chunking.sending import Sending, sending
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import Scored, letter_pieces
from tests.test_strategies import settings  # registers the profiles too

A = Document("a", "one two three four five six")
B = Document("b", "red blue green grey")
TEXTS = {document.id: document.text for document in (A, B)}


def passage(text: str, document: Document = A) -> Passage:
    """The passage of that text."""
    start = document.text.index(text)
    return Passage(document.id, start, start + len(text))


def texts(spans: Sequence[Passage]) -> list[str]:
    """The texts of spans."""
    return [TEXTS[span.document][span.start : span.end] for span in spans]


def index_of(strategy: str = "multi", settings: Mapping[str, Any] = {}, **axes: Any) -> Index:
    """The index of the two documents."""
    return build(Corpus((A, B)), Config.of(strategy, dict(settings), **axes), token_spans=letter_pieces)


def sent_of(index: Index, *order: str, passages: Sequence[Passage] = ()) -> Sending:
    """What is sent where the chunks with these matched texts come first, the others after them by place."""
    first = [index.texts.index(text) for text in order]
    rows = np.array(first + [row for row in range(len(index)) if row not in first])
    return sending(index, walk(rows, index.returned, index.config.repeats), passages)


class TestOneSize:
    """Returned spans as they are, in rank order."""

    PAIRS: ClassVar = {"size": 2}

    def test_k_spans_and_their_words_and_tokens(self) -> None:
        """'five six' is 2 tokens of at most four letters, 'three four' 3."""
        sent = sent_of(index_of("fixed", self.PAIRS, k=2), "five six", "three four")
        assert (texts(sent.spans), sent.taken, sent.words, sent.tokens) == (["five six", "three four"], 2, 4, 5)

    def test_fewer_where_there_are_no_more(self) -> None:
        sent = sent_of(index_of("fixed", self.PAIRS, k=20))
        assert (len(sent.spans), sent.taken, sent.words) == (5, 5, 10)

    @pytest.mark.parametrize(("budget", "count"), [(1, 0), (2, 1), (3, 1), (4, 2), (9, 4), (10, 5), (1000, 5)])
    def test_a_budget_takes_what_fits(self, budget: int, count: int) -> None:
        """Five spans of two words."""
        sent = sent_of(index_of("fixed", self.PAIRS, budget=budget))
        assert (len(sent.spans), sent.taken, sent.words) == (count, count, 2 * count)

    def test_a_budget_stops_before_the_first_that_does_not_fit(self) -> None:
        """Windows of 4: 4 + 2 words are in, 4 more are not, and what would come after them is not looked at."""
        sent = sent_of(index_of("fixed", {"size": 4}, budget=7), "one two three four", "five six")
        assert (texts(sent.spans), sent.words) == (["one two three four", "five six"], 6)
        assert sent_of(index_of("fixed", {"size": 4}, budget=3)).spans == ()

    def test_a_span_taken_before_is_skipped_or_kept(self) -> None:
        """Parents 'one two three four', 'five six' and all of b; two children of the first come first."""
        children = ("three four", "one two", "red blue")
        parents = {"child": 2, "parent": 4, "base": "fixed"}
        sent = sent_of(index_of("parent_child", parents, k=2), *children)
        assert (texts(sent.spans), sent.taken, sent.words) == (["one two three four", B.text], 2, 8)
        sent = sent_of(index_of("parent_child", parents, k=2, repeats="keep"), *children)
        assert (texts(sent.spans), sent.taken, sent.words) == (["one two three four"] * 2, 2, 8)

    def test_of_a_span_kept_twice_the_first_place_counts(self) -> None:
        index = index_of("parent_child", {"child": 2, "parent": 4, "base": "fixed"}, repeats="keep")
        sent = sent_of(index, "one two", "red blue", "three four", passages=[passage("four"), passage("grey", B)])
        assert (sent.rank([passage("four")]), sent.rank([passage("grey", B)])) == (1, 2)

    def test_a_passage_has_the_place_of_the_first_span_that_holds_it_also_beyond_k(self) -> None:
        asked = [passage("five"), passage("one two"), passage("two three"), passage("grey", B)]
        sent = sent_of(index_of("fixed", self.PAIRS, k=1), "five six", "green grey", "one two", passages=asked)
        assert [sent.rank([one]) for one in asked] == [1, 3, None, 2]
        assert (sent.rank(asked), sent.rank([]), sent.rank([asked[2]])) == (1, None, None)

    def test_overlapping_spans_of_one_strategy_are_not_merged(self) -> None:
        """Windows of 3 that step 1: 'two three' is sent, and paid, twice."""
        index = index_of("fixed", {"size": 3, "overlap": 2}, k=2)
        sent = sent_of(index, "one two three", "two three four", passages=[passage("one two three four")])
        assert (len(sent.spans), sent.words, sent.places) == (2, 6, {})


class TestSizes:
    """The chunks of `multi`: those of every size, each span once."""

    def test_each_span_once_by_start_then_end(self) -> None:
        """Twos: one two | three four | five six; fours: one two three four | five six."""
        index = index_of(settings={"sizes": (2, 4), "base": "fixed"})
        of_a = ["one two", "one two three four", "three four", "five six"]
        assert index.texts == [*of_a, "red blue", B.text, "green grey"]

    @pytest.mark.parametrize("base", ["fixed", "sentence", "recursive"])
    def test_they_are_what_the_base_cuts_at_each_size(self, base: str) -> None:
        document = Document("d", "# T\n\nOne two. Three four five. Six.\n\nSeven eight nine ten. Eleven.")
        found = [chunk[:2] for chunk in cut(document, "multi", {"sizes": (3, 5, 9), "base": base})]
        alone = [cut(document, base, {"size": size}) for size in (3, 5, 9)]
        assert found == sorted({chunk[:2] for chunks in alone for chunk in chunks})

    def test_one_size_is_the_base_alone(self) -> None:
        document = Document("d", "One two. Three four five. Six.")
        for base in ("fixed", "sentence", "recursive"):
            assert list(cut(document, "multi", {"sizes": 4, "base": base})) == list(cut(document, base, {"size": 4}))

    def test_sizes_are_put_in_order(self) -> None:
        assert checked(STRATEGIES["multi"], {"sizes": [400, 25.0, 100]})["sizes"] == (25, 100, 400)
        assert checked(STRATEGIES["multi"], {"sizes": 50})["sizes"] == (50,)
        assert Config.of("multi", {"sizes": [2, 1]}) == Config.of("multi", {"sizes": (1, 2)})

    @pytest.mark.parametrize(
        ("sizes", "shown"),
        [
            ([], "none"),
            ([0], "0"),
            ([5, 5], "5, 5"),
            ([5, 5.0], "5, 5.0"),
            ([1, 2, 3, 4, 5, 6, 7], "1, 2, 3, 4, 5, 6, 7"),
            ([2.5], "2.5"),
            ("20", "20"),
            (None, "None"),
            (["20"], "20"),
            ([True], "True"),
            ([float("nan")], "nan"),
        ],
    )
    def test_wrong_sizes_are_refused_with_rule_and_value(self, sizes: Any, shown: str) -> None:
        rule = "sizes must be 1 to 6 different whole numbers from 1 to 1000000"
        with pytest.raises(ValueError, match=f"^{re.escape(f'{rule}, got {shown}')}$"):
            checked(STRATEGIES["multi"], {"sizes": sizes})


class TestUnion:
    """Spans merged where they overlap."""

    def test_what_is_held_already_adds_nothing(self) -> None:
        union = Union()
        assert union.add(Passage("a", 5, 10)) == Passage("a", 5, 10)
        assert union.add(Passage("a", 5, 10)) is union.add(Passage("a", 6, 9)) is None
        assert union.parts == [Passage("a", 5, 10)]

    def test_a_span_over_two_parts_makes_them_one_at_the_place_of_the_first(self) -> None:
        union = Union()
        for span in (Passage("a", 20, 30), Passage("b", 0, 99), Passage("a", 0, 10)):
            union.add(span)
        assert union.add(Passage("a", 5, 25)) == Passage("a", 0, 30)
        assert union.parts == [Passage("a", 0, 30), Passage("b", 0, 99)]

    def test_spans_that_only_touch_stay_apart(self) -> None:
        """One span has to hold a passage, and neither holds what goes across."""
        union = Union()
        for span in (Passage("a", 5, 10), Passage("a", 0, 5), Passage("a", 10, 12)):
            assert union.add(span) == span
        assert len(union.parts) == 3

    def test_spans_of_different_documents_never_merge(self) -> None:
        union = Union()
        assert union.add(Passage("a", 0, 10)) is not None
        assert union.add(Passage("b", 0, 10)) == Passage("b", 0, 10)
        assert len(union.parts) == 2


#: a: 'one two three' 'four five six' and 'one two' 'three four' 'five six'; b: 'red blue green' 'grey' and the twos.
THREES: Mapping[str, Any] = {"sizes": (2, 3), "base": "fixed"}
FOURS: Mapping[str, Any] = {"sizes": (2, 4), "base": "fixed"}


class TestSeveralSizes:
    """Taken spans that overlap are sent as one."""

    def test_overlapping_spans_are_sent_once_and_their_words_counted_once(self) -> None:
        """'one two three' and 'three four' share a word: 4 words, and tokens 1 + 1 + 2 + 1."""
        sent = sent_of(index_of(settings=THREES, k=2), "one two three", "three four")
        assert (texts(sent.spans), sent.taken, sent.words, sent.tokens) == (["one two three four"], 2, 4, 5)

    def test_spans_side_by_side_are_not_joined(self) -> None:
        sent = sent_of(index_of(settings=THREES, k=2), "one two", "three four")
        assert (texts(sent.spans), sent.words) == (["one two", "three four"], 4)

    def test_what_adds_nothing_is_skipped_and_is_no_part_of_k(self) -> None:
        """'one two' and 'three four' lie in the first span, so the second that is taken is 'red blue'."""
        order = ("one two three four", "one two", "three four", "red blue")
        sent = sent_of(index_of(settings=FOURS, k=2), *order)
        assert (texts(sent.spans), sent.taken, sent.words) == (["one two three four", "red blue"], 2, 6)

    def test_what_grows_by_a_later_span_keeps_its_place(self) -> None:
        """'three four' is first, then 'red blue'; 'one two three' and 'four five six' make the first one longer."""
        order = ("three four", "red blue", "one two three", "four five six")
        sent = sent_of(index_of(settings=THREES, k=4), *order)
        assert (texts(sent.spans), sent.taken, sent.words) == ([A.text, "red blue"], 4, 8)

    def test_a_budget_counts_the_words_of_the_union(self) -> None:
        """3 and 2 words are 4 together: they fit in 4. 'four five six' would make it 6, 'five six' alone 6 too."""
        order = ("one two three", "three four", "four five six")
        assert texts(sent_of(index_of(settings=THREES, budget=4), *order).spans) == ["one two three four"]
        assert texts(sent_of(index_of(settings=THREES, budget=3), *order).spans) == ["one two three"]
        assert texts(sent_of(index_of(settings=THREES, budget=6), *order).spans) == [A.text]

    def test_a_budget_stops_before_the_first_that_does_not_fit(self) -> None:
        """3 words, then 2 more are too many for 4; 'three four' would add 1 and come after: it is not looked at."""
        order = ("one two three", "red blue", "three four")
        sent = sent_of(index_of(settings=THREES, budget=4), *order, passages=[passage("two three four")])
        assert (texts(sent.spans), sent.taken, sent.words) == (["one two three"], 1, 3)
        assert sent.rank([passage("two three four")]) == 3

    def test_where_nothing_fits_nothing_is_sent(self) -> None:
        sent = sent_of(index_of(settings=THREES, budget=1), passages=[passage("one")])
        assert (sent.spans, sent.taken, sent.words, sent.tokens) == ((), 0, 0, 0)
        assert sent.rank([passage("one")]) == 1

    def test_everything_is_sent_where_k_or_the_budget_allow(self) -> None:
        """By place: 'one two', then 'one two three', 'three four' and 'four five six' add; 'five six' does not."""
        for axes in ({"k": 20}, {"budget": 10}, {"budget": 1000}):
            sent = sent_of(index_of(settings=THREES, **axes))
            assert (texts(sent.spans), sent.words) == ([A.text, B.text], 10)
        assert sent.taken == 4 + 3  # of b `green grey` is the third that adds

    def test_the_place_of_a_passage_that_only_the_union_holds(self) -> None:
        """'two three four' is in no chunk: it is whole when both 'one two three' and 'three four' are taken, second."""
        asked = [passage("two three four"), passage("three four"), passage("one two three")]
        sent = sent_of(index_of(settings=THREES, k=1), "three four", "one two three", passages=asked)
        assert [sent.rank([one]) for one in asked] == [2, 1, 2]
        assert texts(sent.spans) == ["three four"]

    def test_places_count_what_adds_something(self) -> None:
        """'three four' is skipped, so 'five six' has place 2 in the walk, not 3."""
        order = ("one two three four", "three four", "five six")
        sent = sent_of(index_of(settings=FOURS, k=1), *order, passages=[passage("six")])
        assert sent.rank([passage("six")]) == 2

    def test_a_passage_that_no_union_holds_has_no_place(self) -> None:
        """Twos and fours both end behind 'four', and 'two three four five' goes across."""
        asked = [passage("four five"), passage("two three")]
        index = index_of(settings=FOURS, k=20)
        sent = sent_of(index, passages=asked)
        assert [sent.rank([one]) for one in asked] == [None, 2]
        assert [index.holds(one) for one in asked] == [False, True]

    def test_the_whole_index_holds_what_its_chunks_hold_together(self) -> None:
        """Twos and threes overlap all through a; of b 'red blue green' and 'green grey' overlap."""
        index = index_of(settings=THREES)
        assert index.holds(Passage("a", 0, len(A.text)))
        assert index.holds(Passage("b", 0, len(B.text)))
        assert index.holding(passage("two three four")).tolist() == []

    def test_what_only_touches_holds_nothing_together(self) -> None:
        """'abcd' in twos of characters: 'ab', 'cd'; with threes too, 'abc' and 'd', 'abc' joins the two."""
        for sizes, expected in (((2,), [False, False]), ((2, 3), [True, True])):
            values = {"sizes": sizes, "base": "fixed", "unit": "characters"}
            index = build(Corpus((Document("a", "abcd"),)), Config.of("multi", values, k=20))
            asked = [Passage("a", 0, 4), Passage("a", 1, 4)]
            sent = sending(index, np.arange(len(index)), asked)
            assert [index.holds(one) for one in asked] == expected
            assert [sent.rank([one]) is not None for one in asked] == expected

    def test_an_index_of_one_strategy_holds_only_what_one_span_holds(self) -> None:
        index = index_of("fixed", {"size": 3, "overlap": 2})
        assert [index.holds(passage(text)) for text in ("two three four", "one two three four")] == [True, False]


def brute(index: Index, order: Sequence[int], passages: Sequence[Passage]) -> tuple[list[str], int, int, list[Any]]:
    """The same by painting letters: the texts sent, how many spans were taken, their words, the places of passages.

    Spans that do not overlap have a space between them that neither holds, so runs of painted letters are the parts.
    """
    k, budget = index.config.k, index.config.budget
    painted: set[tuple[str, int]] = set()
    stopped = False
    place = taken = 0
    sent: list[str] = []
    places: list[int | None] = [None] * len(passages)
    for row in order:
        letters = {(index.spans[row].document, at) for at in range(index.spans[row].start, index.spans[row].end)}
        if letters <= painted:
            continue
        place += 1
        runs = runs_of(painted | letters)
        stopped = stopped or (place > k if budget is None else len(" ".join(runs).split()) > budget)
        painted |= letters
        if not stopped:
            sent, taken = runs, place
        for number, one in enumerate(passages):
            if places[number] is None and {(one.document, at) for at in range(one.start, one.end)} <= painted:
                places[number] = place
    return sorted(sent), taken, len(" ".join(sent).split()), places


def runs_of(painted: set[tuple[str, int]]) -> list[str]:
    """The texts of the runs of painted letters."""
    ordered = sorted(painted)
    gaps = [(name, at - number) for number, (name, at) in enumerate(ordered)]
    groups = groupby(zip(gaps, ordered, strict=True), key=lambda pair: pair[0])
    return ["".join(TEXTS[name][at] for _, (name, at) in group) for _, group in groups]


@settings(max_examples=80)
@given(data=st.data())
def test_the_walk_is_that_of_letters_painted_one_span_after_the_other(data: st.DataObject) -> None:
    sizes = tuple(sorted(data.draw(st.sets(st.integers(1, 6), min_size=1, max_size=3))))
    budget = data.draw(st.one_of(st.none(), st.integers(1, 12)))
    axes = {"k": data.draw(st.integers(1, 8)), "budget": budget}
    index = index_of(settings={"sizes": sizes, "base": "fixed"}, **axes)
    order = data.draw(st.permutations(range(len(index))))
    document = data.draw(st.sampled_from((A, B)))
    spoken = document.text.split()
    first = data.draw(st.integers(0, len(spoken) - 1))
    last = data.draw(st.integers(first + 1, len(spoken)))
    asked = [passage(" ".join(spoken[first:last]), document), passage("three"), passage("blue green", B)]
    sent = sending(index, np.array(order), asked)
    found = (sorted(texts(sent.spans)), sent.taken, sent.words, [sent.rank([one]) for one in asked])
    assert found == brute(index, order, asked)
    assert [index.holds(one) for one in asked] == [place is not None for place in found[3]]


class TestTrials:
    """Questions under several sizes: hits, reasons, and the lenient hit."""

    #: In rank order: 'one two three', 'red blue green', 'red blue' (adds nothing), 'three four', then the rest.
    SCORES: ClassVar = {"one two three": 0.9, "red blue green": 0.8, "red": 0.7, "three four": 0.6}

    def trial(self, *asked: Question, limit: int | None = None, sizes: Mapping[str, Any] = THREES,
              **axes: Any) -> Trial:  # fmt: skip
        return run(Corpus((A, B), asked), Config.of("multi", dict(sizes), **axes), Scored(self.SCORES, limit))

    def result(self, *needs: Sequence[Passage], also: Any = (), **more: Any) -> Result:
        return self.trial(Question("q", "what?", tuple(map(tuple, needs)), also), **more).results[0]

    @pytest.mark.parametrize(("k", "hit"), [(1, False), (2, False), (3, True), (20, True)])
    def test_a_hit_is_a_passage_whole_in_the_union_of_what_was_taken(self, k: int, hit: bool) -> None:
        """'two three four' is whole with the third that adds something."""
        result = self.result([passage("two three four")], k=k)
        assert (result.rank, result.hit, result.reason) == (3, hit, "hit" if hit else "outranked_same_document")
        assert result.hit == (result.rank <= result.taken)

    def test_a_hit_may_need_more_places_than_there_are_spans_sent(self) -> None:
        """Three were taken, two are sent, and the rank 3 is a hit."""
        result = self.result([passage("two three four")], k=3)
        assert (texts(result.sent), result.taken) == (["one two three four", "red blue green"], 3)
        assert (result.words_sent, result.distinct_words) == (7, 7)

    def test_coverage_and_precision_are_those_of_the_union(self) -> None:
        """'two three four' has 12 letters; sent are 15 of a and 12 of b."""
        result = self.result([passage("two three four")], k=3)
        assert (result.cover.coverage, result.cover.precision) == (1, pytest.approx(12 / (15 + 12)))

    def test_split_where_no_union_of_the_whole_index_holds_it(self) -> None:
        """Twos and fours both end behind 'four'."""
        assert self.result([passage("four five")], sizes=FOURS, k=20).reason == "split"
        assert self.result([passage("two three")], sizes=FOURS, k=20).reason == "hit"
        assert self.result([passage("two")], [passage("four five")], sizes=FOURS, k=20).reason == "split"

    def test_truncated_where_no_chunk_that_makes_the_union_had_any_of_it_read(self) -> None:
        """With a limit of 4 characters of 'five six' and 'four five six' the model reads 'five' and 'four': not 'six'."""
        assert self.result([passage("six")], limit=4, k=1).reason == "truncated"
        assert self.result([passage("six")], limit=6, k=1).reason == "outranked_same_document"
        assert self.result([passage("three four five")], limit=4, k=1).reason == "outranked_same_document"

    def test_truncated_is_the_reason_only_under_dense_search(self) -> None:
        for search_by in ("keyword", "hybrid"):
            assert self.result([passage("six")], limit=4, k=1, search=search_by).reason.startswith("outranked")

    def test_reasons_and_hits_are_all_questions(self) -> None:
        """Ranks 1 and 2, none, and the last in both documents; k = 2."""
        needs = [passage("one"), passage("four five"), passage("green", B), passage("six"), passage("grey", B)]
        asked = [Question(f"q{place}", "what?", ((need,),)) for place, need in enumerate(needs)]
        trial = self.trial(*asked, sizes=FOURS, k=2)
        assert sum(trial.misses.values()) + sum(result.hit for result in trial.results) == len(asked)
        assert trial.misses["split"] == 1
        assert trial.split_share == 1 / 5
        assert all(result.hit == (result.rank is not None and result.rank <= result.taken) for result in trial.results)

    def test_a_restatement_that_only_the_union_holds_counts_in_the_lenient_hit(self) -> None:
        asked: dict[str, Any] = {"also": ((passage("two three four"),),)}
        assert (self.result([passage("six")], k=3, **asked).lenient_rank) == 3
        assert self.result([passage("six")], k=3, **asked).lenient_hit
        assert not self.result([passage("six")], k=3, **asked).hit
        assert not self.result([passage("six")], k=2, **asked).lenient_hit

    def test_one_budget_for_union_and_hit(self) -> None:
        """3 words of a and 3 of b, then 1 more: 7."""
        assert self.result([passage("two three four")], budget=7).hit
        assert not self.result([passage("two three four")], budget=6).hit

    def test_a_typed_question_shows_each_part_with_its_best_chunk(self) -> None:
        embed = Scored(self.SCORES)
        index = build(Corpus((A, B)), Config.of("multi", dict(THREES), k=3), embed)
        found = search(index, "what?", embed)
        assert texts([one.span for one in found]) == ["one two three four", "red blue green"]
        assert [index.texts[one.row] for one in found] == ["one two three", "red blue green"]
        assert [one.score for one in found] == pytest.approx([0.9, 0.8], abs=1e-6)
