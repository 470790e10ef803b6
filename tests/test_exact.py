"""Exact chunks, each derived by hand from the definitions of the strategies."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from chunking.context import prefixes
from chunking.joined import alone
from chunking.registry import cut, flag_names, flags
from chunking.types import Chunks, Document
from tests.fakes import Table, letter_pieces


def at(starts: list[int]) -> Chunks:
    """Chunks of one character at these places."""
    return Chunks.plain(np.array(starts), np.array(starts) + 1)


def texts(text: str, name: str, scope: str = "document", **settings: Any) -> list[str]:
    """The matched text of each chunk."""
    document = Document("d", text)
    return [text[start:end] for start, end, _, _ in cut(document, name, settings, scope, letter_pieces)]


def pairs(text: str, name: str, scope: str = "document", **settings: Any) -> list[tuple[str, str]]:
    """The matched and the returned text of each chunk."""
    return [(text[a:b], text[c:d]) for a, b, c, d in cut(Document("d", text), name, settings, scope, letter_pieces)]


def flagged(text: str, name: str, **settings: Any) -> list[tuple[str, ...]]:
    """The flags of each chunk."""
    document = Document("d", text)
    chunks = cut(document, name, settings, "document", letter_pieces)
    return [flag_names(bits) for bits in flags(alone(document), name, settings, chunks, letter_pieces).tolist()]


# Words, headings included: section 1 holds 2 + 2, section 2 2 + 6 (one paragraph, two sentences of 3), section 3 2 + 1.
GUIDE = "# One\n\nant bee\n\n# Two\n\nIce is cold. Fog was wet.\n\n# Three\n\nend"


class TestRecursive:
    """Split on headings, paragraphs, sentences, words as far as the limit asks; then next fit over the flat list."""

    def test_what_fits_is_one_chunk(self) -> None:
        """4 + 8 + 3 = 15 words: no section is over 15, so the pieces are the sections, and all three join."""
        assert texts(GUIDE, "recursive", size=15) == [GUIDE]

    def test_whole_sections_are_packed_across_headings(self) -> None:
        """Limit 12: pieces 4, 8, 3. 4 + 8 = 12 fits; 3 more would not."""
        assert texts(GUIDE, "recursive", size=12) == [
            "# One\n\nant bee\n\n# Two\n\nIce is cold. Fog was wet.",
            "# Three\n\nend",
        ]

    def test_only_the_section_over_the_limit_is_split_into_paragraphs(self) -> None:
        """Limit 7: section 2 (8) becomes 2, 6. Pieces 4, 2, 6, 3: 4 + 2 joins across the heading, then 6, then 3."""
        assert texts(GUIDE, "recursive", size=7) == [
            "# One\n\nant bee\n\n# Two",
            "Ice is cold. Fog was wet.",
            "# Three\n\nend",
        ]

    def test_a_heading_left_at_the_end_of_a_chunk_is_flagged(self) -> None:
        assert flagged(GUIDE, "recursive", size=7) == [("heading_last",), (), ()]

    def test_a_paragraph_over_the_limit_is_split_into_sentences(self) -> None:
        """Limit 5: section 2 becomes 2, 6 and the 6 becomes 3, 3. Pieces 4, 2, 3, 3, 3: 4 | 2 + 3 | 3 | 3."""
        cuts = ["# One\n\nant bee", "# Two\n\nIce is cold.", "Fog was wet.", "# Three\n\nend"]
        assert texts(GUIDE, "recursive", size=5) == cuts

    def test_a_sentence_over_the_limit_is_split_into_words(self) -> None:
        """Limit 2: every section is over it; headings are 2, 'ant bee' 2; the sentences of 3 become single words.

        Pieces 2, 2, 2, 1 1 1, 1 1 1, 2, 1: next fit joins 'cold.' and 'Fog' across the border of sentences.
        """
        cuts = ["# One", "ant bee", "# Two", "Ice is", "cold. Fog", "was wet.", "# Three", "end"]
        assert texts(GUIDE, "recursive", size=2) == cuts

    def test_a_heading_alone_in_its_chunk_was_parted_from_its_text(self) -> None:
        """'# One' | 'ant bee' | '# Two' | three chunks of two words | '# Three' | 'end'."""
        left = ("heading_last",)
        assert flagged(GUIDE, "recursive", size=2) == [left, (), left, (), (), (), left, ()]

    def test_a_heading_with_nothing_below_it_is_a_chunk_by_rights(self) -> None:
        assert flagged("# One\n\n# Two\n\nend", "section") == [(), ()]

    def test_overlap_repeats_whole_pieces(self) -> None:
        """Limit 4, three sentences of 2 words, one paragraph of 6 split into sentences.

        Chunk 1 takes 2 + 2. With an overlap of 3 words one piece (2) is repeated, a second (4) would be too much.
        """
        assert texts("It is. He was. We are.", "recursive", size=4, overlap=3) == ["It is. He was.", "He was. We are."]

    def test_one_word_over_the_limit_in_characters_is_kept_whole_and_flagged(self) -> None:
        """Limit 4 characters: pieces 'ab', 'abcdefghij', 'cd'. The long one stands alone; 'ab' cannot take it."""
        assert texts("ab abcdefghij cd", "recursive", size=4, unit="characters") == ["ab", "abcdefghij", "cd"]
        assert flagged("ab abcdefghij cd", "recursive", size=4, unit="characters") == [(), ("over_limit",), ()]

    def test_one_word_over_the_limit_is_cut_between_characters_on_request(self) -> None:
        """Pieces 'ab', a, b, ... j, 'cd'; a joined span counts its inner space: 'ab a' is 4, 'j cd' is 4."""
        cuts = ["ab a", "bcde", "fghi", "j cd"]
        assert texts("ab abcdefghij cd", "recursive", size=4, unit="characters", oversize="cut") == cuts
        assert flagged("ab abcdefghij cd", "recursive", size=4, unit="characters", oversize="cut") == [()] * 4

    def test_a_letter_is_not_cut_from_its_accents(self) -> None:
        """Four letters of two code points each, limit 3: one letter (2) fits, two (4) do not."""
        word = "e\u0301" * 4
        assert texts(word, "recursive", size=3, unit="characters", oversize="cut") == ["e\u0301"] * 4

    def test_one_word_over_the_limit_in_tokens(self) -> None:
        """'abcdefghij' is three tokens of 4, 4 and 2 letters; the limit is 2."""
        assert texts("abcdefghij", "recursive", size=2, unit="tokens") == ["abcdefghij"]
        assert texts("abcdefghij", "recursive", size=2, unit="tokens", oversize="cut") == ["abcdefgh", "ij"]


class TestSentence:
    """Whole sentences until the next would pass the limit."""

    TEXT = "One two. Three four five. Six. Seven eight nine ten."  # sentences of 2, 3, 1, 4 words

    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            (10, [TEXT]),
            (6, ["One two. Three four five. Six.", "Seven eight nine ten."]),
            (5, ["One two. Three four five.", "Six. Seven eight nine ten."]),
            (4, ["One two.", "Three four five. Six.", "Seven eight nine ten."]),
            (1, ["One two.", "Three four five.", "Six.", "Seven eight nine ten."]),
        ],
    )
    def test_sentences_are_packed_up_to_the_limit(self, size: int, expected: list[str]) -> None:
        assert texts(self.TEXT, "sentence", size=size) == expected

    def test_a_sentence_over_the_limit_is_kept_and_flagged(self) -> None:
        assert flagged(self.TEXT, "sentence", size=3) == [(), (), (), ("over_limit",)]

    def test_a_sentence_over_the_limit_is_cut_between_words_on_request(self) -> None:
        """Limit 3: only the last sentence (4) is taken apart, its words are packed behind 'Six.': 1 + 1 + 1 | 1 + 1."""
        cuts = ["One two.", "Three four five.", "Six. Seven eight", "nine ten."]
        assert texts(self.TEXT, "sentence", size=3, oversize="cut") == cuts

    def test_overlap_repeats_as_many_whole_sentences_as_fit_in_it(self) -> None:
        """Limit 6, overlap 4: the first chunk is 2 + 3 + 1. '3 + 1' would fit in 4, but 3 + 1 + 4 leaves no room."""
        assert texts(self.TEXT, "sentence", size=6, overlap=4) == [
            "One two. Three four five. Six.", "Six. Seven eight nine ten."
        ]  # fmt: skip

    def test_overlap_gives_way_where_a_new_sentence_would_not_fit_beside_it(self) -> None:
        """Limit 4, overlap 2: after '3 + 1' the next sentence has 4 words, so even the one-word overlap is dropped."""
        assert texts(self.TEXT, "sentence", size=4, overlap=2) == [
            "One two.", "Three four five. Six.", "Seven eight nine ten."
        ]  # fmt: skip

    def test_overlap_never_cuts_a_sentence(self) -> None:
        """Limit 5, overlap 1: the last sentence of the first chunk has 3 words: more than the overlap."""
        cuts = ["One two. Three four five.", "Six. Seven eight nine ten."]
        assert texts(self.TEXT, "sentence", size=5, overlap=1) == cuts

    def test_overlap_stops_at_a_heading_in_scope_section(self) -> None:
        """Within 'A': '# A' 2, 'One.' 1, 'Two.' 1. Limit 3, overlap 1: 2 + 1 | One. Two. Section 'B' starts afresh."""
        text = "# A\n\nOne. Two.\n\n# B\n\nThree."
        cuts = ["# A\n\nOne.", "One. Two.", "# B\n\nThree."]
        assert texts(text, "sentence", "section", size=3, overlap=1) == cuts

    def test_characters_count_the_spaces_inside(self) -> None:
        """'Ab. Cd.' is 7 characters: it fits in 7 and not in 6."""
        assert texts("Ab. Cd.", "sentence", size=7, unit="characters") == ["Ab. Cd."]
        assert texts("Ab. Cd.", "sentence", size=6, unit="characters") == ["Ab.", "Cd."]


class TestParagraph:
    """Whole paragraphs up to a limit; a heading is a paragraph of its own."""

    TEXT = "# T\n\nIt is.\n\nIce is cold. Fog was very wet.\n\nend"  # paragraphs of 2, 2, 7 (3 and 4), 1 words

    def test_paragraphs_are_packed_up_to_the_limit(self) -> None:
        assert texts(self.TEXT, "paragraph", size=8) == ["# T\n\nIt is.", "Ice is cold. Fog was very wet.\n\nend"]

    def test_a_paragraph_over_the_limit_is_kept_and_flagged(self) -> None:
        cuts = ["# T\n\nIt is.", "Ice is cold. Fog was very wet.", "end"]
        assert texts(self.TEXT, "paragraph", size=5, oversize="keep") == cuts
        assert flagged(self.TEXT, "paragraph", size=5, oversize="keep") == [(), ("over_limit",), ()]

    def test_a_paragraph_over_the_limit_is_cut_between_sentences(self) -> None:
        """Limit 5: pieces 2, 2, 3, 4, 1, packed 2 + 2 | 3 | 4 + 1."""
        assert texts(self.TEXT, "paragraph", size=5) == ["# T\n\nIt is.", "Ice is cold.", "Fog was very wet.\n\nend"]

    def test_a_sentence_over_the_limit_is_then_cut_between_words(self) -> None:
        """Limit 3: pieces 2, 2, 3, 1 1 1 1, 1, packed 2 | 2 | 3 | 3 | 1 + 1."""
        cuts = ["# T", "It is.", "Ice is cold.", "Fog was very", "wet.\n\nend"]
        assert texts(self.TEXT, "paragraph", size=3) == cuts

    def test_in_scope_body_the_heading_is_left_out(self) -> None:
        text = "# T\n\na b.\n\n# U\n\n## V\n\nc."
        assert texts(text, "paragraph", "body", size=9) == ["a b.", "c."]
        assert texts(text, "paragraph", "section", size=9) == ["# T\n\na b.", "# U", "## V\n\nc."]


class TestFixed:
    """A window of so many units that steps `size - overlap`, and stops when it reaches the end."""

    @pytest.mark.parametrize(
        ("text", "settings", "expected"),
        [
            ("ant bee cat dog", {"size": 3}, ["ant bee cat", "dog"]),
            ("ant bee cat dog", {"size": 3, "overlap": 1}, ["ant bee cat", "cat dog"]),
            ("ant bee cat dog", {"size": 3, "overlap": 2}, ["ant bee cat", "bee cat dog"]),
            ("ant bee cat dog", {"size": 4, "overlap": 3}, ["ant bee cat dog"]),
            ("ant bee\n\ncat", {"size": 2, "overlap": 1}, ["ant bee", "bee\n\ncat"]),
            ("我们 换了", {"size": 3}, ["我们 换", "了"]),
            ("abcdefghij", {"size": 5, "overlap": 2, "unit": "characters"}, ["abcde", "defgh", "ghij"]),
            # Windows 0-4 'ab c', 4-8 'd  e', 8-10 'f ': what is left at the ends is taken off.
            ("ab cd  ef ", {"size": 4, "unit": "characters"}, ["ab c", "d  e", "f"]),
            # Windows of 2 over 'a   b': 'a ', '  ', 'b'; the one of spaces alone is no chunk.
            ("a   b", {"size": 2, "unit": "characters"}, ["a", "b"]),
            # Windows of 3 stepping 1 over 'a  b': 'a  ' and '  b', each trimmed.
            ("a  b", {"size": 3, "overlap": 2, "unit": "characters"}, ["a", "b"]),
            # A letter with its accent is two code points that are not parted: one fits in 3, two do not.
            ("e\u0301e\u0301 a", {"size": 3, "unit": "characters"}, ["e\u0301", "e\u0301", "a"]),
            # Tokens: 'pump' 's' 'need' 'oil' '.'
            ("pumps need oil.", {"size": 2, "unit": "tokens"}, ["pumps", "need oil", "."]),
            ("pumps need oil.", {"size": 3, "overlap": 1, "unit": "tokens"}, ["pumps need", "need oil."]),
        ],
    )
    def test_windows(self, text: str, settings: dict[str, Any], expected: list[str]) -> None:
        assert texts(text, "fixed", **settings) == expected

    def test_each_section_has_its_own_windows(self) -> None:
        """Section 'A' holds # A a b c (5 words): 2, 2, 1; the first window of 'B' begins at its heading."""
        text = "# A\n\na b c\n\n# B\n\nd"
        assert texts(text, "fixed", "section", size=2) == ["# A", "a b", "c", "# B", "d"]
        assert texts(text, "fixed", "body", size=2) == ["a b", "c", "d"]

    def test_no_section_ends_with_an_overlap_alone(self) -> None:
        """Windows of 3 stepping 2: 5 words are 0-3 and 2-5; a window from word 4 would repeat what is there already."""
        text = "# A\n\na b c\n\n# B\n\nd"
        assert texts(text, "fixed", "section", size=3, overlap=1) == ["# A\n\na", "a b c", "# B\n\nd"]
        assert texts(text, "fixed", "body", size=2, overlap=1) == ["a b", "b c", "d"]

    def test_a_token_that_two_characters_share_is_not_parted(self) -> None:
        """A tokenizer that takes 'é' for two tokens: 1 + 2 tokens. At size 1 'é' is over the limit and whole."""

        def two_in_one(text: str) -> np.ndarray:
            return np.array([(0, 1), (1, 2), (1, 2)])

        for size, expected in ((1, [(0, 1), (1, 2)]), (2, [(0, 1), (1, 2)]), (3, [(0, 2)])):
            chunks = cut(Document("d", "aé"), "fixed", {"size": size, "unit": "tokens"}, "document", two_in_one)
            assert [chunk[:2] for chunk in chunks] == expected

    def test_tokens_that_begin_with_a_space_make_trimmed_chunks(self) -> None:
        """Tokens 'ab', ' cd', '  ', ' ef', size 1: four windows, one of them of spaces alone."""

        def spaced(text: str) -> np.ndarray:
            return np.array([(0, 2), (2, 5), (5, 7), (7, 10)])

        document = Document("d", "ab cd   ef")
        for size, expected in ((1, ["ab", "cd", "ef"]), (2, ["ab cd", "ef"]), (3, ["ab cd", "ef"])):
            chunks = cut(document, "fixed", {"size": size, "unit": "tokens"}, "document", spaced)
            assert [document.text[start:end] for start, end, _, _ in chunks] == expected


class TestSectionAndWhole:
    """The two strategies without settings."""

    def test_a_section_is_a_heading_with_its_text_up_to_the_next_heading(self) -> None:
        text = "Before.\n\n# A\n\nOne.\n\n## B\n\nTwo.\n\n## C"
        assert texts(text, "section") == ["Before.", "# A\n\nOne.", "## B\n\nTwo.", "## C"]

    def test_in_scope_body_a_section_without_text_makes_no_chunk(self) -> None:
        assert texts("Before.\n\n# A\n\nOne.\n\n## B\n\n## C\n\nTwo.", "section", "body") == ["Before.", "One.", "Two."]

    def test_whole_is_the_document_without_the_white_space_at_its_ends(self) -> None:
        assert texts("\n\n  # A\n\nOne. \n", "whole") == ["# A\n\nOne."]
        assert texts("# A\n\nOne.\n\n# B", "whole", "section") == ["# A\n\nOne.", "# B"]


class TestParentChild:
    """Children inside parents, both cut by the same base; the child is matched, the parent is returned."""

    def test_fixed(self) -> None:
        """Parents of 4 words: 'a b c d', 'e f'. Children of 3 start again in each parent."""
        expected = [("a b c", "a b c d"), ("d", "a b c d"), ("e f", "e f")]
        assert pairs("a b c d e f", "parent_child", child=3, parent=4, base="fixed") == expected

    def test_recursive(self) -> None:
        """Parents of 8: section 1 (4 words), section 2 (8), section 3 (3) -> 4 | 8 | 3. Children of 4 in each:

        section 2 is split 2, 6 -> 2, 3, 3: '# Two' cannot take 3 more; 3 | 3.
        """
        one, two, three = "# One\n\nant bee", "# Two\n\nIce is cold. Fog was wet.", "# Three\n\nend"
        expected = [(one, one), ("# Two", two), ("Ice is cold.", two), ("Fog was wet.", two), (three, three)]
        assert pairs(GUIDE, "parent_child", child=4, parent=8) == expected

    def test_a_child_as_large_as_its_parent_is_its_parent(self) -> None:
        for base in ("fixed", "recursive"):
            assert all(child == parent for child, parent in pairs(GUIDE, "parent_child", child=4, parent=4, base=base))

    def test_parents_keep_to_their_section(self) -> None:
        text = "# A\n\na b c\n\n# B\n\nd"
        expected = [("a b", "a b c"), ("c", "a b c"), ("d", "d")]
        assert pairs(text, "parent_child", "body", child=2, parent=9, base="fixed") == expected


class TestSentenceWindow:
    """One sentence is matched, and returned with its neighbours."""

    TEXT = "# A\n\nOne. Two. Three.\n\n# B\n\nFour."

    def test_the_window_is_clipped_at_the_ends(self) -> None:
        expected = [("One.", "One. Two."), ("Two.", "One. Two. Three."), ("Three.", "Two. Three.")]
        assert pairs("One. Two. Three.", "sentence_window", window=1) == expected

    def test_a_window_of_nothing_returns_the_sentence(self) -> None:
        assert pairs("One. Two.", "sentence_window", window=0) == [("One.", "One."), ("Two.", "Two.")]

    def test_the_window_stops_at_a_section(self) -> None:
        returned = [window for _, window in pairs(self.TEXT, "sentence_window", "section", window=1)]
        assert returned == [
            "# A\n\nOne.",
            "# A\n\nOne. Two.",
            "One. Two. Three.",
            "Two. Three.",
            "# B\n\nFour.",
            "# B\n\nFour.",
        ]


class TestSemantic:
    """A new chunk wherever two neighbours are unlike, or at the cap."""

    TEXT = "Pumps hum. Valves hiss. Cats purr. Dogs bark."  # four sentences of two words
    #: Cosines of neighbours: 0.8, 0 and 1.
    TABLE: ClassVar = {"Pumps hum.": (1, 0), "Valves hiss.": (4, 3), "Cats purr.": (-3, 4), "Dogs bark.": (-3, 4)}

    def cut(self, **settings: Any) -> list[str]:
        chunks = cut(Document("d", self.TEXT), "semantic", settings, embed=Table(self.TABLE))
        return [self.TEXT[start:end] for start, end, _, _ in chunks]

    @pytest.mark.parametrize(
        ("threshold", "expected"),
        [
            (-1, [TEXT]),
            (0.0, [TEXT]),  # a cosine of 0 is not below 0
            (0.01, ["Pumps hum. Valves hiss.", "Cats purr. Dogs bark."]),
            (0.8, ["Pumps hum. Valves hiss.", "Cats purr. Dogs bark."]),  # nor 0.8 below 0.8
            (0.81, ["Pumps hum.", "Valves hiss.", "Cats purr. Dogs bark."]),
            (1.0, ["Pumps hum.", "Valves hiss.", "Cats purr. Dogs bark."]),
        ],
    )
    def test_a_chunk_ends_where_the_cosine_is_below_the_threshold(self, threshold: float, expected: list[str]) -> None:
        assert self.cut(threshold=threshold) == expected

    def test_the_cap_ends_a_chunk_too(self) -> None:
        """Cap 4: two sentences of two words fit; with the break after the second the cap changes nothing."""
        assert self.cut(threshold=-1, size=4) == ["Pumps hum. Valves hiss.", "Cats purr. Dogs bark."]
        assert self.cut(threshold=-1, size=5) == ["Pumps hum. Valves hiss.", "Cats purr. Dogs bark."]
        assert self.cut(threshold=-1, size=3) == ["Pumps hum.", "Valves hiss.", "Cats purr.", "Dogs bark."]

    def test_a_sentence_over_the_cap_is_kept_or_cut(self) -> None:
        assert self.cut(threshold=0.01, size=1) == ["Pumps hum.", "Valves hiss.", "Cats purr.", "Dogs bark."]
        assert self.cut(threshold=0.01, size=1, oversize="cut") == self.TEXT.split()

    def test_words_of_a_sentence_that_was_cut_are_packed_but_not_across_a_break(self) -> None:
        """'Ant bee cat dog.' is over the cap of 3 and becomes four words: 3 | 1, and 'Eel fox.' joins where alike."""
        table = {"Ant bee cat dog.": (1, 0), "Eel fox.": (0, 1)}
        document = Document("d", "Ant bee cat dog. Eel fox.")
        for threshold, expected in ((-1, ["Ant bee cat", "dog. Eel fox."]), (0.5, ["Ant bee cat", "dog.", "Eel fox."])):
            settings = {"threshold": threshold, "size": 3, "oversize": "cut"}
            chunks = cut(document, "semantic", settings, embed=Table(table))
            assert [document.text[start:end] for start, end, _, _ in chunks] == expected


class TestContext:
    """What is put before a chunk when it is embedded."""

    TEXT = "Before.\n\n# Guide\n\nIntro.\n\n## Pumps *new*\n\nOil. Grease.\n\n# Guide\n\n## End"
    DOCUMENT = Document("d", TEXT, title="Guide", date="2024-05-01")
    PLACES = ("Before.", "# Guide", "Intro.", "## Pumps", "Oil.", "Grease.", "## End")

    def prefixes(self, context: str, document: Document = DOCUMENT) -> list[str]:
        return prefixes(document, at([self.TEXT.index(place) for place in self.PLACES]), context)

    def test_none(self) -> None:
        assert self.prefixes("none") == [""] * 7

    def test_title_is_the_documents_with_its_date(self) -> None:
        """The second chunk begins with a heading that is the title itself: only the date is left to say."""
        dated = "Guide (2024-05-01)"
        assert self.prefixes("title") == [dated, "(2024-05-01)", dated, dated, dated, dated, dated]

    def test_title_without_a_date_and_without_a_title(self) -> None:
        places = at([0])
        assert prefixes(Document("d", "Text.", title="T"), places, "title") == ["T"]
        assert prefixes(Document("d", "Text.", date="2024"), places, "title") == ["(2024)"]
        assert prefixes(Document("d", "Text."), places, "title") == [""]

    def test_heading_is_that_of_the_chunks_own_section(self) -> None:
        """A chunk that begins with its heading is not given it again, and one before the first heading has none."""
        assert self.prefixes("heading") == ["", "", "Guide", "", "Pumps *new*", "Pumps *new*", ""]

    def test_headings_is_the_title_and_the_path(self) -> None:
        """A title that is one of the headings of the path is said once; the heading a chunk begins with is left out."""
        path = "Guide > Pumps *new*"
        assert self.prefixes("headings") == ["Guide", "", "Guide", "Guide", path, path, "Guide"]

    def test_headings_with_a_title_of_its_own(self) -> None:
        titled = Document("d", self.TEXT, title="Manual")
        path = "Manual > Guide > Pumps *new*"
        below = "Manual > Guide"
        assert self.prefixes("headings", titled) == ["Manual", "Manual", below, below, path, path, below]

    def test_a_heading_without_a_title_says_nothing(self) -> None:
        document = Document("d", "# Guide\n\n##\n\nText.")
        assert prefixes(document, at([document.text.index("Text")]), "headings") == ["Guide"]
        assert prefixes(document, at([document.text.index("Text")]), "heading") == [""]

    def test_plain_text_has_no_headings(self) -> None:
        document = Document("d", "# a\n\nb", title="T", markdown=False)
        assert prefixes(document, at([5]), "headings") == ["T"]
        assert prefixes(document, at([5]), "heading") == [""]

    def test_an_unknown_context_is_refused(self) -> None:
        with pytest.raises(
            ValueError, match="context must be one of none, title, heading, headings, contextual, got 'all'"
        ):
            self.prefixes("all")
