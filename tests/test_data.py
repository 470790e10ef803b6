"""Readers: what is read, what is reported, and that nothing is lost without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunking.types import Document, Passage
from data.bundled import bundled, load
from data.documents import read_document, read_files, read_folder
from data.matching import find_all
from data.questions import Row, read_questions, read_rows
from data.report import ReadError

PUMPS = Document(
    "pumps.md", "# Pumps\n\nPumps run at night. Pumps run at night.\n\n## Valves\n\nThe blue valve is open.\n"
)
BIRDS = Document("birds.txt", "Ravens are clever. The blue valve is open.\n", markdown=False)


def asked(rows: list[dict | str], *documents: Document) -> tuple:
    lines = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return read_questions("q.jsonl", lines.encode(), documents or (PUMPS, BIRDS))


class TestDocuments:
    def test_the_bundled_corpus_has_no_problem(self) -> None:
        corpus, report = bundled()
        assert not report
        assert len(corpus.documents) >= 8
        assert len(corpus.questions) >= 30

    def test_title_and_date_come_from_front_matter_then_the_first_heading_then_the_name(self) -> None:
        titles = {
            "---\ntitle: Notes\ndate: 2026-01-02\n---\n# Other\n\nText.": ("Notes", "2026-01-02"),
            "---\ndate: January\n---\n# Other\n\nText.": ("Other", "January"),
            "## Low\n\nText.\n\n# High\n\nMore.": ("High", ""),
            "Text.": ("file", ""),
            "---\ntitle: T\ndate: 2024-02-30\n---\n\nText.": ("T", "2024-02-30"),
            "---\ntitle: 0x_\nx: !!int zzz\n---\n\nText.": ("0x_", ""),
            "---\n: [broken\n---\n\nText.": ("file", ""),
        }
        for text, expected in titles.items():
            document, _ = read_document("file.md", text.encode())
            assert (document.title, document.date) == expected

    def test_plain_text_has_no_headings(self) -> None:
        document, _ = read_document("file.txt", b"# not a heading\n\nText.")
        assert document.title == "file"
        assert not document.markdown

    def test_a_byte_order_mark_is_no_part_of_the_text(self) -> None:
        for content in ("\ufeff# Title\n".encode(), "# Title\n".encode("utf-16")):
            assert read_document("a.md", content)[0].text == "# Title\n"

    def test_line_ends_are_made_one_and_that_is_said(self) -> None:
        document, notes = read_document("a.md", b"One.\r\nTwo.\rThree.\n")
        assert document.text == "One.\nTwo.\nThree.\n"
        assert "line ends" in notes[0]

    def test_windows_1252_is_read_and_named(self) -> None:
        document, notes = read_document("a.txt", "It’s 20°C – café: 5€.".encode("cp1252"))
        assert document.text == "It’s 20°C – café: 5€."
        assert "Windows-1252" in notes[0]

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.txt", b"PK\x03\x04" + bytes(range(256)) * 4, "not a text file"), ("a.txt", b"", "empty"), ("a.md", b" \n\t\n", "empty"),
            ("a.pdf", b"%PDF", "not supported"), ("a", b"text", "not supported"),
        ],
    )  # fmt: skip
    def test_what_is_no_text_is_refused_in_one_sentence(self, name: str, content: bytes, said: str) -> None:
        with pytest.raises(ReadError, match=said):
            read_document(name, content)

    def test_one_bad_file_does_not_lose_the_others(self) -> None:
        documents, report = read_files([("a.md", b"One."), ("b.txt", b""), ("c.txt", b"Three.")])
        assert [document.id for document in documents] == ["a.md", "c.txt"]
        assert len(report.problems) == 1

    def test_two_files_of_one_name_are_kept_apart_and_a_double_is_taken_once(self) -> None:
        documents, report = read_files(
            [("notes.md", b"One."), ("notes.md", b"Two."), ("notes.md", b"One."), ("notes.md", b"Four.")]
        )
        assert [(document.id, document.text) for document in documents] == [
            ("notes.md", "One."), ("notes (2).md", "Two."), ("notes (3).md", "Four."),
        ]  # fmt: skip
        assert len(report.notes) == 3

    def test_documents_are_named_by_their_path_below_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "x.md").write_text("X.")
        (tmp_path / "a.txt").write_text("A.")
        (tmp_path / "c.csv").write_text("no document")
        documents, report = read_folder(tmp_path)
        assert [document.id for document in documents] == ["a.txt", "b/x.md"]
        assert not report

    def test_a_folder_without_documents_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="has no file"):
            read_folder(tmp_path)
        with pytest.raises(ReadError, match="there is no folder"):
            read_folder(tmp_path / "gone")
        (tmp_path / "a.md").write_text("A.")
        with pytest.raises(ReadError, match="there is no file"):
            load(tmp_path, tmp_path / "q.csv")


class TestQuestions:
    def test_a_passage_is_found_in_the_only_document_that_has_it(self) -> None:
        questions, report = asked([{"question": "Who is clever?", "passage": "Ravens are clever."}])
        assert not report
        assert questions[0].needs == ((Passage("birds.txt", 0, 18),),)
        assert questions[0].id == "q1"

    def test_every_identical_occurrence_is_interchangeable(self) -> None:
        questions, _ = asked([{"question": "When?", "passage": "Pumps run at night.", "document": "pumps"}])
        assert questions[0].needs == ((Passage("pumps.md", 9, 28), Passage("pumps.md", 29, 48)),)

    def test_all_makes_one_need_of_each_passage_and_any_one_need_of_them_all(self) -> None:
        both = {"question": "?", "passages": ["# Pumps", "The blue valve is open."], "document": "pumps.md"}
        (every,), _ = asked([{**both, "require": "all"}])
        (any_of,), _ = asked([{**both, "require": "any"}])
        assert every.needs == ((Passage("pumps.md", 0, 7),), (Passage("pumps.md", 61, 84),))
        assert any_of.needs == ((Passage("pumps.md", 0, 7), Passage("pumps.md", 61, 84)),)

    def test_offsets_alone_are_a_passage_without_white_space_at_its_ends(self) -> None:
        questions, report = asked([{"question": "?", "document": "birds", "start": 18, "end": 42}])
        assert not report
        assert questions[0].needs == ((Passage("birds.txt", 19, 42),),)

    def test_offsets_that_do_not_fit_their_passage_are_corrected_and_said(self) -> None:
        row = {"question": "?", "document": "birds", "passage": "The blue valve is open.", "start": 20, "end": 43}
        questions, report = asked([row])
        assert questions[0].needs == ((Passage("birds.txt", 19, 42),),)
        assert "corrected" in report.notes[0]

    def test_restatements_go_with_their_need(self) -> None:
        questions, report = asked(
            [
                {
                    "question": "?",
                    "document": "birds",
                    "passage": "Ravens are clever.",
                    "also": ["The blue valve is open."],
                }
            ]
        )
        assert not report
        assert questions[0].also == ((Passage("birds.txt", 19, 42),),)

    def test_a_phrase_with_its_section_is_a_passage_where_none_is_given(self) -> None:
        questions, report = asked([{"question": "?", "document": "pumps", "section": "Valves", "phrase": "blue valve"}])
        assert not report
        assert questions[0].needs == ((Passage("pumps.md", 65, 75),),)
        assert questions[0].section == Passage("pumps.md", 50, 85)

    def test_further_fields_are_kept(self) -> None:
        questions, _ = asked([{"question": "?", "passage": "Ravens are clever.", "kind": "factoid", "hard": True}])
        assert questions[0].fields == (("kind", "factoid"), ("hard", True))

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ({"passage": "Ravens are clever."}, "question is missing or blank"),
            ({"question": "  ", "passage": "Ravens are clever."}, "question is missing or blank"),
            ({"question": "?"}, "there is no passage"),
            ({"question": "?", "passage": ""}, "there is no passage"),
            ({"question": "?", "passage": " "}, "none of them blank"),
            ({"question": "?", "passage": "Gone."}, "is not in any document"),
            ({"question": "?", "passage": "Ravens are clever.", "document": "pumps"}, "is not in document 'pumps.md'"),
            ({"question": "?", "passage": "The blue valve is open."}, "is in 2 documents"),
            ({"question": "?", "passage": "x", "document": "fish"}, "there is no document 'fish'"),
            ({"question": "?", "start": 3, "end": 9}, "need the name of their document"),
            ({"question": "?", "document": "birds", "start": 9, "end": 3}, "must lie in the document"),
            ({"question": "?", "document": "birds", "start": 0, "end": 999}, "must lie in the document"),
            ({"question": "?", "document": "birds", "start": "a", "end": 9}, "must be whole numbers"),
            ({"question": "?", "document": "birds", "start": 0}, "must be whole numbers"),
            ({"question": "?", "document": "birds", "start": 18, "end": 19}, "passage is blank"),
            ({"question": "?", "passages": ["Ravens are clever.", "# Pumps"]}, "need 'require': all or any"),
            ({"question": "?", "passage": "Ravens are clever.", "require": "some"}, "must be all or any"),
            ({"question": "?", "passages": "[broken", "require": "all"}, "is none"),
            ({"question": "?", "document": "pumps", "section": "Fish", "phrase": "x"}, "no section 'Fish'"),
            ({"question": "?", "document": "pumps", "section": "Valves", "phrase": "night"}, "not in that section"),
            ('{"question": "broken", ', "not valid JSON"),
            ("[]", "must be a JSON object, got list"),
        ],
    )  # fmt: skip
    def test_a_row_that_cannot_be_resolved_is_named_with_its_line_and_the_rest_is_used(
        self, row: dict | str, said: str
    ) -> None:
        good = {"question": "Who is clever?", "passage": "Ravens are clever.", "id": "good"}
        questions, report = asked([good, "", row])
        assert [question.id for question in questions] == ["good"]
        assert len(report.problems) == 1
        assert report.problems[0].startswith("line 3: ")
        assert said in report.problems[0]

    def test_a_second_question_of_the_same_id_is_reported(self) -> None:
        row = {"id": "a", "question": "?", "passage": "Ravens are clever."}
        questions, report = asked([row, row])
        assert len(questions) == 1
        assert "used by an earlier question" in report.problems[0]

    def test_a_question_without_an_id_gets_one_that_no_other_question_has(self) -> None:
        row = {"question": "?", "passage": "Ravens are clever."}
        ids = ["q2", None, "", "q3 (2)", "q6", " ", 7]
        questions, report = asked([row if name is None else {**row, "id": name} for name in ids])
        assert not report
        assert [question.id for question in questions] == ["q2", "q2 (2)", "q3", "q3 (2)", "q6", "q6 (2)", "7"]

    def test_an_id_is_kept_free_also_where_its_row_cannot_be_used(self) -> None:
        questions, _ = asked([{"question": "?", "passage": "Ravens are clever."}, {"id": "q1", "question": "?"}])
        assert [question.id for question in questions] == ["q1 (2)"]

    def test_a_name_that_two_documents_share_needs_its_ending(self) -> None:
        twins = (Document("a.md", "One."), Document("a.txt", "Two."))
        questions, report = asked(
            [
                {"question": "?", "passage": "Two.", "document": "a"},
                {"question": "?", "passage": "Two.", "document": "a.txt"},
            ],
            *twins,
        )
        assert questions[0].needs == ((Passage("a.txt", 0, 4),),)
        assert "that of 2 documents" in report.problems[0]

    @pytest.mark.parametrize("name", ["q.json", "q.jsonl", "q.ndjson", "questions"])
    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_json_list_is_read_like_lines(self, name: str, indent: int | None) -> None:
        rows = [{"question": "Who?", "passage": "Ravens are clever.", "hard": [True, None]}, {"question": "When?"}]
        questions, report = read_questions(name, json.dumps(rows, indent=indent).encode("utf-8-sig"), (BIRDS,))
        assert [question.text for question in questions] == ["Who?"]
        assert questions[0].fields == (("hard", [True, None]),)
        line = 10 if indent else 1
        assert len(report.problems) == 1
        assert report.problems[0].startswith(f"line {line}: there is no passage")

    @pytest.mark.parametrize(
        ("rest", "said"),
        [
            (',\n7\n]', "line 3: a row must be a JSON object, got int"),
            (',\n{"question": "Wh', "line 3: this is not valid JSON, the list is read up to here"),
            (',\n' + "[" * 100_000, "line 3: this is not valid JSON, the list is read up to here"),
            ('\n{"question": "Who?"}]', "line 2: no comma follows this row, the list is read up to here"),
            ("", "line 2: no comma follows this row, the list is read up to here"),
            (']\nmore', "line 2: the list ends here, what follows it is left out"),
        ],
    )  # fmt: skip
    def test_a_json_list_is_used_up_to_where_it_breaks(self, rest: str, said: str) -> None:
        text = '[\n{"question": "Who?", "passage": "Ravens are clever."}' + rest
        questions, report = read_questions("q.json", text.encode(), (BIRDS,))
        assert len(questions) == 1
        assert report.problems == [said]

    def test_an_empty_json_list_has_no_question(self) -> None:
        assert read_rows("q.json", b" [ ] \n")[0] == []

    def test_one_json_object_over_several_lines_is_one_row(self) -> None:
        row = {"question": "Who?", "passage": "Ravens are clever."}
        assert read_rows("q.json", json.dumps(row, indent=2).encode())[0] == [Row(1, row)]
        _, report = read_questions("q.json", json.dumps({"questions": [row]}, indent=2).encode(), (BIRDS,))
        assert report.problems == ["line 1: the question is missing or blank"]

    def test_lines_in_a_file_that_is_called_json_are_read_too(self) -> None:
        lines = b'{"question": "Who?", "passage": "Ravens are clever."}\n\n{"question": "Which?", "passage": "blue valve"}\n'
        questions, report = read_questions("q.json", lines, (BIRDS,))
        assert not report
        assert [question.text for question in questions] == ["Who?", "Which?"]

    def test_rows_are_read_without_the_documents(self) -> None:
        rows, report = read_rows("q.csv", b"question,answer\nWho?,bolt A\n\nWhere?,bolt B\n")
        assert not report
        assert rows == [
            Row(2, {"question": "Who?", "answer": "bolt A"}),
            Row(4, {"question": "Where?", "answer": "bolt B"}),
        ]

    @pytest.mark.parametrize(
        ("name", "content"), [("q.csv", b"\n\nquestion\nWho?"), ("q.jsonl", b'\n\n\n{"question": "Who?"}')]
    )
    def test_blank_lines_before_the_first_count_as_lines(self, name: str, content: bytes) -> None:
        assert read_rows(name, content)[0] == [Row(4, {"question": "Who?"})]

    def test_csv_with_quotes_lines_and_other_separators(self) -> None:
        page = Document("d.txt", 'Keep out,\nplease. The "old" guard said stop.')
        for separator in ",;\t":
            table = f'question{separator}answer\r\n"What, exactly?"{separator}"Keep out,\r\nplease"\r\n"Who said ""stop""?"{separator}"The ""old"" guard"\r\n\r\nBad{separator}\r\n'
            questions, report = read_questions("q.csv", table.encode("utf-8-sig"), (page,))
            assert [question.text for question in questions] == ["What, exactly?", 'Who said "stop"?']
            assert questions[1].needs == ((Passage("d.txt", 18, 33),),)
            assert report.problems == [
                "line 6: there is no passage: give 'passage', or 'document', 'start' and 'end', or 'phrase' and 'section'"
            ]

    def test_csv_lists_are_written_as_json(self) -> None:
        table = 'question,document,passages,require\n?,pumps,"[""# Pumps"", ""The blue valve is open.""]",all\n'
        questions, report = read_questions("q.csv", table.encode(), (PUMPS,))
        assert not report
        assert len(questions[0].needs) == 2

    def test_a_table_without_a_question_column_is_refused(self) -> None:
        with pytest.raises(ReadError, match="one of them 'question'"):
            read_questions("q.csv", b"frage,antwort\na,b\n", (PUMPS,))

    def test_a_row_with_more_values_than_columns_is_reported_not_shortened(self) -> None:
        table = "question,passage\nWho?,Ravens are clever, they say\nWho?,Ravens are clever.\n"
        questions, report = read_questions("q.csv", table.encode(), (BIRDS,))
        assert len(questions) == 1
        assert report.problems == [
            "line 2: 3 values for 2 columns: put a text that holds the separator in quotation marks"
        ]

    def test_a_column_that_is_there_twice_is_refused(self) -> None:
        with pytest.raises(ReadError, match="'passage' is there twice"):
            read_questions("q.csv", b"question,passage,passage\na,b,c\n", (PUMPS,))

    def test_a_quotation_mark_left_open_is_named(self) -> None:
        table = 'question,passage\nWho?,"' + "x" * 200_000
        with pytest.raises(ReadError, match="line 2 cannot be read as CSV"):
            read_questions("q.csv", table.encode(), (PUMPS,))

    @pytest.mark.parametrize("start", [True, 1.5, "1.0", "x", None, 1e999, 10**400])
    def test_offsets_that_are_no_whole_numbers_are_reported(self, start: object) -> None:
        questions, report = asked([{"question": "?", "document": "birds", "start": start, "end": 9}])
        assert not questions
        assert "must be whole numbers" in report.problems[0]
        assert len(report.problems[0]) < 200

    def test_a_restatement_that_is_not_there_is_noted_and_the_question_kept(self) -> None:
        questions, report = asked([{"question": "?", "passage": "Ravens are clever.", "also": ["Gone."]}])
        assert len(questions) == 1
        assert "a restatement is left out" in report.notes[0]

    def test_restatements_in_csv_are_a_json_list_too(self) -> None:
        table = 'question,passage,also\n?,Ravens are clever.,"[""The blue valve is open.""]"\n'
        questions, report = read_questions("q.csv", table.encode(), (BIRDS,))
        assert not report
        assert questions[0].also == ((Passage("birds.txt", 19, 42),),)

    @pytest.mark.parametrize(
        "row",
        ["[" * 100_000, '{"question": "\\ud800", "passage": "Ravens are clever."}', '{"question": 5, "passage": 5}'],
    )
    def test_hostile_rows_are_reported(self, row: str) -> None:
        questions, report = asked([row, {"question": "?", "passage": "Ravens are clever."}])
        assert len(questions) == len(report.problems) == 1


class TestMatching:
    @pytest.mark.parametrize(
        ("text", "quote", "found"),
        [
            ("Le re\u0301sume\u0301 est la.", "r\u00e9sum\u00e9", ["re\u0301sume\u0301"]),
            ("Ma\u0328ka i woda.", "Ma", []),
            ("The e\ufb03cient \ufb01lter.", "efficient filter", ["e\ufb03cient \ufb01lter"]),
            ("Its capabili-\nties are.", "capabilities", ["capabili-\nties"]),
            ("It\u2019s \u201cfine\u201d.", 'It\'s "fine".', ["It\u2019s \u201cfine\u201d."]),
            ("One\n  two   three.", "One two three.", ["One\n  two   three."]),
            ("aaa", "aa", ["aa", "aa"]),
            ("abc", "  b ", ["b"]),
            ("abc", " ", []),
            ("ABC", "abc", []),
        ],
    )  # fmt: skip
    def test_a_quote_is_found_where_a_reader_would(self, text: str, quote: str, found: list[str]) -> None:
        assert [text[match.start : match.end] for match in find_all(Document("d", text), quote)] == found
