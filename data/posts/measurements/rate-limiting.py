"""Simulate rate limiters in whole milliseconds: bursts, refusals, memory and shared counters."""

import random
import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

SEED = 20250807
LIMIT = 100
WINDOW = 60_000


class Limiter(Protocol):
    """Decides about one client; allow() is called with times that never fall."""

    def allow(self, now: int) -> bool:
        """Return whether a request at `now` (ms) is accepted."""


class FixedWindow:
    """A counter that starts again at every full minute."""

    def __init__(self) -> None:
        self.window, self.count = -1, 0

    def allow(self, now: int) -> bool:
        """Accept while the counter of this minute is below the limit."""
        if now // WINDOW != self.window:
            self.window, self.count = now // WINDOW, 0
        if self.count >= LIMIT:
            return False
        self.count += 1
        return True


class SlidingLog:
    """The times of all requests accepted in the last minute."""

    def __init__(self) -> None:
        self.times: deque[int] = deque()

    def allow(self, now: int) -> bool:
        """Accept while fewer than the limit were accepted in the last minute."""
        while self.times and self.times[0] <= now - WINDOW:
            self.times.popleft()
        if len(self.times) >= LIMIT:
            return False
        self.times.append(now)
        return True


class SlidingCounter:
    """The counter of this minute plus the last one's, weighted by its share in the span."""

    def __init__(self) -> None:
        self.window, self.last, self.count = -1, 0, 0

    def allow(self, now: int) -> bool:
        """Accept while the weighted estimate leaves room for one request."""
        window = now // WINDOW
        if window != self.window:
            self.last = self.count if window == self.window + 1 else 0
            self.window, self.count = window, 0
        if self.last * (WINDOW - now % WINDOW) + (self.count + 1) * WINDOW > LIMIT * WINDOW:
            return False
        self.count += 1
        return True


class TokenBucket:
    """Tokens in units of 1/WINDOW, so that all arithmetic is exact."""

    def __init__(self, capacity: int) -> None:
        self.full = self.tokens = capacity * WINDOW
        self.updated = 0

    def allow(self, now: int) -> bool:
        """Accept if a whole token is there."""
        self.tokens = min(self.full, self.tokens + (now - self.updated) * LIMIT)
        self.updated = now
        if self.tokens < WINDOW:
            return False
        self.tokens -= WINDOW
        return True

    def wait(self) -> int:
        """Return the milliseconds until the next whole token."""
        return max(0, -(-(WINDOW - self.tokens) // LIMIT))


class LeakyQueue:
    """A queue that forwards one request every WINDOW / LIMIT milliseconds."""

    def __init__(self, places: int) -> None:
        self.places, self.free_at = places, 0
        self.forwarded: list[int] = []
        self.waits: list[int] = []

    def allow(self, now: int) -> bool:
        """Queue the request unless all places are taken, and note when it is forwarded."""
        gap = WINDOW // LIMIT
        start = max(now, self.free_at)
        if -(-(start - now) // gap) > self.places:
            return False
        self.forwarded.append(start)
        self.waits.append(start - now)
        self.free_at = start + gap
        return True


LIMITERS: dict[str, Callable[[], Limiter]] = {
    "fixed window": FixedWindow,
    "sliding log": SlidingLog,
    "sliding counter": SlidingCounter,
    "token bucket of 100": lambda: TokenBucket(100),
    "token bucket of 20": lambda: TokenBucket(20),
    "leaky queue of 20": lambda: LeakyQueue(20),
}


def passed(limiter: Limiter, times: Sequence[int]) -> list[int]:
    """Return the times at which requests reach the service behind the limiter."""
    accepted = [now for now in times if limiter.allow(now)]
    return limiter.forwarded if isinstance(limiter, LeakyQueue) else accepted


def most_in_span(times: Sequence[int], span: int) -> int:
    """Count the most times in any half-open span of `span` milliseconds."""
    most = left = 0
    for right, now in enumerate(times):
        while times[left] <= now - span:
            left += 1
        most = max(most, right - left + 1)
    return most


def worst_bursts(make: Callable[[], Limiter], spans: Sequence[int]) -> list[int]:
    """Count the most that get through in each span for a greedy client that picks its start."""
    most = [0] * len(spans)
    for phase in range(WINDOW, 2 * WINDOW, 1_000):
        times = passed(make(), range(phase, phase + 2 * WINDOW, 10))
        most = [max(old, most_in_span(times, span)) for old, span in zip(most, spans, strict=True)]
    return most


def page_loads(rng: random.Random, minutes: int) -> list[int]:
    """Simulate one client: pages 5 to 25 s apart, each sending 20 requests within a second."""
    times, now = [], rng.randrange(WINDOW)
    while now < minutes * WINDOW:
        times += [now + 50 * i for i in range(20)]
        now += rng.randint(5_000, 25_000)
    return times


def obeying_client(round_up: bool) -> int:
    """Count refusals before 100 accepts for a client that obeys Retry-After (whole seconds)."""
    bucket, now, refused, accepted = TokenBucket(20), 0, 0, 0
    while accepted < 20:
        accepted += bucket.allow(now)
    accepted = 0
    while accepted < 100:
        now += 50
        if bucket.allow(now):
            accepted += 1
            continue
        refused += 1
        wait = bucket.wait()
        now += (-(-wait // 1_000) if round_up else wait // 1_000) * 1_000
    return refused


def lagging_nodes(interval: int, nodes: int = 4, gap: int = 5) -> int:
    """Count accepts in one minute when each node reports and reads the total once per interval."""
    shared, known, own = 0, [0] * nodes, [0] * nodes
    accepted = 0
    for turn, now in enumerate(range(0, WINDOW, gap)):
        due = [n for n in range(nodes) if (now - n * interval // nodes) % max(interval, 1) < gap]
        for node in due:
            shared += own[node]
            own[node] = 0
        for node in due:
            known[node] = shared
        node = turn % nodes
        if known[node] + own[node] < LIMIT:
            own[node] += 1
            accepted += 1
    return accepted


def racing_writes(rng: random.Random, gap: int = 5) -> int:
    """Count accepts in one minute when the counter is read and written back 1 to 20 ms later."""
    stored, accepted = 0, 0
    pending: list[tuple[int, int]] = []
    for now in range(0, WINDOW, gap):
        for _, value in sorted(item for item in pending if item[0] <= now):
            stored = value
        pending = [item for item in pending if item[0] > now]
        if stored < LIMIT:
            accepted += 1
            pending.append((now + rng.randint(1, 20), stored + 1))
    return accepted


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    print(f"limit: {LIMIT} requests")
    print(f"window: {WINDOW // 1_000} s")
    print("greedy client: 1 request every 10 ms")
    print("short span: 2 s")

    for name, make in LIMITERS.items():
        short, long = worst_bursts(make, (2_000, WINDOW))
        print(f"{name}, most in any 2 s: {short}")
        print(f"{name}, most in any 60 s: {long}")

    clients, minutes = 50, 60
    loads = [page_loads(rng, minutes) for _ in range(clients)]
    total = sum(len(times) for times in loads)
    print(f"page clients: {clients}")
    print(f"page minutes: {minutes}")
    print("requests per page: 20")
    print("seconds between pages: 5 to 25")
    print(f"page requests: {total:,}")
    print(f"mean rate: {total / clients / minutes:.1f} requests a minute")
    makers = dict(LIMITERS)
    for size in (10, 40, 60):
        makers[f"token bucket of {size}"] = lambda size=size: TokenBucket(size)
    for name, make in makers.items():
        refused = 0
        waits: list[int] = []
        for times in loads:
            limiter = make()
            refused += sum(not limiter.allow(now) for now in times)
            if isinstance(limiter, LeakyQueue):
                waits += limiter.waits
        print(f"{name}, refused of page requests: {100 * refused / total:.1f} %")
        if waits:
            print(f"{name}, mean wait: {sum(waits) / len(waits) / 1_000:.1f} s")
            print(f"{name}, longest wait: {max(waits) / 1_000:.1f} s")

    formats = {"fixed window": "<qI", "sliding counter": "<qII", "token bucket": "<qq"}
    formats["sliding log, full"] = f"<{LIMIT}q"
    clients = 1_000_000
    print("clients: 1,000,000")
    print("bytes of a time: 8")
    print("bytes of a count: 4")
    for name, layout in formats.items():
        size = struct.calcsize(layout)
        print(f"{name}, bytes a client: {size}")
        print(f"{name}, all clients: {size * clients // 1_000_000} MB")

    print("round trip: 50 ms")
    print("accepted requests of the obeying client: 100")
    print(f"refusals, Retry-After rounded down: {obeying_client(False):,}")
    print(f"refusals, Retry-After rounded up: {obeying_client(True):,}")

    print("nodes: 4")
    print("requests a second to the nodes: 200")
    for interval in (0, 100, 500, 1_000, 2_000):
        print(f"accepted with a report every {interval:,} ms: {lagging_nodes(interval):,}")
    print("delay of the write: 1 to 20 ms")
    print(f"accepted with read then write: {racing_writes(rng):,}")


if __name__ == "__main__":
    main()
