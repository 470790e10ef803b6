"""How far a measured mean may be off: 95% intervals that know that questions about one document hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # the standard normal's 97.5% point
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
    names, cluster = np.unique(np.asarray(documents), return_inverse=True)
    if len(names) >= ENOUGH_DOCUMENTS:
        sums = np.bincount(cluster, data).astype(float)
        counts = np.bincount(cluster).astype(float)
        low, high = _bootstrap(sums, counts)
        if low < high or not rate:
            return Interval(low, high, "documents resampled", False)
    if rate:
        return Interval(*wilson(float(data.sum()), len(data)), "Wilson", True)
    return Interval(*_bootstrap(data, np.ones(len(data))), "questions resampled", True)


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a rate (Wilson, 1927). Example: 16 of 16 -> 0.806, 1.0"""
    rate = hits / n
    middle = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def _bootstrap(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    weights = _weights(len(sums))
    means = (weights @ sums) / (weights @ counts)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


@lru_cache(maxsize=32)
def _weights(n: int) -> NDArray[np.float64]:
    """How often each of n units is drawn in each resample, (draws, n); the same draws every time."""
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), size=_DRAWS).astype(float)
