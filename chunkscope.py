"""Chunkscope from a terminal: cut a file, evaluate a configuration, sweep over many. Results go to standard output, progress to error.

python chunkscope.py cut FILE --strategy fixed --set size=120 --set overlap=30 --json
python chunkscope.py evaluate --strategy recursive --set size=200 --context headings --json
python chunkscope.py sweep --strategy recursive --vary size=50:800:50 --study FILE --csv FILE
python chunkscope.py compare A.json B.json
python chunkscope.py check STUDY.json --strategy recursive --set size=300 --margin 0.05
python chunkscope.py cache --remove-uninstalled
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chunking.context import CONTEXTS
from chunking.experiment import Trial, run
from chunking.gate import difference_object, in_words, needed_in_words, verdict_in_words, verdict_object
from chunking.index import POOLINGS, REPEATS, SEARCHES, Config, Index, assemble, build
from chunking.joined import SCOPES
from chunking.libraries.common import REQUIREMENTS
from chunking.recorded import COMPARED, compare_records, gate_records, judge_records, left_out
from chunking.registry import STRATEGIES, Choice, Parameter, missing, strategy_named
from chunking.study import Record, Study, config_changes, record, trial_id, trial_object
from chunking.summaries import NAMES, arms
from chunking.sweep import AXES, Plan, plan, setting, sweep, values_of
from chunking.table import MEASURES, check_measures, names, table
from chunking.types import Corpus, Describe, Embed, TokenSpans

if TYPE_CHECKING:
    from cache.embedder import Progress


_CHECK = """Measures a configuration and compares it, question by question, with a trial of a study: the first, or --baseline ID.
What is not named is as in that trial. Exit status 0: a loss of more than the margin is ruled out; 1: worse beyond chance;
3: it cannot be told; 2: the input is wrong."""
_WRITE_EVERY = 10.0  # seconds between two writings of a study while its trials are measured
_LIKE_BASELINE = ("scope", "context", "search", "pooling", "repeats", "embedder", "chat")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on standard error and exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"chunkscope: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 where it worked, 2 with one line on standard error where the input is wrong; check has its own."""
    from cache.errors import EmbedderError

    options = _parser().parse_args(arguments)
    try:
        return options.command(options) or 0
    except (ValueError, OSError, EmbedderError) as error:
        print(f"chunkscope: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chunkscope: stopped; what was embedded is kept", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="chunkscope", description="Cut documents and measure what each cut costs.", epilog=_settings_help(),
                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    cutting = commands.add_parser("cut", help="cut one file and print its chunks")
    cutting.add_argument("file", type=Path, metavar="FILE", help="a Markdown or text file")
    cutting.set_defaults(command=_cut)
    evaluating = commands.add_parser("evaluate", help="measure one configuration on a question set")
    evaluating.set_defaults(command=_evaluate)
    checking = commands.add_parser("check", help="whether a configuration may take the place of one in a study, for CI",
                                   description=_CHECK)  # fmt: skip
    checking.add_argument("study", type=Path, metavar="STUDY.json", help="a file that sweep --study wrote")
    checking.add_argument("--margin", type=float, required=True, metavar="SHARE",
                          help="the largest loss that may pass, as a share: 0.05 is 5 points")  # fmt: skip
    checking.set_defaults(command=_check)
    comparing = commands.add_parser("compare", help="compare trials that were measured before",
                                    description="Every trial of the files against a baseline, and which is best.")  # fmt: skip
    comparing.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="written by sweep --study or evaluate --json"
    )
    comparing.add_argument("--json", action="store_true", help="print one JSON object")
    comparing.set_defaults(command=_compare)
    for command in (evaluating, checking):
        _add_amount(command)
    for command in (checking, comparing):
        _add_baseline(command)
    sweeping = commands.add_parser("sweep", help="measure many configurations on a question set")
    sweeping.set_defaults(command=_sweep)
    _add_sweep(sweeping)
    for command in (evaluating, checking, sweeping):
        _add_measuring(command)
    storing = commands.add_parser("cache", help="show what the store of finished vectors holds")
    storing.add_argument("--remove-uninstalled", action="store_true",
                         help="remove what models made that the Ollama server does not have")  # fmt: skip
    storing.set_defaults(command=_cache)
    for command in (cutting, evaluating, checking, sweeping):
        _add_cutting(command)
    checking.set_defaults(**dict.fromkeys(("k", *_LIKE_BASELINE)))
    return parser


def _add_amount(command: argparse.ArgumentParser) -> None:
    """What is measured, and how much is sent."""
    command.add_argument("--chunks", type=Path, metavar="FILE",
                         help="measure the chunks of this JSON file, made by any tool, in place of a strategy")  # fmt: skip
    amount = command.add_mutually_exclusive_group()
    amount.add_argument("--k", type=int, default=5, help="returned spans to send, 1 to 20 (default 5)")
    amount.add_argument("--budget", type=int, metavar="WORDS", help="send as many spans as this many words hold")


def _add_baseline(command: argparse.ArgumentParser) -> None:
    """What is compared with what."""
    command.add_argument("--baseline", metavar="ID", help="the id of the trial to compare with (default: the first)")
    command.add_argument("--measure", choices=COMPARED, default="hit", help="what is compared (default hit)")


def _add_sweep(command: argparse.ArgumentParser) -> None:
    """What is varied, and what is kept of it."""
    command.add_argument("--vary", action="append", default=[], metavar="NAME=VALUES",
                          help=f"low:high:step or a,b,c; a setting, strategy, or one of {', '.join(AXES)}; may be given more than once")  # fmt: skip
    command.add_argument("--measure", action="append", metavar="NAME",
                          help=f"a column of the table (default hit_rate); may be given more than once; one of {', '.join(MEASURES)}")  # fmt: skip
    command.add_argument("--k", type=int, default=5, help="returned spans to send, 1 to 20 (default 5)")
    command.add_argument("--budget", type=int, default=800, metavar="WORDS",
                          help="each setting is measured a second time where as many spans are sent as this many words hold (default 800)")  # fmt: skip
    command.add_argument("--summaries", nargs="?", const=",".join(NAMES), metavar="HEADINGS",
                          help=f"measure with and without the sections that have these headings (default {', '.join(NAMES)})")  # fmt: skip
    command.add_argument("--csv", type=Path, metavar="FILE", help="write every figure and interval of each trial")
    command.add_argument("--study", type=Path, metavar="FILE",
                          help="keep the trials in this file; those it has already are not measured again")  # fmt: skip


def _add_measuring(command: argparse.ArgumentParser) -> None:
    """On what is measured, and how chunks are searched."""
    command.add_argument(
        "--documents", type=Path, metavar="DIR", help="a folder of documents (default: the bundled posts)"
    )
    command.add_argument("--questions", type=Path, metavar="FILE", help="a CSV, JSONL or JSON file of questions")
    command.add_argument("--search", default="dense", help=f"one of {', '.join(SEARCHES)}")
    command.add_argument("--pooling", default="isolated", help=f"one of {', '.join(POOLINGS)}")
    command.add_argument("--repeats", default="skip", help=f"a span already sent: one of {', '.join(REPEATS)}")


def _add_cutting(command: argparse.ArgumentParser) -> None:
    """How documents are cut and embedded."""
    command.add_argument("--strategy", metavar="NAME", help=", ".join(STRATEGIES))
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the strategy")
    command.add_argument("--scope", default="document", help=f"one of {', '.join(SCOPES)}")
    command.add_argument("--context", default="none", help=f"one of {', '.join(CONTEXTS)}")
    command.add_argument("--embedder", default="minilm", metavar="NAME", help="minilm or ollama:MODEL")
    for kind in ("query", "document"):
        command.add_argument(f"--{kind}-prefix", metavar="TEXT",
                             help=f"put before each {kind} in place of the model's own prefix; \"\" for none")  # fmt: skip
    command.add_argument("--chat", default="", metavar="ollama:MODEL",
                         help="the chat model of context contextual (default: one that the server has)")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _settings_help() -> str:
    lines = ["strategies and their settings (--set NAME=VALUE):"]
    for strategy in STRATEGIES.values():
        absent = f" (install with pip install -r {REQUIREMENTS})" if missing(strategy) else ""
        lines.append(f"  {strategy.name:16} {strategy.summary}{absent}")
        lines += [f"    {parameter.name}={_shown(parameter.default)}  ({_allowed(parameter)}) {parameter.help}"
                  for parameter in strategy.parameters]  # fmt: skip
    return "\n".join(lines)


def _allowed(parameter: Parameter) -> str:
    if isinstance(parameter, Choice):
        return "|".join(parameter.values)
    return f"{parameter.lowest}..{parameter.highest}"


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _config(options: argparse.Namespace, **axes: Any) -> Config:
    if not options.strategy:
        raise ValueError(f"name a strategy with --strategy: {', '.join(STRATEGIES)}")
    chat = _chat_name(options) if options.context == "contextual" else options.chat
    return Config.of(options.strategy, _settings([options.strategy], options.set), scope=options.scope,
                     context=options.context, chat=chat, **axes)  # fmt: skip


def _chat_name(options: argparse.Namespace) -> str:
    """The chat model that is named, else one that the Ollama server has; ValueError where there is none."""
    if options.chat:
        return str(options.chat)
    from cache import default_chat_name, look

    choice = default_chat_name(look())
    if not choice.name:
        raise ValueError(choice.sentence)
    return choice.name


def _settings(strategies: Sequence[str], given: Sequence[str]) -> dict[str, Any]:
    """The settings of `--set NAME=VALUE`, each value in the kind that its parameter has."""
    kinds = {parameter.name: parameter for each in strategies for parameter in strategy_named(each).parameters}
    settings: dict[str, Any] = {}
    for text in given:
        name, value = _named("--set", text)
        settings[name] = setting(kinds.get(name), name, value)
    return settings


def _named(option: str, text: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{option} takes NAME=VALUE, got {text!r}")
    return name, value


def _cut(options: argparse.Namespace) -> None:
    from data.documents import read_document

    config = _config(options)
    if not options.file.is_file():
        raise ValueError(f"there is no file {options.file}")
    document, notes = read_document(options.file.name, options.file.read_bytes())
    _say(notes)
    needs_model = strategy_named(config.strategy).embeds or config.values.get("unit") == "tokens"
    corpus = Corpus((document,))
    embed = _embedder(options.embedder, _prefixes(options)) if needs_model else None
    before = _warnings(embed)
    index = build(corpus, config, embed, describe=_describe(corpus, config, embed))
    _say([*_lost(index), *(warning for warning in _warnings(embed) if warning not in before)])
    chunks = index.chunks(0)
    if options.json:
        _print_json({
            "document": document.id,
            "characters": len(document.text),
            "chunks": [
                {"start": chunk.start, "end": chunk.end, "returned_start": chunk.returned_start,
                 "returned_end": chunk.returned_end, "words": words, "prefix": chunk.prefix, "flags": list(chunk.flags)}
                for chunk, words in zip(chunks, index.words.tolist(), strict=True)
            ],
        })  # fmt: skip
        return
    for number, (chunk, words) in enumerate(zip(chunks, index.words.tolist(), strict=True), 1):
        print(f"{number:4}  [{chunk.start}, {chunk.end})  {words} words  {' '.join(chunk.flags)}".rstrip())


def _evaluate(options: argparse.Namespace) -> None:
    axes = {"search": options.search, "pooling": options.pooling, "k": options.k, "budget": options.budget,
            "repeats": options.repeats}  # fmt: skip
    config = None if options.chunks else _config(options, **axes)
    corpus = _corpus(options)
    trial = _measured(options, config, axes, corpus, _embedder(options.embedder, _prefixes(options)))
    if options.json:
        _print_json(trial_object(trial))
    else:
        print("\n".join(_summary(trial)))


def _measured(
    options: argparse.Namespace, config: Config | None, axes: dict[str, Any], corpus: Corpus, embed: Embed
) -> Trial:
    """The trial of a configuration, or, without one, of the chunks that are brought along; what is noticed on standard error."""
    before = _warnings(embed)
    if config is None:
        index = _brought(options, corpus, axes, embed.token_spans)
    else:
        index = build(corpus, config, embed, describe=_describe(corpus, config, embed))
        _say(_lost(index))
    trial = run(corpus, index.config, embed, index)
    _say([warning for warning in _warnings(embed) if warning not in before])
    if trial.unread_chunks:
        _say(
            [
                f"{trial.unread_chunks} chunks have no vector: the model gave none for their text, and they are ranked last"
            ]
        )
    return trial


def _check(options: argparse.Namespace) -> int:
    """0, 1 or 3: whether the configuration may take the baseline's place, and what changed."""
    from data.studies import read_trials, versions

    if not 0 <= options.margin < 1:
        raise ValueError(f"margin must be at least 0 and below 1, got {options.margin}")
    kept = read_trials(options.study)
    if kept.study is None:
        raise ValueError(f"check needs a study, as sweep --study writes it, and {options.study} is one trial")
    _say(kept.lacks)
    baseline = _baseline(kept.records, options.baseline)
    _like(options, baseline["config"])
    axes = {name: getattr(options, name) for name in ("search", "pooling", "k", "budget", "repeats")}
    config = None if options.chunks else _config(options, **axes)
    corpus = _corpus(options)
    embed = _embedder(options.embedder, _prefixes(options))
    trial = record(_measured(options, config, axes, corpus, embed), embed)
    found, decided = gate_records(trial, baseline, options.margin, options.measure)
    content, other = kept.study.changes(corpus, versions())
    identity = config_changes({"settings": {"model": baseline["embedder"]}}, {"settings": {"model": trial["embedder"]}})
    changed = [*config_changes(baseline["config"], trial["config"]), *identity, *content, *other]
    left = left_out([baseline, trial])
    if options.json:
        _print_json({"status": decided.status, "reason": decided.reason, "baseline": baseline["id"], "trial": trial,
                     "difference": difference_object(found), "changed": changed, "left_out": left})  # fmt: skip
        return decided.status
    print(decided.reason)
    print(f"against {baseline['id']}: {in_words(found)}")
    print("\n".join(f"changed: {line}" for line in changed or ["nothing that is known"]))
    for what, ids in (("won", found.won), ("lost", found.lost), ("asked of one alone and left out", left)):
        if ids:
            print(f"{what}: {', '.join(ids)}")
    return decided.status


def _like(options: argparse.Namespace, baseline: dict[str, Any]) -> None:
    """Sets what is not named as it is in the baseline's configuration."""
    for name in _LIKE_BASELINE:
        if getattr(options, name) is None:
            setattr(options, name, "document" if options.chunks and name == "scope" else baseline[name])
    if options.k is None and options.budget is None:
        options.budget = baseline["budget"]
    options.k = options.k or baseline["k"]
    if not options.chunks and not options.strategy:
        options.strategy = baseline["strategy"]
        options.set = [*(f"{name}={_shown(value)}" for name, value in baseline["settings"].items()), *options.set]


def _baseline(records: Sequence[Record], name: str | None) -> Record:
    """The trial of that id, else the first. ValueError where there is no such trial."""
    if name is None:
        return records[0]
    found = next((one for one in records if one["id"] == name), None)
    if found is None:
        first = ", ".join(one["id"] for one in records[:5])
        raise ValueError(
            f"--baseline must be the id of one of {len(records)} trials ({first}{', ...' if len(records) > 5 else ''}), got {name!r}"
        )
    return found


def _compare(options: argparse.Namespace) -> None:
    from data.studies import read_trials

    files = [read_trials(path) for path in options.files]
    _say([sentence for one in files for sentence in one.lacks])
    _say(_apart([(str(path), one.study) for path, one in zip(options.files, files, strict=True) if one.study]))
    records = list({one["id"]: one for file in files for one in file.records}.values())
    if len(records) < 2:
        raise ValueError("a comparison needs at least two trials, and these files have one")
    baseline = _baseline(records, options.baseline)
    others = [one for one in records if one is not baseline]
    left = left_out(records)
    _say([f"left out, because not every trial answers them: {', '.join(left)}"] if left else [])
    found, judged = compare_records(others, baseline, options.measure), judge_records(records, options.measure)
    if options.json:
        _print_json({"baseline": baseline["id"], "measure": options.measure, "trials": records, "left_out": left,
                     "differences": {one["id"]: difference_object(each) for one, each in zip(others, found, strict=True)},
                     "verdict": verdict_object(judged, [one["id"] for one in records])})  # fmt: skip
        return
    named = dict(zip([one["id"] for one in records], names(records), strict=True))
    print("\n".join(table(records, ["hit_rate"])))
    print(f"\nagainst {baseline['id']} ({named[baseline['id']]}):")
    for one, each in zip(others, found, strict=True):
        more = needed_in_words(each)
        print(f"  {one['id']} ({named[one['id']]}): {in_words(each)}{f'; {more}' if more else ''}")
    print("\n" + "\n".join(verdict_in_words(judged, list(named.values()), found[0].measure.title)))


def _apart(studies: Sequence[tuple[str, Study]]) -> list[str]:
    """What differs between the first study and the others, in a sentence each."""
    return [
        f"{name} differs from {studies[0][0]}: {line}"
        for name, study in studies[1:] for line in studies[0][1].differences(study)
    ]  # fmt: skip


def _corpus(options: argparse.Namespace) -> Corpus:
    """The documents and questions that are named; what could not be read of them, on standard error."""
    from data.bundled import POSTS, QUESTIONS, load

    if options.documents and not options.questions:
        raise ValueError("--documents needs --questions: a trial is measured on questions")
    questions = options.questions or QUESTIONS
    corpus, report = load(options.documents or POSTS, questions)
    _say([*report.problems, *report.notes])
    if not corpus.questions:
        raise ValueError(f"no question of {questions} could be used")
    return corpus


def _sweep(options: argparse.Namespace) -> None:
    measures = options.measure or ["hit_rate"]
    check_measures(measures)
    planned = _plan(options)
    _say([f"left out: {sentence}" for sentence in planned.refused])
    corpus = _corpus(options)
    study = _study(options, corpus)
    embed = _embedder(options.embedder, _prefixes(options))
    wanted = [
        (arm, part, config, trial_id(part, config, embed.identity))
        for arm, part in _arms(options, corpus) for config in planned.configs
    ]  # fmt: skip
    before = _warnings(embed)
    try:
        _measure(wanted, study, embed, options.study)
    finally:  # also where it was stopped or the model failed: what is measured is kept
        done = [study.trials[key] for *_, key in wanted if key in study.trials]
        _say([*_rest(options, len(done), len(wanted)), *(one for one in _warnings(embed) if one not in before)])
        _write(options, study, done)
        if options.json:
            _print_json({**study.to_object(), "trials": done})
        else:
            print("\n".join(table(done, measures)))


def _study(options: argparse.Namespace, corpus: Corpus) -> Study:
    """The study that is named, else a new one. ValueError where it could not be written or is one of something else."""
    from data.studies import read_study, versions

    for path in filter(None, (options.study, options.csv)):
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {path.parent} for {path.name}")
    if not options.study or not options.study.exists():
        return Study.of(corpus, versions())
    study = read_study(options.study)
    content, other = study.changes(corpus, versions())
    if content:
        raise ValueError(f"{options.study} was measured on something else ({'; '.join(content)}): name another file")
    _say([f"{options.study} was measured with other versions: {line}" for line in other])
    return study


def _rest(options: argparse.Namespace, done: int, wanted: int) -> list[str]:
    """How a sweep that was stopped goes on; nothing where it was not."""
    if done == wanted:
        return []
    kept = f"the same command measures the rest, {options.study} has these"
    return [
        f"{done} of {wanted} trials are measured; {kept if options.study else 'with --study FILE they would be kept'}"
    ]


def _write(options: argparse.Namespace, study: Study, done: Sequence[Record]) -> None:
    from data.studies import write_csv, write_study

    if options.study:
        write_study(options.study, study)
    if options.csv:
        write_csv(options.csv, done)


def _measure(wanted: Sequence[tuple[str, Corpus, Config, str]], study: Study, embed: Embed, path: Path | None) -> None:
    """Measures what the study does not have yet, and puts it there trial by trial; now and then also in its file."""
    from data.studies import write_study

    missing = [one for one in wanted if one[-1] not in study.trials]
    done, written = 0, time.monotonic()
    for (arm, corpus), rows in groupby(missing, key=lambda one: one[:2]):
        for trial in sweep(corpus, [row[2] for row in rows], embed, partial(_describe, corpus, embed=embed)):
            study.add(record(trial, embed, arm))
            done += 1
            if path and time.monotonic() - written > _WRITE_EVERY:
                write_study(path, study)
                written = time.monotonic()
            _counted(f"measured {done} of {len(missing)}", done == len(missing))


def _plan(options: argparse.Namespace) -> Plan:
    """The configurations that are asked for; each is measured at k and within the budget, unless one of them is varied."""
    texts = dict(_named("--vary", text) for text in options.vary)
    strategies = texts.pop("strategy", options.strategy or "").split(",")
    if strategies == [""]:
        raise ValueError(f"name a strategy with --strategy: {', '.join(STRATEGIES)}")
    varied = {name: values_of(strategies, name, text) for name, text in texts.items()}
    if not {"k", "budget"} & varied.keys():
        varied["budget"] = [None, options.budget]
    chat = _chat_name(options) if "contextual" in varied.get("context", [options.context]) else ""
    axes = {name: getattr(options, name) for name in ("scope", "context", "pooling", "search", "k", "repeats")}
    return plan(strategies, _settings(strategies, options.set), varied, chat=chat, **axes)


def _arms(options: argparse.Namespace, corpus: Corpus) -> list[tuple[str, Corpus]]:
    """The corpora that are measured, each with its name: one, or with and without self-summaries."""
    if options.summaries is None:
        return [("", corpus)]
    kept, removed, left_out = arms(corpus, options.summaries.split(","))
    if all(old.text == new.text for old, new in zip(kept.documents, removed.documents, strict=True)):
        raise ValueError(f"no document has a section headed {options.summaries}")
    _say([f"{len(left_out)} questions are answered in a summary and are left out of both arms"])
    return [("summaries kept", kept), ("summaries removed", removed)]


def _cache(options: argparse.Namespace) -> None:
    from cache.store import Store, default_folder

    store = Store(default_folder())
    if options.remove_uninstalled:
        from cache.tidying import remove_uninstalled

        host, removed = remove_uninstalled(store)
        _say([f"removed {number} of {tag}, which {host} does not have" for tag, number in removed.items()])
        _say([] if removed else [f"nothing to remove: {host} has every Ollama model that made vectors here"])
    print(f"{store.folder}\n{store.volume() / 1e6:.1f} MB")
    for tag, number in sorted(store.tags().items()):
        print(f"{number:9} of {tag}")
    _say(store.warnings)


def _brought(
    options: argparse.Namespace, corpus: Corpus, axes: dict[str, Any], token_spans: TokenSpans | None
) -> Index:
    """The index of the chunks of a file; what could not be used of it, and what was noticed, on standard error."""
    from data.chunks import read_chunks

    if options.strategy or options.set:
        raise ValueError("give --chunks or a strategy with its settings, not both")
    if options.context == "contextual" or options.chat or options.scope != "document":
        raise ValueError("chunks that are brought along are as they are: --scope and context contextual do not apply")
    if not options.chunks.is_file():
        raise ValueError(f"there is no file {options.chunks}")
    cuts, report = read_chunks(options.chunks.name, options.chunks.read_bytes(), corpus.documents)
    _say([*report.problems, *report.notes])
    config = Config.of("whole", context=options.context, **axes)
    given = (("file", options.chunks.name),)
    return assemble(corpus, replace(config, strategy="chunks", settings=given), cuts, token_spans)


def _describe(corpus: Corpus, config: Config, embed: Embed | None) -> Describe | None:
    """The chat model that describes the chunks, after it was said what that costs; None where the context needs none."""
    if config.context != "contextual":
        return None
    from cache import open_chat
    from cache.described import Described, price

    chat = open_chat(config.chat)
    cost = price(chat, corpus, config, embed)
    _say([f"{config.chat} describes {cost.calls} chunks, {cost.cached} are described already: {cost.calls} calls, at most about "
          f"{cost.prompt_tokens} tokens read and {cost.answer_tokens} written; stopping keeps what is done", *chat.warnings])  # fmt: skip
    return Described(chat, cost.calls, lambda done, total: _counted(f"described {done} of {total}", done >= total))


def _lost(index: Index) -> list[str]:
    """What a library returned that is not in its document, in one line for each document."""
    count = Counter(name for name, _ in index.lost)
    first = {name: text for name, text in reversed(index.lost)}
    return [f"{name}: {number} texts that the library returned are not in the document and are left out, "
            f"the first is {first[name][:60]!r}" for name, number in count.items()]  # fmt: skip


def _prefixes(options: argparse.Namespace) -> dict[str, str]:
    """The prefixes that are given, by kind."""
    given = {"query": options.query_prefix, "document": options.document_prefix}
    return {kind: prefix for kind, prefix in given.items() if prefix is not None}


def _embedder(name: str, prefixes: dict[str, str]) -> Embed:
    """The embedder of that name, its progress on standard error."""
    from cache import open_embedder
    from cache.watched import Watched

    embedder = open_embedder(name, prefixes=prefixes)
    _say([*([f"embedded by {embedder.identity}"] if prefixes else []), *embedder.warnings])
    return Watched(embedder, _embedded)


def _warnings(embed: Embed | None) -> list[str]:
    """What an embedder warns of by now."""
    return list(getattr(embed, "warnings", ()))


def _embedded(progress: Progress) -> None:
    counts = {
        "from the store": progress.cached,
        "cut at the model's limit": progress.truncated,
        "failed": progress.failed,
    }
    said = [
        f"embedded {progress.done} of {progress.total}",
        *(f"{count} {what}" for what, count in counts.items() if count),
    ]
    _counted(", ".join(said), progress.done >= progress.total)


def _counted(sentence: str, last: bool) -> None:
    print(f"\r{sentence}", end="\n" if last else "", file=sys.stderr, flush=True)


def _summary(trial: Trial) -> list[str]:
    """A trial in a few lines for people."""
    values = trial_object(trial)
    low, high = values["hit_rate_interval"]
    amount = f"within {trial.config.budget} words" if trial.config.budget else f"at {trial.config.k}"
    return [
        f"{trial.config.strategy}: {values['chunks']} chunks of {values['words_per_chunk']:.1f} words on average",
        f"hit rate {amount}: {_percent(values['hit_rate'])} of {values['questions']} questions "
        f"(95% interval {_percent(low)} to {_percent(high)}; {values['hit_rate_interval_method']})",
        f"split: {_percent(values['split_share'])}   coverage: {_percent(values['coverage'])}   "
        f"precision: {_percent(values['precision'])}   words sent: {values['words_sent']:.0f}",
        *(
            ["flags: " + ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in values["flags"].items())]
            if any(values["flags"].values())
            else []
        ),
        f"truncated: {values['truncated_chunks']} chunks, {_percent(values['unread_share'])} of the text never read",
        "misses: " + ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in values["misses"].items()),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
