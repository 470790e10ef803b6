"""The comparison as one self-contained HTML file: tables, charts, how it was measured. All text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from chunking.curves import budget_curve
from chunking.gate import in_words, needed_in_words, verdict_in_words
from chunking.kinds import by_kind
from chunking.recorded import compare_records, judge_records
from chunking.study import SEEDS, corpus_hash
from chunking.table import shown, with_interval
from data.studies import versions
from pages.parts import comparisons
from pages.parts.trials import Compared

_STYLE = """body { font: 15px/1.55 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #141414; }
table { border-collapse: collapse; margin: 0.8rem 0; font-size: 13px; } td, th { border: 1px solid #ccc; padding: 0.3rem 0.5rem; text-align: left; }
th { background: #f3f3f3; } h1, h2 { line-height: 1.2; }"""
_COLUMNS = {"Hit rate": "hit_rate", "Coverage": "coverage", "Precision": "precision", "IoU": "iou", "Reciprocal rank": "mean_reciprocal_rank",
            "Split": "split_share", "Words sent": "words_sent"}  # fmt: skip
_COUNTS = {
    "Chunks": "chunks",
    "Index growth": "repeated_words",
    "Truncated chunks": "truncated_chunks",
    "Never read": "unread_share",
}
_BUDGET = 1000


def report_html(compared: Compared) -> str:
    """The report of a comparison."""
    records = {line.name: line.record for line in compared.lines}
    names, title = list(records), compared.measure.title
    judged = judge_records(list(records.values()), compared.measure.name)
    others = [name for name in names if name != compared.baseline_name]
    found = compare_records([records[name] for name in others], records[compared.baseline_name], compared.measure.name)
    curves = {name: budget_curve(trial, _BUDGET) for name, trial in compared.trials.items()}
    kinds = by_kind(list(compared.trials.values()), compared.measure)
    charts = [comparisons.reasons_chart(records), comparisons.curves_chart(curves, {}, []),
              comparisons.kinds_chart(kinds, list(compared.trials), title)]  # fmt: skip
    drawn = [_chart(figure, first=place == 0) for place, figure in enumerate(charts)]
    parts = [
        "<h1>Chunking strategies compared</h1>",
        _paragraph(f"{len(compared.corpus.documents)} documents, {len(compared.corpus.questions)} questions, embedded by {compared.embed.identity}."),
        "<h2>What is found, and at what cost</h2>",
        _table([{"Trial": name, **{head: with_interval(one, key) for head, key in _COLUMNS.items()},
                 **{head: shown(one, key) for head, key in _COUNTS.items()}} for name, one in records.items()]),
        "<h2>The verdict</h2>",
        *map(_paragraph, verdict_in_words(judged, names, title)),
        f"<h2>Against {escape(compared.baseline_name)}, by {escape(title)}</h2>",
        _table([{"Trial": name, "Difference": in_words(one), "To tell them apart": needed_in_words(one) or "told already"}
                for name, one in zip(others, found, strict=True)]),
        "<h2>Why questions are missed</h2>", drawn[0],
        f"<h2>At equal words, up to {_BUDGET:,}</h2>", drawn[1],
        "<h2>By kind of question</h2>", drawn[2],
        "<h2>How it was measured</h2>",
        *map(_paragraph, _methods(compared)),
    ]  # fmt: skip
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chunking strategies compared</title><style>{_STYLE}</style></head>'
            f"<body>{''.join(parts)}</body></html>")  # fmt: skip


def _methods(compared: Compared) -> list[str]:
    """How it was measured, in paragraphs that may stand in a paper."""
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    return [
        "A question is found when one of the spans that are sent for it holds each needed passage whole. Search is exact and over all documents; "
        "scores are rounded to 6 decimals, ties go by document, then place. A miss is split where no span of the index holds the passage, truncated "
        "where the model read nothing of it, otherwise outranked.",
        "Intervals are at 95%. Documents are resampled where at least ten carry questions; otherwise rates have Wilson's interval and other means "
        "resample questions, which is too narrow. Trials are compared on the same questions: sign flips by document where at least ten carry questions, "
        "otherwise the mid-p McNemar test for rates; p-values are corrected for all rows (Holm). The verdict uses intervals that hold for all trials "
        "at once; the rate of the one chosen as best is also given on documents held out from the choosing.",
        f"Documents and questions have the hash {corpus_hash(compared.corpus)}; {SEEDS}. Versions: {used}.",
    ]


def _chart(figure: go.Figure, first: bool) -> str:
    return str(figure.to_html(full_html=False, include_plotlyjs=first, default_width="100%"))


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row.values())}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
