"""The bundled corpus keeps its promises: real figures, exact passages, questions in a reader's own words."""

from __future__ import annotations

import itertools
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from chunking.segments import words
from data.bundled import POSTS, QUESTIONS, bundled
from tests.conftest import ROOT

NAMES = sorted(path.stem for path in POSTS.glob("*.md"))
ROWS = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
SAMPLE = NAMES[:: max(1, len(NAMES) // 4)]
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
# Words that carry no content: a run of shared ones is no give-away.
LIGHT = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "they",
        "them",
        "their",
        "he",
        "she",
        "we",
        "you",
        "i",
        "our",
        "your",
        "my",
        "his",
        "her",
        "us",
        "me",
        "of",
        "in",
        "on",
        "at",
        "to",
        "from",
        "by",
        "for",
        "with",
        "without",
        "into",
        "onto",
        "over",
        "under",
        "between",
        "as",
        "than",
        "and",
        "or",
        "but",
        "nor",
        "so",
        "if",
        "then",
        "when",
        "while",
        "where",
        "how",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "done",
        "has",
        "have",
        "had",
        "having",
        "will",
        "would",
        "shall",
        "should",
        "can",
        "could",
        "may",
        "might",
        "must",
        "not",
        "no",
        "there",
        "here",
        "up",
        "out",
        "off",
        "about",
    ]
)


def passages_of(row: dict) -> list[str]:
    return row.get("passages") or [row["passage"]]


def spans_of(row: dict) -> list[list]:
    """Document, start and end of each passage, as the file says."""
    return row.get("spans") or [[row["document"], row["start"], row["end"]]]


def text_of(name: str) -> str:
    return (POSTS / f"{name}.md").read_text(encoding="utf-8")


def figures_of(name: str) -> set[str]:
    """The numbers that a post's script printed."""
    printed = (POSTS / "measurements" / f"{name}.out").read_text(encoding="utf-8")
    return {number.replace(",", "") for number in NUMBER.findall(printed)}


def measured_blocks(text: str) -> list[str]:
    """The blocks whose figures must be measured ones: with the word in them, tables after one, and the closing sections."""
    body, _, closing = text.partition("\n## Conclusion")
    body = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    blocks = [block for block in re.split(r"\n\s*\n", body) if block.strip()]
    chosen = [block for block in blocks if re.search(r"\bmeasured\b", block)]
    chosen += [table for before, table in itertools.pairwise(blocks)
               if table.lstrip().startswith("|") and re.search(r"\bmeasured\b", before)]  # fmt: skip
    return [*chosen, closing]


def content_runs(text: str) -> set[tuple[str, ...]]:
    """All runs of four content words."""
    content = [word for word in re.findall(r"[\w']+", text.lower()) if word not in LIGHT]
    return {tuple(content[place : place + 4]) for place in range(len(content) - 3)}


def test_the_corpus_is_as_large_as_it_is_said_to_be() -> None:
    corpus, report = bundled()
    assert not report
    assert len(corpus.documents) == 23
    assert 31_000 <= sum(len(words(document).starts) for document in corpus.documents) <= 32_500
    assert len(corpus.questions) == len(ROWS) == 80


def test_the_questions_are_of_all_kinds_and_places() -> None:
    places = Counter(row["place"] for row in ROWS)
    assert places["list"] >= 10
    assert places["table"] >= 6
    assert places["code"] >= 6
    assert sum(row["needs_heading"] for row in ROWS) >= 12
    assert sum(row["identifier"] for row in ROWS) == 8
    assert sum(len(passages_of(row)) > 1 for row in ROWS) == 12
    assert {row["kind"] for row in ROWS} == {"factoid", "how", "why", "compare", "summary"}


@pytest.mark.parametrize("name", NAMES)
def test_a_post_has_a_title_a_date_and_ends_with_conclusion_and_takeaways(name: str) -> None:
    text = text_of(name)
    assert re.match(r"---\ndate: 202\d-\d\d-\d\d\n---\n\n# \S", text)
    assert 700 <= len(text.split()) <= 2600
    heads = re.findall(r"^## (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    assert heads[-2:] == ["Conclusion", "Key takeaways"]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_called_measured_was_printed_by_the_posts_script(name: str) -> None:
    known = figures_of(name)
    for block in measured_blocks(text_of(name)):
        unknown = [number for number in NUMBER.findall(block) if number.rstrip(",").replace(",", "") not in known]
        assert not unknown, block


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_scripts_still_prints_the_stored_figures(name: str) -> None:
    script = POSTS / "measurements" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == script.with_suffix(".out").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_python_of_a_post_runs(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", text_of(name), re.DOTALL | re.MULTILINE)
    imports = "import heapq, itertools, math, random, time, zlib\nfrom collections import deque\n"
    for number, block in enumerate(blocks):
        script = tmp_path / f"{number}.py"
        script.write_text(imports + "\n".join(blocks[: number + 1]), encoding="utf-8")
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert done.returncode == 0, done.stderr
        assert block.strip()


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_question_is_asked_in_a_readers_words_and_its_passage_stands_once(row: dict) -> None:
    assert row["kind"] in ("factoid", "how", "why", "compare", "summary")
    assert row["place"] in ("prose", "list", "table", "code")
    passages = passages_of(row)
    for (name, start, end), passage in zip(spans_of(row), passages, strict=True):
        assert text_of(name)[start:end] == passage.strip()
    whole = {name: text_of(name) for name in NAMES}
    for passage in passages:
        assert sum(text.count(passage) for text in whole.values()) == 1
        assert row["identifier"] or not content_runs(row["question"]) & content_runs(passage)
        assert 8 <= len(passage.split()) <= 60
    if len(passages) > 1:
        assert row["require"] == "all"
        assert row["kind"] in ("compare", "summary")


def test_passages_are_about_25_words_long_and_every_post_is_asked_about() -> None:
    lengths = [len(passage.split()) for row in ROWS for passage in passages_of(row)]
    assert 20 <= statistics.median(lengths) <= 30
    asked = [name for row in ROWS for name in {name for name, _, _ in spans_of(row)}]
    assert set(asked) == set(NAMES)
    assert min(asked.count(name) for name in NAMES) >= 3


def test_the_stored_figures_belong_to_scripts() -> None:
    folder = ROOT / "data" / "posts" / "measurements"
    assert {path.stem for path in folder.glob("*.py")} == {path.stem for path in folder.glob("*.out")} == set(NAMES)
