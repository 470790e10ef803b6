"""Budget curves: how often the answer is found when every question may be sent so many words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chunking.comparing import area_measure, values
from chunking.experiment import Trial
from chunking.intervals import Floats, Interval
from chunking.types import Ints


@dataclass(frozen=True, slots=True)
class Curve:
    """A step function: from `words[i]` words on, up to the next, the mean hit is `rates[i]`; it begins with 0 words.

    `area` is the area under it from 0 to the budget over the budget: the mean of the hit rate over all budgets up to
    that one.
    """

    words: Ints
    rates: Floats
    budget: int
    area: float
    area_interval: Interval

    def at(self, words: int) -> float:
        """The mean hit under a budget of so many words."""
        return float(self.rates[np.searchsorted(self.words, words, "right") - 1])


def budget_curve(trial: Trial, budget: int) -> Curve:
    """The budget curve of a trial, whatever k or budget it was run with, and its area up to a budget of words."""
    areas = values(trial, area_measure(budget))
    words, rates = zip(*steps(trial), strict=True)
    return Curve(
        np.array(words, np.int64), np.array(rates), budget, float(areas.mean()), trial.interval(areas.tolist())
    )


def steps(trial: Trial) -> tuple[tuple[int, float], ...]:
    """The steps of the budget curve: from so many words on, the mean hit; the first is at 0 words."""
    needed = [result.words_needed for result in trial.results if result.words_needed is not None]
    words, counts = np.unique(np.array([0, *needed], np.int64), return_counts=True)
    counts[0] -= 1  # the 0 is no question's
    return tuple(zip(words.tolist(), (np.cumsum(counts) / len(trial.results)).tolist(), strict=True))


def band(trial: Trial, budgets: Sequence[int]) -> tuple[Interval, ...]:
    """The 95% interval of the mean hit under each budget of words, each for itself."""
    return tuple(trial.interval([float(hit) for hit in hits_at(trial, words)], rate=True) for words in budgets)


def hits_at(trial: Trial, budget: int) -> list[bool]:
    """Whether each question is hit under a budget of words."""
    return [result.words_needed is not None and result.words_needed <= budget for result in trial.results]
