"""Counts moved keys, load spread and replica placement for modulo hashing, a hash
ring, rendezvous hashing and jump hashing. All hashes are fixed, and so are the figures.
"""

import hashlib
import math

import numpy as np

KEYS = 100_000
SERVERS = 10
POINTS = 128
RINGS = 20
BOUND = 1.25
COPIES = 3


def hash64(text: str) -> int:
    """Return a 64-bit hash that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def make_ring(
    servers: int, points: int, seed: int = 0, weights: dict[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted positions of a ring and the server that owns each of them."""
    pairs = []
    for server in range(servers):
        for replica in range(points * (weights or {}).get(server, 1)):
            pairs.append((hash64(f"{seed}:server-{server}:{replica}"), server))
    pairs.sort()
    return (
        np.array([position for position, _ in pairs], dtype=np.uint64),
        np.array([server for _, server in pairs]),
    )


def first_point(keys: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return for each key the index of the first ring point at or after it."""
    return np.searchsorted(positions, keys, side="left") % len(positions)


def place(keys: np.ndarray, ring: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the server of each key."""
    positions, owners = ring
    return owners[first_point(keys, positions)]


def mix(values: np.ndarray) -> np.ndarray:
    """Scramble 64-bit integers (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def rendezvous(keys: np.ndarray, servers: int) -> np.ndarray:
    """Give each key to the server with the highest combined hash."""
    salts = [np.uint64(hash64(f"server-{server}")) for server in range(servers)]
    return np.argmax(np.stack([mix(keys ^ salt) for salt in salts]), axis=0)


def jump(key: int, buckets: int) -> int:
    """Return the bucket of a key (Lamping and Veach, 2014)."""
    bucket, following = -1, 0
    while following < buckets:
        bucket = following
        key = (key * 2862933555777941757 + 1) % 2**64
        following = int((bucket + 1) * (2**31 / ((key >> 33) + 1)))
    return bucket


def peak(owners: np.ndarray, servers: int) -> float:
    """Return the load of the fullest server divided by the mean load."""
    return float(np.bincount(owners, minlength=servers).max()) * servers / len(owners)


def replica_sets(
    keys: np.ndarray, ring: tuple[np.ndarray, np.ndarray]
) -> tuple[float, set[frozenset[int]]]:
    """Return the share of keys whose next points repeat a server, and the sets used."""
    positions, owners = ring
    start = first_point(keys, positions)
    repeated = 0
    sets: dict[int, frozenset[int]] = {}
    for index in start.tolist():
        following = {
            int(owners[(index + step) % len(owners)]) for step in range(COPIES)
        }
        repeated += len(following) < COPIES
        if index not in sets:
            chosen: list[int] = []
            step = 0
            while len(chosen) < COPIES:
                server = int(owners[(index + step) % len(owners)])
                if server not in chosen:
                    chosen.append(server)
                step += 1
            sets[index] = frozenset(chosen)
    return repeated / len(keys), set(sets.values())


def bounded(keys: np.ndarray, servers: int, points: int) -> np.ndarray:
    """Place the keys in order; a server that has reached its cap passes keys on."""
    positions, owners = make_ring(servers, points)
    cap = math.ceil(BOUND * len(keys) / servers)
    loads = [0] * servers
    owner_list = owners.tolist()
    placed = []
    for index in first_point(keys, positions).tolist():
        point = index
        while loads[owner_list[point]] >= cap:
            point = (point + 1) % len(owner_list)
        loads[owner_list[point]] += 1
        placed.append(owner_list[point])
    return np.array(placed)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def report_moves(keys: np.ndarray) -> None:
    key_list = keys.tolist()
    schemes = {
        "modulo": [keys % np.uint64(n) for n in (SERVERS, SERVERS + 1)],
        "ring, 1 point": [place(keys, make_ring(n, 1)) for n in (SERVERS, SERVERS + 1)],
        f"ring, {POINTS} points": [place(keys, make_ring(n, POINTS)) for n in (10, 11)],
        "rendezvous": [rendezvous(keys, n) for n in (SERVERS, SERVERS + 1)],
        "jump": [
            np.array([jump(k, n) for k in key_list]) for n in (SERVERS, SERVERS + 1)
        ],
    }
    for name, (before, after) in schemes.items():
        moved = before != after
        print(f"{name}, keys moved: {percent(float(moved.mean()))}")
        print(f"{name}, keys moved, count: {int(moved.sum()):,}")
        between_old = moved & (after != SERVERS)
        print(
            f"{name}, moved between old servers: {percent(float(between_old.mean()))}"
        )
        fullest = peak(before.astype(int), SERVERS)
        print(f"{name}, fullest server: {fullest:.2f} times the mean")
    print(f"ideal share moved: {percent(1 / (SERVERS + 1))}")


def report_failure(keys: np.ndarray) -> None:
    for points in (1, POINTS):
        positions, owners = make_ring(SERVERS, points)
        before = place(keys, (positions, owners))
        lost = int(np.bincount(before, minlength=SERVERS).argmax())
        kept = owners != lost
        after = place(keys, (positions[kept], owners[kept]))
        heirs = np.bincount(after[before == lost], minlength=SERVERS)
        name = f"failure, {points} points"
        print(f"{name}, servers that take over: {int((heirs > 0).sum())}")
        print(f"{name}, largest part: {percent(heirs.max() / heirs.sum())}")
        worst = np.bincount(after, minlength=SERVERS).max() * (SERVERS - 1) / len(keys)
        print(f"{name}, fullest survivor: {worst:.2f} times the mean")


def report_spread(keys: np.ndarray) -> None:
    for points in (1, 8, 32, 128, 512, 1024):
        rings = [make_ring(SERVERS, points, seed) for seed in range(RINGS)]
        counts = [np.bincount(place(keys, ring), minlength=SERVERS) for ring in rings]
        mean = len(keys) / SERVERS
        fullest = np.mean([count.max() / mean for count in counts])
        emptiest = np.mean([count.min() / mean for count in counts])
        deviation = np.mean([count.std() / mean for count in counts])
        name = f"spread, {points:,} points"
        print(f"{name}, entries: {points * SERVERS:,}")
        print(f"{name}, standard deviation: {percent(float(deviation))}")
        print(f"{name}, fullest server: {fullest:.2f} times the mean")
        print(f"{name}, emptiest server: {emptiest:.2f} times the mean")
    heavy = place(keys, make_ring(SERVERS, POINTS, weights={0: 2}))
    print(f"weight 2 of 11, ideal share: {percent(2 / 11)}")
    print(f"weight 2 of 11, share: {percent(float((heavy == 0).mean()))}")


def report_bounded(keys: np.ndarray) -> None:
    print(f"bound: {BOUND}")
    print(f"cap: {math.ceil(BOUND * len(keys) / SERVERS):,} keys")
    for points in (8, 32, POINTS):
        free = place(keys, make_ring(SERVERS, points))
        capped = bounded(keys, SERVERS, points)
        joined = place(keys, make_ring(SERVERS + 1, points))
        joined_capped = bounded(keys, SERVERS + 1, points)
        name = f"bounded, {points} points"
        print(f"{name}, fullest server without cap: {np.bincount(free).max():,} keys")
        print(f"{name}, fullest server with cap: {np.bincount(capped).max():,} keys")
        print(f"{name}, passed on: {percent(float((free != capped).mean()))}")
        moved = float((free != joined).mean())
        print(f"{name}, moved by a join without cap: {percent(moved)}")
        moved = float((capped != joined_capped).mean())
        print(f"{name}, moved by a join with cap: {percent(moved)}")


def report_hot_key(keys: np.ndarray) -> None:
    rates = 1 / np.arange(1, len(keys) + 1)
    rates /= rates.sum()
    owners = place(keys, make_ring(SERVERS, POINTS))
    loads = np.bincount(owners, weights=rates, minlength=SERVERS)
    rest = loads[owners[0]] - rates[0]
    print("popularity, exponent of the Zipf law: 1")
    print(f"hottest key, share of requests: {percent(float(rates[0]))}")
    print(f"its server, share of requests: {percent(float(loads[owners[0]]))}")
    print(f"its server without that key: {percent(float(rest))}")


def report_replicas(keys: np.ndarray) -> None:
    print(f"copies: {COPIES}")
    print(f"possible replica sets: {math.comb(SERVERS, COPIES)}")
    for points in (1, POINTS):
        repeated, sets = replica_sets(keys, make_ring(SERVERS, points))
        name = f"replicas, {points} points"
        print(f"{name}, next points repeat a server: {percent(repeated)}")
        print(f"{name}, replica sets in use: {len(sets)}")


def main() -> None:
    keys = np.array(
        [hash64(f"user:{number}") for number in range(KEYS)], dtype=np.uint64
    )
    print(f"keys: {KEYS:,}")
    print("hash width: 64 bits")
    print(f"servers: {SERVERS}")
    print(f"servers after the join: {SERVERS + 1}")
    print(f"points: {POINTS}")
    print(f"rings in the mean: {RINGS}")
    report_moves(keys)
    report_failure(keys)
    report_spread(keys)
    report_bounded(keys)
    report_hot_key(keys)
    report_replicas(keys)


if __name__ == "__main__":
    main()
