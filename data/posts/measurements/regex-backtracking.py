"""Count the steps of a backtracking matcher and of a linear-time one on the same patterns.

Both run the same small program of character tests and forks; one instruction executed at one
position is one step. Real engines optimise, so their counts differ, but not their growth.
"""

import re
from collections.abc import Callable
from typing import Any

CHAR, SPLIT, JUMP, START, END, NOT_BEHIND, ATOMIC, MATCH = range(8)
Op = tuple[Any, ...]
Test = Callable[[str], bool]


class Parser:
    """Compiles literals, classes, dots, groups, anchors, alternatives and quantifiers."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def peek(self) -> str:
        """Return the next character of the pattern, or an empty string."""
        return self.pattern[self.at : self.at + 1]

    def take(self, text: str) -> bool:
        """Skip `text` if it comes next."""
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def alternatives(self) -> list[Op]:
        """Compile branches separated by bars; jumps are relative to their instruction."""
        code = self.sequence()
        if self.take("|"):
            other = self.alternatives()
            code = [(SPLIT, 1, len(code) + 2), *code, (JUMP, len(other) + 1), *other]
        return code

    def sequence(self) -> list[Op]:
        """Compile atoms and their quantifiers."""
        code: list[Op] = []
        while self.peek() and self.peek() not in "|)":
            code += self.quantified(self.atom())
        return code

    def atom(self) -> list[Op]:
        """Compile a lookbehind, a group, an anchor or a single character."""
        if self.take("(?<!"):
            test = self.single()
            self.take(")")
            return [(NOT_BEHIND, test)]
        for opening in ("(?>", "(?:", "("):
            if self.take(opening):
                inner = self.alternatives()
                self.take(")")
                return [(ATOMIC, (*inner, (MATCH,)))] if opening == "(?>" else inner
        if self.take("^"):
            return [(START,)]
        if self.take("$"):
            return [(END,)]
        return [(CHAR, self.single())]

    def single(self) -> Test:
        """Return the test for one character, escape or class."""
        if self.take("["):
            end = self.pattern.index("]", self.at)
            source = self.pattern[self.at - 1 : end + 1]
            self.at = end + 1
        else:
            source = self.pattern[self.at : self.at + 1 + (self.peek() == "\\")]
            self.at += len(source)
        accepts = re.compile(source).fullmatch
        return lambda char: accepts(char) is not None

    def quantified(self, code: list[Op]) -> list[Op]:
        """Repeat the code of an atom as its quantifier says."""
        if self.take("{"):
            end = self.pattern.index("}", self.at)
            count = int(self.pattern[self.at : end])
            self.at = end + 1
            return code * count
        sign = self.peek()
        if sign not in ("*", "+"):
            return code
        self.at += 1
        possessive = self.take("+")
        lazy = self.take("?")
        if sign == "*":
            ways = (1, len(code) + 2)
            code = [(SPLIT, *(ways[::-1] if lazy else ways)), *code, (JUMP, -len(code) - 1)]
        else:
            ways = (-len(code), 1)
            code = [*code, (SPLIT, *(ways[::-1] if lazy else ways))]
        return [(ATOMIC, (*code, (MATCH,)))] if possessive else code


class Backtracker:
    """Tries one way after another and remembers the forks."""

    def __init__(self, pattern: str) -> None:
        self.program = (*Parser(pattern).alternatives(), (MATCH,))
        self.steps = 0

    def run(self, program: tuple[Op, ...], text: str, start: int) -> int:
        """Return the end of the first match at `start`, or -1."""
        forks = [(0, start)]
        while forks:
            pc, at = forks.pop()
            while True:
                self.steps += 1
                op = program[pc]
                if op[0] == MATCH:
                    return at
                if op[0] == SPLIT:
                    forks.append((pc + op[2], at))
                    pc += op[1]
                elif op[0] == JUMP:
                    pc += op[1]
                elif op[0] == ATOMIC:
                    at = self.run(op[1], text, at)
                    if at < 0:
                        break
                    pc += 1
                elif passes(op, text, at):
                    at += op[0] == CHAR
                    pc += 1
                else:
                    break
        return -1

    def search(self, text: str) -> bool:
        """Return whether there is a match anywhere, as re.search does."""
        anchored = self.program[0][0] == START
        starts = range(1 if anchored else len(text) + 1)
        return any(self.run(self.program, text, start) >= 0 for start in starts)


def passes(op: Op, text: str, at: int) -> bool:
    """Return whether a character test, a lookbehind or an anchor holds at a position."""
    if op[0] == CHAR:
        return at < len(text) and op[1](text[at])
    if op[0] == NOT_BEHIND:
        return at == 0 or not op[1](text[at - 1])
    return at == (0 if op[0] == START else len(text))


def linear(pattern: str, text: str) -> tuple[bool, int]:
    """Advance all states together, each at most once per position; return match and steps."""
    program = (*Parser(pattern).alternatives(), (MATCH,))
    states: list[int] = []
    steps, anchored = 0, program[0][0] == START
    for at in range(len(text) + 1):
        pending = [*states, *([0] if at == 0 or not anchored else [])][::-1]
        seen: set[int] = set()
        states = []
        while pending:
            pc = pending.pop()
            if pc in seen:
                continue
            seen.add(pc)
            steps += 1
            op = program[pc]
            if op[0] == MATCH:
                return True, steps
            if op[0] == SPLIT:
                pending += [pc + op[2], pc + op[1]]
            elif op[0] == JUMP:
                pending.append(pc + op[1])
            elif op[0] == CHAR:
                states += [pc + 1] * passes(op, text, at)
            elif passes(op, text, at):
                pending.append(pc + 1)
    return False, steps


def backtracking(pattern: str, text: str) -> tuple[bool, int]:
    """Search with the backtracking matcher; return match and steps."""
    matcher = Backtracker(pattern)
    return matcher.search(text), matcher.steps


def show(label: str, pattern: str, text: str, engine: str = "backtracking") -> None:
    """Print the steps of one search, after comparing its result with that of re."""
    found, steps = {"backtracking": backtracking, "linear": linear}[engine](pattern, text)
    if found != (re.search(pattern, text) is not None):
        raise AssertionError(pattern)
    print(f"{pattern} on {label}, {engine}: {steps:,} steps")


def main() -> None:
    """Print one figure a line."""
    for n in (5, 10, 15):
        for pattern in (r"^(a+)+$", r"^(a|a)*$", r"^(a|aa)+$"):
            show(f"{n} letters and !", pattern, "a" * n + "!")
    formula = all(backtracking(r"^(a+)+$", "a" * n + "!")[1] == 5 * 2**n - 3 for n in range(1, 15))
    print(f"steps of ^(a+)+$ are 5 * 2 ^ n - 3: {formula}")
    for n in (25, 50, 100):
        show(f"{n} spaces and x", r"\s+$", " " * n + "x")
        show(f"{n} letters", r"^.*.*=", "x" * n)
        show(f"{n} letters", r".*.*=", "x" * n)
    for n in (15, 400):
        for pattern in (r"^a+$", r"^(a++)+$", r"^(?>a+)+$"):
            show(f"{n} letters and !", pattern, "a" * n + "!")
    for pattern in (r"\s++$", r"(?<!\s)\s+$"):
        show("100 spaces and x", pattern, " " * 100 + "x")
    for fields in (12, 13, 14):
        row = ",".join(map(str, range(1, fields + 1)))
        for pattern in (r"^(.*?,){11}P", r"^(?>(.*?,){11})P", r"^([^,]*,){11}P"):
            show(f"{fields} fields", pattern, row)
    show("15 letters and !", r"^(a+)+$", "a" * 15 + "!", "linear")
    show("100 spaces and x", r"\s+$", " " * 100 + "x", "linear")
    show("100 letters", r".*.*=", "x" * 100, "linear")
    show("14 fields", r"^(.*?,){11}P", ",".join(map(str, range(1, 15))), "linear")


if __name__ == "__main__":
    main()
