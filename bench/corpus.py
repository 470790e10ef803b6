"""Prints what the bundled corpus shows with the built-in model, through the terminal: the tables of data/README.md.

python -m bench.corpus
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import chunkscope
from chunking.basics import threshold_at
from data.bundled import POSTS, QUESTIONS, bundled

_HEAD = f"{'setting':44} {'chunks':>6} {'hit@5':>7} {'interval':>15} {'split':>6} {'trunc.':>7} {'unread':>7} {'words':>6} {'at 800 words':>12}"
_SUMMARY = re.compile(r"^## (?:Conclusion|Key takeaways)\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def evaluated(arguments: Iterable[str]) -> dict:
    """The trial that the terminal prints for these arguments."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = chunkscope.main(["evaluate", *arguments, "--json"])
    if status:
        raise SystemExit(f"chunkscope evaluate {' '.join(arguments)} ended with status {status}")
    return json.loads(out.getvalue())


def row(title: str, *arguments: str) -> None:
    """One line of a table: a setting at five chunks, and its hit rate within 800 words."""
    trial = evaluated(arguments)
    budget = evaluated([*arguments, "--budget", "800"])
    low, high = trial["hit_rate_interval"]
    truncated = trial["misses"]["truncated"] / trial["questions"]
    print(
        f"{title:44} {trial['chunks']:6} {trial['hit_rate']:7.1%} {low:7.1%}-{high:6.1%} {trial['split_share']:6.1%} "
        f"{truncated:7.1%} {trial['unread_share']:7.1%} {trial['words_sent']:6.0f} {budget['hit_rate']:12.1%}"
    )


def table(title: str, rows: Iterable[tuple[str, list[str]]]) -> None:
    """A titled table."""
    print(f"\n{title}\n{_HEAD}")
    for name, arguments in rows:
        row(name, *arguments)


def setting(strategy: str, **values: float) -> list[str]:
    """The terminal's arguments for a strategy and its settings."""
    return ["--strategy", strategy, *(part for name, value in values.items() for part in ("--set", f"{name}={value}"))]


def without_summaries(folder: Path) -> list[str]:
    """The corpus without conclusions and takeaways, and the questions answered elsewhere; as arguments."""
    (folder / "posts").mkdir()
    for post in POSTS.glob("*.md"):
        (folder / "posts" / post.name).write_text(_SUMMARY.sub("", post.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "questions.jsonl").write_text("".join(_kept()), encoding="utf-8")
    return ["--documents", str(folder / "posts"), "--questions", str(folder / "questions.jsonl")]


def _kept() -> list[str]:
    """The lines of questions whose passages lie outside conclusions and takeaways; offsets and restatements go."""
    texts = [_SUMMARY.sub("", post.read_text(encoding="utf-8")) for post in POSTS.glob("*.md")]
    lines = []
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if all(any(passage in text for text in texts) for passage in fields.get("passages") or [fields["passage"]]):
            for name in ("also", "start", "end", "spans"):
                fields.pop(name, None)
            lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return lines


def main() -> None:
    from cache import open_embedder

    corpus, report = bundled()
    print(
        f"{len(corpus.documents)} documents, {len(corpus.questions)} questions, {len(report.problems)} problems; minilm"
    )
    threshold = threshold_at(corpus, open_embedder("minilm"), 10)
    table("Basic strategies at 200 words", [
        ("whole", setting("whole")), ("fixed 200", setting("fixed", size=200)),
        ("fixed 200, overlap 50", setting("fixed", size=200, overlap=50)), ("sentence 200", setting("sentence", size=200)),
        ("recursive 200", setting("recursive", size=200)), ("parent_child 50/200", setting("parent_child", child=50, parent=200)),
        (f"semantic {threshold} (10th percentile), cap 200", setting("semantic", threshold=threshold, size=200)),
    ])  # fmt: skip
    sizes = (50, 75, 100, 150, 200, 250, 300, 400, 600, 800)
    for strategy in ("fixed", "recursive"):
        table(f"Size, {strategy}", [(f"{strategy} {size}", setting(strategy, size=size)) for size in sizes])
    table(
        "Overlap, fixed 200",
        [(f"overlap {overlap}", setting("fixed", size=200, overlap=overlap)) for overlap in (0, 10, 20, 50, 100)],
    )
    thresholds = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    table("Threshold, semantic, cap 200", [("sentence 200", setting("sentence", size=200)),
          *((f"threshold {value}", setting("semantic", threshold=value, size=200)) for value in thresholds)])  # fmt: skip
    table("Parent and child", [(f"child {child}, parent {parent}", setting("parent_child", child=child, parent=parent))
          for child in (25, 50, 100) for parent in (200, 400, 800)])  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        removed = without_summaries(Path(name))
        kept = ["--documents", str(POSTS), "--questions", removed[-1]]
        table("Conclusions and takeaways kept or removed, the same questions", [
            (f"fixed {size}, {word}", setting("fixed", size=size) + arguments)
            for size in (50, 100, 200, 400, 800) for word, arguments in (("kept", kept), ("removed", removed))
        ])  # fmt: skip


if __name__ == "__main__":
    main()
