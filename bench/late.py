"""What late pooling costs on the bundled posts, beside embedding chunks alone: `python -m bench.late`.

The posts' tokens are read once; then the chunks of `recursive` at 16 sizes are pooled from the kept sums, and no model
runs. In the same run the chunks of one size are embedded alone. Stores lie in a temporary folder.
With `--windows 126 254 510` the tokens are read in windows of these sizes instead, and the questions are counted whose
passages lie whole in one of the five best chunks: this is what the window was chosen by.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cache import minilm
from cache.embedder import CachedEmbedder, TokenReader
from cache.minilm import MiniLM
from cache.store import Store
from chunking.ranking import cosine_scores, rank
from chunking.registry import cut
from chunking.types import Chunks, Corpus, Document, Passage, TokenSums, Vectors
from data.bundled import bundled

SIZES = (25, 50, 75, 100, 125, 150, 175, 200, 250, 300, 350, 400, 500, 600, 700, 800)
ALONE = 200  # words; the size whose chunks are embedded alone
ASKED = (50, 100, 200, 400)  # words; the sizes that questions are asked of
BEST = 5


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def opened(store: Store | None) -> tuple[CachedEmbedder, TokenReader]:
    """The built-in model, loaded, and its reader of tokens."""
    embedder = CachedEmbedder(MiniLM(), store)
    reader = embedder.token_reader
    assert reader is not None
    reader(["warm up"])
    return embedder, reader


def cuts(documents: Sequence[Document], size: int) -> list[Chunks]:
    """The chunks of every document."""
    return [cut(document, "recursive", {"size": size}) for document in documents]


def places(documents: Sequence[Document], chunks: Sequence[Chunks]) -> list[Passage]:
    """The chunks of all documents, one after another."""
    pairs = zip(documents, chunks, strict=True)
    return [Passage(document.id, start, end) for document, own in pairs for start, end, _, _ in own]


def texts_of(documents: Sequence[Document], chunks: Sequence[Passage]) -> list[str]:
    """What the chunks hold."""
    by_id = {document.id: document.text for document in documents}
    return [by_id[chunk.document][chunk.start : chunk.end] for chunk in chunks]


def pooled(sums: Sequence[TokenSums], chunks: Sequence[Chunks]) -> Vectors:
    """(n, 384) unit rows: the mean of the tokens that lie in each chunk."""
    rows = []
    for own, spans in zip(sums, chunks, strict=True):
        first = np.searchsorted(own.starts, spans.starts)
        last = np.searchsorted(own.ends, spans.ends, side="right")
        rows.append(own.sums[last] - own.sums[first])
    total = np.concatenate(rows)
    return (total / np.linalg.norm(total, axis=1, keepdims=True)).astype(np.float32)


def report_reading(documents: Sequence[Document], folder: Path) -> list[TokenSums]:
    """Prints what reading the tokens once takes, in time and in the store; the sums."""
    texts = [document.text for document in documents]
    store = Store(folder)
    _, reader = opened(store)
    windows, volume = store.count(), store.volume()
    reading = seconds(lambda: reader(texts))
    sums = reader(texts)
    tokens = sum(len(own.starts) for own in sums)
    print(f"{len(texts)} documents, {tokens:,} tokens, read once in {reading:.1f} s ({tokens / reading:,.0f} tokens/s)")
    print(f"stored: {store.count() - windows} windows, {(store.volume() - volume) / 1e6:.1f} MB")
    _, again = opened(Store(folder))
    print(f"from the store, at the next start: {seconds(lambda: again(texts)):.2f} s")
    return sums


def report_pooling(documents: Sequence[Document], sums: Sequence[TokenSums], folder: Path) -> None:
    """Prints what pooling takes at a size, and the ratio to embedding the chunks of one size alone."""
    cutting = [cuts(documents, size) for size in SIZES]
    pooling = seconds(lambda: [pooled(sums, chunks) for chunks in cutting]) / len(SIZES)
    count = sum(len(own) for chunks in cutting for own in chunks)
    print(f"pooling at {len(SIZES)} sizes, {count:,} chunks: {1000 * pooling:.1f} ms a size")

    embedder, _ = opened(Store(folder))
    alone = texts_of(documents, places(documents, cuts(documents, ALONE)))
    embedding = seconds(lambda: embedder(alone, "document"))
    print(f"{len(alone)} chunks of {ALONE} words embedded alone: {embedding:.1f} s, {embedding / pooling:,.0f} times")


def found(corpus: Corpus, chunks: Sequence[Passage], vectors: Vectors, asked: Vectors) -> int:
    """Questions each of whose needs has a passage whole in one of the best chunks."""
    order = rank(cosine_scores(asked, vectors))[:, :BEST]
    hits = 0
    for question, best in zip(corpus.questions, order.tolist(), strict=True):
        sent = [chunks[index] for index in best]
        hits += all(any(_holds(span, passage) for span in sent for passage in need) for need in question.needs)
    return hits


def _holds(span: Passage, passage: Passage) -> bool:
    return span.document == passage.document and span.start <= passage.start and passage.end <= span.end


def report_windows(corpus: Corpus, windows: Sequence[int]) -> None:
    """Prints the questions found at each size of chunks, embedded alone and read in windows of each size."""
    documents = corpus.documents
    embedder, _ = opened(None)
    asked = embedder([question.text for question in corpus.questions], "query")
    cutting = {size: cuts(documents, size) for size in ASKED}
    spans = {size: places(documents, chunks) for size, chunks in cutting.items()}

    def row(title: str, vectors: Callable[[int], Vectors]) -> None:
        counts = [found(corpus, spans[size], vectors(size), asked) for size in ASKED]
        print(f"{title:20}" + "".join(f"{count:>6}" for count in counts), flush=True)

    print(f"found of {len(corpus.questions)}, chunks of" + "".join(f"{size:>6}" for size in ASKED))
    row("alone", lambda size: embedder(texts_of(documents, spans[size]), "document"))
    for window in windows:
        minilm.WINDOW, minilm.STRIDE = window, max(1, window // 2)
        sums = opened(None)[1]([document.text for document in documents])
        row(f"windows of {window}", lambda size, sums=sums: pooled(sums, cutting[size]))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", metavar="TOKENS", help="sizes of windows to compare, to 510")
    windows = parser.parse_args().windows
    corpus, _ = bundled()
    if windows:
        report_windows(corpus, windows)
        return
    with tempfile.TemporaryDirectory() as folder:
        sums = report_reading(corpus.documents, Path(folder) / "late")
        report_pooling(corpus.documents, sums, Path(folder) / "alone")


if __name__ == "__main__":
    main()
