"""What is found in a document once: words, sentences, paragraphs, headings, sections."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from chunking.segments import blocks, count_words, heading_of, headings, section_starts, solid, words
from chunking.types import Document, Ints
from chunking.words import word_spans

SHRUG = "\U0001f937\U0001f3fd\u200d\u2640\ufe0f"  # one sign of five code points


def word_list(text: str) -> list[str]:
    """The words of a text."""
    return [text[start:end] for start, end in zip(*word_spans(text), strict=True)]


def tiles(text: str, starts: Ints) -> list[str]:
    """The text of each tile, without white space at its ends."""
    return [text[start:stop].strip() for start, stop in pairwise([*starts.tolist(), len(text)])]


def sentences(text: str, markdown: bool = True) -> list[str]:
    """The sentences of a document."""
    return tiles(text, blocks(Document("d", text, markdown=markdown)).sentences)


def paragraphs(text: str, markdown: bool = True) -> list[str]:
    """The paragraphs of a document."""
    return tiles(text, blocks(Document("d", text, markdown=markdown)).paragraphs)


def titles(text: str, markdown: bool = True) -> list[tuple[int, str, str]]:
    """Level, title and source of each heading."""
    return [
        (head.level, head.title, text[head.start : head.end])
        for head in headings(Document("d", text, markdown=markdown))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u00a0\u3000", []),
        ("one  two\nthree", ["one", "two", "three"]),
        ("it's re-use a_b c.d", ["it's", "re-use", "a_b", "c.d"]),
        ("a\u00a0b\u2003c\x1cd\u2028e", ["a", "b", "c", "d", "e"]),
        ("泵坏了。ok", ["泵", "坏", "了。", "ok"]),
        ("我们用GPU跑", ["我", "们", "用", "GPU", "跑"]),
        ("「新」的", ["「新」", "的"]),
        ("(新)（的）", ["(新)", "（的）"]),
        ("ポンプ", ["ポ", "ン", "プ"]),
        ("コーヒー", ["コー", "ヒー"]),
        ("が\u304b\u3099", ["が", "\u304b\u3099"]),
        ("กิน", ["กิ", "น"]),
        ("ខ្ញុំ", ["ខ្", "ញុំ"]),
        ("မြန်", ["မြ", "န်"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("cafe\u0301 re\u0301sume\u0301", ["cafe\u0301", "re\u0301sume\u0301"]),
        (f"{SHRUG} \U0001f600\U0001f600", [SHRUG, "\U0001f600\U0001f600"]),
        ("\U00020000\U00020001", ["\U00020000", "\U00020001"]),
        ("a\ud800b \udfff", ["a\ud800b", "\udfff"]),
        ("\u200bx", ["\u200bx"]),
    ],
)  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    """Runs of non-space characters; in scripts without spaces each character with its marks and punctuation."""
    assert word_list(text) == expected


def test_words_agree_with_split_where_there_are_spaces() -> None:
    text = "".join(chr(code) for code in range(0x3400) if not 0xE00 <= code <= 0x109F and not 0x1780 <= code <= 0x19FF)
    text = "".join(c for c in text if ord(c) < 0x3005)
    assert word_list(text) == text.split()


def test_lengths_count_non_space_characters() -> None:
    assert solid(Document("d", "a b\n\nc")).tolist() == [0, 1, 1, 2, 2, 2, 3]
    assert solid(Document("d", "")).tolist() == [0]


def test_a_word_that_a_span_cuts_counts_on_both_sides() -> None:
    document = Document("d", "ant bee cat")
    spans = [(0, 3), (0, 5), (5, 11), (3, 4), (0, 11), (3, 8)]
    starts, ends = np.array(spans).T
    assert count_words(document, starts, ends).tolist() == [1, 2, 2, 0, 3, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Ito met Mrs. Ray. They spoke.", ["Dr. Ito met Mrs. Ray.", "They spoke."]),
        ("It costs 3.50 euros. Cheap!", ["It costs 3.50 euros.", "Cheap!"]),
        ("Call obj.reset() in main.py. Then wait.", ["Call obj.reset() in main.py.", "Then wait."]),
        ("Use filters, e.g. a mesh. Clean them.", ["Use filters, e.g. a mesh.", "Clean them."]),
        ("Shown by Ito et al. [12] in May. Later too.", ["Shown by Ito et al. [12] in May.", "Later too."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("**Bold ends.** Next one.", ["**Bold ends.**", "Next one."]),
        ("A note.[^1] Next one.", ["A note.[^1]", "Next one."]),
        ("Run `make`. Wait.", ["Run `make`.", "Wait."]),
        ("泵坏了。我们换了新的！好吗？", ["泵坏了。", "我们换了新的！", "好吗？"]),
        ("ポンプが壊れた。新しいのを買った。", ["ポンプが壊れた。", "新しいのを買った。"]),
        ("यह पंप है। वह वाल्व है।", ["यह पंप है।", "वह वाल्व है।"]),
        ("هل يعمل؟ نعم.", ["هل يعمل؟", "نعم."]),
        ("one line\nruns on. Next.", ["one line\nruns on.", "Next."]),
        ("A\ud800b. Next one.", ["A\ud800b.", "Next one."]),
        ("- One. Two.\n- Three.", ["- One.", "Two.", "- Three."]),
        ("1. Red. Blue.\n2. Green.", ["1. Red.", "Blue.", "2. Green."]),
        ("- [ ] Do it. Now.", ["- [ ] Do it.", "Now."]),
        ("> A quote. Goes on.", ["> A quote.", "Goes on."]),
        ("# A title. With a stop\n\nText.", ["# A title. With a stop", "Text."]),
        ("Title\n===\nText.", ["Title\n===", "Text."]),
        ("| a. b | c |\n|---|---|\n| d. e | f |", ["| a. b | c |\n|---|---|", "| d. e | f |"]),
        ("```py\nx = 1\n\ny = 2\n```", ["```py\nx = 1", "y = 2\n```"]),
        ("```\n```", ["```\n```"]),
        ("    x = 1\n    y = 2", ["x = 1", "y = 2"]),
        ("One.\n\n---\n\nTwo.", ["One.\n\n---", "Two."]),
        ("<div>\nOne. Two.\n</div>", ["<div>\nOne. Two.\n</div>"]),
        ("One.\r\n\r\nTwo.\rStill.", ["One.", "Two.", "Still."]),
        ("[a]: http://x.org\n\nText.", ["[a]: http://x.org", "Text."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Sentences run inside blocks; a heading, a table row, a line of code and a list item are each at least one."""
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\nStill one.\n\nTwo.", ["One.\nStill one.", "Two."]),
        ("One.\n \t\nTwo.", ["One.", "Two."]),
        ("One.\r\n\r\nTwo.", ["One.", "Two."]),
        ("# A\nText.\n# B", ["# A", "Text.", "# B"]),
        ("- one\n- two\n\n- three", ["- one\n- two", "- three"]),
        ("```\na\n\nb\n```\n\nText.", ["```\na\n\nb\n```", "Text."]),
        ("```\nnever closed\n\n# no heading", ["```\nnever closed\n\n# no heading"]),
        ("    a\n\n    b\n\nText.", ["a\n\n    b", "Text."]),
        ("| a |\n|---|\n| b |\n\nText.", ["| a |\n|---|\n| b |", "Text."]),
        ("One.\n\n***\n\nTwo.", ["One.\n\n***", "Two."]),
        ("---\na: 1\n\nb: 2\n---\nText.", ["---\na: 1\n\nb: 2\n---", "Text."]),
        ("One.\n\n\u00a0\n\nTwo.", ["One.", "Two."]),
    ],
)
def test_paragraphs(text: str, expected: list[str]) -> None:
    """Blank lines part paragraphs, but not those inside code; a heading is a paragraph of its own, a rule is none."""
    assert paragraphs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n## B ##\n\n###### C", [(1, "A", "# A"), (2, "B", "## B ##"), (6, "C", "###### C")]),
        ("#no\n\n####### seven\n\n    # code\n\n\\# escaped", []),
        ("   # three spaces", [(1, "three spaces", "# three spaces")]),
        ("#", [(1, "", "#")]),
        ("Title\n===\n\nSub\ntitle\n---", [(1, "Title", "Title\n==="), (2, "Sub title", "Sub\ntitle\n---")]),
        ("Text\n\n---\n\n# A", [(1, "A", "# A")]),
        ("```\n# no\n```\n\n~~~\n# no\n```\n# no\n~~~\n\n# yes", [(1, "yes", "# yes")]),
        ("````\n```\n# no\n````\n# yes", [(1, "yes", "# yes")]),
        ("> # quoted\n\n- # listed\n\n<div>\n# raw\n</div>\n\n# yes", [(1, "yes", "# yes")]),
        ("---\ntitle: x\n# comment\n---\n# A", [(1, "A", "# A")]),
        ("# `a` *b* [c](x) &amp; C\\#", [(1, "`a` *b* [c](x) &amp; C\\#", "# `a` *b* [c](x) &amp; C\\#")]),
        ("# C#\n\n# T #1 #", [(1, "C#", "# C#"), (1, "T #1", "# T #1 #")]),
        ("# A\r\nText\r\n## B\r\n", [(1, "A", "# A"), (2, "B", "## B")]),
        ("# <a name='x'></a> Anchored", [(1, "<a name='x'></a> Anchored", "# <a name='x'></a> Anchored")]),
        ("# \ud800 half", [(1, "\ud800 half", "# \ud800 half")]),
        ("# [half](\ud800)", [(1, "[half](\ud800)", "# [half](\ud800)")]),
    ],
)  # fmt: skip
def test_headings(text: str, expected: list[tuple[int, str, str]]) -> None:
    """Headings as CommonMark has them, outside of code, quotes, lists and front matter; titles as they are written."""
    assert titles(text) == expected


def test_plain_text_has_paragraphs_and_list_items_but_no_headings() -> None:
    text = "# Not a title\n===\n\n- one. Two.\n- three\n\n    Indented. Prose.\n\n```\na. B.\n```"
    assert titles(text, markdown=False) == []
    assert paragraphs(text, markdown=False) == [
        "# Not a title\n===",
        "- one. Two.\n- three",
        "Indented. Prose.",
        "```\na. B.\n```",
    ]
    assert sentences(text, markdown=False)[1:4] == ["- one.", "Two.", "- three"]
    assert "Indented." in sentences(text, markdown=False)


def test_a_path_skips_levels_and_never_holds_a_heading_of_the_same_level() -> None:
    text = "# A\n\n### B\n\n## C\n\n### D\n\n# E"
    assert [head.path for head in headings(Document("d", text))] == [
        ("A",),
        ("A", "B"),
        ("A", "C"),
        ("A", "C", "D"),
        ("E",),
    ]


def test_sections_begin_at_the_first_word_and_at_every_heading() -> None:
    text = "\n Before.\n\n# A\n\nOne.\n\nB\n===\nTwo."
    document = Document("d", text)
    assert tiles(text, section_starts(document)) == ["Before.", "# A\n\nOne.", "B\n===\nTwo."]
    places = np.array([text.index(word) for word in ("Before", "# A", "One", "B\n", "Two")])
    assert heading_of(document, places).tolist() == [-1, 0, 0, 1, 1]
    assert heading_of(Document("d", "No heading."), np.array([0])).tolist() == [-1]


def test_every_sentence_lies_in_one_paragraph_and_every_paragraph_in_one_section() -> None:
    text = "---\na: b\n---\nOne. Two.\n\n# A\n- x. Y.\n\n***\n\n| a |\n|---|\n| b |\n\n[r]: http://x\n\nB\n---\n```\nc\n\nd\n```"
    found = blocks(Document("d", text))
    assert set(found.paragraphs.tolist()) <= set(found.sentences.tolist())
    assert set(section_starts(Document("d", text)).tolist()) <= set(found.paragraphs.tolist())


def test_what_was_found_is_kept() -> None:
    document = Document("d", "# A\n\nOne. Two.")
    assert words(document) is words(document)
    assert blocks(document) is blocks(document)
    assert section_starts(document) is section_starts(document)


@pytest.mark.parametrize("run", ["\n", " ", "x", "#", ">", "- ", "*", "[", "`", "(", "|", "。", "\u0301", "a. "])
def test_long_runs_of_one_sign_take_no_more_than_a_moment(run: str) -> None:
    text = "Start. " + run * (20_000 // len(run)) + "\n\nEnd."
    begin = time.perf_counter()
    blocks(Document("d", text))
    assert time.perf_counter() - begin < 3


def test_a_long_block_in_a_script_without_spaces_takes_time_in_proportion() -> None:
    """88,000 characters in one block: every full stop still ends a sentence, across the portions too."""
    text = "泵坏了。我们换了新的！" * 8000
    starts = blocks(Document("d", text)).sentences
    assert len(starts) == 16_000
    assert set(np.diff(starts).tolist()) == {4, 7}
