"""The promises that every strategy keeps, for any text, any valid settings, every scope and every unit."""

from __future__ import annotations

import os
import unicodedata
from bisect import bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chunking.joined import SCOPES, alone
from chunking.registry import STRATEGIES, Choice, Number, Numbers, Parameter, cut, flag_names, flags
from chunking.segments import blocks, headings, level_starts, words
from chunking.types import Document
from tests.fakes import BagOfWords, letter_pieces, spaced_pieces

settings.register_profile("short", max_examples=60, deadline=None, derandomize=True,
                          suppress_health_check=list(HealthCheck))  # fmt: skip
settings.register_profile("long", settings.get_profile("short"), max_examples=1000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))

TOKENIZERS = {"pieces": letter_pieces, "spaced": spaced_pieces}
EMBED = BagOfWords()

_WORDS = ("pump", "valve", "the", "a", "Dr.", "oil,", "(see", "below).", "7.5", "e.g.", "Hello!", "Why?", "reset()",
          "e\u0301te\u0301", "na\u00efve", "\U0001f600", "\U0001f937\U0001f3fd\u200d\u2640\ufe0f", "泵坏了。我们换了",
          "「新」的", "ผู้ใช้", "ポンプ", "नमस्ते।", "\ud800", "\u0301", "\x07",
          "x" * 30, "**bold**", "`code`", "[link](a.md)", "[^1]")  # fmt: skip
_PROSE = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=25).map(" ".join)
_SHAPES = (
    "# Top", "## The `cut` of *all* ##", "Setext title\n===", "Two lines\nof a title\n---", "###### Deep", "#",
    "#no heading",
    "- one. two.\n- three\n  more\n\n  still three", "1. first\n2) second. Third.", "* [ ] task\n\n* [x] done",
    "| a | b |\n|---|---|\n| 1. 2. | 3 |\n| 4 | 5 |", "```python\nx = 1\n\n# no heading\n```", "~~~\nopen to the end",
    "    indented = code\n\n    more", "> A quote. Of two.\n> # not a heading", "<div>\nraw\n\n</div>", "---", "***",
    "[ref]: http://example.org", "a\u00a0b", "\u00a0", "\u3000", "\x1c", "\u2028x", "word" + " " * 40 + "word",
    "x" * 60,
)  # fmt: skip
_FRONT = st.sampled_from(("", "", "---\ntitle: A\ndate: 2020-01-01\n---\n", "---\nopen: yes\n", "\ufeff", "\n\n  "))
_GAPS = st.sampled_from(("\n\n", "\n\n", "\n", "\n\n\n\n", " ", "  \n", "\n \n", "\t", ""))
_BLOCKS = st.one_of(_PROSE, st.sampled_from(_SHAPES), st.text(st.characters(codec=None), max_size=12))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts of every kind: prose in several scripts, Markdown of all shapes, odd white space, broken characters."""
    parts = draw(st.lists(st.tuples(_BLOCKS, _GAPS), max_size=9))
    text = draw(_FRONT) + "".join(block + gap for block, gap in parts)
    return text.replace("\n", draw(st.sampled_from(("\n", "\n", "\n", "\r\n", "\r"))))


@st.composite
def settings_of(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Valid settings of a strategy, made from its row in the table."""
    values: dict[str, Any] = {}
    for parameter in reversed(STRATEGIES[name].parameters):
        if isinstance(parameter, Choice):
            values[parameter.name] = draw(st.sampled_from(parameter.values))
        elif isinstance(parameter, Numbers):
            values[parameter.name] = tuple(
                sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=parameter.most)))
            )
        elif isinstance(parameter.default, float):
            values[parameter.name] = draw(st.floats(parameter.lowest, parameter.highest, allow_nan=False))
        else:
            highest = min(parameter.highest, max(40, 3 * parameter.lowest))
            values[parameter.name] = draw(st.integers(int(parameter.lowest), int(highest)))
    for parameter in STRATEGIES[name].parameters:
        if isinstance(parameter, Number) and parameter.below:
            values[parameter.name] = min(values[parameter.name], values[parameter.below] - 1)
        if isinstance(parameter, Number) and parameter.upto:
            values[parameter.name] = min(values[parameter.name], values[parameter.upto])
    return values


class Case(NamedTuple):
    """A text, and what it is cut with."""

    text: str
    settings: dict[str, Any]
    scope: str = "document"
    markdown: bool = True
    tokenizer: str = "pieces"

    @property
    def document(self) -> Document:
        """A document in which nothing has been found yet."""
        return Document("d", self.text, markdown=self.markdown)


def cases(name: str) -> st.SearchStrategy[Case]:
    """Everything that a strategy can be given."""
    scopes = st.sampled_from(SCOPES)
    markdown = st.sampled_from((True, True, True, False))
    return st.builds(Case, texts(), settings_of(name), scopes, markdown, st.sampled_from(tuple(TOKENIZERS)))


def chunks_of(name: str, case: Case, document: Document | None = None) -> list[tuple[int, int, int, int]]:
    """The chunks of a case: matched start and end, returned start and end."""
    document = document or case.document
    return list(cut(document, name, case.settings, case.scope, TOKENIZERS[case.tokenizer], EMBED))


OURS = [
    name for name, strategy in STRATEGIES.items() if not strategy.module
]  # libraries promise less: test_libraries.py
every_strategy = pytest.mark.parametrize("name", OURS)


def is_trimmed(text: str, start: int, end: int) -> bool:
    """Whether a span is in range, not empty, and begins and ends on a non-space character."""
    return 0 <= start < end <= len(text) and not text[start].isspace() and not text[end - 1].isspace()


@every_strategy
@given(data=st.data())
def test_spans_are_exact_in_order_and_cover_the_scope(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    document = case.document
    found = chunks_of(name, case, document)
    matched = [(start, end) for start, end, _, _ in found]
    assert all(is_trimmed(case.text, start, end) for start, end in matched)
    assert matched == sorted(set(matched))
    left_out = [(head.start, head.end) for head in headings(document)] if case.scope == "body" else []
    assert gaps(case.text, matched + left_out) == []
    assert case.scope != "body" or not any(crosses(span, head) for span in matched for head in left_out)


def gaps(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """The places of non-space characters that no span covers."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return [place for place, character in enumerate(text) if not covered[place] and not character.isspace()]


def crosses(span: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans share a character."""
    return span[0] < other[1] and other[0] < span[1]


@every_strategy
@given(data=st.data())
def test_what_is_returned_contains_what_is_matched(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    for start, end, returned_start, returned_end in chunks_of(name, case):
        assert is_trimmed(case.text, returned_start, returned_end)
        assert returned_start <= start < end <= returned_end
        if name not in ("parent_child", "sentence_window"):
            assert (start, end) == (returned_start, returned_end)


@every_strategy
@given(data=st.data())
def test_no_chunk_crosses_a_heading_in_the_scopes_that_say_so(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name).filter(lambda case: case.scope != "document"))
    document = case.document
    heads = [head.start for head in headings(document)]
    for _, _, start, end in chunks_of(name, case, document):
        assert not any(start < head < end for head in heads)


@every_strategy
@given(data=st.data())
def test_a_fresh_document_is_cut_alike_and_earlier_cuts_do_not_matter(name: str, data: st.DataObject) -> None:
    case, other = data.draw(cases(name)), data.draw(settings_of(name))
    document = case.document
    chunks_of(name, case._replace(settings=other, scope="section"), document)
    assert chunks_of(name, case, document) == chunks_of(name, case)


LIMITED = [name for name in OURS if STRATEGIES[name].limit]


@pytest.mark.parametrize("name", LIMITED)
@given(data=st.data())
def test_the_limit_holds_in_its_unit_or_the_chunk_is_flagged_and_cannot_be_cut(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    document = case.document
    limit, unit = max(np.atleast_1d(case.settings[STRATEGIES[name].limit])), case.settings["unit"]
    made = cut(document, name, case.settings, case.scope, TOKENIZERS[case.tokenizer], EMBED)
    bits = flags(alone(document), name, case.settings, made, TOKENIZERS[case.tokenizer]).tolist()
    for (start, end, _, _), bit in zip(made, bits, strict=True):
        if "over_limit" in flag_names(bit):
            inner = cuts_allowed(name, case, document)
            assert bisect_right(inner, start) == bisect_right(inner, end - 1), case.text[start:end]
        else:
            assert length(document, start, end, unit, case.tokenizer) <= limit


def length(document: Document, start: int, end: int, unit: str, tokenizer: str) -> int:
    """The length of a span in a unit, counted one by one."""
    if unit == "characters":
        return end - start
    spans = zip(*words(document), strict=True) if unit == "words" else TOKENIZERS[tokenizer](document.text).tolist()
    return sum(crosses((start, end), (int(a), int(b))) for a, b in spans)


def cuts_allowed(name: str, case: Case, document: Document) -> list[int]:
    """Where a chunk over the limit could still have been cut, had the strategy been allowed to go on."""
    bases = {"fixed": "atom", "sentence": "sentence", "recursive": "word"}
    finest = {**bases, "paragraph": "paragraph", "semantic": "sentence", "structure": "block", "cluster": "atom",
              "parent_child": bases.get(case.settings.get("base", "")),
              "multi": bases.get(case.settings.get("base", ""))}[name]  # fmt: skip
    if case.settings.get("oversize") == "cut":
        finest = "atom" if name == "recursive" else "word"
    if finest != "atom":
        return level_starts(document, finest).tolist()
    if case.settings["unit"] == "words":
        return words(document).starts.tolist()
    return [place for place in range(len(case.text)) if not inseparable(case, place)]


def inseparable(case: Case, place: int) -> bool:
    """Whether the character at a place belongs to the one before it: an accent, a joiner, a token that both share."""
    before, this = case.text[max(0, place - 1)], case.text[place]
    if case.settings["unit"] == "characters":
        joins = unicodedata.combining(this) or this in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= this <= "\U0001f3ff"
        return not before.isspace() and bool(joins or before == "\u200d")
    spans = TOKENIZERS[case.tokenizer](case.text).tolist()
    held = any(start <= place < end for start, end in spans)
    return not held or any(start < place < end and not case.text[start:place].isspace() for start, end in spans)


@pytest.mark.parametrize("name", ["fixed", "sentence", "paragraph", "recursive", "structure", "semantic", "cluster"])
@given(data=st.data())
def test_no_chunk_lies_wholly_inside_another(name: str, data: st.DataObject) -> None:
    found = chunks_of(name, data.draw(cases(name)))
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(found))


@given(data=st.data())
def test_parents_are_disjoint_and_their_children_cover_them(data: st.DataObject) -> None:
    case = data.draw(cases("parent_child"))
    found = chunks_of("parent_child", case)
    parents = sorted({chunk[2:] for chunk in found})
    assert all(one[1] <= other[0] for one, other in pairwise(parents))
    for parent in parents:
        children = [chunk[:2] for chunk in found if chunk[2:] == parent]
        assert not any(parent[0] <= place < parent[1] for place in gaps(case.text[: parent[1]], children))
        assert (children[0][0], children[-1][1]) == parent


@given(data=st.data())
def test_parents_are_what_their_base_cuts_at_their_size(data: st.DataObject) -> None:
    case = data.draw(cases("parent_child"))
    base, unit = case.settings["base"], case.settings["unit"]
    parents = sorted({chunk[2:] for chunk in chunks_of("parent_child", case)})
    alone = {"size": case.settings["parent"], "unit": unit}
    assert parents == [chunk[:2] for chunk in chunks_of(base, case._replace(settings=alone))]


@given(data=st.data())
def test_a_sentence_window_is_clipped_only_where_its_region_ends(data: st.DataObject) -> None:
    case = data.draw(cases("sentence_window").filter(lambda case: case.scope == "document"))
    window = case.settings["window"]
    found = chunks_of("sentence_window", case)
    for place, (_, _, start, end) in enumerate(found):
        assert start == found[max(0, place - window)][0]
        assert end == found[min(len(found) - 1, place + window)][1]


@given(data=st.data())
def test_sentences_are_the_cores_of_sentence_window(data: st.DataObject) -> None:
    case = data.draw(cases("sentence_window"))
    cores = [chunk[:2] for chunk in chunks_of("sentence_window", case)]
    tiny = {"size": 1, "overlap": 0, "unit": "characters", "oversize": "keep"}
    assert cores == [chunk[:2] for chunk in chunks_of("sentence", case._replace(settings=tiny))]


@given(data=st.data())
def test_semantic_below_every_similarity_equals_sentence(data: st.DataObject) -> None:
    case = data.draw(cases("sentence"))
    alike = {**case.settings, "overlap": 0}
    meaning = {**{name: value for name, value in alike.items() if name != "overlap"}, "threshold": -1}
    assert chunks_of("semantic", case._replace(settings=meaning)) == chunks_of(
        "sentence", case._replace(settings=alike)
    )


@given(data=st.data())
def test_a_chunk_could_not_have_taken_the_next_piece_too(data: st.DataObject) -> None:
    """Packing is greedy: whole sentences are added until the next would pass the limit."""
    unit = data.draw(st.sampled_from(("words", "characters")))
    case = data.draw(cases("sentence"))
    case = case._replace(scope="document", settings={**case.settings, "unit": unit, "oversize": "keep"})
    document, size = case.document, case.settings["size"]
    found = chunks_of("sentence", case, document)
    starts = [*blocks(document).sentences.tolist(), len(case.text)]
    for start, end, _, _ in found[:-1]:
        after = next(place for place in starts if place >= end)
        stop = len(case.text[: starts[starts.index(after) + 1]].rstrip())
        assert length(document, start, stop, unit, case.tokenizer) > size


@every_strategy
@example(text="")
@example(text=" \n\u00a0\u3000\t")
@given(text=st.text(st.sampled_from(" \n\t\r\u00a0\u2003\x1c"), max_size=9))
def test_white_space_alone_is_cut_into_nothing(name: str, text: str) -> None:
    assert chunks_of(name, Case(text, {})) == []


class Sealed:
    """A document that fails the test when anything is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for before the settings were checked")


def invalid_settings() -> list[Any]:
    """For every parameter of every strategy, values that it must refuse."""
    found = []
    for name, strategy in STRATEGIES.items():
        for parameter in strategy.parameters:
            for value in refused(parameter):
                shown = "1e400" if isinstance(value, int) and abs(value) > 10**9 else repr(value)
                found.append(pytest.param(name, parameter.name, value, id=f"{name}-{parameter.name}-{shown}"))
    return found


def refused(parameter: Parameter) -> list[Any]:
    """Values out of range, of the wrong kind, and no values at all."""
    if isinstance(parameter, Choice):
        return ["", "letters", None, 3, ["words"]]
    if isinstance(parameter, Numbers):
        return [[], [0], [5, 5], [parameter.highest + 1], list(range(1, parameter.most + 2)), [2.5], "20", None, True]
    fraction = [2.5] if isinstance(parameter.default, int) else []
    ends = [parameter.lowest - 1, parameter.highest + 1, 10**400, -(10**400)]
    return [*ends, *fraction, "20", None, True, float("nan"), float("inf"), float("-inf"), [5]]


@pytest.mark.parametrize(("name", "parameter", "value"), invalid_settings())
def test_an_invalid_setting_is_refused_by_name_before_any_work(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(ValueError, match=parameter):
        cut(Sealed(), name, {parameter: value}, "document", letter_pieces, EMBED)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("fixed", {"size": 100, "overlap": 100}, "overlap .* below size, got overlap 100 and size 100"),
        ("sentence", {"size": 100, "overlap": 120}, "overlap .* below size, got overlap 120 and size 100"),
        ("recursive", {"size": 1, "overlap": 1}, "overlap .* below size, got overlap 1 and size 1"),
        ("parent_child", {"child": 300, "parent": 200}, "child must not be above parent, got child 300 and parent 200"),
        ("fixed", {"sise": 3}, "fixed has no setting 'sise' .*overlap, size, unit"),
        ("whole", {"size": 3}, "whole has no setting 'size' .*none"),
        ("sentense", {}, "sentense.*did you mean sentence"),
        ("zzz", {}, "zzz.*choose one of whole, fixed"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_before_any_work(
    name: str, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        cut(Sealed(), name, wrong, "document", letter_pieces, EMBED)  # type: ignore[arg-type]


def test_a_scope_a_tokenizer_and_an_embedder_that_are_missing_are_named_before_any_work() -> None:
    sealed: Any = Sealed()
    with pytest.raises(ValueError, match="scope must be one of document, section, body, got 'page'"):
        cut(sealed, "whole", {}, "page")
    with pytest.raises(ValueError, match="unit tokens needs a tokenizer"):
        cut(sealed, "fixed", {"unit": "tokens"})
    with pytest.raises(ValueError, match="semantic cuts by meaning and needs an embedder"):
        cut(sealed, "semantic", {})
