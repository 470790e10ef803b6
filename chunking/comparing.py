"""Two trials compared question by question on the same questions, and whether the difference is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from chunking.experiment import Result, Trial
from chunking.intervals import ONE_SIDED, Floats, percentiles, resampled_means, tail, unit_sums, units_of, wilson
from chunking.types import Ints

_CHANCE = 0.05  # what a corrected p-value must not exceed for a difference to be told from chance
_POWER = 0.8  # how often a true difference is to be told
_FLIPS = 9999
_COUNTED = 100_000  # the largest sum whose flips are counted out


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of each question whose mean is compared. A rate's values are 0 or 1; all but words are shares."""

    name: str
    title: str
    of: Callable[[Result], float]
    rate: bool = False
    unit: str = "points"


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("hit", "hit rate", lambda result: float(result.hit), rate=True),
        Measure("lenient_hit", "lenient hit rate", lambda result: float(result.lenient_hit), rate=True),
        Measure("reciprocal_rank", "reciprocal rank", lambda result: result.reciprocal_rank),
        Measure("coverage", "coverage", lambda result: result.cover.coverage),
        Measure("precision", "precision", lambda result: result.cover.precision),
        Measure("iou", "IoU", lambda result: result.cover.iou),
        Measure("words_sent", "words sent", lambda result: float(result.words_sent), unit="words"),
    )
}


def area_measure(budget: int) -> Measure:
    """The area under the budget curve from 0 to a budget, as a share of the budget: its per-question part.

    ValueError where the budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"budget must be a whole number of words, at least 1, got {budget!r}")
    return Measure("area", f"area under the budget curve up to {budget:,} words", partial(_area, budget))


def _area(budget: int, result: Result) -> float:
    needed = result.words_needed
    return 0.0 if needed is None else max(0, budget - needed) / budget


@dataclass(frozen=True, slots=True)
class Difference:
    """A trial less its baseline in the mean of one measure over the same questions.

    `p` is two-sided; `corrected_p` allows for everything that was compared with it. `worst` is the one-sided 95% lower
    bound of the mean. Questions by id: `won` are those with more than the baseline, `lost` those with less, `both` the
    same and above 0, `neither` 0 in both. `needed` is how many questions would tell the two apart, if the difference
    is what it seems (`questions_needed`); None where there is none to tell.
    """

    measure: Measure
    mean: float
    low: float
    high: float
    worst: float
    method: str
    too_narrow: bool
    p: float
    corrected_p: float
    test: str
    won: tuple[str, ...]
    lost: tuple[str, ...]
    both: tuple[str, ...]
    neither: tuple[str, ...]
    needed: int | None

    @property
    def questions(self) -> int:
        """How many questions were compared."""
        return len(self.won) + len(self.lost) + len(self.both) + len(self.neither)

    @property
    def told(self) -> bool:
        """Whether the difference is more than chance, after the correction."""
        return self.corrected_p <= _CHANCE

    @property
    def more_needed(self) -> int | None:
        """How many more questions would tell the two apart; 0 where there are enough."""
        return None if self.needed is None else max(0, self.needed - self.questions)


def compare(trial: Trial, baseline: Trial, measure: Measure = MEASURES["hit"]) -> Difference:
    """The difference of a trial from its baseline. ValueError where they did not answer the same questions."""
    check_same_questions([baseline, trial])
    ids = [result.question.id for result in trial.results]
    return difference(values(trial, measure), values(baseline, measure), documents(trial), ids, measure)


def compare_all(trials: Sequence[Trial], baseline: Trial, measure: Measure = MEASURES["hit"]) -> tuple[Difference, ...]:
    """The difference of each trial from one baseline, p-values corrected for all of them (Holm)."""
    return corrected([compare(trial, baseline, measure) for trial in trials])


def corrected(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with p-values corrected for all of them (Holm)."""
    p_values = holm([one.p for one in found])
    return tuple(replace(one, corrected_p=p) for one, p in zip(found, p_values, strict=True))


def values(trial: Trial, measure: Measure) -> Floats:
    """The measure of each question, (n,)."""
    return np.array([measure.of(result) for result in trial.results])


def documents(trial: Trial) -> list[str]:
    """The document of each question's first passage: its cluster, also where passages lie in several."""
    return [result.question.document for result in trial.results]


def check_same_questions(trials: Sequence[Trial]) -> None:
    """ValueError where trials did not answer the same questions in the same order."""
    asked = [[(result.question.id, result.question.text) for result in trial.results] for trial in trials]
    for other in asked[1:]:
        if len(other) != len(asked[0]):
            raise ValueError(
                f"trials are compared on the same questions, and these have {len(asked[0])} and {len(other)}"
            )
        for (one, first), (two, second) in zip(asked[0], other, strict=True):
            if (one, first) != (two, second):
                raise ValueError(
                    f"trials are compared on the same questions, and {one!r} ({first!r}) in one is {two!r} ({second!r}) in another"
                )


def difference(
    ours: Sequence[float] | Floats, theirs: Sequence[float] | Floats, documents: Sequence[str], ids: Sequence[str],
    measure: Measure = MEASURES["hit"],
) -> Difference:  # fmt: skip
    """The difference of two rows of per-question values, ours less theirs; `documents` names each question's document.

    Where at least ten documents carry questions, documents are resampled for the interval and flipped for the test.
    Otherwise questions are resampled, and the test is McNemar's (mid-p) for rates and flips questions for other means.
    Rates that differ for no question get the interval of 0 lost and 0 won (Wilson): resampling would claim certainty.
    """
    mine, yours = np.asarray(ours, float), np.asarray(theirs, float)
    gain = mine - yours
    units, clustered = units_of(documents)
    won, lost = int((gain > 0).sum()), int((gain < 0).sum())
    if clustered or not measure.rate:
        p, test = flip_p(unit_sums(gain, units)), f"sign flips by {'document' if clustered else 'question'}"
    else:
        p, test = mcnemar_p(won, lost), "McNemar, mid-p"
    resamples = resampled_means(gain, units)
    found = percentiles(resamples, units, clustered)
    low, high, method = found.low, found.high, found.method
    worst = float(np.quantile(resamples, tail(0.05, int(units.max()) + 1)))
    if measure.rate and not won + lost:
        high = wilson(0, len(gain))[1]
        low, worst, method = -high, -wilson(0, len(gain), ONE_SIDED)[1], "Wilson"
    named = np.asarray(ids, object)
    same, held = gain == 0, mine != 0
    groups = [tuple(named[group].tolist()) for group in (gain > 0, gain < 0, same & held, same & ~held)]
    return Difference(
        measure, float(gain.mean()), low, high, worst, method, not clustered, p, p, test,
        groups[0], groups[1], groups[2], groups[3], questions_needed(gain, documents),
    )  # fmt: skip


def flip_p(sums: Floats) -> float:
    """The two-sided p-value of a sum against all ways to flip the signs of its parts.

    Exact for whole numbers (of a sum up to 100,000), and up to 13 parts that are not 0; otherwise over 9,999 random flips, the same every time.
    Example: 3, 1, 1 -> of the 8 sums 2 are 5 or -5 -> 0.25
    """
    parts = np.abs(sums)[np.abs(sums) > 1e-12]
    if (parts == parts.round()).all() and parts.sum() <= _COUNTED:
        return _exact_flip_p(parts.astype(np.int64), round(abs(float(sums.sum()))))
    from scipy.stats import permutation_test

    parts = sums[np.abs(sums) > 1e-12]
    if len(parts) < 2:
        return 1.0
    found = permutation_test((parts, np.zeros(len(parts))), lambda a, b, axis: (a - b).sum(axis), vectorized=True,
                             permutation_type="samples", n_resamples=_FLIPS, rng=0)  # fmt: skip
    return float(found.pvalue)


def _exact_flip_p(parts: Ints, reached: int) -> float:
    """The share of all flips whose sum is as far from 0 as the one reached: the sums' distribution, part by part."""
    shares = np.ones(1)
    for part in parts.tolist():
        shares = (np.pad(shares, (0, 2 * part)) + np.pad(shares, (2 * part, 0))) / 2
    sums = np.arange(len(shares)) - len(shares) // 2
    return min(1.0, float(shares[np.abs(sums) >= reached].sum()))


def mcnemar_p(won: int, lost: int) -> float:
    """The two-sided mid-p of McNemar's test (Fagerland, Lydersen and Laake 2013). Example: 1 and 6 -> 0.0703"""
    from scipy.stats import binom

    if won == lost:
        return 1.0
    fewer, n = min(won, lost), won + lost
    return float(2 * binom.cdf(fewer, n, 0.5) - binom.pmf(fewer, n, 0.5))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for all of them (Holm 1979). Example: 0.01, 0.04, 0.03 -> 0.03, 0.06, 0.06"""
    p = np.asarray(p_values, float)
    order = np.argsort(p)
    larger = np.empty(len(p))
    larger[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return larger.tolist()


def questions_needed(gain: Floats, documents: Sequence[str]) -> int | None:
    """How many questions in all would tell two trials apart in 4 of 5 repetitions, at 5% two-sided; None at 0.

    Assumes that the true difference, the share of questions that differ and how far questions about one document hang
    together are as in `gain`, the per-question differences, and as many questions a document. Connor's formula for
    paired rates (1987), times the design effect where at least ten documents carry questions, which is never taken
    below 1. Flipping the signs of whole numbers is an exact test and gives away some power, because its sums go in
    steps of 2: so many questions are added as make up for one step (as Fleiss's correction does for rates).
    """
    mean = float(gain.mean())
    if not mean:
        return None
    square = float((gain**2).mean())
    told, power = NormalDist().inv_cdf(1 - _CHANCE / 2), NormalDist().inv_cdf(_POWER)
    alone = (told * sqrt(square) + power * sqrt(max(0.0, square - mean**2))) ** 2 / mean**2
    units, clustered = units_of(documents)
    step = 2 / abs(mean) if clustered and (gain == gain.round()).all() else 0.0
    return ceil(alone * design_effect(gain, units, clustered) + step)


def design_effect(gain: Floats, units: Ints, clustered: bool) -> float:
    """How many times the variance of the mean is what independent questions would give it; at least 1."""
    spread = float(gain.var(ddof=1)) / len(gain) if len(gain) > 1 else 0.0
    if not clustered or not spread:
        return 1.0
    rest = unit_sums(gain - gain.mean(), units)
    return max(1.0, len(rest) / (len(rest) - 1) * float((rest**2).sum()) / len(gain) ** 2 / spread)
