"""Exported code is run by itself, on the bundled posts, and its chunks are compared with ours, span by span."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from cache import open_embedder
from chunking.export import Export, exports
from chunking.index import Config, build
from chunking.types import Corpus
from data.bundled import bundled
from tests.conftest import ROOT

#: Reads texts from standard input and prints, for each chunk of each, its offsets where it has any, and its text.
HARNESS = """
import json, sys

def told(chunk, text):
    if isinstance(chunk, dict):
        return chunk["start"], chunk["end"], text[chunk["start"]:chunk["end"]]
    if hasattr(chunk, "page_content"):
        return chunk.metadata.get("start"), chunk.metadata.get("end"), chunk.page_content
    if hasattr(chunk, "start_char_idx"):
        return chunk.start_char_idx, chunk.end_char_idx, chunk.text
    return chunk.start_index, chunk.end_index, chunk.text

print(json.dumps([[told(chunk, one["text"]) for chunk in split(one["text"], **one["about"])] for one in json.load(sys.stdin)]))
"""
POSTS = bundled()[0].documents
FEW = POSTS[:2]
EXACT = ("Python", "LangChain", "LlamaIndex", "Chonkie")

Told = list[tuple[int | None, int | None, str]]


def run_alone(export: Export, documents: Any, **about: str) -> list[Told]:
    """What the code gives for each document, in a process of its own."""
    if export.needs and find_spec(export.needs) is None:
        pytest.skip(f"{export.needs} is not installed")
    texts = json.dumps([{"text": document.text, "about": about} for document in documents])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", export.code + HARNESS], input=texts, cwd=ROOT,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ours(config: Config, documents: Any) -> list[list[tuple[int, int]]]:
    embed = open_embedder("minilm")
    index = build(Corpus(tuple(documents)), config, embed)
    return [[(chunk.start, chunk.end) for chunk in index.chunks(number)] for number in range(len(documents))]


def named(config: Config, title: str) -> Export:
    return next(export for export in exports(config) if export.title == title)


FIXED = Config.of("fixed", {"size": 120, "overlap": 30})
RECURSIVE = Config.of("recursive", {"size": 150, "overlap": 20})
STRUCTURE = Config.of("structure", {"size": 60}, scope="section")
OWN = [
    ("Python", Config.of("whole")), *((title, FIXED) for title in EXACT), ("LangChain", RECURSIVE), ("LlamaIndex", RECURSIVE),
    ("Python", STRUCTURE), ("Chonkie", STRUCTURE),
]  # fmt: skip


@pytest.mark.parametrize(("title", "config"), OWN, ids=lambda value: getattr(value, "strategy", value))
def test_our_strategies_cut_the_same_in_every_library(title: str, config: Config) -> None:
    export = named(config, title)
    assert export.differs == ""
    found = run_alone(export, POSTS)
    for document, chunks, spans in zip(POSTS, found, ours(config, POSTS), strict=True):
        assert [(start, end) for start, end, _ in chunks] == spans
        assert all(text.endswith(document.text[start:end]) for start, end, text in chunks)


@pytest.mark.parametrize(
    "config",
    [
        Config.of("semantic", {"threshold": 0.2, "size": 80}),
        Config.of("fixed", {"size": 90, "unit": "tokens"}),
        Config.of("fixed", {"size": 700, "overlap": 50, "unit": "characters"}),
        Config.of("multi", {"sizes": [50, 100]}),
        Config.of("semchunk", {"size": 100}),
    ],
    ids=lambda config: f"{config.strategy} {config.values.get('unit')}",
)
def test_settings_that_need_the_embedder_or_the_package(config: Config) -> None:
    found = run_alone(named(config, "Python"), FEW)
    assert [[(start, end) for start, end, _ in chunks] for chunks in found] == ours(config, FEW)


LIBRARIES = [
    ("LangChain", Config.of("langchain_recursive", {"size": 150, "overlap": 30})),
    ("LangChain", Config.of("langchain_recursive", {"size": 800, "unit": "characters", "separators": "words"})),
    ("LangChain", Config.of("langchain_recursive", {"size": 100, "separators": "markdown"})),
    ("LangChain", Config.of("langchain_markdown", {"levels": 2})),
    ("LangChain", Config.of("langchain_markdown", {"headings": "keep"})),
    ("LlamaIndex", Config.of("llamaindex_sentence", {"size": 120, "overlap": 20})),
    ("Chonkie", Config.of("chonkie_recursive", {"size": 120})),
    ("Chonkie", Config.of("chonkie_token", {"size": 120, "overlap": 20})),
    ("Chonkie", Config.of("chonkie_token", {"size": 120, "unit": "tokens"})),
    ("Chonkie", Config.of("chonkie_sentence", {"size": 600, "overlap": 90, "unit": "characters"})),
    ("Chonkie", Config.of("chonkie_fast", {"size_bytes": 900})),
]


@pytest.mark.parametrize(("title", "config"), LIBRARIES, ids=lambda value: getattr(value, "strategy", value))
def test_a_librarys_own_strategy_is_code_of_that_library_alone_and_cuts_the_same(title: str, config: Config) -> None:
    export = named(config, title)
    assert export.differs == ""
    assert "chunking.index" not in export.code
    found = run_alone(export, POSTS)
    for document, chunks, spans in zip(POSTS, found, ours(config, POSTS), strict=True):
        theirs = sorted({" ".join(text.split()) for _, _, text in chunks if text.strip()})
        assert theirs == sorted({" ".join(document.text[start:end].split()) for start, end in spans})


#: How many of our 217 (recursive) or 181 (sentence) chunks of all posts the library's own splitter makes
#: letter by letter; before it is changed, look at what a new version of the library does otherwise. White space at the ends aside.
NEAREST = [
    ("LangChain, its own splitter", Config.of("recursive", {"size": 200}), 20),
    ("Chonkie, its own chunker", Config.of("recursive", {"size": 200}), 12),
    ("LlamaIndex, its own splitter", Config.of("sentence", {"size": 200}), 34),
    ("Chonkie, its own chunker", Config.of("sentence", {"size": 200}), 164),
]


@pytest.mark.parametrize(("title", "config", "same"), NEAREST, ids=lambda value: getattr(value, "strategy", value))
def test_where_a_library_only_has_something_like_it_the_code_says_so(title: str, config: Config, same: int) -> None:
    export = named(config, title)
    assert export.differs
    assert export.code.startswith(f"# Cuts otherwise: {export.differs}\n")
    found = run_alone(export, POSTS)
    agreed = sum(
        len({text.strip() for _, _, text in chunks} & {document.text[start:end] for start, end in spans})
        for document, chunks, spans in zip(POSTS, found, ours(config, POSTS), strict=True)
    )
    assert agreed == same
    assert agreed < sum(map(len, ours(config, POSTS)))


def test_a_prefix_goes_before_the_text_and_not_into_its_offsets() -> None:
    config = Config.of("fixed", {"size": 40}, context="title")
    (chunks,) = run_alone(named(config, "LangChain"), FEW[:1], title="Waiting", date="2026")
    start, end, text = chunks[1]
    assert text == f"Waiting (2026)\n{FEW[0].text[start:end]}"
    assert [(start, end) for start, end, _ in chunks] == ours(config, FEW[:1])[0]


def test_what_is_sent_stands_beside_what_is_matched() -> None:
    config = Config.of("parent_child", {"child": 30, "parent": 90})
    code = (
        named(config, "Python").code
        + "import json\nprint(json.dumps(cut(open('data/posts/tries.md', encoding='utf-8').read())))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    post = next(document for document in POSTS if document.id == "tries.md")
    chunks = build(Corpus((post,)), config).chunks(0)
    assert [
        (one["start"], one["end"], one["returned_start"], one["returned_end"]) for one in json.loads(done.stdout)
    ] == [(one.start, one.end, one.returned_start, one.returned_end) for one in chunks]


def test_the_sentences_of_a_chat_model_are_told_to_be_missing() -> None:
    export = named(Config.of("fixed", context="contextual", chat="ollama:x"), "Python")
    assert export.differs == "The sentences of the chat model are not put before the chunks."
    assert export.code.startswith(f"# {export.differs}\n")
    run_alone(export, FEW)
