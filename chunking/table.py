"""Trials as a table of text: a row for each setting, in it each measure at k and within the budget of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunking.study import Record
from chunking.sweep import alike

#: Measures that are shares, shown in percent.
SHARES = ("hit_rate", "lenient_hit_rate", "split_share", "whole_share", "read_share", "coverage", "precision", "iou",
          "ideal_precision", "repeated_words", "unread_share")  # fmt: skip
#: Measures that do not depend on how much is sent.
OF_THE_CUT = ("questions", "chunks", "words_per_chunk", "words_per_chunk_spread", "repeated_words", "split_share",
               "whole_share", "ideal_precision", "truncated_chunks", "unread_chunks", "unread_share", "mean_reciprocal_rank")  # fmt: skip
MEASURES = (*OF_THE_CUT, "hit_rate", "lenient_hit_rate", "read_share", "coverage", "precision", "iou", "words_sent",
            "distinct_words_sent", "tokens_sent")  # fmt: skip
_NO_CUT = ("context", "pooling", "search", "repeats")  # what never moves a cut
_LEFT_OUT = ("settings", "k", "budget", "embedder", "chat")  # of a configuration, in the names of settings


def table(records: Sequence[Record], measures: Sequence[str]) -> list[str]:
    """The lines of the table, its columns aligned, and one line for each group of settings that cut identically.

    Columns that are alike in all trials are left out. Up to two amounts that are sent stand side by side, more of them
    below each other. ValueError where a measure is not one.
    """
    check_measures(measures)
    amounts = list(dict.fromkeys(map(_amount, records)))
    names = _telling([_setting(one) for one in records])
    beside = len(amounts) <= 2
    rows: dict[str, dict[str, str]] = {}
    for one, name in zip(records, names, strict=True):
        first = name if beside else {**name, "sent": _amount(one)}
        row = rows.setdefault(str(first), dict(first))
        row |= {"chunks": str(one["chunks"]), "words/chunk": f"{one['words_per_chunk']:.1f}",
                "whole": shown(one, "whole_share"), _beside("read", one, beside): shown(one, "read_share")}  # fmt: skip
        for measure in measures:
            row[_beside(measure, one, beside and measure not in OF_THE_CUT)] = with_interval(one, measure)
        row[_beside("words", one, beside)] = shown(one, "words_sent")
    return [*_aligned(list(rows.values())), *identical(records)]


def names(records: Sequence[Record]) -> list[str]:
    """What tells each trial from the others, in words. Example: size 100, sent at 5"""
    told = _telling([{**_setting(one), "sent": _amount(one)} for one in records])
    return [", ".join(f"{name} {value}" for name, value in one.items()) for one in told]


def identical(records: Sequence[Record]) -> list[str]:
    """A line for each group of settings that cut the documents identically.

    Example: size 600 and size 650 cut identically
    """
    cuts = [{name: text for name, text in _setting(one).items() if name not in _NO_CUT} for one in records]
    named = (", ".join(f"{key} {value}" for key, value in name.items()) for name in _telling(cuts))
    pairs = zip(named, (one["cut"] for one in records), strict=True)
    return [f"{' and '.join(group)} cut identically" for group in alike(pairs)]


def check_measures(measures: Sequence[str]) -> None:
    """ValueError where one of them is not a measure."""
    for measure in measures:
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")


def shown(record: Record, measure: str) -> str:
    """A figure as people read it: shares in percent, '' where it is not known."""
    value = record[measure]
    if value is None:
        return ""
    return f"{100 * value:.1f}%" if measure in SHARES else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def with_interval(record: Record, measure: str) -> str:
    """A figure with its 95% interval, where the record has one. Example: 43.8% (34.2% to 52.5%)"""
    text = shown(record, measure)
    ends = record["intervals"].get(measure)
    if ends is None:
        return text
    low, high = (shown({measure: end}, measure) for end in ends)
    return f"{text} ({low} to {high})"


def _amount(record: Record) -> str:
    config = record["config"]
    return f"in {config['budget']} words" if config["budget"] else f"at {config['k']}"


def _beside(name: str, record: Record, beside: bool) -> str:
    return f"{name} {_amount(record)}" if beside else name


def _telling(settings: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Of each setting what tells it from the others, by name; of a single one, its strategy."""
    every = list(dict.fromkeys(name for setting in settings for name in setting))
    telling = [name for name in every if len({setting[name] for setting in settings if name in setting}) > 1] or [
        "strategy"
    ]
    return [{name: setting[name] for name in telling if name in setting} for setting in settings]


def _setting(record: Record) -> dict[str, str]:
    config = record["config"]
    plain = {name: value for name, value in config.items() if name not in _LEFT_OUT}
    pairs = {"arm": record["arm"], **plain, **config["settings"]}.items()
    return {name: _text(value) for name, value in pairs if value not in ("", None)}


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _aligned(rows: Sequence[dict[str, str]]) -> list[str]:
    """Rows under their headings, numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns, *([row.get(name, "") for name in columns] for row in rows)] if rows else []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
