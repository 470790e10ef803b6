"""Sweep: what a parameter does over its whole range, measured in the background, with intervals and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.best import Verdict, verdict
from chunking.comparing import MEASURES, compare
from chunking.experiment import Trial
from chunking.index import Config
from chunking.registry import STRATEGIES
from chunking.summaries import NAMES, Arms, arms, summary_spans
from chunking.table import SHARES, identical
from chunking.types import Corpus
from data.studies import row_of
from pages.parts import advise, code, controls, downloads, frame, resources, standing, sweep_charts, sweeps
from pages.parts.charts import MARK
from pages.parts.embedding import words
from pages.parts.jobs import Arm, Job, Measured
from pages.parts.live.clicks import clicks
from pages.parts.sweeps import KEPT, KINDS, REMOVED, Sweep
from pages.parts.words import amount_of, counted, plain, title_of

_JOB = "sweep_job"
_AT_ONCE = 1.0  # seconds that the page waits before it draws a sweep that is still running
_LOOK_EVERY = 0.5  # seconds between two looks at it
_CHARTS = "cs_sweep"
_MOST_VERDICTS = 8  # kept by a session: they hold their trials
#: The columns of the table that are read first.
_FIRST = ("setting", "sent", "hit_rate", "hit_rate_low", "hit_rate_high", "whole_share", "read_share", "coverage", "precision",
          "words_sent", "chunks", "words_per_chunk", "repeated_words", "truncated_chunks")  # fmt: skip
_PERCENT = {name + end for name in SHARES for end in ("", "_low", "_high")}
_PRESETS = {"size": sweeps.size_sweep, "overlap": sweeps.overlap_sweep, "threshold": sweeps.threshold_sweep,
            "dial": sweeps.dial_sweep, "map": sweeps.map_sweep, "amount": sweeps.amount_sweep,
            "summaries": sweeps.summaries_sweep, "strategies": sweeps.strategies_sweep}  # fmt: skip


def show(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """What is varied, the charts as trials come, and once all are there the verdict, the table and the downloads."""
    st.subheader("Sweep", anchor=False)
    if embedder is None:
        st.info("Settings are measured with an embedder: choose one in the sidebar.")
    elif not corpus.questions:
        st.info("A sweep measures how often questions are answered: add a questions file in the sidebar.")
    elif config.context == "contextual":
        st.info(
            "Context by a chat model is swept in the terminal, which tells its price first: choose another context in the sidebar."
        )
    else:
        _swept(corpus, config, embedder)


def _swept(corpus: Corpus, config: Config, embedder: CachedEmbedder) -> None:
    kind, sweep = _picked(config, embedder)
    parts = _summaries(corpus) if kind == "summaries" else [("", corpus)]
    if not parts:
        return
    sweeps.check(sweep, len(parts))
    job = _job(parts, sweep, embedder)
    _told(config, sweep)
    if job.running:
        st.button("Stop", key="stop_sweep", on_click=job.cancel, help="What is measured and embedded is kept.")
        st.fragment(_progress, run_every=_LOOK_EVERY)(job, sweep)
        return
    _take_over(job)
    if len(job.done) < job.total:
        st.info(
            f"{'Stopped' if job.cancelled else 'Broken off'}: {len(job.done)} of {counted(job.total, 'trial')} are measured, and are kept."
        )
        st.button("Go on", type="primary", on_click=_go_on)
    found = job.found
    if found:
        _finished(corpus, config, embedder, sweep, found)
    if job.error:
        raise job.error


def _picked(config: Config, embedder: CachedEmbedder) -> tuple[str, Sweep]:
    """The kind of sweep that is chosen, and what it measures."""
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        kind = controls.select("sweep", "What to vary", list(KINDS), "size", lambda name: KINDS[name].title,
                               "Everything that is not varied is as in the sidebar.")  # fmt: skip
    k, budget = controls.both_amounts()
    if kind != "any":
        with right:
            st.caption(KINDS[kind].says)
        return kind, _PRESETS[kind](config, k, budget)
    with right:
        return kind, _any(config, embedder, k, budget)


def _any(config: Config, embedder: CachedEmbedder, k: int, budget: int) -> Sweep:
    """One parameter at values that can be typed, against one measure."""
    known = sweeps.parameters_of(config, bool(embedder.token_spans), bool(embedder.token_sums))
    first, second, third = st.columns(3)
    with first:
        name = controls.select(
            "parameter",
            "Parameter",
            list(known),
            next(iter(known)),
            str,
            "Of the strategy in the sidebar, or of search.",
        )
    with second:
        text = controls.text(
            f"values_{name}", "Values", known[name], "A list parted by commas, or low:high:step, such as 50:800:50."
        )
    with third:
        measure = controls.select(
            "measure",
            "Measure",
            list(sweep_charts.WORDS),
            "hit_rate",
            sweep_charts.WORDS.__getitem__,
            "What the chart shows.",
        )
    return sweeps.any_sweep(config, k, budget, name, text, measure)


def _summaries(corpus: Corpus) -> list[tuple[str, Corpus]]:
    """The corpus with its self-summaries and without, by the headings that are named; none where there is no such section."""
    text = controls.text("summaries", "Headings of self-summaries, parted by commas", ", ".join(NAMES),
                         "A section under one of these headings is taken away, up to the next heading of its level or above.")  # fmt: skip
    names = sweeps.headings_of(text)
    found = [len(summary_spans(document, names).starts) for document in corpus.documents]
    if not any(found):
        st.info("No document has a section under one of these headings.")
        return []
    both = _arms(corpus, names)
    st.caption(f"{counted(sum(found), 'section')} in {sum(map(bool, found))} of {counted(len(found), 'document')}. "
               f"{counted(len(both.left_out), 'question')} answered there: left out of both arms.")  # fmt: skip
    if not both.kept.questions:
        st.info("Every question is answered in a summary: none is left to measure with.")
        return []
    return [(KEPT, both.kept), (REMOVED, both.removed)]


def _arms(corpus: Corpus, names: Sequence[str]) -> Arms:
    """Both arms, the same objects as long as corpus and headings are the same."""
    kept = st.session_state.get("arms")
    if kept is None or kept[0] is not corpus or kept[1] != names:
        kept = st.session_state["arms"] = (corpus, names, arms(corpus, names))
    return kept[2]


def _job(parts: Sequence[tuple[str, Corpus]], sweep: Sweep, embedder: CachedEmbedder) -> Job:
    """The session's job of this sweep; another one is ended for it, with what it has measured kept."""
    key = (tuple((name, id(part)) for name, part in parts), sweep.plan.configs, embedder.identity)
    job: Job | None = st.session_state.get(_JOB)
    if job is None or job.key != key:
        if job:
            job.cancel()
            _take_over(job)
        known = [Arm(name, part, dict(resources.trials(part, embedder))) for name, part in parts]
        job = st.session_state[_JOB] = Job(key, known, sweep.plan.configs, embedder)
        job.start()
        job.wait(_AT_ONCE)
    return job


def _take_over(job: Job) -> None:
    """Has the session keep what a job has measured."""
    for arm in job.arms:
        resources.keep(arm.corpus, job.embedder, [one.trial for one in job.done if one.arm is arm])


def _go_on() -> None:
    _take_over(st.session_state.pop(_JOB))


def _told(config: Config, sweep: Sweep) -> None:
    """Which strategy is swept where it is not the one in the sidebar, and what is refused."""
    strategies = {one.strategy for one in sweep.plan.configs}
    if len(strategies) == 1 and config.strategy not in strategies:
        st.caption(
            plain(
                f"{STRATEGIES[config.strategy].title} has nothing of the kind to vary: this is of {STRATEGIES[strategies.pop()].title}."
            )
        )
    if sweep.plan.refused:
        with st.expander(f"{counted(len(sweep.plan.refused), 'setting')} left out"):
            for sentence in sweep.plan.refused:
                st.caption(plain(sentence))


def _progress(job: Job, sweep: Sweep) -> None:
    """How far the job is, and the charts of what is there."""
    said = f"{len(job.done)} of {counted(job.total, 'trial')} measured"
    embedding = job.embedding
    st.progress(
        len(job.done) / job.total, f"{said} · {words(embedding, 0.0)}" if embedding and embedding.total else said
    )
    _charts(job.found, sweep, judge=False)
    if not job.running:
        st.rerun()  # all that follows is drawn once


def _charts(found: Sequence[Measured], sweep: Sweep, judge: bool) -> list[str]:
    """The charts side by side; gives what is to be said of the best settings."""
    said = []
    settings = {one.trial.config: controls.packed(one.trial.config) for one in found}
    with st.container(key=_CHARTS):
        for place, (column, panel) in enumerate(zip(st.columns(len(sweep.panels)), sweep.panels, strict=True)):
            shown = [one for line in panel.lines for one in sweep_charts.of_line(line, found)]
            if not shown:
                continue
            results = standing.judged(panel, found, sweep.measure, _verdict) if judge else []
            said += [sentence for _, _, sentence in results]
            figure = sweep_charts.figure_of(panel, found, settings, results[0][1] if results else None)
            with column:
                st.markdown(f"**{plain(panel.title or sweep_charts.WORDS[panel.lines[0].measure])}**")
                st.plotly_chart(figure, key=f"{_CHARTS}_{place}", config=downloads.chart_config(f"chunkscope-sweep-{place + 1}"),
                                alt=f"Chart: {panel.title or panel.lines[0].measure}. Every figure is in the table below.")  # fmt: skip
    return said


def _verdict(trials: tuple[Trial, ...], measure: str) -> Verdict:
    """The verdict, which takes a moment, from the session's last ones where these very trials were judged before."""
    return resources.remembered(
        "verdicts", (trials, measure), _MOST_VERDICTS, lambda: verdict(trials, MEASURES[measure])
    )


def _finished(
    corpus: Corpus, config: Config, embedder: CachedEmbedder, sweep: Sweep, found: Sequence[Measured]
) -> None:
    """The charts with the verdict, what is to be noticed, the table, the downloads, the advice and the code."""
    for sentence in _charts(found, sweep, judge=True):
        st.markdown(plain(sentence))
    _difference(config, found)
    _notes(sweep, found)
    records = [one.record for one in found]
    rows = _rows(found)
    st.dataframe(rows, hide_index=True, height=300, column_config=_columns(rows))
    first, second, third, _ = st.columns([1, 1, 1, 3], vertical_alignment="bottom")
    with first:
        downloads.figures(records, "chunkscope-sweep")
    with second:
        downloads.study(corpus, records, "chunkscope-study")
    with third:
        downloads.picture_format()
    trial = resources.trials(corpus, embedder).get(config)
    advise.panel(trial or next(one.trial for one in found), embedder)
    code.panel(config, embedder.name)
    with st.container(key="cs_stores"):
        clicks(_CHARTS)


def _difference(config: Config, found: Sequence[Measured]) -> None:
    """What taking the summaries away does to the setting in the sidebar, where both arms have it."""
    kept = {one.trial.config: one.trial for one in found if one.arm.name == KEPT}
    for one in found:
        own = dict(one.trial.config.settings) == config.values and one.trial.config.strategy == config.strategy
        if one.arm.name == REMOVED and own:
            st.markdown(plain(standing.difference_said(compare(one.trial, kept[one.trial.config]), one.trial.config)))


def _notes(sweep: Sweep, found: Sequence[Measured]) -> None:
    """How the charts are read, and which settings cut identically."""
    said = ["A click on a point takes its setting over into the sidebar."]
    if any(len(panel.over) == 2 for panel in sweep.panels):
        said.append("Outlined: not distinguishable from the best, which has a star.")
    elif not all(panel.over for panel in sweep.panels):
        said.append("A star marks the best; filled points, with =, cannot be told from it.")
    else:
        said.append("Bands and bars are 95% intervals, each for itself.")
    if any(one.record["truncated_chunks"] for one in found):
        said.append(f"{MARK} marks settings with chunks longer than the model reads: what lies beyond is in no vector.")
    st.caption(plain(" ".join(said)))
    same = identical([one.record for one in found])
    if same:
        with st.expander(f"{counted(len(same), 'group')} of settings cut identically"):
            for line in same:
                st.caption(plain(f"{line}."))


def _rows(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """A row for each trial with every figure of it, the most read first."""
    rows = [
        {"setting": title_of(one.trial.config), "sent": amount_of(one.trial.config), **row_of(one.record)}
        for one in found
    ]
    return [{name: _shown(name, row[name]) for name in dict.fromkeys([*_FIRST, *row])} for row in rows]


def _shown(name: str, value: Any) -> Any:
    """A share in percent, anything else as it is."""
    return 100 * value if name in _PERCENT and value is not None else value


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Every column's name in words, and how its figures are written."""
    found: dict[str, Any] = {}
    for name, value in rows[0].items():
        label = _label(name)
        if name in _PERCENT:
            found[name] = st.column_config.NumberColumn(label, format="%.1f%%")
        elif isinstance(value, float):
            found[name] = st.column_config.NumberColumn(label, format="%.2f")
        else:
            found[name] = st.column_config.Column(label)
    return found


def _label(name: str) -> str:
    """A column's name in words. Example: coverage_low -> Coverage, low end"""
    if name in sweep_charts.WORDS:
        return sweep_charts.WORDS[name].partition(" (")[0]
    stem, _, end = name.rpartition("_")
    if end in ("low", "high") and stem:
        return f"{_label(stem)}, {end} end"
    return name.replace("_", " ").capitalize()


frame.run("Sweep", show)
