"""Faults that were found once, each with its smallest example: they must not come back."""

from __future__ import annotations

from math import acos, cos, sin

import numpy as np
import pytest

from chunking.experiment import run, search
from chunking.index import Config, assemble, build
from chunking.keyword import keyword_scores, terms_of
from chunking.registry import cut
from chunking.types import Chunks, Corpus, Document, Passage, Question, TokenSums
from tests.fakes import BagOfWords, Scored, Table, letter_pieces
from tests.test_structure import rows, texts


@pytest.mark.parametrize("cosine", [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.123457])
def test_a_percentile_that_is_a_distance_is_not_below_it(cosine: float) -> None:
    """1 - 0.7 is not 0.3 in binary: rounding only one side of the comparison makes the largest distance larger than itself."""
    angles = (0, acos(cosine), 2 * acos(cosine))
    embed = Table({name: (cos(a), sin(a)) for name, a in zip(("One.", "Two.", "Three."), angles, strict=True)})
    document = Document("d", "One. Two. Three.")
    for percentile in (0, 50, 100):
        assert [chunk[:2] for chunk in cut(document, "semantic", {"percentile": percentile}, embed=embed)] == [(0, 16)]


def test_a_corpus_without_any_term_scores_nothing() -> None:
    index = build(Corpus((Document("a", "..."), Document("b", "!!!"))), Config.of("whole", search="keyword"))
    assert keyword_scores(index, ["pump", "..."]).tolist() == [[0, 0], [0, 0]]


def test_chunks_without_any_term_score_nothing_though_their_documents_have_some() -> None:
    """Scope body leaves the heading, the only term, out."""
    index = build(Corpus((Document("a", "# Pump\n\n..."),)), Config.of("whole", scope="body"))
    assert keyword_scores(index, ["pump"]).tolist() == [[0]]


@pytest.mark.parametrize(
    "block",
    ["> Two.\n>\n> Three.", "- a\n-\n- b c", "1.\n   a b\n2. c", "- a\n\n  [r]: http://x\n\n  b", ">\n> a b c"],
)
def test_a_quote_or_list_with_lines_of_marks_alone_is_one_block(block: str) -> None:
    words = len(block.split())
    assert texts(f"One.\n\n{block}\n\nend", words) == ["One.", block, "end"]
    assert texts(f"One.\n\n{block}\n\nend", 1, oversize="keep") == ["One.", block, "end"]


def test_a_span_comes_with_a_chunk_that_returns_it_also_where_returned_spans_nest() -> None:
    """'one' and 'two' return 'one two', 'three' returns 'one two three': that came with the score of 'two'."""
    corpus = Corpus((Document("a", "one two three"),))
    columns = np.array([(0, 3, 0, 7), (4, 7, 0, 7), (8, 13, 0, 13)]).T
    embed = Scored({"one": 0.9, "two": 0.8, "three": 0.7})
    found = search(assemble(corpus, Config("mine", ()), [Chunks(*columns)]), "what?", embed)
    assert [(one.row, one.span) for one in found] == [(0, Passage("a", 0, 7)), (2, Passage("a", 0, 13))]


def test_no_documents_make_an_empty_index() -> None:
    assert len(assemble(Corpus(()), Config("mine", ()), [])) == 0


def test_the_place_of_a_phrase_counts_what_adds_something_too() -> None:
    """'one two' and 'three four' lie in 'one two three four': 'red blue' is the second that is taken."""
    documents = (Document("a", "one two three four five six"), Document("b", "red blue green grey"))
    asked = Question("q", "what?", ((Passage("b", 0, 8),),), phrase="RED", section=Passage("b", 0, 19))
    embed = Scored({"two three": 0.9, "one": 0.8, "three four": 0.7, "red blue green": 0.1, "red": 0.6})
    config = Config.of("multi", {"sizes": (2, 4), "base": "fixed"}, k=2)
    result = run(Corpus(documents, (asked,)), config, embed).results[0]
    assert (result.rank, result.phrase_rank, result.taken) == (2, 2, 2)


def test_a_table_or_code_in_a_list_item_too_long_stays_whole_while_it_fits() -> None:
    """Item paragraphs of 12 and 10 words, a table of 11 between them, code of 8: at a limit of 20 (16) neither is parted."""
    table = "| x | y |\n  |---|---|\n  | 1 | 2 |"
    text = f"- a b c d e f g h i j k.\n\n  {table}\n\n  l m n o p q r s t u."
    assert rows(text, 20) == [("", "- a b c d e f g h i j k."), ("", table), ("", "l m n o p q r s t u.")]
    code = "```\n  x = 1\n  y = 2\n  ```"
    text = f"- a b c d e f g h i.\n\n  {code}\n\n  l m n o p q r s t u."
    assert texts(text, 16) == ["- a b c d e f g h i.", code, "l m n o p q r s t u."]


def test_a_vowel_sign_does_not_part_a_term_and_an_accent_is_the_same_however_it_is_written() -> None:
    assert terms_of("दुनिया cafe\u0301 snake_case")[0] == (0, "दुनिया")
    assert [term for _, term in terms_of("CAFE\u0301 caf\u00e9")] == ["caf\u00e9", "caf\u00e9"]


def test_a_prefix_that_fills_the_model_is_no_missing_vector_and_a_text_without_tokens_is_one() -> None:
    """Read are 10 characters, fewer than the title; then late pooling over a chunk that holds no token."""
    document = Document("d", "ant bee", title="a title that is long")
    question = Question("q", "ant", ((Passage("d", 0, 3),),))
    trial = run(Corpus((document,), (question,)), Config.of("whole", context="title"), BagOfWords(limit=10))
    assert (trial.unread_chunks, trial.truncated_chunks) == (0, 1)
    embed = BagOfWords()
    text = "ant\n\n\x01\n\nbee"
    sums = TokenSums(np.array([0, 8]), np.array([3, 11]), np.cumsum([np.zeros(64), np.ones(64), np.ones(64)], axis=0))
    embed.token_sums = lambda texts: [sums for _ in texts]
    late = Config.of("paragraph", {"size": 1}, pooling="late")
    trial = run(Corpus((Document("d", text),), (question,)), late, embed)
    assert (len(trial.index), trial.unread_chunks) == (3, 1)


def test_chunks_brought_along_are_flagged_and_counted_in_tokens_like_ours() -> None:
    document = Document("a.md", "# A\n\nant bee.\n\n## B\n\ncat dog.\n")
    question = Question("q", "ant", ((Passage("a.md", 5, 8),),))
    chunks = Chunks.plain(np.array([0, 19]), np.array([19, 29]))
    corpus = Corpus((document,), (question,))
    index = assemble(corpus, Config.of("whole"), [chunks], letter_pieces)
    assert index.flag_counts == {"over_limit": 0, "heading_last": 1}
    assert run(corpus, index.config, BagOfWords(), index).results[0].tokens_sent


def test_the_words_of_a_merged_span_are_its_own() -> None:
    """Windows of 40 and 100 words: what is sent for words 70 to 101 is one span of 200 words, two windows of 100."""
    document = Document("d", " ".join(f"w{number}" for number in range(300)))
    config = Config.of("multi", {"sizes": [40, 100], "base": "fixed"}, search="keyword", k=3)
    found = search(build(Corpus((document,)), config), "w70 w95 w101", BagOfWords())
    span = found[0].span
    assert len(document.text[span.start : span.end].split()) == 200
