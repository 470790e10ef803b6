"""The comparison with Chroma's evaluation: on a small one of our own, worked out by hand, and on its data where it is."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import chroma
from bench.chroma import EARLIER, EMPTY, SAME, SPACE, STOP, Chroma
from bench.cl100k import token_spans
from cache import open_embedder
from chunking.types import Corpus, Passage
from tests.conftest import SHARED
from tests.fakes import Scored

PUMPS = "Pumps run. Valves rest. Pumps run."
OWLS = "Owls hunt at night."
#: As upstream locates the windows of two words: final full stops dropped, the third where the first stands.
LOCATED = {"pumps": [(0, 9), (11, 22), (0, 9)], "owls": [(0, 9), (10, 18)]}
SCORES = {"Pumps": 0.9, "Valves": 0.5, "Owls": 0.3, "night": 0.2}
#: The five of a question in their order, and its measures: the passage 'Pumps run' (9) is in 46 characters that are
#: sent, 9 + 9 + 11 + 9 + 8, and in one chunk that holds nothing else.
RETRIEVED = [
    ("pumps", 0, 9, 0.9),
    ("pumps", 0, 9, 0.9),
    ("pumps", 11, 22, 0.5),
    ("owls", 0, 9, 0.3),
    ("owls", 10, 18, 0.2),
]
MEASURED = {"recall": 1.0, "precision": 9 / 46, "iou": 9 / 46, "precision_omega": 1.0}

shared = pytest.mark.skipif(
    not (SHARED / "chroma").is_dir(), reason="the folder of Chroma's evaluation is not beside the repository"
)


def write(folder: Path, **changes: Any) -> Path:
    """The small evaluation as a folder; `changes` are fields of its question's result."""
    (folder / "corpora").mkdir(exist_ok=True)
    (folder / "expected").mkdir(exist_ok=True)
    (folder / "corpora" / "pumps.md").write_text(PUMPS)
    (folder / "corpora" / "owls.md").write_text(OWLS)
    references = [{"text": "Pumps run", "start": 0, "end": 9}]
    asked = {"index": 0, "corpus": "pumps", "question": "What do pumps do?", "references": references}
    (folder / "questions.jsonl").write_text(json.dumps(asked) + "\n")
    chunks = [
        {"corpus_id": name, "start_index": start, "end_index": end, "i": 0}
        for name, spans in LOCATED.items()
        for start, end in spans
    ]
    (folder / "expected" / "small__chunks.json").write_text(json.dumps(chunks))
    retrieved = [dict(zip(("corpus", "start", "end", "score"), row, strict=True)) for row in RETRIEVED]
    result = {"retrieved": retrieved, **MEASURED, **changes}
    (folder / "expected" / "small__per_question.json").write_text(json.dumps([result]))
    return folder


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the small evaluation, cut by us into windows of two words; one question weighs 100 points."""
    monkeypatch.setattr(chroma, "CONFIGS", {"small": ("fixed", {"size": 2, "unit": "words"})})
    monkeypatch.setattr(chroma, "CUT_POINTS", 11)
    return write(tmp_path)


def run(folder: Path) -> int:
    return chroma.main(["--folder", str(folder), "--list"], lambda: Scored(SCORES))


def test_all_three_steps_hold_where_everything_agrees(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours are 10 + 12 + 10 + 9 + 9 characters long: precision 9 / 50, and the ideal chunk holds 9 of 10."""
    assert run(small) == 0
    said = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in said.splitlines()]
    same = "100.00 100.00 +0.00 19.57 19.57 +0.00 19.57 19.57 +0.00 100.00 100.00 +0.00"
    assert f"1 their spans, our measures {same}" in rows
    assert f"2 their chunks, our ranking {same}" in rows
    assert "3 cut by us 100.00 100.00 +0.00 18.00 19.57 -1.57 18.00 19.57 -1.57 90.00 100.00 -10.00" in rows
    assert "the same five spans for 1 of 1 questions, in the same order for 1" in said
    for count in (f"1 {SAME}", f"3 {STOP}", f"1 {EARLIER}", "0 of our 5 chunks are none of theirs"):
        assert f" {count}\n" in said
    assert f"pumps.md located (0, 9), truly (24, 34): {EARLIER}" in said
    assert said.endswith("Every step holds.\n")


def test_repeats_skipped_send_the_repeated_span_once(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Then 37 characters are sent: 9 / 37."""
    run(small)
    [line] = [line for line in capsys.readouterr().out.splitlines() if "repeats skipped" in line]
    assert "24.32" in line


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"recall": 1 - 1e-8}, 1),
        ({"precision_omega": 0.9}, 1),
        ({"retrieved": [{"corpus": "owls", "start": 0, "end": 9, "score": 0.9}] * 5, "precision": 0.0, "recall": 0.0, "iou": 0.0}, 2),
    ],
)  # fmt: skip
def test_what_differs_fails(
    changes: dict[str, Any], step: int, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(write(small, **changes)) == 1
    assert f"small step {step}" in capsys.readouterr().out.splitlines()[-1]


def test_a_cut_at_another_size_fails(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "CONFIGS", {"small": ("fixed", {"size": 3, "unit": "words"})})
    assert run(small) == 1
    said = capsys.readouterr().out
    assert "5 chunks of theirs and 4 of ours differ without a known cause" in said
    assert said.endswith("fails: small step 3\n")


def test_means_too_far_away_fail(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "CUT_POINTS", 9)
    assert run(small) == 1
    assert "a mean is 10.00 points away, above 9" in capsys.readouterr().out


def test_without_the_folder_there_is_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert chroma.main(["--folder", str(tmp_path / "gone")]) == 2
    assert "there is no folder" in capsys.readouterr().err


FIVE = [Passage("a", start, start + 1) for start in range(5)]


@pytest.mark.parametrize(
    ("ours", "scores", "expected"),
    [
        (FIVE, [0.9, 0.8, 0.7, 0.6, 0.1], "same order"),
        (FIVE[::-1], [0.9, 0.8, 0.7, 0.6, 0.5], "other order"),
        ([*FIVE[:4], Passage("b", 4, 5)], [0.9, 0.8, 0.7, 0.6, 0.50009], "near"),
        ([*FIVE[:4], Passage("b", 4, 5)], [0.9, 0.8, 0.7, 0.6, 0.5002], "differs"),
        ([*FIVE[:4], FIVE[0]], [0.9, 0.8, 0.7, 0.6, 0.6], "differs"),
    ],
)
def test_how_two_rankings_agree(ours: list[Passage], scores: list[float], expected: str) -> None:
    theirs = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    assert chroma.agreement(FIVE, ours, theirs, np.array(scores)) == expected


#: A text, where upstream located its chunks, and where they truly stand.
PLACES: dict[str, tuple[str, list[tuple[int, int]], list[tuple[int, int]]]] = {
    "as they are": ("ant bee cat", [(0, 7), (8, 11)], [(0, 7), (8, 11)]),
    "a full stop dropped": ("ant bee. cat", [(0, 7), (9, 12)], [(0, 8), (9, 12)]),
    "a full stop of the next chunk": ("ant bee. cat", [(0, 7), (7, 12)], [(0, 7), (7, 12)]),
    "a full stop behind a space": ("ant bee . cat", [(0, 7), (10, 13)], [(0, 9), (10, 13)]),
    "a final full stop": ("ant.", [(0, 3)], [(0, 4)]),
    "repeated": ("ant.\n\nbee.\n\nant.", [(0, 3), (6, 9), (0, 3)], [(0, 4), (6, 10), (12, 16)]),
    "repeated at once": ("ant ant ant", [(0, 3), (0, 3), (0, 3)], [(0, 3), (4, 7), (8, 11)]),
    "windows that overlap": ("ant bee cat dog", [(0, 7), (4, 11), (8, 15)], [(0, 7), (4, 11), (8, 15)]),
    "repeated windows that overlap": ("ha ho ha ho", [(0, 5), (3, 8), (0, 5)], [(0, 5), (3, 8), (6, 11)]),
    "white space at the ends": ("ant bee cat", [(0, 4), (3, 8), (8, 11)], [(0, 3), (4, 7), (8, 11)]),
    "other white space": ("ant bee\ncat. ant\nbee\ncat", [(0, 11), (0, 11)], [(0, 12), (13, 24)]),
    "a full stop alone": ("ant\n.\nbee", [(0, 3), (0, 0), (6, 9)], [(0, 3), (4, 5), (6, 9)]),
    "a full stop alone behind another": ("ant..\nbee", [(0, 3), (0, 0), (6, 9)], [(0, 4), (4, 5), (6, 9)]),
    "what cannot be followed": ("ant bee cat dog", [(0, 3), (12, 15), (4, 7)], [(0, 3), (12, 15), (4, 7)]),
}


@pytest.mark.parametrize(("text", "located", "expected"), PLACES.values(), ids=PLACES)
def test_where_chunks_truly_stand(text: str, located: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert chroma.true_spans(text, located) == expected


@pytest.mark.parametrize(
    ("true", "located", "expected"),
    [
        ((0, 4), (0, 4), SAME),
        ((5, 9), (4, 10), SPACE),
        ((10, 15), (10, 14), STOP),
        ((15, 16), (0, 0), EMPTY),
        ((17, 21), (0, 4), EARLIER),
        ((17, 22), (17, 21), SAME),  # whose the full stop is cannot be told from their spans, and ours leave it
        ((0, 9), (0, 9), ""),
        ((0, 4), (17, 21), ""),  # located later than where it stands: not a cause that we know
    ],
)
def test_how_a_chunk_of_theirs_compares_with_ours(true: Any, located: Any, expected: str) -> None:
    text = "ants bees cats.. ants."
    ours = {(0, 4), (5, 9), (10, 15), (15, 16), (17, 21)}
    assert chroma.compared(text, true, located, ours) == expected


class Alike:
    """An embedder whose vectors are given by the first letter of a text: those of one letter are alike."""

    identity = "alike"

    def __call__(self, texts: list[str], kind: str) -> Any:
        return np.array([np.eye(26)[ord(text.lower()[0]) - ord("a")] for text in texts], np.float32)


def test_the_published_rule_joins_neighbours_that_are_alike() -> None:
    """a a b b b c: the mean over the 15 pairs is 4 / 15, so alike neighbours gain and others lose; at most two join."""
    text, pieces = "a a b b b c", [(place, place + 1) for place in range(0, 11, 2)]
    embed: Any = Alike()
    assert chroma.published_clusters(text, pieces, 3, embed) == {(0, 3), (4, 9), (10, 11)}
    assert len(chroma.published_clusters(text, pieces, 2, embed)) == 4
    assert chroma.published_clusters(text, pieces[:1], 3, embed) == {(0, 1)}


def test_the_published_pieces_hold_all_text_in_order_and_at_most_50_tokens() -> None:
    text = "Pumps run at night. " * 30 + "\n\nValves rest.\nGulls steal!"
    pieces = [text[start:end] for start, end in chroma.published_pieces(text)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert max(len(token_spans()(piece)) for piece in pieces) in range(40, 51)
    assert pieces[-1] == "Valves rest.\nGulls steal!"


def test_tokens_cover_the_text_and_leave_characters_whole() -> None:
    text = "Pumps 🎵 run\n\n\ud800 naïve"
    spans = token_spans()(text)
    assert spans[0, 0] == 0
    assert spans[-1, 1] == len(text)
    assert (spans[1:, 0] <= spans[:-1, 1]).all()
    assert token_spans()("").shape == (0, 2)


@pytest.fixture(scope="module")
def upstream() -> Chroma:
    return Chroma.read(SHARED / "chroma")


@shared
@pytest.mark.parametrize("name", chroma.CONFIGS)
def test_our_measures_equal_theirs(name: str, upstream: Chroma) -> None:
    outcome = chroma.check_measures(upstream, upstream.expected(name))
    assert outcome.faults == []


@shared
def test_our_vectors_give_their_scores(upstream: Chroma) -> None:
    """The chunks of one document, and the questions that retrieved any of them: our scores of these are theirs."""
    expected = upstream.expected("recursive_cl100k_200_0")
    chatlogs = tuple(document for document in upstream.corpus.documents if document.id == "chatlogs.md")
    part = replace(upstream, corpus=Corpus(chatlogs))
    index = chroma.whole_texts(part, expected)
    rows = [number for number, sent in enumerate(expected.sent) if any(span.document == "chatlogs.md" for span in sent)]
    embed = open_embedder("minilm")
    questions = embed([upstream.corpus.questions[number].text for number in rows], "query")
    scores = questions @ embed(index.texts, "document").T
    place = {index.spans[span]: row for row, span in enumerate(index.returned.tolist())}
    found = [
        (float(scores[row, place[span]]), score)
        for row, number in enumerate(rows)
        for span, score in zip(expected.sent[number], expected.scores[number], strict=True)
        if span in place
    ]
    assert len(found) > 250
    assert max(abs(ours - theirs) for ours, theirs in found) < chroma.NEAR


@shared
@pytest.mark.parametrize("document", ["state_of_the_union.md", "wikitexts.md"])
@pytest.mark.parametrize("name", ["fixed_cl100k_200_0", "fixed_cl100k_400_200"])
def test_our_windows_are_theirs(name: str, document: str, upstream: Chroma) -> None:
    """Of one document; each that differs does so by white space, a dropped full stop, or the same text earlier."""
    alone = (upstream.corpus.by_id[document],)
    rule, expected = chroma.CONFIGS[name], upstream.expected(name)
    assert rule is not None
    index = chroma.own_cut(Corpus(alone), rule, None, token_spans())
    kinds, differences = chroma.compare_cuts(Corpus(alone), expected, index, chroma.unexplained)
    assert kinds.total() == len(index) == len(expected.located[document])
    assert set(kinds) <= {SAME, SPACE, STOP, EARLIER}
    assert len(differences) == kinds.total() - kinds[SAME]


@shared
@pytest.mark.parametrize("name", chroma.CONFIGS)
def test_every_chunk_of_theirs_can_be_followed(name: str, upstream: Chroma) -> None:
    """In order, and all text but white space lies in one of them."""
    expected = upstream.expected(name)
    for document in upstream.corpus.documents:
        spans = chroma.true_spans(document.text, expected.located[document.id])
        held = np.zeros(len(document.text), bool)
        for start, end in spans:
            held[start:end] = True
        left = Counter(character for character, there in zip(document.text, held.tolist(), strict=True) if not there)
        assert spans == sorted(spans)
        assert "".join(left).strip() in ("", ".")
