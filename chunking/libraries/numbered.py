"""Where a piece of a text stands, for libraries that return texts without their places or with wrong ones.

A text that occurs several times cannot be found again by searching: with an overlap, each of its places may be the one
that was meant. So the library is given the text with its characters numbered, each non-space character replaced by a
code point that stands for its place. White space is kept, marks that the library looks for can be named (`marks`), and
lengths are taken of the plain text: it cuts as it would cut the text itself, and every piece says where it came from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chunking.types import Ints
from chunking.words import code_points, is_space

# Planes 4 to 13 of Unicode: no character has been given to them, and none is white space.
_FIRST, _COUNT = 0x40000, 0xA0000


@dataclass(frozen=True, slots=True)
class Numbered:
    """A text, the same with its characters numbered, and the place and the character of each number.

    Numbers go by character, then place, so that all places of a character are a range of numbers.
    """

    text: str
    numbered: str
    places: list[int]
    characters: Ints

    @classmethod
    def of(cls, text: str) -> Numbered:
        """A text numbered. Where it has more characters than there are numbers, every second, third ... one is.

        A piece that lies between two of those has no place.
        """
        codes = code_points(text).astype(np.uint32)
        free = np.flatnonzero(~is_space(codes))
        places = free[:: -(-len(free) // _COUNT) or 1]
        places = places[np.argsort(codes[places], kind="stable")]
        characters = codes[places].astype(np.int64)
        codes[places] = _FIRST + np.arange(len(places))
        return cls(text, codes.tobytes().decode("utf-32-le"), places.tolist(), characters)

    def marks(self, characters: str) -> str:
        """What stands for characters inside the brackets of a pattern: themselves and their numbers."""
        found = re.escape(characters)
        for character in characters:
            first, stop = np.searchsorted(self.characters, (ord(character), ord(character) + 1)).tolist()
            if first < stop:
                found += f"{chr(_FIRST + first)}-{chr(_FIRST + stop - 1)}"
        return found

    def place(self, piece: str) -> int | None:
        """Where a numbered piece begins; None where it holds no number."""
        for offset, character in enumerate(piece):
            number = ord(character) - _FIRST
            if 0 <= number < len(self.places):
                return self.places[number] - offset
        return None

    def plain(self, piece: str) -> str:
        """The characters that a numbered piece stands for."""
        start = self.place(piece)
        if start is not None and self.numbered.startswith(piece, start):
            return self.text[start : start + len(piece)]
        return "".join(map(self._character, piece))

    def _character(self, character: str) -> str:
        number = ord(character) - _FIRST
        return self.text[self.places[number]] if 0 <= number < len(self.places) else character
