"""Widgets for a configuration, made from the table of strategies; they give plain settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.context import CONTEXTS
from chunking.index import POOLINGS, SEARCHES, Config
from chunking.joined import SCOPES
from chunking.libraries.common import REQUIREMENTS
from chunking.registry import STRATEGIES, Choice, Number, Numbers, Parameter, Strategy, missing
from chunking.stops import BUDGETS, KS, Slider, allowed, config_at, nearest
from chunking.types import Corpus, Document
from pages.parts import resources
from pages.parts.address import choose, chosen
from pages.parts.words import plain

_SCOPE_WORDS = {
    "document": "whole document",
    "section": "inside sections",
    "body": "inside sections, headings left out",
}
_CONTEXT_WORDS = {"none": "none", "title": "title", "heading": "heading", "headings": "title and headings",
                  "contextual": "a chat model's sentence"}  # fmt: skip
_SEARCH_WORDS = {"dense": "meaning", "keyword": "keywords", "hybrid": "meaning and keywords"}
_POOLING_WORDS = {"isolated": "of each chunk alone", "late": "in the document's context (late)"}
_AXES = ("scope", "context", "chat", "search", "pooling")  # kept with a pinned setting


def pick(embedder: CachedEmbedder | None) -> Config:
    """The configuration that the widgets show; the embedder tells whether tokens can be counted and pooled late."""
    name = select("strategy", "Strategy", list(STRATEGIES), "recursive", _strategy_words,
                  "How documents are cut into chunks. Those of libraries cut as the library does.")  # fmt: skip
    strategy = STRATEGIES[name]
    st.caption(strategy.summary)
    if missing(strategy):
        st.info(plain(f"The library is not installed: install with pip install -r {REQUIREMENTS}"))
    settings = _settings(strategy, bool(embedder and embedder.token_spans))
    scope = select("scope", "Scope", list(SCOPES), "document", _SCOPE_WORDS.__getitem__,
                   "Whether chunks may cross headings. Inside sections none does; headings left out come back only as context.")  # fmt: skip
    context, chat = _context()
    search = select("search", "Search", list(SEARCHES), "dense", _SEARCH_WORDS.__getitem__,
                    "How chunks are ranked: by the cosine of vectors, by the words they share with the question (BM25; chunks that share none follow in the order of the documents), or by both (reciprocal rank fusion).")  # fmt: skip
    poolings = list(POOLINGS) if embedder is None or embedder.token_sums else ["isolated"]
    pooling = "isolated"
    if search != "keyword" and len(poolings) > 1:
        pooling = select("pooling", "Vectors", poolings, "isolated", _POOLING_WORDS.__getitem__,
                         "A chunk's vector from the chunk alone, or, late chunking, from its tokens as the model read them inside the whole document. Late pooling reads everything.")  # fmt: skip
    return Config.of(
        name, settings, scope=scope, context=context, chat=chat, search=search, pooling=pooling, **_amount()
    )


def packed(config: Config) -> str:
    """A configuration as one text, for the pinned setting in the address."""
    amount = {"budget": config.budget} if config.budget else {"k": config.k}
    values = {name: ",".join(map(str, value)) if isinstance(value, tuple) else value for name, value in config.settings}
    axes = {name: getattr(config, name) for name in _AXES if getattr(config, name)}
    return urlencode({"strategy": config.strategy, **axes, **amount, **values})


def unpacked(text: str) -> Config | None:
    """The configuration of a text made by `packed`; None where it is none."""
    values = dict(parse_qsl(text))
    strategy = STRATEGIES.get(values.get("strategy", ""))
    if strategy is None:
        return None
    settings = {
        parameter.name: _read(parameter, values[parameter.name])
        for parameter in strategy.parameters
        if parameter.name in values
    }
    axes = {name: values[name] for name in _AXES if name in values}
    try:
        return Config.of(strategy.name, settings, **axes, k=int(_number(values.get("k", ""), 5)),
                         budget=int(_number(values.get("budget", ""), 0)) or None)  # fmt: skip
    except ValueError:
        return None


def take(text: str) -> None:
    """Sets all that a text made by `packed` holds; for callbacks of widgets."""
    if unpacked(text) is None:
        return
    values = dict(parse_qsl(text))
    for name, value in {**values, "by": "budget" if "budget" in values else "k"}.items():
        choose(name, value)


def _strategy_words(name: str) -> str:
    return STRATEGIES[name].title + (" (not installed)" if missing(STRATEGIES[name]) else "")


def _context() -> tuple[str, str]:
    """The context, and the chat model that describes chunks where it is contextual; none where no model is to be had."""
    context = select("context", "Context", list(CONTEXTS), "none", _CONTEXT_WORDS.__getitem__,
                     "What is put before each chunk when it is embedded and searched by keyword. It is not part of the chunk. A heading that the chunk begins with is not said twice.")  # fmt: skip
    if context != "contextual":
        return context, ""
    first = resources.default_chat()
    if not first.name:
        st.warning(plain(f"{first.sentence} Until then chunks have no context."))
        return "none", ""
    return context, select("chat", "Chat model", resources.chats(), first.name, str,
                           "The model that writes a sentence or two on each chunk.")  # fmt: skip


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


def text(name: str, label: str, value: str, help: str) -> str:
    """A line of text that is kept in the address; what it begins with is not."""
    key = f"w_{name}"
    st.session_state[key] = chosen(name, value)
    return st.text_input(label, key=key, help=help, on_change=_keep, args=(name,))


def pick_document(corpus: Corpus, help: str) -> Document:
    """The document that is shown, one for all pages."""
    by_id = corpus.by_id
    name = select("post", "Document", list(by_id), next(iter(by_id)), lambda one: f"{by_id[one].title}  ({one})", help)
    return by_id[name]


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
    choices = [parameter for parameter in strategy.parameters if isinstance(parameter, Choice)]
    # A choice that decides which sliders there are stands above them.
    decide = {one.when[0] for one in strategy.parameters if isinstance(one, Number) and one.when}
    settings: dict[str, Any] = {
        choice.name: select(choice.name, choice.label, choice.values, choice.default, str, choice.help)
        for choice in choices
        if choice.name in decide
    }
    choices = [choice for choice in choices if choice.name not in decide]
    spots = {parameter.name: st.container() for parameter in strategy.parameters if not isinstance(parameter, Choice)}
    if choices:
        with st.expander("Unit and limits"):
            for choice in choices:
                values = [value for value in choice.values if tokens or value != "tokens"]
                settings[choice.name] = select(choice.name, choice.label, values, choice.default, str, choice.help)
    for parameter in _in_order(strategy.parameters):
        with spots[parameter.name]:
            if isinstance(parameter, Numbers):
                settings[parameter.name] = _numbers_widget(parameter, settings)
            elif parameter.when is None or settings[parameter.when[0]] == parameter.when[1]:
                settings[parameter.name] = _number_widget(parameter, settings)
    return settings


def _numbers_widget(numbers: Numbers, settings: Mapping[str, Any]) -> tuple[int, ...]:
    """The values of a parameter that takes several; its defaults where none is chosen."""
    read = {one for one in _read(numbers, chosen(numbers.name)) if numbers.lowest <= one <= numbers.highest}
    given = tuple(sorted(read))[: numbers.most] or numbers.default
    key = f"w_{numbers.name}"
    st.session_state[key] = list(given)
    st.multiselect(f"{numbers.label} ({settings['unit']})", sorted({*numbers.stops, *given}), key=key, help=numbers.help,
                   max_selections=numbers.most, on_change=_keep_numbers, args=(numbers.name,))  # fmt: skip
    return given


def _keep_numbers(name: str) -> None:
    choose(name, ",".join(map(str, sorted(st.session_state[f"w_{name}"]))))


def _number_widget(number: Number, settings: Mapping[str, Any]) -> float:
    """The value of a number's slider; where one value alone is allowed it is told instead."""
    stops, value = allowed(number, settings), nearest(number, _wanted(number), settings)
    label = f"{number.label} ({settings['unit']})" if number.sized else number.label
    if len({*stops, value}) < 2:
        st.caption(f"{label}: {value:g}")
        return value
    return slide(number.name, label, stops, value, number.help)


def _wanted(number: Number) -> float:
    """What the user has set, whether it is allowed beside the other settings or not."""
    return _number(chosen(number.name), number.default)


def sliders(config: Config) -> list[Slider]:
    """The sliders on the screen that belong to a configuration that was picked."""
    numbers = [one for one in STRATEGIES[config.strategy].parameters if isinstance(one, Number)]
    values = config.values
    wanted = {number.name: _wanted(number) for number in numbers}
    found = []
    for number in numbers:
        if number.when is None or values[number.when[0]] == number.when[1]:
            stops = sorted({*allowed(number, values), values[number.name]})
            configs = {stop: config_at(config, {**wanted, number.name: stop}) for stop in stops}
            found.append(Slider(number.name, configs, cuts=not number.embeds))
    if config.budget is None:
        return [*found, Slider("k", {k: replace(config, k=k) for k in KS}, cuts=False)]
    budgets = sorted({*BUDGETS, config.budget})
    return [*found, Slider("budget", {budget: replace(config, budget=budget) for budget in budgets}, cuts=False)]


def _in_order(parameters: Sequence[Parameter]) -> list[Number | Numbers]:
    """What sliders are for, with those first that others must stay below."""
    sliders = [parameter for parameter in parameters if not isinstance(parameter, Choice)]
    return sorted(sliders, key=lambda one: isinstance(one, Number) and bool(one.below or one.upto))


def both_amounts() -> tuple[int, int]:
    """How many chunks, and how many words, are sent where settings are compared at both."""
    k, budget = (int(_number(chosen(name), default)) for name, default in (("k", 5), ("budget", 800)))
    return min(20, max(1, k)), max(1, budget)


def _amount() -> dict[str, int | None]:
    """How much is sent: k chunks, or a reading budget in words."""
    by = select("by", "Send", ["k", "budget"], "k", {"k": "a number of chunks", "budget": "a budget of words"}.__getitem__,
                "Five whole sections are far more reading than five sentences: compare strategies at equal words too.")  # fmt: skip
    if by == "budget":
        value = _number(chosen("budget"), 1000)
        return {
            "budget": int(
                slide("budget", "Reading budget (words)", BUDGETS, max(1, value), "The most words sent for a question.")
            )
        }
    value = min(20, max(1, _number(chosen("k"), 5)))
    return {
        "k": int(
            slide(
                "k",
                "k (chunks sent)",
                KS,
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
