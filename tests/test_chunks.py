"""Chunks brought along: what is read, what the audit says of each, and that spans stay as they were given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chunkscope
from chunking.types import Chunks, Document
from data.chunks import read_chunks
from data.report import ReadError, Report

BIRDS = Document("birds.txt", "Ravens are clever.\n\nOwls hunt at night.", markdown=False)
PUMPS = Document("notes/pumps.md", "# Pumps\n\nPumps run. Pumps run.\n")
FIRST = {"document": "birds.txt", "start": 0, "end": 18}  # 'Ravens are clever.'
SECOND = {"document": "birds.txt", "start": 20, "end": 39}  # 'Owls hunt at night.'


def read(value: Any, *documents: Document) -> tuple[list[Chunks], Report]:
    return read_chunks("chunks.json", json.dumps(value).encode(), documents or (BIRDS, PUMPS))


def spans(chunks: list[Chunks]) -> list[list[tuple[int, int]]]:
    """The matched spans of each document."""
    return [[(start, end) for start, end, _, _ in one] for one in chunks]


def problem(chunk: Any, *documents: Document) -> str:
    """What is said of a chunk that cannot be used, beside one that can."""
    documents = documents or (BIRDS, PUMPS)
    chunks, report = read([{"document": documents[0].id, "start": 0, "end": 3}, chunk], *documents)
    assert sum(map(len, chunks)) == 1
    [said] = report.problems
    return said


class TestShapes:
    """The file: a list, `chunks`, or one object on a line; the fields by the names that tools give them."""

    @pytest.mark.parametrize(
        "value",
        [
            [FIRST, SECOND],
            {"chunks": [FIRST, SECOND]},
            {"document": "birds", "chunks": [{"start": 0, "end": 18}, {"start": 20, "end": 39}]},
            [{"corpus": "birds.txt", "chunks": [FIRST]}, {"document": "birds.txt", "chunks": [{"start": 20, "end": 39}]}],
            [{"corpus": "birds", "start": 20, "end": 39}, FIRST],
            [{"corpus_id": "birds", "start_index": a, "end_index": b, "i": 0} for a, b in ((0, 18), (20, 39))],
            [{**FIRST, "text": "Ravens are clever."}, {**SECOND, "token_count": 4}],
            [{"document": "birds", "start_char_idx": 0, "end_char_idx": 18}, SECOND],
        ],
    )  # fmt: skip
    def test_all_shapes_give_the_same_chunks(self, value: Any) -> None:
        chunks, report = read(value)
        assert spans(chunks) == [[(0, 18), (20, 39)], []]
        assert chunks[0].heads == ()
        assert report.problems == []

    def test_one_object_on_a_line(self) -> None:
        lines = [json.dumps(FIRST), "", "{broken}", json.dumps({"document": "birds", "chunks": [SECOND, [1]]}), "7"]
        chunks, report = read_chunks("chunks.jsonl", "\r\n".join(lines).encode(), (BIRDS, PUMPS))
        assert spans(chunks) == [[(0, 18), (20, 39)], []]
        assert report.problems == [
            "line 3: this is not valid JSON",
            "line 4, chunk 2: a chunk must be a JSON object, got list",
            "line 5: a chunk must be a JSON object, got int",
        ]

    def test_a_file_of_one_line_is_one_chunk(self) -> None:
        assert spans(read(SECOND)[0]) == [[(20, 39)], []]

    def test_one_document_need_not_be_named(self) -> None:
        chunks, report = read([{"start": 0, "end": 39}], BIRDS)
        assert spans(chunks) == [[(0, 39)]]
        assert not report

    def test_chunks_come_in_order_of_start_then_end_with_what_belongs_to_them(self) -> None:
        rows = [SECOND, {**FIRST, "prefix": "Birds", "returned_start": 0, "returned_end": 39}, {**FIRST, "end": 6}]
        [chunks] = read(rows, BIRDS)[0]
        assert list(chunks) == [(0, 6, 0, 6), (0, 18, 0, 39), (20, 39, 20, 39)]
        assert chunks.heads == ("", "Birds", "")

    def test_spans_stay_as_they_are_given(self) -> None:
        """Also with white space at their ends, and where they part a word."""
        [chunks], report = read([{"start": 7, "end": 20}, {"start": 19, "end": 39}], BIRDS)
        assert spans([chunks]) == [[(7, 20), (19, 39)]]
        assert report.notes == ["in no chunk: 6 of the 32 non-space characters of 'birds.txt' (18.8%)"]

    @pytest.mark.parametrize(
        "strategy",
        [
            ["fixed", "--set", "size=3", "--set", "overlap=1"],
            ["parent_child", "--set", "child=3", "--set", "parent=6"],
            ["sentence_window", "--context", "headings"],
        ],
    )
    def test_what_our_own_cut_prints_is_read_back(
        self, strategy: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "birds.md"
        file.write_text(
            "# Birds\n\nRavens are clever. Owls hunt at night.\n\n## Gulls\n\nGulls 🐦 steal.\n", encoding="utf-8"
        )
        assert chunkscope.main(["cut", str(file), "--strategy", *strategy, "--json"]) == 0
        printed = capsys.readouterr().out
        [chunks], report = read_chunks("cut.json", printed.encode(), [Document("birds.md", file.read_text("utf-8"))])
        rows = json.loads(printed)["chunks"]
        assert list(chunks) == [(r["start"], r["end"], r["returned_start"], r["returned_end"]) for r in rows]
        assert list(chunks.heads or [""] * len(rows)) == [row["prefix"] for row in rows]
        assert not report.problems

    def test_the_order_of_the_documents_is_kept_and_names_may_end_or_not(self) -> None:
        rows = [
            {"document": "notes/pumps", "start": 9, "end": 19},
            {"document": "notes/pumps.md", "start": 0, "end": 7},
            FIRST,
        ]
        assert spans(read(rows)[0]) == [[(0, 18)], [(0, 7), (9, 19)]]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "empty"),
            (b"Ravens are clever.", "neither JSON nor JSONL"),
            (b'[{"document": "birds",\n "start": 0}\n {"end": 3}]', "neither JSON nor JSONL"),
            (b'[\n{"document": "birds.txt", "start": 0, "end": 3}\n{"document": "birds.txt", "start": 0, "end": 3}\n]', "neither"),
            (b"[" * 100_000, "neither JSON nor JSONL"),
            (b"\x00\x01\x02\xff" * 300, "not a text file"),
            (b"[]", "no chunk of the file can be used"),
            (b'{"questions": []}', "chunk 1: the document is not named"),
            (b'[{"document": "fish.txt", "start": 0, "end": 3}]', "chunk 1: there is no document 'fish.txt'"),
            (b"{x}\n{y}", "line 1: this is not valid JSON"),
            (b"null", "got NoneType"),
        ],
    )  # fmt: skip
    def test_a_file_of_which_nothing_can_be_used_is_refused_in_one_sentence(self, content: bytes, said: str) -> None:
        with pytest.raises(ReadError, match=said) as caught:
            read_chunks("chunks.json", content, (BIRDS, PUMPS))
        assert str(caught.value).startswith("chunks.json: ")
        assert "\n" not in str(caught.value)


class TestAudit:
    """What cannot be used is left out and named, row by row."""

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"document": "fish"}, "there is no document 'fish'"),
            ({"document": 5}, "there is no document 5"),
            ({"document": None}, "the document is not named, and there are 2"),
            ({"end": 40}, "the span 0 to 40 must lie in 'birds.txt' (0 to 39, characters)"),
            ({"start": -1}, "the span -1 to 18 must lie in 'birds.txt' (0 to 39, characters)"),
            ({"end": 10**30}, f"the span 0 to {10**30} must lie in 'birds.txt' (0 to 39, characters)"),
            ({"start": 18}, "the end must be above the start, got start 18 and end 18"),
            ({"start": 19, "end": 5}, "the end must be above the start, got start 19 and end 5"),
            ({"start": 18, "end": 20}, "the span 18 to 20 of 'birds.txt' is white space alone"),
            ({"start": True}, "start and end must be whole numbers, got True and 18"),
            ({"end": 18.0}, "start and end must be whole numbers, got 0 and 18.0"),
            ({"end": "18"}, "start and end must be whole numbers, got 0 and 18"),
            ({"end": None}, "start and end must be whole numbers, got 0 and None"),
            ({"start": None, "end": None}, "there are neither start and end nor a text"),
            ({"returned_start": 0}, "returned_start and returned_end must be whole numbers, got 0 and None"),
            ({"returned_start": 3, "returned_end": 99}, "the span 3 to 99 must lie in 'birds.txt' (0 to 39, characters)"),
            ({"returned_start": 18, "returned_end": 19}, "the span 18 to 19 of 'birds.txt' is white space alone"),
            ({"text": " \n"}, "the text is blank"),
            ({"text": ["Ravens"]}, "'text' must be a text, got list"),
            ({"prefix": 7}, "'prefix' must be a text, got int"),
            ({"prefix": "\ud83d"}, "'prefix' holds half a character (a lone surrogate)"),
        ],
    )  # fmt: skip
    def test_a_chunk_that_cannot_be_used(self, change: dict[str, Any], said: str) -> None:
        assert problem({**FIRST, **change}) == f"chunk 2: {said}"

    def test_a_name_of_two_documents_needs_its_ending(self) -> None:
        other = Document("birds.md", "Ravens.")
        assert "the name 'birds' is that of 2 documents" in problem({**FIRST, "document": "birds"}, BIRDS, other)
        exact = Document("birds", "Ravens.")
        assert spans(read([{"document": "birds", "start": 0, "end": 6}], BIRDS, exact)[0]) == [[], [(0, 6)]]

    def test_problems_come_in_the_order_of_the_file(self) -> None:
        wrong = {**FIRST, "text": "Owls hunt at night."}
        report = read([wrong, {"document": "fish"}, FIRST, {**wrong, "end": 400}, 3])[1]
        assert [line.split(":")[0] for line in report.problems] == ["chunk 1", "chunk 2", "chunk 4", "chunk 5"]


class TestTexts:
    """A text must stand at the offsets; without offsets it is placed where it stands, if that is one place."""

    @pytest.mark.parametrize(
        ("chunk", "said"),
        [
            ({**FIRST, "text": "Owls hunt at night."},
             "the text 'Owls hunt at night.' is not what stands at 0 to 18 of 'birds.txt'; it stands at 20 to 39"),
            ({**FIRST, "text": "Pumps run."},
             "the text 'Pumps run.' is not what stands at 0 to 18 of 'birds.txt'; "
             "it stands at 9 to 19 of 'notes/pumps.md' and again later"),
            ({**FIRST, "text": "ravens are clever."},
             "the text 'ravens are clever.' is not what stands at 0 to 18 of 'birds.txt'; it stands in no document"),
            ({"document": "birds", "text": "Gulls " * 20},
             f"the text '{('Gulls ' * 20)[:59]}…' is not in 'birds.txt', and there are no offsets"),
            ({"document": "notes/pumps", "text": "Pumps run."},
             "the text 'Pumps run.' stands in 'notes/pumps.md' more than once (at 9 and at 20): give start and end"),
            ({"text": "Owls"}, "the document is not named, and there are 2"),
        ],
    )  # fmt: skip
    def test_a_text_that_does_not_say_where_it_is(self, chunk: dict[str, Any], said: str) -> None:
        assert problem(chunk) == f"chunk 2: {said}"

    def test_a_text_without_offsets_is_placed_where_it_stands(self) -> None:
        """A tool that reads the file itself may see other line ends than we do."""
        chunks, report = read(
            [{"text": "clever.\r\n\r\nOwls"}, {"text": "Ravens are"}, {"text": "hunt at night."}], BIRDS
        )
        assert spans(chunks) == [[(0, 10), (11, 24), (25, 39)]]
        assert report.problems == []
        assert report.notes == ["placed by their text: 3 chunks without offsets"]

    def test_places_that_overlap_are_two(self) -> None:
        rhyme = Document("a.txt", "ha ha ha!", markdown=False)
        assert "(at 0 and at 3)" in problem({"text": "ha ha"}, rhyme)

    def test_white_space_alone_does_not_make_a_text_another(self) -> None:
        chunks, report = read([{"start": 0, "end": 39, "text": "Ravens are clever. Owls hunt at night. "}], BIRDS)
        assert spans(chunks) == [[(0, 39)]]
        said = "taken by their offsets: 1 chunk with a text that differs from the document in white space"
        assert report.notes == [said]


SONG = Document("song.txt", "A 🎵 café, très 🎵.\nTwo birds.\nBoth sing.", markdown=False)
PARTS = ["A 🎵", "café,", "très 🎵.\nTwo", "birds.\nBoth sing."]


def counted(encoding: str, size: int, ends: str = "\n") -> list[dict[str, Any]]:
    """The parts of the song with offsets in another unit: code units of an encoding, of `size` bytes each."""
    rows = []
    for part in PARTS:
        before = SONG.text[: SONG.text.index(part)].replace("\n", ends)
        start, length = (len(text.encode(encoding)) // size for text in (before, part.replace("\n", ends)))
        rows.append({"start": start, "end": start + length, "text": part.replace("\n", ends)})
    return rows


class TestUnits:
    """Offsets in another unit than characters are converted where the texts prove it, and only then."""

    TRUE = ((0, 3), (4, 9), (10, 21), (22, 39))

    @pytest.mark.parametrize(
        ("rows", "unit"),
        [
            (counted("utf-16-le", 2), "UTF-16 units"),
            (counted("utf-8", 1), "bytes of UTF-8"),
            (counted("utf-32-le", 4, "\r\n"), "characters with each line end as two (CR LF)"),
        ],
    )
    def test_a_unit_that_explains_all_texts_is_named_and_converted(self, rows: list[dict[str, Any]], unit: str) -> None:
        chunks, report = read(rows, SONG)
        assert spans(chunks) == [list(self.TRUE)]
        assert report.problems == []
        proof = f"the offsets count {unit}, as the texts of all 4 chunks that have one prove: they were converted"
        assert report.notes == [proof]

    def test_characters_need_no_word(self) -> None:
        chunks, report = read(counted("utf-32-le", 4), SONG)
        assert spans(chunks) == [list(self.TRUE)]
        assert not report

    def test_chunks_without_a_text_count_as_the_others_do(self) -> None:
        rows = counted("utf-8", 1)
        rows[1] = {**rows[0], "returned_start": 0, "returned_end": rows[3]["end"]}
        del rows[1]["text"]
        chunks, report = read(rows, SONG)
        assert list(chunks[0])[:2] == [(0, 3, 0, 3), (0, 3, 0, 39)]
        assert "texts of all 3 chunks" in report.notes[0]

    def test_an_offset_that_parts_a_character_is_a_problem(self) -> None:
        """The first 🎵 is bytes 2 to 6."""
        _, report = read([*counted("utf-8", 1), {"start": 3, "end": 14}], SONG)
        assert report.problems == ["chunk 5: the span 3 to 14 of 'song.txt' parts a character"]

    def test_a_unit_that_leaves_one_text_unexplained_converts_nothing(self) -> None:
        rows = [*counted("utf-8", 1), {"start": 0, "end": 3, "text": "Both"}, {"start": 0, "end": 39}]
        chunks, report = read(rows, SONG)
        assert spans(chunks) == [[(0, 39)]]
        assert len(report.problems) == 5
        assert report.notes == []

    def test_without_texts_a_unit_is_suspected_and_nothing_converted(self) -> None:
        rows = [{"start": row["start"], "end": row["end"]} for row in counted("utf-8", 1)]
        chunks, report = read(rows, SONG)
        assert spans(chunks) == [[(0, 6), (7, 13), (14, 29)]]
        assert [line.split(":")[0] for line in report.problems] == ["chunk 4"]
        assert report.notes[0].startswith("all offsets would lie in their documents if they counted bytes of UTF-8")


class TestNotes:
    """What is said of chunks that are used."""

    def test_a_span_that_is_there_twice_is_noted_and_kept(self) -> None:
        chunks, report = read([SECOND, FIRST, SECOND, FIRST, {**FIRST, "prefix": "Birds"}], BIRDS)
        assert spans(chunks) == [[(0, 18)] * 3 + [(20, 39)] * 2]
        assert report.notes == ["kept: 3 chunks with the span of an earlier one (the first: 20 to 39 of 'birds.txt')"]

    def test_text_in_no_chunk_is_counted_by_document(self) -> None:
        """Of 32 non-space characters 'Ravens' holds 6, and 'vens are' 3 more."""
        _, report = read([{**FIRST, "end": 6}, {**FIRST, "start": 2, "end": 10}], BIRDS, PUMPS, SONG)
        assert report.notes == [
            "without any chunk: 2 of 3 documents (the first: 'notes/pumps.md')",
            "in no chunk: 23 of the 32 non-space characters of 'birds.txt' (71.9%)",
        ]

    def test_nothing_is_said_where_every_character_is_held(self) -> None:
        assert not read([FIRST, SECOND], BIRDS)[1]

    def test_a_document_of_another_length_than_when_it_was_cut(self) -> None:
        value = {"document": "birds.txt", "characters": 41, "chunks": [{"start": 0, "end": 39}, {"start": 3, "end": 9}]}
        said = "'birds.txt' had 41 characters when it was cut and has 39: the offsets may not fit"
        assert read(value, BIRDS)[1].notes == [said]
        assert not read({**value, "characters": 39}, BIRDS)[1]
