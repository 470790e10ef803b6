"""Two settings on one document, the likeness of sentences, and each question's move, by hand."""

from __future__ import annotations

import pytest

from chunking.experiment import run
from chunking.index import Config, build
from chunking.moves import moves
from chunking.overlaid import boundaries, likeness, overlaid
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords, Table

FIRST = Document("first.md", "Zero one.\n\n  ")
TEXT = "One two three. Four five six.\n\nSeven eight nine. Ten."
DOCUMENT = Document("a.md", TEXT)
CORPUS = Corpus((FIRST, DOCUMENT, Document("last.md", "Nought.")))


def words_at(places: object) -> list[str]:
    return [TEXT[place:].split()[0] for place in places]


def fixed(size: int, overlap: int = 0):
    return build(CORPUS, Config.of("fixed", {"size": size, "overlap": overlap}))


def test_boundaries_are_where_the_next_text_begins() -> None:
    assert words_at(boundaries(fixed(3), DOCUMENT)) == ["Four", "Seven", "Ten."]
    assert words_at(boundaries(build(CORPUS, Config.of("whole")), DOCUMENT)) == []
    assert boundaries(fixed(1), FIRST).tolist() == [5]


def test_an_overlap_has_two_boundaries() -> None:
    assert words_at(boundaries(fixed(6, 2), DOCUMENT)) == ["five", "Seven"]


def test_what_is_sent_has_the_boundaries_and_not_what_is_matched() -> None:
    index = build(CORPUS, Config.of("parent_child", {"child": 3, "parent": 6, "base": "fixed"}))
    assert words_at(boundaries(index, DOCUMENT)) == ["Seven"]


def test_boundaries_are_laid_over_each_other() -> None:
    found = overlaid(fixed(3), fixed(2), DOCUMENT)
    assert [words_at(part) for part in (found.both, found.one, found.other)] == [
        ["Seven"], ["Four", "Ten."], ["three.", "five", "nine."],
    ]  # fmt: skip
    assert words_at(overlaid(fixed(3), fixed(3), DOCUMENT).both) == ["Four", "Seven", "Ten."]


def test_the_likeness_of_neighbouring_sentences_of_one_document() -> None:
    table = {"Zero one.": [1, 0], "One two three.": [1, 0], "Four five six.": [1, 1], "Seven eight nine.": [0, 1], "Ten.": [0, 1], "Nought.": [1, 0]}  # fmt: skip
    found = likeness(CORPUS, DOCUMENT, Table(table))
    assert words_at(found.places) == ["Four", "Seven", "Ten."]
    assert found.cosines == pytest.approx([0.5**0.5, 0.5**0.5, 1], abs=1e-6)
    assert found.inner.all()


def test_questions_that_moved_most_come_first() -> None:
    questions = tuple(
        Question(name, text, ((Passage("a.md", TEXT.index(text), TEXT.index(text) + len(text)),),))
        for name, text in (("a", "One two three."), ("b", "Seven eight nine."), ("c", "Ten."))
    )
    corpus = Corpus((DOCUMENT,), questions)
    split, held = (run(corpus, Config.of("fixed", {"size": size}), BagOfWords()) for size in (2, 3))
    found = moves(held, split)
    assert [(move.before.rank, move.after.rank) for move in found if move.before.question.id == "c"] == [(1, 1)]
    assert [round(move.gain, 6) for move in found] == [1, 1, 0]
    assert found[-1].before.question.id == "c"
    with pytest.raises(ValueError, match="the same questions"):
        moves(held, run(Corpus((DOCUMENT,), questions[:2]), Config.of("whole"), BagOfWords()))


def test_what_the_model_did_not_read_to_its_end_is_known_of_a_span() -> None:
    question = Question("a", "One?", ((Passage("a.md", 0, 14),),))
    trial = run(Corpus((DOCUMENT,), (question,)), Config.of("fixed", {"size": 6}), BagOfWords(limit=25))
    first, second = trial.index.spans
    assert (trial.cut_short(first), trial.cut_short(second)) == (True, False)
