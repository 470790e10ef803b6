"""Studies on disk: one JSON file, and a table as CSV."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path
from typing import Any

from chunking.study import Record, Study
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
    try:
        return Study.from_object(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise ReadError(f"study {path}: {error}") from error


def write_study(path: Path, study: Study) -> None:
    """Writes a study; a file that is there is replaced only once the new one is whole."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(study.to_object(), ensure_ascii=False), encoding="utf-8")
    os.replace(part, path)


def write_csv(path: Path, records: Iterable[Record]) -> None:
    """Writes a row for each trial: its configuration, every measure, and the ends of every interval."""
    path.write_text(csv_text([row_of(record) for record in records]), encoding="utf-8", newline="")


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV under the names of all their columns."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
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
