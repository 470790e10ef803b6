"""Which settings of a sweep are best, in words, and which cannot be told from the best. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chunking.best import Verdict
from chunking.comparing import Difference
from chunking.experiment import Trial
from chunking.index import Config
from pages.parts.jobs import Measured
from pages.parts.sweep_charts import Standing, of_line
from pages.parts.sweeps import Panel, value_of
from pages.parts.words import amount_of, counted, percent, title_of, value_text

#: The measures of a table that settings can be judged by, and what they are called where questions are compared.
JUDGED = {"hit_rate": "hit", "lenient_hit_rate": "lenient_hit", "mean_reciprocal_rank": "reciprocal_rank",
          "coverage": "coverage", "precision": "precision", "iou": "iou"}  # fmt: skip
_NAMED = 6  # settings that are named before the rest are counted


#: Gives the verdict on trials by a measure's name among those that questions are compared by.
Judge = Callable[[tuple[Trial, ...], str], Verdict]


def judged(panel: Panel, found: Sequence[Measured], measure: str, judge: Judge) -> list[tuple[str, Standing, str]]:
    """For each line of a panel that shows the measure: its name, which settings are level, and that in a sentence."""
    said = []
    for line in panel.lines:
        trials = tuple(one.trial for one in of_line(line, found))
        if line.measure == measure and measure in JUDGED and len(trials) > 1:
            result = judge(trials, JUDGED[measure])
            level = {trials[place].config for place in (result.winner, *result.level)}
            standing = Standing(trials[result.winner].config, frozenset(level))
            said.append((line.arm, standing, _sentence(panel, trials, result, line.arm)))
    return said


def _sentence(panel: Panel, trials: Sequence[Trial], result: Verdict, arm: str) -> str:
    best = trials[result.winner].config
    sent = "" if {"k", "budget"} & set(panel.over) else f" {amount_of(best)}"
    said = [f"Best{sent}{f', {arm}' if arm else ''}: {_name(panel, best)} with {percent(result.means[result.winner])}."]
    level = [_name(panel, trials[place].config) for place in result.level]
    if level:
        more = f" and {len(level) - _NAMED} more" if len(level) > _NAMED else ""
        said.append(f"Not distinguishable from the best: {'; '.join(level[:_NAMED])}{more}.")
    said.append(
        f"{counted(len(result.ruled_out), 'setting')} of {len(trials)} {'is' if len(result.ruled_out) == 1 else 'are'} ruled out (95%, all at once)."
    )
    if result.held_out:
        held = result.held_out
        said.append(f"Chosen as best, a setting gives {percent(held.mean)} on documents that had no part in the choice "
                    f"({percent(held.interval.low)} to {percent(held.interval.high)}).")  # fmt: skip
    if result.too_narrow:
        said.append("Fewer than ten documents carry questions: this is surer than it should be.")
    return " ".join(said)


def _name(panel: Panel, config: Config) -> str:
    """A setting by what the chart varies. Example: 'size 200, overlap 50'"""
    if not panel.over:
        return title_of(config)
    return ", ".join(f"{name} {value_text(value_of(config, name))}" for name in panel.over)


def difference_said(difference: Difference, config: Config) -> str:
    """What taking the summaries away does to one setting, in a sentence."""
    told = "That is more than chance" if difference.told else "That may be chance"
    return (f"{title_of(config)}, {amount_of(config)}: without its summaries {100 * difference.mean:+.1f} points "
            f"(95% interval {100 * difference.low:+.1f} to {100 * difference.high:+.1f}; {len(difference.won)} questions won, "
            f"{len(difference.lost)} lost). {told} (p = {difference.p:.2g}).")  # fmt: skip
