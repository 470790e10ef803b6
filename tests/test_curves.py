"""Budget curves and kinds of question, on corpora small enough to work out by hand, and against the walk itself."""

from __future__ import annotations

from typing import Any

import pytest

from chunking.comparing import area_measure, compare
from chunking.curves import band, budget_curve, hits_at
from chunking.experiment import Trial, run
from chunking.index import Config
from chunking.kinds import by_kind
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords, Scored

TEXT = "one two three four five six seven eight"
DOCUMENT = Document("a", TEXT)
#: Cut in twos, the pairs come back in the order five, one, seven, three.
ORDER = {"five": 0.9, "one": 0.8, "seven": 0.7, "three": 0.6}


def asked(name: str, *passages: str, every: bool = True, kind: str = "") -> Question:
    """A question that needs all passages, or any of them."""
    spans = [Passage("a", TEXT.index(text), TEXT.index(text) + len(text)) for text in passages]
    needs = tuple((span,) for span in spans) if every else (tuple(spans),)
    return Question(name, f"{name}?", needs, fields=(("kind", kind),) if kind else ())


QUESTIONS = (
    asked("first", "five"), asked("second", "one two"), asked("both", "six", "seven"),
    asked("any", "three", "one", every=False), asked("split", "two three"),
)  # fmt: skip


def trial(strategy: str = "fixed", settings: dict[str, Any] | None = None, questions: tuple[Question, ...] = QUESTIONS,
          **axes: Any) -> Trial:  # fmt: skip
    corpus = Corpus((DOCUMENT,), questions)
    return run(corpus, Config.of(strategy, settings or {"size": 2}, **axes), Scored(ORDER))


def test_words_needed_are_those_sent_when_the_last_need_is_whole() -> None:
    needed = {result.question.id: result.words_needed for result in trial().results}
    assert needed == {"first": 2, "second": 4, "both": 6, "any": 4, "split": None}
    assert [result.words_needed for result in trial(k=1).results] == list(needed.values())


def test_the_curve_is_exact() -> None:
    found = budget_curve(trial(), 8)
    assert found.words.tolist() == [0, 2, 4, 6]
    assert found.rates.tolist() == pytest.approx([0, 0.2, 0.6, 0.8])
    assert [found.at(words) for words in (0, 1, 2, 3, 4, 5, 6, 100)] == pytest.approx(
        [0, 0, 0.2, 0.2, 0.6, 0.6, 0.8, 0.8]
    )
    assert found.area == pytest.approx((2 * 0.2 + 2 * 0.6 + 2 * 0.8) / 8)
    assert found.area_interval.low <= found.area <= found.area_interval.high
    assert found.budget == 8


def test_a_budget_below_the_first_chunk_has_no_area_and_one_below_1_is_refused() -> None:
    assert budget_curve(trial(), 2).area == 0
    with pytest.raises(ValueError, match="at least 1, got 0"):
        budget_curve(trial(), 0)


def test_areas_are_compared_question_by_question() -> None:
    """In one chunk of all eight words each question needs 8: under 10 words that leaves a fifth of the area."""
    found = compare(trial(settings={"size": 8}), trial(), area_measure(10))
    assert found.mean == pytest.approx(0.2 - (0.8 + 0.6 + 0.4 + 0.6 + 0) / 5)
    assert (found.won, len(found.lost)) == (("split",), 4)


@pytest.mark.parametrize(
    ("strategy", "settings"),
    [("fixed", {"size": 3, "overlap": 1}), ("parent_child", {"child": 1, "parent": 4, "base": "fixed"}),
     ("multi", {"sizes": (1, 3, 5), "base": "fixed"}), ("sentence_window", {"window": 1})],
)  # fmt: skip
@pytest.mark.parametrize("repeats", ["skip", "keep"])
def test_the_curve_is_what_the_walk_finds_under_every_budget(
    strategy: str, settings: dict[str, Any], repeats: str
) -> None:
    text = "Red owls see far. Blue jays call at noon. Grey owls rest. A jay took the red seed. Owls call far at night."
    documents = (Document("a", text), Document("b", text[::-1].replace(".", " ")))
    spans = [(0, 8), (18, 27), (42, 57), (9, 30), (60, 83)]
    questions = tuple(
        Question(str(at), text[start:end], ((Passage("a", start, end),), (Passage("a", *spans[at - 1]),)))
        for at, (start, end) in enumerate(spans)
    )
    corpus = Corpus(documents, questions)
    free = run(corpus, Config.of(strategy, settings, repeats=repeats), BagOfWords())
    curve = budget_curve(free, 40)
    for budget in range(1, 60):
        walked = run(corpus, Config.of(strategy, settings, repeats=repeats, budget=budget), BagOfWords())
        assert hits_at(free, budget) == [result.hit for result in walked.results], budget
        assert curve.at(budget) == pytest.approx(walked.hit_rate)


def test_the_band_is_the_interval_of_the_hit_rate_under_each_budget() -> None:
    free = trial()
    assert band(free, [2, 4, 6]) == tuple(trial(budget=budget).hit_rate_interval for budget in (2, 4, 6))


def test_kinds_are_told_apart_most_frequent_first_and_small_ones_marked() -> None:
    questions = (
        *(asked(f"why {number}", "five", kind="why") for number in range(10)),
        *(asked(f"how {number}", text, kind="how") for number, text in enumerate(("one", "two three"))),
        asked("none", "five"),
    )
    why, how, none = by_kind([trial(questions=questions, k=1), trial(questions=questions, k=2)])
    assert [(kind.name, kind.questions, kind.small) for kind in (why, how, none)] == [
        ("why", 10, False),
        ("how", 2, True),
        ("", 1, True),
    ]
    assert (why.means, how.means, none.means) == ((1, 1), (0, 0.5), (1, 1))
    assert how.intervals[1].too_narrow
    assert how.intervals[1].low < 0.5 < how.intervals[1].high


def test_no_trials_have_no_kinds_and_trials_of_other_questions_are_refused() -> None:
    assert by_kind([]) == ()
    with pytest.raises(ValueError, match="compared on the same questions"):
        by_kind([trial(), trial(questions=QUESTIONS[:2])])
