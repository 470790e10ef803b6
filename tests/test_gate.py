"""What is said of a difference, and whether a change may pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chunking.comparing import MEASURES, Difference, difference
from chunking.experiment import run
from chunking.gate import decide, gate, in_words, needed_in_words
from chunking.index import Config
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords


def found(won: int, lost: int, both: int, neither: int, documents: int = 20) -> Difference:
    """A difference in hits, its questions dealt over documents."""
    ours = np.repeat([1.0, 0.0, 1.0, 0.0], [won, lost, both, neither])
    theirs = np.repeat([0.0, 1.0, 1.0, 0.0], [won, lost, both, neither])
    ids = [str(number) for number in range(len(ours))]
    return difference(ours, theirs, [f"d{number % documents}" for number in range(len(ours))], ids)


@pytest.mark.parametrize(
    ("counts", "margin", "status", "reason"),
    [
        ((12, 2, 40, 26), 0.05, 0, "A loss of more than 5 points is ruled out: the hit rate is 12.5 points higher, with 95% confidence at worst"),
        ((0, 0, 40, 40), 0.05, 0, "the hit rate is unchanged, with 95% confidence at worst 3.3 points lower."),
        ((0, 0, 10, 10), 0.05, 3, "It cannot be told whether more than 5 points are lost: the hit rate is unchanged, and may be 11.9 points lower."),
        ((1, 16, 40, 23), 0.05, 1, "The hit rate is worse beyond chance: it is 18.8 points lower, p < 0.001."),
        ((6, 9, 40, 25), 0.05, 3, "the hit rate is 3.8 points lower, and may be"),
        ((0, 8, 200, 200), 0.05, 0, "A loss of more than 5 points is ruled out: the hit rate is 2 points lower"),
        ((1, 16, 40, 23), 0.5, 0, "A loss of more than 50 points is ruled out"),
    ],
)  # fmt: skip
def test_the_rule_and_its_reason(counts: tuple[int, int, int, int], margin: float, status: int, reason: str) -> None:
    decided = decide(found(*counts), margin)
    assert decided.status == status
    assert reason in decided.reason


def test_few_documents_are_told() -> None:
    assert "(fewer than ten documents carry questions, so this is surer than it should be)." in decide(
        found(12, 2, 40, 26, documents=4), 0.05
    ).reason  # fmt: skip


def test_the_bound_decides_not_the_mean() -> None:
    one = replace(found(6, 9, 40, 25), worst=-0.05)
    assert decide(one, 0.05).status == 0
    assert decide(replace(one, worst=-0.0501), 0.05).status == 3


def test_worse_is_by_the_corrected_p() -> None:
    one = found(1, 16, 40, 23)
    assert decide(replace(one, corrected_p=0.06), 0.05).status == 3


@pytest.mark.parametrize("margin", [-0.01, 1, 5, float("nan")])
def test_a_margin_is_a_share(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be at least 0 and below 1, got"):
        decide(found(1, 1, 1, 1), margin)


def test_what_is_sent_the_same_passes_however_few_questions_there_are() -> None:
    document = Document("a", "one two three four five six")
    corpus = Corpus((document,), (Question("q", "what?", ((Passage("a", 4, 13),),)),))
    cut, again, whole = (run(corpus, Config.of("fixed", {"size": size}), BagOfWords()) for size in (2, 2, 6))
    assert gate(cut, again, 0.05).reason == "Nothing has changed: each of the 1 questions is sent the same."
    assert gate(cut, again, 0.05).status == 0
    assert gate(cut, whole, 0.05).status == 3
    with pytest.raises(ValueError, match="margin"):
        gate(cut, again, 2)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((11, 2, 40, 27), "found 11 more and lost 2 of 80; unlikely to be chance, p = 0.022"),
        ((3, 0, 40, 37), "found 3 more and lost none of 80; may be chance, p = 0.25"),
        ((0, 1, 40, 39), "found no more and lost 1 of 80; may be chance, p = 1"),
        ((20, 0, 40, 20), "found 20 more and lost none of 80; unlikely to be chance, p < 0.001"),
        ((0, 0, 40, 40), "found the same 40 of 80"),
    ],
)
def test_hits_in_words(counts: tuple[int, int, int, int], words: str) -> None:
    """20 documents: with 11 won and 2 lost each in a document of its own, 2 * 92 of 8,192 flips are as far from 0."""
    assert in_words(found(*counts)) == words


def test_correction_and_few_documents_are_said() -> None:
    one = replace(found(11, 2, 40, 27, documents=5), corrected_p=0.08)
    assert in_words(one) == (
        "found 11 more and lost 2 of 80; may be chance, p = 0.08 after correction for all that is compared; "
        "fewer than ten documents carry questions, so this is surer than it should be"
    )


def test_other_measures_in_words() -> None:
    names, ids = [f"d{number}" for number in range(12)], list("abcdefghijkl")
    more = difference([0.5] * 12, [0.25] * 12, names, ids, MEASURES["coverage"])
    assert in_words(more) == "coverage +25.0 points (95% interval +25.0 to +25.0); unlikely to be chance, p < 0.001"
    fewer = difference([100.0] * 12, [150.0] * 12, names, ids, MEASURES["words_sent"])
    assert in_words(fewer).startswith("words sent −50.0 words (95% interval −50.0 to −50.0)")
    same = difference([0.5] * 12, [0.5] * 12, names, ids, MEASURES["coverage"])
    assert in_words(same) == "coverage the same for all of 12"


def test_questions_needed_in_words() -> None:
    assert needed_in_words(found(20, 0, 40, 20)) == ""
    assert needed_in_words(found(0, 0, 40, 40)).startswith("no number of questions")
    more = found(6, 9, 40, 25)
    assert f"about {more.more_needed:,} more questions like these" in needed_in_words(more)
    assert needed_in_words(replace(more, needed=10)).startswith("as many questions as these")
