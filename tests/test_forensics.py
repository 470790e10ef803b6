"""Where cuts fell through a passage, and what would have kept it whole: by hand, and by cutting again."""

from __future__ import annotations

from typing import Any

import pytest

from chunking.forensics import Remedy, examine, in_words, remedies, split_passages
from chunking.index import Config, Index, build
from chunking.registry import STRATEGIES, missing
from chunking.types import Corpus, Document, Passage, Question
from tests.fakes import BagOfWords, Constant

TEXT = "one two three four five six seven eight nine ten eleven twelve"
OTHER = Document("b", "red blue green grey")
DOCUMENT = Document("a", TEXT)


def passage(text: str, document: Document = DOCUMENT) -> Passage:
    start = document.text.index(text)
    return Passage(document.id, start, start + len(text))


def index(strategy: str, settings: dict[str, Any], document: Document = DOCUMENT, **axes: Any) -> Index:
    return build(Corpus((OTHER, document)), Config.of(strategy, settings, **axes), Constant())


def test_one_cut() -> None:
    """Cut in fours: 'three four | five'. Windows of 4 with 1 word of overlap begin with one, four: no; with 2, three: yes."""
    found = examine(index("fixed", {"size": 4}), passage(" three four five "))
    assert found.cuts == (TEXT.index(" five"),)
    assert (found.before, found.words_before) == (passage("one two three four"), 2)
    assert (found.after, found.words_after) == (passage("five six seven eight"), 1)
    assert found.remedies == (Remedy("overlap", 2), Remedy("size", 5))


def test_the_smallest_overlap_may_be_below_the_present_one() -> None:
    """Windows of 4 that step 1 hold any three words, those that step 3 'seven eight nine'; stepping 2 all but even starts."""
    found = examine(index("fixed", {"size": 4, "overlap": 2}), passage("four five six seven"))
    assert found.remedies[0] == Remedy("overlap", 1)


def test_a_passage_longer_than_a_chunk() -> None:
    """'two three | four five six | seven': each side is what reaches furthest into it; no overlap helps."""
    found = examine(index("fixed", {"size": 3}), passage("two three four five six seven"))
    assert found.cuts == (TEXT.index(" four"), TEXT.index(" seven"))
    assert (found.words_before, found.words_after) == (2, 1)
    assert found.remedies == (Remedy("overlap", None), Remedy("size", 7))


def test_with_overlap_each_end_and_beginning_is_a_cut() -> None:
    """Windows of 4 that overlap by 1: 'one .. four', 'four .. seven', 'seven .. ten'; 'three four five' is cut twice."""
    found = examine(index("fixed", {"size": 4, "overlap": 1}), passage("three four five"))
    assert found.cuts == (TEXT.index("four"), TEXT.index(" five"))
    assert (found.words_before, found.words_after) == (2, 2)


def test_nearest_of_two_is_the_smaller() -> None:
    """'four five' between fours: threes keep it ('four five six'), and fives ('one .. five')."""
    assert examine(index("fixed", {"size": 4}), passage("four five")).remedies[1] == Remedy("size", 3)


def test_characters_are_cut_inside_words() -> None:
    """Windows of 6 characters: 'one tw', 'o thre', ...; the passage 'two' is parted before its last letter."""
    found = examine(index("fixed", {"size": 6, "unit": "characters"}), passage("two"))
    assert found.cuts == (6,)
    assert found.remedies == (Remedy("overlap", 2), Remedy("size", 7))


def test_what_no_span_holds_has_no_side() -> None:
    """A heading left out by the scope."""
    document = Document("a", "# Old title\n\nThe body of it is here.\n")
    found = examine(index("fixed", {"size": 50}, document, scope="body"), Passage("a", 2, 20))
    assert (found.before, found.words_before) == (None, 0)
    assert found.after is not None
    assert found.words_after == 2
    assert [remedy.value for remedy in found.remedies] == [None, None]


SENTENCES = "Owls hunt at night. Jays call at noon. Rooks sleep late. Wrens sing all day. Kites glide high. Terns dive."


@pytest.mark.parametrize(
    ("strategy", "settings", "named"),
    [
        ("fixed", {"size": 9}, ("overlap", "size")),
        ("sentence", {"size": 9}, ("overlap", "size")),
        ("recursive", {"size": 9}, ("overlap", "size")),
        ("paragraph", {"size": 9}, ("size",)),
        ("structure", {"size": 9}, ("size",)),
        ("parent_child", {"child": 3, "parent": 9}, ("parent",)),
        ("sentence_window", {"window": 0}, ("window",)),
        ("multi", {"sizes": (5, 9)}, ("sizes",)),
    ],
)
def test_remedies_are_those_of_the_strategy_and_keep_the_passage_whole(
    strategy: str, settings: dict[str, Any], named: tuple[str, ...]
) -> None:
    document = Document("a", SENTENCES)
    split = passage("at noon. Rooks sleep", document)
    found = examine(index(strategy, settings, document), split)
    assert tuple(remedy.setting for remedy in found.remedies) == named
    for remedy in found.remedies:
        assert remedy.value is not None
        changed = (*settings["sizes"][:-1], remedy.value) if remedy.setting == "sizes" else remedy.value
        assert index(strategy, {**settings, remedy.setting: changed}, document).holds(split)
        if remedy.setting == "overlap":
            smaller = [index(strategy, {**settings, "overlap": less}, document) for less in range(remedy.value)]
            assert not any(other.holds(split) for other in smaller)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_can_be_examined(strategy: str) -> None:
    """With a passage that goes across a heading, so that few hold it."""
    if missing(STRATEGIES[strategy]):
        pytest.skip("its library is not installed")
    text = "# Birds\n\n" + SENTENCES + "\n\n# Fish\n\n" + SENTENCES.replace("Owls", "Pike") + "\n"
    document = Document("a", text)
    built = build(Corpus((document,)), Config.of(strategy, scope="section"), BagOfWords())
    across = passage("Terns dive.\n\n# Fish\n\nPike hunt", document)
    found = examine(built, across, BagOfWords())
    assert all(remedy.value is None for remedy in found.remedies)
    assert set(remedy.setting for remedy in found.remedies) <= {
        "overlap",
        "size",
        "parent",
        "window",
        "sizes",
        "size_bytes",
    }
    assert "Cut" in in_words(found, built)


def test_what_cuts_by_meaning_needs_the_embedder() -> None:
    document = Document("a", SENTENCES)
    built = index("semantic", {"size": 5}, document)
    split = passage("at noon. Rooks sleep", document)
    assert remedies(built, split) == ()
    assert remedies(built, split, Constant()) == (Remedy("size", 25),)


def test_only_split_passages_are_examined() -> None:
    built = index("fixed", {"size": 4})
    with pytest.raises(ValueError, match="forensics are for split passages, and 0 to 7 of a is whole"):
        examine(built, passage("one two "))


def test_split_passages_are_those_of_needs_without_any_whole() -> None:
    whole, cut, also_cut = passage("one two"), passage("four five"), passage("eight nine")
    built = index("fixed", {"size": 4})
    assert split_passages(built, Question("q", "?", ((whole, cut),))) == ()
    assert split_passages(built, Question("q", "?", ((whole,), (cut, also_cut)))) == (cut, also_cut)


@pytest.mark.parametrize(
    ("strategy", "settings", "words"),
    [
        ("fixed", {"size": 9}, "Cut once: the best chunks hold its first 3 words and its last 1 word. "
         "An overlap of 3 words or a size of 10 words would keep it whole."),
        ("parent_child", {"child": 4, "parent": 9}, "Cut once: the best chunks hold its first 2 words and its last 2 words. "
         "A parent of 7 words would keep it whole."),
        ("sentence", {"size": 4, "oversize": "cut"}, "Cut once: the best chunks hold its first 2 words and its last 2 words. "
         "A size of 7 words would keep it whole."),
        ("sentence_window", {"window": 0}, "Cut once: the best chunks hold its first 2 words and its last 2 words. "
         "A window of 1 sentence would keep it whole."),
    ],
)  # fmt: skip
def test_in_words(strategy: str, settings: dict[str, Any], words: str) -> None:
    document = Document("a", SENTENCES)
    built = index(strategy, settings, document)
    assert in_words(examine(built, passage("at noon. Rooks sleep", document)), built) == words


def test_a_strategy_without_sizes_says_so() -> None:
    document = Document("a", "# Birds\n\nOwls hunt.\n\n# Fish\n\nPike hunt.\n")
    built = index("section", {}, document)
    found = examine(built, passage("hunt.\n\n# Fish", document))
    assert in_words(found, built).endswith("Neither an overlap nor a size can be set with section.")
