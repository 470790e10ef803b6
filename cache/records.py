"""What a model makes of a text or of a window of it, as an object, as bytes, and the key it is kept under."""

import hashlib
import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cache.errors import BadVectors

#: Raised when the layout below changes: older rows then become misses.
SCHEMA = 1

#: Stands for a token count that the model did not tell.
UNKNOWN = 0xFFFFFFFF

#: Why a text may have no vector.
NO_NUMBER = "it answers NaN or zeros, as some models do on a graphics card (num_gpu 0 helps)"
BROKE_DOWN = "the server broke down twice over it"

_HEADER = struct.Struct("<HHII")  # schema, flags, tokens, code points read
_TRUNCATED = 1
_STRANGE = 2
_NORM_TOLERANCE = 1e-3
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A vector and what it stands for; counts refer to the text with its prefix."""

    vector: np.ndarray  # (d,) float32, unit length
    tokens: int | None  # of the whole text, special tokens included; None where the model does not tell
    read: int  # code points, from the start of the text
    truncated: bool
    strange: bool = False  # many of the tokens read are unknown to the model
    why: str = ""  # there is no vector; this is not stored, and such a text is asked for again


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Tokens that the model reads at once, and which of their vectors are kept: those of `ids[first:last]`."""

    ids: np.ndarray  # (n,) int64, special tokens included
    first: int
    last: int

    def __str__(self) -> str:
        """All that the kept vectors depend on, but the model."""
        return f"{self.first}:{self.last} of {' '.join(map(str, self.ids.tolist()))}"


def no_vector(why: str, dimension: int = 0) -> Record:
    """What stands for a text that the model has no vector for: zeros, and nothing of the text read."""
    return Record(np.zeros(dimension, np.float32), None, 0, True, why=why)


def readable(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD: no tokenizer or JSON takes one, and offsets stay."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def pack(record: Record) -> bytes:
    """The record as little-endian bytes: 12 of header, then 4 a dimension."""
    tokens = UNKNOWN if record.tokens is None else record.tokens
    flags = (_TRUNCATED if record.truncated else 0) | (_STRANGE if record.strange else 0)
    return _HEADER.pack(SCHEMA, flags, tokens, record.read) + record.vector.astype("<f4").tobytes()


def unpack(data: bytes, dimension: int) -> Record | None:
    """The record in these bytes, or None where they are not one of `dimension` finite numbers of unit length."""
    if len(data) != _HEADER.size + 4 * dimension:
        return None
    schema, flags, tokens, read = _HEADER.unpack_from(data)
    vector = np.frombuffer(data, "<f4", offset=_HEADER.size).astype(np.float32, copy=False)
    if schema != SCHEMA or not abs(_norm(vector) - 1) <= _NORM_TOLERANCE:  # a NaN fails this too
        return None
    return Record(vector, None if tokens == UNKNOWN else tokens, read, bool(flags & _TRUNCATED), bool(flags & _STRANGE))


def pack_rows(rows: np.ndarray) -> bytes:
    """Token vectors as little-endian float32."""
    return rows.astype("<f4").tobytes()


def unpack_rows(data: bytes, shape: tuple[int, int]) -> np.ndarray | None:
    """The token vectors in these bytes, or None where they are not finite numbers of that shape."""
    if len(data) != 4 * shape[0] * shape[1]:
        return None
    rows = np.frombuffer(data, "<f4").astype(np.float32, copy=False).reshape(shape)
    return rows if np.isfinite(rows).all() else None


def unit_vector(numbers: np.ndarray, dimension: int, model: str, text: str) -> np.ndarray:
    """(dimension,) float32 of length 1; BadVectors where the model's answer for the text cannot be that.

    One vector at a time, so that its bits never depend on what was embedded beside it.
    """
    if numbers.shape != (dimension,):
        raise BadVectors(f"{model} must answer {dimension} numbers for a text, got {numbers.shape} for {quote(text)}")
    norm = _norm(numbers)
    if not np.isfinite(norm):
        raise BadVectors(f"{model} must answer finite numbers, got NaN or infinity for {quote(text)}")
    if abs(norm - 1) > _NORM_TOLERANCE:
        raise BadVectors(f"{model} must answer vectors of length 1, got length {norm:.4g} for {quote(text)}")
    return (numbers / norm).astype(np.float32)


def token_rows(rows: np.ndarray, shape: tuple[int, int], model: str) -> np.ndarray:
    """The model's answer for a window; BadVectors where it is not finite numbers of that shape."""
    if rows.shape != shape or not np.isfinite(rows).all():
        raise BadVectors(f"{model} must answer finite numbers of shape {shape} for a window, got {rows.shape}")
    return rows


def quote(text: str, width: int = 60) -> str:
    """The beginning of a text in quotation marks, for a message."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


def keyed_by(fields: Iterable[str]) -> Callable[[str], str]:
    """A function from a text to its key, 64 hexadecimal digits; the fields name all else a vector depends on.

    Every field is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
    """
    base = hashlib.blake2b(digest_size=32)
    for field in (str(SCHEMA), *fields):
        base.update(_with_length(field))

    def key(text: str) -> str:
        digest = base.copy()
        digest.update(_with_length(text))
        return digest.hexdigest()

    return key


def _with_length(field: str) -> bytes:
    data = field.encode("utf-8")
    return len(data).to_bytes(8, "little") + data


def _norm(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector.astype(np.float64)))
