"""The verdict on many trials, and the rate of the chosen one on documents that had no part in the choice."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunking.best import held_out, judged, verdict
from chunking.comparing import MEASURES
from chunking.experiment import run
from chunking.index import Config
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords


def table(*rates: float, questions: int = 80, seed: int = 0) -> np.ndarray:
    """Independent hits, (questions, trials), with just these means."""
    random = np.random.default_rng(seed)
    columns = [random.permutation(np.arange(questions) < round(rate * questions)) for rate in rates]
    return np.column_stack(columns).astype(float)


def names(questions: int = 80, documents: int = 20) -> list[str]:
    return [f"d{number % documents:02}" for number in range(questions)]


def test_three_groups() -> None:
    """90% and 85% of 80 cannot be told apart, 20% can be told from both."""
    found = judged(table(0.2, 0.9, 0.85), names())
    assert (found.winner, found.level, found.ruled_out, found.too_narrow) == (1, (2,), (0,), False)
    assert found.means == pytest.approx((0.2, 0.9, 0.85))
    assert found.behind == pytest.approx((0.7, 0, 0.05))
    assert all(most >= behind for most, behind in zip(found.most_behind, found.behind, strict=True))
    assert found.most_behind[0] < 0.9


def test_the_verdict_is_by_documents() -> None:
    """In three of twelve documents, with ten questions each, one trial found all and the other none: that may be chance."""
    ours, theirs = np.ones(120), np.r_[np.zeros(30), np.ones(90)]
    together = [f"d{number // 10}" for number in range(120)]
    assert judged(np.column_stack([ours, theirs]), together).level == (1,)
    assert judged(np.column_stack([ours, theirs]), [str(number) for number in range(120)]).ruled_out == (1,)


def test_one_trial_is_the_winner() -> None:
    found = judged(table(0.5), names())
    assert (found.winner, found.level, found.ruled_out, found.most_behind) == (0, (), (), (0.0,))


def test_trials_that_are_all_alike_cannot_be_told_apart_and_the_first_wins() -> None:
    found = judged(np.tile(table(0.5), 3), names())
    assert (found.winner, found.level, found.ruled_out) == (0, (1, 2), ())


def test_more_trials_make_it_harder_to_be_ruled_out() -> None:
    """What is behind just enough to be told from one trial is not told from the best of twenty as good."""
    first = table(0.75, 0.5, seed=3)
    others = table(*[0.75] * 19, seed=4)
    alone = judged(first, names())
    among = judged(np.column_stack([first, others]), names())
    assert among.most_behind[1] > alone.most_behind[1]


def test_few_documents_are_marked() -> None:
    found = judged(table(0.9, 0.2), names(documents=9))
    assert found.too_narrow
    assert found.held_out is not None
    assert found.held_out.interval.too_narrow


@given(st.integers(0, 1000), st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_every_trial_is_in_one_group_and_the_order_of_questions_changes_nothing(seed: int, trials: int) -> None:
    random = np.random.default_rng(seed)
    values = (random.random((40, trials)) < random.random(trials)).astype(float)
    own = names(40, 12)
    found = judged(values, own)
    assert sorted((found.winner, *found.level, *found.ruled_out)) == list(range(trials))
    assert max(found.means) == found.means[found.winner]
    order = random.permutation(40)
    moved = judged(values[order], [own[at] for at in order])
    assert (moved.winner, moved.level, moved.ruled_out) == (found.winner, found.level, found.ruled_out)
    assert moved.most_behind == pytest.approx(found.most_behind)
    assert moved.held_out.mean == pytest.approx(found.held_out.mean)


def test_the_truly_best_of_twenty_is_seldom_ruled_out() -> None:
    """120 corpora whose settings are all as good: any of them is the best, the first too."""
    random = np.random.default_rng(11)
    out = [0 in judged((random.random((60, 20)) < 0.5).astype(float), names(60)).ruled_out for _ in range(120)]
    assert np.mean(out) <= 0.09


def test_the_held_out_rate_is_not_flattered_by_the_choice() -> None:
    """Twenty settings with a true rate of 0.5: the winner looks some 10 points better, on other documents it is not."""
    random = np.random.default_rng(12)
    naive, fair = [], []
    for _ in range(60):
        values = (random.random((60, 20)) < 0.5).astype(float)
        naive.append(values.mean(axis=0).max())
        fair.append(held_out(values, names(60)).mean)
    assert np.mean(naive) > 0.58
    assert 0.47 < np.mean(fair) < 0.53


def test_where_the_choice_is_clear_the_held_out_rate_is_the_winners() -> None:
    values = np.column_stack([np.tile([1.0, 1.0, 0.0, 1.0], 20), np.zeros(80)])
    found = held_out(values, names(80, 20))
    assert found.mean == pytest.approx(0.75)
    assert found.interval.low <= 0.75 <= found.interval.high


def test_two_documents_are_held_out_in_turn() -> None:
    """Each trial is right about one document: chosen by the one, it fails on the other."""
    assert held_out(np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]).mean == 0


def test_one_document_cannot_be_held_out() -> None:
    assert held_out(table(0.5), ["a"] * 80) is None


def test_from_trials() -> None:
    document = Document("a", "one two three four five six")
    corpus = Corpus((document,), (Question("q", "what?", ((Passage("a", 4, 13),),)),))
    cut, whole = (run(corpus, Config.of("fixed", {"size": size}), BagOfWords()) for size in (2, 6))
    assert verdict([cut, whole]).winner == 1
    assert verdict([cut, whole], MEASURES["precision"]).behind[0] == pytest.approx(0, abs=0.5)
    with pytest.raises(ValueError, match="at least one trial, got none"):
        verdict([])


def test_twenty_trials_of_eighty_questions_are_judged_at_once() -> None:
    values = table(*np.linspace(0.3, 0.7, 20))
    judged(values, names())
    took = []
    for _ in range(3):
        begin = time.process_time()
        judged(values, names())
        took.append(time.process_time() - begin)
    assert min(took) < 0.3
