"""Studies on disk: one JSON file, and a table as CSV."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path
from typing import Any

from chunking.study import Record, Study, record_of
from chunking.table import MEASURES
from data.report import ReadError

ENGINE = 1  # raised when a configuration that stays the same may give other numbers
_PACKAGES = ("numpy", "sentencex", "markdown-it-py", "bm25s", "onnxruntime", "tokenizers", "langchain-text-splitters",
             "llama-index-core", "chonkie", "semchunk", "semantic-text-splitter")  # fmt: skip


def versions() -> dict[str, str]:
    """The versions of all that numbers may depend on; what is not installed is left out."""
    found = {"engine": str(ENGINE), "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_study(path: Path) -> Study:
    """The study in a file. ReadError with the file's name where there is none."""
    if not path.is_file():
        raise ReadError(f"study: there is no file {path}")
    return study_of(str(path), path.read_bytes())


def study_of(name: str, content: bytes) -> Study:
    """The study in the bytes of a file of that name. ReadError where there is none."""
    try:
        return Study.from_object(json.loads(content.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise ReadError(f"study {name}: {error}") from error


@dataclass(frozen=True, slots=True)
class Measured:
    """The trials of a file, the study that it is, None where it is what evaluate prints, and what such a file lacks."""

    records: list[Record]
    study: Study | None
    lacks: list[str]


def read_trials(path: Path) -> Measured:
    """The trials of a file that sweep or evaluate wrote, ready to be compared. ReadError where it has none."""
    if not path.is_file():
        raise ReadError(f"there is no file {path}")
    return trials_of(str(path), path.read_bytes())


def trials_of(name: str, content: bytes) -> Measured:
    """The same from the bytes of a file of that name."""
    try:
        value = json.loads(content.decode("utf-8"))
        if isinstance(value, dict) and "per_question" in value:
            records, study = [record_of(value)], None
            lacks = [f"{name} is one trial without hashes: its questions are known by their ids alone"]
        else:
            study, lacks = Study.from_object(value), []
            records = list(study.trials.values())
        if not records:
            raise ValueError("it has no trial")
        clusters = study.clusters if study else {}
        if not all(_completed(one, clusters) for one in records):
            lacks.append(f"{name} does not name the document of every question: they are taken as independent")
        return Measured(records, study, lacks)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{name}: {error}") from error


def _completed(record: Record, clusters: dict[str, str]) -> bool:
    """Fills in the documents of a record's questions, '' where they are unknown; whether all are known.

    ValueError where it lacks anything that trials are compared by.
    """
    lacking = [name for name in (*MEASURES, "per_question", "misses", "intervals", "cut") if name not in record]
    if lacking:
        raise ValueError(f"a trial must have {lacking[0]}, and this has none")
    rows = record["per_question"]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) and row.keys() >= _ROW for row in rows):
        raise ValueError(f"each question of a trial must have {', '.join(sorted(_ROW))}")
    for row in rows:
        row.setdefault("document", clusters.get(row["id"], ""))
    return all(row["document"] for row in rows)


_ROW = {"id", "hit", "rank", "lenient_hit", "coverage", "precision", "iou", "words_sent", "sent", "reason"}


def write_study(path: Path, study: Study) -> None:
    """Writes a study; a file that is there is replaced only once the new one is whole."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(study.to_object(), ensure_ascii=False), encoding="utf-8")
    os.replace(part, path)


def write_csv(path: Path, records: Iterable[Record]) -> None:
    """Writes a row for each trial: its configuration, every measure, and the ends of every interval."""
    path.write_text(csv_text(map(row_of, records)), encoding="utf-8", newline="")


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV under the names of all their columns."""
    held = list(rows)
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in held for name in row)), restval="")
    writer.writeheader()
    writer.writerows(held)
    return text.getvalue()


def row_of(record: Record) -> dict[str, Any]:
    """A trial as one flat row. Example: intervals of coverage -> coverage_low, coverage_high"""
    config = {name: value for name, value in record["config"].items() if name not in ("settings", "embedder")}
    settings = {name: _cell(value) for name, value in record["config"]["settings"].items()}
    plain = {name: value for name, value in record.items() if not isinstance(value, dict | list)}
    counts = {f"{name}_{key}": value for name in ("hit_at", "misses", "flags") for key, value in record[name].items()}
    ends = {
        f"{name}_{end}": value
        for name, pair in record["intervals"].items() for end, value in zip(("low", "high"), pair, strict=True)
    }  # fmt: skip
    return {"id": plain.pop("id"), "arm": plain.pop("arm"), **config, **settings, **plain, **counts, **ends}


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value
