"""Count who gets flags that are rolled out by hashing, and which flag settings meet."""

import hashlib
import math
import random
from collections import Counter
from itertools import combinations, islice

SEED = 20260422
USERS = 100_000
BUCKETS = 10_000


def bucket(flag: str, unit: str) -> int:
    """Return the bucket of a unit for a flag, from 0 to 9,999."""
    digest = hashlib.sha256(f"{flag}:{unit}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % BUCKETS


def percent(share: float, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.{digits}f} %"


def covering_tests(flags: int) -> int:
    """Cover all settings of all pairs of flags (Kleitman and Spencer); count the tests.

    Flag i is on in the tests that its row names; half of the tests, never the first.
    """
    tests = 4
    while math.comb(tests - 1, (tests + 1) // 2) < flags:
        tests += 1
    sets = list(islice(combinations(range(1, tests), (tests + 1) // 2), flags))
    for first, second in combinations(sets, 2):
        seen = {(test in first, test in second) for test in range(tests)}
        assert len(seen) == 4
    return tests


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    users = [f"user-{number}" for number in range(USERS)]
    print(f"seed: {SEED}")
    print(f"users: {USERS:,}")
    print(f"buckets: {BUCKETS:,}")

    flags = [f"flag-{number}" for number in range(10)]
    places = {flag: [bucket(flag, user) for user in users] for flag in flags}
    common = [bucket("", user) for user in users]
    at_ten = BUCKETS // 10
    in_five = sum(all(places[f][u] < at_ten for f in flags[:5]) for u in range(USERS))
    print("flags at 10 %: 5")
    print(f"by user alone, users with all five: {sum(p < at_ten for p in common):,}")
    print(f"by flag and user, users with all five: {in_five}")
    two = [u for u in range(USERS) if places[flags[0]][u] < at_ten]
    both = sum(places[flags[1]][u] < at_ten for u in two) / len(two)
    print(f"by flag and user, users of the first that have the second: {percent(both)}")
    print(f"share with the first flag: {percent(len(two) / USERS)}")

    first = places[flags[0]]
    before = [u for u in range(USERS) if first[u] < at_ten]
    wider = sum(first[u] < 2 * at_ten for u in before) / len(before)
    print(f"threshold from 10 % to 20 %, still in: {percent(wider, 0)}")
    renamed = [bucket("flag-0-v2", users[u]) < 2 * at_ten for u in before]
    print(f"renamed flag at 20 %, still in: {percent(sum(renamed) / len(renamed))}")
    tens = [u for u in range(USERS) if first[u] % 10 == 0]
    quarter = sum(first[u] % 4 == 0 for u in tens) / len(tens)
    print(f"remainder by 10, then by 4, still in: {percent(quarter)}")
    visits = 20
    mixed = 0
    for _ in range(USERS):
        seen = sum(rng.random() < 0.1 for _ in range(visits))
        mixed += 0 < seen < visits
    print(f"visits: {visits}")
    print(f"random draw a visit, users who see both: {percent(mixed / USERS)}")

    tenants, names = 200, 1_000
    sizes = [1.0 / rank for rank in range(1, tenants + 1)]
    empty, traffic = 0, []
    for number in range(names):
        inside = [bucket(f"trial-{number}", f"tenant-{t}") for t in range(tenants)]
        empty += all(place >= BUCKETS // 100 for place in inside)
        share = sum(s for s, p in zip(sizes, inside, strict=True) if p < at_ten)
        traffic.append(share / sum(sizes))
    traffic.sort()
    print(f"tenants: {tenants}")
    print(f"flag names tried: {names:,}")
    print(f"tenants at 1 %, nobody in: {percent(empty / names)}")
    print(f"largest tenant, share of traffic: {percent(sizes[0] / sum(sizes))}")
    print(
        f"tenants at 10 %, traffic in the lowest 5 % of names: {percent(traffic[50])}"
    )
    print(
        f"tenants at 10 %, traffic in the highest 5 % of names: {percent(traffic[-51])}"
    )

    print("construction of the tests: Kleitman and Spencer, 1973")
    for count in (10, 20):
        print(f"flags: {count}")
        print(f"settings of {count} flags: {2**count:,}")
        print(f"pairs of {count} flags: {count * (count - 1) // 2}")
        print(f"tests that cover all pairs of {count}: {covering_tests(count)}")
    met = Counter(tuple(places[f][u] < at_ten for f in flags) for u in range(USERS))
    print(f"10 flags at 10 %, settings that users met: {len(met)}")
    print(f"settings met by one user only: {sum(n == 1 for n in met.values())}")
    none = sum(all(places[f][u] >= at_ten for f in flags) for u in range(USERS))
    print(f"10 flags at 10 %, users with none on: {percent(none / USERS)}")


if __name__ == "__main__":
    main()
