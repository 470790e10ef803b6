"""The table of strategies: what the sliders, `--set` and the documentation are made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chunking.joined import alone
from chunking.registry import (
    FLAGS,
    STRATEGIES,
    Choice,
    Number,
    Numbers,
    Parameter,
    checked,
    cut,
    flag_names,
    flags,
    strategy_named,
)
from chunking.types import Document

every_strategy = pytest.mark.parametrize("name", STRATEGIES)
PARAMETERS = [
    pytest.param(name, parameter, id=f"{name}-{parameter.name}")
    for name, strategy in STRATEGIES.items()
    for parameter in strategy.parameters
]
every_parameter = pytest.mark.parametrize(("name", "parameter"), PARAMETERS)


@every_strategy
def test_defaults_are_valid_and_complete(name: str) -> None:
    strategy = STRATEGIES[name]
    values = checked(strategy, {})
    assert values == {parameter.name: parameter.default for parameter in strategy.parameters}
    assert checked(strategy, values) == values


@every_strategy
def test_a_row_is_documented(name: str) -> None:
    strategy = STRATEGIES[name]
    assert strategy.name == name
    assert name.isidentifier()
    assert strategy.title.strip()
    assert strategy.summary.endswith(".")
    assert strategy.cut.__doc__, "the function says what it does"
    assert not strategy.limit or strategy.limit in values_of(name)


def values_of(name: str) -> dict[str, Any]:
    """The default settings of a strategy."""
    return checked(STRATEGIES[name], {})


@every_parameter
def test_a_parameter_is_documented(name: str, parameter: Parameter) -> None:
    assert parameter.name.isidentifier()
    assert parameter.label[0].isupper()
    assert parameter.help.endswith(".")


@every_parameter
def test_stops_and_values_are_in_range_in_order_and_hold_the_default(name: str, parameter: Parameter) -> None:
    stops = parameter.values if isinstance(parameter, Choice) else parameter.stops
    assert set(np.atleast_1d(parameter.default).tolist()) <= set(stops)
    assert len(set(stops)) == len(stops)
    if isinstance(parameter, Number):
        assert list(stops) == sorted(stops)
        assert parameter.lowest <= stops[0] <= stops[-1] <= parameter.highest
        assert len(stops) <= 24, "each stop is a set of texts to embed"


@every_parameter
def test_every_stop_goes_with_the_other_defaults_unless_another_parameter_bounds_it(name: str, parameter: Any) -> None:
    stops = parameter.values if isinstance(parameter, Choice) else parameter.stops
    for stop in [(stop,) for stop in stops] if isinstance(parameter, Numbers) else stops:
        if fits(name, parameter, stop):
            assert checked(STRATEGIES[name], {parameter.name: stop})[parameter.name] == stop
        else:
            with pytest.raises(ValueError, match=parameter.name):
                checked(STRATEGIES[name], {parameter.name: stop})


def fits(name: str, parameter: Parameter, stop: Any) -> bool:
    """Whether a stop keeps to the bounds that the parameters set one another, the others at their defaults."""
    values = {**values_of(name), parameter.name: stop}
    numbers = [one for one in STRATEGIES[name].parameters if isinstance(one, Number)]
    below = all(values[one.name] < values[one.below] for one in numbers if one.below)
    return below and all(values[one.name] <= values[one.upto] for one in numbers if one.upto)


@every_parameter
def test_bounds_name_parameters_of_the_same_strategy(name: str, parameter: Parameter) -> None:
    if isinstance(parameter, Number):
        assert {parameter.below, parameter.upto} - {""} <= set(values_of(name)) - {parameter.name}


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("fixed", {"size": 0}, "size must be from 1 to 1000000, got 0"),
        ("fixed", {"size": 2_000_000}, "size must be from 1 to 1000000, got 2000000"),
        ("fixed", {"size": "20"}, "size must be a whole number, got '20'"),
        ("fixed", {"size": 2.5}, "size must be a whole number, got 2.5"),
        ("fixed", {"overlap": -1}, "overlap must be from 0 to 1000000, got -1"),
        ("fixed", {"unit": "letters"}, "unit must be one of words, characters, tokens, got 'letters'"),
        ("sentence", {"oversize": "drop"}, "oversize must be one of keep, cut, got 'drop'"),
        ("semantic", {"threshold": 1.5}, "threshold must be from -1 to 1, got 1.5"),
        ("semantic", {"threshold": float("nan")}, "threshold must be a number, got nan"),
        ("sentence_window", {"window": -1}, "window must be from 0 to 1000, got -1"),
        ("parent_child", {"parent": "big"}, "parent must be a whole number, got 'big'"),
        ("parent_child", {"parent": 10}, "child must not be above parent, got child 50 and parent 10"),
    ],
)
def test_a_message_names_the_rule_and_the_value(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        checked(STRATEGIES[name], settings)


def test_a_whole_number_may_come_as_a_float_and_a_threshold_as_a_whole_number() -> None:
    """Sliders and JSON are not careful about it."""
    values = checked(STRATEGIES["fixed"], {"size": 120.0})
    assert values["size"] == 120
    assert isinstance(values["size"], int)
    assert isinstance(checked(STRATEGIES["semantic"], {"threshold": 0})["threshold"], float)


def test_settings_are_not_changed_by_checking_them() -> None:
    settings = {"size": 120.0}
    checked(STRATEGIES["fixed"], settings)
    assert settings == {"size": 120.0}


@pytest.mark.parametrize(
    ("wrong", "near"), [("recursiv", "recursive"), ("parent-child", "parent_child"), ("Fixed", "fixed")]
)
def test_an_unknown_strategy_is_answered_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"strategy '{wrong}' is not known: did you mean {near}\\?"):
        strategy_named(wrong)


def test_flags_have_names() -> None:
    assert [flag_names(bits) for bits in range(4)] == [(), ("over_limit",), ("heading_last",), FLAGS]


def test_a_heading_is_last_only_where_something_stands_before_it() -> None:
    document = Document("d", "One.\n\n# A\n\nTwo.\n\n## B")
    whole = cut(document, "whole", {})
    assert [flag_names(bits) for bits in flags(alone(document), "whole", {}, whole).tolist()] == [("heading_last",)]
    sections = cut(document, "section", {})
    assert [flag_names(bits) for bits in flags(alone(document), "section", {}, sections).tolist()] == [(), (), ()]


def test_the_limit_of_parent_child_is_the_childs() -> None:
    document = Document("d", "abcdef gh ij")
    settings = {"child": 4, "parent": 5, "unit": "characters"}
    chunks = cut(document, "parent_child", settings)
    assert [flag_names(bits) for bits in flags(alone(document), "parent_child", settings, chunks).tolist()] == [
        ("over_limit",), (), ()
    ]  # fmt: skip


def test_no_chunks_have_no_flags() -> None:
    document = Document("d", " ")
    assert np.array_equal(flags(alone(document), "fixed", {}, cut(document, "fixed", {})), np.zeros(0, np.int64))
