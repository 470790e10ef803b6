"""Bytes to text: the encoding found or named, line ends made one, binary files refused."""

from __future__ import annotations

import codecs
import re

from data.report import ReadError

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x7f]")


def read_text(name: str, content: bytes) -> tuple[str, list[str]]:
    """The text of a file, line ends as `\\n`, and notes on how it was read. ReadError where it is not text or empty."""
    text, encoding = _decoded(name, content)
    notes = [] if encoding.startswith("utf") else [f"{name}: not UTF-8, read as Windows-1252"]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        notes.append(f"{name}: line ends CR LF were made LF; offsets count the text so")
    if not text.strip():
        raise ReadError(f"{name}: the file is empty, it has no text")
    return text, notes


def _decoded(name: str, content: bytes) -> tuple[str, str]:
    encoding = next((encoding for mark, encoding in _BOMS if content.startswith(mark)), "utf-8")
    for candidate in (encoding, "cp1252"):
        try:
            text = content.decode(candidate)
        except UnicodeDecodeError:
            continue
        if len(_CONTROL.findall(text)) > len(text) // 1000:
            break
        return text, candidate
    raise ReadError(f"{name}: this is not a text file (its bytes are in no known text encoding)")
