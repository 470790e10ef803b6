"""Explore: drag the sliders, watch the cuts move, and read what each cut costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cache.embedder import CachedEmbedder
from cache.watched import Watched
from chunking.basics import basic_configs
from chunking.experiment import Found, Result, Trial, read_by, search
from chunking.index import Config, Index, build
from chunking.types import Corpus, Describe, Ints, Question
from pages.parts import address, ask, contextual, controls, downloads, figures, frame, live, resources
from pages.parts.charts import MARK
from pages.parts.embedding import Stopped, watched
from pages.parts.live import cursor
from pages.parts.trials import trial_or_why
from pages.parts.words import amount_of, plain, title_of

_PATIENCE = 1.0  # seconds between two drawings of the chart while points are still coming


@dataclass(frozen=True, slots=True)
class Spots:
    """The places of the page that are filled as results come."""

    figures: DeltaGenerator
    pin: DeltaGenerator
    chart: DeltaGenerator
    answer: DeltaGenerator
    stores: DeltaGenerator  # what the browser is handed and nobody sees


def explore(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """The document with its cuts on one side; figures, chart and a question on the other."""
    began = time.monotonic()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        document = controls.pick_document(corpus, "The document that is shown. Figures are about the whole corpus.")
        text_spot = st.container()
        question, asked = ask.pick_question(corpus)
        answer_spot = st.container()
        if question:
            st.page_link("pages/ask.py", label="Read the chunks that are sent", query_params=address.kept())
    with right:
        spots = Spots(st.container(key="cs_figures"), st.container(), st.container(key="cs_chart"), answer_spot,
                      st.container(key="cs_stores"))  # fmt: skip
    with spots.stores:
        live.document(corpus, document)
    embed = watched(embedder, spots.figures.empty(), (embedder.identity, id(corpus), config)) if embedder else None
    describe: Describe | None = None
    if embed and config.context == "contextual":
        with spots.figures:
            describe = contextual.described(corpus, config, embed)
    waiting = config.context == "contextual" and describe is None
    index = build(corpus, replace(config, context="none", chat="") if waiting else config, embed, describe=describe)
    sliders = controls.sliders(config)
    with text_spot:
        rev = live.view(index, document, sliders, asked, waits=embed is not None and not waiting)
    trial: Trial | None = None
    if embedder and embed and not waiting:
        found, read_ends, trial = _measured(spots, index, embed, question, asked)
        if trial:
            drawn_spot, progress = _chart(spots.chart, corpus, embedder)
        with spots.stores:
            if trial:
                cursor.cursor(resources.trials(corpus, embedder), trial, sliders)
            if read_ends is not None:
                live.measured(rev, index, document, read_ends, found)
    elif not waiting:
        _cut_alone(spots, index)
    with spots.stores:
        live.tables(corpus, document, sliders, embed)
    if embedder and trial:
        _basics(drawn_spot, progress, corpus, config, embedder, began)


def _measured(
    spots: Spots, index: Index, embed: Watched, question: str, asked: Question | None
) -> tuple[list[Found], Ints | None, Trial | None]:
    """Measures the setting and draws its figures; what came back for the question, how far chunks were read, the trial."""
    corpus, config = index.corpus, index.config
    try:
        trial = resources.measured(corpus, config, embed, index) if corpus.questions else None
        found = search(index, question, embed) if question else []
        read_ends = trial.read_ends if trial else read_by(index, embed)
    except Stopped:
        _cut_alone(spots, index)
        return [], None, None
    pinned, why = _pinned(corpus, embed) if trial else (None, "")
    if trial is None:
        _cut_alone(spots, index)
        with spots.figures:
            st.caption("Add a questions file to measure hit rates.")
        return found, read_ends, None
    with spots.figures:
        figures.trial_figures(trial, pinned)
        figures.notes(index)
    with spots.pin:
        _pin(config, pinned, why)
    if asked:
        with spots.answer:
            ask.verdict(index, _result(trial, asked))
    return found, read_ends, trial


def _cut_alone(spots: Spots, index: Index) -> None:
    with spots.figures:
        figures.cut_figures(index)
        figures.notes(index)


def _result(trial: Trial, asked: Question) -> Result:
    """What the trial did for a question of its set."""
    return next(result for result in trial.results if result.question.id == asked.id)


def _pinned(corpus: Corpus, embed: Watched) -> tuple[Trial | None, str]:
    """The trial of the pinned setting; None where there is none or it cannot be measured, and then why."""
    config = controls.unpacked(address.chosen("pin"))
    if config is None:
        return None, ""
    try:
        return trial_or_why(corpus, config, embed)
    except Stopped:
        return None, "embedding its chunks was stopped."


def _pin(config: Config, pinned: Trial | None, why: str) -> None:
    left, right = st.columns([1, 2], vertical_alignment="center")
    if why:
        left.button("Unpin", on_click=address.choose, args=("pin", ""))
        right.caption(plain(f"The pinned setting cannot be compared: {why}"))
        return
    if pinned is None:
        left.button(
            "Pin this setting",
            on_click=address.choose,
            args=("pin", controls.packed(config)),
            help="Every figure then shows its change against it.",
        )
        return
    left.button("Unpin", on_click=address.choose, args=("pin", ""))
    right.caption(f"Changes are against: {plain(f'{title_of(pinned.config)}, {amount_of(pinned.config)}')}")


def _chart(spot: DeltaGenerator, corpus: Corpus, embedder: CachedEmbedder) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The surroundings of the chart; gives its spot and one for progress below it."""
    trials = resources.trials(corpus, embedder)
    with spot:
        chart_spot, progress = st.empty(), st.empty()
        st.caption("The diamond is the present setting with its interval. A click on a point goes to its setting. A line is "
                   "a budget curve: the hit rate if every question may be sent that many words. "
                   f"{MARK} marks a setting with chunks longer than the model reads.")  # fmt: skip
        with st.popover("Save", help="The chart as a picture, its points as a table."):
            downloads.picture_format()
            st.button("Draw the chart anew", on_click=cursor.renew, args=(trials,),
                      help="Points measured since it was drawn lie over it and would be missing from a picture. The diamond is in no picture.")  # fmt: skip
            downloads.measured(list(trials.values()), embedder, "chunkscope-hit-rate")
    return chart_spot, progress


def _basics(
    chart_spot: DeltaGenerator, progress: DeltaGenerator, corpus: Corpus, config: Config, embedder: CachedEmbedder, drawn: float
) -> None:  # fmt: skip
    """Draws the chart of what this session has measured, with the basic strategies.

    Where their vectors are cached all points come at once; where they are not, one by one. `drawn` is when the page was.
    """
    embed = watched(embedder, progress, ("chart", embedder.identity, id(corpus)))
    trials = resources.trials(corpus, embedder)
    new, shown = False, False

    def draw() -> None:
        nonlocal shown
        if shown:  # Streamlit refuses the same chart twice in a run
            return
        with chart_spot:
            if new:
                cursor.renew(trials)
            cursor.chart(trials)
        shown = True

    if time.monotonic() - drawn > _PATIENCE:
        draw()
    try:
        for one in basic_configs(corpus, embed, config.k, config.budget):
            if one not in trials:
                resources.measured(corpus, one, embed)
                new, shown = True, False
                if time.monotonic() - drawn > _PATIENCE:
                    draw()
                    drawn = time.monotonic()
    finally:  # also where the user has stopped it
        draw()


frame.run("Explore", explore)
