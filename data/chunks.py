"""Chunks brought along: those that another tool cut, read from JSON and checked against the documents.

Spans are kept exactly as they are given, white space at their ends included, so that numbers measured elsewhere can be
compared. What cannot be used is left out and named; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunking.segments import solid
from chunking.types import Chunks, Document, Ints
from chunking.words import code_points
from data.questions import UnresolvedError
from data.report import ReadError, Report
from data.text import read_text

Span = tuple[int, int]
Given = TypeVar("Given")
Made = TypeVar("Made")

#: A field may have any of its names: ours first, then those of Chroma's evaluation, Chonkie and LlamaIndex.
_DOCUMENT = ("document", "corpus", "corpus_id")
_START = ("start", "start_index", "start_char_idx")
_END = ("end", "end_index", "end_char_idx")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

CHARACTERS = "characters"
#: What offsets may count, and how much of it each code point is. Tools that are not in Python often count the others.
_COUNTS: dict[str, Callable[[NDArray[Any]], Ints]] = {
    CHARACTERS: lambda codes: np.ones(len(codes), np.int64),
    "UTF-16 units": lambda codes: 1 + (codes > 0xFFFF),
    "bytes of UTF-8": lambda codes: 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF),
    "characters with each line end as two (CR LF)": lambda codes: 1 + (codes == ord("\n")),
}


@dataclass(frozen=True, slots=True)
class _Claim:
    """What the file says of a chunk: its document (and the number of it), and what else is given."""

    number: int
    document: Document
    matched: Span | None
    returned: Span | None
    text: str
    prefix: str
    characters: Any


@dataclass(frozen=True, slots=True)
class _Placed:
    """A chunk that can be used: the number of its document, its two spans in code points, its prefix."""

    number: int
    matched: Span
    returned: Span
    prefix: str


def read_chunks(name: str, content: bytes, documents: Sequence[Document]) -> tuple[list[Chunks], Report]:
    """The chunks of each document, in order of `documents`, from a JSON or JSONL file, and the audit of their offsets.

    A chunk is an object with `document` (or `corpus`; not needed where there is one document), `start` and `end` in
    code points and, if it likes, `text`, `returned_start` and `returned_end`, `prefix`. They stand in a list, under
    `chunks` (what `chunkscope.py cut --json` prints), or one on a line. A chunk without offsets is placed where its text
    stands, if that is one place. ReadError where the file is not JSON or no chunk of it can be used.
    """
    text, notes = read_text(name, content)
    report = Report(notes=[note for note in notes if "line ends" not in note])
    entries = dict(enumerate(_entries(name, text)))
    names, faults = _by_name(documents), dict[int, str]()
    claims = _tried(entries, lambda entry: _claim(entry[1], names), faults)
    unit = _unit(claims.values(), report)
    placed = _tried(claims, lambda claim: _placed(claim, unit, documents), faults)
    report.problems += [f"{entries[row][0]}: {faults[row]}" for row in sorted(faults)]
    if not placed:
        reason = f"; {report.problems[0]}" if report.problems else ""
        raise ReadError(f"{name}: no chunk of the file can be used{reason}")
    chunks = _by_document(placed.values(), len(documents))
    _note_texts(claims, placed, report)
    _note_lengths(claims.values(), report)
    _note_repeats(documents, placed.values(), report)
    _note_uncovered(documents, chunks, report)
    return chunks, report


def _tried(entries: Mapping[int, Given], make: Callable[[Given], Made], faults: dict[int, str]) -> dict[int, Made]:
    """What is made of each entry; where it cannot be, the reason goes into the faults."""
    made = {}
    for row, entry in entries.items():
        try:
            made[row] = make(entry)
        except UnresolvedError as error:
            faults[row] = str(error)
    return made


def _entries(name: str, text: str) -> list[tuple[str, Any]]:
    """What the report calls each chunk, and the chunk as the file has it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _lines(name, text, error)
    found = [chunk for part in (value if isinstance(value, list) else [value]) for chunk in _unfolded(part)]
    return [(f"chunk {number}", chunk) for number, chunk in enumerate(found, 1)]


def _lines(name: str, text: str, error: Exception) -> list[tuple[str, Any]]:
    """The same of a file with one object on a line; `error` is why it is not JSON as a whole."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not (lines[0][1].startswith("{") and lines[0][1].endswith("}")):
        raise ReadError(f"{name}: this is neither JSON nor JSONL ({error})")
    found: list[tuple[str, Any]] = []
    for number, line in lines:
        parts = _unfolded(_parsed(line))
        labels = [f"line {number}"] if len(parts) == 1 else [f"line {number}, chunk {n + 1}" for n in range(len(parts))]
        found += zip(labels, parts, strict=True)
    return found


def _parsed(line: str) -> Any:
    """The value of a line; an error to be reported where it has none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return UnresolvedError("this is not valid JSON")


def _unfolded(part: Any) -> list[Any]:
    """The chunks under `chunks`, each with what is said there of their document; else the part itself."""
    if not isinstance(part, dict) or not isinstance(part.get("chunks"), list):
        return [part]
    shared = {key: part[key] for key in (*_DOCUMENT, "characters") if key in part}
    return [{**shared, **chunk} if isinstance(chunk, dict) else chunk for chunk in part["chunks"]]


def _by_name(documents: Sequence[Document]) -> dict[Any, list[tuple[int, Document]]]:
    """The documents by their id and, where no id is the same, by it without its ending; None names the only one."""
    ids: dict[Any, list[tuple[int, Document]]] = {}
    stems: dict[Any, list[tuple[int, Document]]] = defaultdict(list)
    for number, document in enumerate(documents):
        ids[document.id] = [(number, document)]
        stems[str(PurePosixPath(document.id).with_suffix(""))].append((number, document))
    return {**stems, **ids, None: list(enumerate(documents))}


def _claim(value: Any, names: Mapping[Any, list[tuple[int, Document]]]) -> _Claim:
    if isinstance(value, UnresolvedError):
        raise value
    if not isinstance(value, dict):
        raise UnresolvedError(f"a chunk must be a JSON object, got {type(value).__name__}")
    number, document = _named(_first(value, _DOCUMENT), names)
    text, prefix = (_text(value, field) for field in ("text", "prefix"))
    if value.get("text") is not None and not text.strip():
        raise UnresolvedError("the text is blank")
    matched = _offsets(value, _START, _END)
    if matched is None and not text:
        raise UnresolvedError("there are neither start and end nor a text")
    returned = _offsets(value, ("returned_start",), ("returned_end",))
    # A document that was read has line ends LF, whatever the tool saw.
    return _Claim(number, document, matched, returned, text.replace("\r\n", "\n"), prefix, value.get("characters"))


def _named(name: Any, names: Mapping[Any, list[tuple[int, Document]]]) -> tuple[int, Document]:
    found = names.get(name or None, []) if isinstance(name, str | None) else []
    if not found:
        raise UnresolvedError(f"there is no document {name!r}")
    if len(found) > 1 and not name:
        raise UnresolvedError(f"the document is not named, and there are {len(found)}")
    if len(found) > 1:
        raise UnresolvedError(f"the name {name!r} is that of {len(found)} documents: give it with its ending")
    return found[0]


def _first(value: dict[str, Any], fields: Sequence[str]) -> Any:
    """The value of the first of the fields that is given."""
    return next((value[field] for field in fields if value.get(field) is not None), None)


def _text(value: dict[str, Any], field: str) -> str:
    text = value.get(field)
    if text is not None and not isinstance(text, str):
        raise UnresolvedError(f"{field!r} must be a text, got {type(text).__name__}")
    if text and _LONE_SURROGATE.search(text):
        raise UnresolvedError(f"{field!r} holds half a character (a lone surrogate)")
    return text or ""


def _offsets(value: dict[str, Any], first: Sequence[str], last: Sequence[str]) -> Span | None:
    start, end = _first(value, first), _first(value, last)
    if start is None and end is None:
        return None
    # A bool is an int in Python, and 12.0 a number in JSON: neither is an offset.
    if type(start) is not int or type(end) is not int:
        shown = f"{str(start)[:40]} and {str(end)[:40]}"
        raise UnresolvedError(f"{first[0]} and {last[0]} must be whole numbers, got {shown}")
    return start, end


def _unit(claims: Iterable[_Claim], report: Report) -> str:
    """What the offsets of the file count: characters, unless the text of every chunk that has one proves another unit."""
    offered = [claim for claim in claims if claim.matched]
    told = [claim for claim in offered if claim.text]
    unit = next((unit for unit in _COUNTS if all(_agrees(claim, unit) for claim in told or offered)), CHARACTERS)
    if unit == CHARACTERS:
        return unit
    if told:
        report.notes.append(
            f"the offsets count {unit}, as the texts of all {len(told)} chunks that have one prove: they were converted"
        )
        return unit
    report.notes.append(
        f"all offsets would lie in their documents if they counted {unit}, and not all do as characters: "
        "give them in characters, or give the texts too"
    )
    return CHARACTERS


def _agrees(claim: _Claim, unit: str) -> bool:
    """Whether the offsets of a chunk lie in its document, counted in a unit, and have its text there."""
    try:
        start, end = _converted(claim.document, claim.matched or (0, 0), unit)
    except UnresolvedError:
        return False
    return not claim.text or _alike(claim.text, claim.document.text[start:end])


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same, white space aside."""
    return one == other or one.split() == other.split()


def _converted(document: Document, span: Span, unit: str) -> Span:
    """A span in code points. UnresolvedError where it is empty, leaves the document or parts a character."""
    before = document.keep(("before", unit), lambda: _before(document, unit))
    start, end = span
    if end <= start:
        raise UnresolvedError(f"the end must be above the start, got start {start} and end {end}")
    if start < 0 or end > before[-1]:
        raise UnresolvedError(f"the span {start} to {end} must lie in {document.id!r} (0 to {before[-1]}, {unit})")
    places = np.searchsorted(before, span)
    if before[places].tolist() != [start, end]:
        raise UnresolvedError(f"the span {start} to {end} of {document.id!r} parts a character")
    return int(places[0]), int(places[1])


def _before(document: Document, unit: str) -> Ints:
    """How much of a unit is before each code point of a document, and before its end, (n + 1,)."""
    return np.concatenate(([0], np.cumsum(_COUNTS[unit](code_points(document.text)))))


def _placed(claim: _Claim, unit: str, documents: Sequence[Document]) -> _Placed:
    document = claim.document
    matched = _solid(document, _converted(document, claim.matched, unit) if claim.matched else _found(claim))
    if claim.matched and claim.text and not _alike(claim.text, document.text[slice(*matched)]):
        raise UnresolvedError(
            f"the text {_shown(claim.text)} is not what stands at {claim.matched[0]} to {claim.matched[1]} of "
            f"{document.id!r}; {_elsewhere(claim, documents)}"
        )
    returned = _solid(document, _converted(document, claim.returned, unit)) if claim.returned else matched
    return _Placed(claim.number, matched, returned, claim.prefix)


def _solid(document: Document, span: Span) -> Span:
    """The span itself, if there is more than white space in it."""
    start, end = span
    if solid(document)[start] == solid(document)[end]:
        raise UnresolvedError(f"the span {start} to {end} of {document.id!r} is white space alone")
    return span


def _found(claim: _Claim) -> Span:
    """The only place of a chunk's text in its document."""
    text, held = claim.text, claim.document.text
    start = held.find(text)
    again = held.find(text, start + 1)
    if start < 0:
        raise UnresolvedError(f"the text {_shown(text)} is not in {claim.document.id!r}, and there are no offsets")
    if again >= 0:
        raise UnresolvedError(
            f"the text {_shown(text)} stands in {claim.document.id!r} more than once (at {start} and at {again}): "
            "give start and end"
        )
    return start, start + len(text)


def _elsewhere(claim: _Claim, documents: Sequence[Document]) -> str:
    """Where the text of a chunk stands instead: first in its own document, then in the others."""
    for document in (claim.document, *documents):
        start = document.text.find(claim.text)
        if start >= 0:
            more = " and again later" if document.text.find(claim.text, start + 1) >= 0 else ""
            where = "" if document is claim.document else f" of {document.id!r}"
            return f"it stands at {start} to {start + len(claim.text)}{where}{more}"
    return "it stands in no document"


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _by_document(placed: Iterable[_Placed], count: int) -> list[Chunks]:
    """The chunks of each document in order of start, then end."""
    rows: list[list[_Placed]] = [[] for _ in range(count)]
    for chunk in placed:
        rows[chunk.number].append(chunk)
    return [_columns(sorted(row, key=lambda chunk: chunk.matched)) for row in rows]


def _columns(chunks: Sequence[_Placed]) -> Chunks:
    rows = np.array([(*chunk.matched, *chunk.returned) for chunk in chunks], np.int64).reshape(-1, 4)
    starts, ends, returned_starts, returned_ends = rows.T
    heads = tuple(chunk.prefix for chunk in chunks)
    return Chunks(starts, ends, returned_starts, returned_ends, heads if any(heads) else ())


def _note_texts(claims: Mapping[int, _Claim], placed: Mapping[int, _Placed], report: Report) -> None:
    """How many chunks were placed by their text, and how many have another white space in it."""
    searched = sum(claims[row].matched is None for row in placed)
    if searched:
        report.notes.append(f"placed by their text: {_count(searched, 'chunk')} without offsets")
    spaced = sum(
        bool(claims[row].text) and claims[row].text != claims[row].document.text[slice(*chunk.matched)]
        for row, chunk in placed.items()
    )
    if spaced:
        report.notes.append(
            f"taken by their offsets: {_count(spaced, 'chunk')} with a text that differs from the document in white space"
        )


def _note_lengths(claims: Iterable[_Claim], report: Report) -> None:
    """Documents that had another length when they were cut."""
    told = {(claim.document.id, claim.characters, len(claim.document.text)) for claim in claims}
    for name, before, now in sorted(row for row in told if type(row[1]) is int and row[1] != row[2]):
        report.notes.append(f"{name!r} had {before} characters when it was cut and has {now}: the offsets may not fit")


def _note_repeats(documents: Sequence[Document], placed: Iterable[_Placed], report: Report) -> None:
    """Spans that are there more than once."""
    seen: set[tuple[int, Span]] = set()
    repeats: list[tuple[int, Span]] = []
    for chunk in placed:
        key = (chunk.number, chunk.matched)
        repeats += [key] if key in seen else []
        seen.add(key)
    if repeats:
        number, (start, end) = repeats[0]
        first = f"the first: {start} to {end} of {documents[number].id!r}"
        report.notes.append(f"kept: {_count(len(repeats), 'chunk')} with the span of an earlier one ({first})")


def _note_uncovered(documents: Sequence[Document], chunks: Sequence[Chunks], report: Report) -> None:
    """How much of each document's text no chunk holds."""
    without = [document.id for document, held in zip(documents, chunks, strict=True) if not len(held)]
    if without:
        of = _count(len(documents), "document")
        report.notes.append(f"without any chunk: {len(without)} of {of} (the first: {without[0]!r})")
    for document, held in zip(documents, chunks, strict=True):
        total = int(solid(document)[-1])
        missing = total - _held(document, held)
        if len(held) and missing:
            share = f"{100 * missing / total:.1f}%"
            report.notes.append(
                f"in no chunk: {missing} of the {total} non-space characters of {document.id!r} ({share})"
            )


def _held(document: Document, chunks: Chunks) -> int:
    """The non-space characters that matched spans hold, each counted once."""
    depth = np.zeros(len(document.text) + 1, np.int64)
    np.add.at(depth, chunks.starts, 1)
    np.add.at(depth, chunks.ends, -1)
    return int(np.diff(solid(document))[np.cumsum(depth)[:-1] > 0].sum())


def _count(number: int, noun: str) -> str:
    """Example: 1 and chunk -> 1 chunk, 2 and chunk -> 2 chunks"""
    return f"{number} {noun}{'' if number == 1 else 's'}"
