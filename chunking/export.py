"""The chosen setting as working code: plain Python, LangChain, LlamaIndex, Chonkie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chunking.index import Config
from chunking.registry import STRATEGIES

_OWN_FOLDER = "Run it in Chunkscope's folder, or with that folder in PYTHONPATH."
_SPACELESS = "Words are parted by white space here; Chunkscope counts each character of scripts written without spaces."


@dataclass(frozen=True, slots=True)
class Export:
    """Code that defines `split(text)`, which gives chunks as the library has them; plain Python gives dictionaries.

    `differs` says where it cuts otherwise than what is on the screen, '' where it cuts the same. `needs` is the module
    that must be installed, '' for none.
    """

    title: str
    code: str
    differs: str = ""
    needs: str = ""


def exports(config: Config, embedder: str = "minilm") -> list[Export]:
    """The code of a configuration for each library; the first four cut the same, what a library does by itself follows.

    A library's own strategy is code of that library alone, and stands in the place of ours.
    """
    cut = _cut(config, embedder)
    native = {one.needs: one for one in _natives(config, embedder)}
    found = [Export("Python", _joined(cut.code, "split = cut\n"), cut.differs)]
    beside = []
    for title, needs, code in _FRAMES:
        own = native.get(needs)
        if own and not own.differs:
            found.append(own)
            continue
        found.append(Export(title, _joined(cut.code, code), cut.differs, needs))
        beside += [own] if own else []
    return found + beside


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


# What our strategies give, in each library's own kind of chunk. `piece` holds offsets, and a prefix where there is one.
_FRAMES = (
    ("LangChain", "langchain_core", '''
from langchain_core.documents import Document


def split(text, **about):
    """LangChain documents; the metadata holds each one's offsets."""
    return [
        Document(page_content=piece.get("prefix", "") + text[piece["start"]:piece["end"]], metadata=piece)
        for piece in cut(text, **about)
    ]
'''),
    ("LlamaIndex", "llama_index", '''
from llama_index.core.schema import TextNode


def split(text, **about):
    """LlamaIndex nodes; the metadata, which is not embedded, holds each one's offsets."""
    return [
        TextNode(
            text=piece.get("prefix", "") + text[piece["start"]:piece["end"]],
            start_char_idx=piece["start"], end_char_idx=piece["end"],
            metadata=piece, excluded_embed_metadata_keys=list(piece), excluded_llm_metadata_keys=list(piece),
        )
        for piece in cut(text, **about)
    ]
'''),
    ("Chonkie", "chonkie", '''
from chonkie import Chunk


def split(text, **about):
    """Chonkie chunks, counted in words."""
    return [
        Chunk(
            text=piece.get("prefix", "") + text[piece["start"]:piece["end"]],
            start_index=piece["start"], end_index=piece["end"],
            token_count=len(text[piece["start"]:piece["end"]].split()),
        )
        for piece in cut(text, **about)
    ]
'''),
)  # fmt: skip

_PLAIN_WHOLE = '''
def cut(text):
    """The text as one chunk, without the white space at its ends."""
    start = len(text) - len(text.lstrip())
    return [{"start": start, "end": start + len(text.strip())}] if text.strip() else []
'''

_PLAIN_WORDS = '''
# @SPACELESS@
import re

SIZE, OVERLAP = @SIZE@, @OVERLAP@  # words


def cut(text):
    """Windows of SIZE words, each beginning SIZE - OVERLAP words after the one before; the last reaches the end."""
    words = [word.span() for word in re.finditer(r"\\S+", text)]
    found = []
    for first in range(0, len(words), SIZE - OVERLAP):
        window = words[first:first + SIZE]
        found.append({"start": window[0][0], "end": window[-1][1]})
        if first + SIZE >= len(words):
            break
    return found
'''

_PACKAGE = '''
# @OWN_FOLDER@
@IMPORT@from chunking.index import Config, build
from chunking.types import Corpus, Document as Source

@OPENED@CONFIG = Config.of(
    @STRATEGY@,
    @SETTINGS@,
    scope=@SCOPE@, context=@CONTEXT@,
)


def cut(text, title="", date="", markdown=True):
    """The chunks of a text: offsets of what is matched@RETURNED@."""
    corpus = Corpus((Source("document", text, title=title, date=date, markdown=markdown),))
    return [
        {"start": chunk.start, "end": chunk.end@FIELDS@}
        for chunk in build(corpus, CONFIG@EMBED@).chunks(0)
    ]
'''


def _cut(config: Config, embedder: str) -> Export:
    """A function `cut(text)` that gives the chunks as dictionaries of offsets."""
    values = config.values
    alone = config.scope == "document" and config.context == "none"
    if alone and config.strategy == "whole":
        return Export("", _PLAIN_WHOLE)
    if alone and config.strategy == "fixed" and values["unit"] == "words":
        return Export("", _filled(_PLAIN_WORDS, size=values["size"], overlap=values["overlap"], spaceless=_SPACELESS))
    described = config.context == "contextual"
    context = "none" if described else config.context
    embeds = STRATEGIES[config.strategy].embeds or values.get("unit") == "tokens"
    returns = config.strategy in ("parent_child", "sentence_window", "multi")
    fields = ', "returned_start": chunk.returned_start, "returned_end": chunk.returned_end' if returns else ""
    # A table's head travels with `structure` whatever the context.
    if context != "none" or config.strategy == "structure":
        fields += ', "prefix": chunk.prefix and chunk.prefix + "\\n"'
    code = _filled(
        _PACKAGE, own_folder=_OWN_FOLDER, strategy=repr(config.strategy), settings=repr(values), scope=repr(config.scope),
        context=repr(context), returned=", and of what is sent" if returns else "", fields=fields,
        embed=", EMBED" if embeds else "", opened=f"EMBED = open_embedder({embedder!r})\n" if embeds else "",
        **{"import": "from cache import open_embedder\n" if embeds else ""},
    )  # fmt: skip
    differs = "The sentences of the chat model are not put before the chunks." if described else ""
    return Export("", f"# {differs}\n{code.lstrip()}" if differs else code, differs)


def _filled(template: str, **values: Any) -> str:
    for name, value in values.items():
        template = template.replace(f"@{name.upper()}@", str(value))
    return template


def _natives(config: Config, embedder: str) -> list[Export]:
    """What the libraries do by themselves, where they have this strategy or one like it."""
    if config.scope != "document" or config.context != "none" or config.strategy not in _NATIVE:
        return []
    return [_native(config, embedder, *row) for row in _NATIVE[config.strategy]]


def _native(config: Config, embedder: str, title: str, needs: str, template: str, differs: str) -> Export:
    values = config.values
    unit = values.get("unit", "words")
    if not differs and unit == "words" and "@COUNT@" in template:
        note = f"# {_SPACELESS}\n"
    else:
        note = f"# Cuts otherwise: {differs}\n" if differs else ""
    counted = _filled(_COUNTERS[unit], embedder=repr(embedder), own_folder=_OWN_FOLDER)
    pieces = _TOKENIZER.replace("@PIECES@", _PIECES[unit].strip("\n"))
    code = template.replace("@COUNT@", counted).replace("@TOKENIZER@", pieces)
    separators = _SEPARATORS[values.get("separators", "default")]
    strip = values.get("headings") == "drop"
    return Export(
        title, note + _filled(code, separators=separators, strip=strip, **_numbers(values)).lstrip(), differs, needs
    )


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    names = ("size", "overlap", "levels", "size_bytes")
    return {name: values[name] for name in names if name in values}


_COUNTERS = {
    "words": """
def count(text):
    return len(text.split())
""",
    "characters": "\ncount = len\n",
    "tokens": """
# @OWN_FOLDER@
from cache import open_embedder

TOKEN_SPANS = open_embedder(@EMBEDDER@).token_spans


def count(text):
    return len(TOKEN_SPANS(text)) if text else 0
""",
}
_SEPARATORS = {
    "default": "",
    "words": '\n    separators=["\\n\\n", "\\n", " "],',
    "markdown": "\n    separators=RecursiveCharacterTextSplitter.get_separators_for_language(Language.MARKDOWN),"
                "\n    is_separator_regex=True,",
}  # fmt: skip
_LANGCHAIN_RECURSIVE = '''
from langchain_core.documents import Document
from langchain_text_splitters import Language, RecursiveCharacterTextSplitter
@COUNT@

splitter = RecursiveCharacterTextSplitter(
    chunk_size=@SIZE@, chunk_overlap=@OVERLAP@, length_function=count,@SEPARATORS@
)


def split(text):
    """LangChain documents, without offsets: with an overlap those that it can add are wrong."""
    return [Document(page_content=piece) for piece in splitter.split_text(text)]
'''
_LANGCHAIN_MARKDOWN = '''
# It strips every line and leaves blank lines out, so its white space is not the document's.
from langchain_text_splitters import MarkdownHeaderTextSplitter

splitter = MarkdownHeaderTextSplitter(
    [("#" * level, f"Header {level}") for level in range(1, @LEVELS@ + 1)], strip_headers=@STRIP@
)


def split(text):
    """LangChain documents, without offsets."""
    return splitter.split_text(text)
'''
_LLAMAINDEX = '''
# Sentences are found by an untrained Punkt: the splitter's default would look for NLTK's data, and may download it.
from itertools import pairwise

from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from nltk.tokenize import PunktSentenceTokenizer
@COUNT@

punkt = PunktSentenceTokenizer()


def sentences(text):
    starts = [start for start, _ in punkt.span_tokenize(text)]
    return [text[start:stop] for start, stop in pairwise([*starts, len(text)])]


splitter = SentenceSplitter(
    chunk_size=@SIZE@, chunk_overlap=@OVERLAP@, tokenizer=lambda text: range(count(text)), chunking_tokenizer_fn=sentences
)


def split(text):
    """LlamaIndex nodes, without offsets."""
    return [TextNode(text=piece) for piece in splitter.split_text(text)]
'''
_PIECES = {
    "words": r"""
    return re.findall(r"(?:\A\s+)?\S+\s*|\A\s+\Z", text)
""",
    "characters": "\n    return list(text)\n",
    "tokens": """
    starts = [int(start) for start, _ in TOKEN_SPANS(text)]
    return [text[start:stop] for start, stop in zip([0, *starts[1:]], [*starts[1:], len(text)])]
""",
}
_TOKENIZER = '''
def pieces(text):
    """The units of a text, each with the white space after it: joined they are the text letter by letter."""
@PIECES@


TOKENIZER = ChonkieAutoTokenizer(SimpleNamespace(
    encode=pieces, decode="".join, count_tokens=count, decode_batch=lambda groups: ["".join(group) for group in groups]
))
'''
_CHONKIE = '''
import re
from types import SimpleNamespace

from chonkie import @CHUNKER@
from chonkie.tokenizer import ChonkieAutoTokenizer
@COUNT@
@TOKENIZER@

chunker = @CHUNKER@(tokenizer=TOKENIZER, chunk_size=@SIZE@@OVERLAPS@)


def split(text):
    """Chonkie chunks."""
    return chunker.chunk(text)
'''
_CHONKIE_FAST = '''
from chonkie import FastChunker

chunker = FastChunker(chunk_size=@SIZE_BYTES@)


def split(text):
    """Chonkie chunks."""
    return chunker.chunk(text)
'''


def _chonkie(chunker: str, overlap: bool) -> str:
    overlaps = ", chunk_overlap=@OVERLAP@" if overlap else ""
    return _CHONKIE.replace("@CHUNKER@", chunker).replace("@OVERLAPS@", overlaps)


_LI, _CH = "llama_index", "chonkie"
#: By strategy: title, module, code, and in what it differs from ours ('' where the strategy is that library's own).
_NATIVE: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "langchain_recursive": (("LangChain", "langchain_core", _LANGCHAIN_RECURSIVE, ""),),
    "langchain_markdown": (("LangChain", "langchain_core", _LANGCHAIN_MARKDOWN, ""),),
    "llamaindex_sentence": (("LlamaIndex", _LI, _LLAMAINDEX, ""),),
    "chonkie_recursive": (("Chonkie", _CH, _chonkie("RecursiveChunker", False), ""),),
    "chonkie_token": (("Chonkie", _CH, _chonkie("TokenChunker", True), ""),),
    "chonkie_sentence": (("Chonkie", _CH, _chonkie("SentenceChunker", True), ""),),
    "chonkie_fast": (("Chonkie", _CH, _CHONKIE_FAST, ""),),
    "recursive": (
        ("LangChain, its own splitter", "langchain_core", _LANGCHAIN_RECURSIVE,
         "it parts at blank lines, line ends and spaces, knows no headings or sentences, and repeats words, not pieces."),
        ("Chonkie, its own chunker", _CH, _chonkie("RecursiveChunker", False),
         "it parts at line ends, sentence marks and pauses, knows no headings, and has no overlap."),
    ),
    "sentence": (
        ("LlamaIndex, its own splitter", _LI, _LLAMAINDEX,
         "it finds other sentences, among them none in lists, tables or code, and parts a sentence over the limit."),
        ("Chonkie, its own chunker", _CH, _chonkie("SentenceChunker", True),
         "it finds other sentences, by their marks alone."),
    ),
}  # fmt: skip
