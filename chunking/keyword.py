"""Keyword search: BM25 by the library bm25s, over the terms of each chunk and of its context prefix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from chunking.index import Index
from chunking.joined import Joined
from chunking.types import Ints
from chunking.words import word_spans

# Letters, and the marks that follow them: `\w` alone parts words of Indian scripts at every vowel sign.
_MARKS = "".join(chr(code) for code in range(0x300, 0xFE30) if category(chr(code)).startswith("M"))
_TERM = re.compile(rf"\w[\w{_MARKS}]*")


class Terms(NamedTuple):
    """The terms of joined documents: where each begins, and its number in the vocabulary, (t,) each."""

    starts: Ints
    ids: Ints
    vocabulary: dict[str, int]


def terms_of(text: str) -> list[tuple[int, str]]:
    """The terms of a text and where they begin: runs of letters, digits and underscores inside words, case folded.

    An accent or vowel sign belongs to the letter before it, however the text writes it. In scripts written without
    spaces each character is a word. Example: 'Re-set 泵坏' -> re, set, 泵, 坏
    """
    return [
        (match.start(), _folded(match.group()))
        for start, end in zip(*(column.tolist() for column in word_spans(text)), strict=True)
        for match in _TERM.finditer(text, start, end)
    ]


def _folded(term: str) -> str:
    return term.lower() if term.isascii() else normalize("NFC", term).casefold()


def keyword_scores(index: Index, questions: Sequence[str]) -> NDArray[np.float64]:
    """The BM25 score of every chunk for every question, (q, n), rounded to 6 decimals; 0 where they share no term.

    Lucene's formula with k1 = 1.5 and b = 0.75, the defaults of bm25s (Robertson and Zaragoza 2009; Lù 2024).
    """
    from bm25s import BM25  # takes half a second to import
    from bm25s.tokenization import Tokenized

    chunks, vocabulary = _chunk_terms(index)
    scores = np.zeros((len(questions), len(index)))
    if not any(chunks):
        return scores
    model = BM25(dtype="float64")
    model.index(Tokenized(chunks, vocabulary), show_progress=False)
    for row, question in enumerate(questions):
        asked = [vocabulary[term] for _, term in terms_of(question) if term in vocabulary]
        if asked:
            scores[row] = model.get_scores(asked)
    return scores.round(6)


def _chunk_terms(index: Index) -> tuple[list[list[int]], dict[str, int]]:
    """The numbers of each chunk's terms, those of its prefix before those that begin in its matched span."""
    source = index.source
    terms: Terms = source.keep("terms", lambda: _terms(source))
    vocabulary = dict(terms.vocabulary)
    prefixes = {
        prefix: [vocabulary.setdefault(term, len(vocabulary)) for _, term in terms_of(prefix)]
        for prefix in dict.fromkeys(index.prefixes)
    }
    starts, ends = index.matched
    first, last = (np.searchsorted(terms.starts, places).tolist() for places in (starts, ends))
    ids = terms.ids.tolist()
    rows = zip(index.prefixes, first, last, strict=True)
    return [prefixes[prefix] + ids[begin:stop] for prefix, begin, stop in rows], vocabulary


def _terms(source: Joined) -> Terms:
    vocabulary: dict[str, int] = {}
    found = terms_of(source.text)
    ids = [vocabulary.setdefault(term, len(vocabulary)) for _, term in found]
    return Terms(np.array([start for start, _ in found], np.int64), np.array(ids, np.int64), vocabulary)
