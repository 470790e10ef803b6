"""The leaderboard: chosen trials with their intervals and costs, the verdict on them, and each one's difference from the baseline."""

from __future__ import annotations

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.best import Verdict
from chunking.comparing import Difference
from chunking.gate import in_words, needed_in_words, verdict_in_words
from chunking.recorded import compare_records, judge_records, price_of
from chunking.study import Record
from chunking.sweep import alike
from chunking.table import shown, with_interval
from data.studies import csv_text, row_of
from pages.parts.address import choose, chosen
from pages.parts.charts import MARK
from pages.parts.tables import download, table
from pages.parts.trials import Compared, Line
from pages.parts.words import counted, plain

_FOUND = {
    "Hit rate": "hit_rate",
    "Coverage": "coverage",
    "Precision": "precision",
    "IoU": "iou",
    "Reciprocal rank": "mean_reciprocal_rank",
    "Split": "split_share",
}


def show(compared: Compared, embedder: CachedEmbedder) -> None:
    """The tables, best first."""
    judged = judge_records(compared.records, compared.measure.name)
    order = sorted(range(len(compared.lines)), key=lambda place: -judged.means[place])
    lines = [compared.lines[place] for place in order]
    st.subheader("What is found", anchor=False)
    table([{**_name(line), "Verdict": _group(judged, place), **_found(line.record)} for line, place in zip(lines, order, strict=True)], "found.csv")  # fmt: skip
    st.caption("In brackets 95% intervals: documents are resampled where at least ten carry questions. "
               "The verdict allows for all that is compared here at once.")  # fmt: skip
    _verdict(compared, judged)
    st.subheader(f"Against {plain(compared.baseline_name)}", anchor=False)
    _differences(compared)
    st.subheader("What it costs", anchor=False)
    _costs(lines, embedder)
    download(csv_text(row_of(line.record) for line in lines), "trials.csv")
    _notes(lines)


def _name(line: Line) -> dict[str, str]:
    mark = f" {MARK}" if line.record["truncated_chunks"] else ""
    return {"Trial": line.name + mark}


def _group(judged: Verdict, place: int) -> str:
    if place == judged.winner:
        return "best"
    return "cannot be told from it" if place in judged.level else "ruled out"


def _found(record: Record) -> dict[str, str]:
    return {title: with_interval(record, measure) for title, measure in _FOUND.items()}


def _verdict(compared: Compared, judged: Verdict) -> None:
    names = [line.name for line in compared.lines]
    st.markdown("\n".join(f"- {plain(line)}" for line in verdict_in_words(judged, names, compared.measure.title)))


def _differences(compared: Compared) -> None:
    lines = [line for line in compared.lines if line.name != compared.baseline_name]
    baseline = next(line for line in compared.lines if line.name == compared.baseline_name)
    found = compare_records([line.record for line in lines], baseline.record, compared.measure.name)
    table([_difference(line, one) for line, one in zip(lines, found, strict=True)], "differences.csv")
    st.caption(
        f"{compared.measure.title.capitalize()}, question by question ({found[0].test}); p-values are corrected for all rows (Holm)."
    )


def _difference(line: Line, found: Difference) -> dict[str, str]:
    low, high = (f"{100 * bound:+.1f}" for bound in (found.low, found.high))
    return {
        "Trial": line.name,
        "Difference": f"{100 * found.mean:+.1f} points ({low} to {high})",
        "In words": in_words(found),
        "To tell them apart": needed_in_words(found) or "told already",
    }


def _costs(lines: list[Line], embedder: CachedEmbedder) -> None:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        price = _price()
    timed = right.button("Time the embedding", help="Embeds some 24 chunks of each trial anew, and reckons from them.")
    if timed:
        _time(lines, embedder)
    table([_cost(line, embedder, price) for line in lines], "costs.csv")
    st.caption("Words and tokens are means of what is sent for a question; tokens are those of the embedding model.")


def _price() -> float:
    st.session_state["w_price"] = _number(chosen("price"))
    return st.number_input(
        "Price of a million tokens sent (optional)", 0.0, step=0.1, key="w_price", on_change=_keep_price
    )


def _number(text: str) -> float:
    try:
        return min(max(float(text or 0), 0.0), 1e6)
    except ValueError:
        return 0.0


def _keep_price() -> None:
    choose("price", st.session_state["w_price"] or "")


def _time(lines: list[Line], embedder: CachedEmbedder) -> None:
    times = st.session_state.setdefault("times", {})
    with st.spinner("Timing"):
        for line in lines:
            if line.trial and _embeds(line):
                times[line.record["id"]] = embedder.seconds(line.trial.index.texts)


def _embeds(line: Line) -> bool:
    config = line.record["config"]
    return config["search"] != "keyword" and config["pooling"] == "isolated"


def _cost(line: Line, embedder: CachedEmbedder, price: float) -> dict[str, str]:
    record, seconds = line.record, st.session_state.get("times", {}).get(line.record["id"])
    cost = price_of(record, price)
    texts = f"{len(set(line.trial.index.texts)):,}" if line.trial and _embeds(line) else "–"
    row = {
        **_name(line),
        "Words sent": with_interval(record, "words_sent"),
        "Tokens sent": shown(record, "tokens_sent") or "unknown",
        "Chunks": f"{record['chunks']:,}",
        "Words each": f"{record['words_per_chunk']:.1f}",
        "Index growth": shown(record, "repeated_words"),
        "Truncated": f"{record['truncated_chunks']:,}",
        "Never read": shown(record, "unread_share"),
        "Texts to embed": texts,
        "Time to embed": f"about {seconds:,.1f} s" if seconds is not None else "–",
    }
    return {**row, "1,000 questions": f"{cost:,.2f}" if cost is not None else "unknown"} if price else row


def _notes(lines: list[Line]) -> None:
    """Settings that cut identically, and chunks that are longer than the model reads."""
    for group in alike((line.name, line.record["cut"]) for line in lines):
        st.info(plain(f"{' and '.join(group)} cut identically: what differs between them is not the cut."))
    for line in lines:
        record = line.record
        if record["truncated_chunks"]:
            missed = counted(record["misses"]["truncated"], "question")
            st.caption(plain(f"{MARK} {line.name}: {record['truncated_chunks']:,} of {counted(record['chunks'], 'chunk')} are longer than "
                             f"the model reads, and {missed} {'is' if missed.startswith('1 ') else 'are'} missed because of it."))  # fmt: skip
