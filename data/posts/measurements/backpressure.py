"""Simulate one worker behind queues of several kinds, in simulated milliseconds."""

import math
import random
from collections import deque
from dataclasses import dataclass

import numpy as np

SEED = 20260604
SERVICE = 10.0
DEADLINE = 500.0


def steady(rng: np.random.Generator, load: float, jobs: int) -> tuple[float, float, float]:
    """Return the mean number of jobs present, and mean and 99th percentile of their time (ms)."""
    arrive = np.cumsum(rng.exponential(SERVICE / load, jobs))
    service = rng.exponential(SERVICE, jobs)
    steps = np.concatenate(([0.0], np.cumsum(service[:-1] - np.diff(arrive))))
    wait = steps - np.minimum.accumulate(steps)
    time = wait + service
    moments = np.linspace(arrive[0], arrive[-1], jobs)
    leave = arrive + time
    present = np.searchsorted(arrive, moments) - np.searchsorted(leave, moments)
    return float(present.mean()), float(time.mean()), float(np.percentile(time, 99))


@dataclass
class Outcome:
    """What became of the requests of one overload."""

    in_time: int = 0
    late: int = 0
    refused: int = 0
    expired: int = 0
    longest: int = 0
    waits: float = 0.0


def arrivals(rng: random.Random, rate: float, minutes: float) -> list[float]:
    """Return the arrival times (ms) of a Poisson stream of `rate` requests a second."""
    times, now = [], 0.0
    while True:
        now += rng.expovariate(rate / 1_000)
        if now > minutes * 60_000:
            return times
        times.append(now)


def overload(
    seed: int, times: list[float], places: int | None, newest: bool, most: float
) -> Outcome:
    """Serve the requests one at a time; `places` bounds the queue (None: open).

    With `newest` the last to come is the next to be served; a request that has waited longer
    than `most` is dropped when its turn comes.
    """
    rng = random.Random(seed)
    result = Outcome()
    queue: deque[float] = deque()
    free_at, coming = 0.0, 0
    while coming < len(times) or queue:
        while coming < len(times) and (times[coming] <= free_at or not queue):
            if not queue and times[coming] > free_at:
                free_at = times[coming]
            if places is not None and len(queue) >= places:
                result.refused += 1
            else:
                queue.append(times[coming])
                result.longest = max(result.longest, len(queue))
            coming += 1
        arrived = queue.pop() if newest else queue.popleft()
        if free_at - arrived > most:
            result.expired += 1
            continue
        free_at += rng.expovariate(1 / SERVICE)
        result.waits += free_at - arrived
        if free_at - arrived <= DEADLINE:
            result.in_time += 1
        else:
            result.late += 1
    return result


def recovery(rng: random.Random, backlog: int, rate: float) -> float:
    """Return the seconds until a queue with a backlog is empty at `rate` requests a second."""
    now, next_arrival = 0.0, rng.expovariate(rate / 1_000)
    while backlog:
        now += rng.expovariate(1 / SERVICE)
        backlog -= 1
        while next_arrival <= now:
            backlog += 1
            next_arrival += rng.expovariate(rate / 1_000)
    return now / 1_000


def pipeline(rng: random.Random, places: int, items: int) -> float:
    """Return items a second for two stages, 10 ms each on average, with a buffer between them."""
    put = taken = busy = 0.0
    starts: deque[float] = deque([0.0] * places, places)
    for _ in range(items):
        put = max(put + rng.expovariate(1 / SERVICE), starts[0])
        taken = max(put, busy)
        starts.append(taken)
        busy = taken + rng.expovariate(1 / SERVICE)
    return items / busy * 1_000


def main() -> None:
    """Print one figure a line."""
    print(f"seed: {SEED}")
    print(f"service time: {SERVICE:.0f} ms")
    jobs = 1_000_000
    print(f"jobs: {jobs:,}")
    generator = np.random.default_rng(SEED)
    for load in (0.5, 0.8, 0.9, 0.95):
        present, mean, worst = steady(generator, load, jobs)
        print(f"load {100 * load:.0f} %, rate: {1_000 * load / SERVICE:.0f} a second")
        print(f"load {100 * load:.0f} %, mean present: {present:.1f} jobs")
        print(f"load {100 * load:.0f} %, mean time: {mean:.1f} ms")
        print(f"load {100 * load:.0f} %, 99th percentile: {worst:,.0f} ms")
        print(f"load {100 * load:.0f} %, rate times time: {load / SERVICE * mean:.1f} jobs")

    rng = random.Random(SEED)
    minutes = 10
    times = arrivals(rng, 120, minutes)
    print("overload: 120 requests a second")
    print("capacity: 100 requests a second")
    print(f"length of the overload: {minutes} minutes")
    print(f"deadline: {DEADLINE:.0f} ms")
    print(f"requests of the overload: {len(times):,}")
    never = math.inf
    kinds = {
        "unbounded": (None, False, never),
        "bound of 1,000": (1_000, False, never),
        "bound of 50": (50, False, never),
        "bound of 20": (20, False, never),
        "bound of 5": (5, False, never),
        "newest first": (None, True, never),
        "expired dropped": (None, False, DEADLINE),
        "dropped after 400 ms": (None, False, 400.0),
    }
    for name, (places, newest, most) in kinds.items():
        got = overload(SEED, times, places, newest, most)
        served = got.in_time + got.late
        print(f"{name}, in time: {100 * got.in_time / len(times):.1f} %")
        print(f"{name}, too late: {100 * got.late / len(times):.1f} %")
        print(f"{name}, refused: {100 * got.refused / len(times):.1f} %")
        print(f"{name}, dropped: {100 * got.expired / len(times):.1f} %")
        print(f"{name}, mean time: {got.waits / served:,.0f} ms")
        print(f"{name}, longest queue: {got.longest:,}")
    backlog = 12_000
    print(f"backlog: {backlog:,}")
    print("rate after the overload: 80 requests a second")
    mean = sum(recovery(rng, backlog, 80) for _ in range(2)) / 2
    print(f"time to empty it: {mean:.0f} s")
    for places in (1, 5, 20, 100):
        rate = pipeline(rng, places, 50_000)
        print(f"pipeline, places: {places}, items a second: {rate:.0f}")


if __name__ == "__main__":
    main()
