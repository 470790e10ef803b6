"""`structure`: Markdown blocks inside each section, whole while they fit; the header row of a table travels along."""

from __future__ import annotations

from typing import Any

import pytest

from chunking.index import Config, build
from chunking.registry import cut, flag_names
from chunking.types import Corpus, Document
from tests.fakes import letter_pieces


def rows(text: str, size: int, *, markdown: bool = True, scope: str = "document", context: str = "none",
         title: str = "", **settings: Any) -> list[tuple[str, str]]:  # fmt: skip
    """The prefix and the matched text of each chunk."""
    corpus = Corpus((Document("d", text, title, markdown=markdown),))
    config = Config.of("structure", {"size": size, **settings}, scope=scope, context=context)
    index = build(corpus, config, token_spans=letter_pieces)
    return [(chunk.prefix, text[chunk.start : chunk.end]) for chunk in index.chunks(0)]


def texts(text: str, size: int, **more: Any) -> list[str]:
    """The matched text of each chunk, none of which has a prefix."""
    found = rows(text, size, **more)
    assert not any(prefix for prefix, _ in found)
    return [chunk for _, chunk in found]


def flagged(text: str, size: int, **settings: Any) -> list[tuple[str, ...]]:
    """The flags of each chunk."""
    index = build(Corpus((Document("d", text),)), Config.of("structure", {"size": size, **settings}))
    return [flag_names(bits) for bits in index.flags.tolist()]


#: Rows of 5 words, dashes of 1: the header row with them 6, the table 6 + 5 + 5 + 5 = 21.
HEAD = "| name | age |"
TABLE = f"{HEAD}\n|---|---|\n| Ann | 3 |\n| Bob | 4 |\n| Cyd | 5 |"
TOP = f"{HEAD}\n|---|---|"


class TestTables:
    """A table stays whole while it fits; one too long is cut between rows, and the header row goes with each chunk."""

    def test_a_table_that_fits_is_whole_and_has_no_head(self) -> None:
        assert rows(TABLE, 21) == [("", TABLE)]

    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            (20, [TOP + "\n| Ann | 3 |\n| Bob | 4 |", "| Cyd | 5 |"]),  # 6 + 5 + 5 = 16, then 5
            (15, [TOP + "\n| Ann | 3 |", "| Bob | 4 |\n| Cyd | 5 |"]),  # 6 + 5 = 11, then 10
            (10, [TOP, "| Ann | 3 |\n| Bob | 4 |", "| Cyd | 5 |"]),  # 6, then 10, then 5
            (6, [TOP, "| Ann | 3 |", "| Bob | 4 |", "| Cyd | 5 |"]),
        ],
    )
    def test_a_table_too_long_is_cut_between_rows_with_the_header_row_as_head(
        self, size: int, expected: list[str]
    ) -> None:
        """The dashes stay with the header row; the chunk that begins with it needs no head."""
        assert rows(TABLE, size) == [("", expected[0]), *((HEAD, chunk) for chunk in expected[1:])]

    def test_the_head_is_no_part_of_the_limit(self) -> None:
        """The rows have 5 words and the head 5 more: they are within a limit of 6 all the same."""
        assert flagged(TABLE, 6) == [()] * 4

    def test_a_head_comes_after_the_context(self) -> None:
        """The section is 2 + 21 words: 2 + 6 | 5 + 5 | 5 + 1 at a limit of 10."""
        text = f"# Staff\n\n{TABLE}\n\nend"
        expected = [f"# Staff\n\n{TOP}", "| Ann | 3 |\n| Bob | 4 |", "| Cyd | 5 |\n\nend"]
        assert [chunk for _, chunk in rows(text, 10)] == expected
        prefixes = [prefix for prefix, _ in rows(text, 10, context="headings", title="Book")]
        assert prefixes == ["Book", f"Book > Staff\n{HEAD}", f"Book > Staff\n{HEAD}"]
        assert [prefix for prefix, _ in rows(text, 10)] == ["", HEAD, HEAD]

    def test_only_chunks_that_begin_inside_the_table_have_the_head(self) -> None:
        """'one two' begins before the table, 'end of it' after it: 2 + 6 | 5 + 5 | 5 + 3 at a limit of 10.

        With 'end of it at last today', 6 words, the last row stands alone.
        """
        text = f"one two\n\n{TABLE}\n\nend of it"
        expected = [("", f"one two\n\n{TOP}"), (HEAD, "| Ann | 3 |\n| Bob | 4 |"), (HEAD, "| Cyd | 5 |\n\nend of it")]
        assert rows(text, 10) == expected
        assert rows(f"{text} at last today", 10)[2:] == [(HEAD, "| Cyd | 5 |"), ("", "end of it at last today")]

    def test_each_of_two_tables_has_its_own_head(self) -> None:
        """Rows of 5, header rows with their dashes of 6, at a limit of 6."""
        text = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| c | d |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |"
        heads = [prefix for prefix, _ in rows(text, 6)]
        assert heads == ["", "| a | b |", "", "| c | d |", "| c | d |"]

    def test_a_head_does_not_go_over_to_the_next_document(self) -> None:
        documents = (Document("a", TABLE), Document("b", "Ant bee cat."), Document("c", TABLE))
        index = build(Corpus(documents), Config.of("structure", {"size": 6}))
        assert index.prefixes == ["", HEAD, HEAD, HEAD, "", "", HEAD, HEAD, HEAD]

    def test_a_header_row_too_long_is_cut_between_words_like_any_row(self) -> None:
        """At a limit of 4 all is words: '| name | age' '|' + dashes + ... A chunk behind the header row has it as head."""
        found = rows(TABLE, 4)
        assert [chunk for _, chunk in found] == [
            "| name | age", "|\n|---|---|\n| Ann", "| 3 |\n|", "Bob | 4 |", "| Cyd | 5", "|"
        ]  # fmt: skip
        assert [prefix for prefix, _ in found] == ["", "", HEAD, HEAD, HEAD, HEAD]

    def test_a_row_too_long_is_cut_between_words_and_has_the_head_again(self) -> None:
        """Header row 3 + 1, then a row of 8 words, at a limit of 6: 4 + 2 | 6."""
        text = "| x |\n|---|\n| a b c d e f |"
        assert rows(text, 6) == [("", "| x |\n|---|\n| a"), ("| x |", "b c d e f |")]

    def test_a_table_without_outer_bars_and_with_alignment(self) -> None:
        text = "a | b\n:--|--:\nc | d\ne | f"
        assert rows(text, 4) == [("", "a | b\n:--|--:"), ("a | b", "c | d"), ("a | b", "e | f")]

    def test_a_table_without_body_rows(self) -> None:
        assert rows(f"{TOP}\n\nend", 6) == [("", TOP), ("", "end")]

    def test_bars_without_dashes_are_no_table(self) -> None:
        """Lines of running text: one paragraph of 15 words without an end of sentence, cut between words."""
        text = "| a | b |\n| c | d |\n| e | f |"
        assert rows(text, 6) == [("", "| a | b |\n|"), ("", "c | d |\n| e"), ("", "| f |")]

    def test_line_ends_of_windows(self) -> None:
        text = TABLE.replace("\n", "\r\n")
        expected = [
            ("", TOP.replace("\n", "\r\n")),
            (HEAD, "| Ann | 3 |"),
            (HEAD, "| Bob | 4 |"),
            (HEAD, "| Cyd | 5 |"),
        ]
        assert rows(text, 6) == expected

    def test_a_table_in_a_list_has_its_head_too(self) -> None:
        """The list is 2 + 6 + 5 + 5 + 2 = 20 words, its first item 18: at a limit of 8 it is cut between rows."""
        text = "- one\n\n  | a | b |\n  |---|---|\n  | c | d |\n  | e | f |\n- two"
        assert rows(text, 8) == [
            ("", "- one\n\n  | a | b |\n  |---|---|"),
            ("| a | b |", "| c | d |"),
            ("| a | b |", "| e | f |\n- two"),
        ]

    def test_a_table_in_a_quote_has_its_head_too(self) -> None:
        """Every line has the mark '>' as a word more: 7 + 1, 6, 6 words."""
        found = rows("> | a | b |\n> |---|---|\n> | c | d |\n> | e | f |", 8)
        assert [chunk for _, chunk in found] == ["> | a | b |\n> |---|---|", "> | c | d |", "> | e | f |"]
        assert [bool(prefix) for prefix, _ in found] == [False, True, True]
        assert all("| a | b |" in prefix and "--" not in prefix for prefix, _ in found[1:])

    def test_in_scope_body_the_head_is_still_there(self) -> None:
        found = rows(f"# Staff\n\n{TABLE}", 10, scope="body")
        assert found == [("", TOP), (HEAD, "| Ann | 3 |\n| Bob | 4 |"), (HEAD, "| Cyd | 5 |")]

    def test_kept_whole_on_request_it_is_over_the_limit_and_has_no_head(self) -> None:
        assert rows(f"{TABLE}\n\nend", 10, oversize="keep") == [("", TABLE), ("", "end")]
        assert flagged(f"{TABLE}\n\nend", 10, oversize="keep") == [("over_limit",), ()]

    def test_in_plain_text_there_is_no_table(self) -> None:
        """21 words in one paragraph."""
        found = rows(TABLE, 10, markdown=False)
        assert [prefix for prefix, _ in found] == ["", "", ""]
        assert [len(chunk.split()) for _, chunk in found] == [10, 10, 1]


class TestListsAndCode:
    """Whole while they fit, cut between items, or lines of code, where not."""

    #: A paragraph of 3 words, a list of three items of 3 words, a word.
    LIST = "Intro one two:\n\n- a b\n- c d\n- e f\n\nend"

    def test_a_list_that_fits_is_whole(self) -> None:
        """3 + 9 are over 9: the list stands alone, and 1 more does not fit. In 13 all fits."""
        assert texts(self.LIST, 9) == ["Intro one two:", "- a b\n- c d\n- e f", "end"]
        assert texts(self.LIST, 12) == ["Intro one two:\n\n- a b\n- c d\n- e f", "end"]
        assert texts(self.LIST, 13) == [self.LIST]

    def test_a_list_too_long_is_cut_between_items(self) -> None:
        """At a limit of 8: pieces 3, 3 3 3, 1 packed 3 + 3 | 3 + 3 + 1."""
        assert texts(self.LIST, 8) == ["Intro one two:\n\n- a b", "- c d\n- e f\n\nend"]
        assert texts(self.LIST, 6) == ["Intro one two:\n\n- a b", "- c d\n- e f", "end"]

    def test_an_item_is_cut_between_sentences_before_words(self) -> None:
        """Items of 1 + 3 + 3 and 3 words at a limit of 4: '- Ice is cold.' 4, 'Fog was wet.' 3, '- a b' 3."""
        assert texts("- Ice is cold. Fog was wet.\n- a b", 4) == ["- Ice is cold.", "Fog was wet.", "- a b"]

    def test_an_item_keeps_its_paragraphs_and_its_inner_list(self) -> None:
        """'- a b' + 'more' 4 words; '- c d' with '- e f' and '- g h' below it 9: whole items at a limit of 9."""
        text = "- a b\n\n  more\n\n- c d\n  - e f\n  - g h"
        assert texts(text, 9) == ["- a b\n\n  more", "- c d\n  - e f\n  - g h"]
        assert texts(text, 8) == ["- a b\n\n  more\n\n- c d", "- e f\n  - g h"]

    def test_a_numbered_list(self) -> None:
        assert texts("1. a b\n2. c d\n3. e f", 6) == ["1. a b\n2. c d", "3. e f"]

    #: Code of 1 + 1, 3, 3, 3, 1 words, the fences included: 11 in all.
    CODE = "```python\nx = 1\ny = 2\n\nz = 3\n```"

    def test_code_that_fits_is_whole(self) -> None:
        """'Intro text.' 2, the code 1 + 3 + 3 + 3 + 1 = 11, blank line and all."""
        assert texts(f"Intro text.\n\n{self.CODE}\n\nend", 11) == ["Intro text.", self.CODE, "end"]

    def test_code_too_long_is_cut_between_lines(self) -> None:
        """The opening fence stays with the first line (4 words), the closing one with the last (4): 2 + 4 | 3 | 4 + 1."""
        expected = ["Intro text.\n\n```python\nx = 1", "y = 2", "z = 3\n```\n\nend"]
        assert texts(f"Intro text.\n\n{self.CODE}\n\nend", 6) == expected

    def test_no_line_of_code_is_a_heading_or_a_table(self) -> None:
        code = "```\n# one\n| a | b |\n|---|---|\n| c | d |\n```"
        assert texts(f"# T\n\n{code}", 100) == [f"# T\n\n{code}"]
        assert texts(code, 6) == ["```\n# one", "| a | b |\n|---|---|", "| c | d |\n```"]

    def test_indented_code_is_a_block(self) -> None:
        """'One.' 1, code of 3 + 3 words."""
        assert texts("One.\n\n    x = 1\n\n    y = 2", 6) == ["One.", "x = 1\n\n    y = 2"]

    def test_a_quote_is_a_block(self) -> None:
        """'One.' 1, the quote 2 + 2 words with its marks."""
        assert texts("One.\n\n> Two.\n> Three.", 4) == ["One.", "> Two.\n> Three."]

    @pytest.mark.parametrize(
        "block", ["- a b\n- c d\n- e f", "```\na b c\nd e f\n```", "> a b c\n> d e f", "a b c d e f"]
    )
    def test_kept_whole_on_request(self, block: str) -> None:
        assert texts(f"One.\n\n{block}\n\nend", 4, oversize="keep") == ["One.", block, "end"]
        assert flagged(f"One.\n\n{block}\n\nend", 4, oversize="keep") == [(), ("over_limit",), ()]


class TestSections:
    """No chunk goes across a heading, whatever would fit."""

    TEXT = "Before.\n\n# A\n\nOne.\n\n## B\n\n- a\n- b\n\n# C"

    @pytest.mark.parametrize("scope", ["document", "section"])
    def test_a_chunk_holds_no_more_than_its_section(self, scope: str) -> None:
        assert texts(self.TEXT, 1000, scope=scope) == ["Before.", "# A\n\nOne.", "## B\n\n- a\n- b", "# C"]

    def test_in_scope_body_the_headings_are_left_out(self) -> None:
        assert texts(self.TEXT, 1000, scope="body") == ["Before.", "One.", "- a\n- b"]

    def test_a_section_starts_afresh_after_one_that_was_cut(self) -> None:
        """Limit 4: '# A' 2 and 'Ice is cold.' 3 do not join; nor does 'Fog.' with '# B', which opens a section."""
        text = "# A\n\nIce is cold.\n\nFog.\n\n# B\n\nend"
        assert texts(text, 4) == ["# A", "Ice is cold.\n\nFog.", "# B\n\nend"]
        assert flagged(text, 4) == [("heading_last",), (), ()]

    def test_a_heading_too_long_is_cut_between_words(self) -> None:
        """'# a b c' is 4 words: words all, and the text below is packed behind them."""
        assert texts("# a b c\n\nd", 3) == ["# a b", "c\n\nd"]

    def test_a_heading_in_a_list_or_quote_opens_no_section(self) -> None:
        text = "- # a\n- b\n\n> # c"
        assert texts(text, 100) == [text]

    def test_paragraphs_are_packed_and_cut_between_sentences_then_words(self) -> None:
        """Paragraphs of 2 and 6 (3 + 3) words. Limit 5: 2 + 3 | 3. Limit 2: 2, and single words by twos."""
        text = "One two.\n\nIce is cold. Fog was wet."
        assert texts(text, 8) == [text]
        assert texts(text, 6) == ["One two.", "Ice is cold. Fog was wet."]
        assert texts(text, 5) == ["One two.\n\nIce is cold.", "Fog was wet."]
        assert texts(text, 2) == ["One two.", "Ice is", "cold. Fog", "was wet."]

    def test_front_matter_and_reference_definitions_are_text_too(self) -> None:
        """Front matter of 1 + 2 + 1 words, and a line of 2 that defines a link, are blocks; the others have 3 and 1."""
        front, link = "---\ntitle: A\n---", "[ref]: http://example.org"
        text = f"{front}\n\nOne two three.\n\n{link}\n\nFour."
        assert texts(text, 4) == [front, "One two three.", f"{link}\n\nFour."]
        assert texts(text, 5) == [front, f"One two three.\n\n{link}", "Four."]

    def test_units(self) -> None:
        """'- ab' is 4 characters, the list '- ab', '- cd' 9. Tokens: '-', 'ab', '-', 'cd'."""
        assert texts("- ab\n- cd", 9, unit="characters") == ["- ab\n- cd"]
        assert texts("- ab\n- cd", 8, unit="characters") == ["- ab", "- cd"]
        assert texts("- ab\n- cd", 4, unit="tokens") == ["- ab\n- cd"]
        assert texts("- ab\n- cd", 3, unit="tokens") == ["- ab", "- cd"]

    def test_plain_text_has_paragraphs_and_list_items(self) -> None:
        """No heading, so no section: all is packed. A line with a list mark begins a block of its own."""
        text = "# One\n\ntwo\n\n- a b\n- c d"
        assert texts(text, 100, markdown=False) == [text]
        assert texts(text, 6, markdown=False) == ["# One\n\ntwo\n\n- a b", "- c d"]

    def test_white_space_alone_is_nothing(self) -> None:
        assert list(cut(Document("d", " \n\n"), "structure", {})) == []
