"""What the Sweep page can vary: the configurations of each kind of sweep, and the charts that show it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from chunking.context import CONTEXTS
from chunking.index import POOLINGS, REPEATS, SEARCHES, Config
from chunking.joined import SCOPES
from chunking.registry import STRATEGIES, Choice, Number, Numbers, Parameter, Strategy
from chunking.stops import BUDGETS, KS, allowed
from chunking.summaries import NAMES
from chunking.sweep import AXES, Plan, plan, values_of
from chunking.table import OF_THE_CUT

MOST = 300  # trials of one sweep on the page; the terminal takes more
KEPT, REMOVED = "summaries kept", "summaries removed"

_MAP_SIZES = (50, 100, 150, 200, 300, 400, 600, 800)
_MAP_OVERLAPS = (0, 25, 50, 100, 200)
_GRID_SIZES = (100, 200, 400)
_LIMITS = ("size", "overlap", "unit")  # what one strategy takes over from another

Amount = Literal["k", "budget"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sweep: its name in the address, what it varies in plain words, and what its charts tell."""

    name: str
    title: str
    says: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("size", "Size", "The passage is whole in some chunk; whole and not missed for what the model never read; found. What lacks above the first line the cut lost, between the lines the model's limit and the ranking."
        ),
        Kind("overlap", "Overlap", "What repeating the end of a chunk buys, and how much the index grows for it."),
        Kind("threshold", "Semantic threshold", "How many chunks a threshold makes, how long they are, and how often the answer is found."),
        Kind("dial", "Parent and child", "Match a small child, send a larger parent: which pair finds the answer most often."),
        Kind("map", "Size against overlap", "Which pairs find the answer most often, and which cannot be told from the best."),
        Kind("amount", "k and reading budget", "How often the answer is found when more is sent, by number of chunks and by words."),
        Kind("summaries", "Self-summaries kept or removed", "Sections that say the document again in short: what they add, and whether the best size is still the same without them."),
        Kind("strategies", "Strategies", "A coarse grid: every strategy at a few sizes, at equal k and at equal words."),
        Kind("any", "Any parameter", "One parameter of the strategy, or of search, against any measure."),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """What one line of a chart shows: a measure, at an amount that is sent, of an arm."""

    name: str
    measure: str
    amount: Amount
    arm: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart: lines over one parameter, a map over two, or a row for each setting where none is named."""

    title: str
    over: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The configurations of a sweep, its charts, and the measure by which settings are judged, '' for none."""

    plan: Plan
    panels: tuple[Panel, ...]
    measure: str = "hit_rate"


def size_sweep(config: Config, k: int, budget: int) -> Sweep:
    """The three lines over size."""
    names = {"whole_share": "whole in a chunk", "read_share": "whole and read", "hit_rate": "found"}
    return _lines_over("size", _with(config, "size"), k, budget, names)


def overlap_sweep(config: Config, k: int, budget: int) -> Sweep:
    """Strict hit rate, coverage and index growth over overlap."""
    names = {"hit_rate": "hit rate", "coverage": "coverage", "repeated_words": "index growth"}
    return _lines_over("overlap", _with(config, "size", "overlap"), k, budget, names)


def threshold_sweep(config: Config, k: int, budget: int) -> Sweep:
    """Chunks, their words and the hit rate over the threshold of `semantic`."""
    base = config if config.strategy == "semantic" else _as("semantic", config)
    base = _at(base, cut_by="threshold")
    return _measures_over("threshold", base, k, budget, ("chunks", "words_per_chunk", "hit_rate"))


def dial_sweep(config: Config, k: int, budget: int) -> Sweep:
    """The map of child and parent."""
    base = config if config.strategy == "parent_child" else _as("parent_child", config)
    varied = {name: _stops(base, name) for name in ("parent", "child")}
    return Sweep(_planned(base, varied, k, budget), _maps(("parent", "child"), k, budget))


def map_sweep(config: Config, k: int, budget: int) -> Sweep:
    """The map of size and overlap."""
    base = _with(config, "size", "overlap")
    return Sweep(
        _planned(base, {"size": _MAP_SIZES, "overlap": _MAP_OVERLAPS}, k, budget), _maps(("size", "overlap"), k, budget)
    )


def amount_sweep(config: Config, k: int, budget: int) -> Sweep:
    """The lines over the number of chunks sent, and over the words."""
    by_k = _planned(config, {"k": sorted({*KS, k})}, k, budget)
    by_words = _planned(config, {"budget": sorted({*BUDGETS, budget})}, k, budget)
    names = {"whole_share": "whole in a chunk", "read_share": "whole and read", "hit_rate": "found"}
    titles: tuple[tuple[Amount, str], ...] = (("k", "By chunks sent"), ("budget", "By words sent"))
    panels = tuple(
        Panel(title, (amount,), tuple(Line(name, measure, amount) for measure, name in names.items()))
        for amount, title in titles
    )
    return Sweep(Plan(by_k.configs + by_words.configs, by_k.refused + by_words.refused), panels, measure="")


def summaries_sweep(config: Config, k: int, budget: int) -> Sweep:
    """The hit rate over size in both arms."""
    base = _with(config, "size")
    panels = tuple(
        Panel(title, ("size",), tuple(Line(arm, "hit_rate", amount, arm) for arm in (KEPT, REMOVED)))
        for amount, title in _titles(k, budget)
    )
    return Sweep(_planned(base, {"size": _stops(base, "size")}, k, budget), panels)


def strategies_sweep(config: Config, k: int, budget: int) -> Sweep:
    """A row for each strategy at a few sizes; libraries are left to the terminal."""
    ours = [name for name, strategy in STRATEGIES.items() if not strategy.module]
    varied = {"size": _GRID_SIZES, "budget": [None, budget]}
    panels = tuple(Panel(title, (), (Line("hit rate", "hit_rate", amount),)) for amount, title in _titles(k, budget))
    return Sweep(plan(ours, {}, varied, **_axes(config, k)), panels)


def any_sweep(config: Config, k: int, budget: int, name: str, text: str, measure: str) -> Sweep:
    """One parameter at the values of a text against one measure. ValueError where the text gives none."""
    values = values_of([config.strategy], name, text)
    return replace(_measures_over(name, config, k, budget, (measure,), values), measure=measure)


def parameters_of(config: Config, tokens: bool, late: bool) -> dict[str, str]:
    """What can be varied of a configuration, each with its usual values as a text; the terminal takes the same texts."""
    strategy, values = STRATEGIES[config.strategy], config.values
    found = {
        one.name: _text(config, one, tokens)
        for one in strategy.parameters
        if not isinstance(one, Number) or one.when is None or values[one.when[0]] == one.when[1]
    }
    axes = {"scope": SCOPES, "context": [one for one in CONTEXTS if one != "contextual"], "search": SEARCHES,
            "pooling": POOLINGS if late else (), "k": KS, "budget": BUDGETS, "repeats": REPEATS}  # fmt: skip
    return found | {name: ",".join(map(str, usual)) for name, usual in axes.items() if usual}


def value_of(config: Config, name: str) -> Any:
    """The value of a setting or an axis."""
    return getattr(config, name) if name in AXES else config.values[name]


def headings_of(text: str) -> tuple[str, ...]:
    """The headings that a text names, parted by commas; the usual ones where it names none."""
    return tuple(filter(None, (part.strip() for part in text.split(",")))) or NAMES


def check(sweep: Sweep, arms: int) -> None:
    """ValueError where a sweep is too large for the page."""
    trials = len(sweep.plan.configs) * arms
    if trials > MOST:
        raise ValueError(
            f"a sweep on the page must have at most {MOST} trials, got {trials}: take larger steps, or the terminal"
        )


def _lines_over(name: str, base: Config, k: int, budget: int, names: Mapping[str, str]) -> Sweep:
    """A chart for each amount, with a line for each measure."""
    panels = tuple(
        Panel(title, (name,), tuple(Line(said, measure, amount) for measure, said in names.items()))
        for amount, title in _titles(k, budget)
    )
    return Sweep(_planned(base, {name: _stops(base, name)}, k, budget), panels)


def _measures_over(
    name: str, base: Config, k: int, budget: int, measures: Sequence[str], values: Sequence[Any] | None = None
) -> Sweep:
    """A chart for each measure, with a line for each amount where the measure depends on it."""
    titles = dict(_titles(k, budget))
    if name in ("k", "budget"):
        titles = {amount: title for amount, title in titles.items() if amount == name}
    panels = []
    for measure in measures:
        shown = list(titles)[:1] if measure in OF_THE_CUT else list(titles)
        lines = tuple(Line(titles[amount] if amount != name else "", measure, amount) for amount in shown)
        panels.append(Panel("", (name,), lines))
    return Sweep(_planned(base, {name: values or _stops(base, name)}, k, budget), tuple(panels))


def _maps(over: tuple[str, str], k: int, budget: int) -> tuple[Panel, ...]:
    return tuple(Panel(title, over, (Line("hit rate", "hit_rate", amount),)) for amount, title in _titles(k, budget))


def _titles(k: int, budget: int) -> tuple[tuple[Amount, str], ...]:
    return ("k", f"At {k} chunk{'' if k == 1 else 's'}"), ("budget", f"Within {budget:,} words")


def _planned(base: Config, varied: Mapping[str, Sequence[Any]], k: int, budget: int) -> Plan:
    """The plan of one strategy: each setting at k and within the budget, unless one of them is varied."""
    amounts = {} if varied.keys() & {"k", "budget"} else {"budget": [None, budget]}
    settings = {
        name: value for name, value in base.values.items() if name not in varied and _matters(base, name, varied)
    }
    axes = {name: value for name, value in _axes(base, k).items() if name not in varied}
    return plan([base.strategy], settings, {**varied, **amounts}, **axes)


def _matters(base: Config, name: str, varied: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a setting has an effect: a threshold has none where the cut is by percentile."""
    when = next((one.when for one in _parameters(base) if one.name == name and isinstance(one, Number)), None)
    return when is None or (when[0] not in varied and base.values[when[0]] == when[1])


def _axes(config: Config, k: int) -> dict[str, Any]:
    return {name: getattr(config, name) for name in ("scope", "context", "pooling", "search", "repeats")} | {"k": k}


def _with(config: Config, *names: str) -> Config:
    """The configuration where its strategy has these parameters as numbers, else the fixed window beside the same axes."""
    return config if names_of(STRATEGIES[config.strategy]).issuperset(names) else _as("fixed", config)


def names_of(strategy: Strategy) -> set[str]:
    """The names of a strategy's numbers."""
    return {one.name for one in strategy.parameters if isinstance(one, Number)}


def _as(strategy: str, config: Config) -> Config:
    """Another strategy with the axes of a configuration, and its size, overlap and unit where it has such."""
    known = {one.name for one in STRATEGIES[strategy].parameters}
    settings = {name: value for name, value in config.values.items() if name in _LIMITS and name in known}
    return Config.of(strategy, settings, **_axes(config, config.k))


def _at(config: Config, **settings: Any) -> Config:
    return Config.of(config.strategy, config.values | settings, **_axes(config, config.k))


def _parameters(config: Config) -> tuple[Parameter, ...]:
    return STRATEGIES[config.strategy].parameters


def _stops(config: Config, name: str) -> list[float]:
    """The slider's stops of a parameter, with the value that is set."""
    number = next(one for one in _parameters(config) if one.name == name)
    assert isinstance(number, Number)
    stops = allowed(number, config.values) if number.below else number.stops
    return sorted({*stops, config.values[name]})


def _text(config: Config, parameter: Parameter, tokens: bool) -> str:
    """The usual values of a parameter as a text."""
    if isinstance(parameter, Numbers):
        return ";".join(map(str, parameter.stops))
    if isinstance(parameter, Choice):
        return ",".join(value for value in parameter.values if tokens or value != "tokens")
    return ",".join(f"{stop:g}" for stop in _stops(config, parameter.name))
