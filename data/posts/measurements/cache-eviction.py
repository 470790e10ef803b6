"""Replays seeded Zipf, scan, loop and shift traces against cache policies and counts
hits, then simulates expiry and stampedes in simulated seconds.
"""

import heapq
import itertools
import math
import random
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable

OBJECTS = 10_000
REQUESTS = 100_000
WARM_UP = 20_000
SIZE = 500
SEED = 7

Policy = Callable[[list[int], int], list[bool]]


def zipf(count: int, exponent: float, seed: int) -> list[int]:
    """Draw object numbers independently; the chance falls with the rank."""
    generator = random.Random(seed)
    weights = list(
        itertools.accumulate(rank**-exponent for rank in range(1, OBJECTS + 1))
    )
    return generator.choices(range(OBJECTS), cum_weights=weights, k=count)


def fifo(trace: list[int], size: int) -> list[bool]:
    cache: OrderedDict[int, None] = OrderedDict()
    hits = []
    for key in trace:
        hits.append(key in cache)
        if not hits[-1]:
            if len(cache) == size:
                cache.popitem(last=False)
            cache[key] = None
    return hits


def lru(trace: list[int], size: int) -> list[bool]:
    cache: OrderedDict[int, None] = OrderedDict()
    hits = []
    for key in trace:
        hits.append(key in cache)
        if hits[-1]:
            cache.move_to_end(key)
        else:
            if len(cache) == size:
                cache.popitem(last=False)
            cache[key] = None
    return hits


def clock_steps(trace: list[int], size: int) -> tuple[list[bool], int, int]:
    """Return the hits, the steps of the hand and the evictions of one-bit CLOCK."""
    keys: list[int] = []
    used: list[bool] = []
    slot: dict[int, int] = {}
    hand = steps = evictions = 0
    hits = []
    for key in trace:
        hits.append(key in slot)
        if hits[-1]:
            used[slot[key]] = True
        elif len(keys) < size:
            slot[key] = len(keys)
            keys.append(key)
            used.append(False)
        else:
            steps += 1
            while used[hand]:
                used[hand] = False
                hand = (hand + 1) % size
                steps += 1
            evictions += 1
            del slot[keys[hand]]
            keys[hand], slot[key] = key, hand
            hand = (hand + 1) % size
    return hits, steps, evictions


def clock(trace: list[int], size: int) -> list[bool]:
    return clock_steps(trace, size)[0]


def lfu(trace: list[int], size: int) -> list[bool]:
    """Evict the least used key, of equals the least recently used; counts never age."""
    count: dict[int, int] = {}
    groups: dict[int, OrderedDict[int, None]] = {}
    least = 1
    hits = []
    for key in trace:
        hits.append(key in count)
        if hits[-1]:
            uses = count[key]
            del groups[uses][key]
            if not groups[uses] and uses == least:
                least += 1
        else:
            if len(count) == size:
                victim, _ = groups[least].popitem(last=False)
                del count[victim]
            uses, least = 0, 1
        count[key] = uses + 1
        groups.setdefault(uses + 1, OrderedDict())[key] = None
    return hits


def tiny_lfu(trace: list[int], size: int) -> list[bool]:
    """LRU that admits a key only if it was asked for more often than the victim.

    Counts are exact, stop at 15 and are halved every ten cache sizes of requests."""
    cache: OrderedDict[int, None] = OrderedDict()
    counts: dict[int, int] = {}
    hits = []
    for number, key in enumerate(trace, start=1):
        counts[key] = min(15, counts.get(key, 0) + 1)
        if number % (10 * size) == 0:
            counts = {other: count // 2 for other, count in counts.items() if count > 1}
        hits.append(key in cache)
        if hits[-1]:
            cache.move_to_end(key)
        elif len(cache) < size:
            cache[key] = None
        else:
            victim = next(iter(cache))
            if counts.get(key, 0) > counts.get(victim, 0):
                del cache[victim]
                cache[key] = None
    return hits


def optimum(trace: list[int], size: int) -> list[bool]:
    """Evict the key that is needed furthest in the future (Belady, 1966)."""
    never = len(trace)
    following = [never] * len(trace)
    last: dict[int, int] = {}
    for index in range(len(trace) - 1, -1, -1):
        following[index] = last.get(trace[index], never)
        last[trace[index]] = index
    cache: dict[int, int] = {}
    heap: list[tuple[int, int]] = []
    hits = []
    for index, key in enumerate(trace):
        hits.append(key in cache)
        cache[key] = following[index]
        heapq.heappush(heap, (-following[index], key))
        while len(cache) > size:
            use, victim = heapq.heappop(heap)
            if cache.get(victim) == -use:
                del cache[victim]
    return hits


POLICIES: dict[str, Policy] = {
    "FIFO": fifo,
    "LRU": lru,
    "CLOCK": clock,
    "LFU": lfu,
    "TinyLFU": tiny_lfu,
    "optimum": optimum,
}


def rate(hits: Iterable[bool]) -> str:
    values = list(hits)
    return f"{100 * sum(values) / len(values):.1f} %"


def report_zipf() -> None:
    for exponent, sizes in ((1.0, (100, SIZE, 2_000)), (0.8, (SIZE,))):
        trace = zipf(REQUESTS, exponent, SEED)
        for name, policy in POLICIES.items():
            for size in sizes:
                share = rate(policy(trace, size)[WARM_UP:])
                print(f"Zipf {exponent}, size {size:,}, {name}: {share}")
    trace = zipf(REQUESTS, 1.0, SEED)
    _, steps, evictions = clock_steps(trace, SIZE)
    print(f"LRU, size {SIZE}, list moves for hits: {sum(lru(trace, SIZE)):,}")
    print(f"CLOCK, size {SIZE}, list moves for hits: 0")
    each = steps / evictions
    print(f"CLOCK, size {SIZE}, steps of the hand for each eviction: {each:.2f}")


def report_sizes() -> None:
    trace = zipf(REQUESTS, 1.0, SEED)
    gains = []
    smaller = 0.0
    for size in (125, 250, 500, 1_000, 2_000, 4_000):
        hits = lru(trace, size)[WARM_UP:]
        misses = len(hits) - sum(hits)
        print(f"LRU, size {size:,}: {rate(hits)}")
        print(f"LRU, size {size:,}, misses of {len(hits):,} requests: {misses:,}")
        gains.append(100 * sum(hits) / len(hits) - smaller)
        smaller += gains[-1]
    print(f"LRU, least gain by a doubling: {min(gains[1:]):.1f} points")
    print(f"LRU, greatest gain by a doubling: {max(gains[1:]):.1f} points")


def report_scan() -> None:
    users = zipf(REQUESTS, 1.0, SEED)
    period, length = 5_000, 1_000
    print(f"scan, length: {length:,} new objects")
    print(f"scan, requests between two scans: {period:,}")
    trace: list[int] = []
    user: list[int] = []
    fresh = itertools.count(OBJECTS)
    for start in range(0, REQUESTS, period):
        user.extend(range(len(trace), len(trace) + period))
        trace.extend(users[start : start + period])
        trace.extend(itertools.islice(fresh, length))
    for name, policy in POLICIES.items():
        hits = policy(trace, SIZE)
        with_scan = [hits[index] for index in user][WARM_UP:]
        print(
            f"scan, {name}, trace without scans: {rate(policy(users, SIZE)[WARM_UP:])}"
        )
        print(f"scan, {name}, trace with scans: {rate(with_scan)}")
        if name in ("LRU", "TinyLFU"):
            after = [hit for i, hit in enumerate(with_scan) if i % period < SIZE]
            print(f"scan, {name}, first {SIZE} requests after a scan: {rate(after)}")


def report_loop() -> None:
    print("loop, length: 550 objects")
    trace = [number % 550 for number in range(REQUESTS)]
    for name, policy in POLICIES.items():
        print(f"loop, {name}: {rate(policy(trace, SIZE)[WARM_UP:])}")


def report_shift() -> None:
    trace = zipf(REQUESTS, 1.0, SEED)
    names = list(range(OBJECTS))
    random.Random(SEED + 1).shuffle(names)
    half = REQUESTS // 2
    trace[half:] = [names[key] for key in trace[half:]]
    print(f"shift, requests before the shift: {half:,}")
    for name, policy in POLICIES.items():
        hits = policy(trace, SIZE)
        print(f"shift, {name}, before: {rate(hits[WARM_UP:half])}")
        print(f"shift, {name}, after: {rate(hits[half:])}")


def report_expiry() -> None:
    trace = zipf(REQUESTS, 1.0, SEED)
    for size, life in itertools.product((SIZE, 2_000), (1_000, 10_000, REQUESTS)):
        cache: OrderedDict[int, int] = OrderedDict()
        hits = []
        for now, key in enumerate(trace):
            hits.append(key in cache and now - cache[key] < life)
            if hits[-1]:
                cache.move_to_end(key)
                continue
            cache.pop(key, None)
            if len(cache) == size:
                cache.popitem(last=False)
            cache[key] = now
        print(f"LRU, size {size:,}, TTL {life:,} requests: {rate(hits[WARM_UP:])}")


def stampede(strategy: str) -> tuple[float, int, float]:
    """Return the recomputations for each expiry, the most that ran at once and
    the share of requests that met an expired value."""
    requests_a_second, life, cost, end = 200, 10.0, 0.5, 2_000.0
    generator = random.Random(SEED)
    now, expiry = 0.0, life
    running: list[float] = []
    started = waves = peak = requests = late = 0
    while now < end:
        now += generator.expovariate(requests_a_second)
        while running and running[0] <= now:
            expiry = running.pop(0) + life
        stale = now >= expiry
        requests += 1
        late += stale
        if strategy == "early":
            stale = now - cost * math.log(1 - generator.random()) >= expiry
        if stale and not (strategy == "one flight" and running):
            waves += not running
            running.append(now + cost)
            started += 1
            peak = max(peak, len(running))
    return started / waves, peak, late / requests


def report_stampede() -> None:
    print("stampede, request rate: 200 requests a second")
    print("stampede, TTL: 10 s")
    print("stampede, recomputation: 500 ms")
    print("stampede, simulated time: 2,000 s")
    for strategy in ("unprotected", "one flight", "early"):
        each, peak, late = stampede(strategy)
        name = f"stampede, {strategy}"
        print(f"{name}, recomputations for each expiry: {each:.1f}")
        print(f"{name}, most at once: {peak}")
        print(f"{name}, requests that met an expired value: {100 * late:.2f} %")
    generator = random.Random(SEED)
    print("keys filled at once: 1,000")
    print("keys filled at once, TTL: 600 s")
    for spread in (0.0, 0.1):
        expiries = Counter(
            int(600 * generator.uniform(1 - spread, 1 + spread)) for _ in range(1000)
        )
        worst = max(expiries.values())
        print(
            f"jitter {100 * spread:.0f} %, most expiries in one second: {worst:,} keys"
        )


def main() -> None:
    print(f"objects: {OBJECTS:,}")
    print(f"requests: {REQUESTS:,}")
    print(f"warm-up, not counted: {WARM_UP:,}")
    print(f"cache size unless given: {SIZE}")
    report_zipf()
    report_sizes()
    report_scan()
    report_loop()
    report_shift()
    report_expiry()
    report_stampede()


if __name__ == "__main__":
    main()
