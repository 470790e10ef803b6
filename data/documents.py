"""Documents from files: a folder of Markdown and text, or uploaded files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import yaml

from chunking.segments import headings
from chunking.types import Document
from data.report import ReadError, Report
from data.text import read_text

MARKDOWN = (".md", ".markdown")
ENDINGS = (*MARKDOWN, ".txt")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def read_document(name: str, content: bytes) -> tuple[Document, list[str]]:
    """A document from a file's bytes, its id the file's name, and notes on the reading. ReadError where it cannot be."""
    ending = PurePosixPath(name).suffix.lower()
    if ending not in ENDINGS:
        raise ReadError(f"{name}: files of this kind are not supported (read are {', '.join(ENDINGS)})")
    text, notes = read_text(name, content)
    document = Document(name, text, markdown=ending in MARKDOWN)
    title, date = _front_matter(text) if document.markdown else ("", "")
    first = next((heading.title for heading in headings(document) if heading.level == 1), "")
    return replace(document, title=title or first or PurePosixPath(name).stem, date=date), notes


def read_files(files: Iterable[tuple[str, bytes]]) -> tuple[tuple[Document, ...], Report]:
    """Documents from (name, bytes) in the given order, and a report of what was not read or not taken as it is named.

    A second file of the same name is kept apart under another id; the same file given twice is taken once.
    """
    report = Report()
    documents: dict[str, Document] = {}
    for name, content in files:
        try:
            document, notes = read_document(name, content)
        except ReadError as error:
            report.problems.append(str(error))
            continue
        report.notes += notes
        if name in documents and documents[name].text == document.text:
            report.notes.append(f"{name}: given twice with the same text, taken once")
            continue
        if name in documents:
            document = replace(document, id=_free_name(name, documents))
            report.notes.append(f"{name}: two different files have this name, the second is called {document.id}")
        documents[document.id] = document
    return tuple(documents.values()), report


def read_folder(folder: Path) -> tuple[tuple[Document, ...], Report]:
    """The documents of a folder and the folders below it, in order of name; ids are the paths below the folder.

    ReadError where the folder is missing or holds no document.
    """
    if not folder.is_dir():
        raise ReadError(f"documents: there is no folder {folder}")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    if not paths:
        raise ReadError(f"documents: the folder {folder} has no file with the ending {', '.join(ENDINGS)}")
    return read_files((path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)


def _free_name(name: str, taken: dict[str, Document]) -> str:
    path = PurePosixPath(name)
    number = 2
    while str(path.with_stem(f"{path.stem} ({number})")) in taken:
        number += 1
    return str(path.with_stem(f"{path.stem} ({number})"))


def _front_matter(text: str) -> tuple[str, str]:
    """The title and the date of a document's front matter, '' where there is none."""
    found = _FRONT_MATTER.match(text)
    try:
        # The base loader leaves every value a text: no date or number can be wrong.
        fields = yaml.load(found[1], yaml.BaseLoader) if found else None
    except (yaml.YAMLError, RecursionError):
        return "", ""
    if not isinstance(fields, dict):
        return "", ""
    title, date = fields.get("title"), fields.get("date")
    return title if isinstance(title, str) else "", date if isinstance(date, str) else ""
