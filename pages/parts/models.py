"""The embedder: which model, how texts are put to it, on which Ollama server, and models that the server is to fetch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cache import BUILT_IN, PREFERRED, EmbedderError, Look, default_embedder_name, own_prefixes
from cache.embedder import CachedEmbedder
from cache.ollama_client import Installed
from cache.ollama_models import short_name
from cache.pulling import Pull
from pages.parts import resources
from pages.parts.address import choose, chosen
from pages.parts.hosts import host, may_type, type_host
from pages.parts.words import bytes_of, plain

_KINDS = ("query", "document")
_LONGEST_PREFIX = 300  # characters
_LOOK_EVERY = 0.5  # seconds between two looks at a pull


def pick_embedder() -> CachedEmbedder | None:
    """The chosen embedder; None, with the reason on the page, where it is not to be had."""
    found = resources.server()
    first = default_embedder_name(found)
    installed = {f"ollama:{model.name}": model for model in (found.server.embedding if found.server else ())}
    name = _pick(first.name, installed)
    with st.container():  # keeps its place also while it is empty: what unfolds below would else fold up
        if name == first.name:
            st.caption(plain(first.sentence))
        if name != BUILT_IN and name not in installed:
            st.error(plain(_absent(name, found)))
    prefixes = _pick_prefixes(name)
    _show_server(found)
    return _opened(name, prefixes) if name == BUILT_IN or name in installed else None


def tell_warnings(spot: DeltaGenerator, embedder: CachedEmbedder | None) -> None:
    """What there is to know about the model and the store by now, in an empty spot."""
    with spot.container():
        for warning in resources.for_readers(embedder.warnings if embedder else resources.store().warnings):
            st.warning(plain(warning))


def _pick(first: str, installed: Mapping[str, Installed]) -> str:
    name = short_name(chosen("embedder", first))
    names = sorted(installed, key=lambda name: not name.startswith(f"ollama:{PREFERRED}"))
    st.session_state["w_embedder"] = name
    return st.selectbox("Embedder", list(dict.fromkeys([BUILT_IN, *names, name])), key="w_embedder", on_change=_keep_embedder,
                        format_func=lambda name: _label(name, installed.get(name)),
                        help="minilm is built in and needs no server. The others are the embedding models of the Ollama server.")  # fmt: skip


def _keep_embedder() -> None:
    """Another model has other prefixes."""
    choose("embedder", st.session_state["w_embedder"])
    _back_to_own()


def _label(name: str, model: Installed | None) -> str:
    if name == BUILT_IN:
        return f"{BUILT_IN} · 256 tokens · built in"
    if model is None:
        return f"{name} · not there"
    facts = [model.name, f"{model.limit:,} tokens" if model.limit else "", bytes_of(model.size), "loaded" if model.loaded else ""]  # fmt: skip
    return " · ".join(fact for fact in facts if fact)


def _absent(name: str, found: Look) -> str:
    """Why a model of the address is not to be had, and the way out."""
    if found.server is None:
        return f"{name} is not to be had, because {found.problem}. Or choose {BUILT_IN}."
    return (
        f"{name} is no embedding model of the Ollama server at {found.server.host}: choose another, or fetch it below."
    )


def _opened(name: str, prefixes: Mapping[str, str]) -> CachedEmbedder | None:
    try:
        with st.spinner(f"Opening {plain(name)}"):
            embedder = resources.embedder(name, prefixes)
    except (EmbedderError, ValueError, OSError) as error:
        st.error(plain(str(error)))
        resources.look_again()  # what is known of the server may be out of date, and is not to be waited for again
        return None
    reads = f"It reads {embedder.limit:,} tokens of a chunk{', about 200 words' if name == BUILT_IN else ''}." if embedder.limit else ""  # fmt: skip
    put = [f"Before each {kind}: {prefix!r}." for kind, prefix in embedder.prefixes.items() if prefix]
    st.caption(plain(" ".join([reads, *put, f"{embedder.identity}."])))
    return embedder


def _pick_prefixes(name: str) -> dict[str, str]:
    """What is put before a query and before a document."""
    own = own_prefixes(name)
    with st.expander("How texts are put to the model"):
        prefixes = {kind: _prefix(kind, own[kind]) for kind in _KINDS}
        st.caption("Part of what is embedded: other prefixes give other vectors. Late pooling reads documents without.")
        if prefixes != own:
            st.button("Back to the model's own", on_click=_back_to_own)
    return prefixes


def _prefix(kind: str, own: str) -> str:
    prefix = _unquoted(chosen(f"{kind}_prefix"), own)
    key = f"w_{kind}_prefix"
    st.session_state[key] = prefix.replace("\n", "\\n")  # a field holds one line
    st.text_input(f"Before each {kind}", key=key, on_change=_keep_prefix, args=(kind, own), placeholder="nothing",
                  help="With the space at its end, where there is to be one; \\n stands for a line end.")  # fmt: skip
    return prefix


def _keep_prefix(kind: str, own: str) -> None:
    prefix = st.session_state[f"w_{kind}_prefix"].replace("\\n", "\n")[:_LONGEST_PREFIX]
    choose(f"{kind}_prefix", "" if prefix == own else json.dumps(prefix, ensure_ascii=False))


def _unquoted(text: str, own: str) -> str:
    """The prefix of an address, which is in quotes there so that none at all can be told from the model's own."""
    try:
        prefix = json.loads(text)
    except ValueError:
        return own
    return prefix[:_LONGEST_PREFIX].encode(errors="replace").decode() if isinstance(prefix, str) else own


def _back_to_own() -> None:
    for kind in _KINDS:
        choose(f"{kind}_prefix", "")


def _show_server(found: Look) -> None:
    with st.expander("Ollama server"):
        if found.server:
            st.caption(plain(f"Ollama {found.server.version} at {found.server.host}"))
        else:
            st.caption(plain(f"There is none: {found.problem}."))
        if may_type():
            type_host()
        if found.server:
            _fetch()
    if found.server is None:
        st.button("Look again", on_click=resources.look_again, help="For an Ollama server that was started meanwhile.")


def _fetch() -> None:
    """The field and the button that have the server fetch a model, and how far that is."""
    address, typed = host()
    model = st.text_input("Model to fetch", PREFERRED, key="w_pull", max_chars=200, help="A name of ollama.com/library. The server downloads it.")  # fmt: skip
    if st.button("Fetch"):
        try:
            st.session_state["pull"] = resources.pulls().begin(address, model, typed)
        except ValueError as error:
            st.error(plain(str(error)))
    running = resources.pulls().running(address)
    for pull in running:
        # Outside the fragment: there a press would wait until the page has embedded all that it has to.
        st.button(f"Cancel {plain(pull.model)}", key=f"cancel_{pull.model}", on_click=pull.cancel)
    if running:
        st.fragment(_show_pulls, run_every=_LOOK_EVERY)(running)
    mine = st.session_state.get("pull")
    if mine and not mine.running:
        _show_end(mine)


def _show_pulls(pulls: Sequence[Pull]) -> None:
    for pull in pulls:
        done, total = pull.done, pull.total
        far = f"{bytes_of(done)} of {bytes_of(total)}" if total else pull.status
        st.progress(min(1.0, done / total) if total else 0.0, plain(f"Fetching {pull.model}: {far}"))
    if not all(pull.running for pull in pulls):
        st.rerun()  # the list of models is read anew


def _show_end(pull: Pull) -> None:
    if pull.problem:
        st.error(plain(f"{pull.problem}."))
    elif pull.cancelled:
        st.caption(plain(f"{pull.model}: cancelled. What is there already need not be fetched again."))
    else:
        st.caption(plain(f"{pull.model} is there, and can be chosen above."))
