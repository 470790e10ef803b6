"""The public test cases, made from reports of defects in other tools, where their folder lies beside the repository."""

from __future__ import annotations

import importlib.util
import json
import time
from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from tests import public_cases
from tests.conftest import SHARED

FOLDER = SHARED / "cases"
#: Every check of these kinds is met and none of their runs is skipped.
KINDS = ("chunker", "offsets", "sentence", "unicode", "markdown")
CASES = FOLDER / "cases.jsonl"

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the folder of public cases is not beside the repository")


def module(name: str) -> ModuleType:
    """A module of the folder of cases."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def runner() -> Any:
    """The runner, which knows which runs a case stands for."""
    return module("runner")


def cases(kind: str) -> list[dict[str, Any]]:
    """The cases of a kind."""
    return [case for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()) if case["kind"] == kind]


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_of_a_kind_is_met(kind: str, runner: Any, record_property: Any, capsys: Any) -> None:
    count: Counter[str] = Counter()
    failures: list[str] = []
    for case in cases(kind):
        for run, text in runner.expand(case):
            count["runs"] += 1
            for level, name, met, message in checked(runner, case, run, text):
                count["by hand" if met is None else "checks"] += 1
                if met is False:
                    failures.append(f"{case['id']} {run['strategy']} {level} {name}: {message}")
    for name, number in count.items():
        record_property(name, number)
    with capsys.disabled():
        print(f"\n  {kind}: {len(cases(kind))} cases, {count['runs']} runs, {count['checks']} checks", end="")
    assert not failures, "\n".join(failures)
    assert count["runs"]


def checked(
    runner: Any, case: dict[str, Any], run: dict[str, Any], text: str | None
) -> list[tuple[str, str, bool | None, str]]:
    """The outcome of each check of one run; a run that is skipped is a failure."""
    begin = time.perf_counter()
    result = public_cases.run(case, run, text, str(FOLDER))
    if result is None:
        return [("must", "run", False, "the adapter skipped this run")]
    result.setdefault("seconds", time.perf_counter() - begin)
    result.setdefault("input_text", text)
    return runner.checks.check(case, run, result)
