"""Differences in words, and the gate: whether a change may pass."""

from __future__ import annotations

from dataclasses import dataclass

from chunking.comparing import MEASURES, Difference, Measure, compare
from chunking.experiment import Trial

PASS, WORSE, UNTOLD = 0, 1, 3


@dataclass(frozen=True, slots=True)
class Gate:
    """The status to exit with, and why in a sentence."""

    status: int
    reason: str


def gate(trial: Trial, baseline: Trial, margin: float, measure: Measure = MEASURES["hit"]) -> Gate:
    """Whether a trial may take its baseline's place: passed at once where every question is sent the very same.

    ValueError where the questions differ or the margin is not from 0 to 1.
    """
    found = compare(trial, baseline, measure)
    decided = decide(found, margin)
    if all(ours.sent == theirs.sent for ours, theirs in zip(trial.results, baseline.results, strict=True)):
        return Gate(PASS, f"Nothing has changed: each of the {found.questions} questions is sent the same.")
    return decided


def decide(found: Difference, margin: float) -> Gate:
    """0 where a loss of more than the margin is ruled out, 1 where it is worse beyond chance, 3 where it cannot be told.

    Ruled out: the one-sided 95% lower bound of the paired difference is not below minus the margin. A loss that is
    certain but within the margin passes.
    """
    if not 0 <= margin < 1:
        raise ValueError(f"margin must be at least 0 and below 1, got {margin}")
    title, change, worst = found.measure.title, _change(found.mean), _change(found.worst)
    caution = (
        " (fewer than ten documents carry questions, so this is surer than it should be)" if found.too_narrow else ""
    )
    if found.worst >= -margin - 1e-9:
        status = PASS
        reason = f"a loss of more than {_points(margin)} is ruled out: the {title} is {change}, with 95% confidence at worst {worst}"
    elif found.mean < 0 and found.told:
        status = WORSE
        reason = f"the {title} is worse beyond chance: it is {change}, {_p(found.corrected_p)}"
    else:
        status = UNTOLD
        reason = f"it cannot be told whether more than {_points(margin)} are lost: the {title} is {change}, and may be {worst}"
    return Gate(status, f"{reason[0].upper()}{reason[1:]}{caution}.")


def in_words(found: Difference) -> str:
    """A difference in words. Example: found 11 more and lost 2 of 80; unlikely to be chance, p = 0.01"""
    if not found.won and not found.lost:
        same = f"found the same {len(found.both)}" if found.measure.rate else f"{found.measure.title} the same for all"
        return f"{same} of {found.questions}"
    chance = "unlikely to be chance" if found.told else "may be chance"
    corrected = " after correction for all that is compared" if found.corrected_p != found.p else ""
    caution = (
        "; fewer than ten documents carry questions, so this is surer than it should be" if found.too_narrow else ""
    )
    return f"{_moved(found)}; {chance}, {_p(found.corrected_p)}{corrected}{caution}"


def needed_in_words(found: Difference) -> str:
    """How many more questions would tell the two apart, in words; '' where they are told apart."""
    if found.told:
        return ""
    if found.more_needed is None:
        return "no number of questions would tell these two apart if they are as equal as they look"
    if not found.more_needed:
        return "as many questions as these would tell these two apart in 4 of 5 repetitions, if the difference is what it seems"
    return (
        f"about {found.more_needed:,} more questions like these would tell these two apart in 4 of 5 repetitions, "
        "if the difference is what it seems"
    )


def _moved(found: Difference) -> str:
    won, lost = len(found.won), len(found.lost)
    if found.measure.rate:
        return f"found {won or 'no'} more and lost {lost or 'none'} of {found.questions}"
    scale, unit = (1, "words") if found.measure.unit == "words" else (100, "points")
    mean, low, high = (_signed(scale * value) for value in (found.mean, found.low, found.high))
    return f"{found.measure.title} {mean} {unit} (95% interval {low} to {high})"


def _change(value: float) -> str:
    """A change in points. Example: -0.031 -> '3.1 points lower'"""
    if not round(100 * value, 1):
        return "unchanged"
    return f"{_points(abs(value))} {'higher' if value > 0 else 'lower'}"


def _points(value: float) -> str:
    shown = f"{100 * value:.1f}".removesuffix(".0")
    return f"{shown} point{'' if shown == '1' else 's'}"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
