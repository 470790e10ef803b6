"""What every page has: its title, the style, the menu, the settings in the sidebar, and the words for what goes wrong."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from cache import EmbedderError
from cache.embedder import CachedEmbedder
from chunking.index import Config
from chunking.types import Corpus
from pages.parts import address, controls, models, resources, sources, storage
from pages.parts.embedding import Stopped
from pages.parts.highlight import STYLE
from pages.parts.menu import menu
from pages.parts.words import plain

# As a component, so that the browser has loaded what components need before it comes to the one with the text.
_style = st.components.v2.component("chunkscope_style", css=STYLE, isolate_styles=False)

Page = Callable[[Corpus, Config, CachedEmbedder | None], None]


def run(title: str, page: Page) -> None:
    """One run of a page: the settings are read from the sidebar and handed to it, where there are documents."""
    st.set_page_config(page_title=f"{title} · Chunkscope", page_icon="✂️", layout="wide")
    address.load()
    _style(key="cs_style")
    menu()
    try:
        with st.sidebar:
            config, corpus, embedder = _settings()
            warning_spot = st.empty()
            storage.panel(resources.server())
        models.tell_warnings(warning_spot, embedder)
        address.save()
        if corpus.documents:
            page(corpus, config, embedder)
            models.tell_warnings(warning_spot, embedder)  # with what came up meanwhile
        else:
            st.info(
                "Add documents in the sidebar: Markdown or text files. With a questions file hit rates are measured too."
            )
    except Stopped:
        pass  # the page has said so, and offers to go on
    except (ValueError, EmbedderError, OSError) as error:
        resources.let_go_if_changed(error)
        st.error(plain(str(error)))


def _settings() -> tuple[Config, Corpus, CachedEmbedder | None]:
    cutting = st.container()
    with st.container(border=True):
        corpus = sources.pick_corpus()
        embedder = models.pick_embedder()
    with cutting:
        return controls.pick(embedder), corpus, embedder
