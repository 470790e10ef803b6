"""An embedder that tells on the page how far it is, and that the user can stop until he says go on."""

from __future__ import annotations

import time
from collections.abc import Hashable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cache.embedder import CachedEmbedder, Progress
from cache.watched import Watched
from pages.parts.words import counted, time_left

_STOPPED = "stopped"  # what this session has stopped

#: So few texts are embedded before a bar could be read.
_AT_ONCE = 8


class Stopped(Exception):  # noqa: N818 - it is what has happened, and the page has told it
    """Texts are missing, and the user has stopped embedding them."""


def watched(embedder: CachedEmbedder, spot: DeltaGenerator, work: Hashable) -> Watched:
    """The embedder with its progress, and a Stop, in an empty spot.

    Stop, as any widget, ends the run between two batches, which are kept. Then, for this work, it embeds nothing, offers
    Go on and raises Stopped where texts are missing.
    """
    bar: DeltaGenerator | None = None
    began = 0.0

    def tell(now: Progress) -> None:
        nonlocal bar, began
        if work in st.session_state.get(_STOPPED, ()):
            _offer_to_go_on(spot, now, work)
            raise Stopped
        if now.done == now.total:
            bar = None
            spot.empty()
        elif bar is None and now.total > _AT_ONCE:
            began = time.monotonic()
            with spot.container():
                bar = st.progress(0.0, words(now, 0.0))
                st.button("Stop", key=f"stop_{time.monotonic_ns()}", on_click=_stop, args=(work,),
                          help="What is embedded is kept.")  # fmt: skip
        elif bar is not None:
            bar.progress(now.done / now.total, words(now, time.monotonic() - began))

    return Watched(embedder, tell)


def words(now: Progress, seconds: float) -> str:
    """How far a run is that began so long ago, in words."""
    parts = [f"Embedding {now.done:,} of {now.total:,} texts"]
    if now.cached:
        parts.append(f"{now.cached:,} more from the store")
    if now.truncated:
        parts.append(f"{now.truncated:,} cut at the model's limit")
    if now.failed:
        parts.append(f"{now.failed:,} failed")
    if now.done:
        parts.append(time_left(seconds * (now.total - now.done) / now.done))
    return " · ".join(parts)


def _offer_to_go_on(spot: DeltaGenerator, now: Progress, work: Hashable) -> None:
    with spot.container():
        st.info(f"Stopped: {now.cached:,} of {counted(now.cached + now.total, 'text')} are embedded, and are kept.")
        st.button("Go on", type="primary", on_click=_go_on, args=(work,))


def _stop(work: Hashable) -> None:
    st.session_state.setdefault(_STOPPED, set()).add(work)


def _go_on(work: Hashable) -> None:
    st.session_state[_STOPPED].discard(work)
