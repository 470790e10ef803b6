"""`cluster`: pieces of at most 50 units, joined so that the likeness within chunks is as large as can be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.index import Config, build
from chunking.joined import alone
from chunking.registry import cut, flag_names, flags
from chunking.types import Corpus, Document
from tests.fakes import BagOfWords, Constant, Fake, OneHot, Table, letter_pieces
from tests.test_strategies import settings  # registers the profiles too


def cuts(text: str, embed: Fake, size: int = 50, scope: str = "document", **more: Any) -> list[str]:
    """The text of each chunk; at a size of 50 each piece is one."""
    found = cut(Document("d", text), "cluster", {"size": size, **more}, scope, letter_pieces, embed)
    return [text[start:end] for start, end, _, _ in found]


def spoken(count: int, letter: str = "w") -> str:
    """So many different words."""
    return " ".join(f"{letter}{number}" for number in range(count))


class TestPieces:
    """Cut at blank lines, line ends, full stops, question and exclamation marks, then spaces; short ones are packed."""

    def pieces(self, text: str, **more: Any) -> list[str]:
        return cuts(text, BagOfWords(), **more)

    def test_what_fits_is_one_piece(self) -> None:
        assert self.pieces(spoken(49)) == [spoken(49)]
        assert self.pieces(spoken(50)) == [spoken(50)]

    def test_words_are_packed_up_to_50(self) -> None:
        """120 words without any other separator: 50, 50, 20."""
        assert [len(piece.split()) for piece in self.pieces(spoken(120))] == [50, 50, 20]

    def test_paragraphs_are_packed_up_to_50(self) -> None:
        """20 + 20 words fit, the third does not: 40, 20. Two of 30 do not."""
        one, two, three = (spoken(20, letter) for letter in "abc")
        assert self.pieces(f"{one}\n\n{two}\n\n{three}") == [f"{one}\n\n{two}", three]
        assert self.pieces(f"{spoken(30)}\n\n{spoken(30)}") == [spoken(30)] * 2

    def test_only_a_paragraph_too_long_is_cut_at_the_next_separator(self) -> None:
        """10 words; 60 in lines of 30; 10: the lines stand alone, and what comes after one that was cut is not joined."""
        text = f"{spoken(10)}\n\n{spoken(30, 'a')}\n{spoken(30, 'b')}\n\n{spoken(10)}"
        assert self.pieces(text) == [spoken(10), spoken(30, "a"), spoken(30, "b"), spoken(10)]

    @pytest.mark.parametrize("mark", [".", "?", "!"])
    def test_a_mark_opens_the_piece_after_it_as_published(self, mark: str) -> None:
        """Sentences of 25 and 35 words."""
        one, two = spoken(25, "a"), spoken(35, "b")
        assert self.pieces(f"{one}{mark} {two}{mark}") == [one, f"{mark} {two}{mark}"]

    def test_question_marks_are_looked_at_where_there_is_no_full_stop(self) -> None:
        """'.' parts first: 30 and 60 words, the latter at '?': 30 and 30."""
        one, two, three = (spoken(30, letter) for letter in "abc")
        assert self.pieces(f"{one}. {two}? {three}") == [one, f". {two}", f"? {three}"]

    def test_a_word_too_long_in_characters_is_cut_between_them(self) -> None:
        """A separator is left with the piece after it: 'ab', then ' ' and 120 letters from where they begin."""
        found = self.pieces("ab " + "x" * 120, unit="characters")
        assert [len(piece) for piece in found] == [2, 49, 50, 21]

    def test_scripts_without_spaces_are_cut_between_characters(self) -> None:
        assert [len(piece) for piece in self.pieces("泵" * 120)] == [50, 50, 20]

    def test_white_space_is_taken_off_the_ends(self) -> None:
        text = f"\n\n {spoken(40)} \n\n\n\n  {spoken(40)}\n"
        assert self.pieces(text) == [spoken(40)] * 2

    @settings(max_examples=60)
    @given(
        st.lists(
            st.sampled_from(
                ("a", "bee", "cat dog", "x" * 24, "eel fox gnu hen ibis", ".", "?", "!", " ", "\n", "\n\n")
            ),
            max_size=40,
        ).map("".join)
    )
    def test_pieces_are_those_of_the_published_splitter(self, text: str) -> None:
        """LangChain's recursive splitter with the separators that Chroma gives it, in characters."""
        splitters = pytest.importorskip("langchain_text_splitters")
        splitter = splitters.RecursiveCharacterTextSplitter(
            separators=["\n\n", "\n", ".", "?", "!", " ", ""], chunk_size=50, chunk_overlap=0, keep_separator=True
        )
        # The splitter looks at the white space at a text's ends too, which is in no span of ours.
        text = text.strip()
        assert self.pieces(text, unit="characters") == splitter.split_text(text)

    def test_a_piece_is_embedded_as_a_document_without_the_white_space_at_its_ends(self) -> None:
        embed = OneHot()
        cuts(f" {spoken(30)}\n\n{spoken(40)} ", embed, size=100)
        assert embed.seen == {"document": [spoken(30), spoken(40)], "query": []}


def paragraph(number: int) -> str:
    """A piece of 30 characters: with the blank line before it 32, so that no two fit in 50."""
    return f"{number:02d}" * 15


def joined_pieces(vectors: Sequence[Sequence[float]], size: int) -> list[int]:
    """How many pieces each chunk holds, where the pieces have these vectors."""
    texts = [paragraph(number) for number in range(len(vectors))]
    embed = Table(dict(zip(texts, vectors, strict=True)))
    return [len(chunk.split()) for chunk in cuts("\n\n".join(texts), embed, size, unit="characters")]


RED, BLUE = (1, 0), (0, 1)


class TestLikeness:
    """The cosine less the mean over all pairs; the sum within chunks is as large as can be."""

    def test_two_alike_and_one_unlike(self) -> None:
        """Cosines 1, 0, 0, mean 1/3. {0, 1}: 2 x 2/3; {1, 2}: -2/3; all: 2 x (2/3 - 1/3 - 1/3) = 0."""
        assert joined_pieces([RED, RED, BLUE], 150) == [2, 1]
        assert joined_pieces([BLUE, RED, RED], 150) == [1, 2]

    def test_pieces_all_unlike_are_joined_where_they_are_less_unlike_than_the_mean(self) -> None:
        """Cosines 01: 0.6, 12: 0, 02: 0.8, mean 7/15: 2/15, -7/15, 5/15. {0, 1}: 4/15; all: 2 x 0 = 0."""
        assert joined_pieces([(1, 0), (0.6, 0.8), (0.8, -0.6)], 150) == [2, 1]

    def test_a_likeness_across_pays_for_an_unlike_piece_between(self) -> None:
        """Red, between, red and two blues far off. Cosines 0.6, 1, 0.6 among the first three, 0.8 and 0 with the blues.

        Pairs: 01 0.6, 02 1, 12 0.6, 03 04 23 24 0, 13 14 0.8, 34 1; mean 4.8 / 10 = 0.48.
        {0, 1, 2}: 2 x (0.12 + 0.52 + 0.12) = 1.52, {3, 4}: 2 x 0.52 = 1.04: 2.56.
        {1, 2}, {3, 4}: 0.24 + 1.04; all five: 2 x (4.8 - 10 x 0.48) = 0.
        """
        assert joined_pieces([RED, (0.6, 0.8), RED, BLUE, BLUE], 250) == [3, 2]

    def test_the_cap_is_so_many_pieces(self) -> None:
        """Three reds and three blues, mean (3 + 3) / 15 = 0.4: within a colour 0.6, across -0.4.

        At 150 all of a colour; at 100 two of them: of equals the shorter last chunk. At 50 none.
        """
        colours = [RED, RED, RED, BLUE, BLUE, BLUE]
        assert joined_pieces(colours, 300) == joined_pieces(colours, 150) == joined_pieces(colours, 199) == [3, 3]
        assert joined_pieces(colours, 99) == [1] * 6
        assert joined_pieces(colours, 100) == [2, 1, 2, 1]

    def test_pieces_all_alike_are_no_more_alike_than_the_mean(self) -> None:
        """Every likeness is 0: no segmentation is better than another, and the shortest chunks are taken."""
        assert joined_pieces([RED] * 4, 200) == [1] * 4
        assert joined_pieces([RED, BLUE], 200) == [1, 1]

    def test_a_piece_alone_is_a_chunk(self) -> None:
        assert joined_pieces([RED], 200) == [1]
        assert cuts(" \n", Constant()) == []

    def test_the_mean_is_that_of_the_section(self) -> None:
        """Section A: red, red, blue, mean 1/3, 2 + 1. Section B: three alike, mean 1: each alone.

        Were the mean over all six pieces (3 + 1 + 3 x 2 = 10 of 15 pairs, 0.667), B would be joined to one chunk.
        """
        texts = [paragraph(number) for number in range(6)]
        vectors = dict(zip(texts, [RED, RED, BLUE, RED, RED, RED], strict=True))
        document = "# A\n\n{}\n\n{}\n\n{}\n\n# B\n\n{}\n\n{}\n\n{}".format(*texts)
        found = cuts(document, Table(vectors), 150, "body", unit="characters")
        assert [len(chunk.split()) for chunk in found] == [2, 1, 1, 1, 1]

    def test_no_chunk_goes_from_one_section_or_document_to_the_next(self) -> None:
        """Red, blue | blue, red: the two blues would be best, but a border lies between them."""
        texts = [paragraph(number) for number in range(4)]
        vectors = dict(zip(texts, [RED, BLUE, BLUE, RED], strict=True))
        sections = "# A\n\n{}\n\n{}\n\n# B\n\n{}\n\n{}".format(*texts)
        assert cuts(sections, Table(vectors), 200, "body", unit="characters") == texts
        pairs = ("{}\n\n{}".format(*texts[:2]), "{}\n\n{}".format(*texts[2:]))
        documents = tuple(Document(f"d{place}", text) for place, text in enumerate(pairs))
        config = Config.of("cluster", {"size": 200, "unit": "characters"})
        assert build(Corpus(documents), config, Table(vectors)).texts == texts
        together = cuts("\n\n".join(pairs), Table(vectors), 200, unit="characters")
        assert [len(chunk.split()) for chunk in together] == [1, 2, 1]

    def test_pieces_are_embedded_once_for_all_sizes(self) -> None:
        embed, document = BagOfWords(), Document("d", f"{spoken(40, 'a')}\n\n{spoken(40, 'b')}")
        for size in (50, 100, 400):
            cut(document, "cluster", {"size": size}, embed=embed)
        assert len(embed.seen["document"]) == 2

    def test_a_token_run_that_cannot_be_cut_is_over_the_cap_and_flagged(self) -> None:
        """A tokenizer that takes one character for 60 tokens."""

        def sixty(text: str) -> np.ndarray:
            return np.array([(0, 1)] * 60 + [(2, 3)])

        document, values = Document("d", "a b"), {"size": 50, "unit": "tokens"}
        chunks = cut(document, "cluster", values, "document", sixty, BagOfWords())
        assert [chunk[:2] for chunk in chunks] == [(0, 1), (2, 3)]
        assert [flag_names(bits) for bits in flags(alone(document), "cluster", values, chunks, sixty).tolist()] == [
            ("over_limit",), ()
        ]  # fmt: skip

    @pytest.mark.parametrize("size", [49, 5001, 0, "200"])
    def test_a_size_out_of_range_is_refused(self, size: Any) -> None:
        with pytest.raises(ValueError, match=f"size must be .*{size}"):
            cuts("a", BagOfWords(), size)


@settings(max_examples=60)
@given(
    angles=st.lists(st.integers(0, 359), min_size=1, max_size=7),
    more=st.integers(0, 2**32 - 1),
    most=st.integers(1, 7),
)
def test_no_segmentation_under_the_cap_has_a_larger_sum(angles: list[int], more: int, most: int) -> None:
    """Against all 2^(n - 1) segmentations, on pieces with random vectors of three numbers."""
    heights = np.random.default_rng(more).normal(size=len(angles))
    turns = np.radians(angles)
    rows = np.column_stack((np.cos(turns), np.sin(turns), heights))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    pairs = np.triu_indices(len(rows), 1)
    likeness = cosines - (cosines[pairs].mean() if len(rows) > 1 else 0)
    np.fill_diagonal(likeness, 0)

    def worth(counts: Sequence[int]) -> float:
        edges = np.cumsum([0, *counts])
        return float(sum(likeness[a:b, a:b].sum() for a, b in pairwise(edges)))

    found = joined_pieces(rows.tolist(), 50 * most)
    assert sum(found) == len(rows)
    assert max(found) <= most
    best = max(worth(counts) for counts in segmentations(len(rows)) if max(counts) <= most)
    assert worth(found) == pytest.approx(best, abs=1e-5)


def segmentations(count: int) -> list[list[int]]:
    """All ways to part so many pieces into chunks, by the number of pieces in each."""
    if not count:
        return [[]]
    return [[first, *rest] for first in range(1, count + 1) for rest in segmentations(count - first)]
