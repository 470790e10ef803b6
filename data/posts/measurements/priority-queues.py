"""Count comparisons, stale entries and the order of ties in heaps.

The uses are sorting, the top of a stream, shortest paths and timers.
"""

import heapq
import math
import random
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

SEED = 20250130
ITEMS = 16_384


@dataclass
class Entry:
    """A heap entry ordered by its key alone; counts all comparisons."""

    key: float | tuple[int, ...]
    item: int = 0
    live: bool = True
    comparisons: ClassVar[int] = 0

    def __lt__(self, other: "Entry") -> bool:
        """Compare the keys and count it."""
        Entry.comparisons += 1
        return self.key < other.key


def taken() -> int:
    """Return the comparisons since the last call."""
    result, Entry.comparisons = Entry.comparisons, 0
    return result


def push(heap: list[Entry], entry: Entry, arity: int = 2) -> None:
    """Let a new entry rise from the end of a heap with `arity` children a node."""
    heap.append(entry)
    place = len(heap) - 1
    while place:
        parent = (place - 1) // arity
        if not entry < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = entry


def pop(heap: list[Entry], arity: int = 2) -> tuple[Entry, int]:
    """Take the root, let the last entry sink; also return the levels it sank."""
    result, entry = heap[0], heap.pop()
    if not heap:
        return result, 0
    place = levels = 0
    while (first := place * arity + 1) < len(heap):
        child = first
        for other in range(first + 1, min(first + arity, len(heap))):
            if heap[other] < heap[child]:
                child = other
        if not heap[child] < entry:
            break
        heap[place] = heap[child]
        place = child
        levels += 1
    heap[place] = entry
    return result, levels


def top_of_stream(keys: list[int], size: int, in_one: bool) -> tuple[int, int]:
    """Keep the largest keys; return the replacements and the heap's comparisons."""
    heap = [Entry(key) for key in keys[:size]]
    heapq.heapify(heap)
    taken()
    replaced = 0
    for key in keys[size:]:
        if key <= heap[0].key:
            continue
        replaced += 1
        if in_one:
            heapq.heapreplace(heap, Entry(key))
        else:
            heapq.heappop(heap)
            heapq.heappush(heap, Entry(key))
    assert sorted(e.key for e in heap) == sorted(keys)[-size:]
    return replaced, taken()


def tie_order(priorities: list[int], numbered: bool) -> tuple[int, int]:
    """Count neighbours of equal priority that leave the heap, and the swapped ones."""
    heap: list[Entry] = []
    for number, priority in enumerate(priorities):
        key = (priority, number) if numbered else (priority,)
        heapq.heappush(heap, Entry(key, number))
    order = [heapq.heappop(heap).item for _ in priorities]
    pairs = list(pairwise(order))
    ties = [(a, b) for a, b in pairs if priorities[a] == priorities[b]]
    return len(ties), sum(a > b for a, b in ties)


Graph = list[list[tuple[int, int]]]


def random_graph(rng: random.Random, nodes: int, degree: int, heaviest: int) -> Graph:
    """Lead `degree` edges from each node to random nodes."""
    return [
        [(rng.randrange(nodes), rng.randint(1, heaviest)) for _ in range(degree)]
        for _ in range(nodes)
    ]


def paths_lazy(graph: Graph) -> tuple[list[float], dict[str, int]]:
    """Find shortest paths; each improvement is a new entry, stale ones are skipped."""
    distance = [math.inf] * len(graph)
    distance[0] = 0
    heap, done = [Entry(0, 0)], [False] * len(graph)
    pushes, stale, largest = 1, 0, 1
    taken()
    while heap:
        node = heapq.heappop(heap).item
        if done[node]:
            stale += 1
            continue
        done[node] = True
        for target, weight in graph[node]:
            if distance[node] + weight < distance[target]:
                distance[target] = distance[node] + weight
                heapq.heappush(heap, Entry(distance[target], target))
                pushes += 1
        largest = max(largest, len(heap))
    counts = {"pushes": pushes, "stale entries": stale, "largest heap": largest}
    return distance, counts | {"comparisons": taken()}


class IndexedHeap:
    """A binary heap that knows the place of each item, so that keys can fall."""

    def __init__(self) -> None:
        """Start empty."""
        self.entries: list[Entry] = []
        self.place: dict[int, int] = {}
        self.writes = 0

    def put(self, place: int, entry: Entry) -> None:
        """Write an entry and note its place."""
        self.entries[place] = entry
        self.place[entry.item] = place
        self.writes += 1

    def lower(self, item: int, key: float) -> None:
        """Insert the item or lower its key."""
        entry = Entry(key, item)
        if item not in self.place:
            self.entries.append(entry)
            self.place[item] = len(self.entries) - 1
        place = self.place[item]
        while place and entry < self.entries[(place - 1) // 2]:
            self.put(place, self.entries[(place - 1) // 2])
            place = (place - 1) // 2
        self.put(place, entry)

    def pop(self) -> int:
        """Move a hole down to a leaf, then let the last entry rise from there."""
        result, last = self.entries[0], self.entries.pop()
        del self.place[result.item]
        if self.entries:
            place = 0
            while (child := 2 * place + 1) < len(self.entries):
                if child + 1 < len(self.entries) and not (
                    self.entries[child] < self.entries[child + 1]
                ):
                    child += 1
                self.put(place, self.entries[child])
                place = child
            while place and last < self.entries[(place - 1) // 2]:
                self.put(place, self.entries[(place - 1) // 2])
                place = (place - 1) // 2
            self.put(place, last)
        return result.item


def paths_indexed(graph: Graph) -> tuple[list[float], dict[str, int]]:
    """Find shortest paths with at most one entry for each node."""
    distance = [math.inf] * len(graph)
    distance[0] = 0
    heap, largest, lowered = IndexedHeap(), 1, 0
    taken()
    heap.lower(0, 0)
    while heap.entries:
        node = heap.pop()
        for target, weight in graph[node]:
            if distance[node] + weight < distance[target]:
                lowered += distance[target] < math.inf
                distance[target] = distance[node] + weight
                heap.lower(target, distance[target])
        largest = max(largest, len(heap.entries))
    counts = {"decreased keys": lowered, "largest heap": largest}
    return distance, counts | {"comparisons": taken(), "place writes": heap.writes}


def timers(rng: random.Random, requests: int, rebuild: bool) -> dict[str, int]:
    """Start a timer every millisecond and cancel nearly all of them soon after."""
    heap: list[Entry] = []
    ends: list[tuple[int, int, Entry]] = []
    largest = most_live = live = fired = rebuilds = 0
    taken()
    for now in range(requests):
        while ends and ends[0][0] <= now:
            entry = heapq.heappop(ends)[2]
            live -= entry.live
            entry.live = False
        while heap and heap[0].key <= now:
            entry = heapq.heappop(heap)
            fired += entry.live
            live -= entry.live
            entry.live = False
        timer = Entry(now + rng.choice((1_000, 5_000, 30_000)), now)
        heapq.heappush(heap, timer)
        live += 1
        length = 60_000 if rng.random() < 0.001 else rng.randint(10, 200)
        heapq.heappush(ends, (now + length, now, timer))
        if rebuild and len(heap) > 64 and len(heap) > 2 * live:
            heap = [entry for entry in heap if entry.live]
            heapq.heapify(heap)
            rebuilds += 1
        largest, most_live = max(largest, len(heap)), max(most_live, live)
    return {
        "fired": fired,
        "most live": most_live,
        "largest heap": largest,
        "comparisons": taken(),
        "rebuilds": rebuilds,
    }


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    print(f"items: {ITEMS:,}")
    keys = rng.sample(range(10 * ITEMS), ITEMS)

    for arity in (2, 3, 4, 8):
        heap: list[Entry] = []
        taken()
        for key in keys:
            push(heap, Entry(key), arity)
        pushes, levels, out = taken(), 0, []
        for _ in keys:
            entry, sank = pop(heap, arity)
            levels += sank
            out.append(entry.key)
        assert out == sorted(keys)
        pops = taken()
        name = f"{arity} children"
        print(f"{name}, comparisons a push: {pushes / ITEMS:.1f}")
        print(f"{name}, comparisons a pop: {pops / ITEMS:.1f}")
        print(f"{name}, levels a pop: {levels / ITEMS:.1f}")

    for name, order in (
        ("random order", keys),
        ("falling order", sorted(keys, reverse=True)),
    ):
        heap = [Entry(key) for key in order]
        heapq.heapify(heap)
        print(f"heapify, {name}, comparisons an item: {taken() / ITEMS:.2f}")
        if order is keys:
            for _ in keys:
                heapq.heappop(heap)
            print(f"heapq.heappop, comparisons: {taken() / ITEMS:.1f}")
        heap = []
        for key in order:
            heapq.heappush(heap, Entry(key))
        print(f"pushes, {name}, comparisons an item: {taken() / ITEMS:.2f}")

    size, stream = 100, rng.sample(range(1_000_000), 100_000)
    print(f"stream: {len(stream):,} keys")
    print(f"kept: {size}")
    for name, in_one in (("heapreplace", True), ("pop and push", False)):
        replaced, used = top_of_stream(stream, size, in_one)
        print(f"{name}, replacements: {replaced:,}")
        print(f"{name}, comparisons: {used:,}")
        print(f"{name}, comparisons a replacement: {used / replaced:.1f}")

    priorities = [rng.randrange(5) for _ in range(1_000)]
    print("tasks: 1,000")
    print("priorities: 5")
    for name, numbered in (("without counter", False), ("with counter", True)):
        ties, swapped = tie_order(priorities, numbered)
        print(f"{name}, neighbours of equal priority: {ties}")
        print(f"{name}, in the wrong order: {swapped}")
        print(f"{name}, wrong: {100 * swapped / ties:.0f} %")

    nodes, heaviest = 10_000, 1_000
    print(f"nodes: {nodes:,}")
    print(f"weights: 1 to {heaviest:,}")
    for degree in (4, 20):
        graph = random_graph(rng, nodes, degree, heaviest)
        lazy, counts = paths_lazy(graph)
        indexed, more = paths_indexed(graph)
        assert lazy == indexed
        for name, figures in (("lazy", counts), ("indexed", more)):
            for label, figure in figures.items():
                print(f"{degree} edges a node, {name}, {label}: {figure:,}")

    print("timers: 50,000")
    print("timer every: 1 ms")
    print("timeouts: 1, 5 or 30 s")
    print("requests end after: 10 to 200 ms")
    print("requests that never end: 0.1 %")
    for name, rebuild in (("never rebuilt", False), ("rebuilt", True)):
        for label, figure in timers(random.Random(SEED), 50_000, rebuild).items():
            print(f"timers, {name}, {label}: {figure:,}")


if __name__ == "__main__":
    main()
