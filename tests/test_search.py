"""Keyword search, hybrid search and late pooling, worked out by hand; and a trial under each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from chunking.experiment import Trial, read_by, run, scores_of
from chunking.experiment import search as typed
from chunking.index import POOLINGS, SEARCHES, Config, Index, build
from chunking.keyword import keyword_scores, terms_of
from chunking.pooling import late_vectors
from chunking.ranking import fused_scores, rank
from chunking.types import Corpus, Document, Ints, Passage, Question, TokenSums
from tests.fakes import Scored, Table, letter_pieces


def index_of(*texts: str, strategy: str = "whole", titles: Sequence[str] = (), settings: Mapping[str, Any] = {},
             **axes: Any) -> Index:  # fmt: skip
    """The index of documents with these texts, one chunk each where nothing else is said."""
    titles = titles or ("",) * len(texts)
    pairs = enumerate(zip(texts, titles, strict=True))
    documents = tuple(Document(f"d{place}", text, title) for place, (text, title) in pairs)
    return build(Corpus(documents), Config.of(strategy, dict(settings), **axes), token_spans=letter_pieces)


def scores(index: Index, question: str) -> list[float]:
    """The keyword score of every chunk for one question."""
    return keyword_scores(index, [question])[0].tolist()


class TestKeyword:
    """BM25 by Lucene's formula, k1 = 1.5 and b = 0.75: idf x tf / (tf + 1.5 (0.25 + 0.75 length / average))."""

    #: 3, 6 and 3 terms, 4 on average. 1.5 (0.25 + 0.75 x 3/4) = 1.21875 and 1.5 (0.25 + 0.75 x 6/4) = 2.0625.
    TEXTS = ("Oil the pump", "The pump hums, the valve hums.", "Cats eat fish")

    def test_a_term_of_two_chunks_counts_less_in_the_longer(self) -> None:
        """Idf ln(1 + 1.5/2.5) = ln 1.6 = 0.470004; x 1/2.21875 = 0.211833 and x 1/3.0625 = 0.153471."""
        assert scores(index_of(*self.TEXTS), "pump") == [0.211833, 0.153471, 0]

    def test_a_term_that_occurs_twice_counts_more_but_not_double(self) -> None:
        """ln(1 + 2.5/1.5) = 0.980829 x 2/(2 + 2.0625) = 0.482870, and 'the': ln 1.6 x 2/4.0625 = 0.231386."""
        assert scores(index_of(*self.TEXTS), "hums") == [0, 0.482870, 0]
        assert scores(index_of(*self.TEXTS), "the") == [0.211833, 0.231386, 0]

    def test_the_terms_of_a_question_add_up(self) -> None:
        """0.1534706 + 0.4828697 = 0.636340 for the second chunk; 'which' is in none."""
        assert scores(index_of(*self.TEXTS), "Which pump hums?") == [0.211833, 0.636340, 0]

    def test_each_question_has_its_own_row(self) -> None:
        index = index_of(*self.TEXTS)
        together = keyword_scores(index, ["pump", "wing", "hums"])
        assert together.tolist() == [scores(index, question) for question in ("pump", "wing", "hums")]

    @pytest.mark.parametrize("question", ["wing", "", "?!", " \n", "oi", "pum"])
    def test_a_question_without_a_term_of_the_corpus_scores_nothing(self, question: str) -> None:
        """Part of a term is another term."""
        assert scores(index_of(*self.TEXTS), question) == [0, 0, 0]

    def test_letter_case_is_folded_in_chunks_and_questions(self) -> None:
        index = index_of("Straße OIL", "Ant bee")
        assert scores(index, "STRASSE") == scores(index, "straße") == scores(index, "oil") != [0, 0]

    def test_marks_part_terms_and_belong_to_none(self) -> None:
        assert [term for _, term in terms_of('Re-set "7.5" (oil), `x`!')] == ["re", "set", "7", "5", "oil", "x"]
        assert [start for start, _ in terms_of("Re-set  oil")] == [0, 3, 8]

    def test_in_scripts_without_spaces_each_character_is_a_term(self) -> None:
        """3 and 2 terms, 2.5 on average; 坏 has idf ln 2, 泵 ln 1.2.

        1.5 (0.25 + 0.75 x 3/2.5) = 1.725: 0.693147/2.725 = 0.254366 and 0.182322/2.725 = 0.066907.
        1.5 (0.25 + 0.75 x 2/2.5) = 1.275: 0.182322/2.275 = 0.080141.
        """
        index = index_of("泵坏了。", "换泵")
        assert scores(index, "坏") == [0.254366, 0]
        assert scores(index, "泵") == [0.066907, 0.080141]
        assert scores(index, "坏泵") == [pytest.approx(0.254366 + 0.066907, abs=1.1e-6), 0.080141]
        assert [term for _, term in terms_of("ok泵坏7")] == ["ok", "泵", "坏", "7"]

    def test_a_prefix_is_indexed_with_its_chunk(self) -> None:
        """'Valves' + 'Oil it daily' are 4 terms, 'Oil daily' 2, 3 on average: 1.875 and 1.125 below.

        'valves': ln 2 / 2.875 = 0.241095. 'daily': ln 1.2 / 2.875 = 0.063416 and / 2.125 = 0.085798.
        """
        index = index_of("Oil it daily", "Oil daily", titles=("Valves", ""), context="title")
        assert scores(index, "valves") == [0.241095, 0]
        assert scores(index, "daily") == [0.063416, 0.085798]

    def test_a_title_is_not_indexed_where_it_is_not_the_context(self) -> None:
        assert scores(index_of("Oil it", "Ant", titles=("Valves", "")), "valves") == [0, 0]

    def test_the_header_row_of_a_table_is_indexed_with_the_rows_that_it_heads(self) -> None:
        table = "| name | age |\n|---|---|\n| Ann | 3 |\n| Bob | 4 |"
        index = index_of(table, strategy="structure", settings={"size": 11})
        assert index.texts[1] == "| name | age |\n| Bob | 4 |"
        assert all(scores(index, "age"))
        assert scores(index, "bob")[0] == 0 < scores(index, "bob")[1]

    def test_what_scope_body_leaves_out_is_not_indexed(self) -> None:
        """The heading is in no span, and comes back as context only."""
        settings: dict[str, Any] = {"strategy": "section", "scope": "body"}
        assert scores(index_of("# Valves\n\nOil it.", **settings), "valves") == [0]
        assert scores(index_of("# Valves\n\nOil it.", context="heading", **settings), "valves") != [0]

    def test_overlapping_chunks_both_have_what_they_share(self) -> None:
        """'ant bee' and 'bee cat': 'bee' is in both, idf ln 1.2; both of average length: 0.182322/2.5 = 0.072929."""
        index = index_of("ant bee cat", strategy="fixed", settings={"size": 2, "overlap": 1})
        assert scores(index, "bee") == [0.072929, 0.072929]

    def test_a_term_that_a_cut_parts_belongs_to_the_chunk_in_which_it_begins(self) -> None:
        """Chunks 'abc', 'def', 'gh' of the terms 'abcdef' and 'gh'."""
        index = index_of("abcdef gh", strategy="fixed", settings={"size": 3, "unit": "characters"})
        assert [score > 0 for score in scores(index, "abcdef")] == [True, False, False]
        assert scores(index, "def") == [0, 0, 0]

    def test_a_chunk_without_any_term_scores_nothing(self) -> None:
        """Lengths 0 and 2, 1 on average: 1.5 (0.25 + 0.75 x 2) = 2.625; ln 2 / 3.625 = 0.191213."""
        assert scores(index_of("...", "ant bee"), "ant") == [0, 0.191213]


class TestFusion:
    """1 / (60 + rank) from each ranking, added up."""

    def fused(self, dense: list[float], keyword: list[float]) -> list[float]:
        return fused_scores(np.array([dense]), np.array([keyword]))[0].tolist()

    def test_ranks_of_both_add_up(self) -> None:
        """By meaning 1, 2, 3; by keyword 2, 3, 1: 1/61 + 1/62, 1/62 + 1/63, 1/63 + 1/61."""
        assert self.fused([0.9, 0.5, 0.1], [5, 2, 7]) == [0.032522, 0.032002, 0.032266]

    def test_a_chunk_without_a_term_of_the_question_is_in_no_keyword_ranking(self) -> None:
        """By meaning 1, 2, 3, 4; by keyword -, 1, 2, -: 1/61, 1/62 + 1/61, 1/63 + 1/62, 1/64."""
        assert self.fused([0.9, 0.5, 0.4, 0.1], [0, 2, 1, 0]) == [0.016393, 0.032522, 0.032002, 0.015625]

    def test_ties_go_by_place_in_the_index_in_both_rankings(self) -> None:
        """By meaning 1, 2, 3 though all are alike; by keyword 2, 3, 1: as in the first test."""
        assert self.fused([0.5, 0.5, 0.5], [2, 2, 7]) == [0.032522, 0.032002, 0.032266]

    def test_a_question_without_any_term_is_ranked_by_meaning(self) -> None:
        assert self.fused([0.1, 0.9, 0.5], [0, 0, 0]) == [0.015873, 0.016393, 0.016129]

    def test_a_score_below_0_is_ranked_like_any_other(self) -> None:
        assert self.fused([-0.2, -0.1], [0, 0]) == [0.016129, 0.016393]

    def test_every_question_has_rankings_of_its_own(self) -> None:
        fused = fused_scores(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0, 1], [0, 0]]))
        assert fused.tolist() == [[0.016393, pytest.approx(1 / 62 + 1 / 61, abs=5e-7)], [0.016129, 0.016393]]


class Tokens(Table):
    """A table of question vectors, and of the vectors of the words that a document's tokens are."""

    def __init__(self, questions: Mapping[str, Sequence[float]], tokens: Mapping[str, Sequence[float]]) -> None:
        super().__init__(questions)
        self.tokens = tokens
        self.token_sums = self._token_sums
        self.summed: list[str] = []

    def _token_sums(self, texts: Sequence[str]) -> list[TokenSums]:
        self.summed += texts
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> TokenSums:
        """A token wherever a word of the table stands; what is between them belongs to none."""
        spans: list[tuple[int, int]] = []
        for word in self.tokens:
            at = text.find(word)
            while at >= 0:
                spans.append((at, at + len(word)))
                at = text.find(word, at + 1)
        spans.sort()
        rows = np.array([self.tokens[text[start:end]] for start, end in spans], float).reshape(-1, 2)
        starts, ends = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
        return TokenSums(starts, ends, np.vstack([np.zeros((1, 2)), np.cumsum(rows, axis=0)]))


class TestLatePooling:
    """A chunk's vector is the mean of the vectors of the tokens that have a character in its span."""

    def vectors(self, *texts: str, tokens: Mapping[str, Sequence[float]], **more: Any) -> list[Any]:
        found = late_vectors(index_of(*texts, pooling="late", **more), Tokens({}, tokens))
        assert found.dtype == np.float32
        return [pytest.approx(row, abs=1e-6) for row in found.tolist()]

    def test_the_mean_of_a_chunks_tokens_at_unit_length(self) -> None:
        """'red red' is (1, 0) + (1, 0); 'red blue' (1, 0) + (0, 1), of length sqrt 2; 'blue' (0, 3) of length 3."""
        pairs = {"strategy": "fixed", "settings": {"size": 2}}
        found = self.vectors("red red red blue blue", tokens={"red": (1, 0), "blue": (0, 1)}, **pairs)
        assert found == [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]]
        assert self.vectors("blue", tokens={"blue": (0, 3)}) == [[0, 1]]

    def test_tokens_are_weighed_as_they_are(self) -> None:
        """(3, 0) + (0, 4) = (3, 4), of length 5."""
        assert self.vectors("red blue", tokens={"red": (3, 0), "blue": (0, 4)}) == [[0.6, 0.8]]

    def test_a_token_that_a_cut_parts_belongs_to_both_chunks(self) -> None:
        """'pumpe red' in windows of 3 characters: 'pum', 'pe' and 'red': 'pumpe' has a character in two of them."""
        settings = {"strategy": "fixed", "settings": {"size": 3, "unit": "characters"}}
        found = self.vectors("pumpe red", tokens={"pumpe": (0, 1), "red": (1, 0)}, **settings)
        assert found == [[0, 1], [0, 1], [1, 0]]

    def test_a_token_that_only_touches_a_chunk_is_not_in_it(self) -> None:
        """'ab' and 'cd' meet where the chunks 'ab' and 'cd' meet."""
        settings = {"strategy": "fixed", "settings": {"size": 2, "unit": "characters"}}
        assert self.vectors("abcd", tokens={"ab": (1, 0), "cd": (0, 1)}, **settings) == [[1, 0], [0, 1]]

    def test_a_chunk_without_a_token_is_like_nothing(self) -> None:
        """The window '...' lies between two tokens, '!!!' behind the last, and a document has none at all."""
        settings = {"strategy": "fixed", "settings": {"size": 1}}
        found = self.vectors("red ... blue !!!", "???", tokens={"red": (1, 0), "blue": (0, 1)}, **settings)
        assert found == [[1, 0], [0, 0], [0, 1], [0, 0], [0, 0]]

    def test_the_tokens_of_a_prefix_count_like_the_chunks_own(self) -> None:
        """'Big red' before 'blue': 2 x (1, 0) + (0, 1) = (2, 1), of length sqrt 5. Before '...' it is all there is."""
        tokens = {"Big": (1, 0), "red": (1, 0), "blue": (0, 1)}
        settings = {"strategy": "fixed", "settings": {"size": 1}, "context": "title", "titles": ("Big red", "")}
        found = self.vectors("blue ...", "blue", tokens=tokens, **settings)
        assert found == [[2 / 5**0.5, 1 / 5**0.5], [1, 0], [0, 1]]

    def test_each_document_has_its_own_tokens(self) -> None:
        """The same place in another document is another token, and a document without text has none."""
        found = self.vectors("red", "", "blue", tokens={"red": (1, 0), "blue": (0, 1)})
        assert found == [[1, 0], [0, 1]]

    def test_the_model_reads_each_document_and_each_different_prefix_once_and_no_chunk(self) -> None:
        settings = {"strategy": "fixed", "settings": {"size": 1}, "context": "title", "titles": ("T", "T")}
        embed = Tokens({}, {"red": (1, 0)})
        late_vectors(index_of("red red red", "red", pooling="late", **settings), embed)
        assert embed.summed == ["red red red", "red", "T"]
        assert embed.seen["document"] == []

    @pytest.mark.parametrize("search", ["dense", "hybrid"])
    def test_an_embedder_without_token_vectors_is_refused_in_one_sentence(self, search: str) -> None:
        corpus = Corpus((Document("a", "red"),), (Question("q", "red", ((Passage("a", 0, 3),),)),))
        message = "^pooling late needs the vectors of tokens, and fake gives none: choose minilm$"
        with pytest.raises(ValueError, match=message):
            run(corpus, Config.of("whole", pooling="late", search=search), Scored({}))


#: Cut by words in twos: 'one two' 'three four' 'five six' | 'red blue' 'green grey'.
A = Document("a", "one two three four five six")
B = Document("b", "red blue green grey")


def passage(text: str, document: Document = A) -> Passage:
    """The passage of that text."""
    start = document.text.index(text)
    return Passage(document.id, start, start + len(text))


class Marked(Scored):
    """Scores by a table, a limit of characters, and token vectors: every letter is a token that leans on its score."""

    def __init__(self, scores: Mapping[str, float], limit: int | None = None) -> None:
        super().__init__(scores, limit)
        self.token_sums = lambda texts: [self._letters(text) for text in texts]
        self.asked_to_read = 0

    def read(self, texts: Sequence[str]) -> Ints:
        self.asked_to_read += 1
        return super().read(texts)

    def _letters(self, text: str) -> TokenSums:
        words = text.split(" ")
        rows = [(self.score(word), (1 - self.score(word) ** 2) ** 0.5) for word in words for _ in f"{word} "][:-1]
        places = np.arange(len(text))
        return TokenSums(places, places + 1, np.vstack([np.zeros((1, 2)), np.cumsum(rows, axis=0)]))


class TestTrials:
    """The whole line, from cutting to measures, under each search and each pooling."""

    SCORES: ClassVar = {"green": 0.96, "red": 0.8}

    def trial(self, asked: str, answer: Passage, embed: Marked, **axes: Any) -> Trial:
        corpus = Corpus((A, B), (Question("q", asked, ((answer,),)),))
        return run(corpus, Config.of("fixed", {"size": 2}, **axes), embed)

    def order(self, trial: Trial) -> list[str]:
        """The first word of each span that was sent."""
        texts = {"a": A.text, "b": B.text}
        return [texts[span.document][span.start : span.end].split()[0] for span in trial.results[0].sent]

    def test_keyword(self) -> None:
        """'five six' and 'red blue' tie, the rest has nothing of the question: all ties go by place."""
        trial = self.trial("Red five", passage("six"), Marked(self.SCORES), search="keyword")
        assert self.order(trial) == ["five", "red", "one", "three", "green"]
        assert (trial.results[0].rank, trial.results[0].hit, trial.hit_rate) == (1, True, 1)

    def test_keyword_asks_nothing_of_the_embedder(self) -> None:
        embed = Marked(self.SCORES, 3)
        trial = self.trial("Red five", passage("six"), embed, search="keyword")
        assert (embed.seen, embed.asked_to_read) == ({"document": [], "query": []}, 0)
        assert (trial.embedder, trial.truncated_chunks) == ("fake", 0)

    def test_hybrid(self) -> None:
        """By meaning green, red, one, three, five; by keyword five, red.

        red 1/62 + 1/62 = 0.032258, five 1/65 + 1/61 = 0.031778, green 1/61, one 1/63, three 1/64.
        """
        trial = self.trial("Red five", passage("six"), Marked(self.SCORES), search="hybrid")
        assert self.order(trial) == ["red", "five", "green", "one", "three"]
        assert trial.results[0].rank == 2

    def test_dense_and_late(self) -> None:
        """By meaning green, red, then the ties by place; late pooling of letters leans the same way.

        'red blue': 3 letters and the space of (0.8, 0.6), 4 of (0, 1): (3.2, 6.4). 'green grey': 5 letters and the space
        of (0.96, 0.28), 4 of (0, 1): (5.76, 5.68). The cosine with (1, 0) is the first number over the length.
        """
        isolated = self.trial("?", passage("six"), Marked(self.SCORES))
        late = self.trial("?", passage("six"), Marked(self.SCORES), pooling="late")
        assert self.order(isolated) == self.order(late) == ["green", "red", "one", "three", "five"]
        found = scores_of(late.index, ["?"], Marked(self.SCORES))[0].tolist()
        expected = [0, 0, 0, 3.2 / (3.2**2 + 6.4**2) ** 0.5, 5.76 / (5.76**2 + 5.68**2) ** 0.5]
        assert found == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("search", SEARCHES)
    @pytest.mark.parametrize("pooling", POOLINGS)
    def test_only_dense_search_of_isolated_vectors_truncates(self, search: str, pooling: str) -> None:
        """Of 'five six' the first 5 characters are read: 'six' is never read, and under the others it is outranked."""
        trial = self.trial("green", passage("six"), Marked(self.SCORES, 5), search=search, pooling=pooling, k=1)
        dense = search == "dense" and pooling == "isolated"
        assert trial.results[0].reason == ("truncated" if dense else "outranked_other_document")
        assert sum(trial.misses.values()) == 1

    @pytest.mark.parametrize(
        ("axes", "isolated"),
        [
            ({"search": "dense"}, True),
            ({"search": "hybrid"}, True),
            ({"search": "keyword"}, False),
            ({"search": "dense", "pooling": "late"}, False),
            ({"search": "hybrid", "pooling": "late"}, False),
            ({"search": "keyword", "pooling": "late"}, False),
        ],
    )
    def test_a_chunk_is_read_to_its_end_where_no_vector_stands_for_it_alone(
        self, axes: Mapping[str, str], isolated: bool
    ) -> None:
        """Of each chunk 5 characters are read: 0 + 5, 8 + 5, 19 + 5, 0 + 5, 9 + 5; the ends are 7, 18, 27, 8, 19."""
        embed = Marked(self.SCORES, 5)
        trial = self.trial("red", passage("six"), embed, **axes)
        assert trial.read_ends.tolist() == ([5, 13, 24, 5, 14] if isolated else [7, 18, 27, 8, 19])
        assert trial.truncated_chunks == (5 if isolated else 0)
        assert read_by(trial.index, embed).tolist() == trial.read_ends.tolist()

    @pytest.mark.parametrize("search", SEARCHES)
    def test_split_and_hits_are_what_they_are_under_every_search(self, search: str) -> None:
        split = self.trial("red", passage("two three"), Marked(self.SCORES), search=search, k=20)
        assert (split.results[0].reason, split.split_share) == ("split", 1)
        assert self.trial("red", passage("six"), Marked(self.SCORES), search=search, k=20).results[0].hit

    @pytest.mark.parametrize("search", SEARCHES)
    @pytest.mark.parametrize("pooling", POOLINGS)
    def test_a_question_typed_is_ranked_like_one_measured(self, search: str, pooling: str) -> None:
        embed = Marked(self.SCORES, 5)
        trial = self.trial("Red five", passage("six"), embed, search=search, pooling=pooling)
        assert [found.span for found in typed(trial.index, "Red five", embed)] == list(trial.results[0].sent)
        scores = scores_of(trial.index, ["Red five"], embed)
        rows = rank(scores)[0].tolist()
        for place, found in enumerate(typed(trial.index, "Red five", embed)):
            assert (found.row, found.score) == (rows[place], scores[0, rows[place]])
            assert found.read_end == trial.read_ends[found.row]
