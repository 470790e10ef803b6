"""A trial from end to end on corpora small enough to work out every figure by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from chunking.experiment import REASONS, Result, run, search
from chunking.experiment import asked as ask
from chunking.index import Config, build
from chunking.ranking import cosine_scores
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords, Scored, letter_pieces

#: Cut by words in twos: 'one two' 'three four' 'five six' | 'red blue' 'green grey'.
A = Document("a", "one two three four five six")
B = Document("b", "red blue green grey")
PAIRS = {"size": 2}


def passage(text: str, document: Document = A) -> Passage:
    """The passage of that text."""
    start = document.text.index(text)
    return Passage(document.id, start, start + len(text))


def question(*needs: Sequence[Passage], **more: Any) -> Question:
    """A question with its needs."""
    return Question("q", "what?", tuple(map(tuple, needs)), **more)


def measured(asked: Question, scores: Mapping[str, float], limit: int | None = None, strategy: str = "fixed",
             settings: Mapping[str, Any] = PAIRS, documents: Sequence[Document] = (A, B),
             **axes: Any) -> Result:  # fmt: skip
    """The result of one question where chunks have these scores; the same in a trial and when it is asked alone."""
    corpus = Corpus(tuple(documents), (asked,))
    config, embed = Config.of(strategy, dict(settings), **axes), Scored(scores, limit)
    (result,) = run(corpus, config, embed).results
    assert ask(build(Corpus(tuple(documents)), config, embed), asked, embed) == result
    return result


def sent_texts(result: Result) -> list[str]:
    """The texts that were sent."""
    texts = {document.id: document.text for document in (A, B)}
    return [texts[span.document][span.start : span.end] for span in result.sent]


class TestWhatIsSent:
    """Returned spans in rank order, k of them or as many as the budget holds."""

    SCORES: ClassVar = {"five": 0.9, "red": 0.8, "one": 0.7, "three": 0.6}

    def test_k_spans_by_descending_score(self) -> None:
        result = measured(question([passage("one")]), self.SCORES, k=2)
        assert sent_texts(result) == ["five six", "red blue"]
        assert (result.rank, result.hit, result.words_sent, result.distinct_words) == (3, False, 4, 4)
        assert measured(question([passage("one")]), self.SCORES, k=3).hit

    def test_ties_go_by_document_then_start(self) -> None:
        result = measured(question([passage("red", B)]), {"three": 0.5}, k=5)
        assert sent_texts(result) == ["three four", "one two", "five six", "red blue", "green grey"]
        assert result.rank == 4

    def test_k_may_be_more_than_there_are_chunks(self) -> None:
        result = measured(question([passage("one")]), self.SCORES, k=20)
        assert (len(result.sent), result.words_sent) == (5, 10)

    def test_a_budget_stops_before_the_first_span_that_does_not_fit(self) -> None:
        result = measured(question([passage("one")]), self.SCORES, budget=5)
        assert (sent_texts(result), result.words_sent) == (["five six", "red blue"], 4)

    def test_where_nothing_fits_nothing_is_sent_and_precision_is_0(self) -> None:
        result = measured(question([passage("five")]), self.SCORES, budget=1)
        assert (result.sent, result.words_sent, result.distinct_words, result.tokens_sent) == ((), 0, 0, 0)
        assert (result.hit, result.rank, result.reason) == (False, 1, "outranked_other_document")
        assert (result.cover.coverage, result.cover.precision, result.cover.iou) == (0, 0, 0)

    def test_overlap_is_paid_each_time(self) -> None:
        """Windows of 3 stepping 1 over six words: the first two sent share two words."""
        result = measured(question([passage("one")]), {"one": 0.9, "two": 0.8}, settings={"size": 3, "overlap": 2}, k=2)
        assert (result.words_sent, result.distinct_words) == (6, 4)

    def test_tokens_are_those_of_the_embedder(self) -> None:
        """'five six' is two pieces of at most four letters, 'three four' three."""
        assert measured(question([passage("one")]), {"five": 0.9, "three": 0.8}, k=2).tokens_sent == 2 + 3

    def test_without_a_tokenizer_there_are_no_tokens(self) -> None:
        embed = Scored({})
        embed.token_spans = None
        trial = run(Corpus((A,), (question([passage("one")]),)), Config.of("fixed", PAIRS), embed)
        assert trial.results[0].tokens_sent is None


class TestParentsAndRepeats:
    """The model gets k different parents, unless repeats are kept."""

    #: Parents 'one two three four' and 'five six', each with children of two words; b is a parent of four.
    SETTINGS: ClassVar = {"child": 2, "parent": 4, "base": "fixed"}
    SCORES: ClassVar = {"one": 0.9, "three": 0.8, "red": 0.7, "five": 0.6}

    def result(self, **axes: Any) -> Result:
        return measured(question([passage("six")]), self.SCORES, None, "parent_child", self.SETTINGS, **axes)

    def test_k_different_parents(self) -> None:
        result = self.result(k=2)
        assert sent_texts(result) == ["one two three four", "red blue green grey"]
        assert (result.rank, result.hit) == (3, False)
        assert self.result(k=3).hit

    def test_a_parent_has_the_rank_of_its_best_child(self) -> None:
        scores = {"six": 0.9, "three": 0.8}
        result = measured(question([passage("two three")]), scores, None, "parent_child", self.SETTINGS, k=2)
        assert (sent_texts(result), result.rank) == (["five six", "one two three four"], 2)

    def test_kept_repeats_are_sent_and_paid_again(self) -> None:
        """The rank is the first place of the parent that holds the passage, repeats counted on the way."""
        result = self.result(k=3, repeats="keep")
        assert sent_texts(result) == ["one two three four"] * 2 + ["red blue green grey"]
        assert (result.words_sent, result.distinct_words, result.rank, result.hit) == (12, 8, 4, False)

    def test_the_best_place_counts_where_a_span_is_kept_twice(self) -> None:
        result = measured(question([passage("four")]), self.SCORES, None, "parent_child", self.SETTINGS, repeats="keep")
        assert result.rank == 1


class TestHits:
    """Every need whole in some single span that was sent."""

    SCORES: ClassVar = {"one": 0.9, "three": 0.8, "five": 0.7, "red": 0.6, "green": 0.5}

    @pytest.mark.parametrize(
        ("needs", "rank"),
        [
            ([["three"]], 2),
            ([["one two"]], 1),
            ([["two three"]], None),  # no single span has it, though both halves are sent side by side
            ([["one"], ["five"]], 3),  # all of two needs: the later one decides
            ([["one"], ["two three"]], None),
            ([["one", "five"]], 1),  # any of two passages: the earlier one decides
            ([["two three", "five"]], 3),  # one occurrence is cut, another is not
            ([["one", "two three"], ["six", "four"]], 2),
        ],
    )
    def test_ranks(self, needs: list[list[str]], rank: int | None) -> None:
        asked = question(*[[passage(text) for text in need] for need in needs])
        result = measured(asked, self.SCORES, k=5)
        assert result.rank == rank
        assert result.hit == (rank is not None)
        assert result.reason == ("split" if rank is None else "hit")

    def test_needs_in_two_documents(self) -> None:
        result = measured(question([passage("six")], [passage("grey", B)]), self.SCORES, k=5)
        assert (result.rank, result.hit, result.cover.coverage) == (5, True, 1)

    def test_white_space_at_the_ends_of_a_passage_does_not_matter(self) -> None:
        """'three four ' ends with the space that lies between two chunks, ' three' begins with one."""
        for text in ("three four ", " three", " three four "):
            result = measured(question([passage(text)]), self.SCORES, k=5)
            assert (result.rank, result.cover.coverage) == (2, 1)

    def test_a_restatement_counts_only_in_the_lenient_hit(self) -> None:
        asked = question([passage("two three")], [passage("five")], also=((passage("one"),), ()))
        result = measured(asked, self.SCORES, k=3)
        assert (result.rank, result.hit, result.lenient_rank, result.lenient_hit) == (None, False, 3, True)
        assert not measured(asked, self.SCORES, k=2).lenient_hit
        assert measured(question([passage("one")]), self.SCORES, k=1).lenient_hit

    def test_the_phrase_counts_only_in_its_section(self) -> None:
        """'blue' occurs in both documents; the section is document b."""
        document = Document("a", "blue sky here now")
        asked = question([passage("grey", B)], phrase="BLUE", section=Passage("b", 0, len(B.text)))
        result = measured(asked, {"sky": 0.9, "grey": 0.8, "red": 0.7}, documents=(document, B), k=5)
        assert (result.phrase_rank, result.rank) == (3, 2)
        asked = question([passage("grey", B)], phrase="blue green", section=Passage("b", 0, len(B.text)))
        assert measured(asked, {}, documents=(document, B)).phrase_rank is None
        assert measured(question([passage("grey", B)]), {}).phrase_rank is None


class TestReasons:
    """Each miss has one reason, the first that applies: split, truncated, outranked."""

    LAST: ClassVar = {"one": 0.9, "three": 0.8, "red": 0.7, "green": 0.6, "five": 0.5}

    def test_split_comes_before_truncated(self) -> None:
        """'two three' is cut, and with a limit of 1 it would not have been read either."""
        assert measured(question([passage("two three")]), self.LAST, 1, k=1).reason == "split"

    def test_truncated_where_nothing_of_the_passage_was_read(self) -> None:
        """'five six' is read for 5 characters: 'six' begins at 5."""
        assert measured(question([passage("six")]), self.LAST, 5, k=1).reason == "truncated"

    def test_one_character_read_makes_it_outranked(self) -> None:
        assert measured(question([passage("six")]), self.LAST, 6, k=1).reason == "outranked_same_document"

    def test_truncated_is_no_reason_where_it_was_found_all_the_same(self) -> None:
        assert measured(question([passage("six")]), self.LAST, 5, k=5).reason == "hit"

    def test_outranked_by_the_same_or_another_document(self) -> None:
        assert measured(question([passage("five")]), self.LAST, k=1).reason == "outranked_same_document"
        others = {"red": 0.9, "green": 0.8, "one": 0.7}
        assert measured(question([passage("five")]), others, k=2).reason == "outranked_other_document"
        assert measured(question([passage("five")]), others, k=3).reason == "outranked_same_document"

    def test_the_document_of_the_need_that_is_missing_decides(self) -> None:
        """'one' is found in a, 'grey' is missing from b, of which nothing was sent."""
        asked = question([passage("one")], [passage("grey", B)])
        assert measured(asked, {"one": 0.9, "three": 0.8}, k=2).reason == "outranked_other_document"
        assert measured(asked, {"one": 0.9, "red": 0.8}, k=2).reason == "outranked_same_document"

    def test_one_need_that_was_never_read_is_enough(self) -> None:
        """Limit 4: 'five' is read, 'blue' (at 4 in 'red blue') is not."""
        asked = question([passage("five")], [passage("blue", B)])
        assert measured(asked, self.LAST, 4, k=1).reason == "truncated"

    def test_another_occurrence_that_was_read_is_enough(self) -> None:
        assert (
            measured(question([passage("six"), passage("red", B)]), self.LAST, 5, k=1).reason
            == "outranked_same_document"
        )

    def test_a_parent_is_read_if_one_of_its_children_read_the_passage(self) -> None:
        """The parent holds 'four' in its second child: of 'three four' the model reads 'thre', or 'three f'."""
        settings = {"child": 2, "parent": 4, "base": "fixed"}
        asked = question([passage("four")])
        scores = {"red": 0.9}
        assert measured(asked, scores, 4, "parent_child", settings, k=1).reason == "truncated"
        assert measured(asked, scores, 7, "parent_child", settings, k=1).reason == "outranked_other_document"

    def test_a_prefix_uses_up_what_the_model_reads(self) -> None:
        """The title and its line end take 6 of the 10 code points read: of 'one two' the model reads 'one '."""
        document = Document("a", A.text, title="Title")
        axes: dict[str, Any] = {"documents": (document, B), "context": "title", "k": 1}
        assert measured(question([passage("two")]), {"red": 0.9}, 10, **axes).reason == "truncated"
        assert measured(question([passage("two")]), {"red": 0.9}, 11, **axes).reason == "outranked_other_document"

    def test_reasons_and_hits_are_all_questions(self) -> None:
        asked = [question([passage(text)]) for text in ("one", "two three", "six", "five", "four")]
        trial = run(Corpus((A, B), tuple(asked)), Config.of("fixed", PAIRS, k=1), Scored(self.LAST, 5))
        assert [result.reason for result in trial.results] == [
            "hit", "split", "truncated", "outranked_same_document", "truncated"
        ]  # fmt: skip
        assert trial.misses == {"split": 1, "truncated": 2, "outranked_same_document": 1, "outranked_other_document": 0}
        assert sum(trial.misses.values()) + sum(result.hit for result in trial.results) == len(asked)
        assert set(trial.misses) == set(REASONS) - {"hit"}


class TestTrial:
    """Means over questions."""

    def trial(self, **axes: Any):  # type: ignore[no-untyped-def]
        asked = tuple(question([passage(text)]) for text in ("one", "three", "six", "two three"))
        scores = {"one": 0.9, "three": 0.8, "red": 0.7, "green": 0.6, "five": 0.5}
        return run(Corpus((A, B), asked), Config.of("fixed", PAIRS, **axes), Scored(scores))

    def test_rates(self) -> None:
        """Ranks 1, 2, 5 and none."""
        trial = self.trial(k=2)
        assert [result.rank for result in trial.results] == [1, 2, 5, None]
        assert trial.hit_rate == 2 / 4
        assert [trial.hit_at(k) for k in (1, 2, 4, 5, 10)] == [1 / 4, 2 / 4, 2 / 4, 3 / 4, 3 / 4]
        assert trial.split_share == 1 / 4
        assert trial.reciprocal_rank == pytest.approx((1 + 1 / 2 + 1 / 5 + 0) / 4)

    def test_the_interval_of_few_documents_is_marked(self) -> None:
        found = self.trial(k=2).hit_rate_interval
        assert (found.method, found.too_narrow) == ("Wilson", True)
        assert found.low < 0.5 < found.high

    def test_ideal_precision_looks_at_the_answering_documents_only(self) -> None:
        """'one' (3 letters) lies in 'one two' (6); 'two three' (8) in 'one two' and 'three four' (15)."""
        ideals = [result.ideal_precision for result in self.trial().results]
        assert ideals == pytest.approx([3 / 6, 5 / 9, 3 / 7, 8 / 15])

    def test_an_index_built_before_gives_the_same_trial(self) -> None:
        corpus = Corpus((A, B), (question([passage("one")]),))
        config, embed = Config.of("fixed", PAIRS), BagOfWords()
        assert run(corpus, config, embed, build(corpus, config, embed)).results == run(corpus, config, embed).results

    def test_no_questions_or_no_text_is_said_plainly(self) -> None:
        config, embed = Config.of("fixed", PAIRS), BagOfWords()
        with pytest.raises(ValueError, match="needs questions"):
            run(Corpus((A,)), config, embed)
        with pytest.raises(ValueError, match="needs text"):
            run(Corpus((Document("a", " \n"),), (question([Passage("a", 0, 1)]),)), config, embed)


class TestIndex:
    """The chunks of a whole corpus."""

    def index(
        self, documents: Sequence[Document] = (A, B), strategy: str = "fixed", settings: Any = PAIRS, **axes: Any
    ):  # type: ignore[no-untyped-def]
        return build(Corpus(tuple(documents)), Config.of(strategy, settings, **axes), token_spans=letter_pieces)

    def test_chunks_are_in_order_of_document_then_start(self) -> None:
        index = self.index()
        assert index.documents.tolist() == [0, 0, 0, 1, 1]
        assert index.texts == ["one two", "three four", "five six", "red blue", "green grey"]
        assert [chunk.start for chunk in index.chunks(1)] == [0, 9]
        assert index.words.tolist() == [2] * 5
        assert index.span_tokens.tolist() == [2, 3, 2, 2, 3]

    def test_a_prefix_is_embedded_with_the_text_and_is_no_part_of_the_span(self) -> None:
        document = Document("a", "# A\n\nOne. Two.", title="Book")
        index = self.index([document], "sentence", {"size": 2}, context="headings")
        assert index.texts == ["Book\n# A", "Book > A\nOne. Two."]
        assert [document.text[chunk.start : chunk.end] for chunk in index.chunks(0)] == ["# A", "One. Two."]
        assert [chunk.prefix for chunk in index.chunks(0)] == ["Book", "Book > A"]

    def test_chunks_carry_their_flags_and_returned_spans(self) -> None:
        document = Document("a", "One two three. Four.")
        chunks = self.index([document], "sentence", {"size": 2}).chunks(0)
        assert [chunk.flags for chunk in chunks] == [("over_limit",), ()]
        chunks = self.index([document], "sentence_window", {"window": 1}).chunks(0)
        assert [(chunk.start, chunk.end, chunk.returned_start, chunk.returned_end) for chunk in chunks] == [
            (0, 14, 0, 20), (15, 20, 0, 20)
        ]  # fmt: skip

    def test_documents_without_text_have_no_chunks(self) -> None:
        index = self.index([Document("x", ""), A, Document("y", " \n")])
        assert index.documents.tolist() == [1, 1, 1]
        assert len(self.index([Document("x", "")])) == 0

    def test_a_corpus_without_documents_is_an_empty_index(self) -> None:
        assert len(self.index([])) == 0

    def test_repeated_words_are_the_growth_of_the_index(self) -> None:
        """Windows of 3 stepping 1 over 6 and 4 words: 4 x 3 + 2 x 3 = 18 words for 10."""
        assert self.index(settings={"size": 3, "overlap": 2}).repeated_words == pytest.approx(18 / 10 - 1)
        assert self.index().repeated_words == 0

    def test_repeated_words_in_scope_body_are_compared_with_the_bodies(self) -> None:
        document = Document("a", "# Title words\n\none two three four\n\n# B\n\nfive")
        index = self.index([document, Document("b", "")], settings={"size": 3, "overlap": 2}, scope="body")
        assert index.repeated_words == pytest.approx((3 + 3 + 1) / 5 - 1)

    def test_the_unread_share_counts_what_no_vector_has_read(self) -> None:
        """Limit 5: 'one t' of 'one two' (4 letters of 6), 'three' of 'three four' (5 of 9), 'five ' (4 of 7)."""
        index = self.index([A])
        read_ends = index.read_ends(Scored({}, 5).read(index.texts))
        assert read_ends.tolist() == [5, 13, 24]
        assert index.unread_share(read_ends) == pytest.approx(1 - (4 + 5 + 4) / 22)
        assert index.unread_share(index.ends) == 0

    def test_what_an_overlapping_chunk_has_read_is_read(self) -> None:
        """Windows of 4 stepping 2, 8 characters read of each: 'two' is unread in no chunk but 'ur' and 'six' are."""
        index = self.index([A], settings={"size": 4, "overlap": 2})
        assert index.texts == ["one two three four", "three four five six"]
        read_ends = index.read_ends(Scored({}, 8).read(index.texts))
        assert read_ends.tolist() == [8, 16]
        assert index.unread_share(read_ends) == pytest.approx((2 + 4 + 3) / 22)

    def test_a_prefix_longer_than_what_is_read_leaves_nothing_read(self) -> None:
        index = self.index([Document("a", A.text, title="A long title")], context="title")
        read_ends = index.read_ends(Scored({}, 5).read(index.texts))
        assert read_ends.tolist() == index.starts.tolist()
        assert index.unread_share(read_ends) == 1

    def test_truncated_chunks(self) -> None:
        trial = run(Corpus((A, B), (question([passage("one")]),)), Config.of("fixed", PAIRS), Scored({}, 8))
        assert trial.truncated_chunks == 2  # 'three four' and 'green grey'


class TestConfig:
    """A configuration is checked when it is made."""

    @pytest.mark.parametrize(
        ("axes", "message"),
        [
            ({"scope": "page"}, "scope must be one of document, section, body, got 'page'"),
            ({"context": "all"}, "context must be one of none, title, heading, headings, contextual, got 'all'"),
            ({"pooling": "mean"}, "pooling must be one of .*, got 'mean'"),
            ({"search": "fuzzy"}, "search must be one of .*, got 'fuzzy'"),
            ({"repeats": "drop"}, "repeats must be one of skip, keep, got 'drop'"),
            ({"k": 0}, "k must be a whole number from 1 to 20, got 0"),
            ({"k": 21}, "k must be a whole number from 1 to 20, got 21"),
            ({"k": 2.5}, "k must be a whole number from 1 to 20, got 2.5"),
            ({"k": None}, "k must be a whole number from 1 to 20, got None"),
            ({"budget": 0}, "budget must be a whole number of words, at least 1, got 0"),
            ({"budget": "many"}, "budget must be a whole number of words, at least 1, got 'many'"),
        ],
    )
    def test_what_is_wrong_is_named_with_rule_and_value(self, axes: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Config.of("fixed", {}, **axes)

    def test_defaults_are_filled_in_and_equal_settings_are_equal(self) -> None:
        config = Config.of("fixed", {"unit": "words", "size": 200})
        assert config == Config.of("fixed")
        assert hash(config) == hash(Config.of("fixed"))
        assert config.values == {"size": 200, "overlap": 0, "unit": "words"}
        assert config != Config.of("fixed", {"size": 100})


class TestSearch:
    """A typed question."""

    def found(
        self, text: str = "what?", documents: Sequence[Document] = (A, B), **axes: Any
    ) -> list[tuple[str, float, Passage]]:
        embed = Scored({"three": 0.9, "red": 0.8, "one": 0.7}, 4)
        settings = {"child": 2, "parent": 4, "base": "fixed"}
        index = build(Corpus(tuple(documents)), Config.of("parent_child", settings, **axes), embed)
        return [(index.texts[found.row], found.score, found.span) for found in search(index, text, embed)]

    def test_each_span_comes_with_its_best_chunk(self) -> None:
        assert self.found(k=2) == [
            ("three four", pytest.approx(0.9), Passage("a", 0, 18)),
            ("red blue", pytest.approx(0.8), Passage("b", 0, 19)),
        ]

    def test_a_kept_repeat_comes_with_its_own_chunk(self) -> None:
        assert [text for text, _, _ in self.found(k=3, repeats="keep")] == ["three four", "red blue", "one two"]

    def test_a_budget_that_nothing_fits_finds_nothing(self) -> None:
        assert self.found(budget=3) == []

    def test_a_blank_question_is_refused_and_an_empty_corpus_has_no_answer(self) -> None:
        with pytest.raises(ValueError, match="question is blank"):
            self.found(" \n")
        assert self.found(documents=[Document("x", "")]) == []


def test_scores_do_not_depend_on_how_many_questions_are_asked_at_once() -> None:
    """32-bit products differ at the sixth decimal with the shape of the matrices; what is typed and what is measured agree."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(900, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    together = cosine_scores(rows[:60], rows)
    alone = np.vstack([cosine_scores(rows[place : place + 1], rows) for place in range(60)])
    assert (together == alone).all()
