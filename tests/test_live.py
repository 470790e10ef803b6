"""What the document's view is given: text without loss, offsets as browsers count, tables that stay the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.index import Config, build
from chunking.registry import STRATEGIES, missing
from chunking.stops import Slider, config_at, cut_figures, drawn_cut
from chunking.types import Corpus, Document
from data.bundled import bundled
from pages.parts import live


def utf16(text: str) -> list[str]:
    """The UTF-16 code units of a text, one a character."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[at : at + 2].hex() for at in range(0, len(raw), 2)]


@given(st.text(), st.booleans())
def test_blocks_are_the_document_without_loss(text: str, markdown: bool) -> None:
    shown = live.shown_blocks(Document("a", text, markdown=markdown))
    assert "".join(part for _, part in shown) == text
    assert all(part for _, part in shown)


def test_blocks_of_the_posts_are_of_every_kind_and_without_loss() -> None:
    kinds = set()
    for document in bundled()[0].documents:
        shown = live.shown_blocks(document)
        assert "".join(part for _, part in shown) == document.text
        kinds |= {kind for kind, _ in shown}
    assert {"heading 1", "heading 2", "text", "table", "code"} <= kinds


def test_offsets_count_utf_16_code_units() -> None:
    text = "Two 🪣 buckets 🪣🪣. And one 𝒙 more."
    document = Document("a", text)
    index = build(Corpus((document,)), Config.of("fixed", {"size": 2}))
    cut = live._packed(drawn_cut(index, document), cut_figures(index), document)
    units = utf16(text)
    shown = [units[start:end] for start, end in zip(cut["starts"], cut["ends"], strict=True)]
    assert shown == [utf16(text[chunk.start : chunk.end]) for chunk in index.chunks(0)]


def test_a_table_is_named_by_what_it_cuts_alone() -> None:
    corpus, _ = bundled()
    document = corpus.documents[0]

    def base(number: int = 0, **axes: object) -> str:
        config = Config.of("fixed", {"size": 200})
        configs = {size: replace(config_at(config, {"size": size}), **axes) for size in (100, 200)}
        return live._base(corpus, Slider("size", configs, cuts=True), corpus.documents[number])

    assert base() == base(k=9, search="keyword", context="title")
    assert len({base(), base(number=1), base(scope="section")}) == 3
    assert document.id


@pytest.mark.skipif(missing(STRATEGIES["chonkie_token"]), reason="the library is not installed")
def test_a_library_that_takes_too_long_for_its_stops_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, _ = bundled()
    corpus = Corpus(corpus.documents[:2])

    def table(strategy: str) -> dict:
        config = Config.of(strategy)
        slider = Slider("size", {size: config_at(config, {"size": size}) for size in (100, 200, 300)}, cuts=True)
        return live._table(corpus, corpus.documents[0], slider, None)

    monkeypatch.setattr(live.st, "session_state", {})
    monkeypatch.setattr(live, "_PATIENCE", 0.0)
    assert list(table("fixed")["stops"]) == ["100", "200", "300"]
    given = table("chonkie_token")
    assert given["stops"] == {}
    monkeypatch.setattr(live, "_PATIENCE", 99.0)
    assert table("chonkie_token") is given, "it is not tried again at every run"
    monkeypatch.setattr(live.st, "session_state", {})
    assert list(table("chonkie_token")["stops"]) == ["100", "200", "300"]
    assert json.dumps(table("chonkie_token"))
