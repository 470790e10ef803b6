"""Trials as a study keeps them, compared with one another: their rows of figures are enough, no document is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chunking.best import Verdict, judged
from chunking.comparing import MEASURES, Difference, corrected, difference
from chunking.gate import Gate, decide
from chunking.intervals import Floats
from chunking.study import Record

Row = Mapping[str, Any]  # what a record keeps of one question

#: What is compared: the measures of which more is better.
COMPARED = tuple(name for name, measure in MEASURES.items() if measure.unit == "points")


def shared_questions(records: Sequence[Record]) -> list[str]:
    """The ids of the questions that all records answer, in the order of the first. ValueError where there is none."""
    held = [{row["id"] for row in one["per_question"]} for one in records]
    shared = [row["id"] for row in records[0]["per_question"] if all(row["id"] in ids for ids in held)]
    if not shared:
        raise ValueError("trials are compared on the same questions, and these have none in common")
    return shared


def left_out(records: Sequence[Record]) -> list[str]:
    """The ids of the questions that some records answer and others do not, in order."""
    shared = set(shared_questions(records))
    return list(dict.fromkeys(row["id"] for one in records for row in one["per_question"] if row["id"] not in shared))


def compare_records(trials: Sequence[Record], baseline: Record, measure: str = "hit") -> tuple[Difference, ...]:
    """The difference of each trial from one baseline over the questions that all share, p-values corrected (Holm)."""
    ids = shared_questions([baseline, *trials])
    documents = _documents(baseline, ids)
    theirs = _values(baseline, measure, ids)
    return corrected(
        [difference(_values(one, measure, ids), theirs, documents, ids, MEASURES[measure]) for one in trials]
    )


def judge_records(records: Sequence[Record], measure: str = "hit") -> Verdict:
    """The verdict on trials over the questions that all share."""
    ids = shared_questions(records)
    return judged(np.column_stack([_values(one, measure, ids) for one in records]), _documents(records[0], ids))


def gate_records(trial: Record, baseline: Record, margin: float, measure: str = "hit") -> tuple[Difference, Gate]:
    """The difference of a trial from its baseline, and whether it may take its place."""
    (found,) = compare_records([trial], baseline, measure)
    ids = shared_questions([baseline, trial])
    sent = [[row["sent"] for row in _rows(one, ids)] for one in (trial, baseline)]
    return found, decide(found, margin, sent[0] == sent[1])


def price_of(record: Record, price: float, questions: int = 1000) -> float | None:
    """What so many questions cost at a price for a million tokens sent; None where the tokens are not known."""
    tokens = record["tokens_sent"]
    return None if tokens is None else tokens * questions * price / 1_000_000


def _values(record: Record, measure: str, ids: Sequence[str]) -> Floats:
    rows = _rows(record, ids)
    if measure == "reciprocal_rank":
        return np.array([1 / row["rank"] if row["rank"] else 0.0 for row in rows])
    return np.array([float(row[measure]) for row in rows])


def _documents(record: Record, ids: Sequence[str]) -> list[str]:
    return [row["document"] for row in _rows(record, ids)]


def _rows(record: Record, ids: Sequence[str]) -> list[Row]:
    by_id = {row["id"]: row for row in record["per_question"]}
    return [by_id[name] for name in ids]
