"""Simulate retries in whole milliseconds: kinds of jitter, layered retries and a retry budget."""

import heapq
import random
from collections import Counter
from collections.abc import Callable
from statistics import median

SEED = 20260226
CLIENTS = 1_000
SLOT = 10
PER_SLOT = 5
BASE = 100
CAP = 5_000
RUNS = 15

Wait = Callable[[random.Random, int, int], int]


def ceiling(attempt: int) -> int:
    """Return the exponential delay before retry number `attempt` (from 0), capped."""
    return min(CAP, BASE * 2 ** min(attempt, 20))


def fixed(_rng: random.Random, _attempt: int, _before: int) -> int:
    """Wait the same delay each time."""
    return BASE


def plain(_rng: random.Random, attempt: int, _before: int) -> int:
    """Wait exponentially without jitter."""
    return ceiling(attempt)


def full(rng: random.Random, attempt: int, _before: int) -> int:
    """Wait anything from zero to the exponential delay."""
    return rng.randint(0, ceiling(attempt))


def equal(rng: random.Random, attempt: int, _before: int) -> int:
    """Wait half of the exponential delay, and anything up to the other half."""
    half = ceiling(attempt) // 2
    return half + rng.randint(0, half)


def decorrelated(rng: random.Random, _attempt: int, before: int) -> int:
    """Wait from the base to three times the delay before."""
    return min(CAP, rng.randint(BASE, 3 * before))


def recover(wait: Wait, rng: random.Random) -> tuple[int, list[int], Counter[int]]:
    """Let all clients call at once and retry until served.

    Returns the attempts, the times of success and the arrivals per 100 ms.
    """
    events = [(rng.randint(1, 20), client, 0, BASE) for client in range(CLIENTS)]
    heapq.heapify(events)
    used: Counter[int] = Counter()
    arrivals: Counter[int] = Counter()
    attempts, done = 0, []
    while events:
        now, client, attempt, before = heapq.heappop(events)
        attempts += 1
        arrivals[now // 100] += 1
        if used[now // SLOT] < PER_SLOT:
            used[now // SLOT] += 1
            done.append(now)
            continue
        delay = wait(rng, attempt, before)
        # The answer travels back and the retry travels there.
        arrival = now + rng.randint(1, 20) + delay + rng.randint(1, 20)
        heapq.heappush(events, (arrival, client, attempt + 1, delay))
    return attempts, done, arrivals


def layered(layers: int, tries: int) -> int:
    """Count calls to a failing service below some layers that each try several times."""
    return 1 if layers == 0 else sum(layered(layers - 1, tries) for _ in range(tries))


def with_budget(rng: random.Random, failing: int, ratio: int | None) -> tuple[float, float]:
    """Return attempts per request and share of requests served.

    `failing` is the percentage of attempts that fail. With a `ratio` each request adds that
    percentage of a retry to a purse of at most 10 retries.
    """
    requests, attempts, served, purse = 20_000, 0, 0, 1_000
    for _ in range(requests):
        purse = min(1_000, purse + (ratio or 0))
        for attempt in range(4):
            if attempt and ratio is not None:
                if purse < 100:
                    break
                purse -= 100
            attempts += 1
            if rng.randrange(100) >= failing:
                served += 1
                break
    return attempts / requests, 100 * served / requests


def main() -> None:
    """Print one figure a line."""
    print(f"seed: {SEED}")
    print(f"clients: {CLIENTS:,}")
    print(f"capacity: {PER_SLOT} requests every {SLOT} ms")
    print(f"time with perfect order: {CLIENTS // PER_SLOT * SLOT / 1_000:.1f} s")
    print("one way: 1 to 20 ms")
    print(f"base: {BASE} ms")
    print(f"cap: {CAP // 1_000} s")
    print(f"runs: {RUNS}")
    for wait in (fixed, plain, full, equal, decorrelated):
        per_client, half, last, peak = [], [], [], []
        for run in range(RUNS):
            attempts, done, arrivals = recover(wait, random.Random(SEED + run))
            per_client.append(attempts / CLIENTS)
            half.append(done[CLIENTS // 2 - 1] / 1_000)
            last.append(done[-1] / 1_000)
            peak.append(max(count for slot, count in arrivals.items() if slot >= 5))
        name = wait.__name__
        print(f"{name}, attempts per client: {median(per_client):.1f}")
        print(f"{name}, half served: {median(half):.1f} s")
        print(f"{name}, all served: {median(last):.1f} s")
        print(f"{name}, peak after the first 500 ms: {median(peak):.0f} in 100 ms")
    print("layers: 3")
    print("tries per layer: 3")
    print(f"calls at the bottom: {layered(3, 3)}")
    print("requests: 20,000")
    print("tries per request: 4")
    print("budget: 10 %")
    rng = random.Random(SEED)
    for failing in (1, 5, 50, 100):
        print(f"failing: {failing} %")
        for name, ratio in (("no budget", None), ("budget", 10)):
            load, served = with_budget(rng, failing, ratio)
            print(f"failing {failing} %, {name}, attempts per request: {load:.2f}")
            print(f"failing {failing} %, {name}, served: {served:.1f} %")


if __name__ == "__main__":
    main()
