"""Context prefixes: what is put before a chunk's text when it is embedded. A prefix is never part of a span."""

from __future__ import annotations

from chunking.segments import heading_of, headings
from chunking.types import Chunks, Describe, Document, Ints

CONTEXTS = ("none", "title", "heading", "headings", "contextual")


def prefixes(document: Document, chunks: Chunks, context: str, describe: Describe | None = None) -> list[str]:
    """The prefix of each chunk, '' where there is none to put; what the chunk itself needs (a table's head) comes last.

    `title` is the document's, with its date; `heading` is that of the chunk's own section; `headings` is the title and
    the path of headings; `contextual` is what `describe` says of each chunk. What the chunk itself begins with (its
    heading line) is not said twice.
    """
    if context not in CONTEXTS:
        raise ValueError(f"context must be one of {', '.join(CONTEXTS)}, got {context!r}")
    heads = chunks.heads or ("",) * len(chunks)
    if context == "none":
        return list(heads)
    if context == "contextual":
        if describe is None:
            raise ValueError("context contextual needs a chat model of an Ollama server")
        texts = [document.text[start:end] for start, end, _, _ in chunks]
        above = describe(document, texts)
    else:
        above = _headings_above(document, chunks.starts, context)
    return ["\n".join(filter(None, pair)) for pair in zip(above, heads, strict=True)]


def _headings_above(document: Document, starts: Ints, context: str) -> list[str]:
    heads = headings(document)
    places = heading_of(document, starts).tolist()
    made: dict[tuple[int, bool], str] = {}
    result = []
    for start, place in zip(starts.tolist(), places, strict=True):
        opens = place >= 0 and heads[place].start == start
        if (place, opens) not in made:
            path = heads[place].path if place >= 0 else ()
            made[place, opens] = _prefix(document, context, path, opens)
        result.append(made[place, opens])
    return result


def _prefix(document: Document, context: str, path: tuple[str, ...], opens: bool) -> str:
    above = tuple(filter(None, path[:-1] if opens else path))  # a heading may have no title
    if context == "heading":
        return path[-1] if path and not opens else ""
    title = () if document.title in path else (document.title,) if document.title else ()
    if context == "headings":
        return " > ".join((*title, *above))
    said = opens and path == (document.title,)
    return " ".join(
        ([] if said or not document.title else [document.title]) + ([f"({document.date})"] if document.date else [])
    )


def with_prefix(prefix: str, text: str) -> str:
    """The text that is embedded: the prefix, one line end, the chunk's matched text."""
    return f"{prefix}\n{text}" if prefix else text
