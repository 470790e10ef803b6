"""What became of the questions: reasons for misses, ranks in two trials, equal k and equal words, kinds of question."""

from __future__ import annotations

import streamlit as st

from chunking.curves import band, budget_curve
from chunking.experiment import REASONS as FATES
from chunking.experiment import Result, Trial
from chunking.kinds import Kind, by_kind
from chunking.moves import Move, moves
from pages.parts import ask, comparisons, kept
from pages.parts.address import chosen
from pages.parts.charts import MARK
from pages.parts.controls import select, slide
from pages.parts.highlight import passage_html
from pages.parts.tables import table
from pages.parts.trials import Compared, name_of, pick_other
from pages.parts.words import REASONS, counted, percent, plain

_BUDGETS = (200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 4000)
_KS = (1, 3, 5, 10, 20)
_MOVED = 8  # questions in the table of those that moved most


def misses(compared: Compared) -> None:
    """A bar for each trial: found, or why not."""
    records = {line.name: line.record for line in compared.lines}
    st.plotly_chart(comparisons.reasons_chart(records), key="reasons", config={"displaylogo": False})
    titles = {"hit": "Found", **{reason: words.capitalize() for reason, words in REASONS.items()}}
    table([{"Trial": line.name, **{titles[fate]: _share(line.record, fate) for fate in FATES}} for line in compared.lines], "misses.csv")  # fmt: skip
    st.caption("Every miss has one reason, the first that applies. Split: whole in no chunk, so no search can find it. Truncated: held by a "
               "chunk, but the model never read that part. Outranked: held and read, but other chunks scored higher.")  # fmt: skip
    truncated = [
        f"{line.name} ({counted(line.record['truncated_chunks'], 'chunk')})"
        for line in compared.lines
        if line.record["misses"]["truncated"]
    ]
    if truncated:
        st.caption(
            plain(f"{MARK} Chunks longer than the model reads explain the share truncated of {'; '.join(truncated)}.")
        )


def _share(record: dict, fate: str) -> str:
    count = comparisons.fate_count(record, fate)
    return f"{percent(count / record['questions'])} ({count})"


def questions(compared: Compared) -> None:
    """Every question's rank in two trials; those that moved most; one of them side by side."""
    other = pick_other(compared)
    if other is None:
        return
    found = moves(other, compared.baseline)
    left, right = st.columns(2, gap="medium")
    with left:
        chart = comparisons.ranks_chart(found, compared.baseline_name, name_of(other.config))
        st.plotly_chart(chart, key="ranks", config={"displaylogo": False})
        st.caption(
            "A point is a question. Below the diagonal it has a better rank than with the baseline; split: no chunk holds its passage whole."
        )
    with right:
        moved = [move for move in found if move.gain][:_MOVED]
        if moved:
            table([_moved(move) for move in moved], "moved.csv")
            st.caption("The questions that moved most, by 1 / rank: near the top of a ranking a step counts for more.")
        else:
            st.info("No question has another rank.")
    _side_by_side(compared, other, found)


def _moved(move: Move) -> dict[str, str]:
    ranks = {"With the baseline": move.before, "Beside it": move.after}
    return {"Question": move.before.question.text, **{title: _fate(result) for title, result in ranks.items()}}


def _fate(result: Result) -> str:
    rank = f"rank {result.rank}" if result.rank else "split"
    return f"{rank}, found" if result.hit else rank if result.reason == "split" else f"{rank}, {REASONS[result.reason]}"


def _side_by_side(compared: Compared, other: Trial, found: list[Move]) -> None:
    by_id = {move.before.question.id: move for move in found}
    name = select("question", "One question, side by side (those that moved most first)", list(by_id), next(iter(by_id)),
                  lambda one: by_id[one].before.question.text, "The chunks that both trials send for it.")  # fmt: skip
    move = by_id[name]
    st.caption(plain(kept.described(compared.corpus, move.before.question)))
    for column, trial, result in zip(
        st.columns(2, gap="medium"), (compared.baseline, other), (move.before, move.after), strict=True
    ):
        with column:
            st.markdown(f"**{plain(name_of(trial.config))}**")
            ask.verdict(trial.index, result)
            _sent(trial, result)


def _sent(trial: Trial, result: Result) -> None:
    """What a trial sends for a question, the answering passages marked."""
    if not result.sent:
        st.info("Nothing is sent: no chunk fits the reading budget.")
    for place, span in enumerate(result.sent, 1):
        passages = [passage for passage in result.question.passages if passage.document == span.document]
        notes = {
            "holds the passage": any(span.start <= one.start and one.end <= span.end for one in passages),
            "not read to its end by the model": trial.cut_short(span),
        }
        with st.container(border=True):
            said = [counted(ask.words_in(trial.index, span), "word"), f"characters {span.start:,} to {span.end:,}",
                    *(note for note, holds in notes.items() if holds)]  # fmt: skip
            st.caption(plain(f"#{place} {span.document} · {' · '.join(said)}"))
            st.html(passage_html(trial.index.corpus.by_id[span.document], span.start, span.end, passages))


def budgets(compared: Compared) -> None:
    """How often each trial finds the answer at equal words, as curves with their areas, and at equal k."""
    value = min(max(_whole(chosen("upto"), 1000), 1), 100_000)
    budget = int(slide("upto", "Budget (words)", _BUDGETS, value, "Curves are drawn, and their areas taken, from 0 words to this budget."))  # fmt: skip
    curves = {name: budget_curve(trial, budget) for name, trial in compared.trials.items()}
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("At equal words", anchor=False)
        steps = [round(budget * step / 40) for step in range(41)]
        ranked = sorted(curves, key=lambda name: -curves[name].area)
        drawn = dict.fromkeys([compared.baseline_name, ranked[0]])
        bands = {name: band(compared.trials[name], steps) for name in drawn}
        st.plotly_chart(comparisons.curves_chart(curves, bands, steps), key="curves", config={"displaylogo": False})
        st.caption("The bands are 95% intervals of the baseline and of the largest area.")
    with right:
        st.subheader("At equal k", anchor=False)
        rates = {name: [trial.hit_at(k) for k in range(1, max(_KS) + 1)] for name, trial in compared.trials.items()}
        st.plotly_chart(comparisons.equal_k_chart(rates), key="equal_k", config={"displaylogo": False})
        st.caption(
            "The hit rate had the first k spans been sent. Long chunks win here: five of them are far more reading."
        )
    rows = []
    for name in ranked:
        spread = curves[name].area_interval
        at_words = {
            f"{words:,} words": percent(budget_curve(compared.trials[name], words).at(words))
            for words in _shown(budget)
        }
        at_k = {f"k = {k}": percent(compared.trials[name].hit_at(k)) for k in _KS}
        area = f"{percent(curves[name].area)} ({percent(spread.low)} to {percent(spread.high)})"
        rows.append({"Trial": name, f"Area to {budget:,} words": area, **at_words, **at_k})
    table(rows, "equal.csv")
    st.caption("The area is the mean hit rate over all budgets up to this one: how well at this cost.")


def _shown(budget: int) -> list[int]:
    return [*(words for words in (250, 500, 1000, 2000) if words < budget), budget]


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() else default


def kinds(compared: Compared) -> None:
    """Each trial by kind of question."""
    fields = dict.fromkeys(name for question in compared.corpus.questions for name, _ in question.fields)
    if not fields:
        st.info("The questions have no fields: add a column such as kind to the questions file to tell them apart.")
        return
    first = "kind" if "kind" in fields else next(iter(fields))
    field = select("field", "Told apart by", list(fields), first, str, "A column of the questions file.")
    found = by_kind(list(compared.trials.values()), compared.measure, field)
    if len(found) > 20:
        st.info(
            plain(
                f"The field {field} has {len(found)} values, too many to tell questions apart by: at most 20 are shown."
            )
        )
        return
    names = list(compared.trials)
    st.plotly_chart(
        comparisons.kinds_chart(found, names, compared.measure.title), key="kinds", config={"displaylogo": False}
    )
    table([{"Trial": name, **{comparisons.kind_label(kind): _mean(kind, place) for kind in found}} for place, name in enumerate(names)], "kinds.csv")  # fmt: skip
    st.caption(
        f"{compared.measure.title.capitalize()} with its 95% interval; few: fewer than ten questions, too few to say much."
    )


def _mean(kind: Kind, place: int) -> str:
    spread = kind.intervals[place]
    return f"{percent(kind.means[place])} ({percent(spread.low)} to {percent(spread.high)})"
