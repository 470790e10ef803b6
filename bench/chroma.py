"""Whether we measure, rank and cut as Chroma's chunking evaluation does, on its own data: `python -m bench.chroma`.

The folder (by default ../shared/chroma) holds its five documents, 472 questions, and for five configurations every
chunk and the five spans retrieved for each question with their measures. In three steps:

1. from their retrieved spans, our measures equal theirs to 1e-9 for every question;
2. from their chunks, our vectors and our ranking give the same five spans for at least 99% of the questions, scores
   nearer than 0.0001 decide the rest, and the means lie within 0.1 points;
3. cut by us, each chunk is theirs or differs for a cause that is named, and the means lie within 1.5 points.

Upstream finds the place of a chunk by searching its text. It drops a final full stop before, and takes the first place
found. So the spans of the folder are not the texts that were embedded, nor always the places these came from. Both are
found again here by following the chunks in their order (`true_spans`). Exit status 1 where a step fails.
"""

import argparse
import json
import re
import string
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from bench.cl100k import token_spans  # noqa: E402 - the path comes first
from cache.embedder import Progress  # noqa: E402
from chunking.experiment import run  # noqa: E402
from chunking.index import Config, Index, assemble, build  # noqa: E402
from chunking.measures import cover, ideal_precision, raw_length  # noqa: E402
from chunking.ranking import cosine_scores  # noqa: E402
from chunking.types import Corpus, Document, Embed, Passage, Question, TokenSpans  # noqa: E402
from data.chunks import read_chunks  # noqa: E402

FOLDER = ROOT.parent / "shared" / "chroma"
MEASURES = ("recall", "precision", "iou", "precision_omega")
PIECE = 50  # tokens; the size of the pieces that `cluster` joins
EXACT, NEAR, SAME_FIVE, RANKED_POINTS, CUT_POINTS = 1e-9, 0.0001, 0.99, 0.1, 1.5
BETWEEN = string.whitespace + "."  # what may lie between the text of two chunks
GIVEN = Config("chunks", (), repeats="keep")

Span = tuple[int, int]
Rows = NDArray[np.float64]
Rule = tuple[str, dict[str, Any]]

#: How we cut what upstream cut; None where the rules differ by design.
CONFIGS: dict[str, Rule | None] = {
    "fixed_cl100k_200_0": ("fixed", {"size": 200, "overlap": 0, "unit": "tokens"}),
    "fixed_cl100k_400_200": ("fixed", {"size": 400, "overlap": 200, "unit": "tokens"}),
    "recursive_cl100k_200_0": None,
    "recursive_cl100k_400_200": None,
    "cluster_cl100k_200": ("cluster", {"size": 200, "unit": "tokens"}),
}


@dataclass(frozen=True)
class Chroma:
    """The folder, read; its documents as plain text, for none of its cuts looks at Markdown."""

    folder: Path
    corpus: Corpus

    @classmethod
    def read(cls, folder: Path) -> "Chroma":
        """The documents and the questions; each reference of a question is a need of its own."""
        paths = sorted((folder / "corpora").glob("*.md"))
        documents = tuple(Document(path.name, path.read_bytes().decode(), markdown=False) for path in paths)
        rows = map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines())
        questions = tuple(
            Question(
                str(row["index"]), row["question"],
                tuple((Passage(f"{row['corpus']}.md", one["start"], one["end"]),) for one in row["references"]),
            )
            for row in rows
        )  # fmt: skip
        return cls(folder, Corpus(documents, questions))

    def expected(self, name: str) -> "Expected":
        """What upstream made of a configuration."""
        rows = json.loads((self.folder / "expected" / f"{name}__per_question.json").read_text(encoding="utf-8"))
        content = (self.folder / "expected" / f"{name}__chunks.json").read_bytes()
        located: dict[str, list[Span]] = defaultdict(list)
        for chunk in json.loads(content):
            located[f"{chunk['corpus_id']}.md"].append((chunk["start_index"], chunk["end_index"]))
        sent = [[Passage(f"{one['corpus']}.md", one["start"], one["end"]) for one in row["retrieved"]] for row in rows]
        scores = np.array([[one["score"] for one in row["retrieved"]] for row in rows])
        return Expected(
            name, content, located, sent, scores, np.array([[row[one] for one in MEASURES] for row in rows])
        )


@dataclass(frozen=True)
class Expected:
    """What upstream made of a configuration: where it located its chunks, in their order, and each question's five."""

    name: str
    content: bytes  # the chunks as JSON
    located: dict[str, list[Span]]
    sent: list[list[Passage]]
    scores: Rows  # (q, 5)
    measures: Rows  # (q, 4)


@dataclass
class Outcome:
    """What came of a step: our means, what to say of it, what fails, and the chunks that differ."""

    label: str
    ours: Rows  # (4,)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def away(self, theirs: Rows) -> Rows:
        """Our means less theirs, (4,)."""
        return self.ours - theirs

    def check(self, theirs: Rows, points: float) -> None:
        """Fails where a mean of ours is further from theirs than so many points."""
        far = 100 * float(np.abs(self.away(theirs)).max())
        if far > points:
            self.faults.append(f"a mean is {far:.2f} points away, above {points}")


def measured(corpus: Corpus, sent: Sequence[Sequence[Passage]], spans: dict[str, list[Passage]]) -> Rows:
    """Upstream's four measures of each question, (q, 4), from what was sent and the returned spans of each document."""
    rows = []
    for question, listed in zip(corpus.questions, sent, strict=True):
        found = cover(question.needs, listed, raw_length)
        ideal = ideal_precision(question.needs, spans[question.document], raw_length, touch=True)
        rows.append((found.coverage, found.precision, found.iou, ideal))
    return np.array(rows)


def by_document(spans: Sequence[Passage]) -> dict[str, list[Passage]]:
    """Spans by their document."""
    found: dict[str, list[Passage]] = defaultdict(list)
    for span in spans:
        found[span.document].append(span)
    return found


def check_measures(chroma: Chroma, expected: Expected) -> Outcome:
    """Step 1: our measures of their retrieved spans."""
    spans = [Passage(name, *span) for name, spans in expected.located.items() for span in spans]
    ours = measured(chroma.corpus, expected.sent, by_document(spans))
    far = float(np.abs(ours - expected.measures).max())
    outcome = Outcome("1 their spans, our measures", ours.mean(axis=0))
    outcome.notes.append(f"the largest difference of a question is {far:.1e}")
    if not far <= EXACT:
        outcome.faults.append(f"a measure of a question differs by {far:.1e}, above {EXACT}")
    return outcome


def true_spans(text: str, located: Sequence[Span]) -> list[Span]:
    """Where the chunks of a document truly stand, in their order, white space at their ends aside.

    A chunk has the text that stands where it was located, begins after the beginning of the one before it, and nothing
    but white space and full stops lies between them. A full stop that follows is its own unless a chunk begins there.
    One that was located as an empty span is a full stop alone, the last of a run of them. What cannot be followed stays
    where it was located.
    """
    spans: list[Span] = []
    start, end = -1, 0
    for first, last in located:
        start, end = following(text, text[first:last].strip() or ".", start, end) or (first, last)
        while first == last and text[end : end + 1] == ".":
            start, end = start + 1, end + 1
        spans.append((start, end))
    starts = {start for start, _ in spans}
    return [
        (start, with_stop(text, end, starts) if last > first else end)
        for (start, end), (first, last) in zip(spans, located, strict=True)
    ]


def following(text: str, chunk: str, start: int, end: int) -> Span | None:
    """The place of a chunk's text right behind the span of the chunk before it, else inside that."""
    behind = len(text) - len(text[end:].lstrip(BETWEEN))
    place = text.find(chunk, end, behind + len(chunk))
    if place < 0:
        place = text.find(chunk, start + 1, end + len(chunk))
    if place >= 0:
        return place, place + len(chunk)
    # Upstream's second search leaves white space out of account.
    loose = r"\s*".join(map(re.escape, chunk.split()))
    found = re.compile(rf"[{BETWEEN}]*?({loose})").match(text, end)
    return found.span(1) if found else None


def with_stop(text: str, end: int, starts: set[int]) -> int:
    """The end of a chunk with the full stop behind it, where that is its own."""
    stop = end
    while text[stop : stop + 1].isspace():
        stop += 1
    own = text[stop : stop + 1] == "." and starts.isdisjoint(range(end, stop + 1))
    return stop + 1 if own else end


def whole_texts(chroma: Chroma, expected: Expected) -> Index:
    """Their chunks with the texts that they embedded: matched where they truly stand, returned where they were located."""
    rows = [
        {"document": document.id, "start": start, "end": end, "returned_start": first, "returned_end": last}
        for document in chroma.corpus.documents
        for (start, end), (first, last) in true_places(document, expected)
        if last > first
    ]
    return indexed(chroma.corpus, expected.name, json.dumps(rows).encode())


def true_places(document: Document, expected: Expected) -> Iterator[tuple[Span, Span]]:
    """Of each chunk of a document its true span, and the one that upstream located."""
    located = expected.located[document.id]
    return zip(true_spans(document.text, located), located, strict=True)


def indexed(corpus: Corpus, name: str, content: bytes) -> Index:
    """The index of chunks brought along."""
    cuts, _ = read_chunks(f"{name}.json", content, corpus.documents)
    return assemble(corpus, GIVEN, cuts)


def check_ranking(chroma: Chroma, expected: Expected, embed: Embed) -> Iterator[Outcome]:
    """Step 2: our vectors and ranking of their chunks, with repeated spans kept as upstream does, and skipped."""
    index = whole_texts(chroma, expected)
    sent = sent_by(index, embed)
    outcome = Outcome("2 their chunks, our ranking", measures_of(index, sent).mean(axis=0))
    scores = top_scores(index, embed)
    kinds = Counter(agreement(*row) for row in zip(expected.sent, sent, expected.scores, scores, strict=True))
    same, asked = kinds["same order"] + kinds["other order"], len(sent)
    far = float(np.abs(scores - expected.scores).max())
    outcome.notes.append(
        f"the same five spans for {same} of {asked} questions, in the same order for {kinds['same order']}; "
        f"decided by near scores {kinds['near']}; the scores differ by at most {far:.7f}"
    )
    located = sent_by(indexed(chroma.corpus, expected.name, expected.content), embed)
    alone = sum(sorted_five(ours) == sorted_five(theirs) for ours, theirs in zip(located, expected.sent, strict=True))
    outcome.notes.append(
        f"with the located spans as texts, final full stops missing, the same five for {alone} of {asked}"
    )
    if same < SAME_FIVE * asked or kinds["differs"]:
        outcome.faults.append(
            f"the five spans of {asked - same} of {asked} questions differ, {kinds['differs']} beyond near scores"
        )
    outcome.check(expected.measures.mean(axis=0), RANKED_POINTS)
    yield outcome
    skipping = replace(index, config=replace(GIVEN, repeats="skip"))
    yield Outcome("  the same, repeats skipped", measures_of(index, sent_by(skipping, embed)).mean(axis=0))


def sent_by(index: Index, embed: Embed) -> list[tuple[Passage, ...]]:
    """What we send for each question."""
    return [result.sent for result in run(index.corpus, index.config, embed, index).results]


def measures_of(index: Index, sent: Sequence[Sequence[Passage]]) -> Rows:
    """The measures of what is sent from an index."""
    return measured(index.corpus, sent, by_document(index.spans))


def top_scores(index: Index, embed: Embed) -> Rows:
    """The five best scores of each question, (q, 5)."""
    questions = embed([question.text for question in index.corpus.questions], "query")
    return -np.sort(-cosine_scores(questions, embed(index.texts, "document")), axis=1)[:, :5]


def sorted_five(spans: Sequence[Passage]) -> list[tuple[str, int, int]]:
    """Spans in an order of their own."""
    return sorted((span.document, span.start, span.end) for span in spans)


def agreement(theirs: Sequence[Passage], ours: Sequence[Passage], their_scores: Rows, our_scores: Rows) -> str:
    """How two rankings of five agree; near where the scores, place by place, do not tell them apart."""
    if list(theirs) == list(ours):
        return "same order"
    if sorted_five(theirs) == sorted_five(ours):
        return "other order"
    return "near" if np.abs(their_scores - our_scores).max() <= NEAR else "differs"


SAME = "the same span"
SPACE = "white space at the ends, which ours leave out"
STOP = "the final full stop, which upstream drops"
EMPTY = "a full stop alone, which upstream locates as an empty span"
EARLIER = "located where the same text stands earlier in the document"
PIECES = "other pieces joined: upstream counts the tokens of each piece by itself, we count them in the document"
JOINED = "the same pieces, joined otherwise because of the pieces around"
OTHER = "no chunk of ours, unexplained"
KINDS = (SAME, SPACE, STOP, EMPTY, EARLIER, PIECES, JOINED, OTHER)

Cause = Callable[[Document, Span], str]  # why a chunk of theirs, by its true span, is none of ours


def check_cut(chroma: Chroma, expected: Expected, rule: Rule, embed: Embed) -> Outcome:
    """Step 3: our own cut, chunk by chunk, and its measures."""
    index = own_cut(chroma.corpus, rule, embed, token_spans())
    cause = cluster_cause(chroma.corpus, rule[1]["size"], embed) if rule[0] == "cluster" else unexplained
    kinds, differences = compare_cuts(chroma.corpus, expected, index, cause)
    ours = measures_of(index, sent_by(index, embed)).mean(axis=0)
    outcome = Outcome("3 cut by us", ours, differences=differences)
    differing = kinds[PIECES] + kinds[JOINED] + kinds[OTHER]
    alone = len(index) - kinds.total() + differing
    outcome.notes.append(f"their {kinds.total()} chunks against ours:")
    outcome.notes += [f"{kinds[kind]:6} {kind}" for kind in KINDS if kinds[kind]]
    outcome.notes.append(f"{alone} of our {len(index)} chunks are none of theirs")
    if kinds[OTHER] or (alone and not differing):
        outcome.faults.append(f"{kinds[OTHER]} chunks of theirs and {alone} of ours differ without a known cause")
    outcome.check(expected.measures.mean(axis=0), CUT_POINTS)
    return outcome


def own_cut(corpus: Corpus, rule: Rule, embed: Embed | None, tokens: TokenSpans) -> Index:
    """The corpus cut by a strategy of ours."""
    return build(corpus, Config.of(*rule, repeats="keep"), embed, tokens)


def compare_cuts(corpus: Corpus, expected: Expected, index: Index, cause: Cause) -> tuple[Counter[str], list[str]]:
    """Their chunks by how they compare with ours, and a line for each that differs."""
    kinds: Counter[str] = Counter()
    differences = []
    for number, document in enumerate(corpus.documents):
        ours = spans_of(index, number)
        for true, located in true_places(document, expected):
            kind = compared(document.text, true, located, ours) or cause(document, true)
            kinds[kind] += 1
            if kind != SAME:
                differences.append(f"{document.id} located {located}, truly {true}: {kind}")
    return kinds, differences


def spans_of(index: Index, number: int) -> set[Span]:
    """The matched spans of the document of that number."""
    rows = index.documents == number
    return set(zip(index.starts[rows].tolist(), index.ends[rows].tolist(), strict=True))


def compared(text: str, true: Span, located: Span, ours: set[Span]) -> str:
    """How one of their chunks compares with ours; '' where it is none of them."""
    held = text[slice(*located)]
    first = located[0] + len(held) - len(held.lstrip())
    without = (true[0], true[0] + len(held.strip()))
    if true not in ours and without in ours:  # whether the full stop behind the last but one of windows is its own
        true = without  # cannot be told: no chunk begins there
    if true not in ours:
        return ""
    if not held:
        return EMPTY
    if first != true[0]:
        return EARLIER if text.find(held) == located[0] else ""
    if first + len(held.strip()) != true[1]:
        return STOP
    return SAME if located == true else SPACE


def unexplained(document: Document, true: Span) -> str:
    """Where every chunk should be one of ours there is no cause."""
    return OTHER


def cluster_cause(corpus: Corpus, size: int, embed: Embed) -> Cause:
    """The cause where `cluster` differs: it must vanish when the pieces are those of the published rule.

    Our pieces are the chunks of the smallest size, which joins none.
    """
    index = own_cut(corpus, ("cluster", {"size": PIECE, "unit": "tokens"}), embed, token_spans())
    ours = {document.id: spans_of(index, number) for number, document in enumerate(corpus.documents)}
    theirs = {document.id: published_pieces(document.text) for document in corpus.documents}
    published = {
        document.id: published_clusters(document.text, theirs[document.id], size // PIECE, embed)
        for document in corpus.documents
    }

    def cause(document: Document, true: Span) -> str:
        if true not in published[document.id]:
            return OTHER
        one, other = (
            {span for span in pieces[document.id] if true[0] <= span[0] and span[1] <= true[1]}
            for pieces in (ours, theirs)
        )
        return JOINED if one == other else PIECES

    return cause


def published_pieces(text: str) -> list[Span]:
    """The pieces of the published rule: upstream's splitter is LangChain's, each piece counted in tokens by itself."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", ".", "?", "!", " ", ""], keep_separator=True, chunk_size=PIECE, chunk_overlap=0,
        length_function=lambda piece: len(token_spans()(piece)),
    )  # fmt: skip
    spans: list[Span] = []
    end = 0
    for piece in splitter.split_text(text):
        start = text.index(piece, end)
        end = start + len(piece)
        spans.append((start, end))
    return spans


def published_clusters(text: str, pieces: Sequence[Span], most: int, embed: Embed) -> set[Span]:
    """The segmentation with the largest likeness within chunks of at most `most` pieces, as published."""
    vectors = embed([text[start:end] for start, end in pieces], "document").astype(np.float64)
    count = len(vectors)
    mean = (np.square(vectors.sum(axis=0)).sum() - np.square(vectors).sum()) / max(count * (count - 1), 1)
    best, lengths = [0.0], list[int]()
    for last in range(count):
        options, reward = [best[last]], 0.0
        for first in range(last - 1, max(last - most, -1), -1):
            reward += 2 * float((vectors[first + 1 : last + 1] @ vectors[first] - mean).sum())
            options.append(best[first] + reward)
        best.append(max(options))
        lengths.append(options.index(best[-1]) + 1)
    spans = set()
    stop = count
    while stop:
        start = stop - lengths[stop - 1]
        spans.add((pieces[start][0], pieces[stop - 1][1]))
        stop = start
    return spans


def outcomes(chroma: Chroma, expected: Expected, embed: Embed) -> Iterator[Outcome]:
    """The steps of a configuration, one after another."""
    yield check_measures(chroma, expected)
    yield from check_ranking(chroma, expected, embed)
    rule = CONFIGS[expected.name]
    if rule:
        yield check_cut(chroma, expected, rule, embed)


def lines(outcome: Outcome, theirs: Rows) -> Iterator[str]:
    """The means of a step side by side in percent, then what there is to say of it."""
    columns = zip(100 * outcome.ours, 100 * theirs, 100 * outcome.away(theirs), strict=True)
    yield f"  {outcome.label:29}" + "".join(f"{a:9.2f}{b:7.2f}{c:+7.2f}" for a, b, c in columns)
    yield from (f"      {note}" for note in outcome.notes)
    yield from (f"      FAILS: {fault}" for fault in outcome.faults)


def report(chroma: Chroma, embed: Embed, listed: bool) -> int:
    """Prints the table, and with `listed` every chunk that differs; the exit status."""
    print(f"  {'percent':29}" + "".join(f"{name.replace('_', ' '):>23}" for name in MEASURES))
    print(f"  {'':29}" + "     ours theirs   diff" * len(MEASURES))
    failed = []
    for name in CONFIGS:
        expected = chroma.expected(name)
        print(f"\n{name}: {sum(map(len, expected.located.values()))} chunks, {len(expected.sent)} questions")
        for outcome in outcomes(chroma, expected, embed):
            print("\n".join(lines(outcome, expected.measures.mean(axis=0))), flush=True)
            failed += [f"{name} step {outcome.label[0]}"] if outcome.faults else []
            if listed:
                print("".join(f"        {difference}\n" for difference in outcome.differences), end="")
    print(f"\n{'fails: ' + ', '.join(failed) if failed else 'Every step holds.'}")
    return 1 if failed else 0


def embedder() -> Embed:
    """The built-in model behind the store, its progress on standard error."""
    from cache import open_embedder
    from cache.watched import Watched

    return Watched(open_embedder("minilm"), progress)


def progress(now: Progress) -> None:
    """Tells how far the embedding is."""
    print(
        f"\rembedded {now.done} of {now.total}", end="\n" if now.done >= now.total else "", file=sys.stderr, flush=True
    )


def main(arguments: Sequence[str] | None = None, make_embedder: Callable[[], Embed] = embedder) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="the folder of the evaluation (default: ../shared/chroma)")
    parser.add_argument("--list", action="store_true", help="list every chunk of theirs that differs from ours")
    options = parser.parse_args(arguments)
    folder = options.folder or FOLDER
    if not (folder / "questions.jsonl").is_file():
        print(f"bench.chroma: there is no folder {folder} to compare with; name it with --folder", file=sys.stderr)
        return 2 if options.folder else 0
    return report(Chroma.read(folder), make_embedder(), options.list)


if __name__ == "__main__":
    sys.exit(main())
