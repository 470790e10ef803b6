"""The best segmentation: against all segmentations where they are few, and against a plain loop where they are many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunking import segmentation
from chunking.segmentation import best_segmentation
from chunking.types import Ints
from tests.test_strategies import settings  # noqa: F401 - registers the profiles

Rows = NDArray[np.float64]
NEVER = -(10**30)  # below all sums of rewards that are allowed


class Case(NamedTuple):
    """What the function is called with."""

    rewards: Rows
    breaks: Ints


def case(sizes: list[int], rewards: Rows) -> Case:
    """Regions of so many pieces."""
    return Case(rewards, np.cumsum([0, *sizes])[:-1])


def found(rewards: Rows, breaks: Ints) -> list[tuple[int, int]]:
    """The first and last piece of each chunk, which must be whole numbers and lie one behind the other."""
    firsts, lasts = best_segmentation(rewards, breaks)
    assert firsts.dtype == lasts.dtype == np.int64
    assert firsts.tolist() == [0, *(lasts[:-1] + 1).tolist()]
    assert lasts[-1] == len(rewards) - 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def counted(rewards: Rows) -> list[list[int]]:
    """In billionths, as whole numbers of any size."""
    return [[NEVER if one == -np.inf else round(one * 1e9) for one in row] for row in rewards.tolist()]


def plain(rewards: Rows, breaks: Ints) -> list[tuple[int, int]]:
    """Dynamic programming, one piece after the other."""
    opens = set(breaks.tolist())
    lengths: list[int] = []
    sums: list[int] = []  # up to each of the pieces before in the region, the nearest first
    for piece, row in enumerate(counted(rewards)):
        if piece in opens:
            sums = [0]
        options = [before + reward for before, reward in zip(sums, row, strict=False)]
        lengths.append(options.index(max(options)) + 1)
        sums = [max(options), *sums[: len(row) - 1]]
    chunks = []
    last = len(lengths) - 1
    while last >= 0:
        chunks.append((last - lengths[last] + 1, last))
        last -= lengths[last]
    return chunks[::-1]


def all_of(count: int) -> Iterator[list[tuple[int, int]]]:
    """Every way to join so many pieces."""
    for bits in range(2 ** (count - 1)):
        ends = [place for place in range(1, count) if bits >> (place - 1) & 1]
        yield [(first, stop - 1) for first, stop in pairwise([0, *ends, count])]


def brute(rewards: Rows, breaks: Ints) -> list[tuple[int, int]]:
    """The best of all: the largest sum, then the shortest last chunk, then the shortest before it, and so on."""
    values = counted(rewards)
    allowed = [
        chunks
        for chunks in all_of(len(rewards))
        if all(last - first < rewards.shape[1] and values[last][last - first] > NEVER for first, last in chunks)
        and not any(first < at <= last for first, last in chunks for at in breaks.tolist())
    ]
    return max(
        allowed,
        key=lambda chunks: (
            sum(values[last][last - first] for first, last in chunks),
            [first - last for first, last in reversed(chunks)],
        ),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to nine pieces in up to four regions; few values, so that many sums are equal."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4).filter(lambda sizes: sum(sizes) <= 9))
    most = draw(st.integers(1, 5))
    values = st.sampled_from([-1.5, -0.1, 0.0, 0.1, 0.2, 0.3, 1.0, 1e-9, 7.123456789, -np.inf])
    rewards = np.array(
        draw(st.lists(st.lists(values, min_size=most, max_size=most), min_size=sum(sizes), max_size=sum(sizes)))
    )
    alone = rewards[:, 0]
    alone[np.isinf(alone)] = draw(st.sampled_from([-2.0, 0.0]))
    return case(sizes, rewards)


def random(seed: int, sizes: list[int], most: int, kind: str) -> Case:
    """Rewards of a kind for regions of these sizes."""
    rng = np.random.default_rng(seed)
    shape = (sum(sizes), most)
    if kind == "ties":
        rewards = rng.integers(-2, 3, shape).astype(float)
    elif kind == "same":
        rewards = np.tile(np.arange(most) * 0.1, (shape[0], 1)).round(9)
    else:
        rewards = rng.normal(size=shape).round(9)
    if kind == "holes":
        rewards[rng.random(shape) < 0.7] = -np.inf
        rewards[:, 0] = np.where(np.isinf(rewards[:, 0]), -5, rewards[:, 0])
    return case(sizes, rewards)


class TestSmall:
    def test_no_piece_has_no_chunk(self) -> None:
        firsts, lasts = best_segmentation(np.empty((0, 3)), np.empty(0, np.int64))
        assert (firsts.tolist(), lasts.tolist()) == ([], [])
        assert firsts.dtype == lasts.dtype == np.int64

    def test_by_hand(self) -> None:
        """0 + 2 + 0 is more than 1 + 1 and than 0 + 0 + 1."""
        rewards = np.array([[0, -np.inf], [0, 1], [0, 2.5], [0, 1]])
        assert found(rewards, np.array([0])) == [(0, 0), (1, 2), (3, 3)]

    def test_of_equals_the_shorter_last_chunk(self) -> None:
        """Pairs are worth 1: of three pieces the first two go together, not the last two."""
        assert found(np.array([[0, 1.0]] * 3), np.array([0])) == [(0, 1), (2, 2)]
        assert found(np.zeros((4, 4)), np.array([0])) == [(0, 0), (1, 1), (2, 2), (3, 3)]

    def test_no_chunk_across_a_break(self) -> None:
        rewards = np.tile([0, 5.0, 20.0], (5, 1))
        assert found(rewards, np.array([0])) == [(0, 2), (3, 4)]
        assert found(rewards, np.array([0, 1, 3])) == [(0, 0), (1, 2), (3, 4)]

    def test_sums_that_differ_only_in_binary_are_equal(self) -> None:
        """0.1 and a pair of 0.2 come to more than a pair of 0.3 in binary, but not in billionths."""
        assert 0.1 + 0.2 > 0.3
        rewards = np.array([[0.1, 0], [-1, 0.3], [0, 0.2]])
        assert found(rewards, np.array([0])) == [(0, 1), (2, 2)]

    def test_what_differs_after_nine_decimals_is_equal(self) -> None:
        assert found(np.array([[0.3, 0], [0, 0.3 + 4e-10]]), np.array([0])) == [(0, 0), (1, 1)]
        assert found(np.array([[0.3, 0], [0, 0.3 + 6e-10]]), np.array([0])) == [(0, 1)]

    def test_the_arguments_stay_as_they_are(self) -> None:
        rewards, breaks = random(1, [70, 3], 4, "holes")
        kept = rewards.copy(), breaks.copy()
        best_segmentation(rewards, breaks)
        np.testing.assert_array_equal(rewards, kept[0])
        np.testing.assert_array_equal(breaks, kept[1])

    @pytest.mark.parametrize("short", [1, 2, 64])
    @given(one=cases())
    @example(one=case([1], np.zeros((1, 5))))
    @example(one=case([1, 1, 1], np.ones((3, 1))))
    @example(one=case([9], np.tile([-np.inf, 1.0, 1.5], (9, 1))))
    def test_the_best_of_all(self, short: int, one: Case) -> None:
        """Also where lanes of one to three pieces make many of a few."""
        with patch.object(segmentation, "_SHORT", short):
            assert found(*one) == brute(*one) == plain(*one)


class TestLarge:
    """Equal to the plain loop, chunk by chunk."""

    @pytest.mark.parametrize("kind", ["random", "ties", "same", "holes"])
    @pytest.mark.parametrize("most", [1, 2, 3, 7, 16])
    def test_one_long_region(self, most: int, kind: str) -> None:
        one = random(most, [5003], most, kind)
        assert found(*one) == plain(*one)

    @pytest.mark.parametrize("kind", ["random", "ties", "same", "holes"])
    @pytest.mark.parametrize("most", [1, 2, 5, 16])
    def test_many_uneven_regions(self, most: int, kind: str) -> None:
        """Of one piece, of fewer than `most`, of a lane or nearly so, and of many lanes; in any order."""
        for seed in range(2):
            sizes = np.random.default_rng(seed).permutation(
                [1] * 40 + [2, 3, 15, 16, 17, 63, 64, 65, 66, 128, 129, 700]
            )
            one = random(seed, sizes.tolist(), most, kind)
            assert found(*one) == plain(*one)

    @pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 127, 128, 129, 511, 512, 513, 576, 577])
    def test_about_the_length_of_lanes(self, count: int) -> None:
        for most in (1, 2, 16, 80):
            one = random(count, [count], most, "ties")
            assert found(*one) == plain(*one)

    def test_regions_of_one_piece(self) -> None:
        assert found(np.ones((1000, 4)), np.arange(1000)) == [(at, at) for at in range(1000)]

    def test_only_pairs_are_allowed(self) -> None:
        """Which pieces go together depends on the first piece of the region, however far away."""
        rewards = np.tile([-np.inf, 0.0], (3000, 1))
        assert found(rewards, np.array([0, 1000])) == [(at, at + 1) for at in range(0, 3000, 2)]

    def test_sums_of_millions_are_exact(self) -> None:
        """Two ways that differ by a billionth in eight million."""
        rewards = np.tile([2000.0, 4000.0], (4000, 1))
        rewards[0, 0] += 1e-9
        rewards[1, 1] += 2e-9
        rewards[3999, 1] += 1e-9
        assert found(rewards, np.array([0])) == plain(rewards, np.array([0]))
        assert found(rewards, np.array([0]))[0] == (0, 1)
        assert found(rewards, np.array([0]))[-1] == (3998, 3999)

    def test_views_and_other_orders_of_the_rewards(self) -> None:
        """As of a table of which the first columns are taken."""
        rewards, breaks = random(5, [900], 16, "random")
        for view in (rewards[:, :5], np.asfortranarray(rewards), rewards[::-1]):
            assert found(view, breaks) == plain(view, breaks)

    @pytest.mark.parametrize("most", [2, 16])
    def test_a_very_long_region(self, most: int) -> None:
        one = random(9, [25_000], most, "ties")
        assert found(*one) == plain(*one)
