"""The comparison with published cuts: on a small corpus of our own, and on the PEPs where their folder is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import peps
from bench.peps import Peps, Place, Rule
from chunking.types import Corpus, Document, Passage, Question
from tests.conftest import SHARED
from tests.fakes import BagOfWords, Scored

SMALL = json.loads((Path(__file__).parent / "fixtures" / "peps_small.json").read_text(encoding="utf-8"))
CUTS: dict[str, Any] = SMALL["cuts"]
RULES = {name: Rule(**entry["rule"]) for name, entry in CUTS.items()}


def place(document: str, text: str, after: int = 0) -> Place:
    """Where a text stands in a document of the small corpus."""
    start = SMALL["documents"][document].index(text, after)
    return document, start, start + len(text)


def rows(entries: list[list[Any]]) -> list[list[Any]]:
    """Chunks as the folder of the PEPs lists them, from their texts and titles or numbers of parents."""
    found: list[list[Any]] = []
    for document, text, *more in entries:
        after = max((row[1] + 1 for row in found if row[0] == document), default=0)
        words = len(text.split()) + sum(len(title.split()) for title in more if isinstance(title, str))
        found.append([*place(document, text, after), words, *more])
    return found


@pytest.fixture
def small() -> Peps:
    """The small corpus with its cuts, written by hand, in the shape of the folder."""
    documents = tuple(Document(name, text) for name, text in SMALL["documents"].items())
    questions = tuple(
        Question(row["id"], row["question"], ((Passage(*place(row["document"], row["passage"])),),))
        for row in SMALL["questions"]
    )
    chunks = {name: rows(entry["chunks"]) for name, entry in CUTS.items()}
    chunks |= {f"{name}/children": rows(entry["children"]) for name, entry in CUTS.items() if "children" in entry}
    sections = [dict(zip(("doc", "body_start", "body_end"), place(*body), strict=True)) for body in SMALL["sections"]]
    ranks = {
        name: {"per_question": [{"id": key, "passage_rank": rank} for key, rank in entry["ranks"].items()]}
        for name, entry in CUTS.items()
    }
    return Peps(Corpus(documents, questions), chunks, {"sections": sections, "cuts": ranks})


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if not rule.differs])
def test_cuts_by_the_same_rule_are_identical(name: str, small: Peps) -> None:
    outcome = peps.compare_chunks(small, name, RULES[name])
    assert (outcome.chunks, outcome.texts, outcome.failed) == ({}, {}, False)


@pytest.mark.parametrize(
    ("name", "theirs", "ours", "cause"),
    [
        ("fixed9_overlap3", ["out.", "Then wait.", "it by hand."], [], "a last window that is an overlap alone"),
        (
            "paragraphs4",
            ["Run this:\n\n```\nstart()", "stop()\n```\n\nThen wait."],
            ["Run this:", "```\nstart()\n\nstop()\n```", "Then wait."],
            "a blank line inside a fence",
        ),
        (
            "paragraphs9_cut",
            ["A wheel turns in a case. The case has", "two ends. One end sucks. The other end blows", "out."],
            ["A wheel turns in a case.", "The case has two ends. One end sucks.", "The other end blows out."],
            "a long paragraph cut between sentences",
        ),
    ],
)
def test_cuts_that_differ_by_design_differ_where_and_why_they_should(
    name: str, theirs: list[str], ours: list[str], cause: str, small: Peps
) -> None:
    outcome = peps.compare_chunks(small, name, RULES[name])
    assert {small.text(one) for one in outcome.chunks if one not in outcome.added} == set(theirs)
    assert {small.text(one) for one in outcome.added} == set(ours)
    assert set(outcome.chunks.values()) == {cause}
    assert not outcome.failed


@pytest.mark.parametrize("name", RULES)
def test_ranks_are_as_worked_out_by_hand_or_differ_with_a_cause(name: str, small: Peps) -> None:
    outcome = peps.compare_chunks(small, name, RULES[name])
    peps.compare_ranks(small, outcome, RULES[name], Scored(SMALL["scores"]))
    assert outcome.ranked == 3
    assert not outcome.failed
    assert RULES[name].differs or not outcome.ranks


def test_a_rank_that_differs_with_the_passages_own_chunk_says_so(small: Peps) -> None:
    """Runs of nine words cut 'The case has two ends.'; sentences keep it whole, in the third-best chunk."""
    name = "paragraphs9_cut"
    outcome = peps.compare_chunks(small, name, RULES[name])
    peps.compare_ranks(small, outcome, RULES[name], Scored(SMALL["scores"]))
    cause = "the passage's own chunk: a long paragraph cut between sentences"
    assert outcome.ranks["ends"] == f"rank None published, 3 ours: {cause}"
    assert outcome.ranks["ball"].startswith("rank 3 published, 4 ours: other chunks")


def test_a_cut_at_another_size_or_in_another_scope_fails(small: Peps) -> None:
    rule = RULES["whole8"]
    for wrong in (
        replace(rule, settings={"size": 7}),
        replace(rule, scope="section"),
        replace(rule, strategy="sentence"),
    ):
        assert peps.compare_chunks(small, "whole8", wrong).failed


def test_a_difference_without_a_known_cause_fails_even_where_cuts_differ_by_design(small: Peps) -> None:
    for name in ("fixed9_overlap3", "paragraphs4", "paragraphs9_cut"):
        wrong = replace(RULES[name], settings={**RULES[name].settings, "size": 6})
        outcome = peps.compare_chunks(small, name, wrong)
        assert outcome.failed, name


def test_a_title_or_a_count_of_words_that_is_wrong_fails(small: Peps) -> None:
    small.chunks["sections"][0][4] = "Pumps"
    small.chunks["whole8"][0][3] += 1
    title = peps.compare_chunks(small, "sections", RULES["sections"])
    words = peps.compare_chunks(small, "whole8", RULES["whole8"])
    assert list(title.texts.values()) == ["unexplained: published title 'Pumps', ours 'Pump'"]
    assert list(words.texts.values()) == ["unexplained: published 9 words, ours 8"]
    assert title.failed
    assert words.failed


def test_a_wrong_rank_fails_unless_the_scores_are_nearly_equal(small: Peps) -> None:
    """The second and third chunk for 'ends' are 0.000005 apart in one run and 0.1 in the other."""
    rule = RULES["sections"]
    for apart, failed in ((0.000005, False), (0.1, True)):
        small.expected["cuts"]["sections"]["per_question"][1]["passage_rank"] = 3
        outcome = peps.compare_chunks(small, "sections", rule)
        peps.compare_ranks(small, outcome, rule, Scored({"needs": 0.9, "wheel": 0.8, "Turn": 0.8 - apart, "stop": 0.1}))
        assert outcome.failed is failed
        assert ("ends" in outcome.near_ties) is not failed


def test_given_chunks_are_ranked_as_they_are(small: Peps) -> None:
    embed = Scored(SMALL["scores"])
    for name in CUTS:
        outcome = peps.check_given_chunks(small, name, embed)
        assert outcome.ranks == {}, name
    small.expected["cuts"]["sections"]["per_question"][0]["passage_rank"] = 5
    assert peps.check_given_chunks(small, "sections", embed).failed


def test_without_the_folder_there_is_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert peps.main(["--folder", str(tmp_path)]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.skipif(not (SHARED / "peps").is_dir(), reason="the folder of the PEPs is not beside the repository")
def test_the_chunks_of_the_peps_are_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert peps.main(["--folder", str(SHARED / "peps"), "--chunks-only"], BagOfWords) == 0
    table = capsys.readouterr().out.split("\n\n")[0].splitlines()
    identical = [line.split()[0] for line in table if "identical" in line]
    assert set(identical) >= {name for name, rule in peps.RULES.items() if not rule.differs}
    assert sum("explained" in line for line in table) == 4
