"""Chunkscope from a terminal: cut a file, evaluate a configuration. Results go to standard output, progress to error.

python chunkscope.py cut FILE --strategy fixed --set size=120 --set overlap=30 --json
python chunkscope.py evaluate --strategy recursive --set size=200 --context headings --json
python chunkscope.py cache --remove-uninstalled
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chunking.context import CONTEXTS
from chunking.experiment import Result, Trial, run
from chunking.index import POOLINGS, REPEATS, SEARCHES, Config, Index, assemble, build
from chunking.joined import SCOPES
from chunking.libraries.common import REQUIREMENTS
from chunking.registry import STRATEGIES, Choice, Number, Numbers, Parameter, missing, strategy_named
from chunking.types import Corpus, Describe, Embed, TokenSpans

if TYPE_CHECKING:
    from cache.embedder import Progress


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on standard error and exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"chunkscope: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 where it worked, 2 with one line on standard error where the input is wrong."""
    from cache.errors import EmbedderError

    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (ValueError, OSError, EmbedderError) as error:
        print(f"chunkscope: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chunkscope: stopped; what was embedded is kept", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="chunkscope", description="Cut documents and measure what each cut costs.", epilog=_settings_help(),
                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    cutting = commands.add_parser("cut", help="cut one file and print its chunks")
    cutting.add_argument("file", type=Path, metavar="FILE", help="a Markdown or text file")
    cutting.set_defaults(command=_cut)
    evaluating = commands.add_parser("evaluate", help="measure one configuration on a question set")
    evaluating.add_argument(
        "--documents", type=Path, metavar="DIR", help="a folder of documents (default: the bundled posts)"
    )
    evaluating.add_argument("--questions", type=Path, metavar="FILE", help="a CSV, JSONL or JSON file of questions")
    evaluating.add_argument("--chunks", type=Path, metavar="FILE",
                            help="measure the chunks of this JSON file, made by any tool, in place of a strategy")  # fmt: skip
    evaluating.add_argument("--search", default="dense", help=f"one of {', '.join(SEARCHES)}")
    evaluating.add_argument("--pooling", default="isolated", help=f"one of {', '.join(POOLINGS)}")
    amount = evaluating.add_mutually_exclusive_group()
    amount.add_argument("--k", type=int, default=5, help="returned spans to send, 1 to 20 (default 5)")
    amount.add_argument("--budget", type=int, metavar="WORDS", help="send as many spans as this many words hold")
    evaluating.add_argument("--repeats", default="skip", help=f"a span already sent: one of {', '.join(REPEATS)}")
    evaluating.set_defaults(command=_evaluate)
    storing = commands.add_parser("cache", help="show what the store of finished vectors holds")
    storing.add_argument("--remove-uninstalled", action="store_true",
                         help="remove what models made that the Ollama server does not have")  # fmt: skip
    storing.set_defaults(command=_cache)
    for command in (cutting, evaluating):
        command.add_argument("--strategy", metavar="NAME", help=", ".join(STRATEGIES))
        command.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the strategy"
        )
        command.add_argument("--scope", default="document", help=f"one of {', '.join(SCOPES)}")
        command.add_argument("--context", default="none", help=f"one of {', '.join(CONTEXTS)}")
        command.add_argument("--embedder", default="minilm", metavar="NAME", help="minilm or ollama:MODEL")
        for kind in ("query", "document"):
            command.add_argument(f"--{kind}-prefix", metavar="TEXT",
                                 help=f"put before each {kind} in place of the model's own prefix; \"\" for none")  # fmt: skip
        command.add_argument("--chat", default="", metavar="ollama:MODEL",
                             help="the chat model of context contextual (default: one that the server has)")  # fmt: skip
        command.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


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
    return Config.of(options.strategy, _settings(options.strategy, options.set), scope=options.scope,
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


def _settings(strategy: str, given: Sequence[str]) -> dict[str, Any]:
    """The settings of `--set NAME=VALUE`, each value in the kind that its parameter has."""
    kinds = {parameter.name: parameter for parameter in strategy_named(strategy).parameters}
    settings: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, got {text!r}")
        settings[name] = _value(kinds.get(name), name, value)
    return settings


def _value(parameter: Parameter | None, name: str, text: str) -> Any:
    if isinstance(parameter, Number):
        return _number(name, text)
    if isinstance(parameter, Numbers):
        return [_number(name, part) for part in text.split(",")]
    return text


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
        return int(value) if value.is_integer() else value
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r}") from None


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
    from data.bundled import POSTS, QUESTIONS, load

    axes = {"search": options.search, "pooling": options.pooling, "k": options.k, "budget": options.budget,
            "repeats": options.repeats}  # fmt: skip
    config = None if options.chunks else _config(options, **axes)
    if options.documents and not options.questions:
        raise ValueError("--documents needs --questions: a trial is measured on questions")
    questions = options.questions or QUESTIONS
    corpus, report = load(options.documents or POSTS, questions)
    _say([*report.problems, *report.notes])
    if not corpus.questions:
        raise ValueError(f"no question of {questions} could be used")
    embed = _embedder(options.embedder, _prefixes(options))
    before = _warnings(embed)
    if config is None:
        index = _brought(options, corpus, axes, embed.token_spans)
        trial = run(corpus, index.config, embed, index)
    else:
        index = build(corpus, config, embed, describe=_describe(corpus, config, embed))
        _say(_lost(index))
        trial = run(corpus, config, embed, index)
    _say([warning for warning in _warnings(embed) if warning not in before])
    if trial.unread_chunks:
        _say(
            [
                f"{trial.unread_chunks} chunks have no vector: the model gave none for their text, and they are ranked last"
            ]
        )
    if options.json:
        _print_json(trial_object(trial))
    else:
        print("\n".join(_summary(trial)))


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


def trial_object(trial: Trial) -> dict[str, Any]:
    """A trial as plain values for JSON: the configuration, the means, and each question's result."""
    config, index, spread = trial.config, trial.index, trial.hit_rate_interval
    return {
        "config": {"strategy": config.strategy, "settings": config.values, "scope": config.scope, "context": config.context,
                   "pooling": config.pooling, "search": config.search, "k": config.k, "budget": config.budget,
                   "repeats": config.repeats, "chat": config.chat, "embedder": trial.embedder},
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


def _mean_or_none(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _result_object(result: Result) -> dict[str, Any]:
    return {
        "id": result.question.id, "hit": result.hit, "rank": result.rank, "reason": result.reason,
        "lenient_hit": result.lenient_hit, "coverage": result.cover.coverage, "precision": result.cover.precision,
        "iou": result.cover.iou, "ideal_precision": result.ideal_precision, "words_sent": result.words_sent,
        "phrase_rank": result.phrase_rank, "sent": [[span.document, span.start, span.end] for span in result.sent],
    }  # fmt: skip


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
