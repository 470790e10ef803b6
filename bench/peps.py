"""Whether we cut and rank as a plain script outside of this program did, on six PEPs: `python -m bench.peps`.

The folder (by default ../shared/peps) holds the documents, 40 questions, every chunk of thirteen cuts and the rank of
every question's passage. Cuts by the same rules must have identical chunks and ranks (scores nearer than 0.00001 may
change places). Where our rules differ by design, each chunk and rank that differs is listed with its cause, which is
worked out by changing that one rule in the published cut. Exit status 1 where something differs without such a cause.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from chunking.context import prefixes, with_prefix  # noqa: E402 - the path comes first
from chunking.experiment import run  # noqa: E402
from chunking.index import Config  # noqa: E402
from chunking.ranking import cosine_scores  # noqa: E402
from chunking.registry import cut  # noqa: E402
from chunking.segments import blocks  # noqa: E402
from chunking.types import Chunks, Corpus, Document, Embed, Passage, Question  # noqa: E402

FOLDER = ROOT.parent / "shared" / "peps"
NEAR = 0.00001
Place = tuple[str, int, int]  # file, start, end


@dataclass(frozen=True)
class Rule:
    """How we cut what a published cut cut."""

    strategy: str
    settings: dict[str, Any]
    scope: str = "document"
    context: str = "none"
    differs: bool = False  # by design

    @property
    def config(self) -> Config:
        """The same as the configuration of a trial; every rank up to the last is looked at."""
        return Config.of(self.strategy, self.settings, scope=self.scope, context=self.context)


RULES = {
    **{f"whole{size}": Rule("fixed", {"size": size}) for size in (50, 100, 200, 400, 800)},
    "fixed120": Rule("fixed", {"size": 120}, "body"),
    "sections": Rule("section", {}, "body", "heading"),
    "parent_child_50_200": Rule("parent_child", {"child": 50, "parent": 200, "base": "fixed"}),
    "fixed120_overlap30": Rule("fixed", {"size": 120, "overlap": 30}, "body", differs=True),
    "paragraphs120": Rule("paragraph", {"size": 120, "oversize": "keep"}, "body", differs=True),
    "paragraphs120_title": Rule("paragraph", {"size": 120, "oversize": "keep"}, "body", "heading", differs=True),
    "paragraphs120_cut": Rule("paragraph", {"size": 120, "oversize": "cut"}, "body", differs=True),
}
if find_spec("langchain_text_splitters"):
    RULES["recursive200"] = Rule("langchain_recursive", {"size": 200, "separators": "words"})


@dataclass
class Outcome:
    """What came of one cut: how many chunks, which differ and why, which ranks differ and why."""

    name: str
    published: int
    ours: int
    by_design: bool = False
    chunks: dict[Place, str] = field(default_factory=dict)  # chunk that only one side has -> cause
    added: set[Place] = field(default_factory=set)  # those of them that are ours
    texts: dict[Place, str] = field(default_factory=dict)  # chunk of both sides -> what differs in its title or words
    ranks: dict[str, str] = field(default_factory=dict)  # question -> ranks and cause
    near_ties: list[str] = field(default_factory=list)
    ranked: int | None = None
    theirs: bool = False  # ranked on their chunks instead of ours
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether something differs that should not."""
        unexplained = "unexplained"
        if not self.by_design:
            return bool(self.chunks or self.texts or self.ranks)
        causes = (*self.chunks.values(), *self.texts.values(), *self.ranks.values())
        return any(unexplained in cause for cause in causes)


@dataclass(frozen=True)
class Peps:
    """The folder, read."""

    corpus: Corpus
    chunks: dict[str, list[list[Any]]]  # cut -> rows of file, start, end, words and sometimes title or parent
    expected: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Peps":
        """All that the folder holds."""
        paths = sorted((folder / "corpus").glob("*.md"))
        documents = tuple(Document(path.name, path.read_bytes().decode()) for path in paths)
        rows = map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines())
        questions = tuple(
            Question(row["id"], row["question"], ((Passage(row["document"], row["start"], row["end"]),),))
            for row in rows
        )
        chunks = json.loads((folder / "expected_chunks.json").read_text(encoding="utf-8"))
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        return cls(Corpus(documents, questions), chunks, expected)

    @cached_property
    def bodies(self) -> list[Place]:
        """The sections without their headings, as the published cuts take them."""
        return [(row["doc"], row["body_start"], row["body_end"]) for row in self.expected["sections"]]

    def text(self, place: Place) -> str:
        """The text of a place."""
        return self.corpus.by_id[place[0]].text[place[1] : place[2]]

    def passage_ranks(self, name: str) -> dict[str, int | None]:
        """The published rank of each question's passage."""
        return {row["id"]: row["passage_rank"] for row in self.expected["cuts"][name]["per_question"]}


def places(peps: Peps, rule: Rule) -> list[Place]:
    """Our returned spans, in order, each once."""
    found: dict[Place, None] = {}
    for document in peps.corpus.documents:
        for _, _, start, end in cut(document, rule.strategy, rule.settings, rule.scope):
            found[document.id, start, end] = None
    return list(found)


def children(peps: Peps, rule: Rule) -> list[Place]:
    """Our matched spans, in order."""
    return [
        (document.id, start, end)
        for document in peps.corpus.documents
        for start, end, _, _ in cut(document, rule.strategy, rule.settings, rule.scope)
    ]


def compare_chunks(peps: Peps, name: str, rule: Rule) -> Outcome:
    """Our chunks against the published ones, and each that only one side has with its cause."""
    published = [(row[0], row[1], row[2]) for row in peps.chunks[name]]
    ours = places(peps, rule)
    outcome = Outcome(name, len(published), len(ours), rule.differs, added=set(ours) - set(published))
    for place in sorted(set(published) ^ set(ours)):
        outcome.chunks[place] = cause(peps, rule, place, set(published), set(ours)) if rule.differs else "unexplained"
    if f"{name}/children" in peps.chunks:
        theirs = [(row[0], row[1], row[2]) for row in peps.chunks[f"{name}/children"]]
        outcome.chunks |= dict.fromkeys(set(theirs) ^ set(children(peps, rule)), "unexplained: a child")
    for row in peps.chunks[name]:
        if (place := (row[0], row[1], row[2])) in set(ours) and (fault := title_or_words(peps, rule, place, row[3:])):
            outcome.texts[place] = fault
    return outcome


def title_or_words(peps: Peps, rule: Rule, place: Place, published: Sequence[Any]) -> str:
    """What is wrong with the words or the title of a chunk; '' where both are as published."""
    document = peps.corpus.by_id[place[0]]
    [prefix] = prefixes(document, Chunks.plain(np.array([place[1]]), np.array([place[2]])), rule.context)
    words, *title = published
    if title and title[0] != prefix:
        return f"unexplained: published title {title[0]!r}, ours {prefix!r}"
    counted = len(with_prefix(title[0] if title else "", peps.text(place)).split())
    return "" if counted == words else f"unexplained: published {words} words, ours {counted}"


def cause(peps: Peps, rule: Rule, place: Place, theirs: set[Place], ours: set[Place]) -> str:
    """Why only one side has a chunk."""
    if rule.strategy == "fixed":
        inside = any(one[0] == place[0] and one[1] <= place[1] and place[2] <= one[2] for one in ours)
        return "a last window that is an overlap alone" if inside and place in theirs else "unexplained"
    body = next(body for body in peps.bodies if lies_in(place, body))
    here, there = ({one for one in side if lies_in(one, body)} for side in (ours, theirs))
    if {*published_paragraphs(peps, body, rule)} != there:
        return "unexplained: the published rule does not give their chunks"
    changed = (name for name, change in CHANGES.items() if {*published_paragraphs(peps, body, rule, **change)} == here)
    return next(changed, "unexplained")


def lies_in(place: Place, body: Place) -> bool:
    """Whether a chunk is one of a section."""
    return place[0] == body[0] and body[1] <= place[1] < body[2]


CHANGES: dict[str, dict[str, bool]] = {
    "a blank line inside a fence": {"fences": True},
    "a long paragraph cut between sentences": {"sentences": True},
    "both: a blank line inside a fence, a long paragraph cut between sentences": {"fences": True, "sentences": True},
}


def published_paragraphs(
    peps: Peps, body: Place, rule: Rule, fences: bool = False, sentences: bool = False
) -> Iterator[Place]:
    """The chunks of a section by the published rule: split at blank lines, packed up to the limit in words.

    Where the rule cuts, a longer paragraph is cut into runs of so many words first. The two changes that are ours: with
    `fences` blank lines inside a fence split nothing, with `sentences` a longer paragraph is cut between sentences.
    """
    document, size = peps.corpus.by_id[body[0]], rule.settings["size"]
    cuts = rule.settings["oversize"] == "cut"
    pieces: list[tuple[int, int]] = []
    for start, end in paragraphs(document.text, body[1], body[2], fences):
        long = cuts and len(document.text[start:end].split()) > size
        pieces += shortened(document, start, end, size, sentences) if long else [(start, end)]
    chunk = pieces[0]
    for start, end in pieces[1:]:
        if len(document.text[chunk[0] : end].split()) <= size:
            chunk = (chunk[0], end)
        else:
            yield (document.id, *chunk)
            chunk = (start, end)
    yield (document.id, *chunk)


def paragraphs(text: str, start: int, end: int, fences: bool) -> Iterator[tuple[int, int]]:
    """The paragraphs between blank lines; with `fences`, blank lines inside a fence do not count."""
    first = last = -1
    fenced = False
    for line in re.finditer(r"[^\n]*\n?", text[start:end]):
        source = line.group()
        if source.strip():
            first = start + line.start() if first < 0 else first
            last = start + line.start() + len(source.rstrip())
            fenced ^= fences and source.lstrip().startswith("```")
        elif not fenced and first >= 0:
            yield first + leading(text, first), last
            first = -1
    if first >= 0:
        yield first + leading(text, first), last


def leading(text: str, place: int) -> int:
    """The white space from a place on."""
    return len(text) - place - len(text[place:].lstrip())


def shortened(document: Document, start: int, end: int, size: int, sentences: bool) -> Iterator[tuple[int, int]]:
    """A long paragraph as runs of words, or as its sentences (and the words of those that are too long)."""
    spans = [(start + word.start(), start + word.end()) for word in re.finditer(r"\S+", document.text[start:end])]
    if not sentences:
        for first in range(0, len(spans), size):
            run_of = spans[first : first + size]
            yield run_of[0][0], run_of[-1][1]
        return
    inner = [place for place in blocks(document).sentences.tolist() if start < place < end]
    for first, stop in pairwise([start, *inner, end]):
        held = [span for span in spans if first <= span[0] < stop]
        yield from [(held[0][0], held[-1][1])] if len(held) <= size else held


def compare_ranks(peps: Peps, outcome: Outcome, rule: Rule, embed: Embed) -> None:
    """Our rank of every passage against the published one; differences and near ties go into the outcome."""
    trial = run(peps.corpus, rule.config, embed)
    index = trial.index
    questions = embed([question.text for question in peps.corpus.questions], "query")
    scores = best_scores(cosine_scores(questions, embed(index.texts, "document")), index.returned, len(index.spans))
    spans = [(span.document, span.start, span.end) for span in index.spans]
    ranks = {result.question.id: result.rank for result in trial.results}
    outcome.ranked = len(ranks)
    judge(peps, outcome, ranks, dict(zip(ranks, scores, strict=True)), spans)


def best_scores(scores: np.ndarray, returned: np.ndarray, spans: int) -> np.ndarray:
    """The best score of each returned span for each question, (q, u)."""
    best = np.full((len(scores), spans), -2.0)
    np.maximum.at(best, (slice(None), returned), scores)
    return best


def judge(
    peps: Peps, outcome: Outcome, ranks: dict[str, int | None], scores: dict[str, np.ndarray], spans: list[Place]
) -> None:
    """Sorts each question whose rank differs into near ties and differences, with the cause of these."""
    published = peps.passage_ranks(outcome.name)
    for question in peps.corpus.questions:
        theirs, ours = published[question.id], ranks[question.id]
        [[passage]] = question.needs
        if theirs == ours:
            continue
        if ours and theirs and near_tie(scores[question.id], holding(spans, passage), theirs):
            outcome.near_ties.append(question.id)
            continue
        reason = rank_cause(outcome, passage) if outcome.by_design else "unexplained"
        outcome.ranks[question.id] = f"rank {theirs} published, {ours} ours: {reason}"


def holding(spans: Sequence[Place], passage: Passage) -> list[int]:
    """The spans that hold a passage whole."""
    return [
        number
        for number, (name, start, end) in enumerate(spans)
        if name == passage.document and start <= passage.start and passage.end <= end
    ]


def near_tie(scores: np.ndarray, held: list[int], published: int) -> bool:
    """Whether the published rank is possible once scores nearer than 0.00001 to the best hit's may change places."""
    best = max(scores[held])
    return int((scores > best + NEAR).sum()) < published <= int((scores >= best - NEAR).sum())


def rank_cause(outcome: Outcome, passage: Passage) -> str:
    """Why a rank differs where the chunks do: the passage's own chunk, or others that rank above it."""
    own = [cause for place, cause in outcome.chunks.items() if holding([place], passage)]
    causes = sorted(set(own or [*outcome.chunks.values(), *outcome.texts.values()]))
    where = "the passage's own chunk" if own else "other chunks"
    return f"{where}: {'; '.join(causes)}" if causes else "unexplained"


def check_given_chunks(peps: Peps, name: str, embed: Embed) -> Outcome:
    """The published ranks from the published chunks: what our embedder and our ranking make of them."""
    rows = peps.chunks.get(f"{name}/children", peps.chunks[name])
    titled = len(peps.chunks[name][0]) > 4
    texts = [with_prefix(row[4] if titled else "", peps.text((row[0], row[1], row[2]))) for row in rows]
    parents = np.array([row[4] if not titled and len(row) > 4 else number for number, row in enumerate(rows)])
    spans = [(row[0], row[1], row[2]) for row in peps.chunks[name]]
    questions = embed([question.text for question in peps.corpus.questions], "query")
    scores = best_scores(cosine_scores(questions, embed(texts, "document")), parents, len(spans))
    outcome = Outcome(name, len(spans), len(spans), ranked=len(questions), theirs=True)
    ranks = {
        question.id: place_of(row, holding(spans, question.needs[0][0]))
        for question, row in zip(peps.corpus.questions, scores, strict=True)
    }
    judge(peps, outcome, ranks, dict(zip(ranks, scores, strict=True)), spans)
    return outcome


def place_of(scores: np.ndarray, held: list[int]) -> int | None:
    """The place, from 1, of the first of the held spans by descending score."""
    order = np.argsort(-scores, kind="stable")
    found = np.flatnonzero(np.isin(order, held))
    return int(found[0]) + 1 if len(found) else None


def outcomes(peps: Peps, embed: Embed | None) -> Iterator[Outcome]:
    """Every cut, one after another."""
    for name, rule in RULES.items():
        outcome = compare_chunks(peps, name, rule)
        if embed:
            compare_ranks(peps, outcome, rule, embed)
        yield outcome
    if embed:
        for name in [name for name, rule in RULES.items() if rule.differs]:
            yield check_given_chunks(peps, name, embed)


def row(outcome: Outcome) -> str:
    """A line of the table."""
    ranks = "-"
    if outcome.ranked is not None:
        ranks = f"{outcome.ranked - len(outcome.ranks) - len(outcome.near_ties)}/{outcome.ranked}"
    ties = str(len(outcome.near_ties)) if outcome.ranked is not None else "-"
    verdict = (
        "DIFFERS"
        if outcome.failed
        else "explained"
        if outcome.chunks or outcome.texts or outcome.ranks
        else "identical"
    )
    counts = f"{outcome.published:>10}{outcome.ours:>7}{len(outcome.chunks):>9}{ranks:>10}{ties:>6}"
    name = f"{outcome.name}, their chunks" if outcome.theirs else outcome.name
    return f"{name:34}{counts}  {outcome.note or verdict}"


def details(outcome: Outcome) -> Iterator[str]:
    """Each chunk (- theirs alone, + ours alone, = both) and rank that differs, with its cause; near ties."""
    if outcome.chunks or outcome.texts or outcome.ranks or outcome.near_ties:
        yield f"\n{outcome.name}"
    for place, reason in outcome.chunks.items():
        yield f"  {'+' if place in outcome.added else '-'} {place[0]} {place[1]}-{place[2]}: {reason}"
    for place, reason in outcome.texts.items():
        yield f"  = {place[0]} {place[1]}-{place[2]}: {reason}"
    for question, reason in outcome.ranks.items():
        yield f"  {question}: {reason}"
    for question in outcome.near_ties:
        yield f"  {question}: near tie"


def report(peps: Peps, embed: Embed | None) -> int:
    """Prints the table and what differs; the exit status."""
    print(f"{'cut':34}{'published':>10}{'ours':>7}{'differ':>9}{'ranks':>10}{'ties':>6}")
    found: list[Outcome] = []
    for outcome in outcomes(peps, embed):
        found.append(outcome)
        print(row(outcome), flush=True)
    for outcome in found:
        for line in details(outcome):
            print(line)
    failed = [outcome.name for outcome in found if outcome.failed]
    print(f"\n{'differs: ' + ', '.join(failed) if failed else 'Everything that should be identical is.'}")
    return 1 if failed else 0


def embedder() -> Embed:
    """The built-in model behind the store."""
    from cache import open_embedder

    return open_embedder("minilm")


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embed] = embedder) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="the folder of the PEPs (default: ../shared/peps)")
    parser.add_argument("--chunks-only", action="store_true", help="compare the chunks, embed nothing")
    options = parser.parse_args(arguments)
    folder = options.folder or FOLDER
    if not (folder / "expected_chunks.json").is_file():
        print(f"bench.peps: there is no folder {folder} to compare with; name it with --folder", file=sys.stderr)
        return 2 if options.folder else 0
    return report(Peps.read(folder), None if options.chunks_only else make_embedder())


if __name__ == "__main__":
    sys.exit(main())
