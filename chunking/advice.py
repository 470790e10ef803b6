"""What the present corpus says about whether chunking matters at all: sentences with the numbers that support them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chunking.experiment import Trial
from chunking.index import Index
from chunking.joined import joined
from chunking.types import Corpus, Question

WINDOW = 30_000  # words that are taken to fit a prompt: about 40,000 tokens
SMALL = 200  # words of a document that is a chunk already
MOST = 0.5  # the share of documents, or of the corpus, from which on a comparison tells little
# Letters with digits, marks of code inside a word, a capital after a small letter, a figure of three digits or more.
_IDENTIFIER = re.compile(r"`|[A-Za-z]\d|\d[A-Za-z]|\w[_/\\.:#@=<>(+]+\w|\w\(\)|[a-z][A-Z]|\d[\d,]*\d{2}")


@dataclass(frozen=True, slots=True)
class Advice:
    """A finding by name, whether it holds for this corpus, and the sentence with its numbers."""

    name: str
    holds: bool
    sentence: str


def too_short(trial: Trial) -> Advice:
    """Whether the documents are too short to tell cuts apart: most are one chunk, or most of the corpus is sent."""
    index = trial.index
    single, sent = single_chunk_share(index), sent_share(trial)
    holds = max(single, sent) >= MOST
    verdict = (
        "The documents are too short to tell cuts apart"
        if holds
        else "The documents are long enough to tell cuts apart"
    )
    return Advice(
        "too_short",
        holds,
        f"{verdict}: {single:.0%} of them are one chunk, and {sent:.1%} of all words are sent for a question.",
    )


def single_chunk_share(index: Index) -> float:
    """The share of documents with text that are one chunk, 0 without any."""
    counts = np.bincount(index.documents, minlength=len(index.corpus.documents))
    return float((counts[counts > 0] == 1).mean()) if len(index) else 0.0


def sent_share(trial: Trial) -> float:
    """The share of the corpus's words that is sent for a question on average, each word counted once."""
    return trial.mean(result.distinct_words for result in trial.results) / corpus_words(trial.index.corpus)


def corpus_words(corpus: Corpus) -> int:
    """The words of all documents."""
    return len(joined(corpus).words.starts)


def fits_prompt(corpus: Corpus, window: int = WINDOW) -> Advice:
    """Whether the whole collection can be sent with every question."""
    words = corpus_words(corpus)
    holds = words <= window
    how = "fits" if holds else "does not fit"
    return Advice("fits_prompt", holds, f"The collection has {words:,} words and {how} a prompt of {window:,}.")


def small_documents(corpus: Corpus, small: int = SMALL) -> Advice:
    """Whether most documents are as small as a chunk already."""
    source = joined(corpus)
    counts = source.count_words(source.bases[:-1], source.bases[1:] - 1)
    share = float((counts <= small).mean()) if len(counts) else 0.0
    middle = float(np.median(counts)) if len(counts) else 0.0
    return Advice("small_documents", share >= MOST,
                  f"{share:.0%} of {len(counts)} documents have at most {small} words, half of them at most {middle:,.0f}.")  # fmt: skip


def identifiers(keyword: Trial, dense: Trial) -> Advice:
    """Whether questions ask by identifiers that keyword search finds: most do, and of those it finds no fewer than dense.

    Both trials are of the same cut and questions, one searched by keyword.
    """
    rows = [
        (by_keyword.hit, by_meaning.hit)
        for by_keyword, by_meaning in zip(keyword.results, dense.results, strict=True)
        if asks_by_identifier(by_keyword.question)
    ]
    found, meant = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0)
    share = len(rows) / len(keyword.results)
    return Advice("identifiers", share >= MOST and found >= meant,
                  f"{len(rows)} of {len(keyword.results)} questions ask by an identifier; of those keyword search finds {found}, "
                  f"search by meaning {meant}.")  # fmt: skip


def asks_by_identifier(question: Question) -> bool:
    """Whether a question names something by its exact characters, as names in code and error numbers are written.

    Example: 'What does E_TIMEOUT mean?' -> True; 'Is RAM slow?' -> False
    """
    return _IDENTIFIER.search(question.text) is not None


def not_needed(corpus: Corpus, trials: Sequence[Trial] = ()) -> list[Advice]:
    """When chunking is not needed, by the present corpus: the prompt, the size of documents, and, where a trial by keyword
    and one by meaning of the same cut are given, the identifiers."""
    found = [fits_prompt(corpus), small_documents(corpus)]
    by_search = {trial.config.search: trial for trial in trials}
    if {"keyword", "dense"} <= by_search.keys():
        found.append(identifiers(by_search["keyword"], by_search["dense"]))
    return found
