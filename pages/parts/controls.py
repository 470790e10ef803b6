"""Widgets for a configuration, made from the table of strategies; they give plain settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from chunking.context import CONTEXTS
from chunking.index import Config
from chunking.joined import SCOPES
from chunking.registry import STRATEGIES, Choice, Number, Parameter, Strategy
from pages.parts.address import choose, chosen

_BUDGETS = (100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 4000)
_SCOPE_WORDS = {
    "document": "whole document",
    "section": "inside sections",
    "body": "inside sections, headings left out",
}
_CONTEXT_WORDS = {"none": "none", "title": "title", "heading": "heading", "headings": "title and headings"}


def pick(tokens: bool) -> Config:
    """The configuration that the widgets show. `tokens` tells whether the embedder has a tokenizer to count with."""
    name = select("strategy", "Strategy", list(STRATEGIES), "recursive", lambda name: STRATEGIES[name].title,
                  "How documents are cut into chunks.")  # fmt: skip
    strategy = STRATEGIES[name]
    st.caption(strategy.summary)
    settings = _settings(strategy, tokens)
    scope = select("scope", "Scope", list(SCOPES), "document", _SCOPE_WORDS.__getitem__,
                   "Whether chunks may cross headings. Inside sections none does; headings left out come back only as context.")  # fmt: skip
    context = select("context", "Context", list(CONTEXTS), "none", _CONTEXT_WORDS.__getitem__,
                     "What is put before each chunk when it is embedded. It is not part of the chunk. A heading that the chunk begins with is not said twice.")  # fmt: skip
    return Config.of(name, settings, scope=scope, context=context, **_amount())


def packed(config: Config) -> str:
    """A configuration as one text, for the pinned setting in the address."""
    amount = {"budget": config.budget} if config.budget else {"k": config.k}
    return urlencode(
        {"strategy": config.strategy, "scope": config.scope, "context": config.context, **amount, **config.values}
    )


def unpacked(text: str) -> Config | None:
    """The configuration of a text made by `packed`; None where it is none."""
    values = dict(parse_qsl(text))
    strategy = STRATEGIES.get(values.get("strategy", ""))
    if strategy is None:
        return None
    settings: dict[str, Any] = {}
    for parameter in strategy.parameters:
        if parameter.name in values:
            given = values[parameter.name]
            settings[parameter.name] = _read(parameter, given)
    axes = {name: values[name] for name in ("scope", "context") if name in values}
    try:
        return Config.of(strategy.name, settings, **axes, k=int(_number(values.get("k", ""), 5)),
                         budget=int(_number(values.get("budget", ""), 0)) or None)  # fmt: skip
    except ValueError:
        return None


def _read(parameter: Parameter, text: str) -> Any:
    """The value of a parameter as the address has it."""
    if isinstance(parameter, Choice):
        return text
    if isinstance(parameter, Number):
        return _number(text, parameter.default)
    return tuple(int(part) for part in text.split(",") if part.isdecimal())


def select(name: str, label: str, options: Sequence[str], default: str, words: Callable[[str], str], help: str) -> str:
    """A select box whose value is kept in the address as the option itself, shown in words."""
    value = chosen(name, default)
    if value not in options:
        value = default
    key = f"w_{name}"
    st.session_state[key] = value
    return st.selectbox(label, options, key=key, format_func=words, help=help, on_change=_keep, args=(name,))


def slide(name: str, label: str, stops: Sequence[float], value: float, help: str) -> float:
    """A slider over a few stops; a value between them, from a link, is a stop too."""
    options = sorted({*stops, value})
    key = f"w_{name}"
    st.session_state[key] = value
    return st.select_slider(label, options, key=key, help=help, on_change=_keep, args=(name,))


def _keep(name: str) -> None:
    choose(name, st.session_state[f"w_{name}"])


def _settings(strategy: Strategy, tokens: bool) -> dict[str, Any]:
    """The values of a strategy's parameters. The unit is asked for first: it stands on every slider's label."""
    numbers = [parameter for parameter in strategy.parameters if isinstance(parameter, Number)]
    choices = [parameter for parameter in strategy.parameters if isinstance(parameter, Choice)]
    spots = {number.name: st.container() for number in numbers}
    settings: dict[str, Any] = {}
    if choices:
        with st.expander("Unit and limits"):
            for choice in choices:
                values = [value for value in choice.values if tokens or value != "tokens"]
                settings[choice.name] = select(choice.name, choice.label, values, choice.default, str, choice.help)
    for number in _in_order(numbers):
        with spots[number.name]:
            settings[number.name] = _number_widget(number, settings)
    return settings


def _number_widget(number: Number, settings: Mapping[str, Any]) -> float:
    """The value of a number's slider; where one value alone is allowed it is told instead."""
    stops, value = _stops(number, settings)
    label = f"{number.label} ({settings['unit']})" if number.sized else number.label
    if len({*stops, value}) < 2:
        st.caption(f"{label}: {value:g}")
        return value
    return slide(number.name, label, stops, value, number.help)


def _in_order(numbers: list[Number]) -> list[Number]:
    """Numbers with those first that others must stay below."""
    return sorted(numbers, key=lambda number: bool(number.below or number.upto))


def _stops(number: Number, settings: Mapping[str, Any]) -> tuple[list[float], float]:
    """The stops that are allowed beside the other settings, and the nearest allowed one to what the user has set."""
    value = _number(chosen(number.name), number.default)
    top = number.highest
    if number.below:
        top = settings[number.below] - 1
    if number.upto:
        top = settings[number.upto]
    stops = [stop for stop in number.stops if stop <= top]
    if not number.lowest <= value <= number.highest:
        value = number.default
    if value > top:
        value = max(stops, default=top)
    return stops, value


def _amount() -> dict[str, int | None]:
    """How much is sent: k chunks, or a reading budget in words."""
    by = select("by", "Send", ["k", "budget"], "k", {"k": "a number of chunks", "budget": "a budget of words"}.__getitem__,
                "Five whole sections are far more reading than five sentences: compare strategies at equal words too.")  # fmt: skip
    if by == "budget":
        value = _number(chosen("budget"), 1000)
        return {
            "budget": int(
                slide(
                    "budget", "Reading budget (words)", _BUDGETS, max(1, value), "The most words sent for a question."
                )
            )
        }
    value = min(20, max(1, _number(chosen("k"), 5)))
    return {
        "k": int(
            slide(
                "k",
                "k (chunks sent)",
                range(1, 21),
                value,
                "How many different returned spans are sent for a question.",
            )
        )
    }


def _number(text: str, default: float) -> float:
    """A number from the address in the kind of the default; the default where it is none."""
    try:
        value = float(text)
    except ValueError:
        return default
    if value != value or abs(value) == float("inf"):
        return default
    return (
        int(value)
        if isinstance(default, int) and value == int(value)
        else value
        if isinstance(default, float)
        else default
    )
