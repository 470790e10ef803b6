"""A sweep in the background: a thread that measures one configuration after another, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from cache import EmbedderError
from cache.embedder import CachedEmbedder, Progress
from cache.watched import Watched
from chunking.experiment import Trial
from chunking.index import Config
from chunking.study import Record, record
from chunking.sweep import sweep
from chunking.types import Corpus, Embed


@dataclass(frozen=True, eq=False, slots=True)
class Arm:
    """A corpus, its name where there are several, and the trials on it that are measured already."""

    name: str
    corpus: Corpus
    known: Mapping[Config, Trial]


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """A finished trial of an arm, with what a study keeps of it."""

    arm: Arm
    trial: Trial
    record: Record


class _Cancelled(Exception):  # noqa: N818 - it is what was asked for
    """The user has stopped the sweep."""


class Job:
    """A sweep of some configurations over some arms; `key` tells it from another one.

    `done` grows as trials are finished, `embedding` is how far the embedder is, `error` what broke it off. Stopping ends
    it after the batch at hand; what is measured and embedded is kept.
    """

    def __init__(self, key: Hashable, arms: Sequence[Arm], configs: Sequence[Config], embedder: CachedEmbedder) -> None:
        self.key = key
        self.arms = tuple(arms)
        self.configs = tuple(configs)
        self.done: list[Measured] = []
        self.embedding: Progress | None = None
        self.error: Exception | None = None
        self.cancelled = False
        self.embedder = embedder
        self._thread = threading.Thread(target=self._run, daemon=True, name="sweep")

    def start(self) -> None:
        """Begins to measure."""
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Returns when it has ended, or after so many seconds."""
        self._thread.join(seconds)

    def cancel(self) -> None:
        """Stops it."""
        self.cancelled = True

    @property
    def total(self) -> int:
        """The trials that it is to measure."""
        return len(self.configs) * len(self.arms)

    @property
    def running(self) -> bool:
        """Whether more is to come."""
        return self._thread.is_alive() and not self.cancelled

    @property
    def found(self) -> list[Measured]:
        """What is measured so far, arm by arm in the order of the configurations."""
        places = {config: place for place, config in enumerate(self.configs)}
        arms = {arm.name: place for place, arm in enumerate(self.arms)}
        return sorted(self.done, key=lambda one: (arms[one.arm.name], places[one.trial.config]))

    def _run(self) -> None:
        embed = Watched(self.embedder, self._tell)
        try:
            for arm in self.arms:
                self._measure(arm, embed)
        except _Cancelled:
            pass
        except (ValueError, EmbedderError, OSError) as error:
            self.error = error

    def _measure(self, arm: Arm, embed: Embed) -> None:
        missing = [config for config in self.configs if config not in arm.known]
        for config in self.configs:
            if config in arm.known:
                self._add(arm, arm.known[config], embed)
        for trial in sweep(arm.corpus, missing, embed):
            self._add(arm, trial, embed)

    def _add(self, arm: Arm, trial: Trial, embed: Embed) -> None:
        if self.cancelled:
            raise _Cancelled
        self.done.append(Measured(arm, trial, record(trial, embed, arm.name)))
        self.embedding = None

    def _tell(self, now: Progress) -> None:
        if self.cancelled:
            raise _Cancelled
        self.embedding = now
