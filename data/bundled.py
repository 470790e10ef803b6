"""The corpus that comes with Chunkscope: posts of an engineering blog and questions on them."""

from __future__ import annotations

from pathlib import Path

from chunking.types import Corpus
from data.documents import read_folder
from data.questions import read_questions
from data.report import ReadError, Report

FOLDER = Path(__file__).parent
POSTS = FOLDER / "posts"
QUESTIONS = FOLDER / "questions.jsonl"


def bundled() -> tuple[Corpus, Report]:
    """The bundled corpus and a report, which is empty."""
    return load(POSTS, QUESTIONS)


def load(folder: Path, questions: Path | None = None) -> tuple[Corpus, Report]:
    """A corpus from a folder of documents and a questions file, and a report of what could not be used."""
    documents, report = read_folder(folder)
    if questions is None:
        return Corpus(documents), report
    if not questions.is_file():
        raise ReadError(f"questions: there is no file {questions}")
    asked, more = read_questions(questions.name, questions.read_bytes(), documents)
    return Corpus(documents, asked), Report(report.problems + more.problems, report.notes + more.notes)
