"""What every page begins with: its title, the style, the menu, and the settings in the sidebar."""

from __future__ import annotations

import streamlit as st

from cache.embedder import CachedEmbedder
from chunking.index import Config
from chunking.types import Corpus
from pages.parts import address, controls, sources
from pages.parts.highlight import STYLE
from pages.parts.menu import menu


def begin(title: str) -> None:
    """The frame of a page; what the user has set is known after it."""
    st.set_page_config(page_title=f"{title} · Chunkscope", page_icon="✂️", layout="wide")
    address.load()
    st.html(f"<style>{STYLE}</style>")
    menu()


def settings() -> tuple[Config, Corpus, CachedEmbedder | None]:
    """The configuration, the corpus and the embedder that the sidebar shows; the address then says them too."""
    with st.sidebar:
        cutting = st.container()
        with st.container(border=True):
            corpus = sources.pick_corpus()
            embedder = sources.pick_embedder()
        with cutting:
            config = controls.pick(embedder)
    address.save()
    return config, corpus, embedder
