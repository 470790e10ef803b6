"""What the present corpus says about whether chunking matters, each sentence with its numbers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.advice import Advice, not_needed, too_short
from chunking.experiment import Trial
from pages.parts import resources
from pages.parts.words import amount_of, plain, title_of

_MEANS = {
    "too_short": "Then settings differ by little whatever is chosen: measure on longer documents, or send less.",
    "fits_prompt": "Then chunking is not needed: send all of it with every question.",
    "small_documents": "Then chunking is hardly needed: take each document as one chunk (strategy Whole document).",
    "identifiers": "Then keyword search alone may do, however documents are cut.",
}


def panel(trial: Trial, embedder: CachedEmbedder) -> None:
    """What holds is shown at once; what does not, with its numbers, below it."""
    found = [too_short(trial), *not_needed(trial.index.corpus, _searched(trial, embedder))]
    for advice in found:
        if advice.holds:
            st.info(plain(_said(advice)))
    with st.expander("When you do not need chunking"):
        st.caption(plain(f"By this corpus, with {title_of(trial.config)}, {amount_of(trial.config)}:"))
        for advice in found:
            st.markdown(plain(f"{'Holds' if advice.holds else 'Does not hold'}: {advice.sentence}"))


def _said(advice: Advice) -> str:
    return f"{advice.sentence} {_MEANS[advice.name]}"


def _searched(trial: Trial, embedder: CachedEmbedder) -> list[Trial]:
    """The trial and its twin searched by keyword; none where it is not searched by meaning."""
    if trial.config.search != "dense":
        return []
    keyword = replace(trial.config, search="keyword", pooling="isolated")
    index = replace(trial.index, config=keyword)
    return [trial, resources.measured(trial.index.corpus, keyword, embedder, index)]
