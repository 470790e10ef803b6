"""Trials by kind of question: where one strategy is better for one kind and worse for another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunking.comparing import MEASURES, Measure, check_same_questions, documents, values
from chunking.experiment import Trial
from chunking.intervals import Interval, interval

_ENOUGH = 10


@dataclass(frozen=True, slots=True)
class Kind:
    """The questions of one kind: each trial's mean over them with its interval; small where they are fewer than ten."""

    name: str
    questions: int
    means: tuple[float, ...]
    intervals: tuple[Interval, ...]

    @property
    def small(self) -> bool:
        """Whether there are too few questions to say much."""
        return self.questions < _ENOUGH


def by_kind(trials: Sequence[Trial], measure: Measure = MEASURES["hit"], field: str = "kind") -> tuple[Kind, ...]:
    """The trials' means by the value of a question's field, most frequent first; '' for questions without the field.

    ValueError where their questions differ.
    """
    check_same_questions(trials)
    names = [str(dict(result.question.fields).get(field, "")) for result in trials[0].results] if trials else []
    order = sorted(set(names), key=lambda name: (-names.count(name), name))
    return tuple(_kind(name, [at for at, own in enumerate(names) if own == name], trials, measure) for name in order)


def _kind(name: str, places: Sequence[int], trials: Sequence[Trial], measure: Measure) -> Kind:
    held = [documents(trials[0])[at] for at in places]
    rows = [values(trial, measure)[list(places)] for trial in trials]
    means = tuple(float(row.mean()) for row in rows)
    return Kind(name, len(places), means, tuple(interval(row.tolist(), held, measure.rate) for row in rows))
