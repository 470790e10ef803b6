"""Simulate stale reads, waiting times, sloppy quorums and read repair with replicated keys."""

from itertools import product

import numpy as np

SEED = 20250520
TRIALS = 100_000
N = 3


def delays(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw one-way delays in ms: median 1 ms, with a heavy tail."""
    return rng.lognormal(0.0, 1.0, shape)


def stale(rng: np.random.Generator, r: int, w: int, later: float) -> float:
    """Return the share of reads, begun `later` ms after the write's success, that miss it."""
    arrive = delays(rng, TRIALS, N)
    done = np.sort(arrive + delays(rng, TRIALS, N), axis=1)[:, w - 1]
    asked = done[:, None] + later + delays(rng, TRIALS, N)
    answered = asked + delays(rng, TRIALS, N)
    first = np.argsort(answered, axis=1)[:, :r]
    seen = np.take_along_axis(arrive <= asked, first, axis=1)
    return float((~seen.any(axis=1)).mean())


def inversion(rng: np.random.Generator, later: float) -> float:
    """Return the share of tries where a read saw an unfinished write and the next read did not.

    N is 3, R and W are 2; the first read begins `later` ms after the write began, the second
    when the first is done.
    """
    arrive = delays(rng, TRIALS, N)
    start = np.full((TRIALS, 1), later)
    seen = []
    for _ in range(2):
        asked = start + delays(rng, TRIALS, N)
        answered = asked + delays(rng, TRIALS, N)
        first = np.argsort(answered, axis=1)[:, :2]
        seen.append(np.take_along_axis(arrive <= asked, first, axis=1).any(axis=1))
        start = np.sort(answered, axis=1)[:, 1:2]
    return float((seen[0] & ~seen[1]).mean())


def half_written(rng: np.random.Generator, write_back: bool) -> float:
    """Return the share of read pairs (R 2) that see new, then old, when one copy of 3 is new."""
    new = np.zeros((TRIALS, N), dtype=bool)
    new[:, 0] = True
    seen = []
    for _ in range(2):
        first = np.argsort(rng.random((TRIALS, N)), axis=1)[:, :2]
        found = np.take_along_axis(new, first, axis=1).any(axis=1)
        seen.append(found)
        if write_back:
            copies = np.take_along_axis(new, first, axis=1) | found[:, None]
            np.put_along_axis(new, first, copies, axis=1)
    return float((seen[0] & ~seen[1]).mean())


def waiting(rng: np.random.Generator) -> None:
    """Print mean and 99th percentile of the round trip until R answers are there."""
    for asked, r in ((1, 1), (2, 2), (3, 1), (3, 2), (3, 3), (5, 3), (5, 5)):
        trips = delays(rng, TRIALS, asked) + delays(rng, TRIALS, asked)
        wait = np.sort(trips, axis=1)[:, r - 1]
        print(f"ask {asked}, wait for {r}, mean: {wait.mean():.1f} ms")
        print(f"ask {asked}, wait for {r}, 99th percentile: {np.percentile(wait, 99):.1f} ms")


def sloppy(rng: np.random.Generator, nodes: int, down: float) -> None:
    """Print refused and stale operations of strict and sloppy quorums (N 3, R and W 2)."""
    write_up = rng.random((TRIALS, nodes)) >= down
    read_up = rng.random((TRIALS, nodes)) >= down
    home = np.arange(nodes) < N
    strict_write, strict_read = write_up & home, read_up & home
    written = strict_write.sum(axis=1) >= 2
    readable = strict_read.sum(axis=1) >= 2
    print(f"strict, refused writes: {100 * (~written).mean():.1f} %")
    print(f"strict, refused reads: {100 * (~readable).mean():.1f} %")
    missed = ~pick(strict_write, strict_read, rng)[written & readable]
    print(f"strict, stale reads: {100 * missed.mean():.2f} %")
    target = write_up & (np.cumsum(write_up, axis=1) <= N)
    source = read_up & (np.cumsum(read_up, axis=1) <= N)
    written, readable = target.sum(axis=1) >= 2, source.sum(axis=1) >= 2
    print(f"sloppy, refused writes: {100 * (~written).mean():.1f} %")
    print(f"sloppy, refused reads: {100 * (~readable).mean():.1f} %")
    missed = ~pick(target, source, rng)[written & readable]
    print(f"sloppy, stale reads: {100 * missed.mean():.2f} %")
    away = (target & ~home).any(axis=1)
    print(f"sloppy, writes with a hint: {100 * away.mean():.1f} %")


def pick(target: np.ndarray, source: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tell whether two random sources include one of the nodes that were written."""
    order = np.where(source, rng.random(source.shape), 2.0)
    first = np.argsort(order, axis=1)[:, :2]
    return np.take_along_axis(target, first, axis=1).any(axis=1)


def repair(rng: np.random.Generator) -> None:
    """Print how many stale copies are left after reads with skewed popularity."""
    keys, reads = 100_000, 200_000
    chance = 1 / np.arange(1, keys + 1)
    wanted = rng.choice(keys, reads, p=chance / chance.sum())
    start = rng.random((keys, N)) < 0.05
    start[start.all(axis=1), 0] = False
    print(f"keys: {keys:,}")
    print(f"reads: {reads:,}")
    print(f"stale copies at the start: {100 * start.mean():.2f} %")
    print(f"keys that were read: {100 * len(np.unique(wanted)) / keys:.1f} %")
    for asked in (1, 2, 3):
        old = start.tolist()
        stale_reads = 0
        places = np.argsort(rng.random((reads, N)), axis=1)[:, :asked].tolist()
        for key, chosen in zip(wanted.tolist(), places, strict=True):
            flags = [old[key][place] for place in chosen]
            if all(flags):
                stale_reads += 1
            elif any(flags):
                for place in chosen:
                    old[key][place] = False
        print(f"ask {asked}, stale reads: {100 * stale_reads / reads:.2f} %")
        print(f"ask {asked}, stale copies left: {100 * np.mean(old):.2f} %")


def main() -> None:
    """Print one figure a line."""
    rng = np.random.default_rng(SEED)
    print(f"seed: {SEED}")
    print(f"replicas: {N}")
    print(f"trials: {TRIALS:,}")
    print("median of a one-way delay: 1 ms")
    trip = delays(rng, TRIALS) + delays(rng, TRIALS)
    print(f"round trip, mean: {trip.mean():.1f} ms")
    for r, w in product((1, 2, 3), (1, 2, 3)):
        for later in (0, 2, 10):
            share = 100 * stale(rng, r, w, later)
            print(f"R {r}, W {w}, {later} ms after the write, stale: {share:.2f} %")
    for later in (0.5, 1, 2):
        share = 100 * inversion(rng, later)
        print(f"read {later} ms after the write began, new then old: {share:.2f} %")
    for name, write_back in (("as found", False), ("with write-back", True)):
        print(f"half-written, {name}, new then old: {100 * half_written(rng, write_back):.1f} %")
    waiting(rng)
    print("nodes: 10")
    print("chance that a node cannot be reached: 10 %")
    sloppy(rng, 10, 0.1)
    repair(rng)


if __name__ == "__main__":
    main()
