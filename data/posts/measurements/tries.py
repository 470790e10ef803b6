"""Count nodes, bytes and steps of tries, radix trees, hash sets and sorted lists.

Sizes follow packed layouts with 4-byte references, whatever the machine.
"""

import heapq
import random
from bisect import bisect_left
from dataclasses import dataclass, field

SEED = 20240619
WORDS = 50_000
LETTERS = 26
REFERENCE = 4


@dataclass
class Node:
    """A node of either tree; `label` is the text on the edge that leads to it."""

    label: str = ""
    children: dict[str, "Node"] = field(default_factory=dict)
    is_word: bool = False
    best: int = 0


def word_list(rng: random.Random, count: int) -> list[str]:
    """Make distinct words from one to three syllables and a common ending."""
    onsets = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t tr v w"
    codas = ["", "", "", "n", "r", "l", "t", "m", "st", "nd", "ck"]
    endings = ["", "s", "ed", "ing", "er", "ers", "able", "ly", "ness", "ation"]
    words: set[str] = set()
    while len(words) < count:
        syllables = rng.choices((1, 2, 3), (1, 6, 3))[0]
        stem = "".join(
            rng.choice(onsets.split()) + rng.choice("aeiou") + rng.choice(codas)
            for _ in range(syllables)
        )
        words.update(stem + ending for ending in endings if rng.random() < 0.4)
    return rng.sample(sorted(words), count)


def build_trie(words: list[str]) -> Node:
    """Build a trie with one letter an edge."""
    root = Node()
    for word in words:
        node = root
        for letter in word:
            node = node.children.setdefault(letter, Node(letter))
        node.is_word = True
    return root


def compress(node: Node) -> Node:
    """Return the radix tree: chains of single children become one edge."""
    label = node.label
    while label and not node.is_word and len(node.children) == 1:
        (node,) = node.children.values()
        label += node.label
    children = {letter: compress(child) for letter, child in node.children.items()}
    return Node(label, children, node.is_word)


def nodes_below(node: Node) -> list[Node]:
    """Return the node and everything below it."""
    found = [node]
    for item in found:
        found.extend(item.children.values())
    return found


def word_graph(node: Node, states: dict[tuple, int]) -> int:
    """Merge equal subtrees of the trie from the leaves upwards; fills `states`."""
    edges = tuple(
        sorted((c, word_graph(child, states)) for c, child in node.children.items())
    )
    return states.setdefault((node.is_word, edges), len(states))


def visited(root: Node, word: str) -> int:
    """Count the nodes entered below the root while looking up `word`."""
    node, place, count = root, 0, 0
    while place < len(word) and word[place] in node.children:
        node = node.children[word[place]]
        count += 1
        if not word.startswith(node.label, place):
            break
        place += len(node.label)
    return count


def siblings_read(root: Node, word: str) -> int:
    """Count the nodes read for a present word when children form sorted chains."""
    node, place, count = root, 0, 0
    while place < len(word):
        count += sum(letter <= word[place] for letter in node.children)
        node = node.children[word[place]]
        place += len(node.label)
    return count


def subtree(root: Node, prefix: str) -> Node:
    """Return the highest node of the radix tree whose text starts with `prefix`."""
    node, place = root, 0
    while place < len(prefix):
        node = node.children[prefix[place]]
        place += len(node.label)
    return node


def set_best(node: Node, scores: dict[str, int], text: str = "") -> int:
    """Store in each node the highest score below it."""
    text += node.label
    own = scores[text] if node.is_word else 0
    node.best = max([own] + [set_best(c, scores, text) for c in node.children.values()])
    return node.best


def top(
    root: Node, prefix: str, scores: dict[str, int], wanted: int
) -> tuple[list[int], int]:
    """Return the best scores under a first letter and the nodes opened."""
    start = root.children[prefix]
    queue: list[tuple[int, str, Node | None]] = [(-start.best, start.label, start)]
    found: list[int] = []
    opened = 0
    while queue and len(found) < wanted:
        score, text, node = heapq.heappop(queue)
        if node is None:
            found.append(-score)
            continue
        opened += 1
        if node.is_word:
            heapq.heappush(queue, (-scores[text], text, None))
        for child in node.children.values():
            heapq.heappush(queue, (-child.best, text + child.label, child))
    return found, opened


class Counted(str):
    """A string that counts comparisons."""

    comparisons = 0

    def __lt__(self, other: str) -> bool:
        """Compare and count it."""
        Counted.comparisons += 1
        return str.__lt__(self, other)


def mean(values: list[int]) -> float:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    pool = word_list(rng, WORDS + 10_000)
    words, absent = pool[:WORDS], pool[WORDS:]
    text = sum(map(len, words))
    print(f"seed: {SEED}")
    print(f"words: {WORDS:,}")
    print(f"absent words: {len(absent):,}")
    print(f"letters in all words: {text:,}")
    print(f"mean length: {text / WORDS:.1f} letters")
    print(f"children an array node has room for: {LETTERS}")
    print(f"reference: {REFERENCE} bytes")

    trie = build_trie(words)
    radix = compress(trie)
    trie_nodes, radix_nodes = nodes_below(trie), nodes_below(radix)
    states: dict[tuple, int] = {}
    word_graph(trie, states)
    edges = sum(len(targets) for _, targets in states)
    single = sum(len(node.children) == 1 for node in trie_nodes)
    labels = sum(len(node.label) for node in radix_nodes)
    print(f"trie nodes: {len(trie_nodes):,}")
    print(f"trie nodes with one child: {100 * single / len(trie_nodes):.0f} %")
    print(f"radix nodes: {len(radix_nodes):,}")
    print(f"letters in radix labels: {labels:,}")
    print(f"word graph states: {len(states):,}")
    print(f"word graph edges: {edges:,}")

    slots = 65_536  # 76 % full
    sizes = {
        "hash set": slots * (REFERENCE + 1) + WORDS + text,
        "sorted list": WORDS * (REFERENCE + 1) + text,
        "trie, arrays": len(trie_nodes) * (LETTERS * REFERENCE + 1),
        "trie, sibling lists": len(trie_nodes) * (2 * REFERENCE + 2),
        "radix tree, sibling lists": len(radix_nodes) * (3 * REFERENCE + 2) + labels,
        "word graph, edge lists": edges * (REFERENCE + 2),
    }
    print(f"slots of the hash set: {slots:,}")
    for name, size in sizes.items():
        print(f"{name}: {size / 1_000:,.0f} kB, {size / WORDS:.1f} bytes a word")

    for name, probes in (("present", words), ("absent", absent)):
        for kind, tree in (("trie", trie), ("radix", radix)):
            nodes = mean([visited(tree, word) for word in probes])
            print(f"{kind}, nodes for {name} words: {nodes:.1f}")
    chained = mean([siblings_read(radix, word) for word in words])
    print(f"radix, nodes read with sibling lists: {chained:.1f}")

    ordered = sorted(words)
    prefixes = [
        word[:3] for word in rng.sample([w for w in words if len(w) > 3], 1_000)
    ]
    matches, entered, plain = [], [], []
    for prefix in prefixes:
        below = nodes_below(subtree(radix, prefix))
        entered.append(len(below))
        plain.append(len(nodes_below(subtree(trie, prefix))))
        matches.append(sum(node.is_word for node in below))
    print(f"prefixes tried: {len(prefixes):,}")
    print("letters of a prefix: 3")
    print(f"mean matches of a prefix: {mean(matches):.0f}")
    print(f"radix nodes read for a prefix: {mean(entered):.0f}")
    print(f"trie nodes read for a prefix: {mean(plain):.0f}")

    boxed = [Counted(word) for word in ordered]
    Counted.comparisons = 0
    for prefix in prefixes:
        bisect_left(boxed, prefix)
        bisect_left(boxed, prefix + "\U0010ffff")
    print(
        f"comparisons of two binary searches: {Counted.comparisons / len(prefixes):.0f}"
    )

    scores = {word: place for place, word in enumerate(rng.sample(words, WORDS), 1)}
    set_best(radix, scores)
    opened, found = [], []
    for letter in sorted(radix.children):
        expected = sorted((scores[w] for w in words if w[0] == letter), reverse=True)
        best, count = top(radix, letter, scores, 10)
        assert best == expected[:10]
        opened.append(count)
        found.append(len(expected))
    print(f"first letters tried: {len(opened)}")
    print("completions wanted: 10")
    print(f"mean words under a first letter: {mean(found):,.0f}")
    print(f"nodes opened for the best completions: {mean(opened):.0f}")


if __name__ == "__main__":
    main()
