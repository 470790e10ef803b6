"""Simulate drifting clocks, NTP exchanges, leases, lost writes and four ways to stamp events."""

import heapq
import random
import struct

import numpy as np

SEED = 20250115
PPM = 50
NODES = 5
ERROR_US = 20_000


def drift(rng: np.random.Generator) -> None:
    """Print how far free-running clocks move apart in a day."""
    rates = rng.uniform(-PPM, PPM, 20) * 1e-6
    print("clocks: 20")
    print(f"rate error: up to {PPM} ppm")
    for name, seconds in (("hour", 3_600), ("day", 86_400)):
        spread = (rates.max() - rates.min()) * seconds
        print(f"widest gap after one {name}: {1_000 * spread:,.0f} ms, {spread:.1f} s")


def offset_errors(rng: np.random.Generator, extra: float) -> tuple[float, float]:
    """Return mean errors (ms) of one exchange and of the fastest of eight."""
    out = 2 + extra + rng.exponential(3, (20_000, 8))
    back = 2 + rng.exponential(3, (20_000, 8))
    errors = np.abs(out - back) / 2
    fastest = np.argmin(out + back, axis=1)
    return float(errors[:, 0].mean()), float(errors[np.arange(len(errors)), fastest].mean())


def lost(rng: np.random.Generator, error: float, gap: float) -> float:
    """Return the share of writes that lose against the value their author had just read."""
    pairs = 400_000
    first = rng.uniform(-error, error, pairs)
    second = rng.exponential(gap, pairs) + rng.uniform(-error, error, pairs)
    return float((second <= first).mean())


def leases(rng: np.random.Generator) -> None:
    """Print how often a holder still believes in its lease when the server has ended it."""
    count, length, margin = 100_000, 60_000.0, 6.0
    error = rng.uniform(-100, 100, count)
    rate = 1 + rng.uniform(-2 * PPM, 2 * PPM, count) * 1e-6
    there, back = rng.uniform(1, 20, (2, count))
    server_end = there + length
    ends = {
        "expiry as wall time": server_end - error,
        "length, from the answer": there + back + length / rate,
        "length, from the request": length / rate,
        "length less margin, from the request": (length - margin) / rate,
    }
    print(f"lease: {length / 1_000:.0f} s")
    print("error of the holder's wall clock: up to 100 ms")
    print("delays of a lease: 1 to 20 ms")
    print(f"margin: {margin:.0f} ms")
    for name, end in ends.items():
        late = np.maximum(end - server_end, 0)
        print(f"lease, {name}, two holders: {100 * (late > 0).mean():.1f} %")
        print(f"lease, {name}, longest overlap: {late.max():.0f} ms")


class Node:
    """A node that stamps every event with a wall, Lamport, vector and hybrid clock."""

    def __init__(self, number: int, error: int) -> None:
        self.number, self.error = number, error
        self.lamport, self.vector = 0, [0] * NODES
        self.hybrid = (0, 0)

    def event(self, now: int, message: "Stamp | None") -> "Stamp":
        """Stamp an event; `message` is the stamp that came with a received message."""
        wall = now + self.error
        self.lamport += 1
        self.vector[self.number] += 1
        known = [self.hybrid]
        if message:
            self.lamport = max(self.lamport, message[1] + 1)
            self.vector = [max(a, b) for a, b in zip(self.vector, message[2], strict=True)]
            known.append(message[3])
        time, count = max(known)
        self.hybrid = (wall, 0) if wall > time else (time, count + 1)
        return wall, self.lamport, tuple(self.vector), self.hybrid, self.number


Stamp = tuple[int, int, tuple[int, ...], tuple[int, int], int]


def run_nodes(rng: random.Random, events: int) -> list[Stamp]:
    """Let nodes write at random and tell one other node of each write; return the stamps."""
    nodes = [Node(n, rng.randint(-ERROR_US, ERROR_US)) for n in range(NODES)]
    nodes[0].error, nodes[1].error = ERROR_US, -ERROR_US
    queue: list[tuple[int, int, int, Stamp | None]] = [
        (rng.randrange(100_000), n, n, None) for n in range(NODES)
    ]
    heapq.heapify(queue)
    stamps: list[Stamp] = []
    serial = NODES
    received = backwards = 0
    while len(stamps) < events:
        now, _, number, message = heapq.heappop(queue)
        stamp = nodes[number].event(now, message)
        stamps.append(stamp)
        received += message is not None
        backwards += message is not None and stamp[0] <= message[0]
        serial += 2
        if message is None:
            other = (number + rng.randint(1, NODES - 1)) % NODES
            heapq.heappush(queue, (now + rng.randint(1_000, 10_000), serial, other, stamp))
            heapq.heappush(queue, (now + rng.randint(1, 200_000), serial + 1, number, None))
    print(f"messages: {received:,}")
    print(f"received before sent by wall clock: {backwards:,}, {100 * backwards / received:.1f} %")
    return stamps


def compare(stamps: list[Stamp]) -> None:
    """Print how many causal pairs each clock orders wrongly, and what it says of the others."""
    wall = np.array([s[0] for s in stamps])
    lamport = np.array([s[1] for s in stamps])
    vectors = np.array([s[2] for s in stamps])
    hybrid = np.array([s[3][0] * 1_000 + s[3][1] for s in stamps])
    node = np.array([s[4] for s in stamps])
    own = vectors[np.arange(len(stamps)), node]
    causal = own[:, None] <= vectors[:, node].T  # [a, b]: a is b or happened before b
    np.fill_diagonal(causal, False)
    pairs = len(stamps) * (len(stamps) - 1) // 2
    concurrent = pairs - int(causal.sum())
    print(f"events: {len(stamps):,}")
    print(f"pairs: {pairs:,}")
    print(f"causal pairs: {int(causal.sum()):,}")
    print(f"concurrent pairs: {concurrent:,}, {100 * concurrent / pairs:.1f} %")
    for name, clock in (("wall", wall), ("lamport", lamport), ("hybrid", hybrid)):
        wrong = causal & (clock[:, None] >= clock[None, :])
        print(f"{name}, causal pairs in the wrong order: {int(wrong.sum()):,}")
        apart = ~causal & ~causal.T
        np.fill_diagonal(apart, False)
        ordered = int((apart & (clock[:, None] < clock[None, :])).sum())
        print(f"{name}, concurrent pairs put in an order: {100 * ordered / concurrent:.1f} %")
    below = np.ones_like(causal)
    for column in vectors.T:
        below &= column[:, None] <= column[None, :]
    np.fill_diagonal(below, False)
    print(f"vector, causal pairs in the wrong order: {int((causal & ~below).sum())}")
    print(f"vector, concurrent pairs put in an order: {int((below & ~causal).sum())}")
    lead = max(s[3][0] - s[0] for s in stamps)
    print(f"hybrid, furthest ahead of its own wall clock: {lead / 1_000:.1f} ms")
    print(f"hybrid, highest counter: {max(s[3][1] for s in stamps)}")


def main() -> None:
    """Print one figure a line."""
    rng = np.random.default_rng(SEED)
    print(f"seed: {SEED}")
    drift(rng)

    print("exchanges: 20,000")
    print("samples of the filter: 8")
    print("delay: 2 ms and a random part of 3 ms on average")
    for extra in (0, 10):
        single, fastest = offset_errors(rng, extra)
        print(f"detour of {extra} ms, mean error of one exchange: {single:.2f} ms")
        print(f"detour of {extra} ms, mean error of the fastest of 8: {fastest:.2f} ms")

    print("pairs of writes: 400,000")
    for error in (1, 10, 100):
        for gap in (10, 100, 1_000):
            share = lost(rng, error, gap)
            print(f"error {error} ms, mean gap {gap:,} ms, lost: {100 * share:.2f} %")

    leases(rng)

    print(f"nodes: {NODES}")
    print(f"error of the nodes: up to {ERROR_US // 1_000} ms")
    print("message delay: 1 to 10 ms")
    print("mean time between writes of a node: 100 ms")
    compare(run_nodes(random.Random(SEED), 3_000))
    sizes = {"lamport": "<Q", "hybrid": "<Q", "vector of 5": "<5Q", "vector of 1,000": "<1000Q"}
    for name, layout in sizes.items():
        print(f"{name}, size: {struct.calcsize(layout):,} bytes")


if __name__ == "__main__":
    main()
