"""Two settings on one text: boundaries over each other, questions won and lost, where passages are cut, sentences' likeness."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from chunking.experiment import Trial
from chunking.forensics import examine, in_words, split_passages
from chunking.overlaid import likeness, overlaid
from chunking.stops import passages_of
from chunking.sweep import cut_hash
from chunking.types import Document
from pages.parts import comparisons
from pages.parts.controls import packed, pick_document, take
from pages.parts.highlight import overlaid_html
from pages.parts.live.level import level
from pages.parts.tables import table
from pages.parts.trials import Compared, name_of, pick_other
from pages.parts.words import FATES, counted, plain


def show(compared: Compared) -> None:
    """Both settings on the document that is picked."""
    other = pick_other(compared)
    if other is None:
        return
    document = pick_document(compared.corpus, "The document that is shown.")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _text(compared, other, document)
    with right:
        _questions(compared, other, document)
        for side, trial in (("a", compared.baseline), ("b", other)):
            if trial.config.strategy == "semantic":
                with st.container(key=f"cs_likeness_{side}"):
                    _likeness(compared, trial, document, f"cs_likeness_{side}")
    st.subheader("Where passages are cut", anchor=False)
    _forensics(compared, other, document)


def _text(compared: Compared, other: Trial, document: Document) -> None:
    one = compared.baseline
    found = overlaid(one.index, other.index, document)
    alike = " The two settings cut all documents identically." if cut_hash(one.index) == cut_hash(other.index) else ""
    st.markdown(f"**A** {plain(compared.baseline_name)}: {len(found.one)} boundaries of its own  \n"
                f"**B** {plain(name_of(other.config))}: {len(found.other)} of its own  \n"
                f"**A B** {counted(len(found.both), 'boundary', 'boundaries')} of both.{alike}")  # fmt: skip
    st.html(overlaid_html(document.text, found, passages_of(compared.corpus, document)))
    st.caption(
        "Boundaries of what is sent; an overlap has two, where it begins and where it ends. Answering passages are underlined."
    )


def _questions(compared: Compared, other: Trial, document: Document) -> None:
    """The questions about the document that one setting found and the other did not."""
    rows = [
        (ours, theirs)
        for ours, theirs in zip(compared.baseline.results, other.results, strict=True)
        if ours.question.document == document.id
    ]
    st.markdown(f"**{counted(len(rows), 'question')} about this document**")
    if rows:
        table([{"Question": ours.question.text, "A": FATES[ours.reason], "B": FATES[theirs.reason], "Change": _won(ours.hit, theirs.hit)}
               for ours, theirs in rows], "document.csv")  # fmt: skip


def _won(ours: bool, theirs: bool) -> str:
    return "none" if ours == theirs else "won by B" if theirs else "lost by B"


def _forensics(compared: Compared, other: Trial, document: Document) -> None:
    """Every passage of the document's questions that a setting cuts, and what would keep it whole."""
    rows = []
    for letter, trial in (("A", compared.baseline), ("B", other)):
        for result in trial.results:
            if result.question.document == document.id:
                rows += [
                    {"Setting": letter, "Question": result.question.text,
                     "What happened": in_words(examine(trial.index, passage, compared.embed), trial.index)}
                    for passage in split_passages(trial.index, result.question)
                ]  # fmt: skip
    if rows:
        table(rows, "forensics.csv")
    else:
        st.caption("Neither setting cuts a passage of this document's questions.")


def _likeness(compared: Compared, trial: Trial, document: Document, inside: str) -> None:
    """The curve of neighbouring sentences' similarity, with a threshold to drag across it, in the container of that key."""
    config = trial.config
    values = config.values
    found = likeness(compared.corpus, document, compared.embed, config.scope, values["buffer"])
    st.markdown(f"**How alike neighbouring sentences are** ({plain(name_of(config))})")
    if not len(found.cosines):
        st.caption("This document has one sentence.")
        return
    first = float(values["threshold"]) if values["cut_by"] == "threshold" else 0.0
    threshold = st.slider("Threshold", -0.2, 1.0, min(max(first, -0.2), 1.0), 0.01, key=f"try_threshold {packed(config)}",
                          help="Below it a new chunk begins. Where a chunk reaches its cap it ends in any case.")  # fmt: skip
    st.plotly_chart(
        comparisons.likeness_chart(found, threshold), key=f"likeness {packed(config)}", config={"displaylogo": False}
    )
    level(inside, threshold, found.cosines.tolist())
    settings = {**values, "cut_by": "threshold", "threshold": threshold}
    tried = replace(config, settings=tuple(sorted(settings.items())))
    if tried != config:
        st.button("Take this threshold", key=f"take {packed(config)}", on_click=take, args=(packed(tried),),
                  help="The present setting becomes this one; the trials stay as they are chosen.")  # fmt: skip
