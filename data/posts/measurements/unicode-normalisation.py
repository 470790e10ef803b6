"""Count what the normalisation forms do to characters, names and bytes.

Whole-alphabet counts cover the characters of Unicode 3.2, whose normalisation is frozen, so the
figures do not depend on the Unicode version of the Python that runs this.
"""

import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable
from unicodedata import category, combining, is_normalized, normalize, ucd_3_2_0

SEED = 20250513
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
GIVEN = ["Zoë", "Paweł", "Bjørn", "Renée", "Jürgen", "Søren", "Chloé", "André", "Łukasz", "Åsa"]
FAMILY = ["Gödel", "Erdős", "Muñoz", "Šimek", "Dvořák", "Ångström", "Brontë", "Li", "Weiß", "Ó Sé"]
SAMPLES = {
    "Zoë": "Zo\u00eb",
    "Å (angstrom sign)": "\u212b",
    "ﬁ (ligature)": "\ufb01",
    "한 (Hangul)": "\ud55c",
    "x²": "x\u00b2",
    "Tiếng Việt": "Ti\u1ebfng Vi\u1ec7t",
}


def assigned() -> list[str]:
    """Return the characters of Unicode 3.2, without surrogates and private use."""
    chars = map(chr, range(sys.maxunicode + 1))
    return [char for char in chars if ucd_3_2_0.category(char) not in ("Cn", "Cs", "Co")]


def size(text: str) -> int:
    """Return the length in UTF-8 bytes."""
    return len(text.encode())


def match_key(text: str) -> str:
    """Return a key for caseless matching of strings that look alike."""
    return normalize("NFKC", normalize("NFKC", text).casefold())


def print_samples() -> None:
    """Print code points and bytes of a few strings in each form."""
    for name, text in SAMPLES.items():
        for form in FORMS:
            shape = normalize(form, text)
            print(f"{name}, {form}, code points: {len(shape)}")
            print(f"{name}, {form}, bytes: {size(shape)}")
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    print(f"family emoji, code points: {len(family)}")
    print(f"family emoji, UTF-16 units: {len(family.encode('utf-16-le')) // 2}")
    print(f"family emoji, bytes: {size(family)}")


def print_alphabet(chars: list[str]) -> None:
    """Count the characters that each form changes, and the longest results."""
    print(f"characters: {len(chars):,}")
    for form in FORMS:
        changed = [char for char in chars if normalize(form, char) != char]
        print(f"changed by {form}: {len(changed):,}")
        growth = max(size(normalize(form, char)) / size(char) for char in changed)
        print(f"{form}, largest growth in bytes: {growth:.0f} times")
    hangul = [char for char in chars if "\uac00" <= char <= "\ud7a3"]
    print(f"Hangul syllables: {len(hangul):,}")
    decomposed = sum(normalize("NFD", char) != char for char in chars)
    print(f"Hangul share of the NFD changes: {100 * len(hangul) / decomposed:.0f} %")
    ascii_twins = [char for char in chars if char > "\x7f" and normalize("NFKC", char).isascii()]
    print(f"non-ASCII characters that NFKC turns into ASCII: {len(ascii_twins):,}")
    for mark in "<'/":
        twins = [char for char in ascii_twins if mark in normalize("NFKC", char)]
        print(f"characters whose NFKC contains {mark}: {len(twins)}")
    longest = max(chars, key=lambda char: len(normalize("NFKC", char)))
    print(f"longest NFKC: U+{ord(longest):04X}")
    print(f"longest NFKC, code points: {len(normalize('NFKC', longest))}")


def print_order(chars: list[str]) -> None:
    """Count characters for which the order of folding and normalising matters."""
    for name, fold in (("lower", str.lower), ("casefold", str.casefold)):
        moving = [c for c in chars if changes_again(c, fold)]
        print(f"{name}() then NFKC, changed by a second pass: {len(moving):,}")
    moving = [char for char in chars if match_key(match_key(char)) != match_key(char)]
    print(f"NFKC, casefold(), NFKC, changed by a second pass: {len(moving):,}")


def changes_again(char: str, fold: Callable[[str], str]) -> bool:
    """Return whether folding and then normalising a second time gives something else."""
    once = normalize("NFKC", fold(char))
    return normalize("NFKC", fold(once)) != once


def print_names(rng: random.Random) -> None:
    """Count rows that a unique index keeps apart, by the key it compares."""
    people = [f"{given} {family}" for given, family in itertools.product(GIVEN, FAMILY)]
    print(f"people: {len(people)}")
    print("registrations: 2,000")
    rows = []
    for _ in range(2_000):
        name = normalize(rng.choice(("NFC", "NFD")), rng.choice(people))
        rows.append(rng.choice((name, name, name, name.upper(), name.lower())))
    keys: dict[str, Callable[[str], str]] = {
        "text as received": str,
        "lower()": str.lower,
        "NFC": lambda text: normalize("NFC", text),
        "NFC and lower()": lambda text: normalize("NFC", text).lower(),
        "NFC and casefold()": lambda text: normalize("NFC", text.casefold()),
        "NFD without marks, casefold()": lambda text: strip_marks(text).casefold(),
    }
    for name, key in keys.items():
        print(f"distinct by {name}: {len({key(row) for row in rows}):,}")
    kept = {char for char in "".join(people) if not strip_marks(char).isascii()}
    print(f"letters that are not ASCII even without marks: {len(kept)}")


def strip_marks(text: str) -> str:
    """Return the text without combining marks."""
    return "".join(char for char in normalize("NFD", text) if category(char) != "Mn")


def print_joins(chars: list[str]) -> None:
    """Count pairs of normalised strings whose concatenation is not normalised."""
    letters = [c for c in chars if c < "\u0250" and c.isalpha() and is_normalized("NFC", c)]
    marks = [c for c in chars if "\u0300" <= c < "\u0370" and combining(c)]
    marks = [c for c in marks if is_normalized("NFC", c)]
    broken = Counter(is_normalized("NFC", a + b) for a, b in itertools.product(letters, marks))
    print(f"join, letters: {len(letters)}")
    print(f"join, marks: {len(marks)}")
    print(f"join, pairs: {broken.total():,}")
    print(f"join, pairs no longer in NFC: {broken[False]:,}")


def main() -> None:
    """Print one figure a line."""
    chars = assigned()
    print(f"seed: {SEED}")
    print("Unicode version of the counted characters: 3.2")
    print("bytes are those of: UTF-8")
    print_samples()
    print_alphabet(chars)
    print_order(chars)
    print_names(random.Random(SEED))
    print_joins(chars)


if __name__ == "__main__":
    main()
