"""How fast documents are cut at a new size, beside LangChain's recursive splitter: `python -m bench.cut`.

Every bundled post is cut at many sizes, after a first cut that finds its words, sentences and sections. In the same
run LangChain cuts the same texts by words too, with the places of its chunks; it has nothing to keep from one size to
the next. Both take turns at each size and the medians count. Exit status 1 where we are less than 10 times as fast
with `fixed`, or 5 times with `sentence`, `paragraph` and `recursive`.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from chunking.registry import cut  # noqa: E402 - the path comes first
from chunking.segments import words  # noqa: E402
from chunking.types import Document  # noqa: E402

POSTS = ROOT / "data" / "posts"
LEAST = {"fixed": 10, "sentence": 5, "paragraph": 5, "recursive": 5}  # times as fast as LangChain
THEIRS = "LangChain"
Cut = Callable[[int], int]  # size -> chunks


def documents(folder: Path) -> list[Document]:
    """The Markdown files of a folder."""
    return [Document(path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))]


def our_cut(posts: Sequence[Document], strategy: str) -> Cut:
    """All posts by a strategy of ours."""
    return lambda size: sum(len(cut(post, strategy, {"size": size})) for post in posts)


def their_cut(posts: Sequence[Document]) -> Cut:
    """All posts by LangChain's recursive splitter, counting words, with the place of every chunk."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    texts = [post.text for post in posts]

    def cut_all(size: int) -> int:
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=0, length_function=lambda text: len(text.split()), add_start_index=True
        )
        return len(splitter.create_documents(texts))

    return cut_all


def measured(cuts: dict[str, Cut], sizes: Sequence[int]) -> dict[str, list[float]]:
    """Milliseconds of each cut at each size; all take their turn at a size, and which is first changes."""
    times: dict[str, list[float]] = {name: [] for name in cuts}
    for turn, size in enumerate(sizes):
        names = list(cuts)[turn % len(cuts) :] + list(cuts)[: turn % len(cuts)]
        for name in names:
            begin = time.perf_counter()
            cuts[name](size)
            times[name].append(1000 * (time.perf_counter() - begin))
    return times


def report(times: dict[str, list[float]]) -> int:
    """Prints the medians and how many times as fast as LangChain they are; the exit status."""
    theirs = median(times[THEIRS]) if THEIRS in times else None
    print(f"{'strategy':12}{'ms':>9}{'times as fast':>16}{'at least':>10}")
    slow = []
    for name, values in times.items():
        ratio = theirs / median(values) if theirs and name != THEIRS else None
        least = LEAST.get(name)
        print(f"{name:12}{median(values):>9.2f}{f'{ratio:.1f}' if ratio else '-':>16}{least or '-':>10}")
        if ratio and least and ratio < least:
            slow.append(name)
    if theirs is None:
        print("langchain-text-splitters is not installed: nothing to compare with")
    if slow:
        print(f"too slow: {', '.join(slow)}")
    return 1 if slow else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=POSTS, help="a folder of Markdown (default: the bundled posts)")
    parser.add_argument("--sizes", type=int, default=40, help="how many sizes from 25 to 800 words (default: 40)")
    options = parser.parse_args(arguments)
    posts = documents(options.folder)
    if not posts:
        print(f"bench.cut: there is no Markdown file in {options.folder}", file=sys.stderr)
        return 2
    if options.sizes < 1:
        print(f"bench.cut: --sizes must be at least 1, got {options.sizes}", file=sys.stderr)
        return 2
    cuts = {name: our_cut(posts, name) for name in LEAST}
    if find_spec("langchain_text_splitters"):
        cuts[THEIRS] = their_cut(posts)
    begin = time.perf_counter()
    for once in cuts.values():
        once(20)
    first = 1000 * (time.perf_counter() - begin)
    count = sum(len(words(post).starts) for post in posts)
    sizes = [25 + 775 * turn // max(1, options.sizes - 1) for turn in range(options.sizes)]
    print(
        f"{len(posts)} documents, {count:,} words, {len(sizes)} sizes; the first cut of everything took {first:.0f} ms"
    )
    return report(measured(cuts, sizes))


if __name__ == "__main__":
    sys.exit(main())
