"""The public test cases, made from reports of defects in other tools, where their folder lies beside the repository."""

from __future__ import annotations

import importlib.util
import json
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from data.documents import ENDINGS
from tests import public_cases
from tests.conftest import SHARED

FOLDER = SHARED / "cases"
#: Every check of these kinds is met, and no run is skipped but those that ask for a kind of file that is not read, or
#: for steps in a browser, which are checked by eye.
KINDS = ("chunker", "offsets", "sentence", "unicode", "markdown", "evaluation", "embedding", "upload", "ui")
CASES = FOLDER / "cases.jsonl"

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the folder of public cases is not beside the repository")

Outcome = tuple[str, str, bool | None, str]  # level, check, met (None where it is to be seen by hand), message


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
    every = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    return [case for case in every if case["kind"] == kind]


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_of_a_kind_is_met(kind: str, runner: Any, record_property: Any, capsys: Any) -> None:
    count: Counter[str] = Counter()
    failures: list[str] = []
    for case in cases(kind):
        for run, text in runner.expand(case):
            if asks_for_a_file_that_is_not_read(run) or run["strategy"] == "steps":
                count["runs skipped"] += 1
                continue
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


def asks_for_a_file_that_is_not_read(run: dict[str, Any]) -> bool:
    """Whether a run is about a document of a kind that the readers do not know."""
    return run["strategy"] == "load_document" and Path(run["params"]["file"]).suffix not in ENDINGS


def checked(runner: Any, case: dict[str, Any], run: dict[str, Any], text: str | None) -> list[Outcome]:
    """The outcome of each check of one run; a run that is skipped is a failure."""
    begin = time.perf_counter()
    result = public_cases.run(case, run, text, str(FOLDER))
    if result is None:
        return [("must", "run", False, "the adapter skipped this run")]
    result.setdefault("seconds", time.perf_counter() - begin)
    result.setdefault("input_text", text)
    return runner.checks.check(case, run, result)


def test_two_files_of_one_name_are_kept_apart_and_a_double_is_said(runner: Any) -> None:
    """What the runner leaves to the eye."""
    (case,) = (case for case in cases("upload") if case["id"] == "UP-12")
    ((run, text),) = runner.expand(case)
    result = public_cases.run(case, run, text, str(FOLDER))
    assert result is not None
    names = [FOLDER / name for name in run["params"]["files"][:2]]
    assert list(result["documents"].values()) == [name.read_text(encoding="utf-8") for name in names]
    assert len(result["notes"]) == 2
    assert not result["error"]
