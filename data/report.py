"""What was read and what could not be: one line for each thing a user should know."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Report:
    """Problems lose something (a file, a row); notes tell what was done without being asked."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.problems or self.notes)


class ReadError(ValueError):
    """A file that cannot be read, with the reason in one sentence."""
