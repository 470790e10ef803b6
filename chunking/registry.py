"""The table of strategies: their functions, and the parameters that make the sliders, `--set` and the docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from chunking.parts import part_of
from chunking.segments import headings
from chunking.strategies.fixed import fixed
from chunking.strategies.paragraph import paragraph
from chunking.strategies.parent_child import parent_child
from chunking.strategies.recursive import recursive
from chunking.strategies.section import section
from chunking.strategies.semantic import semantic
from chunking.strategies.sentence import sentence
from chunking.strategies.sentence_window import sentence_window
from chunking.strategies.whole import whole
from chunking.types import Chunks, Document, Embed, Ints, TokenSpans
from chunking.units import UNITS, Unit, ruler

Settings = Mapping[str, Any]
_SIZES = (25, 50, 75, 100, 120, 150, 175, 200, 225, 250, 300, 350, 400, 500, 600, 700, 800)


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter with a number: `stops` are the slider's, the terminal takes any value from `lowest` to `highest`."""

    name: str
    label: str
    default: float
    stops: tuple[float, ...]
    lowest: float
    highest: float
    help: str
    sized: bool = True  # counted in the unit that is set; a threshold or a number of sentences is not
    below: str = ""  # the parameter it must stay below
    upto: str = ""  # the parameter it must not exceed


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter with a few named values."""

    name: str
    label: str
    default: str
    values: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table. `limit` names the parameter that a chunk's matched span must not exceed, if there is one."""

    name: str
    title: str
    summary: str
    cut: Callable[..., Chunks]
    parameters: tuple[Number | Choice, ...] = ()
    limit: str = ""
    embeds: bool = False  # cutting needs the embedder


def _size(help: str = "The most a chunk may hold.") -> Number:
    return Number("size", "Size", 200, _SIZES, 1, 1_000_000, help)


_OVERLAP = Number("overlap", "Overlap", 0, (0, 10, 20, 25, 30, 40, 50, 75, 100, 150, 200), 0, 1_000_000,
                  "What a chunk repeats from the end of the one before it.", below="size")  # fmt: skip
_UNIT = Choice(
    "unit", "Unit", "words", UNITS, "What size and overlap are counted in. Tokens are those of the built-in model."
)


def _oversize(default: str, help: str) -> Choice:
    return Choice("oversize", "Over the limit", default, ("keep", "cut"), help)


_ROWS = (
    Strategy("whole", "Whole document", "The document as one chunk.", whole),
    Strategy("fixed", "Fixed window", "A window of so many words, wherever sentences begin or end.", fixed,
             (_size("The length of the window."), _OVERLAP, _UNIT), "size"),
    Strategy("sentence", "Sentences", "Whole sentences, packed up to a limit.", sentence,
             (_size(), _OVERLAP, _UNIT, _oversize("keep", "A sentence over the limit: kept whole, or cut between words.")), "size"),
    Strategy("paragraph", "Paragraphs", "Whole paragraphs, packed up to a limit.", paragraph,
             (_size(), _UNIT, _oversize("cut", "A paragraph over the limit: cut between sentences, or kept whole.")), "size"),
    Strategy("section", "Sections", "One chunk for each heading with its text.", section),
    Strategy("recursive", "Recursive", "Split on headings, then paragraphs, sentences and words as far as the limit asks; "
             "then packed.", recursive,
             (_size(), _OVERLAP, _UNIT, _oversize("keep", "A single word over the limit: kept whole, or cut.")), "size"),
    Strategy("semantic", "Semantic", "A new chunk wherever two neighbouring sentences are unlike.", semantic,
             (Number("threshold", "Threshold", 0.25, tuple(round(0.05 * step, 2) for step in range(17)), -1, 1,
                     "Cosine of two neighbouring sentences below which a new chunk begins.", sized=False),
              _size("The cap: the most a chunk may hold however alike its sentences are."), _UNIT,
              _oversize("keep", "A sentence over the cap: kept whole, or cut between words.")), "size", embeds=True),
    Strategy("parent_child", "Parent and child", "Match a small child, send the parent it was cut from.", parent_child,
             (Number("child", "Child", 50, (25, 50, 75, 100, 120, 150, 175, 200), 1, 1_000_000,
                     "The most a child may hold: what is embedded and matched.", upto="parent"),
              Number("parent", "Parent", 200, (100, 150, 200, 250, 300, 400, 500, 600, 700, 800), 1, 1_000_000,
                     "The most a parent may hold: what is sent."),
              Choice("base", "Cut by", "recursive", ("recursive", "fixed"), "The strategy that cuts both."), _UNIT), "child"),
    Strategy("sentence_window", "Sentence window", "Match one sentence, send it with its neighbours.", sentence_window,
             (Number("window", "Neighbours", 2, tuple(range(11)), 0, 1000,
                     "Sentences sent before and after the one that matched.", sized=False),)),
)  # fmt: skip

STRATEGIES: dict[str, Strategy] = {row.name: row for row in _ROWS}

FLAGS = ("over_limit", "heading_last")


def strategy_named(name: str) -> Strategy:
    """The strategy of that name; ValueError with the nearest name where there is none."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = get_close_matches(name, STRATEGIES, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(STRATEGIES)}"
    raise ValueError(f"strategy {name!r} is not known: {hint}")


def checked(strategy: Strategy, settings: Settings) -> dict[str, Any]:
    """All settings of a strategy, defaults filled in. ValueError with rule and value where one is wrong."""
    known = {parameter.name for parameter in strategy.parameters}
    for name in settings:
        if name not in known:
            allowed = ", ".join(sorted(known)) or "none"
            raise ValueError(f"strategy {strategy.name} has no setting {name!r} (its settings: {allowed})")
    values = {parameter.name: settings.get(parameter.name, parameter.default) for parameter in strategy.parameters}
    for parameter in strategy.parameters:
        values[parameter.name] = _valid(parameter, values[parameter.name])
    for parameter in strategy.parameters:
        if isinstance(parameter, Number):
            _check_together(parameter, values)
    return values


def _valid(parameter: Number | Choice, value: Any) -> Any:
    """The value of one parameter, checked by itself."""
    name = parameter.name
    if isinstance(parameter, Choice):
        if value not in parameter.values:
            raise ValueError(f"{name} must be one of {', '.join(parameter.values)}, got {value!r}")
        return value
    whole = isinstance(parameter.default, int)
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
    if not number or (whole and value != int(value)):
        raise ValueError(f"{name} must be {'a whole number' if whole else 'a number'}, got {value!r}")
    if not parameter.lowest <= value <= parameter.highest:
        raise ValueError(f"{name} must be from {parameter.lowest} to {parameter.highest}, got {value}")
    return int(value) if whole else float(value)


def _check_together(parameter: Number, values: dict[str, Any]) -> None:
    """ValueError where a parameter does not go with the one that bounds it."""
    name, below, upto = parameter.name, parameter.below, parameter.upto
    if below and values[name] >= values[below]:
        rule = f"{name} must be at least {parameter.lowest} and below {below}"
        raise ValueError(f"{rule}, got {name} {values[name]} and {below} {values[below]}")
    if upto and values[name] > values[upto]:
        raise ValueError(f"{name} must not be above {upto}, got {name} {values[name]} and {upto} {values[upto]}")


def cut(
    document: Document, name: str, settings: Settings, scope: str = "document",
    token_spans: TokenSpans | None = None, embed: Embed | None = None,
) -> Chunks:  # fmt: skip
    """The chunks of a document by a strategy. ValueError for wrong settings, before any work.

    `token_spans` is needed for the unit tokens, `embed` for strategies that cut by meaning.
    """
    strategy = strategy_named(name)
    values = checked(strategy, settings)
    if "unit" in values:
        values["unit"] = Unit(values["unit"], token_spans)
    if strategy.embeds:
        if embed is None:
            raise ValueError(f"strategy {name} cuts by meaning and needs an embedder")
        values["embed"] = embed
    part = part_of(document, scope)
    if not len(part.regions.starts):
        return Chunks.empty()
    return strategy.cut(part, **values)


def flags(
    document: Document, name: str, settings: Settings, chunks: Chunks, token_spans: TokenSpans | None = None
) -> Ints:
    """Bits for each chunk, (n,): 1 where its matched span is over the limit, 2 where it ends with a heading alone."""
    strategy = strategy_named(name)
    values = checked(strategy, settings)
    bits = np.zeros(len(chunks), np.int64)
    if strategy.limit and len(chunks):
        rule = ruler(document, Unit(values["unit"], token_spans))
        bits += rule.high(chunks.ends) - rule.low(chunks.starts) > values[strategy.limit]
    heads = headings(document)
    if heads and len(chunks):
        ends = np.array([heading.end for heading in heads])
        place = np.minimum(np.searchsorted(ends, chunks.ends), len(heads) - 1)
        starts = np.array([heading.start for heading in heads])[place]
        bits += 2 * ((ends[place] == chunks.ends) & (chunks.starts < starts))
    return bits


def flag_names(bits: int) -> tuple[str, ...]:
    """The names of the flags in `bits`. Example: 3 -> ('over_limit', 'heading_last')"""
    return tuple(flag for place, flag in enumerate(FLAGS) if bits >> place & 1)
