"""Stand-ins for models: embedders whose vectors can be worked out by hand, and two small tokenizers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from zlib import crc32

import numpy as np

from chunking.types import Ints, Kind, TokenSpans, TokenSums, Vectors

_PIECE = re.compile(r"\w{1,4}|[^\w\s\x00-\x1f]")
_SPACED_PIECE = re.compile(r"\s?[^\s]{1,3}|\s+")


def letter_pieces(text: str) -> Ints:
    """Word pieces of at most four letters, marks one by one; no piece holds a space or a control character, (n, 2).

    Example: 'Pumps!' -> 0..4, 4..5, 5..6
    """
    return np.array([match.span() for match in _PIECE.finditer(text)], np.int64).reshape(-1, 2)


def spaced_pieces(text: str) -> Ints:
    """Pieces as byte-level tokenizers make them: with the space before, of spaces alone, two in one character, (n, 2).

    Example: 'ab é' -> 0..2, 2..4, 3..4
    """
    spans = []
    for match in _SPACED_PIECE.finditer(text):
        spans.append(match.span())
        if not match.group().isascii():
            spans.append((match.end() - 1, match.end()))
    return np.array(spans, np.int64).reshape(-1, 2)


def unit_rows(vectors: Sequence[Sequence[float]]) -> Vectors:
    """The vectors at unit length, (n, d); one of zeros alone stays as it is."""
    rows = np.array(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


class Fake:
    """What all stand-ins share: texts come in, unit rows go out, and what came in is kept for tests to look at."""

    name = "fake"

    def __init__(self, limit: int | None = None, token_spans: TokenSpans | None = letter_pieces) -> None:
        self.identity = f"{type(self).__name__} {limit}"
        self.limit = limit
        self.token_spans = token_spans
        self.token_sums: Callable[[Sequence[str]], list[TokenSums]] | None = None
        self.seen: dict[Kind, list[str]] = {"document": [], "query": []}

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Unit rows, (n, d), of what is read of each text."""
        self.seen[kind] += texts
        return unit_rows([self.vector(text[: self.limit]) for text in texts])

    def read(self, texts: Sequence[str]) -> Ints:
        """The code points read of each text, (n,)."""
        return np.array([len(text[: self.limit]) for text in texts], np.int64)

    def vector(self, text: str) -> Sequence[float]:
        """The vector of one text, of any length but 0."""
        raise NotImplementedError


class BagOfWords(Fake):
    """Counts of hashed words: texts with words in common are alike, and no two texts have a cosine below 0."""

    def vector(self, text: str) -> Sequence[float]:
        row = [0.0] * 64
        for word in re.findall(r"\w+", text.lower()) or [text]:
            row[crc32(word.encode("utf-8", "surrogatepass")) % 64] += 1
        return row


class Constant(Fake):
    """The same vector for every text: all are alike."""

    def vector(self, text: str) -> Sequence[float]:
        return [1.0, 0.0]


class OneHot(Fake):
    """A direction of its own for each different text: no two are alike in the least."""

    def __init__(self, limit: int | None = None) -> None:
        super().__init__(limit)
        self.places: dict[str, int] = {}

    def vector(self, text: str) -> Sequence[float]:
        place = self.places.setdefault(text.strip(), len(self.places))
        return np.eye(512)[place].tolist()


class Table(Fake):
    """The vectors of a table, by the text that is embedded."""

    def __init__(self, table: Mapping[str, Sequence[float]], limit: int | None = None) -> None:
        super().__init__(limit)
        self.table = table

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        self.seen[kind] += texts
        return unit_rows([self.table[text] for text in texts])


class Scored(Fake):
    """Gives each document text the score of the first key that it contains, for every question; 0 without one."""

    def __init__(self, scores: Mapping[str, float], limit: int | None = None) -> None:
        super().__init__(limit)
        self.scores = scores

    def __call__(self, texts: Sequence[str], kind: Kind) -> Vectors:
        values = [1.0 if kind == "query" else self.score(text) for text in texts]
        return np.array([(value, sqrt(1 - value**2)) for value in values], np.float32)

    def score(self, text: str) -> float:
        return next((score for key, score in self.scores.items() if key in text), 0.0)
