"""The document with its cuts, drawn in the browser so that the cuts follow a slider while it is dragged.

Python cuts and formats; the browser only draws what it was given. Streamlit sends an element again when any of its data
changed, so what stays the same (the document, the tables of a slider's stops) is mounted apart from what changes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import streamlit as st

from chunking.experiment import Found
from chunking.index import Config, Index
from chunking.registry import STRATEGIES
from chunking.segments import blocks
from chunking.stops import CutFigures, DrawnCut, Slider, Stop, cut_figures, drawn_cut, passages_of, stops
from chunking.types import Corpus, Document, Embed, Ints, Question
from chunking.words import code_points
from pages.parts.resources import remembered
from pages.parts.words import counted, percent

_FOLDER = Path(__file__).parent
_PATIENCE = 0.3  # seconds for a library's table; a slider whose stops it takes longer to cut acts on release alone
_MOST_TABLES = 32  # kept by a session; the oldest go first


def script(*names: str) -> str:
    """The source of a component: what follows the sliders, then the files of these names."""
    return "".join(map(text_of, ("sliders.js", *names)))


def text_of(name: str) -> str:
    """The text of a file beside this one."""
    return (_FOLDER / name).read_text(encoding="utf-8")


_store = st.components.v2.component("chunkscope_store", js=text_of("store.js"))
_view = st.components.v2.component(
    "chunkscope_view",
    html=text_of("view.html"),
    css=text_of("view.css"),
    js=script("view.js"),
    isolate_styles=False,  # a selection that is copied, and tests, reach the text of the page only outside a shadow root
)


def view(index: Index, document: Document, sliders: Sequence[Slider], asked: Question | None, waits: bool) -> str:
    """Draws a document with the cuts of an index, before anything of it is measured; gives the state's own name.

    With an asked question its passages alone are marked. `waits` says that `measured` will follow.
    """
    corpus = index.corpus
    passages = passages_of(corpus, document)
    wanted = set(asked.passages) if asked else set(passages)
    state = {
        "document": _document(corpus, document)["id"],
        "cut": _packed(drawn_cut(index, document), cut_figures(index), document),
        "marked": [number for number, passage in enumerate(passages) if passage in wanted],
        "at": {slider.name: str(index.config.values[slider.name]) for slider in sliders if slider.cuts},
        "tables": {slider.name: _base(corpus, slider, document) for slider in sliders if slider.cuts},
        "waits": waits,
    }
    rev = _digest([state, repr(index.config), asked.id if asked else ""])
    _view(key="cs_view", data={**state, "rev": rev})
    return rev


def document(corpus: Corpus, document: Document) -> None:
    """Hands the browser the text of a document: once, for it stays the same while sliders move."""
    _store(key="cs_store_document", data={"name": "document", **_document(corpus, document)})


def measured(rev: str, index: Index, document: Document, read_ends: Ints, found: Sequence[Found]) -> None:
    """Hands the browser what was measured for a state: how far each chunk was read, and the ranks of those found."""
    number = index.numbers[document.id]
    first, last = np.searchsorted(index.documents, [number, number + 1]).tolist()
    places = _utf16(document)
    ranks = {str(hit.row - first): rank for rank, hit in enumerate(found, 1) if first <= hit.row < last}
    data = {"name": "measured", "rev": rev, "read": places[read_ends[first:last]].tolist(), "ranks": ranks}
    _store(key="cs_store_measured", data=data)


def tables(corpus: Corpus, document: Document, sliders: Sequence[Slider], embed: Embed | None) -> None:
    """Hands the browser, slider by slider, the cut at each stop, unless cutting them all takes too long."""
    for slider in sliders:
        if slider.cuts:
            table = _table(corpus, document, slider, embed)
            _store(key=f"cs_store_table_{slider.name}", data={"name": f"table {slider.name}", **table})


def shown_blocks(document: Document) -> list[tuple[str, str]]:
    """The document's text in blocks, in order and without loss, each with its kind: what the browser makes elements of."""
    looks = dict(blocks(document).looks)
    kinds = {0: looks.get(0, "text"), **looks}
    text = document.text
    return [(kinds[start], text[start:end]) for start, end in pairwise([*kinds, len(text)]) if start < end]


def _document(corpus: Corpus, document: Document) -> dict[str, Any]:
    return corpus.keep(("live", document.id), lambda: _packed_document(corpus, document))


def _packed_document(corpus: Corpus, document: Document) -> dict[str, Any]:
    places = _utf16(document)
    passages = [[int(places[one.start]), int(places[one.end])] for one in passages_of(corpus, document)]
    data = {"blocks": shown_blocks(document), "passages": passages}
    return {"id": _digest(data), **data}


def _utf16(document: Document) -> Ints:
    """For each code point's place the place in UTF-16 code units, in which browsers count, (len(text) + 1,)."""
    return document.keep("utf16", lambda: np.append(0, np.cumsum(1 + (code_points(document.text) > 0xFFFF))))


def _packed(cut: DrawnCut, figures: CutFigures, document: Document) -> dict[str, Any]:
    places = _utf16(document)
    return {
        "starts": places[cut.starts].tolist(),
        "ends": places[cut.ends].tolist(),
        "words": cut.words.tolist(),
        "tokens": None if cut.tokens is None else cut.tokens.tolist(),
        "parents": places[cut.parents].tolist(),
        "held": cut.held.astype(int).tolist(),
        "figures": _line(figures),
    }


def _line(figures: CutFigures) -> str:
    """The figures of a cut in one line."""
    split = "" if figures.split_share is None else f" · {percent(figures.split_share)} of questions split"
    return f"{counted(figures.chunks, 'chunk')} in all · {figures.words_each:,.1f} words each · {percent(figures.repeated_words)} repeated{split}"


def _table(corpus: Corpus, document: Document, slider: Slider, embed: Embed | None) -> dict[str, Any]:
    base = _base(corpus, slider, document)
    return remembered("tables", base, _MOST_TABLES, lambda: _made(base, corpus, document, slider, embed))


def _made(base: str, corpus: Corpus, document: Document, slider: Slider, embed: Embed | None) -> dict[str, Any]:
    cut = stops(corpus, slider, document, embed)
    ours = not any(STRATEGIES[config.strategy].module for config in slider.configs.values())
    found = {str(stop.value): _packed(stop.cut, stop.figures, document) for stop in (cut if ours else _in_time(cut))}
    # One stop too few: the slider then moves no cuts until it is released.
    return {"base": base, "order": list(found), "stops": found if len(found) == len(slider.configs) else {}}


def _in_time(cut: Iterator[Stop]) -> list[Stop]:
    """The stops that can be cut before patience ends."""
    ends = time.monotonic() + _PATIENCE
    found = []
    for stop in cut:
        found.append(stop)
        if time.monotonic() > ends:
            break
    return found


def _base(corpus: Corpus, slider: Slider, document: Document) -> str:
    """The name of a slider's table: it differs wherever the cuts or figures in it may."""
    name = corpus.keep("live name", lambda: token_hex(8))
    return _digest([_document(corpus, document)["id"], name, _cuts_of(slider.configs)])


def _cuts_of(configs: Mapping[float, Config]) -> list[str]:
    """What tells the configurations apart as far as they cut."""
    return [repr((value, config.strategy, config.settings, config.scope)) for value, config in configs.items()]


def _digest(data: Any) -> str:
    return blake2b(json.dumps(data).encode(), digest_size=8).hexdigest()
