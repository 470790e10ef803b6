"""Which of several trials is best, which cannot be told from it, and what the chosen one gives on documents not chosen by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunking.comparing import MEASURES, Measure, check_same_questions, documents, values
from chunking.experiment import Trial
from chunking.intervals import Floats, Interval, percentiles, resampled_means, units_of, widened
from chunking.types import Ints

_FOLDS = 5
_REPEATS = 20


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The mean of the setting chosen as best on documents that had no part in the choice, and its 95% interval."""

    mean: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Verdict:
    """Trials, by number, in three groups: `winner` has the highest mean, `level` cannot be told from the best.

    With 95% confidence, all at once, the truly best trial is the winner or among `level`, none of those `ruled_out` is
    it, and no trial lies further behind the best than `most_behind` says. `behind` is what was measured, from the
    winner. `held_out` is None where there are no documents to hold out.
    """

    winner: int
    level: tuple[int, ...]
    ruled_out: tuple[int, ...]
    means: tuple[float, ...]
    behind: tuple[float, ...]
    most_behind: tuple[float, ...]
    held_out: HeldOut | None
    too_narrow: bool


def verdict(trials: Sequence[Trial], measure: Measure = MEASURES["hit"]) -> Verdict:
    """The verdict on trials by a measure of which more is better. ValueError where their questions differ or there is none."""
    if not trials:
        raise ValueError("a verdict needs at least one trial, got none")
    check_same_questions(trials)
    return judged(np.column_stack([values(trial, measure) for trial in trials]), documents(trials[0]))


def judged(table: Floats, documents: Sequence[str]) -> Verdict:
    """The verdict on per-question values, (questions, trials); `documents` names each question's document.

    Multiple comparisons with the best (Edwards and Hsu 1983): each trial in turn is taken for the best and compared with
    all others at once, by the largest standardised difference among resamples. It is ruled out where another one is
    better by more than that allows. Of trials with the same highest mean the first is the winner.
    """
    units, clustered = units_of(documents)
    means = table.mean(axis=0)
    ahead = means[:, None] - means[None, :]  # by how much the row's trial is better than the column's
    slack = _slack(resampled_means(table, units) - means, int(units.max()) + 1)
    winner = int(means.argmax())
    possible = (ahead <= slack + 1e-12).all(axis=0)
    possible[winner] = True
    others = ahead + slack.T  # what the row's trial may be better than the column's at most, were the row's the best
    np.fill_diagonal(others, 0.0)
    return Verdict(
        winner, tuple(np.flatnonzero(possible & (np.arange(len(means)) != winner)).tolist()),
        tuple(np.flatnonzero(~possible).tolist()), tuple(means.tolist()), tuple((means[winner] - means).tolist()),
        tuple(np.maximum(0, others[possible].max(axis=0)).tolist()), held_out(table, documents), not clustered,
    )  # fmt: skip


def _slack(deviations: Floats, units: int) -> Floats:
    """How much better a row's trial may look than a column's that is the best, (m, m); deviations are (draws, m)."""
    slack = np.zeros((deviations.shape[1],) * 2)
    for best in range(len(slack)):
        apart = deviations - deviations[:, [best]]
        spread = apart.std(axis=0)
        moving = spread > 1e-12
        if units > 1 and moving.any():
            largest = np.quantile((apart[:, moving] / spread[moving]).max(axis=1), 0.95)
            slack[:, best] = max(0.0, widened(largest, units)) * spread
    return slack


def held_out(table: Floats, documents: Sequence[str]) -> HeldOut | None:
    """What choosing the best trial gives on documents that had no part in the choice; None with a single document.

    The documents are dealt into five folds, twenty times; on each fold stand the values of the trial that is best on the
    other folds (of several, their mean). The interval is as wide as that of the winner's own mean: the mean of several
    choices would look surer than one choice is. It leaves out that another sample might have chosen otherwise.
    """
    names, cluster = np.unique(np.asarray(documents), return_inverse=True)
    if len(names) < 2:
        return None
    kept = np.mean([_crossed(table, fold[cluster]) for fold in _folds(len(names))], axis=0)
    mean, winner = float(kept.mean()), table[:, int(table.mean(axis=0).argmax())]
    units, clustered = units_of(documents)
    own = percentiles(resampled_means(winner, units), units, clustered)
    shift, least, most = mean - float(winner.mean()), float(table.min()), float(table.max())
    low, high = (min(max(bound + shift, least), most) for bound in (own.low, own.high))
    return HeldOut(mean, replace(own, low=low, high=high))


def _crossed(table: Floats, folds: Ints) -> Floats:
    """The values, (n,), of the trial that is best on all folds but the question's own."""
    sums = np.stack([np.bincount(folds, column) for column in table.T], axis=1)
    counts = np.bincount(folds)
    rest = (sums.sum(axis=0) - sums) / (counts.sum() - counts)[:, None]
    best = rest >= rest.max(axis=1, keepdims=True) - 1e-12
    weights = best / best.sum(axis=1, keepdims=True)
    return (weights[folds] * table).sum(axis=1)


def _folds(documents: int) -> list[Ints]:
    """The fold of each document in every repetition; the same every time."""
    random = np.random.default_rng(documents)
    dealt = np.arange(documents) % min(_FOLDS, documents)
    return [random.permutation(dealt) for _ in range(_REPEATS)]
