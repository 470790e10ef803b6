"""Advice: each sentence holds or not by numbers that can be worked out by hand."""

from __future__ import annotations

import pytest

from chunking.advice import asks_by_identifier, fits_prompt, identifiers, not_needed, small_documents, too_short
from chunking.experiment import Trial, run
from chunking.index import Config
from chunking.types import Corpus, Document, Passage, Question
from data.bundled import bundled
from tests.fakes import Scored

SHORT = Document("short", "one two three four")
LONG = Document("long", " ".join(f"w{number}" for number in range(16)))


def asked(name: str, text: str = "What?", document: Document = SHORT, words: int = 1) -> Question:
    return Question(name, text, ((Passage(document.id, 0, len(" ".join(document.text.split()[:words]))),),))


def trial(documents: tuple[Document, ...], questions: tuple[Question, ...], size: int, **axes) -> Trial:
    return run(
        Corpus(documents, questions), Config.of("fixed", {"size": size}, **axes), Scored({"one": 0.9, "w0": 0.5})
    )


def test_documents_that_are_one_chunk_each_are_too_short_to_tell() -> None:
    """Two documents of 4 and 16 words: at size 4 one of two is a single chunk; the first chunk is 4 of 20 words."""
    found = too_short(trial((SHORT, LONG), (asked("q"),), 4, k=1))
    assert found.holds
    assert found.sentence == ("The documents are too short to tell cuts apart: 50% of them are one chunk, and 20.0% of all words "
                              "are sent for a question.")  # fmt: skip


def test_so_is_a_corpus_of_which_half_is_sent() -> None:
    """At size 3 both are cut; five chunks of at most 3 words are 13 or more of 20."""
    found = too_short(trial((SHORT, LONG), (asked("q"),), 3, k=5))
    assert found.holds
    assert "0% of them are one chunk, and 65.0% of all words" in found.sentence


def test_what_is_cut_and_sent_sparingly_can_be_told_apart() -> None:
    found = too_short(trial((SHORT, LONG), (asked("q"),), 2, k=1))
    assert not found.holds
    assert found.sentence.startswith(
        "The documents are long enough to tell cuts apart: 0% of them are one chunk, and 10.0%"
    )


def test_a_document_without_text_is_not_counted() -> None:
    found = too_short(trial((SHORT, Document("blank", "  \n"), LONG), (asked("q"),), 4, k=1))
    assert "50% of them are one chunk" in found.sentence


def test_a_collection_fits_a_prompt_up_to_its_last_word() -> None:
    corpus = Corpus((SHORT, LONG))
    assert fits_prompt(corpus, 20).holds
    assert fits_prompt(corpus, 20).sentence == "The collection has 20 words and fits a prompt of 20."
    assert not fits_prompt(corpus, 19).holds


def test_small_documents_are_those_of_a_chunks_size() -> None:
    corpus = Corpus((SHORT, LONG))
    found = small_documents(corpus, 4)
    assert found.holds
    assert found.sentence == "50% of 2 documents have at most 4 words, half of them at most 10."
    assert not small_documents(corpus, 3).holds
    assert not small_documents(Corpus(())).holds


@pytest.mark.parametrize(
    "text",
    ["What is E_TIMEOUT?", "Why 429?", "What does getUser do?", "Is `x` set?", "Where is a/b.md?", "Is 16,777,216 the end?",
     "What is U+FDFA?", "What does flush() do?", "Does HTTP2 help?"],
)  # fmt: skip
def test_an_identifier_is_told_by_its_characters(text: str) -> None:
    assert asks_by_identifier(asked("q", text))


@pytest.mark.parametrize("text", ["Is RAM slow?", "Why does it wait?", "Are 12 enough?", "A so-called tie, or not?"])
def test_words_acronyms_and_small_numbers_are_none(text: str) -> None:
    assert not asks_by_identifier(asked("q", text))


def test_identifiers_are_found_by_keyword() -> None:
    """Two of three ask by an identifier; keyword search finds w7, which search by meaning does not rank first."""
    w7 = LONG.text.index("w7")
    questions = (Question("q1", "w7?", ((Passage("long", w7, w7 + 2),),)), asked("q2", "four2"), asked("q3", "Which?"))
    dense, keyword = (trial((SHORT, LONG), questions, 4, k=1, search=search) for search in ("dense", "keyword"))
    found = identifiers(keyword, dense)
    assert (
        found.sentence == "2 of 3 questions ask by an identifier; of those keyword search finds 2, search by meaning 1."
    )
    assert found.holds
    assert not identifiers(dense, keyword).holds
    assert [advice.name for advice in not_needed(dense.index.corpus, [dense, keyword])] == [
        "fits_prompt",
        "small_documents",
        "identifiers",
    ]


def test_the_bundled_questions_that_ask_by_an_identifier_are_recognised() -> None:
    corpus, _ = bundled()
    told = {question.id for question in corpus.questions if dict(question.fields)["identifier"]}
    recognised = {question.id for question in corpus.questions if asks_by_identifier(question)}
    assert told <= recognised
    assert len(recognised - told) == 2
