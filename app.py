"""Explore: drag the sliders, watch the cuts move, and read what each cut costs."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cache import EmbedderError
from cache.described import price
from cache.embedder import CachedEmbedder
from cache.watched import Watched
from chunking.basics import basic_configs
from chunking.experiment import Result, Trial, read_by, search
from chunking.index import Config, build
from chunking.types import Corpus, Describe, Document, Question
from pages.parts import address, ask, contextual, controls, figures, frame, post, resources
from pages.parts.charts import MARK, hit_rate_chart, point_of
from pages.parts.embedding import Stopped, watched
from pages.parts.words import amount_of, plain, title_of

_PATIENCE = 1.0  # seconds between two drawings of the chart while points are still coming


def explore(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """The document with its cuts on one side; figures, chart and questions on the other."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        document = _pick_document(corpus)
        text_spot = st.empty()
        post.key()
        question, asked = ask.pick_question(corpus)
        answer_spot = st.container()
    with right:
        figure_spot, pin_spot, chart_spot = st.container(), st.container(), st.empty()
    if embedder is None:
        index = build(corpus, replace(config, context="none", chat="") if config.chat else config)
        post.show(text_spot, index, document, None, (), asked)
        with figure_spot:
            figures.cut_figures(index)
            figures.notes(index)
        return
    embed = watched(embedder, figure_spot.empty(), (embedder.identity, id(corpus), config))
    describe: Describe | None = None
    if config.context == "contextual":
        with figure_spot:
            describe = contextual.described(corpus, config, embed)
        if describe is None:
            index = build(corpus, replace(config, context="none", chat=""), embed)
            post.show(text_spot, index, document, None, (), asked)
            return
    index = build(corpus, config, embed, describe=describe)
    post.show(text_spot, index, document, None, (), asked)
    try:
        trial = resources.measured(corpus, config, embed, index) if corpus.questions else None
        found = search(index, question, embed) if question else []
        read_ends = trial.read_ends if trial else read_by(index, embed)
    except Stopped:
        with figure_spot:
            figures.cut_figures(index)
            figures.notes(index)
        return
    post.show(text_spot, index, document, read_ends, found, asked)
    with figure_spot:
        pinned, why = _pinned(corpus, embed) if trial else (None, "")
        if trial:
            figures.trial_figures(trial, pinned)
        else:
            figures.cut_figures(index)
            st.caption("Add a questions file to measure hit rates.")
        figures.notes(index)
    with answer_spot:
        if question:
            ask.answer(index, found, asked, _result(trial, asked))
    if trial:
        with pin_spot:
            _pin(config, pinned, why)
        _chart(chart_spot, corpus, trial, embedder)


def _result(trial: Trial | None, asked: Question | None) -> Result | None:
    """What the trial did for the asked question, where it is one of its set."""
    if trial is None or asked is None:
        return None
    return next(result for result in trial.results if result.question.id == asked.id)


def _pick_document(corpus: Corpus) -> Document:
    by_id = {document.id: document for document in corpus.documents}
    name = controls.select("post", "Document", list(by_id), next(iter(by_id)), lambda name: f"{by_id[name].title}  ({name})",
                           "The document that is shown. Figures are about the whole corpus.")  # fmt: skip
    return by_id[name]


def _pinned(corpus: Corpus, embed: Watched) -> tuple[Trial | None, str]:
    """The trial of the pinned setting; None where there is none or it cannot be measured, and then why."""
    config = controls.unpacked(address.chosen("pin"))
    if config is None:
        return None, ""
    try:
        describe: Describe | None = None
        if config.context == "contextual":
            describe = resources.chat(config.chat)
            if price(describe, corpus, config, embed).calls:
                return None, "its chunks are not described yet; choose it to see what that costs."
        return resources.measured(corpus, config, embed, describe=describe), ""
    except Stopped:
        return None, "embedding its chunks was stopped."
    except (ValueError, EmbedderError, OSError) as error:
        resources.let_go_if_changed(error)
        return None, str(error)


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


def _chart(spot: DeltaGenerator, corpus: Corpus, trial: Trial, embedder: CachedEmbedder) -> None:
    """The chart, then, point by point, the basic strategies that this session has not measured yet."""
    embed = _drawn(spot, corpus, trial, embedder)
    drawn = time.monotonic()
    missing = [config for config in basic_configs(corpus, embed, trial.config.k, trial.config.budget)
               if config not in resources.trials(corpus, embedder)]  # fmt: skip
    for config in missing:
        resources.measured(corpus, config, embed)
        # Where vectors are cached all points come at once; where they are not, one by one.
        if config is missing[-1] or time.monotonic() - drawn > _PATIENCE:
            embed = _drawn(spot, corpus, trial, embedder)
            drawn = time.monotonic()


def _drawn(spot: DeltaGenerator, corpus: Corpus, trial: Trial, embedder: CachedEmbedder) -> Watched:
    """Draws the chart with the points so far; the embedder, with its progress below."""
    with spot.container():
        _draw(corpus, trial, embedder)
        return watched(embedder, st.empty(), ("chart", embedder.identity, id(corpus)))


def _draw(corpus: Corpus, trial: Trial, embedder: CachedEmbedder) -> None:
    kept = resources.trials(corpus, embedder)
    points = [point_of(measured) for measured in kept.values()]
    st.plotly_chart(hit_rate_chart(points, point_of(trial)), theme="streamlit", config={"displayModeBar": False})
    if any(point.truncated for point in points):
        st.caption(
            f"{MARK} Some of its chunks are longer than the model reads; how many, the point tells under the pointer."
        )


frame.run("Explore", explore)
