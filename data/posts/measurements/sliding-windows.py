"""Count the work of two-pointer and sliding-window algorithms against brute force.

Only comparisons, additions and kept entries are counted, so every machine prints the same.
"""

import random
from collections import deque
from collections.abc import Sequence

SEED = 20250611
READINGS = 10_000
WIDTHS = (10, 100, 1_000)


def closest_pair_steps(ordered: Sequence[int], target: int) -> tuple[int, int]:
    """Count steps from both ends, and give the distance of the best pair from the target."""
    left, right, steps, best = 0, len(ordered) - 1, 0, abs(ordered[0] + ordered[1] - target)
    while left < right:
        steps += 1
        total = ordered[left] + ordered[right]
        best = min(best, abs(total - target))
        if total < target:
            left += 1
        else:
            right -= 1
    return steps, best


def closest_pair_brute(ordered: Sequence[int], target: int) -> tuple[int, int]:
    """Do the same by trying every pair."""
    steps, best = 0, abs(ordered[0] + ordered[1] - target)
    for i, low in enumerate(ordered):
        for high in ordered[i + 1 :]:
            steps += 1
            best = min(best, abs(low + high - target))
    return steps, best


def shortest_window(values: Sequence[int], target: int) -> tuple[int, int]:
    """Find the shortest run with sum >= target by a sliding window, and count additions."""
    best, left, total, steps = len(values) + 1, 0, 0, 0
    for right, value in enumerate(values):
        total += value
        steps += 1
        while total >= target:
            best = min(best, right - left + 1)
            total -= values[left]
            steps += 1
            left += 1
    return (best if best <= len(values) else 0), steps


def shortest_brute(values: Sequence[int], target: int) -> tuple[int, int]:
    """Do the same from every start, stopping at the first end that reaches the target."""
    best, steps = len(values) + 1, 0
    for start in range(len(values)):
        total = 0
        for end in range(start, len(values)):
            total += values[end]
            steps += 1
            if total >= target:
                best = min(best, end - start + 1)
                break
    return (best if best <= len(values) else 0), steps


def shortest_brute_any(values: Sequence[int], target: int) -> int:
    """Find the shortest run with sum >= target by trying every start and end."""
    best = len(values) + 1
    for start in range(len(values)):
        total = 0
        for end in range(start, min(len(values), start + best - 1)):
            total += values[end]
            if total >= target:
                best = end - start + 1
                break
    return best if best <= len(values) else 0


def shortest_any_sign(values: Sequence[int], target: int) -> int:
    """Find the shortest run with sum >= target when values may be negative."""
    best, prefix = len(values) + 1, 0
    starts: deque[tuple[int, int]] = deque([(0, 0)])
    for end, value in enumerate(values, start=1):
        prefix += value
        while starts and prefix - starts[0][1] >= target:
            best = min(best, end - starts.popleft()[0])
        while starts and starts[-1][1] >= prefix:
            starts.pop()
        starts.append((end, prefix))
    return best if best <= len(values) else 0


def maxima_brute(values: Sequence[int], width: int) -> tuple[list[int], int]:
    """Find the maximum of every window by looking at all of it, and count comparisons."""
    out, count = [], 0
    for start in range(len(values) - width + 1):
        # max() compares each reading but the first once.
        count += width - 1
        out.append(max(values[start : start + width]))
    return out, count


def maxima_rescan(values: Sequence[int], width: int) -> tuple[list[int], int]:
    """Keep the maximum and look at the whole window only when it leaves."""
    out, count, top = [], 0, 0
    for right in range(len(values)):
        left = right - width + 1
        if top < left:
            top = left
            for i in range(left + 1, right + 1):
                count += 1
                if values[i] >= values[top]:
                    top = i
        elif right:
            count += 1
            if values[right] >= values[top]:
                top = right
        if left >= 0:
            out.append(values[top])
    return out, count


def maxima_deque(values: Sequence[int], width: int) -> tuple[list[int], int, int, float]:
    """Use a monotonic deque; return maxima, comparisons, most and mean entries kept."""
    out, count, most, held, kept = [], 0, 0, 0, deque[int]()
    for right, value in enumerate(values):
        if kept and kept[0] <= right - width:
            kept.popleft()
        while kept:
            count += 1
            if values[kept[-1]] > value:
                break
            kept.pop()
        kept.append(right)
        most = max(most, len(kept))
        held += len(kept)
        if right >= width - 1:
            out.append(values[kept[0]])
    return out, count, most, held / len(values)


def running_sum_after_spike(width: int) -> tuple[float, float]:
    """Return a running and a fresh sum after one huge reading has left."""
    values = [0.1] * width + [1e16] + [0.3] * (2 * width)
    total = 0.0
    for right, value in enumerate(values):
        total += value
        if right >= width:
            total -= values[right - width]
    fresh = 0.0
    for value in values[-width:]:
        fresh += value
    return total, fresh


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")

    ordered = sorted(rng.randrange(1_000_000) for _ in range(2_000))
    steps, best = closest_pair_steps(ordered, 1_000_000)
    brute_steps, brute_best = closest_pair_brute(ordered, 1_000_000)
    assert best == brute_best
    print(f"pair values: {len(ordered):,}")
    print(f"pair brute force: {brute_steps:,} pairs")
    print(f"pair two pointers: {steps:,} steps")
    print(f"pair ratio: {brute_steps / steps:,.0f} times")

    values = [rng.randint(1, 100) for _ in range(READINGS)]
    print(f"readings: {READINGS:,}")
    print("reading values: 1 to 100")
    for target in (500, 5_000, 50_000):
        short, steps = shortest_window(values, target)
        brute_short, brute_steps = shortest_brute(values, target)
        assert short == brute_short
        print(f"target: {target:,}")
        print(f"shortest run at {target:,}: {short:,} readings")
        print(f"additions at {target:,}, brute force: {brute_steps:,}")
        print(f"additions at {target:,}, window: {steps:,}")
        print(f"additions at {target:,}, ratio: {brute_steps / steps:,.1f} times")

    inputs = {
        "random": rng.sample(range(1_000_000), READINGS),
        "rising": list(range(READINGS)),
        "falling": list(range(READINGS, 0, -1)),
    }
    for width in WIDTHS:
        print(f"window width: {width:,}")
        for name, series in inputs.items():
            brute, brute_count = maxima_brute(series, width)
            rescan, rescan_count = maxima_rescan(series, width)
            mono, count, most, mean = maxima_deque(series, width)
            assert brute == rescan == mono
            print(f"comparisons {name} {width:,}, brute force: {brute_count:,}")
            print(f"comparisons {name} {width:,}, rescan: {rescan_count:,}")
            print(f"comparisons {name} {width:,}, deque: {count:,}")
            print(f"entries {name} {width:,}, most: {most:,}")
            print(f"entries {name} {width:,}, mean: {mean:.1f}")

    arrays, length, target = 4_000, 40, 200
    print(f"arrays: {arrays:,}")
    print(f"array length: {length}")
    print(f"array target: {target}")
    for lowest in (1, -5, -20, -50):
        wrong = 0
        for _ in range(arrays):
            array = [rng.randint(lowest, 50) for _ in range(length)]
            truth = shortest_brute_any(array, target)
            assert shortest_any_sign(array, target) == truth
            wrong += shortest_window(array, target)[0] != truth
        print(f"wrong with values {lowest} to 50: {100 * wrong / arrays:.1f} %")

    total, fresh = running_sum_after_spike(100)
    print("spike: 1e16")
    print("readings before the spike: 0.1")
    print("readings after the spike: 0.3")
    print("running sum width: 100")
    print(f"running sum after the spike: {total:.1f}")
    print(f"fresh sum after the spike: {fresh:.1f}")


if __name__ == "__main__":
    main()
