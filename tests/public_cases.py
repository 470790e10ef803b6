"""The adapter between the public test cases and this program: it asks as a case asks and answers in the case's words.

Nothing is cut or measured here. Cuts come from `chunking.index`, figures from `chunking.experiment.run`, vectors from
`cache.open_embedder` (the built-in model or a faked server), documents and questions from the readers of `data`.

python ../shared/cases/runner.py tests/public_cases.py ../shared/cases/cases.jsonl --kind chunker
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from bench import cl100k  # noqa: E402
from cache import EmbedderError, open_embedder  # noqa: E402  # the repository must be on the path first
from cache.embedder import CachedEmbedder, Kind  # noqa: E402
from cache.store import Store  # noqa: E402
from cache.watched import Watched  # noqa: E402
from chunking import experiment  # noqa: E402
from chunking.experiment import Trial  # noqa: E402
from chunking.index import Config, Index, assemble, build  # noqa: E402
from chunking.measures import raw_length, total, union  # noqa: E402
from chunking.parts import part_of  # noqa: E402
from chunking.registry import flag_names  # noqa: E402
from chunking.segments import heading_of, headings  # noqa: E402
from chunking.strategies.semantic import similarities  # noqa: E402
from chunking.types import Chunks, Corpus, Document, Embed, Ints, Passage, Question, Vectors  # noqa: E402
from data.documents import ENDINGS, read_document, read_files  # noqa: E402
from data.questions import Row, read_rows, resolve  # noqa: E402
from data.report import ReadError, Report  # noqa: E402
from pages.parts import live  # noqa: E402
from tests.case_server import MODEL, SilentServer, faked  # noqa: E402
from tests.fakes import BagOfWords, Constant, Fake, OneHot, Table, letter_pieces  # noqa: E402
from tests.ollama_double import OllamaDouble  # noqa: E402

Settings = dict[str, Any]
Result = dict[str, Any]

#: The most results that a configuration takes. A hit at more of them is read from the whole ranking.
MOST = 20


def run(case: Result, run: Result, text: str | None, base: str) -> Result | None:
    """The result of one run, None where there is nothing yet that could be asked."""
    strategy, params = run["strategy"], run["params"]
    if strategy in _READERS:
        return _READERS[strategy](params, Path(base))
    if strategy in _SCORES:
        return {"text": text or "", "values": _SCORES[strategy](params, text)}
    if strategy == "evaluate":
        return _evaluated(case, run, text or "")
    if strategy == "view" and text is not None:
        return _viewed(case, params, text)
    if strategy not in _CUTS or text is None:
        return None
    if "k" in params:
        return _evaluated(case, {**run, "params": {**params, "strategy": strategy}}, text)
    return _cut(strategy, params, _document(case, text))


# Cutting


_CUTS: dict[str, Callable[[Settings], tuple[str, Settings, str]]] = {
    "whole_document": lambda params: ("whole", {}, "document"),
    "fixed": lambda params: ("fixed", params, "document"),
    "sentence_packing": lambda params: ("sentence", params, "document"),
    "recursive": lambda params: ("recursive", {**_sized(params), "oversize": "cut"}, "document"),
    "markdown": lambda params: ("structure", _sized(params), "document"),
    "semantic": lambda params: ("semantic", _sized(params), "document"),
    "sentence_window": lambda params: ("sentence_window", params, "document"),
    "parent_child": lambda params: ("parent_child", _family(params), "document"),
}


def _sized(params: Settings) -> Settings:
    """The settings of a strategy that calls its limit `size`."""
    names = {"max_size": "size"}
    return {names.get(name, name): value for name, value in params.items()}


def _family(params: Settings) -> Settings:
    """The settings of `parent_child` from those of two strategies."""
    parent, child = _sized(params["parent"]), _sized(params["child"])
    if (
        parent["strategy"] != child["strategy"]
        or parent["unit"] != child["unit"]
        or parent["overlap"]
        or child["overlap"]
    ):
        raise NotImplementedError(f"parents and children are cut alike and without overlap, got {params}")
    return {"child": child["size"], "parent": parent["size"], "base": parent["strategy"], "unit": parent["unit"]}


def _config(strategy: str, params: Settings, **axes: Any) -> Config:
    """The configuration that a case's strategy and params stand for."""
    name, settings, scope = _CUTS[strategy](params)
    return Config.of(name, settings, scope=scope, **axes)


def _document(case: Result, text: str) -> Document:
    """The text as a Markdown document; read from bytes where the case says that it is a file."""
    if "load_as" in case["input"]:
        return read_document("case.md", text.encode())[0]
    return Document("case.md", text)


def _cut(strategy: str, params: Settings, document: Document) -> Result:
    """The chunks of a document."""
    embed = _fake(params.get("embedder", {}))
    try:
        config = _config(strategy, {name: value for name, value in params.items() if name != "embedder"})
        index = build(Corpus((document,)), config, embed, token_spans())
    except ValueError as error:
        return {"text": document.text, "error": str(error)}
    result = _described(index)
    if config.strategy == "semantic":
        result["similarities"] = similarities(part_of(index.source, config.scope), embed).tolist()
        result["embed_inputs"] = _inputs(embed.seen)
    return result


def _viewed(case: Result, params: Settings, text: str) -> Result:
    """The chunks of a document, and the text that the page's view of it shows."""
    document = _document(case, text)
    settings = {name: value for name, value in params.items() if name not in ("strategy", "view")}
    shown = "".join(part for _, part in live.shown_blocks(document))
    return {**_cut(params["strategy"], settings, document), "rendered_text": shown}


def _described(index: Index) -> Result:
    """The chunks, parents and headings of an index of one document."""
    document = index.corpus.documents[0]
    text, heads = document.text, headings(document)
    places = heading_of(document, index.starts).tolist()
    rows = zip(
        index.starts.tolist(), index.ends.tolist(), index.returned.tolist(), index.flags.tolist(), places, strict=True
    )
    return {
        "text": text,
        "headings": [{"level": head.level, "title": head.title} for head in heads],
        "parents": [_span(text, span.start, span.end) for span in index.spans],
        "chunks": [
            {
                **_span(text, start, end),
                **{f"window_{name}": value for name, value in _span(text, *_ends(index.spans[parent])).items()},
                "parent": parent,
                "heading_path": list(heads[place].path) if place >= 0 else [],
                "flags": ["over_size"] if "over_limit" in flag_names(bits) else [],
            }
            for start, end, parent, bits, place in rows
        ],
    }  # fmt: skip


def _span(text: str, start: int, end: int) -> Result:
    return {"start": start, "end": end, "text": text[start:end]}


def _ends(passage: Passage) -> tuple[int, int]:
    return passage.start, passage.end


# Trials


def _evaluated(case: Result, run: Result, text: str) -> Result:
    """The trial of a case's questions. Where a case wants it repeated, the second half comes as after a restart."""
    try:
        document, _ = read_document("case.md", text.encode())
    except ReadError as error:
        return {"text": text, "error": str(error)}
    times = run["params"].get("repeat", 1)
    result = _tried(case, run, document, (times + 1) // 2)
    if times > 1 and "facts" in result:
        again = _tried(case, run, document, times // 2)
        every = [*result["rankings"], *again["rankings"]]
        result["facts"]["same_ranking_every_time"] = all(ranking == result["ranking"] for ranking in every)
    return result


def _tried(case: Result, run: Result, document: Document, times: int) -> Result:
    """So many trials of each strategy that a run names; what is described is the first."""
    params, report = {name: value for name, value in run["params"].items() if name != "repeat"}, Report()
    rows = _rows(case, document)
    questions = resolve(rows, [document], report)
    result = _answers(rows, questions, report, document)
    k = params.pop("k", 1)
    try:
        with _opened(params, case) as embed:
            result["embed_inputs"] = _inputs(embed.seen)
            trials = [
                _trial(Corpus((document,), questions), _config(name, settings, k=min(k, MOST)), embed, run["checks"])
                for name, settings in _strategies(params) * times
            ]
    except (ValueError, EmbedderError) as error:
        return {**result, "error": str(error)}
    values = [_values(trial, k) for trial in trials]
    names = [name for check in run["checks"] for name in check.get("names", ())]
    equal = all(one[name] == values[0][name] for one in values for name in names)
    return {
        **_described(trials[0].index),
        **result,
        "values": {"not_found": len(rows) - len(questions), **values[0]},
        "ranking": _ranking(trials[0]),
        "rankings": [_ranking(trial) for trial in trials],
        "facts": {"equal_across_strategies": equal},
    }


def _ranking(trial: Trial) -> list[list[int]]:
    """What was sent for the first question, best first."""
    return [list(_ends(span)) for span in trial.results[0].sent]


def _strategies(params: Settings) -> list[tuple[str, Settings]]:
    """The strategies that a run names, each with its params; `recursive` where it leaves the choice to us."""
    if "strategies" not in params:
        return [(params.get("strategy", "recursive"), {name: params[name] for name in params if name != "strategy"})]
    return [next(iter(one.items())) if isinstance(one, dict) else (one, {}) for one in params["strategies"]]


def _trial(corpus: Corpus, config: Config, embed: Embed, checks: list[Result]) -> Trial:
    index = build(corpus, config, embed)
    return experiment.run(corpus, config, embed, _as_written(index, checks))


def _as_written(index: Index, checks: list[Result]) -> Index:
    """The index with chunks that a case wrote down, where they are ours but for the white space at their ends.

    Our spans never begin or end with white space. Where a case counts on its windows to the letter, they are measured as
    chunks brought along from elsewhere.
    """
    text = index.corpus.documents[0].text
    for check in checks:
        spans = check.get("spans", [])
        if check["check"] == "spans_exact" and [_trimmed(text, *span) for span in spans] == list(
            map(_ends, index.spans)
        ):
            starts, ends = np.array(spans, np.int64).T
            return assemble(index.corpus, index.config, [Chunks.plain(starts, ends)])
    return index


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    return end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())


def _rows(case: Result, document: Document) -> list[Row]:
    """The questions of a case as rows of a questions file, numbered from 0."""
    given = case["input"]
    start, end = given.get("answer_span", (0, len(document.text)))
    only = {"question": "What is asked?", "answer": given.get("answer"), "start": start, "end": end}
    questions = given.get("questions") or [only]  # none are given where a case is about its chunks
    return [
        Row(line, {"id": str(line), "document": document.id, **{name: row[name] for name in row if name != "note"}})
        for line, row in enumerate(questions)
    ]


def _answers(rows: list[Row], questions: Sequence[Question], report: Report, document: Document) -> Result:
    """Where the answers are, and which rows the report names."""
    found = {question.id: question.needs[0][0] for question in questions}
    spans = [found.get(row.fields["id"]) for row in rows]
    lost = {row.line for row, span in zip(rows, spans, strict=True) if span is None}
    return {
        "text": document.text,
        "answer_spans": [list(_ends(span)) if span else None for span in spans],
        "not_found_rows": sorted(lost & _lines(report.problems)),
        "flagged_rows": sorted(_lines([*report.problems, *report.notes])),
    }


def _lines(messages: Sequence[str]) -> set[int]:
    """The lines that messages name."""
    return {int(found[1]) for message in messages if (found := re.match(r"line (\d+):", message))}


def _values(trial: Trial, k: int) -> dict[str, float]:
    """The figures of a trial. What is sent twice is one context, as the cases count it: our distinct words do so too."""
    covers = [result.cover for result in trial.results]
    first = trial.results[0]
    unread = trial.unread_chunks
    return {
        "hit": trial.hit_at(k),
        "hit_rate": trial.hit_at(k),
        "mrr": trial.reciprocal_rank,
        "char_recall": trial.mean(cover.coverage for cover in covers),
        "char_precision": trial.mean(cover.precision for cover in covers),
        "char_iou": trial.mean(cover.iou for cover in covers),
        "cut_answers": trial.misses["split"],
        "occurrences": len(first.question.needs[0]),
        "retrieved": len(first.sent),
        "parents": len(set(first.sent)),
        "context_characters": trial.mean(total(union(result.sent), raw_length) for result in trial.results),
        "truncated_chunks": trial.truncated_chunks,
        "embedded": len(trial.index) - unread,
        "failed": unread,
    }


# Rankings that a case gives


def _score(params: Settings, text: str | None) -> dict[str, float]:
    """Items found and wanted: each is a document of its own, and one chunk. A hit asks for any of them, recall for all."""
    names = list(dict.fromkeys(params["gold"] + params["retrieved"]))
    documents = tuple(Document(name, "item") for name in names)
    item = {name: Passage(name, 0, len("item")) for name in names}
    wanted = tuple(item[name] for name in params["gold"])
    ranking = [(item[name], item[name]) for name in params["retrieved"]]
    some = _ranked(documents, (wanted,), ranking, params["k"], "keep")
    every = _ranked(documents, tuple((passage,) for passage in wanted), ranking, params["k"], "keep")
    return {"hit": some["hit"], "mrr": some["mrr"], "recall": every["char_recall"]}


def _score_spans(params: Settings, text: str | None) -> dict[str, float]:
    """Spans found and wanted in one document."""
    found, wanted = params["retrieved_spans"], params["answer_spans"]
    document = _long_enough(text, found + wanted)
    ranking = [(Passage(document.id, *span), Passage(document.id, *span)) for span in found]
    needs = tuple((Passage(document.id, *span),) for span in wanted)
    values = _ranked((document,), needs, ranking, params["k"], "keep")
    return {name: values[name] for name in ("hit", "mrr", "char_recall", "char_precision", "char_iou")}


def _score_parent_child(params: Settings, text: str | None) -> dict[str, float]:
    """Children found, each of which returns the parent around it; k counts children, or different parents."""
    document = _long_enough(text, params["parents"])
    parents = [Passage(document.id, *span) for span in params["parents"]]
    children = [Passage(document.id, *span) for span in params["ranking"]]
    ranking = [
        (child, next(parent for parent in parents if parent.start <= child.start and child.end <= parent.end))
        for child in children
    ]
    needs = tuple((Passage(document.id, *span),) for span in params["answer_spans"])
    repeats = {"children": "keep", "parents": "skip"}[params["k_counts"]]
    values = _ranked((document,), needs, ranking, params["k"], repeats)
    return {name: values[name] for name in ("hit", "mrr", "parents", "context_characters")}


_SCORES: dict[str, Callable[[Settings, str | None], dict[str, float]]] = {
    "score": _score,
    "score_spans": _score_spans,
    "score_parent_child": _score_parent_child,
}


def _long_enough(text: str | None, spans: list[list[int]]) -> Document:
    """A document of the text, or of one that all spans fit in."""
    return Document("case.md", text or "x" * max(end for _, end in spans))


def _ranked(
    documents: tuple[Document, ...], needs: tuple[tuple[Passage, ...], ...], ranking: list[tuple[Passage, Passage]],
    k: int, repeats: str,
) -> dict[str, float]:  # fmt: skip
    """The figures of a ranking: what was matched and what it returns, best first."""
    number = {document.id: place for place, document in enumerate(documents)}
    corpus = Corpus(documents, (Question("q", "What is asked?", needs),))
    config = Config.of("whole", k=min(k, MOST), repeats=repeats)
    places = sorted(
        range(len(ranking)), key=lambda place: (number[ranking[place][0].document], ranking[place][0].start)
    )
    cuts = [_brought([ranking[place] for place in places if ranking[place][0].document == name]) for name in number]
    trial = experiment.run(corpus, config, Placed(places), assemble(corpus, config, cuts))
    return _values(trial, k)


def _brought(rows: list[tuple[Passage, Passage]]) -> Chunks:
    columns = np.array([(*_ends(matched), *_ends(returned)) for matched, returned in rows], np.int64)
    return Chunks(*columns.reshape(-1, 4).T)


class Placed(Fake):
    """Gives the chunks of an index scores that put them in given places of the ranking, whatever their texts."""

    def __init__(self, places: list[int]) -> None:
        super().__init__()
        self.scores = [1 - place / len(places) for place in places]

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        scores = self.scores if kind == "document" else [1.0] * len(texts)
        return np.array([(score, sqrt(1 - score**2)) for score in scores], np.float32)


# Files


def _read_document(params: Settings, base: Path) -> Result | None:
    """One document. A kind of file that is not read yet is skipped."""
    path = base / params["file"]
    if path.suffix.lower() not in ENDINGS:
        return None
    try:
        document, _ = read_document(path.name, path.read_bytes())
    except ReadError as error:
        return {"text": "", "error": str(error)}
    return {"text": document.text, "document_text": document.text}


def _read_documents(params: Settings, base: Path) -> Result:
    """Several documents, by id, and what is said about them."""
    paths = [base / name for name in params["files"]]
    documents, report = read_files((path.name, path.read_bytes()) for path in paths)
    texts = {document.id: document.text for document in documents}
    return {"text": "", "documents": texts, "notes": report.notes, "error": "\n".join(report.problems)}


def _read_questions(params: Settings, base: Path) -> Result:
    """The questions of a file, on a document that holds all of its answers."""
    path = base / params["file"]
    try:
        rows, report = read_rows(path.name, path.read_bytes())
    except ReadError as error:
        return {"text": "", "error": str(error)}
    text = "\n\n".join(row.fields["answer"] for row in rows if row.fields.get("answer"))
    questions = resolve(rows, [Document("answers.txt", text, markdown=False)], report)
    return {
        "text": text,
        "questions": [[question.text, text[slice(*_ends(question.needs[0][0]))]] for question in questions],
        "reported_lines": sorted(_lines(report.problems)),
        "error": "\n".join(report.problems),
    }


_READERS: dict[str, Callable[[Settings, Path], Result | None]] = {
    "load_document": _read_document,
    "load_documents": _read_documents,
    "load_questions": _read_questions,
}


# Models


class Asked(Watched):
    """An embedder that keeps what its server was sent, by kind of text."""

    def __init__(self, embedder: CachedEmbedder, server: OllamaDouble | SilentServer | None = None) -> None:
        super().__init__(embedder, lambda now: None)
        self.seen: dict[Kind, list[str]] = {"document": [], "query": []}
        self._requests = server.asked if server else []

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        begin = len(self._requests)
        try:
            return super().__call__(texts, kind)
        finally:
            self.seen[kind] += [text for request in self._requests[begin:] for text in request["input"]]


@contextmanager
def _opened(params: Settings, case: Result) -> Iterator[Asked | Fake]:
    """The embedder that params ask for (and no longer do, after this): the built-in one, a fake, or one of a server."""
    asked, model, host = params.pop("embedder", "minilm"), params.pop("model", MODEL), params.pop("base_url", None)
    if isinstance(asked, dict):
        yield _fake(asked)
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked == "mock":
            with faked(case["input"]["mock"]) as server:
                yield Asked(open_embedder(f"ollama:{model}", Store(folder), server.host), server)
        else:
            yield Asked(open_embedder(f"ollama:{model}" if asked == "ollama" else asked, Store(folder), host))


def _fake(asked: Settings) -> Fake:
    kinds: dict[str, Callable[[], Fake]] = {
        "constant": Constant,
        "one_hot_per_text": OneHot,
        "table": lambda: Table(asked["vectors"]),
    }
    return kinds.get(asked.get("type", ""), BagOfWords)()


def _inputs(seen: dict[Kind, list[str]]) -> dict[str, list[str]]:
    return {"documents": seen["document"], "queries": seen["query"]}


@lru_cache(maxsize=1)
def token_spans() -> Callable[[str], Ints]:
    """The tokenizer cl100k where it is installed, else a small one of our own."""
    try:
        return cl100k.token_spans()
    except (ImportError, ValueError):
        return letter_pieces
