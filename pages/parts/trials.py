"""The trials that are compared: picked on the page, kept in the address, measured where this session has not yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from cache import EmbedderError
from cache.described import price
from cache.embedder import CachedEmbedder
from cache.watched import Watched
from chunking.basics import basic_configs
from chunking.comparing import MEASURES, Measure
from chunking.experiment import Trial
from chunking.index import Config
from chunking.recorded import COMPARED
from chunking.study import Record, Study, config_of
from chunking.types import Corpus, Describe
from data.studies import Measured, versions
from pages.parts import resources
from pages.parts.address import choose, chosen
from pages.parts.controls import packed, select, unpacked
from pages.parts.embedding import Stopped
from pages.parts.words import amount_of, counted, plain, title_of

MOST = 12  # trials side by side: more make no table that can be read, and no address that can be sent
_BETWEEN = "|"  # `packed` writes it as %7C


@dataclass(frozen=True, eq=False)
class Line:
    """A row of the leaderboard: a trial as a study keeps it, its name, and the trial itself where this session has it."""

    name: str
    record: Record
    trial: Trial | None


@dataclass(frozen=True, eq=False)
class Compared:
    """What is compared: the session's trials by name, with those of uploaded studies; one of the session's is the baseline."""

    corpus: Corpus
    embed: Watched
    trials: Mapping[str, Trial]
    uploaded: Sequence[tuple[str, Record]]
    baseline_name: str
    measure: Measure

    @property
    def baseline(self) -> Trial:
        """The trial that the others are compared with."""
        return self.trials[self.baseline_name]

    @property
    def others(self) -> list[str]:
        """The names of the session's trials but the baseline."""
        return [name for name in self.trials if name != self.baseline_name]

    @cached_property
    def lines(self) -> list[Line]:
        """All rows, the session's first."""
        own = [Line(name, resources.record_of(trial, self.embed), trial) for name, trial in self.trials.items()]
        return [*own, *(Line(name, record, None) for name, record in self.uploaded)]

    @property
    def records(self) -> list[Record]:
        """The records of all rows, in their order."""
        return [line.record for line in self.lines]


def pick(corpus: Corpus, config: Config, embedder: CachedEmbedder, embed: Watched) -> Compared | None:
    """The trials to compare with their baseline and measure; None where there are fewer than two, and it is said."""
    configs = _configs(corpus, config, embedder, embed)
    trials = _measured(corpus, configs, embed)
    uploaded = _uploaded(corpus)
    if not trials or len(trials) + len(uploaded) < 2:
        st.info("Choose at least two trials to compare.")
        return None
    left, right = st.columns([2, 1])
    with left:
        keys = {packed(trial.config): name for name, trial in trials.items()}
        base = select("base", "Baseline", list(keys), next(iter(keys)), keys.__getitem__,
                      "The trial that every difference is taken from.")  # fmt: skip
    with right:
        measure = select("measure", "Compared by", list(COMPARED), "hit", lambda name: MEASURES[name].title,
                         "The measure of differences and of the verdict.")  # fmt: skip
    return Compared(corpus, embed, trials, uploaded, keys[base], MEASURES[measure])


def trial_or_why(corpus: Corpus, config: Config, embed: Watched) -> tuple[Trial | None, str]:
    """The trial of a configuration; None where it cannot be measured unbidden, and then why. Stopped where it was."""
    try:
        describe: Describe | None = None
        if config.context == "contextual":
            describe = resources.chat(config.chat)
            if price(describe, corpus, config, embed).calls:
                return None, "its chunks are not described yet; choose it to see what that costs."
        return resources.measured(corpus, config, embed, describe=describe), ""
    except (ValueError, EmbedderError, OSError) as error:
        resources.let_go_if_changed(error)
        return None, str(error)


def pick_other(compared: Compared) -> Trial | None:
    """The trial that is laid beside the baseline; None where there is no other."""
    keys = {packed(compared.trials[name].config): name for name in compared.others}
    if not keys:
        st.info("Choose a second trial of this session to lay beside the baseline.")
        return None
    other = select(
        "other",
        "Beside the baseline",
        list(keys),
        next(iter(keys)),
        keys.__getitem__,
        "The trial that is laid beside the baseline.",
    )
    return compared.trials[keys[other]]


def name_of(config: Config) -> str:
    """A trial's name. Example: 'Fixed window, size 200, at 5 chunks'"""
    repeats = "" if config.repeats == "skip" else ", repeats kept"
    return f"{title_of(config)}, {amount_of(config)}{repeats}"


def _configs(corpus: Corpus, config: Config, embedder: CachedEmbedder, embed: Watched) -> list[Config]:
    """The configurations that are chosen; at first the present one and the basic ones."""
    first = [packed(one) for one in dict.fromkeys([config, *_basic(corpus, config, embed)])]
    given = [text for text in chosen("trials").split(_BETWEEN) if unpacked(text)]
    options = list(dict.fromkeys([*first, *map(packed, resources.trials(corpus, embedder)), *given]))
    st.session_state["w_trials"] = (given or first)[:MOST]
    st.multiselect("Trials", options, key="w_trials", on_change=_keep_trials, max_selections=MOST, format_func=_named,
                   help="What this session has measured, and the basic strategies. What has no vectors yet is embedded first.")  # fmt: skip
    return [config for config in map(unpacked, st.session_state["w_trials"]) if config]


def _basic(corpus: Corpus, config: Config, embed: Watched) -> list[Config]:
    try:
        return list(basic_configs(corpus, embed, config.k, config.budget))
    except Stopped:
        return []


def _named(text: str) -> str:
    config = unpacked(text)
    return name_of(config) if config else text


def _keep_trials() -> None:
    choose("trials", _BETWEEN.join(st.session_state["w_trials"]))


def _measured(corpus: Corpus, configs: Sequence[Config], embed: Watched) -> dict[str, Trial]:
    """The trials by name, measured where they have to be; what cannot be is said."""
    found: dict[str, Trial] = {}
    try:
        for config in configs:
            trial, why = trial_or_why(corpus, config, embed)
            if trial:
                found[name_of(config)] = trial
            else:
                st.warning(plain(f"{name_of(config)} is left out: {why}"))
    except Stopped:
        st.caption(
            f"{len(configs) - len(found)} of {counted(len(configs), 'trial')} are left out: embedding was stopped."
        )
    return found


def kept_studies() -> dict[str, Measured]:
    """The studies that this session has uploaded, by the names of their files."""
    kept: dict[str, Measured] = st.session_state.setdefault("studies", {})
    return kept


def study_differences(study: Study, corpus: Corpus) -> tuple[list[str], list[str]]:
    """What differs in an uploaded study: in documents and questions, for which it cannot be compared; in versions."""
    return study.changes(corpus, versions())


def _uploaded(corpus: Corpus) -> list[tuple[str, Record]]:
    """The trials of uploaded studies of this very corpus, each with a name that tells its file."""
    return [
        (f"{name_of(config_of(record['config']))} ({file})", record)
        for file, kept in kept_studies().items()
        if kept.study and not study_differences(kept.study, corpus)[0]
        for record in kept.records
        if not record["arm"]
    ]
