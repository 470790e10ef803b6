"""The table of strategies: their functions, and the parameters that make the sliders, `--set` and the docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunking.joined import Joined, alone
from chunking.libraries.chonkie import chonkie_fast, chonkie_recursive, chonkie_sentence, chonkie_token
from chunking.libraries.langchain import langchain_markdown, langchain_recursive
from chunking.libraries.llamaindex import llamaindex_sentence
from chunking.libraries.semantic_text_splitter import semantic_markdown_splitter, semantic_text_splitter
from chunking.libraries.semchunk import semchunk
from chunking.parts import check_scope, part_of
from chunking.strategies.cluster import cluster
from chunking.strategies.fixed import fixed
from chunking.strategies.multi import multi
from chunking.strategies.paragraph import paragraph
from chunking.strategies.parent_child import parent_child
from chunking.strategies.recursive import recursive
from chunking.strategies.section import section
from chunking.strategies.semantic import semantic
from chunking.strategies.sentence import sentence
from chunking.strategies.sentence_window import sentence_window
from chunking.strategies.structure import structure
from chunking.strategies.whole import whole
from chunking.types import Chunks, Document, Embed, Ints, TokenSpans
from chunking.units import UNITS, Unit

Settings = Mapping[str, Any]
_SIZES = (25, 50, 75, 100, 120, 150, 175, 200, 225, 250, 300, 350, 400, 500, 600, 700, 800)


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter with a number: `stops` are the slider's, the terminal takes any value from `lowest` to `highest`."""

    name: str
    label: str
    default: float
    stops: tuple[float, ...]
    lowest: float
    highest: float
    help: str
    sized: bool = True  # counted in the unit that is set; a threshold or a number of sentences is not
    below: str = ""  # the parameter it must stay below
    upto: str = ""  # the parameter it must not exceed
    when: tuple[str, str] | None = None  # the choice, and its value, without which it has no effect
    embeds: bool = False  # another value needs other texts embedded before anything can be cut


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter with a few named values."""

    name: str
    label: str
    default: str
    values: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """A parameter with several whole numbers, different and in order: `100,200,400` in the terminal."""

    name: str
    label: str
    default: tuple[int, ...]
    stops: tuple[int, ...]
    lowest: int
    highest: int
    most: int
    help: str


Parameter = Number | Choice | Numbers


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table. `limit` names the parameter that a chunk's matched span must not exceed, if there is one."""

    name: str
    title: str
    summary: str
    cut: Callable[..., Chunks]
    parameters: tuple[Parameter, ...] = ()
    limit: str = ""
    embeds: bool = False  # cutting needs the embedder
    merges: bool = False  # returned spans overlap, and their union is sent
    module: str = ""  # of the library that cuts: what cannot be found where it is not installed


def _size(help: str = "The most a chunk may hold.") -> Number:
    return Number("size", "Size", 200, _SIZES, 1, 1_000_000, help)


_OVERLAP = Number("overlap", "Overlap", 0, (0, 10, 20, 25, 30, 40, 50, 75, 100, 150, 200), 0, 1_000_000,
                  "What a chunk repeats from the end of the one before it.", below="size")  # fmt: skip
_UNIT = Choice(
    "unit", "Unit", "words", UNITS, "What size and overlap are counted in. Tokens are those of the built-in model."
)


def _oversize(default: str, help: str) -> Choice:
    return Choice("oversize", "Over the limit", default, ("keep", "cut"), help)


_ROWS = (
    Strategy("whole", "Whole document", "The document as one chunk.", whole),
    Strategy("fixed", "Fixed window", "A window of so many words, wherever sentences begin or end.", fixed,
             (_size("The length of the window."), _OVERLAP, _UNIT), "size"),
    Strategy("sentence", "Sentences", "Whole sentences, packed up to a limit.", sentence,
             (_size(), _OVERLAP, _UNIT, _oversize("keep", "A sentence over the limit: kept whole, or cut between words.")), "size"),
    Strategy("paragraph", "Paragraphs", "Whole paragraphs, packed up to a limit.", paragraph,
             (_size(), _UNIT, _oversize("cut", "A paragraph over the limit: cut between sentences, or kept whole.")), "size"),
    Strategy("section", "Sections", "One chunk for each heading with its text.", section),
    Strategy("recursive", "Recursive", "Split on headings, then paragraphs, sentences and words as far as the limit asks; "
             "then packed.", recursive,
             (_size(), _OVERLAP, _UNIT, _oversize("keep", "A single word over the limit: kept whole, or cut.")), "size"),
    Strategy("structure", "Structure", "Markdown blocks inside each section: tables, lists and code stay whole while they fit.",
             structure, (_size(), _UNIT, _oversize("cut", "A block over the limit: cut between rows, items or sentences, or kept whole.")),
             "size"),
    Strategy("semantic", "Semantic", "A new chunk wherever two neighbouring sentences are unlike.", semantic,
             (Choice("cut_by", "Cut by", "threshold", ("threshold", "percentile"),
                     "A cosine that is the same everywhere, or the share of a document's sentence borders that are not cut."),
              Number("threshold", "Threshold", 0.25, tuple(round(0.05 * step, 2) for step in range(17)), -1, 1,
                     "Cosine of two neighbouring sentences below which a new chunk begins.", sized=False, when=("cut_by", "threshold")),
              Number("percentile", "Percentile", 90.0, (50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 95.0, 98.0), 0, 100,
                     "Of the distances between neighbouring sentences in a document (or section, where the scope is one): a new chunk begins above it.",
                     sized=False, when=("cut_by", "percentile")),
              _size("The cap: the most a chunk may hold however alike its sentences are."),
              Number("buffer", "Buffer (sentences)", 0, (0, 1, 2, 3), 0, 10,
                     "Sentences on each side that are embedded together with one before neighbours are compared.", sized=False, embeds=True), _UNIT,
              _oversize("keep", "A sentence over the cap: kept whole, or cut between words.")), "size", embeds=True),
    Strategy("cluster", "Cluster", "Pieces of at most 50 units, joined so that those within a chunk are as alike as can be.", cluster,
             (Number("size", "Size", 200, tuple(size for size in _SIZES if size >= 100), 50, 5000, "The cap: the most a chunk may hold."),
              _UNIT), "size", embeds=True),
    Strategy("parent_child", "Parent and child", "Match a small child, send the parent it was cut from.", parent_child,
             (Number("child", "Child", 50, (25, 50, 75, 100, 120, 150, 175, 200), 1, 1_000_000,
                     "The most a child may hold: what is embedded and matched.", upto="parent"),
              Number("parent", "Parent", 200, (100, 150, 200, 250, 300, 400, 500, 600, 700, 800), 1, 1_000_000,
                     "The most a parent may hold: what is sent."),
              Choice("base", "Cut by", "recursive", ("recursive", "fixed"), "The strategy that cuts both."), _UNIT), "child"),
    Strategy("sentence_window", "Sentence window", "Match one sentence, send it with its neighbours.", sentence_window,
             (Number("window", "Neighbours", 2, tuple(range(11)), 0, 1000,
                     "Sentences sent before and after the one that matched.", sized=False),)),
    Strategy("multi", "Several sizes", "One strategy at several sizes in one index; what overlaps is sent once.", multi,
             (Numbers("sizes", "Sizes", (100, 200, 400), _SIZES, 1, 1_000_000, 6, "The sizes that are cut, embedded and ranked together. A chunk counts as over the limit where it is over the largest."),
              Choice("base", "Cut by", "recursive", ("recursive", "sentence", "fixed"), "The strategy that cuts at every size."), _UNIT),
             "sizes", merges=True),
    Strategy("langchain_recursive", "LangChain recursive", "RecursiveCharacterTextSplitter: blank lines, line ends, spaces, then characters.",
             langchain_recursive,
             (_size(), _OVERLAP, _UNIT,
              Choice("separators", "Separators", "default", ("default", "words", "markdown"),
                     "Its own; its own without characters, so that no word is cut; or those it lists for Markdown.")),
             "size", module="langchain_text_splitters"),
    Strategy("langchain_markdown", "LangChain Markdown headings", "MarkdownHeaderTextSplitter: what stands below each heading, of any length.",
             langchain_markdown,
             (Number("levels", "Levels", 3, (1, 2, 3, 4, 5, 6), 1, 6, "Headings of so many levels part the text.", sized=False),
              Choice("headings", "Headings", "drop", ("drop", "keep"), "Whether a heading is left out of its chunk, as it does by default, or kept.")),
             module="langchain_text_splitters"),
    Strategy("llamaindex_sentence", "LlamaIndex sentences", "SentenceSplitter: whole sentences while they fit, then what is between marks, then words.",
             llamaindex_sentence, (_size(), _OVERLAP, _UNIT), "size", module="llama_index"),
    Strategy("chonkie_recursive", "Chonkie recursive", "RecursiveChunker: line ends, sentences, pauses, words.",
             chonkie_recursive, (_size(), _UNIT), "size", module="chonkie"),
    Strategy("chonkie_token", "Chonkie tokens", "TokenChunker: a window of so many units.",
             chonkie_token, (_size("The length of the window."), _OVERLAP, _UNIT), "size", module="chonkie"),
    Strategy("chonkie_sentence", "Chonkie sentences", "SentenceChunker: whole sentences, packed up to a limit.",
             chonkie_sentence, (_size(), _OVERLAP, _UNIT), "size", module="chonkie"),
    Strategy("chonkie_fast", "Chonkie fast", "FastChunker: bytes, cut behind the last line end, full stop or question mark.",
             chonkie_fast,
             (Number("size_bytes", "Size (bytes)", 1200, (150, 300, 450, 600, 900, 1200, 1500, 1800, 2400, 3000, 3600, 4200, 4800), 1, 10_000_000,
                     "The most bytes a chunk may hold; a word has about six.", sized=False),),
             module="chonkie"),
    Strategy("semchunk", "semchunk", "The longest runs of line ends, then tabs, spaces and marks, merged up to a limit.",
             semchunk, (_size(), _OVERLAP, _UNIT), "size", module="semchunk"),
    Strategy("semantic_text_splitter", "semantic-text-splitter", "TextSplitter: the largest of line ends, sentences, words and characters that fit.",
             semantic_text_splitter, (_size(), _OVERLAP, _UNIT), "size", module="semantic_text_splitter"),
    Strategy("semantic_markdown_splitter", "semantic-text-splitter, Markdown", "MarkdownSplitter: Markdown's headings and blocks first, then as for text.",
             semantic_markdown_splitter, (_size(), _OVERLAP, _UNIT), "size", module="semantic_text_splitter"),
)  # fmt: skip

STRATEGIES: dict[str, Strategy] = {row.name: row for row in _ROWS}

FLAGS = ("over_limit", "heading_last")


def strategy_named(name: str) -> Strategy:
    """The strategy of that name; ValueError with the nearest name where there is none."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = get_close_matches(name, STRATEGIES, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(STRATEGIES)}"
    raise ValueError(f"strategy {name!r} is not known: {hint}")


def missing(strategy: Strategy) -> bool:
    """Whether the library that a strategy needs is not installed."""
    return bool(strategy.module) and find_spec(strategy.module) is None


def checked(strategy: Strategy, settings: Settings) -> dict[str, Any]:
    """All settings of a strategy, defaults filled in. ValueError with rule and value where one is wrong."""
    known = {parameter.name for parameter in strategy.parameters}
    for name in settings:
        if name not in known:
            allowed = ", ".join(sorted(known)) or "none"
            raise ValueError(f"strategy {strategy.name} has no setting {name!r} (its settings: {allowed})")
    settings = {**_implied(strategy, settings), **settings}
    values = {parameter.name: settings.get(parameter.name, parameter.default) for parameter in strategy.parameters}
    for parameter in strategy.parameters:
        values[parameter.name] = _valid(parameter, values[parameter.name])
    for parameter in strategy.parameters:
        if isinstance(parameter, Number):
            _check_together(parameter, values)
            if parameter.when and values[parameter.when[0]] != parameter.when[1]:
                values[parameter.name] = parameter.default  # without effect: two trials must not differ by it
    return values


def _implied(strategy: Strategy, settings: Settings) -> dict[str, str]:
    """The choices that are not given but follow from numbers that are: a percentile means to cut by percentile."""
    implied: dict[str, str] = {}
    for parameter in strategy.parameters:
        if isinstance(parameter, Number) and parameter.when and parameter.name in settings:
            choice, value = parameter.when
            if choice not in settings and implied.setdefault(choice, value) != value:
                raise ValueError(f"give {implied[choice]} or {value}, not both, or set {choice}")
    return implied


def _valid(parameter: Parameter, value: Any) -> Any:
    """The value of one parameter, checked by itself."""
    if isinstance(parameter, Choice):
        if value not in parameter.values:
            raise ValueError(f"{parameter.name} must be one of {', '.join(parameter.values)}, got {value!r}")
        return value
    return _valid_numbers(parameter, value) if isinstance(parameter, Numbers) else _valid_number(parameter, value)


def _valid_numbers(parameter: Numbers, value: Any) -> tuple[int, ...]:
    name, lowest, highest = parameter.name, parameter.lowest, parameter.highest
    given = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    rule = f"{name} must be 1 to {parameter.most} different whole numbers from {lowest} to {highest}"
    numbers = [int(one) for one in given if _is_number(one) and one == int(one) and lowest <= one <= highest]
    if not numbers or len(numbers) < len(given) or len(numbers) > parameter.most or len(set(numbers)) < len(numbers):
        raise ValueError(f"{rule}, got {', '.join(map(str, given)) or 'none'}")
    return tuple(sorted(numbers))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _valid_number(parameter: Number, value: Any) -> float:
    name = parameter.name
    whole = isinstance(parameter.default, int)
    if not _is_number(value) or (whole and value != int(value)):
        raise ValueError(f"{name} must be {'a whole number' if whole else 'a number'}, got {value!r}")
    if not parameter.lowest <= value <= parameter.highest:
        raise ValueError(f"{name} must be from {parameter.lowest} to {parameter.highest}, got {value}")
    return int(value) if whole else float(value)


def _check_together(parameter: Number, values: dict[str, Any]) -> None:
    """ValueError where a parameter does not go with the one that bounds it."""
    name, below, upto = parameter.name, parameter.below, parameter.upto
    if below and values[name] >= values[below]:
        rule = f"{name} must be at least {parameter.lowest} and below {below}"
        raise ValueError(f"{rule}, got {name} {values[name]} and {below} {values[below]}")
    if upto and values[name] > values[upto]:
        raise ValueError(f"{name} must not be above {upto}, got {name} {values[name]} and {upto} {values[upto]}")


def cut(
    document: Document, name: str, settings: Settings, scope: str = "document",
    token_spans: TokenSpans | None = None, embed: Embed | None = None,
) -> Chunks:  # fmt: skip
    """The chunks of a document by a strategy: `cut_joined` for one document."""
    values = _ready(name, settings, scope, token_spans, embed)
    return _chunks(alone(document), name, values, scope)


def cut_joined(
    source: Joined, name: str, settings: Settings, scope: str = "document",
    token_spans: TokenSpans | None = None, embed: Embed | None = None,
) -> Chunks:  # fmt: skip
    """The chunks of joined documents by a strategy, in joined positions. ValueError for wrong settings, before any work.

    `token_spans` is needed for the unit tokens, `embed` for strategies that cut by meaning.
    """
    return _chunks(source, name, _ready(name, settings, scope, token_spans, embed), scope)


def _ready(
    name: str, settings: Settings, scope: str, token_spans: TokenSpans | None, embed: Embed | None
) -> dict[str, Any]:  # fmt: skip
    """What the strategy's function is called with; ValueError where something is wrong or missing."""
    strategy = strategy_named(name)
    values = checked(strategy, settings)
    check_scope(scope)
    if "unit" in values:
        values["unit"] = Unit(values["unit"], token_spans)
    if strategy.embeds:
        if embed is None:
            raise ValueError(f"strategy {name} cuts by meaning and needs an embedder")
        values["embed"] = embed
    return values


def _chunks(source: Joined, name: str, values: dict[str, Any], scope: str) -> Chunks:
    part = part_of(source, scope)
    return STRATEGIES[name].cut(part, **values) if len(part.regions.starts) else Chunks.empty()


def flags(
    source: Joined, name: str, settings: Settings, chunks: Chunks, token_spans: TokenSpans | None = None
) -> Ints:  # fmt: skip
    """Bits for each chunk, (n,): 1 where its matched span is over the limit, 2 where it ends with a heading."""
    strategy = strategy_named(name)
    values = checked(strategy, settings)
    bits = np.zeros(len(chunks), np.int64)
    if strategy.limit and len(chunks):
        rule = source.ruler(Unit(values.get("unit", "words"), token_spans))
        bits += rule.high(chunks.ends) - rule.low(chunks.starts) > np.max(values[strategy.limit])
    return bits + 2 * heading_last(source, chunks.starts, chunks.ends)


def heading_last(source: Joined, starts: Ints, ends: Ints) -> NDArray[np.bool_]:
    """Which spans end with a heading that is parted from the text below it, (n,)."""
    heads = source.headings
    if not len(heads.starts) or not len(starts):
        return np.zeros(len(starts), bool)
    ends = source.trimmed_ends(ends)
    place = np.minimum(np.searchsorted(heads.ends, ends), len(heads.ends) - 1)
    last = (heads.ends[place] == ends) & (starts <= heads.starts[place])
    # A heading with nothing below it is a chunk of its own by rights.
    return last & ((starts < heads.starts[place]) | ~_bare(source)[place])


def _bare(source: Joined) -> NDArray[np.bool_]:
    """Which headings have nothing below them before the next heading or the document's end, (headings,)."""
    heads, solid = source.headings, source.solid
    stops = np.minimum(np.append(heads.starts[1:], len(source.text)), source.bases[source.number(heads.starts) + 1] - 1)
    return solid[stops] == solid[heads.ends]


def flag_names(bits: int) -> tuple[str, ...]:
    """The names of the flags in `bits`. Example: 3 -> ('over_limit', 'heading_last')"""
    return tuple(flag for place, flag in enumerate(FLAGS) if bits >> place & 1)
