"""How our `recursive` differs from LangChain's recursive splitter: `python -m bench.recursive`.

Both cut every bundled post at the same size in words, LangChain's with its own separators. A boundary is where a chunk
begins, the first of a document aside. The two are read side by side: the first boundary that only one of them has,
after one that both have, is a difference in the rules, and its kind says in which. What follows up to the next common
boundary is packed on from there, and is counted by the kind of its place alone. Exit status 1 where a difference has no
known reason.
"""

import argparse
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from chunking.joined import alone  # noqa: E402 - the path comes first
from chunking.libraries.langchain import langchain_recursive  # noqa: E402
from chunking.parts import part_of  # noqa: E402
from chunking.registry import cut  # noqa: E402
from chunking.types import Chunks, Document  # noqa: E402
from chunking.units import Unit  # noqa: E402

POSTS = ROOT / "data" / "posts"
SIZES = (50, 100, 200, 400)
OURS, THEIRS = "ours", "theirs"
UNEXPLAINED = "unexplained"
Kind = tuple[str, str]  # the place, and the reason why only one of them cuts there

#: Who cuts where the other goes on, and why.
REASONS = {
    (OURS, "heading"): "ours keeps a section whole that fits; LangChain knows no headings and fills up from it",
    (OURS, "paragraph"): "ours keeps code whole that fits; LangChain fills up to a blank line in it",
    (OURS, "sentence"): "ours ends with a whole sentence; LangChain fills up to a line end or a word",
    (OURS, "line end"): "ours ends with a whole line of code, list or table; LangChain fills up to a word",
    (THEIRS, "heading"): "LangChain packs a paragraph over the limit by itself; ours packs across",
    (THEIRS, "paragraph"): "LangChain packs a paragraph over the limit by itself; ours packs across",
    (THEIRS, "blank line in code"): "LangChain parts code at blank lines first; ours fills up by lines of code",
    (THEIRS, "line end"): "LangChain parts a paragraph at line ends first; ours fills up by sentences",
}
PACKED = "packed on from an earlier difference"


def documents(folder: Path) -> list[Document]:
    """The Markdown files of a folder."""
    return [Document(path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))]


def boundaries(chunks: Chunks) -> set[int]:
    """Where the chunks begin, but for the first."""
    return set(chunks.starts[1:].tolist())


def cuts(document: Document, size: int) -> tuple[set[int], set[int]]:
    """Our boundaries in a document, and LangChain's."""
    part = part_of(alone(document), "document")
    theirs = langchain_recursive(part, size, 0, Unit("words"), "default")
    return boundaries(cut(document, "recursive", {"size": size})), boundaries(theirs)


def place(document: Document, boundary: int) -> str:
    """What kind of place a boundary is: the coarsest that fits."""
    source = alone(document)
    for level, name in (("section", "heading"), ("paragraph", "paragraph")):
        if _among(source.level(level).tolist(), boundary):
            return name
    before = document.text[:boundary].rstrip(" \t")
    if before.endswith("\n"):
        return "blank line in code" if before.endswith("\n\n") else "line end"
    return "sentence" if _among(source.level("sentence").tolist(), boundary) else "word"


def _among(starts: list[int], boundary: int) -> bool:
    at = bisect_left(starts, boundary)
    return at < len(starts) and starts[at] == boundary


def differences(document: Document, ours: set[int], theirs: set[int]) -> Iterator[tuple[str, Kind]]:
    """Who has each boundary that the other has not, and its kind."""
    together = True
    for boundary in sorted(ours | theirs):
        if boundary in ours and boundary in theirs:
            together = True
            continue
        side, where = OURS if boundary in ours else THEIRS, place(document, boundary)
        yield side, (where, REASONS.get((side, where), UNEXPLAINED) if together else PACKED)
        together = False


def compare(posts: Sequence[Document], size: int) -> tuple[int, Counter[tuple[str, Kind]]]:
    """How many boundaries both have, and how many of each kind only one has."""
    common, counts = 0, Counter[tuple[str, Kind]]()
    for post in posts:
        ours, theirs = cuts(post, size)
        common += len(ours & theirs)
        counts.update(differences(post, ours, theirs))
    return common, counts


def report(size: int, common: int, counts: Counter[tuple[str, Kind]]) -> None:
    """Prints the table of one size; its rows add up to the two sums of its first line."""
    sums = {side: sum(count for (one, _), count in counts.items() if one == side) for side in (OURS, THEIRS)}
    print(f"\n{size} words: {common} boundaries in both, {sums[OURS]} only ours, {sums[THEIRS]} only theirs")
    print(f"{'ours':>8}{'theirs':>8}  {'at a':20}because")
    kinds = {kind for _, kind in counts}
    for kind in sorted(kinds, key=lambda kind: (kind[1] == PACKED, -counts[OURS, kind] - counts[THEIRS, kind], kind)):
        where, reason = kind
        print(f"{counts[OURS, kind] or '-':>8}{counts[THEIRS, kind] or '-':>8}  {where:20}{reason}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=POSTS, help="a folder of Markdown (default: the bundled posts)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="words (default: 50 100 200 400)")
    options = parser.parse_args(arguments)
    posts = documents(options.folder)
    if not posts:
        print(f"bench.recursive: there is no Markdown file in {options.folder}", file=sys.stderr)
        return 2
    if not find_spec("langchain_text_splitters"):
        print("langchain-text-splitters is not installed: nothing to compare with")
        return 0
    print(f"{len(posts)} documents, our recursive and LangChain's with its own separators")
    unexplained = 0
    for size in options.sizes:
        common, counts = compare(posts, size)
        report(size, common, counts)
        unexplained += sum(count for (_, (_, reason)), count in counts.items() if reason == UNEXPLAINED)
    print(f"\n{f'without a known reason: {unexplained}' if unexplained else 'Every difference has a known reason.'}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
