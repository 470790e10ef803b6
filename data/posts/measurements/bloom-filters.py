"""Measures false positive rates of Bloom filters against the textbook formula, with
independent and double hashing, and what overfilling and wrong deletions do. Seeded.
"""

import math

import numpy as np

KEYS = 100_000
PROBES = 1_000_000
FEWER = 200_000
SEED = 20240


def draw(generator: np.random.Generator, count: int) -> np.ndarray:
    """Draw 64-bit integers that stand for the hashes of distinct keys."""
    return generator.integers(0, 2**64, count, dtype=np.uint64)


def mix(values: np.ndarray) -> np.ndarray:
    """Scramble 64-bit integers (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def independent(keys: np.ndarray, hashes: int, bits: int) -> np.ndarray:
    """Return one row of bit positions for each of the independent hashes."""
    salts = [np.uint64((i + 1) * 0x9E3779B97F4A7C15 % 2**64) for i in range(hashes)]
    return np.stack([mix(keys ^ salt) % np.uint64(bits) for salt in salts])


def double(keys: np.ndarray, hashes: int, bits: int) -> np.ndarray:
    """Return the positions first + i * step, all modulo the number of bits."""
    first, step = independent(keys, 2, bits)
    return np.stack(
        [(first + np.uint64(i) * step) % np.uint64(bits) for i in range(hashes)]
    )


def odd_step(keys: np.ndarray, hashes: int, bits: int) -> np.ndarray:
    """Double hashing with an odd step, which reaches all of a power of two."""
    first, step = independent(keys, 2, bits)
    step |= np.uint64(1)
    return np.stack(
        [(first + np.uint64(i) * step) % np.uint64(bits) for i in range(hashes)]
    )


def enhanced(keys: np.ndarray, hashes: int, bits: int) -> np.ndarray:
    """Double hashing whose step grows by i (Dillinger and Manolios, 2004)."""
    first, step = independent(keys, 2, bits)
    rows = []
    for i in range(hashes):
        rows.append(first)
        first = (first + step) % np.uint64(bits)
        step = (step + np.uint64(i + 1)) % np.uint64(bits)
    return np.stack(rows)


def fill(rows: np.ndarray, bits: int) -> np.ndarray:
    """Return the bit array after inserting every key."""
    table = np.zeros(bits, dtype=bool)
    table[rows] = True
    return table


def formula(keys: int, hashes: int, bits: int) -> float:
    """Return the textbook false positive rate."""
    return (1 - math.exp(-hashes * keys / bits)) ** hashes


def percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f} %"


def report_sizes(members: np.ndarray, absent: np.ndarray) -> None:
    for bits_per_key, hashes in ((4, 3), (8, 6), (10, 7), (12, 8), (16, 11)):
        bits = bits_per_key * KEYS
        rates = []
        for scheme in (independent, double):
            table = fill(scheme(members, hashes, bits), bits)
            rates.append(table[scheme(absent, hashes, bits)].all(axis=0).mean())
        name = f"{bits_per_key} bits per key"
        print(f"{name}, hashes: {hashes}")
        print(f"{name}, size: {bits // 8:,} bytes")
        print(f"{name}, formula: {percent(formula(KEYS, hashes, bits), 3)}")
        print(f"{name}, independent hashes: {percent(float(rates[0]), 3)}")
        print(f"{name}, double hashing: {percent(float(rates[1]), 3)}")


def report_hash_count(members: np.ndarray, absent: np.ndarray) -> None:
    bits = 10 * KEYS
    for hashes in (2, 3, 4, 7, 10):
        table = fill(double(members, hashes, bits), bits)
        hits = table[double(absent, hashes, bits)]
        # A lookup stops at the first bit that is not set.
        probes = 1 + np.cumprod(hits, axis=0)[:-1].sum(axis=0)
        name = f"10 bits per key, {hashes} hashes"
        print(f"{name}, rate: {percent(float(hits.all(axis=0).mean()))}")
        print(f"{name}, probes for an absent key: {probes.mean():.2f}")
        print(f"{name}, bits set: {percent(table.mean(), 1)}")


def report_overfilling(absent: np.ndarray, generator: np.random.Generator) -> None:
    bits, hashes = 10 * KEYS, 7
    for factor in (1, 1.5, 2, 3, 4):
        count = int(factor * KEYS)
        table = fill(double(draw(generator, count), hashes, bits), bits)
        rate = table[double(absent, hashes, bits)].all(axis=0).mean()
        guess = -bits / hashes * math.log(1 - table.mean())
        name = f"filter for {KEYS:,} keys, filled with {count:,}"
        print(f"{name}, rate: {percent(float(rate), 1)}")
        print(f"{name}, bits set: {percent(table.mean(), 1)}")
        print(f"{name}, estimate from the bits set: {round(guess):,} keys")


def report_small(generator: np.random.Generator) -> None:
    keys, bits, hashes, filters, probes = 64, 1024, 11, 400, 5_000
    expected = formula(keys, hashes, bits)
    print(f"small filter, keys: {keys}")
    print(f"small filter, bits: {bits:,}")
    print(f"small filter, hashes: {hashes}")
    print(f"small filters in the mean: {filters}")
    print(f"small filter, formula: {percent(expected, 3)}")
    sets = [(draw(generator, keys), draw(generator, probes)) for _ in range(filters)]
    for scheme in (independent, double, odd_step, enhanced):
        wrong = 0
        for members, absent in sets:
            table = fill(scheme(members, hashes, bits), bits)
            wrong += int(table[scheme(absent, hashes, bits)].all(axis=0).sum())
        share = wrong / filters / probes
        name = f"small filter, {scheme.__name__}"
        print(f"{name}: {percent(share, 3)}")
        print(f"{name}, against formula: {share / expected:.1f} times")


def report_counting(members: np.ndarray, absent: np.ndarray) -> None:
    bits, hashes, deletions = 10 * KEYS, 7, 1_000
    counters = np.zeros(bits, dtype=np.int64)
    rows = double(members, hashes, bits)
    np.add.at(counters, rows.ravel(), 1)
    print("counter width: 4 bits")
    print("largest value of a counter: 15")
    print(f"counting filter, size: {bits // 2:,} bytes")
    print(f"plain filter, size: {bits // 8:,} bytes")
    print(f"counting filter, largest counter: {counters.max()}")
    absent_rows = double(absent, hashes, bits)
    passing = np.flatnonzero((counters[absent_rows] > 0).all(axis=0))
    deleted = 0
    for column in passing.tolist():
        if deleted == deletions:
            break
        cells = absent_rows[:, column]
        if (counters[cells] > 0).all():
            np.subtract.at(counters, cells, 1)
            counters[cells] = np.maximum(counters[cells], 0)
            deleted += 1
    lost = int((counters[rows] == 0).any(axis=0).sum())
    print(f"wrong deletions: {deleted:,}")
    print(f"members lost to wrong deletions: {lost:,}")
    print(f"members lost to wrong deletions, share: {percent(lost / KEYS, 1)}")
    print(f"members lost for each wrong deletion: {lost / deleted:.1f}")


def main() -> None:
    generator = np.random.default_rng(SEED)
    members = draw(generator, KEYS)
    absent = draw(generator, PROBES)
    print(f"keys: {KEYS:,}")
    print(f"absent keys probed: {PROBES:,}")
    print(f"absent keys probed in overfilled filters: {FEWER:,}")
    report_sizes(members, absent)
    report_hash_count(members, absent)
    report_overfilling(absent[:FEWER], generator)
    report_small(generator)
    report_counting(members, absent)


if __name__ == "__main__":
    main()
