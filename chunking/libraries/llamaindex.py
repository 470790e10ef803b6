"""LlamaIndex's sentence splitter (`llama-index-core`)."""

from __future__ import annotations

from itertools import pairwise

from chunking.libraries.common import Returned, counter, from_numbered, library, placed
from chunking.libraries.numbered import Numbered
from chunking.parts import Part
from chunking.types import Chunks
from chunking.units import Unit

_PACKAGE = "llama-index-core"
_MARKS = ",.;。？！"  # behind which it parts a sentence that is too long


def llamaindex_sentence(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chunks of `SentenceSplitter`: whole sentences up to the limit; one over it is parted at its marks, then spaces.

    Sentences are found as it finds them by default, by an untrained Punkt tokenizer, which is passed in: the default
    first looks for NLTK's data and may download it.
    """
    parsers = library("llamaindex_sentence", _PACKAGE, "llama_index.core.node_parser")
    punkt = library("llamaindex_sentence", _PACKAGE, "nltk.tokenize").PunktSentenceTokenizer()
    count = counter(unit)

    def split(text: str) -> Returned:
        numbered = Numbered.of(text)
        marks = numbered.marks(_MARKS)

        def sentences(piece: str) -> list[str]:
            starts = [start for start, _ in punkt.span_tokenize(numbered.plain(piece))]
            return [piece[start:stop] for start, stop in pairwise([*starts, len(piece)])]

        splitter = parsers.SentenceSplitter(
            chunk_size=size, chunk_overlap=overlap, tokenizer=lambda piece: range(count(numbered.plain(piece))),
            chunking_tokenizer_fn=sentences, secondary_chunking_regex=f"[^{marks}]+[{marks}]?|[{marks}]",
        )  # fmt: skip
        return from_numbered(numbered, splitter.split_text(numbered.numbered))

    return placed("llamaindex_sentence", part, split)
