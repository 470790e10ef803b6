"""Count how often items enter samples of a stream, and the random numbers drawn."""

import heapq
import math
import random
from collections.abc import Callable, Iterable

SEED = 20241003
STREAM = 100
SIZE = 10
RUNS = 20_000

Sampler = Callable[[int, int, random.Random], list[int]]


def reservoir(length: int, size: int, rng: random.Random) -> list[int]:
    """Sample 0, 1, ... length - 1 with algorithm R."""
    sample = list(range(size))
    for place in range(size, length):
        slot = rng.randrange(place + 1)
        if slot < size:
            sample[slot] = place
    return sample


def off_by_one(length: int, size: int, rng: random.Random) -> list[int]:
    """Forget to count the present item, a common mistake."""
    sample = list(range(size))
    for place in range(size, length):
        slot = rng.randrange(place)
        if slot < size:
            sample[slot] = place
    return sample


def even_odds(length: int, size: int, rng: random.Random) -> list[int]:
    """Let each later item in with the same chance, another mistake."""
    sample = list(range(size))
    for place in range(size, length):
        if rng.random() < size / length:
            sample[rng.randrange(size)] = place
    return sample


def every_tenth(length: int, size: int, rng: random.Random) -> list[int]:
    """Take items at equal distances from a random start."""
    step = length // size
    return list(range(rng.randrange(step), length, step))


def skipping(length: int, size: int, rng: random.Random) -> tuple[list[int], int]:
    """Sample with algorithm L; also return the random numbers drawn."""
    sample, place, drawn = list(range(size)), size - 1, 0
    weight = 1.0
    while True:
        weight *= math.exp(math.log(1 - rng.random()) / size)
        gap = math.floor(math.log(1 - rng.random()) / math.log1p(-weight))
        place += gap + 1
        drawn += 2
        if place >= length:
            return sample, drawn
        sample[rng.randrange(size)] = place
        drawn += 1


def weighted(weights: Iterable[float], size: int, rng: random.Random) -> list[int]:
    """Keep the largest keys log(u) / weight (Efraimidis and Spirakis)."""
    heap: list[tuple[float, int]] = []
    for place, weight in enumerate(weights):
        key = math.log(1 - rng.random()) / weight
        if len(heap) < size:
            heapq.heappush(heap, (key, place))
        elif key > heap[0][0]:
            heapq.heapreplace(heap, (key, place))
    return [place for _, place in heap]


def check(sampler: Sampler, rng: random.Random) -> tuple[list[int], float, int]:
    """Return the count of each item, chi-squared and the runs with items 0 and 1."""
    counts, both = [0] * STREAM, 0
    for _ in range(RUNS):
        sample = sampler(STREAM, SIZE, rng)
        for item in sample:
            counts[item] += 1
        both += 0 in sample and 1 in sample
    expected = RUNS * SIZE / STREAM
    return counts, sum((c - expected) ** 2 / expected for c in counts), both


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    print(f"stream: {STREAM} items")
    print(f"sample: {SIZE} items")
    print(f"runs: {RUNS:,}")
    expected = RUNS * SIZE // STREAM
    pairs = RUNS * SIZE * (SIZE - 1) / STREAM / (STREAM - 1)
    print(f"expected count of an item: {expected:,}")
    print(f"expected chi-squared: {STREAM - SIZE}")
    print(f"expected runs with the first two items: {pairs:.0f}")
    samplers: dict[str, Sampler] = {
        "algorithm R": reservoir,
        "algorithm L": lambda n, k, r: skipping(n, k, r)[0],
        "off by one": off_by_one,
        "even odds": even_odds,
        "every tenth": every_tenth,
    }
    for name, sampler in samplers.items():
        counts, chi, both = check(sampler, rng)
        print(f"{name}, first item: {counts[0]:,}")
        print(f"{name}, eleventh item: {counts[SIZE]:,}")
        print(f"{name}, last item: {counts[-1]:,}")
        print(f"{name}, rarest item: {min(counts):,}")
        print(f"{name}, commonest item: {max(counts):,}")
        print(f"{name}, chi-squared: {chi:,.0f}")
        print(f"{name}, runs with the first two items: {both:,}")

    length, size = 1_000_000, 100
    print(f"long stream: {length:,} items")
    print(f"long sample: {size} items")
    entered = sum(rng.randrange(place + 1) < size for place in range(size, length))
    print(f"algorithm R, random numbers: {length - size:,}")
    print(f"algorithm R, replacements: {entered:,}")
    drawn = skipping(length, size, rng)[1]
    print(f"algorithm L, random numbers: {drawn:,}")
    print(f"algorithm L, replacements: {(drawn - 2) // 3:,}")

    weights = [10.0] * 10 + [1.0] * 100
    runs = 5_000
    print("heavy items: 10 of weight 10")
    print("light items: 100 of weight 1")
    print(f"weighted runs: {runs:,}")
    for size in (1, 10, 20):
        counts = [0] * len(weights)
        for _ in range(runs):
            for item in weighted(weights, size, rng):
                counts[item] += 1
        heavy, light = sum(counts[:10]) / 10 / runs, sum(counts[10:]) / 100 / runs
        print(f"sample of {size}, a heavy item: {100 * heavy:.1f} %")
        print(f"sample of {size}, a light item: {100 * light:.1f} %")
        print(f"sample of {size}, ratio: {heavy / light:.1f}")

    runs, kept, sizes = 1_000, 20, (900, 100)
    print("shards: 900 and 100 items")
    print(f"kept of each shard and of both: {kept}")
    print(f"merges: {runs:,}")
    by_tag = by_draw = 0
    for _ in range(runs):
        tags = [
            heapq.nsmallest(kept, ((rng.random(), shard) for _ in range(count)))
            for shard, count in enumerate(sizes)
        ]
        both = tags[0] + tags[1]
        by_tag += sum(shard for _, shard in heapq.nsmallest(kept, both))
        by_draw += sum(shard for _, shard in rng.sample(both, kept))
    print(f"merged by tags, from the small shard: {by_tag / runs:.1f} of {kept}")
    print(f"merged by a draw, from the small shard: {by_draw / runs:.1f} of {kept}")

    sizes = [sum(rng.random() < 0.01 for _ in range(10_000)) for _ in range(100)]
    print("coin flips: 1 % of 10,000 items, 100 runs")
    print(f"coin flips, smallest sample: {min(sizes)}")
    print(f"coin flips, largest sample: {max(sizes)}")


if __name__ == "__main__":
    main()
