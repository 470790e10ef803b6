"""How fast documents are cut at a new setting, beside the peers doing the same job: `python -m bench.cut`.

Two texts: the bundled posts, and those repeated to five million characters in one document. What is found in a text
once (its words, sentences, blocks) is paid for by the first cut; every later setting is arithmetic. The peers have
nothing to keep from one setting to the next, and cut by words with the place of every chunk, or in the unit that suits
them best. All take turns; processor time counts, of three neighbouring sizes the fastest; the medians are told. Cutting by meaning is timed with vectors at
hand, as it is from the second cut on.

Exit status 1 where a later cut of ours is less than 10 times as fast as LangChain's by words, or not faster than each
peer in its fastest unit; where 16 sizes of `fixed`, first cut included, take longer than with a peer by words; or where
the first cut of `fixed` is slower than LangChain's.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from chunking.joined import Joined  # noqa: E402 - the path comes first
from chunking.registry import cut_joined  # noqa: E402
from chunking.types import Document  # noqa: E402

POSTS = ROOT / "data" / "posts"
LANGCHAIN = "LangChain recursive, words"
LEAST = 10  # times as fast as LangChain by words
CHARACTERS = 6  # of a word with its space, for peers that do not count words
SWEEP = 16
TRIES = 3  # neighbouring sizes of which the fastest counts: so that what ran before matters less
Cut = Callable[[int], Any]  # of all texts at a size in words


class Meaning:
    """Vectors without a model: of each text the same at every call."""

    name = identity = "at hand"
    token_spans = token_sums = None

    def __call__(self, texts: Sequence[str], kind: str) -> np.ndarray:
        rows = np.random.default_rng(len(texts)).standard_normal((len(texts), 64)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@dataclass(frozen=True)
class Ours:
    """A strategy of ours with its settings at a size."""

    name: str
    strategy: str
    settings: Callable[[int], dict[str, Any]]


OURS = (
    Ours("fixed", "fixed", lambda size: {"size": size}),
    Ours("fixed, overlap", "fixed", lambda size: {"size": size, "overlap": size // 4}),
    Ours("sentence", "sentence", lambda size: {"size": size}),
    Ours("paragraph", "paragraph", lambda size: {"size": size}),
    Ours("recursive", "recursive", lambda size: {"size": size}),
    Ours("recursive, overlap", "recursive", lambda size: {"size": size, "overlap": size // 4}),
    Ours("structure", "structure", lambda size: {"size": size}),
    Ours("semantic, threshold", "semantic", lambda size: {"size": size, "threshold": round(size / 1000 - 0.4, 2)}),
    Ours("semantic, percentile", "semantic", lambda size: {"size": size, "percentile": 50 + size / 20}),
    Ours("cluster", "cluster", lambda size: {"size": max(100, size)}),
    Ours("parent_child, child", "parent_child", lambda size: {"child": max(1, size // 4), "parent": 800}),
    Ours("parent_child, parent", "parent_child", lambda size: {"child": min(50, size), "parent": size}),
    Ours("parent_child, fixed", "parent_child", lambda size: {"child": max(1, size // 4), "parent": size, "base": "fixed"}),
    Ours("sentence_window", "sentence_window", lambda size: {"window": size % 11}),
    Ours("multi", "multi", lambda size: {"sizes": [size, 2 * size, 4 * size]}),
)  # fmt: skip


def langchain(texts: Sequence[str], words: bool) -> Cut:
    """LangChain's recursive splitter, by words with start indices, or by characters."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    def cut(size: int) -> Any:
        length = (lambda text: len(text.split())) if words else len
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=size if words else CHARACTERS * size,
            chunk_overlap=0,
            length_function=length,
            add_start_index=True,
        )
        return splitter.create_documents(list(texts))

    return cut


def semchunk(texts: Sequence[str], words: bool) -> Cut:
    """semchunk, by words or by characters."""
    from semchunk import chunkerify

    def cut(size: int) -> Any:
        chunker = chunkerify((lambda text: len(text.split())) if words else len, size if words else CHARACTERS * size)
        return [chunker(text, offsets=True) for text in texts]

    return cut


def semantic_text_splitter(texts: Sequence[str]) -> Cut:
    """semantic-text-splitter, by characters."""
    from semantic_text_splitter import TextSplitter

    return lambda size: [TextSplitter(CHARACTERS * size).chunk_indices(text) for text in texts]


def chonkie(texts: Sequence[str], name: str, words: bool, **settings: str) -> Cut:
    """One of Chonkie's chunkers."""
    import chonkie as library

    def cut(size: int) -> Any:
        chunker = getattr(library, name)(chunk_size=size if words else CHARACTERS * size, **settings)
        return [chunker.chunk(text) for text in texts]

    return cut


def peers(texts: Sequence[str]) -> dict[str, Cut]:
    """Those of the peers that are installed; the ones that cut by words say so in their names."""
    found: dict[str, Cut] = {}
    if find_spec("langchain_text_splitters"):
        found[LANGCHAIN] = langchain(texts, words=True)
        found["LangChain recursive, characters"] = langchain(texts, words=False)
    if find_spec("chonkie"):
        found["Chonkie token, words"] = chonkie(texts, "TokenChunker", True, tokenizer="word")
        found["Chonkie recursive, characters"] = chonkie(texts, "RecursiveChunker", False, tokenizer="character")
        found["Chonkie fast, bytes"] = chonkie(texts, "FastChunker", False)
    if find_spec("semchunk"):
        found["semchunk, words"] = semchunk(texts, words=True)
        found["semchunk, characters"] = semchunk(texts, words=False)
    if find_spec("semantic_text_splitter"):
        found["semantic-text-splitter, characters"] = semantic_text_splitter(texts)
    return found


def milliseconds(cut: Cut, size: int) -> float:
    """Processor time of one cut."""
    begin = time.process_time()
    cut(size)
    return 1000 * (time.process_time() - begin)


def ours(texts: Sequence[str], one: Ours) -> Cut:
    """A strategy over documents in which nothing has been found yet."""
    source = Joined(tuple(Document(str(number), text) for number, text in enumerate(texts)))
    return lambda size: cut_joined(source, one.strategy, one.settings(size), embed=Meaning())


def first_and_sweep(texts: Sequence[str], cuts: dict[str, Cut], sizes: Sequence[int]) -> tuple[dict[str, float], float]:
    """The first cut of each strategy on texts not yet seen, and `fixed` at all sizes, the first included."""
    firsts = {one.name: milliseconds(ours(texts, one), 200) for one in OURS}
    fresh = ours(texts, OURS[0])
    return firsts, sum(milliseconds(fresh, size) for size in sizes)


def measured(cuts: dict[str, Cut], sizes: Sequence[int]) -> dict[str, float]:
    """The median of the later cuts of each; all take their turn at a size, and which is first changes."""
    times: dict[str, list[float]] = {name: [] for name in cuts}
    for turn, size in enumerate(sizes):
        names = list(cuts)[turn % len(cuts) :] + list(cuts)[: turn % len(cuts)]
        for name in names:
            times[name].append(min(milliseconds(cuts[name], size + more) for more in range(TRIES)))
    return {name: median(values) for name, values in times.items()}


def compare(title: str, texts: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Prints the table of one text, and gives what is slower than it should be."""
    theirs = peers(texts)
    cuts = {one.name: ours(texts, one) for one in OURS}
    for cut in cuts.values():
        cut(sizes[0] + 1)
    times = measured(cuts | theirs, sizes)
    sweep_sizes = [50 + 750 * turn // (SWEEP - 1) for turn in range(SWEEP)]
    firsts, sweep = first_and_sweep(texts, cuts, sweep_sizes)
    base = times.get(LANGCHAIN)
    rivals = {name: times[name] for name in theirs}
    print(f"\n{title}\n{'':36}{'first ms':>10}{'later ms':>10}{'times LangChain':>17}")
    for name, value in times.items():
        ratio = f"{base / value:.1f}" if base and name != LANGCHAIN else "-"
        print(f"{name:36}{f'{firsts[name]:.1f}' if name in firsts else '':>10}{value:>10.2f}{ratio:>17}")
    faults = [f"{title}: {name} is {base / times[name]:.1f} times as fast as LangChain, at least {LEAST} is asked"
              for name in cuts if base and base < LEAST * times[name]]  # fmt: skip
    faults += [f"{title}: {name} ({times[name]:.2f} ms) is not faster than {rival} ({value:.2f} ms)"
               for name in cuts for rival, value in rivals.items() if times[name] >= value]  # fmt: skip
    by_words = {name: SWEEP * value for name, value in rivals.items() if name.endswith("words")}
    told = "".join(f"; {name} {value:,.0f} ms" for name, value in by_words.items())
    print(f"{SWEEP} sizes of fixed, the first cut included: {sweep:,.0f} ms{told}")
    faults += [f"{title}: {SWEEP} sizes of fixed ({sweep:.0f} ms) are not faster than with {name} ({value:.0f} ms)"
               for name, value in by_words.items() if sweep >= value]  # fmt: skip
    if base and firsts["fixed"] > base:
        faults.append(
            f"{title}: the first cut of fixed ({firsts['fixed']:.0f} ms) is slower than LangChain's ({base:.0f} ms)"
        )
    return faults


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=POSTS, help="a folder of Markdown (default: the bundled posts)")
    parser.add_argument("--sizes", type=int, default=15, help="how many sizes from 50 to 800 words (default: 15)")
    parser.add_argument(
        "--characters", type=int, default=5_000_000, help="length of the long text (default: 5 million)"
    )
    options = parser.parse_args(arguments)
    texts = [path.read_text(encoding="utf-8") for path in sorted(options.folder.glob("*.md"))]
    if not texts:
        print(f"bench.cut: there is no Markdown file in {options.folder}", file=sys.stderr)
        return 2
    if options.sizes < 2 or options.characters < 1:
        print(f"bench.cut: at least 2 sizes and 1 character are needed, got {options.sizes} and {options.characters}",
              file=sys.stderr)  # fmt: skip
        return 2
    sizes = [50 + 750 * turn // (options.sizes - 1) for turn in range(options.sizes)]
    together = "\n\n".join(texts) + "\n\n"
    long = (together * (options.characters // len(together) + 1))[: options.characters]
    faults = compare(f"{len(texts)} documents, {sum(map(len, texts)):,} characters", texts, sizes)
    faults += compare(f"one document of {len(long):,} characters", [long], sizes[:: max(1, len(sizes) // 5)])
    print("\n" + "\n".join(faults or ["Nothing is slower than it should be."]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
