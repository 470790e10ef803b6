"""Simulate connection pools in front of a database with shared cores, in simulated time."""

import heapq
import itertools
import math
import random
from collections import deque

SEED = 20260428
CORES = 4
CPU, APP, STATEMENTS = 2.0, 2.0, 2


def percentile(values: list[float], share: float) -> float:
    """Return the value below which a share of all values lies."""
    return sorted(values)[int(share * (len(values) - 1))]


class Result:
    """Waits for a connection, times of statements and whole times, in ms."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.statements: list[float] = []
        self.totals: list[float] = []
        self.done_at = 0.0


class Work:
    """One transaction: its phases are application and CPU time in turn."""

    def __init__(self, rng: random.Random, arrival: float, pools: int) -> None:
        self.arrival, self.pool, self.sent = arrival, rng.randrange(pools), 0.0
        means = [APP, CPU] * STATEMENTS
        self.phases = deque(rng.expovariate(1 / length) for length in means)


def database(rate: float, pools: int, size: int, requests: int) -> Result:
    """Run transactions on a database whose running statements share the cores evenly."""
    rng = random.Random(SEED)
    result = Result()
    arrival, arrivals = 0.0, deque()
    for _ in range(requests):
        arrival += rng.expovariate(rate / 1_000)
        arrivals.append(Work(rng, arrival, pools))
    free, queues = [size] * pools, [deque() for _ in range(pools)]
    running: list[tuple[float, int, Work]] = []  # by the virtual time of their end
    timers: list[tuple[float, int, Work]] = []  # application phases by their end
    now = virtual = 0.0
    serial = itertools.count()

    def think(work: Work) -> None:
        heapq.heappush(timers, (now + work.phases.popleft(), next(serial), work))

    def begin(work: Work) -> None:
        result.waits.append(now - work.arrival)
        think(work)

    while arrivals or timers or running:
        speed = min(1.0, CORES / len(running)) if running else 1.0
        ends = now + (running[0][0] - virtual) / speed if running else math.inf
        timer = timers[0][0] if timers else math.inf
        arrives = arrivals[0].arrival if arrivals else math.inf
        then = min(ends, timer, arrives)
        virtual += (then - now) * speed
        now = then
        if then == arrives:
            work = arrivals.popleft()
            if free[work.pool]:
                free[work.pool] -= 1
                begin(work)
            else:
                queues[work.pool].append(work)
        elif then == timer:
            work = heapq.heappop(timers)[2]
            work.sent = now
            heapq.heappush(running, (virtual + work.phases.popleft(), next(serial), work))
        else:
            work = heapq.heappop(running)[2]
            result.statements.append(now - work.sent)
            if work.phases:
                think(work)
                continue
            result.totals.append(now - work.arrival)
            result.done_at = now
            if queues[work.pool]:
                begin(queues[work.pool].popleft())
            else:
                free[work.pool] += 1
    return result


def leak(rng: random.Random, size: int, one_in: int) -> int:
    """Count the requests until every connection of a pool is lost."""
    return sum(1 + int(math.log(1 - rng.random()) / math.log(1 - 1 / one_in)) for _ in range(size))


def transaction_pool(seed: int, clients: int, servers: int, rounds: int) -> list[float]:
    """Return the waits (ms) of clients that share servers for transactions of 8 ms."""
    rng = random.Random(seed)
    ready = [(rng.expovariate(1 / 1_000), n) for n in range(clients)]
    heapq.heapify(ready)
    free = [0.0] * servers
    waits = []
    for _ in range(rounds):
        now, client = heapq.heappop(ready)
        start = max(now, heapq.heappop(free))
        end = start + rng.expovariate(1 / 8)
        heapq.heappush(free, end)
        heapq.heappush(ready, (end + rng.expovariate(1 / 1_000), client))
        waits.append(start - now)
    return waits


def show(name: str, result: Result) -> None:
    """Print the figures of one run."""
    print(f"{name}, mean wait for a connection: {mean(result.waits):,.1f} ms")
    print(f"{name}, mean time of a statement: {mean(result.statements):,.1f} ms")
    print(f"{name}, mean whole time: {mean(result.totals):,.1f} ms")
    print(f"{name}, 99th percentile of the whole: {percentile(result.totals, 0.99):,.0f} ms")
    print(f"{name}, done: {1_000 * len(result.totals) / result.done_at:,.0f} a second")


def mean(values: list[float]) -> float:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def main() -> None:
    """Print one figure a line."""
    print(f"seed: {SEED}")
    print(f"cores: {CORES}")
    print(f"statements: {STATEMENTS}")
    print(f"cpu time of a statement: {CPU:.0f} ms")
    print(f"application time before a statement: {APP:.0f} ms")
    requests = 20_000
    print(f"transactions: {requests:,}")
    for rate in (800, 1_100):
        for size in (6, 8, 10, 12, 16, 32, 64):
            show(f"{rate:,} a second, pool of {size}", database(rate, 1, size, requests))
    for pools, size in ((16, 1), (16, 2), (16, 4)):
        show(f"800 a second, pools: {pools}, each of {size}", database(800, pools, size, requests))
    rng = random.Random(SEED)
    lost = sorted(float(leak(rng, 20, 1_000)) for _ in range(2_000))
    print("leak: 1 request in 1,000")
    print("pool with a leak: 20 connections")
    print(f"mean requests until it is empty: {mean(lost):,.0f}")
    print(f"requests until it is empty in the worst 5 %: {percentile(lost, 0.05):,.0f}")
    print("clients: 500")
    print("time of a transaction: 8 ms")
    print("time between transactions: 1 s")
    for servers in (4, 5, 6, 8, 10, 20):
        waits = transaction_pool(SEED, 500, servers, 50_000)
        print(f"{servers} server connections, mean wait: {mean(waits):.1f} ms")
        print(f"{servers} server connections, 99th percentile: {percentile(waits, 0.99):.1f} ms")


if __name__ == "__main__":
    main()
