"""`semantic`: a threshold or a percentile of distances, with neighbours or without, worked out by hand."""

from __future__ import annotations

from math import acos, cos, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.index import Config, build
from chunking.registry import STRATEGIES, checked, cut
from chunking.types import Corpus, Document
from tests.fakes import BagOfWords, OneHot, Table
from tests.test_strategies import settings  # registers the profiles too

NAMES = ("One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight.", "Nine.", "Ten.")


def table(*cosines: float) -> Table:
    """An embedder for which these are the cosines of 'One.' and 'Two.', 'Two.' and 'Three.', and so on."""
    angles = [0.0, *np.cumsum([acos(cosine) for cosine in cosines]).tolist()]
    vectors = [(cos(angle), sin(angle)) for angle in angles]
    return Table(dict(zip(NAMES, vectors, strict=False)))


def cuts(text: str, embed: Table, scope: str = "document", **values: Any) -> list[str]:
    """The text of each chunk, blanks made one space."""
    found = cut(Document("d", text), "semantic", values, scope, embed=embed)
    return [" ".join(text[start:end].split()) for start, end, _, _ in found]


class TestPercentile:
    """A chunk ends where the distance to the next sentence is above a percentile of the distances in its region."""

    TEXT = "One. Two. Three. Four. Five."
    #: Distances 0.125, 0.5, 0.25, 0.375 (exact in binary); in order 0.125, 0.25, 0.375, 0.5 at 0, 33.3, 66.7, 100 percent.
    COSINES = (0.875, 0.5, 0.75, 0.625)

    @pytest.mark.parametrize(
        ("percentile", "expected"),
        [
            (100, [TEXT]),  # above 0.5: none
            (99, ["One. Two.", "Three. Four. Five."]),  # place 2.97: 0.375 + 0.97 x 0.125 = 0.496
            (75, ["One. Two.", "Three. Four. Five."]),  # place 2.25: 0.375 + 0.25 x 0.125 = 0.406
            (66, ["One. Two.", "Three. Four.", "Five."]),  # place 1.98: 0.3725, below 0.375
            (50, ["One. Two.", "Three. Four.", "Five."]),  # place 1.5: 0.3125
            (34, ["One. Two.", "Three. Four.", "Five."]),  # place 1.02: 0.2525, above 0.25
            (33, ["One. Two.", "Three.", "Four.", "Five."]),  # place 0.99: 0.24875
            (10, ["One. Two.", "Three.", "Four.", "Five."]),  # place 0.3: 0.1625
            (0, ["One. Two.", "Three.", "Four.", "Five."]),  # above 0.125: the nearest two stay together
        ],
    )
    def test_between_the_two_nearest_distances_as_numpy_has_it(self, percentile: float, expected: list[str]) -> None:
        assert cuts(self.TEXT, table(*self.COSINES), percentile=percentile) == expected

    def test_a_distance_equal_to_the_percentile_is_not_above_it(self) -> None:
        """Five distances: the median is the third of 0.125, 0.25, 0.25, 0.25, 0.5."""
        embed = table(0.75, 0.875, 0.5, 0.75, 0.75)
        assert cuts("One. Two. Three. Four. Five. Six.", embed, percentile=50) == [
            "One. Two. Three.",
            "Four. Five. Six.",
        ]

    def test_where_all_are_equally_far_apart_nothing_is_cut(self) -> None:
        for percentile in (0, 37.5, 100):
            assert cuts(self.TEXT, table(0.6, 0.6, 0.6, 0.6), percentile=percentile) == [self.TEXT]

    def test_one_border_is_never_cut_and_one_sentence_has_none(self) -> None:
        """The only distance is its own percentile."""
        for percentile in (0, 50, 100):
            assert cuts("One. Two.", table(-1), percentile=percentile) == ["One. Two."]
            assert cuts("One.", table(), percentile=percentile) == ["One."]

    def test_each_section_has_its_own_percentile(self) -> None:
        """Distances 0.125, 0.25 | 1 across the border, which is no distance at all | 0.5, 0.75. Medians 0.1875, 0.625."""
        text = "# A\n\nOne. Two. Three.\n\n# B\n\nFour. Five. Six."
        embed = table(0.875, 0.75, 0, 0.5, 0.25)
        assert cuts(text, embed, "body", percentile=50) == ["One. Two.", "Three.", "Four. Five.", "Six."]

    def test_over_the_whole_document_it_is_another(self) -> None:
        """The same distances without headings: 0.125, 0.25, 0.5, 0.75, 1, of which the median is 0.5."""
        embed = table(0.875, 0.75, 0, 0.5, 0.25)
        found = cuts("One. Two. Three. Four. Five. Six.", embed, percentile=50)
        assert found == ["One. Two. Three.", "Four. Five.", "Six."]

    def test_each_document_has_its_own_percentile(self) -> None:
        documents = (Document("a", "One. Two. Three."), Document("b", " "), Document("c", "Four. Five. Six."))
        index = build(Corpus(documents), Config.of("semantic", {"percentile": 50}), table(0.875, 0.75, 0, 0.5, 0.25))
        assert index.texts == ["One. Two.", "Three.", "Four. Five.", "Six."]

    def test_a_section_of_one_sentence_changes_nothing_for_the_others(self) -> None:
        text = "# A\n\nOne.\n\n# B\n\nTwo. Three. Four.\n\n# C\n\nFive."
        assert cuts(text, table(0, 0.5, 0.75, -1), "body", percentile=50) == ["One.", "Two.", "Three. Four.", "Five."]

    def test_the_cap_ends_a_chunk_too(self) -> None:
        """Percentile 100 cuts nowhere, the cap of 2 words does."""
        assert cuts(self.TEXT, table(*self.COSINES), percentile=100, size=2) == ["One. Two.", "Three. Four.", "Five."]

    @settings(max_examples=80)
    @given(
        cosines=st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=9),
        percentile=st.one_of(st.integers(0, 100), st.floats(0, 100)),
    )
    def test_the_cuts_are_where_numpy_says(self, cosines: list[float], percentile: float) -> None:
        """Cosines in eighths are exact; distances within a billionth of the limit may go either way."""
        distances = 1 - np.array(cosines)
        limit = np.percentile(distances, percentile)
        clear = np.abs(distances - limit) > 1e-6
        text = " ".join(NAMES[: len(cosines) + 1])
        begins = {chunk.split()[0] for chunk in cuts(text, table(*cosines), percentile=percentile)}
        opened = np.array([name in begins for name in NAMES[1 : len(cosines) + 1]])
        assert (opened == (distances > limit))[clear].all()


class TestBuffer:
    """A sentence is embedded together with so many neighbours on each side."""

    TEXT = "One. Two.\n\nThree. Four."

    def seen(self, text: str, scope: str = "document", **values: Any) -> list[str]:
        embed = BagOfWords()
        cut(Document("d", text), "semantic", values, scope, embed=embed)
        assert embed.seen["query"] == []
        return embed.seen["document"]

    @pytest.mark.parametrize(
        ("buffer", "expected"),
        [
            (0, ["One.", "Two.", "Three.", "Four."]),
            (1, ["One. Two.", "One. Two.\n\nThree.", "Two.\n\nThree. Four.", "Three. Four."]),
            (2, ["One. Two.\n\nThree.", TEXT, TEXT, "Two.\n\nThree. Four."]),
            (3, [TEXT] * 4),
            (10, [TEXT] * 4),
        ],
    )
    def test_what_is_embedded(self, buffer: int, expected: list[str]) -> None:
        """With percentile and threshold alike; the text between sentences stays as it is."""
        assert self.seen(self.TEXT, buffer=buffer, percentile=90) == expected
        assert self.seen(self.TEXT, buffer=buffer, threshold=0.5) == expected

    def test_neighbours_are_of_the_same_section(self) -> None:
        text = "# A\n\nOne. Two.\n\n# B\n\nThree."
        assert self.seen(text, "body", buffer=1) == ["One. Two.", "One. Two.", "Three."]
        expected = ["# A\n\nOne.", "# A\n\nOne. Two.", "One. Two.", "# B\n\nThree.", "# B\n\nThree."]
        assert self.seen(text, "section", buffer=1) == expected

    def test_neighbours_are_of_the_same_document(self) -> None:
        embed = BagOfWords()
        build(
            Corpus((Document("a", "One."), Document("b", "Two. Three."))), Config.of("semantic", {"buffer": 2}), embed
        )
        assert embed.seen["document"] == ["One.", "Two. Three.", "Two. Three."]

    def test_neighbours_decide_where_it_is_cut(self) -> None:
        """Alone 'Two.' and 'Three.' are unlike; with one neighbour on each side it is the first two that are."""
        alone = {"One.": (1, 0), "Two.": (1, 0), "Three.": (0, 1)}
        together = {"One. Two.": (1, 0), "One. Two. Three.": (0, 1), "Two. Three.": (0, 1)}
        embed = Table({**alone, **together})
        document = Document("d", "One. Two. Three.")
        for buffer, expected in ((0, ["One. Two.", "Three."]), (1, ["One.", "Two. Three."])):
            for how in ({"threshold": 0.5}, {"percentile": 50}):
                found = cut(document, "semantic", {**how, "buffer": buffer}, embed=embed)
                assert [document.text[start:end] for start, end, _, _ in found] == expected

    def test_sentences_are_embedded_once_for_all_thresholds_percentiles_and_caps(self) -> None:
        embed, document = OneHot(), Document("d", self.TEXT)
        for values in ({"threshold": 0.1}, {"threshold": 0.9}, {"percentile": 50}, {"percentile": 80, "size": 2}):
            cut(document, "semantic", values, embed=embed)
        assert len(embed.seen["document"]) == 4


class TestSettings:
    """Threshold or percentile: what is given says which."""

    def values(self, **given: Any) -> dict[str, Any]:
        return checked(STRATEGIES["semantic"], given)

    def test_a_percentile_alone_means_to_cut_by_percentile(self) -> None:
        assert (self.values(percentile=80)["cut_by"], self.values(percentile=80)["percentile"]) == ("percentile", 80.0)

    def test_a_threshold_alone_or_nothing_means_to_cut_by_threshold(self) -> None:
        assert (self.values(threshold=0.5)["cut_by"], self.values(threshold=0.5)["threshold"]) == ("threshold", 0.5)
        assert self.values()["cut_by"] == "threshold"

    def test_both_are_refused_in_one_sentence(self) -> None:
        with pytest.raises(ValueError, match=r"^give threshold or percentile, not both, or set cut_by$"):
            self.values(threshold=0.5, percentile=80)

    def test_both_may_be_given_where_it_is_said_which_counts(self) -> None:
        """Saved settings hold all of them."""
        values = self.values(cut_by="percentile", threshold=0.5, percentile=80)
        assert (values["cut_by"], values["percentile"]) == ("percentile", 80.0)

    @pytest.mark.parametrize(
        ("given", "same"),
        [
            ({"cut_by": "percentile", "percentile": 80, "threshold": 0.7}, {"percentile": 80}),
            ({"cut_by": "threshold", "percentile": 80, "threshold": 0.7}, {"threshold": 0.7}),
            ({"cut_by": "percentile", "threshold": 0.7}, {"cut_by": "percentile"}),
            ({"cut_by": "threshold", "percentile": 80}, {}),
        ],
    )
    def test_what_has_no_effect_is_no_difference_between_two_trials(
        self, given: dict[str, Any], same: dict[str, Any]
    ) -> None:
        assert self.values(**given) == self.values(**same)
        assert Config.of("semantic", given) == Config.of("semantic", same)

    def test_settings_that_were_checked_stay_as_they_are(self) -> None:
        for some in ({}, {"percentile": 80}, {"threshold": 0.7}):
            values = self.values(**some)
            assert self.values(**values) == values

    def test_what_has_no_effect_must_be_valid_all_the_same(self) -> None:
        with pytest.raises(ValueError, match="threshold must be from -1 to 1, got 7"):
            self.values(cut_by="percentile", threshold=7)
        with pytest.raises(ValueError, match="percentile must be from 0 to 100, got 101"):
            self.values(cut_by="threshold", percentile=101)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"cut_by": "standard_deviation"}, "cut_by must be one of threshold, percentile, got 'standard_deviation'"),
            ({"percentile": -1}, "percentile must be from 0 to 100, got -1"),
            ({"percentile": "90"}, "percentile must be a number, got '90'"),
            ({"buffer": 11}, "buffer must be from 0 to 10, got 11"),
            ({"buffer": 1.5}, "buffer must be a whole number, got 1.5"),
        ],
    )
    def test_wrong_values_are_named_with_their_rule(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}$"):
            self.values(**wrong)

    def test_a_percentile_is_refused_where_there_is_no_such_setting(self) -> None:
        with pytest.raises(ValueError, match="sentence has no setting 'percentile'"):
            checked(STRATEGIES["sentence"], {"percentile": 90})
