"""The store of vectors: how large it is, whose vectors it holds, and the removal of those that nobody can use."""

from __future__ import annotations

import streamlit as st

from cache import EmbedderError, Look
from cache.tidying import by_model, remove_uninstalled, uninstalled
from pages.parts import resources
from pages.parts.hosts import host, local
from pages.parts.words import bytes_of, plain


def panel(found: Look) -> None:
    """The panel. Nothing is counted while it is closed."""
    with st.expander("Store of vectors", key="store_panel", on_change="rerun") as opened:
        if opened.open:
            _show(found)


def _show(found: Look) -> None:
    store = resources.store()
    tags = store.tags()
    st.caption(plain(f"{bytes_of(store.volume())} in {store.folder}" if local() else bytes_of(store.volume())))
    for (model, what), number in by_model(tags).items():
        st.caption(plain(f"{model}, {what}: {number:,}"))
    if not tags:
        st.caption("It is empty.")
    for warning in resources.for_readers(store.warnings):
        st.warning(plain(warning))
    # An address that is typed in far away must not empty the store that all share.
    if found.server and (local() or not host().typed):
        _offer_removal(found.server.host, {tag: tags[tag] for tag in uninstalled(tags, found.server.digests)})


def _offer_removal(address: str, gone: dict[str, int]) -> None:
    if not gone:
        st.caption(plain(f"The server at {address} has every Ollama model of the store."))
        return
    st.markdown(plain(f"Of models that are not installed at {address}:"))
    for (model, what), number in by_model(gone).items():
        st.caption(plain(f"{model}, {what}: {number:,}"))
    if st.button("Remove vectors of models no longer installed"):
        try:
            remove_uninstalled(resources.store(), *host())
            st.rerun()
        except EmbedderError as error:
            st.error(plain(str(error)))
