"""How fast the built-in model embeds, against sentence-transformers in the same run: `python bench/embed.py`.

The texts are windows of Python's own help pages, which every installation has. Both sides get them in the same order,
in alternation, and the median of the rounds counts. sentence-transformers is used where it is installed, with the
same weights, at 256 tokens and in its usual batches of 32 and also of 8, the better of which counts.
"""

import argparse
import importlib.util
import json
import pydoc_data.topics
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cache.minilm import LIMIT, MiniLM, find_folder  # noqa: E402 - the path comes first

Embed = Callable[[Sequence[str]], np.ndarray]

OURS = "minilm"


def windows(count: int, words: int) -> list[str]:
    """Texts of so many words, one after another through the help pages."""
    pages = [page for _, page in sorted(pydoc_data.topics.topics.items())]
    every = " ".join(pages).split()
    return [" ".join(every[start : start + words]) for start in range(0, count * words, words)]


def our_embed() -> Embed:
    """The built-in model without any cache."""
    model = MiniLM()
    return lambda texts: np.stack([record.vector for record in model.encode(texts)])


def their_embed(batch: int) -> Embed:
    """sentence-transformers on the same weights."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_folder()), device="cpu")
    model.max_seq_length = LIMIT
    return lambda texts: model.encode(list(texts), batch_size=batch, normalize_embeddings=True)


def sides() -> dict[str, Embed]:
    """What is measured, by name; sentence-transformers only where it is installed."""
    found: dict[str, Embed] = {OURS: our_embed()}
    if importlib.util.find_spec("sentence_transformers"):
        found |= {f"sentence-transformers, batch {batch}": their_embed(batch) for batch in (32, 8)}
    return found


def seconds(embeds: dict[str, Embed], texts: Sequence[str], rounds: int) -> dict[str, float]:
    """The median time of each side, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in embeds}
    for _ in range(rounds):
        for name, embed in embeds.items():
            start = time.perf_counter()
            embed(texts)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def lowest_cosine(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The cosine of the two vectors that agree least."""
    theirs = theirs / np.linalg.norm(theirs, axis=1, keepdims=True)
    return float((ours * theirs).sum(axis=1).min())


def report_speed(embeds: dict[str, Embed], texts: Sequence[str], rounds: int) -> None:
    """Prints the texts per second of each side, the ratio, and how well the vectors agree."""
    tokens = int(sum(min(record.tokens or 0, LIMIT) for record in MiniLM().encode(texts)))
    print(f"{len(texts)} texts of {len(texts[0].split())} words, {tokens} tokens read")
    times = seconds(embeds, texts, rounds)
    for name, value in times.items():
        print(f"  {name:35} {len(texts) / value:7.1f} texts/s {tokens / value:9.0f} tokens/s")
    others = {name: value for name, value in times.items() if name != OURS}
    if not others:
        print("  sentence-transformers is not installed, so there is no ratio")
        return
    best = min(others, key=others.__getitem__)
    print(f"  ratio to {best}: {others[best] / times[OURS]:.2f}")
    print(f"  lowest cosine to it: {lowest_cosine(embeds[OURS](texts), embeds[best](texts)):.7f}")


def report_agreement(embed: Embed) -> None:
    """Prints how well the vectors agree with those that sentence-transformers gave for the recorded texts."""
    path = ROOT / "tests" / "fixtures" / "minilm_small.json"
    items = json.loads(path.read_text(encoding="utf-8"))["items"]
    cosine = lowest_cosine(embed([item["text"] for item in items]), np.array([item["vector"] for item in items]))
    print(f"lowest cosine to the recorded vectors of sentence-transformers, {len(items)} texts: {cosine:.7f}")


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each side embeds the texts (default 5)")
    rounds = parser.parse_args().rounds
    start = time.perf_counter()
    ours = our_embed()
    ours(["first"])
    print(f"load and first vector: {time.perf_counter() - start:.2f} s")
    embeds = sides()
    for embed in embeds.values():
        embed(["warm up"])
    for texts in (windows(64, 50), windows(32, 200)):
        report_speed(embeds, texts, rounds)
    report_agreement(ours)


if __name__ == "__main__":
    main()
