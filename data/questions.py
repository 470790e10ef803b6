"""Questions from files: rows of CSV, JSONL or a JSON list, each resolved to exact passages or reported."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Any

from chunking.measures import phrase_hit
from chunking.segments import headings, section_starts
from chunking.types import Document, Passage, Question
from data.matching import Match, find_all
from data.report import ReadError, Report
from data.text import read_text

_KNOWN = {"id", "question", "passage", "passages", "answer", "answers", "document", "start", "end", "require", "also",
          "phrase", "section"}  # fmt: skip
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON = (".jsonl", ".json", ".ndjson")
_DECODER = json.JSONDecoder()
_LIST_BEGINS = re.compile(r"\s*\[\s*")
_LIST_GOES_ON = re.compile(r"\s*(?:,\s*|(?=\]))")
_LISTS = ("passages", "answers", "also")  # fields that may hold a JSON list written as text


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a questions file with the line of the file on which it begins."""

    line: int
    fields: dict[str, Any]


class UnresolvedError(ValueError):
    """A row that cannot be used, with the reason."""


def read_questions(name: str, content: bytes, documents: Sequence[Document]) -> tuple[tuple[Question, ...], Report]:
    """The questions of a file on these documents, and a report, row by row, of what could not be resolved.

    ReadError where the file as a whole cannot be read.
    """
    rows, report = read_rows(name, content)
    return resolve(rows, documents, report), report


def read_rows(name: str, content: bytes) -> tuple[list[Row], Report]:
    """The rows of a questions file, and a report of those that are none: all that can be read without the documents.

    ReadError where the file as a whole cannot be read.
    """
    text, notes = read_text(name, content)
    report = Report(notes=[note for note in notes if "line ends" not in note])
    ending = PurePosixPath(name).suffix.lower()
    if _is_list(ending, text):
        return _list_rows(text, report), report
    if ending in _JSON or (ending != ".csv" and text.lstrip()[:1] == "{"):
        return _json_rows(text, report), report
    return _csv_rows(name, text, report), report


def resolve(rows: Iterable[Row], documents: Sequence[Document], report: Report) -> tuple[Question, ...]:
    """The questions of those rows that can be resolved; the others go into the report."""
    rows = list(rows)
    questions: dict[str, Question] = {}
    for name, row in zip(_names(rows), rows, strict=True):
        try:
            question, notes = _question(row, name, documents)
        except UnresolvedError as error:
            report.problems.append(f"line {row.line}: {error}")
            continue
        if question.id in questions:
            report.problems.append(f"line {row.line}: the id {question.id!r} is used by an earlier question")
            continue
        report.notes += [f"line {row.line}: {note}" for note in notes]
        questions[question.id] = question
    return tuple(questions.values())


def _names(rows: Sequence[Row]) -> list[str]:
    """The id of each row: the one it gives, else q and its number, marked where another row gives that very id."""
    given = [_given_name(row) for row in rows]
    taken = set(given)
    names = []
    for number, name in enumerate(given, 1):
        names.append(name or _free_name(f"q{number}", taken))
        taken.add(names[-1])
    return names


def _given_name(row: Row) -> str:
    name = row.fields.get("id")
    return "" if name is None else str(name).strip()


def _free_name(name: str, taken: Container[str]) -> str:
    marked = (f"{name} ({number})" for number in count(2))
    return next(candidate for candidate in chain([name], marked) if candidate not in taken)


def _is_list(ending: str, text: str) -> bool:
    """Whether a file holds one JSON list. Under another name than .json only where it is nothing but that."""
    return ending != ".csv" and text.lstrip()[:1] == "[" and (ending == ".json" or _is_json(text))


def _is_json(text: str) -> bool:
    """Whether a text as a whole is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _list_rows(text: str, report: Report) -> list[Row]:
    """The objects of a JSON list, up to the first place that is not valid JSON."""
    rows: list[Row] = []
    line, place = 1, 0
    gap = _LIST_BEGINS.match(text)
    while gap:
        line += text.count("\n", place, gap.end())
        place = gap.end()
        if text[place : place + 1] == "]":
            if text[place + 1 :].strip():
                report.problems.append(f"line {line}: the list ends here, what follows it is left out")
            return rows
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            report.problems.append(f"line {line}: this is not valid JSON, the list is read up to here")
            return rows
        _add_row(line, value, rows, report)
        gap = _LIST_GOES_ON.match(text, end)
    report.problems.append(f"line {line}: no comma follows this row, the list is read up to here")
    return rows


def _json_rows(text: str, report: Report) -> list[Row]:
    """The objects of JSONL, one a line; or the only one, written over several lines."""
    rows: list[Row] = []
    blank = len(text) - len(text.lstrip())
    whole = [(text.count("\n", 0, blank) + 1, text)] if _is_json(text) else None
    for line, source in whole or enumerate(text.split("\n"), 1):
        if not source.strip():
            continue
        try:
            value = json.loads(source)
        except (ValueError, RecursionError):
            report.problems.append(f"line {line}: this is not valid JSON, the row is left out")
            continue
        _add_row(line, value, rows, report)
    return rows


def _add_row(line: int, value: Any, rows: list[Row], report: Report) -> None:
    if isinstance(value, dict):
        rows.append(Row(line, value))
    else:
        report.problems.append(f"line {line}: a row must be a JSON object, got {type(value).__name__}")


def _csv_rows(name: str, text: str, report: Report) -> list[Row]:
    blank = len(text) - len(text.lstrip("\n"))
    text = text[blank:]
    head = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    columns = [column.strip().lower() for column in next(reader)]
    if "question" not in columns:
        raise ReadError(f"{name}: the first line must name the columns, one of them 'question'; got {head[:80]!r}")
    twice = next((column for column in columns if column and columns.count(column) > 1), None)
    if twice:
        raise ReadError(
            f"{name}: the column {twice!r} is there twice; several passages go in 'passages' as a JSON list"
        )
    rows = []
    line = blank + reader.line_num + 1
    try:
        for values in reader:
            if len(values) > len(columns):
                report.problems.append(f"line {line}: {len(values)} values for {len(columns)} columns: "
                                       "put a text that holds the separator in quotation marks")  # fmt: skip
            elif any(value.strip() for value in values):
                rows.append(
                    Row(line, {key: value for key, value in zip(columns, values, strict=False) if value.strip()})
                )
            line = blank + reader.line_num + 1
    except csv.Error as error:
        raise ReadError(
            f"{name}: line {line} cannot be read as CSV ({error}): is a quotation mark left open?"
        ) from None
    return rows


def _question(row: Row, name: str, documents: Sequence[Document]) -> tuple[Question, list[str]]:
    fields = row.fields
    text = fields.get("question")
    if not isinstance(text, str) or not text.strip():
        raise UnresolvedError("the question is missing or blank")
    if any(isinstance(value, str) and _LONE_SURROGATE.search(value) for value in fields.values()):
        raise UnresolvedError("a text holds half a character (a lone surrogate)")
    notes: list[str] = []
    document = _named(fields.get("document"), documents)
    section = _section(fields, document)
    found = _found(fields, document, documents, section, notes)
    needs = _needs(fields, found)
    by_id = {document.id: document for document in documents}
    also = _also(fields, needs, by_id, notes)
    extra = tuple((key, value) for key, value in fields.items() if key not in _KNOWN)
    return Question(name, text.strip(), needs, also, str(fields.get("phrase") or ""), section, extra), notes


def _named(name: Any, documents: Sequence[Document]) -> Document | None:
    """The document of that name, with or without its ending; None where no name is given."""
    if name in (None, ""):
        return None
    exact = [document for document in documents if document.id == name]
    near = exact or [document for document in documents if str(PurePosixPath(document.id).with_suffix("")) == name]
    if not near:
        raise UnresolvedError(f"there is no document {name!r}")
    if len(near) > 1:
        raise UnresolvedError(f"the name {name!r} is that of {len(near)} documents: give it with its ending")
    return near[0]


def _found(
    fields: dict[str, Any], document: Document | None, documents: Sequence[Document], section: Passage | None, notes: list[str]
) -> list[tuple[Passage, ...]]:  # fmt: skip
    """For each passage of a row, all its places."""
    quotes = (
        _list(fields, "passages") or _list(fields, "answers") or _list(fields, "passage") or _list(fields, "answer")
    )
    given = _offsets(fields, document)
    if quotes:
        if given and len(quotes) > 1:
            raise UnresolvedError("start and end go with one passage, and this row has several")
        return [_places(quote, document, documents, given, notes) for quote in quotes]
    if given:
        assert document is not None  # _offsets refuses offsets without a document
        return [_places(document.text[given[0] : given[1]], document, documents, given, notes)]
    if fields.get("phrase") and section and document:
        return [_phrase_places(str(fields["phrase"]), section, document)]
    raise UnresolvedError(
        "there is no passage: give 'passage', or 'document', 'start' and 'end', or 'phrase' and 'section'"
    )


def _list(fields: dict[str, Any], name: str) -> list[str]:
    """A field that holds one text or a list of them (in CSV as a JSON list)."""
    value = fields.get(name)
    if value in (None, "", []):
        return []
    if isinstance(value, str) and name in _LISTS and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise UnresolvedError(f"{name!r} begins like a JSON list but is none") from None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise UnresolvedError(f"{name!r} must be a text or a list of texts, none of them blank")
    return texts


def _offsets(fields: dict[str, Any], document: Document | None) -> tuple[int, int] | None:
    if fields.get("start") in (None, "") and fields.get("end") in (None, ""):
        return None
    if document is None:
        raise UnresolvedError("start and end need the name of their document")
    start, end = _whole_number(fields.get("start")), _whole_number(fields.get("end"))
    if start is None or end is None:
        given = f"{str(fields.get('start'))[:40]!r} and {str(fields.get('end'))[:40]!r}"
        raise UnresolvedError(f"start and end must be whole numbers, got {given}")
    return start, end


def _whole_number(value: Any) -> int | None:
    """A whole number as JSON or CSV writes it; None for anything else, true and 1.0 included."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        return int(value)
    return value if type(value) is int and abs(value) < 10**19 else None


def _places(
    quote: str, document: Document | None, documents: Sequence[Document], given: tuple[int, int] | None, notes: list[str]
) -> tuple[Passage, ...]:  # fmt: skip
    """All places of a quote in its document, or in the only document that has it."""
    shown = repr(quote.strip()[:60])
    if document is not None and given is not None:
        _check_offsets(quote, document, given, notes)
    if not quote.strip():
        raise UnresolvedError("the passage is blank")
    places = [(holder, find_all(holder, quote)) for holder in ([document] if document else documents)]
    holders = [(holder, matches) for holder, matches in places if matches]
    if not holders:
        where = f"document {document.id!r}" if document else "any document"
        raise UnresolvedError(f"the passage {shown} is not in {where}")
    if len(holders) > 1:
        names = ", ".join(holder.id for holder, _ in holders[:3])
        raise UnresolvedError(f"the passage {shown} is in {len(holders)} documents ({names}): name one")
    holder, matches = holders[0]
    if not matches[0].exact:
        notes.append(f"the passage {shown} was found after making Unicode forms, quotes and white space alike")
    return tuple(_trimmed(holder, match) for match in matches)


def _check_offsets(quote: str, document: Document, given: tuple[int, int], notes: list[str]) -> None:
    start, end = given
    if not 0 <= start < end <= len(document.text):
        if quote.strip() and quote.strip() != document.text[start:end].strip():
            notes.append(f"start {start} and end {end} are outside the document; the passage was searched instead")
            return
        raise UnresolvedError(
            f"start {start} and end {end} must lie in the document (0 to {len(document.text)}), start first"
        )
    if document.text[start:end].strip() != quote.strip():
        notes.append(f"the text at {start} to {end} is not the passage; it was searched and its place corrected")


def _trimmed(document: Document, match: Match) -> Passage:
    text = document.text[match.start : match.end]
    start = match.start + len(text) - len(text.lstrip())
    return Passage(document.id, start, start + len(text.strip()))


def _needs(fields: dict[str, Any], found: list[tuple[Passage, ...]]) -> tuple[tuple[Passage, ...], ...]:
    require = fields.get("require") or ("all" if len(found) == 1 else "")
    if len(found) > 1 and require not in ("all", "any"):
        raise UnresolvedError(f"several passages need 'require': all or any, got {fields.get('require')!r}")
    if require not in ("all", "any"):
        raise UnresolvedError(f"'require' must be all or any, got {require!r}")
    if require == "any":
        return (tuple(passage for places in found for passage in places),)
    return tuple(found)


def _also(
    fields: dict[str, Any], needs: tuple[tuple[Passage, ...], ...], by_id: dict[str, Document], notes: list[str]
) -> tuple[tuple[Passage, ...], ...]:  # fmt: skip
    """The restatements, need by need: a list of texts for one need, a list of lists for several.

    One that cannot be found is noted and left out: the question is measured all the same.
    """
    value = fields.get("also")
    if value in (None, "", []):
        return ()
    nested = value if isinstance(value, list) and all(isinstance(part, list) for part in value) else None
    lists = [_list({"also": part}, "also") for part in nested] if nested else [_list(fields, "also")]
    if len(lists) != len(needs):
        raise UnresolvedError(f"'also' must be a list of texts for each of the {len(needs)} passages, got {len(lists)}")
    documents = list(by_id.values())
    found: list[tuple[Passage, ...]] = []
    for need, quotes in zip(needs, lists, strict=True):
        places: list[Passage] = []
        for quote in quotes:
            try:
                places += _restated(quote, by_id[need[0].document], documents)
            except UnresolvedError as error:
                notes.append(f"a restatement is left out: {error}")
        found.append(tuple(places))
    return tuple(found)


def _restated(quote: str, near: Document, documents: Sequence[Document]) -> tuple[Passage, ...]:
    """The places of a restatement: in the passage's own document, else in the only other one that has it."""
    home = near if find_all(near, quote) else None
    return _places(quote, home, documents, None, [])


def _section(fields: dict[str, Any], document: Document | None) -> Passage | None:
    """The section that the row names by its heading, heading included."""
    title = fields.get("section")
    if document is None or not title:
        return None
    for heading in headings(document):
        if heading.title == title:
            later = [start for start in section_starts(document).tolist() if start > heading.start]
            end = later[0] if later else len(document.text)
            return Passage(document.id, heading.start, end)
    if fields.get("phrase") and not any(
        fields.get(name) for name in ("passage", "passages", "answer", "answers", "start")
    ):
        raise UnresolvedError(f"document {document.id!r} has no section {title!r}")
    return None


def _phrase_places(phrase: str, section: Passage, document: Document) -> tuple[Passage, ...]:
    text = document.text
    places = [
        match for match in find_all(document, phrase) if section.start <= match.start and match.end <= section.end
    ]
    if not places:
        hint = " (only with other letter case)" if phrase_hit(text[section.start : section.end], phrase) else ""
        raise UnresolvedError(f"the phrase {phrase[:60]!r} is not in that section{hint}")
    return tuple(_trimmed(document, place) for place in places)
