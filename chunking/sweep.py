"""A sweep: the configurations that come of varying parameters, measured one after another; which of them cut alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby, product
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from chunking.experiment import Trial, ranked
from chunking.index import Config, Index
from chunking.registry import Choice, Number, Numbers, Parameter, strategy_named
from chunking.types import Corpus, Describe, Embed

AXES = ("scope", "context", "pooling", "search", "k", "budget", "repeats")
MOST = 2000  # configurations of one sweep
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """The configurations of a sweep in order, and a sentence for each combination that the strategy refuses."""

    configs: tuple[Config, ...]
    refused: tuple[str, ...]


def plan(
    strategies: Sequence[str], settings: Mapping[str, Any], varied: Mapping[str, Sequence[Any]], **axes: Any
) -> Plan:
    """Every combination of the varied values, for each strategy; the last named parameter varies fastest.

    `varied` names settings and axes (`AXES`). A strategy takes of the settings what it has: what no strategy has is
    refused, and a strategy without a varied setting is measured once. ValueError where no combination is left.
    Example: fixed; size 50, 100; overlap 0, 50 -> 50/0, 100/0, 100/50; refused is 50/50
    """
    names = {name: {parameter.name for parameter in strategy_named(name).parameters} for name in strategies}
    for name in (*settings, *(name for name in varied if name not in AXES)):
        if not any(name in known for known in names.values()):
            raise ValueError(f"no strategy of this sweep ({', '.join(strategies)}) has a setting {name!r}")
    found: dict[Config, None] = {}
    refused: dict[str, None] = {}
    for strategy in strategies:
        own = {name: values for name, values in varied.items() if name in AXES or name in names[strategy]}
        for values in product(*own.values()):
            chosen = dict(zip(own, values, strict=True))
            given = {name: value for name, value in {**settings, **chosen}.items() if name in names[strategy]}
            over = axes | {name: value for name, value in chosen.items() if name in AXES}
            try:
                found[_config(strategy, given, over)] = None
            except ValueError as error:
                refused[f"{strategy}: {error}"] = None
            if len(found) > MOST:
                raise ValueError(f"a sweep must have at most {MOST} configurations, got more: take larger steps")
    if not found:
        raise ValueError(next(iter(refused), "a sweep needs a strategy, and each varied parameter a value"))
    return Plan(tuple(found), tuple(refused))


def _config(strategy: str, settings: dict[str, Any], axes: dict[str, Any]) -> Config:
    """A configuration, without the chat model where the context asks none."""
    described = axes.get("context") == "contextual"
    return Config.of(strategy, settings, **{name: axes[name] for name in axes if name != "chat" or described})


def values_of(strategies: Sequence[str], name: str, text: str) -> list[Any]:
    """The values that a text gives a parameter: `low:high:step` or a list parted by commas.

    Lists of a parameter that is a list itself are parted by semicolons. ValueError with the rule where it gives none.
    Example: 50:200:50 -> 50, 100, 150, 200
    """
    parameters = {parameter.name: parameter for each in strategies for parameter in strategy_named(each).parameters}
    kind = parameters.get(name)
    if name not in AXES and kind is None:
        raise ValueError(f"no strategy of this sweep ({', '.join(strategies)}) has a setting {name!r}")
    if isinstance(kind, Numbers):
        return [[number(name, part) for part in one.split(",")] for one in text.split(";")]
    if not isinstance(kind, Number) and name not in ("k", "budget"):
        return text.split(",")
    return _stepped(name, text) if ":" in text else [number(name, part) for part in text.split(",")]


def _stepped(name: str, text: str) -> list[float]:
    parts = [number(name, part) for part in text.split(":")]
    if len(parts) != 3 or not all(map(isfinite, parts)) or parts[2] <= 0 or parts[0] > parts[1]:
        raise ValueError(f"{name} must be low:high:step with a step above 0, got {text!r}")
    low, high, step = parts
    count = int((high - low) / step + 1e-9) + 1
    if count > MOST:
        raise ValueError(f"{name} must have at most {MOST} values, got {count}")
    # Rounded: steps of 0.05 add up to noise at the seventeenth digit.
    return [_whole(round(low + step * turn, 9)) for turn in range(count)]


def setting(parameter: Parameter | None, name: str, text: str) -> Any:
    """The value of a setting that is written as text, in the kind that its parameter has."""
    if isinstance(parameter, Numbers):
        return [number(name, part) for part in text.split(",")]
    return text if parameter is None or isinstance(parameter, Choice) else number(name, text)


def number(name: str, text: str) -> float:
    """The number that a text says, whole where it is; ValueError with the parameter's name where it says none."""
    try:
        return _whole(float(text))
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r}") from None


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def sweep(
    corpus: Corpus, configs: Iterable[Config], embed: Embed,
    describe: Callable[[Config], Describe | None] = lambda config: None,
) -> Iterator[Trial]:  # fmt: skip
    """A trial of each configuration, as soon as it is measured, in the given order.

    Neighbours that differ only in how much is sent share their cut, their vectors and their rankings.
    """
    for _, same in groupby(configs, key=cut_of):
        group = list(same)
        ranking = ranked(corpus, group[0], embed, describe=describe(group[0]))
        yield from map(ranking.trial, group)


def cut_of(config: Config) -> Config:
    """The configuration with all that decides how much is sent set to its default."""
    return replace(config, k=5, budget=None, repeats="skip")


def cut_hash(index: Index) -> str:
    """16 hexadecimal digits that two indexes share if all their spans, matched and returned, are the same."""
    digest = blake2b(digest_size=8)
    for column in (
        index.documents,
        index.starts,
        index.ends,
        index.span_starts[index.returned],
        index.span_ends[index.returned],
    ):
        digest.update(np.ascontiguousarray(column, "<i8").tobytes())
    return digest.hexdigest()


def alike(named: Iterable[tuple[T, Hashable]]) -> list[list[T]]:
    """The groups of at least two things that have the same hash, in order; of settings: those that cut identically.

    Example: (a, 1), (b, 2), (c, 1) -> [[a, c]]
    """
    groups: dict[Hashable, list[T]] = {}
    for thing, key in named:
        group = groups.setdefault(key, [])
        if thing not in group:
            group.append(thing)
    return [group for group in groups.values() if len(group) > 1]
