"""Count pages and entries that a B-tree and two LSM trees write, store and read."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

SEED = 20240918
ENTRY, PAGE, PER_PAGE = 100, 4_096, 40
KEYS, UPDATES, SHORT = 100_000, 256_000, 64_000
FANOUT, L0_FILES, TIER = 10, 4, 4
FALSE_POSITIVES = 0.01
SCAN = 50

Run = np.ndarray


class BTree:
    """The leaves of a B+-tree behind an LRU pool; inner pages count as cached."""

    def __init__(self, pool: int, append_split: bool = False) -> None:
        self.pool, self.append_split = pool, append_split
        self.lows: list[int] = [-1]
        self.leaves: list[list[int]] = [[]]
        self.names = [0]
        self.cached: OrderedDict[int, None] = OrderedDict()
        self.written = 0

    def touch(self, name: int) -> None:
        """Dirty a page; write the page that has to leave the pool."""
        self.cached[name] = None
        self.cached.move_to_end(name)
        if len(self.cached) > self.pool:
            self.cached.popitem(last=False)
            self.written += 1

    def put(self, key: int) -> None:
        """Insert or overwrite one entry, splitting a full leaf."""
        at = bisect_right(self.lows, key) - 1
        leaf = self.leaves[at]
        place = bisect_right(leaf, key)
        self.touch(self.names[at])
        if place and leaf[place - 1] == key:
            return
        leaf.insert(place, key)
        if len(leaf) > PER_PAGE:
            last = at == len(self.leaves) - 1 and place == len(leaf) - 1
            cut = PER_PAGE if self.append_split and last else len(leaf) // 2
            self.leaves.insert(at + 1, leaf[cut:])
            self.lows.insert(at + 1, leaf[cut])
            self.names.insert(at + 1, len(self.names))
            del leaf[cut:]
            self.touch(self.names[at + 1])

    def checkpoint(self) -> None:
        """Write every page that was changed since the last checkpoint."""
        self.written += len(self.cached)
        self.cached.clear()

    def scan_pages(self, low: int, high: int) -> int:
        """Count the leaves that hold the keys from low to high."""
        return bisect_right(self.lows, high) - bisect_right(self.lows, low) + 1


class File(NamedTuple):
    """A sorted file with its key range."""

    low: int
    high: int
    keys: Run


def files_of(keys: Run, size: int) -> list[File]:
    """Cut a sorted run into files of at most `size` entries."""
    parts = [keys[i : i + size] for i in range(0, len(keys), size)]
    return [File(int(part[0]), int(part[-1]), part) for part in parts]


class Leveled:
    """Level 0 holds flushed files, each deeper level one run of disjoint files."""

    def __init__(self, memtable: int) -> None:
        self.size = memtable
        self.levels: list[list[File]] = [[]]
        self.pointers = [-1]
        self.written = self.most = 0

    def flush(self, batch: Run) -> None:
        """Write one memtable (its newest versions) and compact what has grown too big."""
        new = np.unique(batch)
        self.levels[0] += files_of(new, self.size)
        self.written += len(new)
        if len(self.levels[0]) >= L0_FILES:
            files, self.levels[0] = self.levels[0], []
            self.push(0, files)
        depth = 1
        while depth < len(self.levels):
            level = self.levels[depth]
            while sum(len(f.keys) for f in level) > self.size * FANOUT**depth:
                at = bisect_right(level, self.pointers[depth], key=lambda f: f.low)
                file = level.pop(at if at < len(level) else 0)
                self.pointers[depth] = file.low
                self.push(depth, [file])
            depth += 1

    def push(self, depth: int, files: list[File]) -> None:
        """Merge files into the next level, or only move them if nothing overlaps."""
        if depth + 1 == len(self.levels):
            self.levels.append([])
            self.pointers.append(-1)
        below = self.levels[depth + 1]
        files.sort(key=lambda f: f.low)
        start = bisect_left(below, files[0].low, key=lambda f: f.high)
        end = bisect_right(below, max(f.high for f in files), key=lambda f: f.low)
        if start < end or any(a.high >= b.low for a, b in pairwise(files)):
            inputs = [file.keys for file in files + below[start:end]]
            merged = np.unique(np.concatenate(inputs))
            self.written += len(merged)
            if depth == 0:  # the largest merge, and both copies exist while it runs
                on_disk = self.stored() + sum(len(file.keys) for file in files) + len(merged)
                self.most = max(self.most, on_disk)
            files = files_of(merged, self.size)
        below[start:end] = files

    def runs(self) -> list[list[File]]:
        """Return the sorted runs, newest first, each as a list of disjoint files."""
        newest = [[file] for file in reversed(self.levels[0])]
        return newest + [level for level in self.levels[1:] if level]

    def stored(self) -> int:
        """Count the stored entries, old versions included."""
        return sum(len(file.keys) for level in self.levels for file in level)


class Tiered:
    """Every level holds up to TIER runs; TIER runs are merged into one of the next level."""

    def __init__(self, memtable: int) -> None:
        self.levels: list[list[Run]] = [[]]
        self.written = self.most = 0

    def flush(self, batch: Run) -> None:
        """Write one memtable and merge every level that is full."""
        run, depth = np.unique(batch), 0
        while True:
            self.written += len(run)
            self.levels[depth].append(run)
            self.most = max(self.most, self.stored())
            if len(self.levels[depth]) < TIER:
                return
            if depth + 1 == len(self.levels):
                self.levels.append([])
            run = np.unique(np.concatenate(self.levels[depth]))
            self.most = max(self.most, self.stored() + len(run))
            self.levels[depth] = []
            depth += 1

    def runs(self) -> list[list[File]]:
        """Return the sorted runs, newest first."""
        return [files_of(run, len(run)) for level in self.levels for run in reversed(level)]

    def stored(self) -> int:
        """Count the stored entries, old versions included."""
        return sum(len(run) for level in self.levels for run in level)


def lookup_pages(runs: list[list[File]], key: int, rng: np.random.Generator | None) -> int:
    """Count the pages read to find one key; with a generator, behind Bloom filters."""
    pages = 0
    for run in runs:
        at = bisect_left(run, key, key=lambda f: f.high)
        if at == len(run) or run[at].low > key:
            continue
        found = run[at].keys[np.searchsorted(run[at].keys, key)] == key
        if rng is None or found or rng.random() < FALSE_POSITIVES:
            pages += 1
        if found:
            break
    return pages


def scan_pages(runs: list[list[File]], low: int, high: int) -> int:
    """Count the pages that hold the keys from low to high in all runs."""
    pages = 0
    for run in runs:
        for file in run[bisect_left(run, low, key=lambda f: f.high) :]:
            if file.low > high:
                break
            first, end = np.searchsorted(file.keys, [low, high + 1])
            pages += max(end - 1, first) // PER_PAGE - first // PER_PAGE + 1
    return pages


def updates(kind: str, rng: np.random.Generator) -> Run:
    """Return the keys to overwrite: spread evenly, or nine in ten among one key in 200."""
    keys = rng.integers(0, KEYS, UPDATES)
    if kind == "uniform":
        return 2 * keys
    hot = rng.random(UPDATES) < 0.9
    if kind == "hot, scattered":
        keys[hot] = keys[hot] // 200 * 200
    else:
        keys[hot] = KEYS // 2 + keys[hot] // 200
    return 2 * keys


def b_amplification(tree: BTree, keys: Run) -> float:
    """Return bytes written for each byte of the new entries."""
    before = tree.written
    for key in keys.tolist():
        tree.put(key)
    return (tree.written - before) * PAGE / (len(keys) * ENTRY)


def l_amplification(tree: Leveled | Tiered, keys: Run, memtable: int) -> float:
    """Return entries written for each new entry."""
    before = tree.written
    for start in range(0, len(keys), memtable):
        tree.flush(keys[start : start + memtable])
    return (tree.written - before) / len(keys)


def read_costs(tree: Leveled | Tiered, keys: Run, memtable: int) -> tuple[list[float], list[float]]:
    """Update and read in turns; return mean pages for five kinds of read, and space figures."""
    rng = np.random.default_rng(SEED + 1)
    totals, rounds, each, space = np.zeros(5), 0, 20, []
    tree.most = 0
    for start in range(0, len(keys), memtable):
        tree.flush(keys[start : start + memtable])
        space.append(tree.stored() / KEYS)
        runs = tree.runs()
        for key in rng.integers(0, KEYS - SCAN, each).tolist():
            totals += (
                lookup_pages(runs, 2 * key, None),
                lookup_pages(runs, 2 * key, rng),
                lookup_pages(runs, 2 * key + 1, None),
                lookup_pages(runs, 2 * key + 1, rng),
                scan_pages(runs, 2 * key, 2 * (key + SCAN - 1)),
            )
        rounds += each
    return list(totals / rounds), [float(np.mean(space)), tree.most / KEYS]


def main() -> None:
    """Print one figure a line."""
    rng = np.random.default_rng(SEED)
    load = 2 * rng.permutation(KEYS)
    print(f"seed: {SEED}")
    print(f"entry: {ENTRY} bytes")
    print(f"page: {PAGE:,} bytes")
    print(f"entries per page: {PER_PAGE}")
    print(f"keys: {KEYS:,}")
    print(f"updates: {UPDATES:,}")
    print(f"updates, btree, and leveled with 0.1 %: {SHORT:,}")
    print(f"fan-out of the levels: {FANOUT}")
    print(f"runs of a tier: {TIER}")
    print("false positives of a filter: 1 %")
    print(f"entries of a scan: {SCAN}")

    half, append = BTree(25), BTree(25, append_split=True)
    ascending = 2 * np.arange(KEYS)
    for name, tree in (("halving", half), ("append split", append)):
        cost = b_amplification(tree, ascending)
        fill = KEYS / len(tree.leaves) / PER_PAGE
        print(f"btree, {name}, ascending inserts: {cost:.1f}")
        print(f"btree, {name}, fill after ascending inserts: {100 * fill:.1f} %")
    for kind in (Leveled, Tiered):
        cost = l_amplification(kind(1_000), ascending, 1_000)
        print(f"{kind.__name__.lower()}, ascending inserts: {cost:.1f}")

    cached = BTree(2 * KEYS // PER_PAGE)
    b_amplification(cached, load)
    keys = updates("uniform", np.random.default_rng(SEED + 2))
    for every in (8_000, 64_000):
        cached.checkpoint()
        before = cached.written
        for start in range(0, SHORT, every):
            b_amplification(cached, keys[start : start + every])
            cached.checkpoint()
        cost = (cached.written - before) * PAGE / SHORT / ENTRY
        print(f"btree in memory, checkpoint every {every:,} updates: {cost:.1f}")

    print(f"hot keys: {KEYS // 200:,}")
    print("share of updates to hot keys: 90 %")

    for share, memtable in (("0.1 %", 100), ("1 %", 1_000), ("10 %", 10_000)):
        pool = memtable // PER_PAGE
        print(f"memory of {share}: {memtable:,} entries or {pool} pages")
        trees = (BTree(pool), Leveled(memtable), Tiered(memtable))
        for tree in trees:
            name = type(tree).__name__.lower()
            if isinstance(tree, BTree):
                cost = b_amplification(tree, load)
            else:
                cost = l_amplification(tree, load, memtable)
            print(f"{name}, memory {share}, random inserts: {cost:.1f}")
            for kind in ("uniform", "hot, scattered", "hot, adjacent"):
                if kind != "uniform" and memtable != 1_000:
                    continue
                keys = updates(kind, np.random.default_rng(SEED + 2))
                if isinstance(tree, BTree) or (memtable == 100 and isinstance(tree, Leveled)):
                    keys = keys[:SHORT]
                if isinstance(tree, BTree):
                    cost = b_amplification(tree, keys)
                else:
                    cost = l_amplification(tree, keys, memtable)
                print(f"{name}, memory {share}, {kind} updates: {cost:.1f}")
            if memtable != 1_000:
                continue
            keys = updates("uniform", np.random.default_rng(SEED + 3))
            if isinstance(tree, BTree):
                print(f"{name}, leaves: {len(tree.leaves):,}")
                print(f"{name}, fill: {100 * KEYS / len(tree.leaves) / PER_PAGE:.1f} %")
                space = len(tree.leaves) * PAGE / KEYS / ENTRY
                print(f"{name}, space: {space:.2f} times")
                starts = np.random.default_rng(SEED + 1).integers(0, KEYS - SCAN, 10_000).tolist()
                pages = [tree.scan_pages(2 * key, 2 * (key + SCAN - 1)) for key in starts]
                print(f"{name}, pages of a scan: {np.mean(pages):.1f}")
            else:
                reads, space = read_costs(tree, keys, memtable)
                labels = ("found", "found, filters", "absent", "absent, filters", "scan")
                for label, pages in zip(labels, reads, strict=True):
                    print(f"{name}, pages, {label}: {pages:.2f}")
                print(f"{name}, space, mean: {space[0]:.2f} times")
                print(f"{name}, space, most: {space[1]:.2f} times")
                print(f"{name}, runs at the end: {len(tree.runs())}")


if __name__ == "__main__":
    main()
