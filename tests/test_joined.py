"""Documents laid end to end are cut exactly as each of them alone: no cut knows what lies beside a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.index import Config, Index, assemble, build
from chunking.joined import SCOPES, Joined, alone, joined
from chunking.registry import cut, cut_joined, flags
from chunking.types import Chunks, Corpus, Document, Passage
from chunking.units import UNITS, Unit
from tests.fakes import BagOfWords, letter_pieces
from tests.test_strategies import OURS, TOKENIZERS, settings, settings_of, texts

EMBED = BagOfWords()
few, fewer = (settings(max_examples=settings.default.max_examples // part) for part in (2, 4))


class Shelf(NamedTuple):
    """Some texts, each Markdown or not, and what they are all cut with."""

    pages: list[tuple[str, bool]]
    settings: dict[str, Any]
    scope: str = "document"
    tokenizer: str = "pieces"

    @property
    def documents(self) -> tuple[Document, ...]:
        """Documents in which nothing has been found yet."""
        return tuple(
            Document(f"d{place}", text, f"Title {place}", markdown=markdown)
            for place, (text, markdown) in enumerate(self.pages)
        )


def shelves(name: str) -> st.SearchStrategy[Shelf]:
    """Up to three small documents, and everything that a strategy can be given."""
    pages = st.lists(st.tuples(texts(), st.sampled_from((True, True, False))), min_size=1, max_size=3)
    return st.builds(Shelf, pages, settings_of(name), st.sampled_from(SCOPES), st.sampled_from(tuple(TOKENIZERS)))


def rows(chunks: Chunks, base: int = 0) -> list[tuple[int, int, int, int, str]]:
    """The chunks one by one, moved by a base: what is matched, what is returned, and the head."""
    heads = chunks.heads or ("",) * len(chunks)
    return [(a + base, b + base, c + base, d + base, head) for (a, b, c, d), head in zip(chunks, heads, strict=True)]


@pytest.mark.parametrize("name", OURS)
@few
@given(data=st.data())
def test_joined_documents_are_cut_and_flagged_as_each_alone(name: str, data: st.DataObject) -> None:
    shelf = data.draw(shelves(name))
    token_spans, values = TOKENIZERS[shelf.tokenizer], shelf.settings
    source = Joined(shelf.documents)
    together = cut_joined(source, name, values, shelf.scope, token_spans, EMBED)
    cuts = [cut(document, name, values, shelf.scope, token_spans, EMBED) for document in shelf.documents]
    bases = source.bases.tolist()
    assert rows(together) == [row for one, base in zip(cuts, bases, strict=False) for row in rows(one, base)]
    pairs = zip(shelf.documents, cuts, strict=True)
    bits = [bit for one, chunks in pairs for bit in flags(alone(one), name, values, chunks, token_spans).tolist()]
    assert flags(source, name, values, together, token_spans).tolist() == bits


@pytest.mark.parametrize("name", OURS)
@fewer
@given(data=st.data())
def test_an_index_of_many_documents_is_the_indexes_of_each_in_a_row(name: str, data: st.DataObject) -> None:
    shelf = data.draw(shelves(name))
    context = data.draw(st.sampled_from(("none", "title", "heading", "headings")))
    config = Config.of(name, shelf.settings, scope=shelf.scope, context=context)
    token_spans = TOKENIZERS[shelf.tokenizer]
    together = build(Corpus(shelf.documents), config, EMBED, token_spans)
    each = [build(Corpus((document,)), config, EMBED, token_spans) for document in shelf.documents]
    assert listed(together) == [row for index in each for row in listed(index)]
    assert spans(together) == [row for index in each for row in spans(index)]
    assert together.documents.tolist() == [number for number, index in enumerate(each) for _ in range(len(index))]


@pytest.mark.parametrize("name", ["multi", "parent_child", "fixed"])
@fewer
@given(data=st.data())
def test_what_an_index_of_many_documents_holds_is_what_that_of_each_holds(name: str, data: st.DataObject) -> None:
    shelf = data.draw(shelves(name).filter(lambda shelf: any(text.strip() for text, _ in shelf.pages)))
    token_spans, config = TOKENIZERS[shelf.tokenizer], Config.of(name, shelf.settings, scope=shelf.scope)
    document = data.draw(st.sampled_from([one for one in shelf.documents if one.text.strip()]))
    places = [place for place, character in enumerate(document.text) if not character.isspace()]
    first, last = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    passage = Passage(document.id, first, last + 1)
    together = build(Corpus(shelf.documents), config, EMBED, token_spans)
    alone = build(Corpus((document,)), config, EMBED, token_spans)
    assert together.holds(passage) == alone.holds(passage)
    assert [together.spans[row] for row in together.holding(passage)] == [
        alone.spans[row] for row in alone.holding(passage)
    ]


def listed(index: Index) -> list[tuple[Any, ...]]:
    """The chunks of an index one by one, with what is kept of each."""
    columns = (index.starts, index.ends, index.flags, index.words)
    returned = [index.spans[row] for row in index.returned.tolist()]
    return list(zip(*(column.tolist() for column in columns), index.prefixes, index.texts, returned, strict=True))


def spans(index: Index) -> list[tuple[Any, ...]]:
    """The returned spans of an index, with their words and tokens."""
    assert index.span_tokens is not None
    return list(zip(index.spans, index.span_words.tolist(), index.span_tokens.tolist(), strict=True))


@few
@given(data=st.data())
def test_counts_and_rulers_are_those_of_each_document(data: st.DataObject) -> None:
    """Units of any span: what ends before its start and begins before its end."""
    pages = data.draw(st.lists(texts(), min_size=1, max_size=4))
    unit = Unit(data.draw(st.sampled_from(UNITS)), letter_pieces)
    documents = tuple(Document(f"d{place}", text) for place, text in enumerate(pages))
    source = Joined(documents)
    number = data.draw(st.integers(0, len(pages) - 1))
    ends = st.integers(0, len(pages[number]))
    first, last = (np.array([place]) for place in sorted(data.draw(st.tuples(ends, ends))))
    base, own = source.bases[number], alone(documents[number])
    long = [
        int((rule.high(last + at) - rule.low(first + at))[0])
        for rule, at in ((source.ruler(unit), base), (own.ruler(unit), 0))
    ]
    assert long[0] == long[1]
    assert source.count_words(first + base, last + base) == own.count_words(first, last)
    for one, other in ((source.solid, own.solid), (source.words_begun, own.words_begun)):
        assert one[last + base] - one[first + base] == other[last] - other[first]


class TestJoined:
    """Three documents, one of them empty: 'ant bee' at 0, '' at 8, '# T' with 'cat' at 9; one more would begin at 17."""

    DOCUMENTS = (Document("a", "ant bee"), Document("b", ""), Document("c", "# T\ncat"))

    @property
    def source(self) -> Joined:
        """The three, laid end to end."""
        return Joined(self.DOCUMENTS)

    def test_one_line_end_lies_between_two_documents(self) -> None:
        assert self.source.text == "ant bee\n\n# T\ncat"
        assert self.source.bases.tolist() == [0, 8, 9, 17]

    def test_words_and_headings_are_moved_to_their_places(self) -> None:
        assert list(zip(*(side.tolist() for side in self.source.words), strict=True)) == [
            (0, 3), (4, 7), (9, 10), (11, 12), (13, 16)
        ]  # fmt: skip
        assert [side.tolist() for side in self.source.headings] == [[9], [12]]

    def test_counts_go_on_from_one_document_to_the_next(self) -> None:
        """Letters: 3 + 3, none, 1 + 1 + 3; words begun: 2, none, 3."""
        solid, begun = self.source.solid, self.source.words_begun
        assert (len(solid), solid[7], solid[8], solid[9], solid[16]) == (17, 6, 6, 6, 11)
        assert (begun[0], begun[1], begun[7], begun[9], begun[10], begun[16]) == (0, 1, 2, 2, 3, 5)

    def test_the_number_of_the_document_that_a_position_lies_in(self) -> None:
        assert self.source.number(np.array([0, 6, 9, 15])).tolist() == [0, 0, 2, 2]

    @pytest.mark.parametrize(
        ("scope", "expected"),
        [("document", [(0, 7), (9, 16)]), ("section", [(0, 7), (9, 16)]), ("body", [(0, 7), (13, 16)])],
    )
    def test_regions_are_those_of_each_document(self, scope: str, expected: list[tuple[int, int]]) -> None:
        assert list(zip(*(side.tolist() for side in self.source.regions(scope)), strict=True)) == expected

    def test_documents_are_joined_once_for_a_corpus(self) -> None:
        corpus = Corpus(self.DOCUMENTS)
        assert joined(corpus) is joined(corpus)
        assert alone(self.DOCUMENTS[0]) is alone(self.DOCUMENTS[0])

    @pytest.mark.parametrize("name", OURS)
    @pytest.mark.parametrize("documents", [(), (Document("a", ""),), (Document("a", " \n"), Document("b", ""))])
    def test_no_text_is_cut_into_nothing(self, name: str, documents: Sequence[Document]) -> None:
        assert len(cut_joined(Joined(tuple(documents)), name, {}, embed=EMBED)) == 0
        index = build(Corpus(tuple(documents)), Config.of(name), EMBED)
        assert (len(index), index.texts, index.spans, index.repeated_words) == (0, [], [], 0)

    def test_what_is_found_in_one_document_has_no_part_in_the_windows_of_another(self) -> None:
        """'a    bcde' in windows of 4 characters: 'a   ', ' bcd', 'e', also beside an accent that is not to be parted.

        Tokens of the other kind: 'ab' ' cd' '   ' 'ef' ' gh' by twos, also beside a character that is two tokens.
        """
        plain, accented = Document("a", "a    bcde"), Document("b", "e\u0301")
        chunks = cut_joined(Joined((plain, accented)), "fixed", {"size": 4, "unit": "characters"})
        assert [chunk[:2] for chunk in chunks] == [(0, 1), (5, 8), (8, 9), (10, 12)]
        plain, shared = Document("a", "ab cd   ef gh"), Document("b", "\u00e9")
        values = {"size": 2, "unit": "tokens"}
        chunks = cut_joined(Joined((plain, shared)), "fixed", values, "document", TOKENIZERS["spaced"])
        assert [chunk[:2] for chunk in chunks] == [(0, 5), (8, 10), (11, 13), (14, 15)]

    def test_a_document_of_white_space_that_has_tokens_is_no_obstacle(self) -> None:
        """Byte-level tokenizers have tokens for white space."""
        corpus = Corpus((Document("a", "  "), Document("b", "ab cd")))
        index = build(corpus, Config.of("fixed", {"unit": "tokens", "size": 1}), token_spans=TOKENIZERS["spaced"])
        assert index.texts == ["ab", "cd"]
        assert index.span_tokens is not None
        assert index.span_tokens.tolist() == [1, 1]


class TestAssemble:
    """The index of chunks that were made elsewhere, document by document, in offsets of each."""

    DOCUMENTS = (Document("a", "ant bee cat", "A"), Document("b", " "), Document("c", "dog eel", "C"))

    def index(self, *cuts: Chunks, **axes: Any) -> Index:
        return assemble(Corpus(self.DOCUMENTS), Config("mine", (), **axes), cuts, letter_pieces)

    def chunks(self, *quadruples: tuple[int, int, int, int], heads: tuple[str, ...] = ()) -> Chunks:
        """Chunks by what is matched and what is returned."""
        return Chunks(*np.array(quadruples, np.int64).reshape(-1, 4).T, heads)

    def test_chunks_keep_their_offsets_and_share_returned_spans(self) -> None:
        of_a = self.chunks((0, 3, 0, 7), (4, 7, 0, 7), (8, 11, 8, 11))
        index = self.index(of_a, Chunks.empty(), self.chunks((0, 3, 0, 7)))
        assert index.texts == ["ant", "bee", "cat", "dog"]
        assert index.documents.tolist() == [0, 0, 0, 2]
        assert index.spans == [Passage("a", 0, 7), Passage("a", 8, 11), Passage("c", 0, 7)]
        assert index.returned.tolist() == [0, 0, 1, 2]
        assert (index.span_words.tolist(), index.words.tolist()) == ([2, 1, 2], [1, 1, 1, 1])
        assert index.flags.tolist() == [0, 0, 0, 0]

    def test_context_and_heads_are_put_before_them(self) -> None:
        of_a = self.chunks((0, 3, 0, 3), (4, 7, 4, 7), heads=("", "Head"))
        cuts = (of_a, Chunks.empty(), self.chunks((0, 3, 0, 3)))
        assert self.index(*cuts).prefixes == ["", "Head", ""]
        assert self.index(*cuts, context="title").prefixes == ["A", "A\nHead", "C"]

    def test_a_strategy_of_others_does_not_merge(self) -> None:
        """'ant bee' and 'bee cat' overlap: 'ant bee cat' is in neither."""
        index = self.index(self.chunks((0, 7, 0, 7), (4, 11, 4, 11)), Chunks.empty(), Chunks.empty())
        assert not index.merges
        assert [index.holds(Passage("a", start, end)) for start, end in ((0, 7), (4, 7), (0, 11))] == [
            True,
            True,
            False,
        ]
        assert index.holding(Passage("a", 4, 7)).tolist() == [0, 1]

    def test_white_space_at_the_ends_of_a_passage_does_not_part_it(self) -> None:
        index = self.index(self.chunks((0, 3, 0, 3), (4, 7, 4, 7)), Chunks.empty(), Chunks.empty())
        assert [index.holds(Passage("a", start, end)) for start, end in ((3, 8), (0, 4), (0, 5))] == [True, True, False]

    @few
    @given(data=st.data())
    def test_the_cuts_of_each_document_make_the_index_that_is_built(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(("structure", "parent_child", "multi", "sentence_window")))
        shelf = data.draw(shelves(name))
        token_spans, config = TOKENIZERS[shelf.tokenizer], Config.of(name, shelf.settings, context="headings")
        corpus = Corpus(shelf.documents)
        cuts = [cut(one, name, shelf.settings, "document", token_spans) for one in shelf.documents]
        made, built = assemble(corpus, config, cuts, token_spans), build(corpus, config, None, token_spans)
        assert [row[:2] + row[3:] for row in listed(made)] == [row[:2] + row[3:] for row in listed(built)]
        assert spans(made) == spans(built)
