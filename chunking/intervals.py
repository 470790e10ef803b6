"""How far a measured mean may be off: 95% intervals that know that questions about one document hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunking.types import Ints

Floats = NDArray[np.float64]

_Z = 1.959963984540054  # the standard normal's 97.5% point
ONE_SIDED = 1.6448536269514722  # and its 95% point
_DRAWS = 4000
ENOUGH_DOCUMENTS = 10


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval of a mean, how it was made, and whether it is too narrow (few documents: clusters ignored)."""

    low: float
    high: float
    method: str
    too_narrow: bool


def interval(values: Sequence[float], documents: Sequence[str], rate: bool) -> Interval:
    """The interval of the mean of per-question values; `documents` names each question's document.

    Where at least ten documents carry questions, documents are resampled (cluster bootstrap). Otherwise it is Wilson's
    interval for rates and a bootstrap over questions for other means, both marked as too narrow. A rate of 0 or 1 gets
    Wilson's too: resampling what is all alike would claim certainty.
    ValueError without values.
    """
    if not len(values):
        raise ValueError("an interval needs at least one question, got none")
    data = np.asarray(values, float)
    units, clustered = units_of(documents)
    found = percentiles(resampled_means(data, units), units, clustered)
    if rate and not (clustered and found.low < found.high):
        return Interval(*wilson(float(data.sum()), len(data)), "Wilson", True)
    return found


def units_of(documents: Sequence[str]) -> tuple[Ints, bool]:
    """The unit that each question is resampled with, (n,), and whether units are documents.

    Documents where at least ten carry questions, otherwise the questions themselves.
    """
    names, cluster = np.unique(np.asarray(documents), return_inverse=True)
    enough = len(names) >= ENOUGH_DOCUMENTS
    return (cluster if enough else np.arange(len(documents))), enough


def percentiles(means: Floats, units: Ints, clustered: bool) -> Interval:
    """The bootstrap interval of a mean from its resamples, (draws,)."""
    outside = tail(0.025, int(units.max()) + 1)
    low, high = np.quantile(means, (outside, 1 - outside)).tolist()
    return Interval(low, high, "documents resampled" if clustered else "questions resampled", not clustered)


def tail(share: float, units: int) -> float:
    """The share of resamples to leave outside a bound so that about `share` of such bounds are wrong.

    Resampling few units understates the spread: the expanded percentile interval (Hesterberg 2015).
    Example: 0.025 of 23 units -> 0.017
    """
    if units < 2:
        return share
    from scipy.special import ndtr, ndtri

    return float(ndtr(widened(ndtri(share), units)))


def widened(deviate: Any, units: int) -> Any:
    """A normal deviate as Student's t has it for so many units, times the bootstrap's own shortfall."""
    from scipy.special import ndtr, stdtrit

    return sqrt(units / (units - 1)) * stdtrit(units - 1, ndtr(deviate))


def resampled_means(values: Floats, units: Ints) -> Floats:
    """The mean of per-question values in each resample of their units: (n,) -> (draws,), (n, m) -> (draws, m)."""
    counts = np.bincount(units).astype(float)
    sums = unit_sums(values, units)
    drawn = _weights(len(counts))
    return ((drawn @ sums).T / (drawn @ counts)).T


def unit_sums(values: Floats, units: Ints) -> Floats:
    """Per-question values summed over each unit: (n,) -> (units,), (n, m) -> (units, m)."""
    sums = np.zeros((int(units.max()) + 1, *values.shape[1:]))
    np.add.at(sums, units, values)
    return sums


def wilson(hits: float, n: int, z: float = _Z) -> tuple[float, float]:
    """Wilson's score interval of a rate (Wilson, 1927). Example: 16 of 16 -> 0.806, 1.0"""
    rate = hits / n
    middle = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


@lru_cache(maxsize=32)
def _weights(n: int) -> Floats:
    """How often each of n units is drawn in each resample, (draws, n); the same draws every time."""
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), size=_DRAWS).astype(float)
