"""Words and numbers as people read them: percent with one decimal, plain text that Markdown leaves alone."""

from __future__ import annotations

import re
from typing import Any

from chunking.index import Config
from chunking.intervals import Interval
from chunking.registry import STRATEGIES, Number

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&])")
REASONS = {
    "split": "split",
    "truncated": "truncated",
    "outranked_same_document": "outranked, same document",
    "outranked_other_document": "outranked, another document",
}
FATES = {"hit": "found", **REASONS}  # what became of a question


def percent(share: float) -> str:
    """A share as percent with one decimal. Example: 0.634 -> '63.4%'"""
    return f"{100 * share:.1f}%"


def counted(number: int, thing: str, things: str = "") -> str:
    """A number of things in words; `things` where more of them have no mere s. Example: 1, 'chunk' -> '1 chunk'"""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def bytes_of(number: int) -> str:
    """A number of bytes in words. Example: 274_302_450 -> '274 MB'"""
    if number < 1e6:
        return f"{number / 1e3:,.0f} kB"
    return f"{number / 1e6:,.0f} MB" if number < 1e9 else f"{number / 1e9:,.1f} GB"


def time_left(seconds: float) -> str:
    """A wait in words, no finer than it can be told. Example: 130 -> 'about 2 min left'"""
    if seconds < 60:
        return f"about {max(5, 5 * round(seconds / 5))} s left"
    return f"about {round(seconds / 60)} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"


def plain(text: str) -> str:
    """A text that Streamlit's Markdown shows as it is, whatever marks it holds."""
    return _MARKS.sub(r"\\\1", text)


def range_of(interval: Interval) -> str:
    """An interval in words. Example: '95% interval 45.5% to 78.1%'"""
    return f"95% interval {percent(interval.low)} to {percent(interval.high)}"


def title_of(config: Config) -> str:
    """A configuration in a few words. Example: 'Fixed window, size 200, overlap 50'"""
    strategy = STRATEGIES[config.strategy]
    values = config.values
    parts = [strategy.title]
    quiet = ("overlap", "unit", "oversize", "base", "cut_by", "buffer")
    for parameter in strategy.parameters:
        value = values[parameter.name]
        said = parameter.name not in quiet or value != parameter.default
        if isinstance(parameter, Number) and parameter.when:
            said = values[parameter.when[0]] == parameter.when[1]
        if said and parameter.name != "cut_by":
            parts.append(f"{parameter.label.lower()} {value_text(value)}")
    usual = {"scope": "document", "context": "none", "search": "dense", "pooling": "isolated"}
    parts += [f"{name} {getattr(config, name)}" for name, value in usual.items() if getattr(config, name) != value]
    return ", ".join([*parts, config.chat] if config.chat else parts)


def value_text(value: Any) -> str:
    """The value of a setting in words. Example: (100, 200) -> '100 + 200'"""
    if isinstance(value, tuple):
        return " + ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def amount_of(config: Config) -> str:
    """How much is sent, in words. Example: 'at 5 chunks', 'within 1,000 words'"""
    if config.budget:
        return f"within {config.budget:,} words"
    return f"at {counted(config.k, 'chunk')}"
