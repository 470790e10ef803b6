"""Comparisons: against published figures and references where there are some, by hand and by their properties elsewhere."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from chunking.comparing import (
    MEASURES,
    Difference,
    area_measure,
    compare,
    compare_all,
    design_effect,
    difference,
    flip_p,
    holm,
    mcnemar_p,
    questions_needed,
)
from chunking.experiment import run
from chunking.index import Config
from chunking.intervals import wilson
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords

HIT, COVERAGE = MEASURES["hit"], MEASURES["coverage"]


def spread(count: int, documents: int) -> list[str]:
    """The documents of `count` questions, dealt in turn."""
    return [f"d{number % documents:02}" for number in range(count)]


def of_hits(ours: str, theirs: str, documents: int = 20) -> Difference:
    """The difference of two rows of hits written as 1 and 0."""
    count = len(ours)
    rows = ([float(hit) for hit in row] for row in (ours, theirs))
    return difference(*rows, spread(count, documents), [f"q{number}" for number in range(count)])


class TestMcNemar:
    """Pairs in which one alone was hit; 1 against 7 is the example of Fagerland, Lydersen and Laake (2013), p = 0.039."""

    @pytest.mark.parametrize(
        ("won", "lost", "p"),
        [
            (0, 0, 1.0),
            (3, 3, 1.0),
            (0, 1, 0.5),
            (0, 5, 2 * 0.5**5 - 0.5**5),
            (1, 6, 2 * 8 / 128 - 7 / 128),
            (1, 7, 2 * 9 / 256 - 8 / 256),
        ],
    )
    def test_by_hand(self, won: int, lost: int, p: float) -> None:
        assert mcnemar_p(won, lost) == pytest.approx(p)
        assert mcnemar_p(lost, won) == mcnemar_p(won, lost)

    def test_it_is_the_exact_p_less_half_the_weight_of_what_was_seen(self) -> None:
        for won, lost in product(range(9), range(9)):
            n, fewer = won + lost, min(won, lost)
            exact = min(1.0, 2 * sum(comb(n, at) for at in range(fewer + 1)) / 2**n)
            expected = 1.0 if won == lost else exact - comb(n, fewer) / 2**n
            assert mcnemar_p(won, lost) == pytest.approx(expected)


class TestFlips:
    """Signs flipped unit by unit."""

    @pytest.mark.parametrize(
        ("sums", "p"), [([], 1.0), ([0, 0], 1.0), ([2], 1.0), ([1, -1], 1.0), ([1, 1], 0.5), ([3, 1, 1], 0.25),
                        ([3, 1, -1], 0.75), ([1] * 5, 2 / 32), ([0.5, 0.25, 0.25], 0.25)],
    )  # fmt: skip
    def test_by_hand(self, sums: list[float], p: float) -> None:
        assert flip_p(np.array(sums, float)) == pytest.approx(p)

    @given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
    @settings(max_examples=60, deadline=None)
    def test_whole_numbers_are_counted_out_exactly(self, sums: list[int]) -> None:
        flipped = [
            abs(sum(a * b for a, b in zip(sums, signs, strict=True))) for signs in product((1, -1), repeat=len(sums))
        ]
        expected = np.mean([reached >= abs(sum(sums)) for reached in flipped])
        assert flip_p(np.array(sums, float)) == pytest.approx(expected)

    def test_many_units_are_exact_too_where_scipy_draws(self) -> None:
        sums = np.random.default_rng(4).integers(-3, 5, 40).astype(float)
        drawn = permutation_test((sums, np.zeros(40)), lambda a, b, axis: (a - b).sum(axis), permutation_type="samples",
                                 vectorized=True, n_resamples=99_999, rng=1).pvalue  # fmt: skip
        assert flip_p(sums) == pytest.approx(drawn, abs=0.005)

    def test_large_whole_numbers_are_drawn_too(self) -> None:
        sums = np.random.default_rng(6).integers(-20_000, 30_000, 30).astype(float)
        assert flip_p(sums) == flip_p(-sums) == pytest.approx(flip_p((sums / 100).round()), abs=0.02)

    def test_other_means_are_flipped_as_well(self) -> None:
        """Eleven documents that all gained: of 2,048 flips two are as far from 0."""
        gains = np.linspace(0.11, 0.53, 11)
        assert flip_p(gains) == flip_p(-gains) == pytest.approx(2 / 2048)
        many = np.random.default_rng(5).normal(0.2, 1, 30)
        assert flip_p(many) == flip_p(-many)


class TestHolm:
    """Correction for many."""

    @pytest.mark.parametrize(
        ("p", "corrected"),
        [([], []), ([0.02], [0.02]), ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]), ([0.5, 0.9], [1.0, 1.0]),
         ([0.01, 0.01, 0.01], [0.03, 0.03, 0.03])],
    )  # fmt: skip
    def test_by_hand(self, p: list[float], corrected: list[float]) -> None:
        assert holm(p) == pytest.approx(corrected)


class TestDifference:
    """One measure of two trials."""

    def test_won_lost_both_and_neither_are_named(self) -> None:
        found = of_hits("1100", "1010", documents=2)
        assert (found.won, found.lost, found.both, found.neither) == (("q1",), ("q2",), ("q0",), ("q3",))
        assert (found.mean, found.questions, found.p, found.test) == (0, 4, 1, "McNemar, mid-p")
        assert found.too_narrow

    def test_ten_documents_are_resampled_and_flipped(self) -> None:
        found = of_hits("1" * 10, "0" * 7 + "111", documents=10)
        assert (found.method, found.test, found.too_narrow) == ("documents resampled", "sign flips by document", False)
        assert found.p == pytest.approx(2 / 2**7)
        assert of_hits("1" * 9, "0" * 7 + "11", documents=9).too_narrow

    def test_questions_about_one_document_count_as_one(self) -> None:
        """Three documents gained, each with all its four questions: 2 of 8 flips, however many questions."""
        ours, theirs = np.ones(40), np.r_[np.zeros(12), np.ones(28)]
        names = [f"d{number // 4}" for number in range(40)]
        assert difference(ours, theirs, names, names).p == pytest.approx(0.25)

    def test_means_over_few_documents_flip_questions(self) -> None:
        found = difference([0.5] * 6, [0.25] * 6, spread(6, 2), list("abcdef"), COVERAGE)
        assert (found.test, found.p) == ("sign flips by question", pytest.approx(2 / 64))
        assert (found.mean, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))

    def test_rates_that_nowhere_differ_claim_no_certainty(self) -> None:
        found = of_hits("10" * 40, "10" * 40)
        assert (found.mean, found.p, found.needed) == (0, 1, None)
        assert (found.low, found.high) == (-wilson(0, 80)[1], wilson(0, 80)[1])
        assert -0.034 < found.worst < -0.032  # 1.645^2 / (80 + 1.645^2)

    def test_means_that_nowhere_differ_are_0(self) -> None:
        found = difference([0.5, 0.25], [0.5, 0.25], ["a", "b"], ["1", "2"], COVERAGE)
        assert (found.mean, found.low, found.high, found.p) == (0, 0, 0, 1)

    rows = st.integers(10, 40).flatmap(
        lambda n: st.tuples(
            *(st.lists(st.integers(0, 1), min_size=n, max_size=n) for _ in range(2)), st.permutations(range(n))
        )
    )

    @given(rows)
    @settings(max_examples=40, deadline=None)
    def test_changing_places_changes_signs(self, rows: tuple[list[int], list[int], list[int]]) -> None:
        ours, theirs, _ = rows
        names, ids = spread(len(ours), 12), [str(number) for number in range(len(ours))]
        one, other = difference(ours, theirs, names, ids), difference(theirs, ours, names, ids)
        assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))
        assert (one.p, one.won, one.lost, one.both, one.needed) == (
            other.p,
            other.lost,
            other.won,
            other.both,
            other.needed,
        )

    @given(rows)
    @settings(max_examples=40, deadline=None)
    def test_the_order_of_questions_changes_nothing(self, rows: tuple[list[int], list[int], list[int]]) -> None:
        ours, theirs, order = rows
        names, ids = spread(len(ours), 10), [str(number) for number in range(len(ours))]
        one = difference(ours, theirs, names, ids)
        moved = difference(*([row[at] for at in order] for row in (ours, theirs, names, ids)))  # type: ignore[arg-type]
        assert (moved.mean, moved.low, moved.high, moved.worst, moved.p) == pytest.approx(
            (one.mean, one.low, one.high, one.worst, one.p)
        )
        assert (set(moved.won), moved.needed) == (set(one.won), one.needed)


class TestQuestionsNeeded:
    """The size that would tell two trials apart."""

    def test_connors_example(self) -> None:
        """20% lost and 30% won: 1.96 sqrt(0.5) + 0.8416 sqrt(0.49), squared, over 0.01 -> 390.1."""
        gain = np.repeat([1.0, -1.0, 0.0], [30, 20, 50])
        assert questions_needed(gain, spread(100, 9)) == 391

    def test_nothing_to_tell_needs_no_number(self) -> None:
        assert questions_needed(np.zeros(8), spread(8, 4)) is None
        assert questions_needed(np.array([1.0, -1.0]), ["a", "b"]) is None

    def test_questions_that_hang_together_count_less(self) -> None:
        """Twelve documents, each with four questions of one mind: four times as many are needed, less the estimate's 1."""
        gain = np.repeat([1.0] * 5 + [-1.0] * 3 + [0.0] * 4, 4)
        together = [f"d{number // 4}" for number in range(48)]
        effect = design_effect(gain, np.repeat(np.arange(12), 4), True)
        assert effect == pytest.approx(4 * (12 / 11) * (47 / 48))
        step = 2 / (8 / 48)
        assert questions_needed(gain, together) == pytest.approx(
            effect * questions_needed(gain, spread(48, 4)) + step, rel=0.01
        )

    def test_the_design_effect_is_never_below_1(self) -> None:
        gain = np.tile([1.0, -1.0], 12)
        assert design_effect(gain, np.repeat(np.arange(12), 2), True) == 1

    def test_so_many_questions_tell_it_in_4_of_5_repetitions(self) -> None:
        random = np.random.default_rng(7)
        needed = questions_needed(np.repeat([1.0, -1.0, 0.0], [25, 10, 65]), spread(100, 9))
        told = []
        for _ in range(600):
            gain = random.choice([1, -1, 0], needed, p=[0.25, 0.1, 0.65])
            told.append(mcnemar_p(int((gain > 0).sum()), int((gain < 0).sum())) <= 0.05)
        assert 0.76 <= np.mean(told) <= 0.84

    @pytest.mark.parametrize(("won", "lost"), [(0.25, 0.1), (0.1, 0.02)])
    def test_and_so_do_they_where_documents_are_flipped(self, won: float, lost: float) -> None:
        random = np.random.default_rng(7)
        shares = [won, lost, 1 - won - lost]
        seen = np.repeat([1.0, -1.0, 0.0], [round(400 * share) for share in shares])
        random.shuffle(seen)
        seen = seen[np.argsort(np.arange(400) % 100, kind="stable")]
        needed = questions_needed(seen, [f"d{number // 4}" for number in range(400)])
        assert needed is not None
        told = []
        for _ in range(600):
            gain = random.choice([1.0, -1.0, 0.0], 4 * -(-needed // 4), p=shares)
            told.append(flip_p(gain.reshape(-1, 4).sum(1)) <= 0.05)
        assert 0.78 <= np.mean(told) <= 0.9

    def test_what_is_there_already_is_not_asked_for_again(self) -> None:
        found = of_hits("1" * 40, "0" * 30 + "1" * 10)
        assert found.needed is not None
        assert found.more_needed == 0
        assert of_hits("1100", "1010").more_needed is None


class TestTrials:
    """The same, from trials."""

    TEXT = "one two three four five six seven eight"

    def trial(self, size: int, ids: tuple[str, ...] = ("q",), **axes: int):
        document = Document("a", self.TEXT)
        questions = tuple(Question(name, f"{name}?", ((Passage("a", 4, 13),),)) for name in ids)
        return run(Corpus((document,), questions), Config.of("fixed", {"size": size}, **axes), BagOfWords())

    def test_each_measure_is_read_from_the_results(self) -> None:
        """'two three' is cut by a size of 2, and whole in 'one two three four' of the size of 4."""
        cut, whole = self.trial(2), self.trial(4)
        means = {name: compare(whole, cut, measure).mean for name, measure in MEASURES.items()}
        assert means["hit"] == means["lenient_hit"] == 1
        assert means["reciprocal_rank"] in (1, 0.5)
        assert (means["coverage"], means["words_sent"]) == (0, 0)

    def test_many_are_corrected_together(self) -> None:
        ids = tuple("abcdefg")
        found = compare_all([self.trial(4, ids), self.trial(2, ids), self.trial(8, ids)], self.trial(2, ids))
        assert [one.p for one in found] == pytest.approx([2**-7, 1, 2**-7])
        assert [one.corrected_p for one in found] == pytest.approx([3 * 2**-7, 1, 3 * 2**-7])

    @pytest.mark.parametrize(
        ("ids", "words"),
        [(("q", "r"), "these have 2 and 1"), (("r",), r"'r' \('r\?'\) in one is 'q' \('q\?'\) in another")],
    )
    def test_other_questions_are_refused(self, ids: tuple[str, ...], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            compare(self.trial(4), self.trial(4, ids))

    def test_an_area_needs_a_budget(self) -> None:
        with pytest.raises(ValueError, match="at least 1, got 0"):
            area_measure(0)
