"""Intervals: against a reference where there is one, by their properties and by simulation where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from chunking.intervals import ENOUGH_DOCUMENTS, interval, wilson

FEW = ["a", "b"]


@pytest.mark.parametrize("n", [1, 2, 3, 16, 80, 1000])
def test_wilson_agrees_with_scipy(n: int) -> None:
    for hits in {0, 1, n // 3, n // 2, n - 1, n}:
        expected = binomtest(hits, n).proportion_ci(0.95, "wilson")
        assert wilson(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_rate_over_few_documents_has_wilsons_interval_and_is_marked() -> None:
    found = interval([1.0, 0.0, 1.0, 1.0], FEW * 2, rate=True)
    assert (found.low, found.high) == wilson(3, 4)
    assert (found.method, found.too_narrow) == ("Wilson", True)


def test_a_mean_over_few_documents_resamples_questions_and_is_marked() -> None:
    found = interval([0.2, 0.4, 0.9, 0.5], FEW * 2, rate=False)
    assert (found.method, found.too_narrow) == ("questions resampled", True)
    assert 0.2 <= found.low < 0.5 < found.high <= 0.9


@pytest.mark.parametrize("rate", [True, False])
def test_enough_documents_are_resampled(rate: bool) -> None:
    names = [f"d{number}" for number in range(ENOUGH_DOCUMENTS)]
    found = interval([number % 2 for number in range(len(names))], names, rate)
    assert (found.method, found.too_narrow) == ("documents resampled", False)
    assert interval([1.0] * 9, names[:9], rate).too_narrow


def clustered(random: np.random.Generator, documents: int, spread: float) -> tuple[list[float], list[str]]:
    """Hits of 1 to 8 questions on each document, whose own rates vary about 0.5 by `spread`."""
    values, names = [], []
    for number in range(documents):
        rate = 0.5 + spread * (1 if random.random() < 0.5 else -1)
        count = int(random.integers(1, 9))
        values += (random.random(count) < rate).astype(float).tolist()
        names += [f"d{number}"] * count
    return values, names


def test_the_mean_lies_inside_and_order_does_not_matter() -> None:
    random = np.random.default_rng(1)
    values, names = clustered(random, 20, 0.3)
    found = interval(values, names, rate=True)
    assert 0 <= found.low <= np.mean(values) <= found.high <= 1
    order = random.permutation(len(values))
    shuffled = interval([values[i] for i in order], [names[i] for i in order], rate=True)
    assert (shuffled.low, shuffled.high) == pytest.approx((found.low, found.high))


def test_the_same_values_give_the_same_interval() -> None:
    values, names = clustered(np.random.default_rng(2), 20, 0.3)
    assert interval(values, names, rate=True) == interval(values, names, rate=True)


def test_values_that_are_all_equal_have_no_width() -> None:
    names = [f"d{number}" for number in range(12)]
    found = interval([0.25] * 12, names, rate=False)
    assert (found.low, found.high) == pytest.approx((0.25, 0.25))


def test_questions_that_hang_together_widen_the_interval() -> None:
    """Twelve documents with eight questions each that are all hit or all missed tell no more than twelve questions."""
    values = [float(document % 2) for document in range(12) for _ in range(8)]
    names = [f"d{document}" for document in range(12) for _ in range(8)]
    together = interval(values, names, rate=True)
    alone = interval([float(document % 2) for document in range(12)], names[::8], rate=True)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))
    low, high = wilson(48, 96)
    assert together.high - together.low > 1.5 * (high - low)


def test_documents_with_more_questions_weigh_more() -> None:
    """The mean is over questions: one document of 90 hits beside eleven single misses stays near 90 of 101."""
    values = [1.0] * 90 + [0.0] * 11
    names = ["big"] * 90 + [f"d{number}" for number in range(11)]
    found = interval(values, names, rate=True)
    assert found.low == 0  # where the big document is not drawn, nothing is hit
    assert found.high > 0.9


@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(spread: float) -> None:
    """300 corpora of 40 documents with a true rate of 0.5. Over so few clusters it is held a little less often."""
    random = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        found = interval(*clustered(random, 40, spread), rate=True)
        held += found.low <= 0.5 <= found.high
    assert 0.90 <= held / 300 <= 0.985


def test_wilson_would_not_hold_where_questions_hang_together() -> None:
    """What the resampling of documents is for: with the same corpora Wilson's interval is right in far fewer."""
    random = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        values, _ = clustered(random, 40, 0.4)
        low, high = wilson(sum(values), len(values))
        held += low <= 0.5 <= high
    assert held / 300 < 0.85


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="needs at least one question, got none"):
        interval([], [], rate=True)


@pytest.mark.parametrize("hit", [0.0, 1.0])
def test_questions_that_are_all_alike_claim_no_certainty(hit: float) -> None:
    """Resampling 12 documents of nothing but hits gives 1.0 every time; Wilson's interval of 24 of 24 does not."""
    documents = [f"d{number // 2}" for number in range(24)]
    found = interval([hit] * 24, documents, rate=True)
    assert found.low < found.high
    assert found.too_narrow
