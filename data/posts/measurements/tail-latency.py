"""Simulate response times in milliseconds: percentiles, fan-out, hedging and load generators."""

import heapq
import math
import random
from collections import Counter
from collections.abc import Sequence

SEED = 20240321
REQUESTS = 100_000
SLOW_SHARE = 0.02
GROWTH = 1.05


def percentile(values: Sequence[float], per_mille: int) -> float:
    """Return the nearest-rank percentile of `values`, given in thousandths."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * per_mille // 1_000) - 1]


def latency(rng: random.Random, slow_share: float = SLOW_SHARE) -> float:
    """Draw a response time: log-normal around 10 ms, and now and then 100 to 300 ms on top."""
    value = rng.lognormvariate(math.log(10), 0.4)
    return value + rng.uniform(100, 300) if rng.random() < slow_share else value


def draw(rng: random.Random, count: int, slow_share: float = SLOW_SHARE) -> list[float]:
    """Draw `count` response times."""
    return [latency(rng, slow_share) for _ in range(count)]


def bucket(value: float) -> int:
    """Return the number of the histogram bucket, whose bounds grow by a constant factor."""
    return math.ceil(math.log(value, GROWTH))


def bucket_percentile(counts: Counter[int], per_mille: int) -> float:
    """Return the upper bound of the bucket that holds the percentile."""
    rank = -(-counts.total() * per_mille // 1_000)
    for number in sorted(counts):
        rank -= counts[number]
        if rank <= 0:
            return GROWTH**number
    raise ValueError("no values")


def print_averages(rng: random.Random) -> None:
    """Compare averaged percentiles with the percentile of all requests."""
    servers = [draw(rng, 10_000, 0.005) for _ in range(9)] + [draw(rng, 500, 0.3)]
    tails = [percentile(server, 990) for server in servers]
    everything = [value for server in servers for value in server]
    exact = percentile(everything, 990)
    print("servers: 10")
    print("requests on a busy server: 10,000")
    print("slow requests on a busy server: 0.5 %")
    print("requests on the sick server: 500")
    print("slow requests on the sick server: 30 %")
    print(f"servers, p99 of a busy one: {tails[0]:.1f} ms")
    print(f"servers, p99 of the sick one: {tails[-1]:.1f} ms")
    print(f"servers, average of p99: {sum(tails) / len(tails):.1f} ms")
    print(f"servers, p99 of all requests: {exact:.1f} ms")

    hours = [draw(rng, 500, 0.002) for _ in range(16)] + [draw(rng, 10_000, 0.03) for _ in range(8)]
    tails = [percentile(hour, 990) for hour in hours]
    everything = [value for hour in hours for value in hour]
    print("quiet hours: 16")
    print("requests in a quiet hour: 500")
    print("slow requests in a quiet hour: 0.2 %")
    print("busy hours: 8")
    print("requests in a busy hour: 10,000")
    print("slow requests in a busy hour: 3 %")
    print(f"hours, average of p99: {sum(tails) / len(tails):.1f} ms")
    print(f"hours, p99 of all requests: {percentile(everything, 990):.1f} ms")

    merged: Counter[int] = Counter()
    for server in servers:
        merged.update(Counter(bucket(value) for value in server))
    estimate = bucket_percentile(merged, 990)
    print("histogram, width of a bucket: 5 %")
    print(f"histogram, buckets in use: {len(merged)}")
    print(f"histogram, merged p99: {estimate:.1f} ms")
    print(f"histogram, error of the merged p99: {100 * (estimate / exact - 1):.1f} %")


def print_samples(rng: random.Random, pool: Sequence[float]) -> None:
    """Show how far the p99 of a small sample can be off."""
    print("repeats per sample size: 200")
    for size in (100, 1_000, 10_000):
        tails = [percentile(rng.choices(pool, k=size), 990) for _ in range(200)]
        low, high = percentile(tails, 50), percentile(tails, 950)
        print(f"p99 of {size:,} requests, 90 % of the estimates: {low:.0f} to {high:.0f} ms")


def print_fan_out(rng: random.Random, pool: Sequence[float]) -> None:
    """Measure requests that wait for the slowest of several calls."""
    limit = percentile(pool, 990)
    print("fan-out requests: 5,000")
    for calls in (5, 20, 100):
        slowest = [max(rng.choices(pool, k=calls)) for _ in range(5_000)]
        share = sum(value > limit for value in slowest) / len(slowest)
        print(f"fan-out {calls}, median: {percentile(slowest, 500):.1f} ms")
        print(f"fan-out {calls}, p99: {percentile(slowest, 990):.1f} ms")
        print(f"fan-out {calls}, beyond the p99 of one call: {100 * share:.1f} %")


def print_hedging(rng: random.Random, pool: Sequence[float]) -> None:
    """Send a second request after a delay and take the first answer; queues are ignored."""
    pairs = list(zip(rng.choices(pool, k=REQUESTS), rng.choices(pool, k=REQUESTS), strict=True))
    for name, per_mille in (("p50", 500), ("p95", 950), ("p99", 990)):
        delay = percentile(pool, per_mille)
        times = [min(first, delay + second) for first, second in pairs]
        extra = sum(first > delay for first, _ in pairs) / len(pairs)
        print(f"hedge after {name}, delay: {delay:.1f} ms")
        print(f"hedge after {name}, extra requests: {100 * extra:.1f} %")
        print(f"hedge after {name}, p99: {percentile(times, 990):.1f} ms")
        print(f"hedge after {name}, p99.9: {percentile(times, 999):.1f} ms")
    delay = percentile(pool, 950)
    times = []
    for first, _ in pairs:
        second = latency(rng, 0.0 if first < 100 else 1.0)
        times.append(min(first, delay + second))
    print(f"slow keys, hedge after p95, p99: {percentile(times, 990):.1f} ms")


def queues(rng: random.Random, load: float, delay: float, cap: float) -> tuple[float, float, float]:
    """Simulate 10 servers with queues; return p50, p99 and the share of hedged requests.

    A hedge goes to a second server `delay` ms after the first attempt unless that is done;
    nothing is cancelled, and at most the share `cap` of all requests is hedged.
    """
    servers, count = 10, 20_000
    mean = 10 * math.exp(0.4**2 / 2) + SLOW_SHARE * 200
    free_at = [0.0] * servers
    done = [0.0] * count
    start = [0.0] * count
    first = [0] * count
    events: list[tuple[float, int, int]] = []
    now, hedges, arrived = 0.0, 0, 0
    for number in range(count):
        now += rng.expovariate(servers * load / mean)
        start[number] = now
        events.append((now, 0, number))
    heapq.heapify(events)
    while events:
        now, is_hedge, number = heapq.heappop(events)
        if is_hedge:
            if hedges >= cap * arrived:
                continue
            hedges += 1
            server = (first[number] + rng.randrange(1, servers)) % servers
        else:
            arrived += 1
            server = first[number] = rng.randrange(servers)
        free_at[server] = max(now, free_at[server]) + latency(rng)
        done[number] = min(done[number] or math.inf, free_at[server])
        if not is_hedge and done[number] > now + delay:
            heapq.heappush(events, (now + delay, 1, number))
    times = [end - begin for begin, end in zip(start, done, strict=True)]
    return percentile(times, 500), percentile(times, 990), hedges / count


def print_queues(rng: random.Random) -> None:
    """Measure hedging where it adds load to queues."""
    print("queues, servers: 10")
    print("queues, requests: 20,000")
    print("queues, runs per case (medians are shown): 3")
    print("queues, hedge delay: 50 ms")
    print("queues, cap: 5 %")
    seeds = [rng.randrange(1_000_000) for _ in range(3)]
    for load in (0.3, 0.6):
        cases = (("no hedging", math.inf, 0.0), ("hedging", 50.0, 1.0), ("capped", 50.0, 0.05))
        for name, delay, cap in cases:
            runs = [queues(random.Random(seed), load, delay, cap) for seed in seeds]
            median, tail, hedged = (sorted(column)[1] for column in zip(*runs, strict=True))
            label = f"load {100 * load:.0f} %, {name}"
            print(f"{label}, p50: {median:,.0f} ms")
            print(f"{label}, p99: {tail:,.0f} ms")
            tails = sorted(run[1] for run in runs)
            print(f"{label}, p99 of the runs: {tails[0]:,.0f} to {tails[-1]:,.0f} ms")
            print(f"{label}, hedged: {100 * hedged:.1f} %")


def load_test(wait_for_answer: bool) -> list[int]:
    """Send a request every 10 ms for 60 s to a server that takes 2 ms and stalls once for 3 s."""
    free_at, times, now = 0, [], 0
    while now < 60_000:
        start = max(now, free_at)
        if 20_000 <= start < 23_000:
            start = 23_000
        free_at = start + 2
        times.append(free_at - now)
        now += 10
        if wait_for_answer and free_at > now:
            now = free_at
    return times


def print_load_test() -> None:
    """Compare a load generator that waits for answers with one that keeps its schedule."""
    print("load test: 60 s")
    print("load test, one request every: 10 ms")
    print("load test, normal response: 2 ms")
    print("load test, stall: 3,000 ms")
    for name, waits in (("waiting", True), ("on schedule", False)):
        times = load_test(waits)
        print(f"load test {name}, requests: {len(times):,}")
        print(f"load test {name}, mean: {sum(times) / len(times):.1f} ms")
        for label, per_mille in (("p95", 950), ("p99", 990), ("p99.9", 999), ("longest", 1_000)):
            print(f"load test {name}, {label}: {percentile(times, per_mille):,} ms")


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    print(f"requests: {REQUESTS:,}")
    print("typical response: 10 ms")
    print(f"slow requests: {100 * SLOW_SHARE:.0f} %")
    print("added to a slow request: 100 to 300 ms")
    pool = draw(rng, REQUESTS)
    mean = sum(pool) / len(pool)
    print(f"mean: {mean:.1f} ms")
    print(f"above the mean: {100 * sum(value > mean for value in pool) / len(pool):.1f} %")
    for name, per_mille in (("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p99.9", 999)):
        print(f"{name}: {percentile(pool, per_mille):.1f} ms")
    print(f"longest: {max(pool):.1f} ms")
    print_averages(rng)
    print_samples(rng, pool)
    print_fan_out(rng, pool)
    print_hedging(rng, pool)
    print_queues(rng)
    print_load_test()


if __name__ == "__main__":
    main()
