"""The simulation of `bench.coverage`: its samples are what they claim to be, and a short run finds nothing far off."""

from __future__ import annotations

import numpy as np
import pytest

from bench.coverage import Tally, drawn, main
from chunking.comparing import design_effect
from chunking.intervals import units_of


def test_samples_have_the_rates_and_hang_together_by_document_as_asked() -> None:
    random = np.random.default_rng(1)
    alone, names = drawn(random, 3000, 0.0, [0.6, 0.3])
    assert alone.mean(axis=0) == pytest.approx([0.6, 0.3], abs=0.02)
    assert {names.count(name) for name in names[:50]} <= {3, 4}
    together, own = drawn(random, 3000, 0.3, [0.6, 0.3])
    assert together.mean(axis=0) == pytest.approx([0.6, 0.3], abs=0.03)
    assert design_effect(alone[:, 0], *units_of(names)) < 1.1
    assert design_effect(together[:, 0], *units_of(own)) > 1.3


def test_settings_share_what_makes_a_question_hard() -> None:
    table, _ = drawn(np.random.default_rng(2), 2000, 0.1, [0.5, 0.5])
    assert 0.3 < np.corrcoef(table.T)[0, 1] < 0.5


def test_what_is_off_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    tally.share("held", [True] * 900 + [False] * 100, least=0.95)
    tally.share("told", [True] * 30 + [False] * 970, most=0.05)
    tally.bias("flattered", [0.05, 0.06] * 100, most=0)
    tally.bias("fair", [0.01, -0.01] * 100, most=0)
    assert tally.off == ["held", "flattered"]
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["off", "ok", "off", "ok"]


@pytest.mark.slow
def test_a_short_run_finds_nothing_far_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    assert "0 off" in capsys.readouterr().out
