"""A study: trials as plain values for JSON, each under an id from its content, with what they were measured on.

It holds ids, spans and figures. Texts of documents and questions are never in it, only their hashes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from chunking.experiment import Result, Trial
from chunking.index import Config
from chunking.sweep import cut_hash
from chunking.types import Corpus, Embed, Passage

FORMAT = 1  # raised when an older program could not read a study any more
SEEDS = "resampling is seeded with the number of units that are resampled"
Record = dict[str, Any]  # a trial as a study keeps it

#: The means of a record that have an interval, and the value of one question that each is the mean of.
_MEANS = {
    "coverage": lambda result: result.cover.coverage,
    "precision": lambda result: result.cover.precision,
    "iou": lambda result: result.cover.iou,
    "ideal_precision": lambda result: result.ideal_precision,
    "words_sent": lambda result: float(result.words_sent),
    "mean_reciprocal_rank": lambda result: result.reciprocal_rank,
}
_RATES = {
    "lenient_hit_rate": lambda result: result.lenient_hit,
    "split_share": lambda result: result.rank is None,
    "whole_share": lambda result: result.rank is not None,
    "read_share": lambda result: result.reason not in ("split", "truncated"),
}


def trial_object(trial: Trial) -> dict[str, Any]:
    """A trial as plain values for JSON: the configuration, the means, and each question's result."""
    index, spread = trial.index, trial.hit_rate_interval
    return {
        "config": {**config_object(trial.config), "embedder": trial.embedder},
        "questions": len(trial.results),
        "chunks": len(index),
        "words_per_chunk": float(index.words.mean()),
        "words_per_chunk_spread": float(index.words.std()),
        "repeated_words": index.repeated_words,
        "hit_rate": trial.hit_rate,
        "hit_rate_interval": [spread.low, spread.high],
        "hit_rate_interval_method": spread.method + (", too narrow: questions taken as independent" if spread.too_narrow else ""),
        "lenient_hit_rate": trial.mean(result.lenient_hit for result in trial.results),
        "split_share": trial.split_share,
        "coverage": trial.mean(result.cover.coverage for result in trial.results),
        "precision": trial.mean(result.cover.precision for result in trial.results),
        "iou": trial.mean(result.cover.iou for result in trial.results),
        "ideal_precision": trial.mean(result.ideal_precision for result in trial.results),
        "words_sent": trial.mean(result.words_sent for result in trial.results),
        "distinct_words_sent": trial.mean(result.distinct_words for result in trial.results),
        "tokens_sent": _mean_or_none([result.tokens_sent for result in trial.results]),
        "hit_at": {str(k): trial.hit_at(k) for k in (1, 3, 5, 10)},
        "mean_reciprocal_rank": trial.reciprocal_rank,
        "truncated_chunks": trial.truncated_chunks,
        "unread_chunks": trial.unread_chunks,
        "unread_share": index.unread_share(trial.read_ends),
        "flags": index.flag_counts,
        "lost": [{"document": name, "text": text} for name, text in index.lost],
        "misses": trial.misses,
        "per_question": [_result_object(result) for result in trial.results],
    }  # fmt: skip


def config_object(config: Config) -> dict[str, Any]:
    """A configuration as plain values for JSON."""
    return {"strategy": config.strategy, "settings": config.values, "scope": config.scope, "context": config.context,
            "pooling": config.pooling, "search": config.search, "k": config.k, "budget": config.budget,
            "repeats": config.repeats, "chat": config.chat}  # fmt: skip


def config_of(values: Mapping[str, Any]) -> Config:
    """The configuration of plain values; ValueError where they are not those of one."""
    axes = {name: value for name, value in values.items() if name not in ("strategy", "settings", "embedder")}
    try:
        return Config.of(values["strategy"], dict(values["settings"]), **axes)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a configuration must have a strategy, its settings and the axes, got {values!r}") from error


def _mean_or_none(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _result_object(result: Result) -> dict[str, Any]:
    return {
        "id": result.question.id, "document": result.question.document, "hit": result.hit, "rank": result.rank, "reason": result.reason,
        "lenient_hit": result.lenient_hit, "coverage": result.cover.coverage, "precision": result.cover.precision,
        "iou": result.cover.iou, "ideal_precision": result.ideal_precision, "words_sent": result.words_sent,
        "phrase_rank": result.phrase_rank, "sent": [[span.document, span.start, span.end] for span in result.sent],
    }  # fmt: skip


def document_hashes(corpus: Corpus) -> dict[str, str]:
    """The hash of each document by its id: of its text, title, date and kind."""
    return {
        document.id: _hash([document.text, document.title, document.date, document.markdown])
        for document in corpus.documents
    }


def question_hashes(corpus: Corpus) -> dict[str, str]:
    """The hash of each question by its id: of its text and its passages."""

    def places(passages: Iterable[Iterable[Passage]]) -> list[list[list[Any]]]:
        return [[[one.document, one.start, one.end] for one in need] for need in passages]

    return {
        question.id: _hash([question.text, places(question.needs), places(question.also), question.phrase,
                            places([[question.section]] if question.section else [])])
        for question in corpus.questions
    }  # fmt: skip


def corpus_hash(corpus: Corpus) -> str:
    """The hash of all documents and questions, in order; made once."""
    return corpus.keep("hash", lambda: _hash([*document_hashes(corpus).items(), *question_hashes(corpus).items()]))


def trial_id(corpus: Corpus, config: Config, identity: str) -> str:
    """16 hexadecimal digits: the same for the same configuration, documents, questions and embedder, wherever measured."""
    return _hash([config_object(config), corpus_hash(corpus), identity])


def _hash(value: Any) -> str:
    data = json.dumps(value, sort_keys=True).encode("ascii")
    return blake2b(data, digest_size=8).hexdigest()


def record(trial: Trial, embed: Embed, arm: str = "") -> Record:
    """What a study keeps of a trial: its object without texts, with its id, intervals, and the hash of its cut.

    `arm` names what was done to the documents before, '' for nothing.
    """
    value = trial_object(trial)
    lost = Counter(entry["document"] for entry in value["lost"])
    return {
        "id": trial_id(trial.index.corpus, trial.config, embed.identity),
        "arm": arm,
        "embedder": embed.identity,
        "cut": cut_hash(trial.index),
        **value,
        "lost": [{"document": name, "texts": number} for name, number in lost.items()],
        "whole_share": trial.whole_share,
        "read_share": trial.read_share,
        "intervals": _intervals(trial),
    }


def record_of(printed: Any) -> Record:
    """The record of a trial as `evaluate --json` prints it: with the interval of its hit rate alone, its cut unknown.

    ValueError where it is none.
    """
    try:
        whole = 1 - printed["split_share"]
        return {
            **printed,
            "id": _hash(printed),
            "arm": "",
            "embedder": printed["config"]["embedder"],
            "cut": _hash(printed),
            "whole_share": whole,
            "read_share": whole - printed["misses"]["truncated"] / printed["questions"],
            "intervals": {"hit_rate": printed["hit_rate_interval"]},
        }
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"a trial must have what evaluate --json prints, and this lacks {error}") from error


def config_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two configurations as records hold them, in sentences. Example: size was 200 and is 300"""
    old, new = ({**one, **one["settings"]} for one in (before, now))
    names = [name for name in dict.fromkeys([*old, *new]) if name != "settings"]
    return [
        f"{name} was {_said(old.get(name))} and is {_said(new.get(name))}"
        for name in names if _said(old.get(name)) != _said(new.get(name))
    ]  # fmt: skip


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "none" if value in (None, "") else str(value)


def _intervals(trial: Trial) -> dict[str, list[float]]:
    spreads = {name: trial.interval([of(result) for result in trial.results]) for name, of in _MEANS.items()}
    for name, rate in _RATES.items():
        spreads[name] = trial.interval([float(rate(result)) for result in trial.results], rate=True)
    spreads["hit_rate"] = trial.hit_rate_interval
    return {name: [spread.low, spread.high] for name, spread in spreads.items()}


@dataclass
class Study:
    """Trials on one corpus, by id in order of measuring; hashes by id of documents and questions; versions by name.

    `clusters` names the document of each question: what a comparison of two trials needs beside their results.
    """

    documents: dict[str, str]
    questions: dict[str, str]
    clusters: dict[str, str]
    versions: dict[str, str]
    trials: dict[str, Record] = field(default_factory=dict)

    @classmethod
    def of(cls, corpus: Corpus, versions: Mapping[str, str]) -> Study:
        """A study without trials."""
        clusters = {question.id: question.document for question in corpus.questions}
        return cls(document_hashes(corpus), question_hashes(corpus), clusters, dict(versions))

    def add(self, trial: Record) -> None:
        """Takes a trial's record in; one of the same id is replaced."""
        self.trials[trial["id"]] = trial

    def changes(self, corpus: Corpus, versions: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """What differs now from when the study was made, in sentences: in documents and questions; in versions."""
        now = Study.of(corpus, versions)
        return self._content(now), self._others(now)

    def differences(self, other: Study) -> list[str]:
        """What differs in another study, in sentences: documents, questions, versions."""
        return [*self._content(other), *self._others(other)]

    def _content(self, now: Study) -> list[str]:
        documents = _differences("document", self.documents, now.documents)
        return documents + _differences("question", self.questions, now.questions)

    def _others(self, now: Study) -> list[str]:
        names = sorted(self.versions.keys() | now.versions.keys())
        return [
            f"{name} was {self.versions.get(name, 'absent')} and is {now.versions.get(name, 'absent')}"
            for name in names if self.versions.get(name) != now.versions.get(name)
        ]  # fmt: skip

    def to_object(self) -> dict[str, Any]:
        """The study as plain values for JSON."""
        return {"format": FORMAT, "seeds": SEEDS, "versions": self.versions, "documents": self.documents,
                "questions": self.questions, "clusters": self.clusters, "trials": list(self.trials.values())}  # fmt: skip

    @classmethod
    def from_object(cls, value: Any) -> Study:
        """The study of such values; ValueError where they are not one, or one that only a newer program reads."""
        if not isinstance(value, dict) or not isinstance(value.get("format"), int):
            raise ValueError("a study must be a JSON object with a format, as sweep --study writes it")
        if value["format"] > FORMAT:
            raise ValueError(
                f"a study must have format {FORMAT} or less, got {value['format']}: a newer Chunkscope wrote it"
            )
        try:
            study = cls(*(dict(value[name]) for name in ("documents", "questions", "clusters", "versions")))
            for one in value["trials"]:
                config_of(one["config"])
                study.add(one)
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"a study must have documents, questions, clusters, versions and trials with ids, and this lacks {error}"
            ) from error
        return study


def _differences(what: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What was taken away, added, or changed, each in a sentence with the first few names."""
    found = {
        "gone": [name for name in before if name not in now],
        "new": [name for name in now if name not in before],
        "changed": [name for name in now if name in before and before[name] != now[name]],
    }
    return [
        f"{len(names)} {what}{'s' if len(names) > 1 else ''} {how}: {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"
        for how, names in found.items() if names
    ]  # fmt: skip
