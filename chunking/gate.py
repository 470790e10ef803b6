"""Differences and verdicts in words and as plain values, and the gate: whether a change may pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chunking.best import Verdict
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
    return decide(found, margin, [one.sent for one in trial.results] == [one.sent for one in baseline.results])


def decide(found: Difference, margin: float, sent_alike: bool = False) -> Gate:
    """0 where a loss of more than the margin is ruled out, 1 where it is worse beyond chance, 3 where it cannot be told.

    `sent_alike` tells that every question is sent the very same: then, unless a question was won or lost, it is 0.
    Ruled out: the one-sided 95% lower bound of the paired difference is not below minus the margin. A loss that is
    certain but within the margin passes.
    """
    if not 0 <= margin < 1:
        raise ValueError(f"margin must be at least 0 and below 1, got {margin}")
    if sent_alike and not found.won and not found.lost:
        return Gate(PASS, f"Nothing has changed: each of the {found.questions} questions is sent the same.")
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


def verdict_in_words(found: Verdict, names: Sequence[str], title: str) -> list[str]:
    """A verdict on a measure of that title, a share, in sentences: the winner, those level with it, those ruled out, and
    what choosing it promises elsewhere."""

    def listed(group: Sequence[int]) -> str:
        rows = (
            f"{names[one]} ({_points(found.behind[one])} behind, at most {_points(found.most_behind[one])})"
            for one in group
        )
        return "; ".join(rows) or "none"

    said = [
        f"Best {title}: {names[found.winner]}, {100 * found.means[found.winner]:.1f}%.",
        f"Cannot be told from the best: {listed(found.level)}.",
        f"Ruled out: {listed(found.ruled_out)}.",
    ]
    if found.held_out:
        low, high = found.held_out.interval.low, found.held_out.interval.high
        said.append(
            f"On documents held out from the choosing, the one chosen as best gives {100 * found.held_out.mean:.1f}% "
            f"(95% interval {100 * low:.1f}% to {100 * high:.1f}%)."
        )
    if found.too_narrow:
        said.append("Fewer than ten documents carry questions, so all this is surer than it should be.")
    return said


def difference_object(found: Difference) -> dict[str, Any]:
    """A difference as plain values for JSON, with what it says in words."""
    values = {name: value for name, value in asdict(found).items() if name != "measure"}
    return {
        "measure": found.measure.name,
        **values,
        "more_needed": found.more_needed,
        "told": found.told,
        "words": in_words(found),
    }


def verdict_object(found: Verdict, ids: Sequence[str]) -> dict[str, Any]:
    """A verdict as plain values for JSON, its trials by their ids."""
    held = found.held_out
    return {
        "winner": ids[found.winner],
        "level": [ids[one] for one in found.level],
        "ruled_out": [ids[one] for one in found.ruled_out],
        "behind": dict(zip(ids, found.behind, strict=True)),
        "most_behind": dict(zip(ids, found.most_behind, strict=True)),
        "held_out": held and {"mean": held.mean, "interval": [held.interval.low, held.interval.high]},
        "too_narrow": found.too_narrow,
    }


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
