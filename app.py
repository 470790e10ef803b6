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
from chunking.experiment import Trial, read_by, search
from chunking.index import Config, build
from chunking.types import Corpus, Describe, Document
from pages.parts import address, ask, contextual, controls, figures, live, resources, sources
from pages.parts.highlight import STYLE
from pages.parts.live import cursor
from pages.parts.menu import menu
from pages.parts.words import amount_of, plain, title_of

_PATIENCE = 1.0  # seconds between two drawings of the chart while points are still coming


def main() -> None:
    """The page, from settings to figures in one straight line."""
    st.set_page_config(page_title="Chunkscope", page_icon="✂️", layout="wide")
    address.load()
    st.html(f"<style>{STYLE}</style>")
    menu()
    try:
        with st.sidebar:
            config, corpus, embedder = _settings()
        address.save()
        if corpus.documents:
            explore(corpus, config, embedder)
        else:
            st.info(
                "Add documents in the sidebar: Markdown or text files. With a questions file hit rates are measured too."
            )
    except (ValueError, EmbedderError, OSError) as error:
        st.error(plain(str(error)))


def _settings() -> tuple[Config, Corpus, CachedEmbedder | None]:
    cutting = st.container()
    with st.container(border=True):
        corpus = sources.pick_corpus()
        embedder = sources.pick_embedder()
    with cutting:
        return controls.pick(embedder), corpus, embedder


def explore(corpus: Corpus, config: Config, embedder: CachedEmbedder | None) -> None:
    """The document with its cuts on one side; figures, chart and questions on the other."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        document = _pick_document(corpus)
        text_spot = st.container()
        question, asked = ask.pick_question(corpus)
        answer_spot = st.container()
    with right:
        figure_spot, pin_spot, chart_spot = st.container(key="cs_figures"), st.container(), st.container(key="cs_chart")
    stores = st.container(key="cs_stores")
    with stores:
        live.document(corpus, document)
    watched = _watched(embedder, figure_spot.empty()) if embedder else None
    describe: Describe | None = None
    if watched and config.context == "contextual":
        with figure_spot:
            describe = contextual.described(corpus, config, watched)
    waiting = config.context == "contextual" and describe is None
    index = build(corpus, replace(config, context="none", chat="") if waiting else config, watched, describe=describe)
    sliders = controls.sliders(config)
    with text_spot:
        rev = live.view(index, document, sliders, asked, waits=watched is not None and not waiting)
    if embedder is None or watched is None or waiting:
        if watched is None:
            with figure_spot:
                figures.cut_figures(index)
                figures.notes(index)
        with stores:
            live.tables(corpus, document, sliders, watched)
        return
    trial = resources.measured(corpus, config, watched, index) if corpus.questions else None
    found = search(index, question, watched) if question else []
    with figure_spot:
        pinned, why = _pinned(corpus, watched) if trial else (None, "")
        if trial:
            figures.trial_figures(trial, pinned)
        else:
            figures.cut_figures(index)
            st.caption("Add a questions file to measure hit rates.")
        figures.notes(index)
    with answer_spot:
        if question:
            ask.answer(index, found, asked, trial)
    if trial:
        with pin_spot:
            _pin(config, pinned, why)
        drawn_spot, progress = _chart(chart_spot, corpus, embedder)
        with stores:
            cursor.cursor(resources.trials(corpus, embedder), trial, sliders)
    with stores:
        live.measured(rev, index, document, trial.read_ends if trial else read_by(index, watched), found)
        live.tables(corpus, document, sliders, watched)
    if trial:
        _basics(drawn_spot, progress, corpus, config, embedder)


def _pick_document(corpus: Corpus) -> Document:
    by_id = {document.id: document for document in corpus.documents}
    name = controls.select("post", "Document", list(by_id), next(iter(by_id)), lambda name: f"{by_id[name].title}  ({name})",
                           "The document that is shown. Figures are about the whole corpus.")  # fmt: skip
    return by_id[name]


def _watched(embedder: CachedEmbedder, spot: DeltaGenerator) -> Watched:
    """The embedder with its progress on the page. Moving a slider stops it between two batches; those are kept."""

    def progress(done: int, total: int) -> None:
        if done < total:
            spot.progress(done / total, f"Embedding {done:,} of {total:,} texts")
        else:
            spot.empty()

    return Watched(embedder, progress)


def _pinned(corpus: Corpus, watched: Watched) -> tuple[Trial | None, str]:
    """The trial of the pinned setting; None where there is none or it cannot be measured, and then why."""
    config = controls.unpacked(address.chosen("pin"))
    if config is None:
        return None, ""
    try:
        describe: Describe | None = None
        if config.context == "contextual":
            describe = resources.chat(config.chat)
            if price(describe, corpus, config, watched).calls:
                return None, "its chunks are not described yet; choose it to see what that costs."
        return resources.measured(corpus, config, watched, describe=describe), ""
    except (ValueError, EmbedderError, OSError) as error:
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


def _chart(spot: DeltaGenerator, corpus: Corpus, embedder: CachedEmbedder) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The chart of what this session has measured; gives its spot and one for progress below it."""
    with spot:
        chart_spot, progress = st.empty(), st.empty()
        st.caption("The diamond is the present setting with its interval. A click on a point goes to its setting.")
    with chart_spot:
        cursor.chart(resources.trials(corpus, embedder))
    return chart_spot, progress


def _basics(
    chart_spot: DeltaGenerator, progress: DeltaGenerator, corpus: Corpus, config: Config, embedder: CachedEmbedder
) -> None:
    """Measures, point by point, the basic strategies that this session has not measured yet."""
    watched, trials = _watched(embedder, progress), resources.trials(corpus, embedder)
    missing = [one for one in basic_configs(corpus, watched, config.k, config.budget) if one not in trials]
    drawn = time.monotonic()
    for one in missing:
        resources.measured(corpus, one, watched)
        # Where vectors are cached all points come at once; where they are not, one by one.
        if one is missing[-1] or time.monotonic() - drawn > _PATIENCE:
            with chart_spot:
                cursor.chart(trials, fresh=True)
            drawn = time.monotonic()


main()
