"""Words: maximal runs of non-space characters; in scripts written without spaces each character is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunking.types import Spans

# Code points of scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han.
_SPACELESS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x19E0, 0x19FF), (0x3005, 0x3007), (0x3041, 0x309F),
    (0x30A1, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF),
)  # fmt: skip
# Vowel signs, tone marks and prolonged sounds of those scripts: they belong to the character before them.
_MARKS = (
    (0x0E31, 0x0E31), (0x0E34, 0x0E3A), (0x0E47, 0x0E4E), (0x0EB1, 0x0EB1), (0x0EB4, 0x0EBC), (0x0EC8, 0x0ECE),
    (0x102B, 0x103E), (0x1056, 0x1059), (0x105E, 0x1060), (0x1062, 0x1064), (0x1067, 0x106D), (0x1071, 0x1074),
    (0x1082, 0x108D), (0x108F, 0x108F), (0x109A, 0x109D), (0x17B4, 0x17D3), (0x17DD, 0x17DD), (0x3099, 0x309A),
    (0x30FC, 0x30FC), (0xFF70, 0xFF70), (0xFF9E, 0xFF9F), (0x0300, 0x036F), (0xFE00, 0xFE0F), (0x200C, 0x200D),
)  # fmt: skip
_CLOSING = "、。，．：；！？…‥・」』】〕〉》）］｝”’!?,.:;)]}%％"
_OPENING = "「『【〔〈《（［｛“‘([{"
Codes = NDArray[np.uint8] | NDArray[np.uint32]

_ORDINARY, _CHARACTER, _ATTACHED, _OPENS = 0, 1, 2, 3


def _table(ranges: tuple[tuple[int, int], ...]) -> NDArray[np.bool_]:
    table = np.zeros(0x10000, bool)
    for first, last in ranges:
        table[first : min(last, 0xFFFF) + 1] = True
    return table


_SPACE = np.array([chr(c).isspace() for c in range(0x3001)])
_KIND = np.zeros(0x10000, np.int8)
_KIND[_table(_SPACELESS)] = _CHARACTER
_KIND[_table(_MARKS)] = _ATTACHED
_KIND[[ord(c) for c in _CLOSING]] = _ATTACHED
_KIND[[ord(c) for c in _OPENING]] = _OPENS


def code_points(text: str) -> Codes:
    """The code points of a text, (n,), a byte each where all are ASCII; lone surrogates included."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def is_space(codes: Codes) -> NDArray[np.bool_]:
    """Which code points are white space, as `str.isspace` has it, (n,)."""
    if codes.dtype == np.uint8:
        return _SPACE[codes]
    space = _SPACE[np.minimum(codes, len(_SPACE) - 1)]
    return space & (codes < len(_SPACE))


def word_spans(text: str) -> Spans:
    """The spans of all words of a text, in order.

    In scripts written without spaces a mark or closing punctuation counts with the character before it and opening
    punctuation with the one after it, so that no word is punctuation alone. Example: '泵坏了。ok' -> 泵, 坏, 了。, ok
    """
    codes = code_points(text)
    if not len(codes):
        return Spans.empty()
    space = is_space(codes)
    begins = ~space
    begins[1:] &= space[:-1]
    stops = space.copy()
    stops[1:] &= ~space[:-1]
    stops[0] = False
    blanks = np.flatnonzero(stops)  # the first of each stretch of white space after a word
    if not space[-1]:
        blanks = np.append(blanks, len(codes))
    if not _has_spaceless(codes):
        return Spans(np.flatnonzero(begins), blanks)
    starts = np.flatnonzero(begins | _spaceless_begins(codes, space))
    # A word ends at the next word or the next white space, whichever comes first.
    return Spans(
        starts, np.minimum(np.append(starts[1:], len(codes)), blanks[np.searchsorted(blanks, starts, "right")])
    )


def _has_spaceless(codes: Codes) -> bool:
    """Whether any code point is a character of a script written without spaces."""
    if codes.dtype == np.uint8:
        return False
    return bool(
        (_KIND[np.minimum(codes, 0xFFFF)] == _CHARACTER).any() or ((codes >= 0x20000) & (codes <= 0x3FFFF)).any()
    )


def _spaceless_begins(codes: Codes, space: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where a word begins within a run of non-space characters because a script without spaces is involved."""
    kind = np.where(codes < 0x10000, _KIND[np.minimum(codes, 0xFFFF)], np.int8(_ORDINARY))
    kind[(codes >= 0x20000) & (codes <= 0x3FFFF)] = _CHARACTER
    kind[space] = _ORDINARY
    # What stands before, marks and closing punctuation looked through: a word goes on only within one kind.
    place = np.arange(len(codes))
    last = np.maximum.accumulate(np.where(kind == _ATTACHED, 0, place))
    last_kind = kind[np.concatenate(([0], last[:-1]))]
    previous = np.concatenate(([np.int8(_ORDINARY)], kind[:-1]))
    opened = previous == _OPENS
    after_character = last_kind == _CHARACTER
    character = (kind == _CHARACTER) & ~opened
    ordinary = ((kind == _ORDINARY) | (kind == _OPENS)) & after_character
    return (character | ordinary) & ~space
