"""What became of each question: its rank in two trials, and those that moved most."""

from __future__ import annotations

from dataclasses import dataclass

from chunking.comparing import check_same_questions
from chunking.experiment import Result, Trial


@dataclass(frozen=True, slots=True)
class Move:
    """One question in two trials."""

    before: Result
    after: Result

    @property
    def gain(self) -> float:
        """The change of the reciprocal rank: from rank 2 to 1 it is 0.5, from 40 to 20 it is 0.025."""
        return self.after.reciprocal_rank - self.before.reciprocal_rank


def moves(trial: Trial, baseline: Trial) -> list[Move]:
    """Each question in the baseline and in the trial, those first whose reciprocal rank changed most.

    ValueError where the questions differ.
    """
    check_same_questions([baseline, trial])
    found = [Move(*pair) for pair in zip(baseline.results, trial.results, strict=True)]
    return sorted(found, key=lambda move: -abs(move.gain))
