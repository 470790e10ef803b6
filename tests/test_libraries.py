"""The adapters: their chunks are what the libraries return, and each is a true span of the document."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.recursive import OURS, THEIRS, UNEXPLAINED, compare, cuts
from bench.recursive import main as bench_recursive
from chunking.joined import Joined, alone
from chunking.libraries import numbered
from chunking.libraries.chonkie import chonkie_fast, chonkie_recursive, chonkie_sentence, chonkie_token
from chunking.libraries.common import NOWHERE, counter, library, placed
from chunking.libraries.langchain import langchain_markdown, langchain_recursive
from chunking.libraries.llamaindex import llamaindex_sentence
from chunking.libraries.numbered import Numbered
from chunking.libraries.semantic_text_splitter import semantic_markdown_splitter, semantic_text_splitter
from chunking.libraries.semchunk import semchunk
from chunking.parts import Part, part_of
from chunking.types import Chunks, Document
from chunking.units import Unit
from tests.conftest import ROOT, SHARED
from tests.fakes import letter_pieces

PEPS = SHARED / "peps"
needs_peps = pytest.mark.skipif(not PEPS.is_dir(), reason="the folder of the PEPs is not beside the repository")

#: Repeats, emoji of several code points, CR LF, a lone CR, blank lines in a row, two scripts, code, a table.
HARD = (
    "# Pumps 👩‍👩‍👧\r\n\r\nha ha ha ha ha. ha ha ha ha! 👍🏽 naïve cafe\u0301\r\rA lone return.\n\n\n\n"
    + "row row row row\n" * 9
    + "\n## Marks\n\n--- --- ---\n\n***\n\n—dash— “quoted” 泵坏了。换油。Then... more; yes, more.\n\tA tab\there\xa0too\n\n"
    "```\n# no heading\n\n\nend\n```\n\n| a | b |\n| --- | --- |\n| 1 | 1 |\n| 1 | 1 |\n\n## Marks\n\n"
    + "aaaa" * 30
    + " end"
)
SIZES = ((200, 0), (60, 20), (12, 5))

PIECES = ("a", "ha ", ". ", "\n", "\r\n", "\n\n\n", "# ", "👍🏽", "泵。", "- ", "*", "```", "\t", "...")

PANIC = "Invalid byte sequence"  # what semantic-text-splitter says where it cannot tell the place of a Markdown chunk

Texts = list[str]


def raw_langchain(text: str, size: int, overlap: int, count: Callable[[str], int], **more: Any) -> Texts:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=count, **more
    ).split_text(text)


def raw_langchain_markdown_separators(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter.from_language(
        Language.MARKDOWN, chunk_size=size, chunk_overlap=overlap, length_function=count
    ).split_text(text)


def raw_llamaindex(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from llama_index.core.node_parser import SentenceSplitter

    return SentenceSplitter(
        chunk_size=size, chunk_overlap=overlap, tokenizer=lambda piece: [0] * count(piece)
    ).split_text(text)


def raw_semchunk(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from semchunk import chunk

    return chunk(text, size, count, memoize=False, overlap=overlap or None)


def raw_semantic_text(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from semantic_text_splitter import TextSplitter

    return TextSplitter.from_callback(count, size, overlap).chunks(text)


def raw_semantic_markdown(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from semantic_text_splitter import MarkdownSplitter

    return MarkdownSplitter.from_callback(count, size, overlap).chunks(text)


def raw_chonkie_sentence(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from chonkie import SentenceChunker

    return [one.text for one in SentenceChunker(tokenizer=count, chunk_size=size, chunk_overlap=overlap).chunk(text)]


def raw_chonkie_token(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from chonkie import TokenChunker

    chunker = TokenChunker(tokenizer=own_tokenizer(count), chunk_size=size, chunk_overlap=overlap)
    return [one.text for one in chunker.chunk(text)]


def raw_chonkie_recursive(text: str, size: int, overlap: int, count: Callable[[str], int]) -> Texts:
    from chonkie import RecursiveChunker

    return [one.text for one in RecursiveChunker(tokenizer=own_tokenizer(count), chunk_size=size).chunk(text)]


def own_tokenizer(count: Callable[[str], int]) -> Any:
    """A tokenizer as Chonkie lets people write one: a token begins wherever a text up to there and one more count more."""
    from chonkie.tokenizer import Tokenizer

    class Own(Tokenizer):
        def __repr__(self) -> str:
            return "Own()"

        def tokenize(self, text: str) -> Texts:
            pieces = [""]
            for character in text:
                if count(pieces[-1] + character) > 1:
                    pieces.append("")
                pieces[-1] += character
            return pieces

        def encode(self, text: str) -> list[int]:
            self.vocab += self.tokenize(text)
            return list(range(len(self.vocab) - len(self.tokenize(text)), len(self.vocab)))

        def decode(self, tokens: Any) -> str:
            return "".join(self.vocab[token] for token in tokens)

        def count_tokens(self, text: str) -> int:
            return count(text)

    return Own()


def recursive(separators: str) -> Callable[..., Chunks]:
    """The LangChain adapter with its separators set."""
    return lambda part, size, overlap, unit: langchain_recursive(part, size, overlap, unit, separators)


def without_overlap(part: Part, size: int, overlap: int, unit: Unit) -> Chunks:
    """Chonkie's recursive chunker, which has none."""
    return chonkie_recursive(part, size, unit)


#: The adapter, and the library called as its own users call it. All take size, overlap and a unit or what counts in it.
SIZED: dict[str, tuple[str, Callable[..., Chunks], Callable[..., Texts]]] = {
    "langchain_recursive": ("langchain_text_splitters", recursive("default"), raw_langchain),
    "langchain_recursive, words": (
        "langchain_text_splitters",
        recursive("words"),
        lambda *given: raw_langchain(*given, separators=["\n\n", "\n", " "]),
    ),
    "langchain_recursive, markdown": (
        "langchain_text_splitters", recursive("markdown"), raw_langchain_markdown_separators,
    ),
    "llamaindex_sentence": ("llama_index.core.node_parser", llamaindex_sentence, raw_llamaindex),
    "semchunk": ("semchunk", semchunk, raw_semchunk),
    "semantic_text_splitter": ("semantic_text_splitter", semantic_text_splitter, raw_semantic_text),
    "semantic_markdown_splitter": ("semantic_text_splitter", semantic_markdown_splitter, raw_semantic_markdown),
    "chonkie_sentence": ("chonkie", chonkie_sentence, raw_chonkie_sentence),
    "chonkie_recursive": ("chonkie", without_overlap, raw_chonkie_recursive),
    "chonkie_token": ("chonkie", chonkie_token, raw_chonkie_token),
}  # fmt: skip
UNITS = {
    "words": Unit("words", letter_pieces),
    "characters": Unit("characters", letter_pieces),
    "tokens": Unit("tokens", letter_pieces),
}
every_sized = pytest.mark.parametrize("name", SIZED)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the network fails."""

    def refused(*_: Any) -> None:
        raise AssertionError("an adapter asked for the network")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refused)


def whole(text: str) -> Part:
    """A text as the one region of a document."""
    return part_of(alone(Document("d", text)), "document")


def texts(part: Part, chunks: Chunks) -> Texts:
    """The chunks' texts, after a look at what holds for all of them."""
    source = part.source.text
    pairs = list(zip(chunks.starts.tolist(), chunks.ends.tolist(), strict=True))
    assert pairs == sorted(set(pairs)), "in order, each span once"
    found = [source[start:end] for start, end in pairs]
    assert all(found)
    assert all(text == text.strip() for text in found)
    return found


def stripped(returned: Texts) -> Texts:
    """What a library returned, without white space at the ends and without chunks of white space alone."""
    return [text.strip() for text in returned if text.strip()]


def documents() -> dict[str, str]:
    """The bundled posts, and the PEPs where they are beside the repository."""
    paths = [*sorted((ROOT / "data" / "posts").glob("*.md")), *sorted((PEPS / "corpus").glob("*.md"))]
    return {path.name: path.read_bytes().decode("utf-8") for path in paths}


def count_words(text: str) -> int:
    return len(text.split())


class TestSameAsTheLibrary:
    """The same chunks in the same order as the library itself returns."""

    @every_sized
    def test_on_posts_and_peps(self, name: str) -> None:
        module, adapter, raw = SIZED[name]
        pytest.importorskip(module)
        for title, text in documents().items():
            part = whole(text)
            solid = text.strip()  # the region that the adapter gives to the library
            for size, overlap in ((200, 0), (100, 30)):
                chunks = adapter(part, size, overlap, UNITS["words"])
                assert texts(part, chunks) == stripped(raw(solid, size, overlap, count_words)), (title, size, overlap)
                assert not chunks.lost

    @every_sized
    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize(("size", "overlap"), SIZES)
    def test_on_a_hard_text(self, name: str, unit: str, size: int, overlap: int) -> None:
        module, adapter, raw = SIZED[name]
        pytest.importorskip(module)
        part = whole(HARD)
        chunks = adapter(part, size, overlap, UNITS[unit])
        assert not chunks.lost
        assert texts(part, chunks) == stripped(raw(HARD, size, overlap, counter(UNITS[unit])))

    @every_sized
    @settings(max_examples=30, deadline=None)
    @given(data=st.data())
    def test_on_any_text(self, name: str, data: st.DataObject) -> None:
        module, adapter, raw = SIZED[name]
        pytest.importorskip(module)
        text = "".join(data.draw(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=40)))
        size = data.draw(st.integers(1, 40))
        overlap = data.draw(st.integers(0, size - 1))
        assume(text.strip())
        part = whole(text)
        try:
            chunks = adapter(part, size, overlap, UNITS["characters"])
        except ValueError as error:
            assume(PANIC not in str(error))
            raise
        expected = stripped(raw(text.strip(), size, overlap, len))
        assert once(texts(part, chunks)) == once(expected)
        assert not chunks.lost

    @pytest.mark.parametrize("kind", ["TokenChunker", "RecursiveChunker", "SentenceChunker"])
    def test_on_characters_as_chonkie_counts_them(self, kind: str) -> None:
        chonkie = pytest.importorskip("chonkie")
        part = whole(HARD)
        ours = {
            "TokenChunker": lambda: chonkie_token(part, 80, 0, UNITS["characters"]),
            "RecursiveChunker": lambda: chonkie_recursive(part, 80, UNITS["characters"]),
            "SentenceChunker": lambda: chonkie_sentence(part, 80, 0, UNITS["characters"]),
        }[kind]()
        theirs = getattr(chonkie, kind)(tokenizer="character", chunk_size=80).chunk(HARD)
        assert texts(part, ours) == stripped([one.text for one in theirs])

    def test_on_words_as_chonkie_counts_them_where_single_spaces_part_them(self) -> None:
        chonkie = pytest.importorskip("chonkie")
        text = " ".join(re.sub("[^ -~]", " ", HARD).split())
        part = whole(text)
        theirs = chonkie.TokenChunker(tokenizer="word", chunk_size=20).chunk(text)
        assert texts(part, chonkie_token(part, 20, 0, UNITS["words"])) == stripped([one.text for one in theirs])

    @pytest.mark.parametrize("size", [600, 4096])
    def test_chonkies_fast_chunker(self, size: int) -> None:
        chonkie = pytest.importorskip("chonkie")
        for text in documents().values():
            part = whole(text)
            theirs = chonkie.FastChunker(chunk_size=size).chunk(text.strip())
            assert texts(part, chonkie_fast(part, size)) == stripped([one.text for one in theirs])

    @pytest.mark.parametrize("levels", [1, 2, 3, 6])
    @pytest.mark.parametrize("headings", ["drop", "keep"])
    def test_langchains_markdown_headings(self, levels: int, headings: str) -> None:
        """It joins lines anew, so the words are compared; nothing of the posts and PEPs is lost."""
        splitters = pytest.importorskip("langchain_text_splitters")
        marks = [("#" * level, str(level)) for level in range(1, levels + 1)]
        splitter = splitters.MarkdownHeaderTextSplitter(marks, strip_headers=headings == "drop")
        for text in documents().values():
            part = whole(text)
            chunks = langchain_markdown(part, levels, headings)
            theirs = [document.page_content.split() for document in splitter.split_text(text.strip())]
            assert [one.split() for one in texts(part, chunks)] == theirs
            assert not chunks.lost

    @needs_peps
    def test_the_published_cut_of_the_peps(self) -> None:
        """`recursive200`: whole documents, words, separators without characters."""
        pytest.importorskip("langchain_text_splitters")
        published = json.loads((PEPS / "expected_chunks.json").read_text(encoding="utf-8"))["recursive200"]
        found = []
        for path in sorted((PEPS / "corpus").glob("*.md")):
            chunks = langchain_recursive(whole(path.read_bytes().decode("utf-8")), 200, 0, UNITS["words"], "words")
            found += [[path.name, start, end] for start, end, _, _ in chunks]
        assert found == [row[:3] for row in published]


class TestPlaces:
    """Where a chunk stands, also where the same text stands elsewhere."""

    def test_langchain_in_a_text_that_repeats(self) -> None:
        """Windows of four words that step three: at words 0, 3, 6 and 9 of twelve."""
        pytest.importorskip("langchain_text_splitters")
        chunks = langchain_recursive(whole("ha " * 12), 4, 1, UNITS["words"], "default")
        assert [chunk[:2] for chunk in chunks] == [(0, 11), (9, 20), (18, 29), (27, 35)]

    def test_langchain_at_markdown_marks_that_repeat(self) -> None:
        """Windows of two rules that step one."""
        pytest.importorskip("langchain_text_splitters")
        chunks = langchain_recursive(whole("--- " * 4), 2, 1, UNITS["words"], "markdown")
        assert [chunk[:2] for chunk in chunks] == [(0, 7), (4, 11), (8, 15)]

    def test_llamaindex_in_a_text_that_repeats(self) -> None:
        """Two sentences of two words fit; one is repeated."""
        pytest.importorskip("llama_index.core.node_parser")
        chunks = llamaindex_sentence(whole("Ha ha. " * 5), 4, 2, UNITS["words"])
        assert [chunk[:2] for chunk in chunks] == [(0, 13), (7, 20), (14, 27), (21, 34)]

    def test_semchunk_in_a_text_that_repeats(self) -> None:
        """Pieces of one word, joined to windows of four that step three."""
        pytest.importorskip("semchunk")
        chunks = semchunk(whole("ha " * 12), 4, 1, UNITS["words"])
        assert [chunk[:2] for chunk in chunks] == [(0, 11), (9, 20), (18, 29), (27, 35)]

    @every_sized
    def test_every_section_is_cut_apart(self, name: str) -> None:
        module, adapter, _ = SIZED[name]
        pytest.importorskip(module)
        documents = tuple(Document(title, text) for title, text in (("a", HARD), ("b", "# B\n\nOne two.\n\n## C\n\nx")))
        source = Joined(documents)
        for scope in ("document", "section", "body"):
            part = part_of(source, scope)
            apart = [
                start + span
                for start, end in zip(part.regions.starts, part.regions.ends, strict=True)
                for span in spans(adapter(whole(source.text[start:end]), 30, 10, UNITS["words"]))
            ]
            assert np.array_equal(np.array(apart), spans(adapter(part, 30, 10, UNITS["words"])))

    def test_spans_twice_are_kept_once_and_white_space_is_left_out(self) -> None:
        part = whole("a    b")
        chunks = placed("x", part, lambda text: [(0, "a"), (2, "  "), (4, " b"), (3, "  b"), (0, "a    b")])
        assert [chunk[:2] for chunk in chunks] == [(0, 1), (0, 6), (5, 6)]
        assert not chunks.lost

    def test_half_a_character_does_not_stop_a_library(self) -> None:
        text = "One two. Th\ud800ree four."
        for name, (module, adapter, _) in SIZED.items():
            pytest.importorskip(module)
            chunks = adapter(whole(text), 2, 0, UNITS["words"])
            assert "".join(texts(whole(text), chunks)).replace(" ", "") == text.replace(" ", ""), name
            assert not chunks.lost

    def test_more_characters_than_numbers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every twentieth character or so is numbered: longer chunks are found all the same."""
        pytest.importorskip("langchain_text_splitters")
        expected = langchain_recursive(whole(HARD), 30, 10, UNITS["words"], "markdown")
        monkeypatch.setattr(numbered, "_COUNT", 50)
        assert np.array_equal(
            spans(langchain_recursive(whole(HARD), 30, 10, UNITS["words"], "markdown")), spans(expected)
        )

    def test_a_numbered_text(self) -> None:
        """Six characters, numbered by character: a a b c c c. White space stays."""
        found = Numbered.of("ca cb\nac")
        assert [ord(character) & 0xFF for character in found.numbered] == [3, 0, 32, 4, 2, 10, 1, 5]
        assert [found.places[number] for number in range(6)] == [1, 6, 4, 0, 3, 7]
        assert (found.place(found.numbered[2:5]), found.plain(found.numbered[2:5])) == (2, " cb")
        assert re.findall(f"[{found.marks('c')}]", found.numbered + "c") == [
            *found.numbered[0::3][:2],
            found.numbered[7],
            "c",
        ]
        assert (found.place(" \n"), found.plain(" \n")) == (None, " \n")
        assert found.plain(found.numbered[0] + found.numbered[4]) == "cb"


class TestLost:
    """What a library returns that is not in the text."""

    @pytest.mark.parametrize(
        ("text", "kept", "lost"),
        [
            ("# A\n\none\n\n# A\n\ntwo\n\n# B\n\nend", ["end"], "one  \ntwo"),  # the heading between them is gone
            ("# A\n\nx 👩\u200d👧 y\n\n# B\n\nend", ["end"], "x 👩👧 y"),
            ("# A\n\na\tb\n\n# B\n\nend", ["end"], "ab"),
            ("# A\n\na\rb\r\n\r\n# B\n\nend", ["end"], "ab"),
        ],
    )
    def test_langchains_markdown_headings(self, text: str, kept: Texts, lost: str) -> None:
        pytest.importorskip("langchain_text_splitters")
        part = whole(text)
        chunks = langchain_markdown(part, 3, "drop")
        assert texts(part, chunks) == kept
        assert chunks.lost == ((0, lost),)

    def test_white_space_alone_is_not_a_loss(self) -> None:
        """Lines are stripped, blank ones are left out of it, and its own line ends put in: the words are the same."""
        pytest.importorskip("langchain_text_splitters")
        part = whole("# A\r\n\r\n  one\r\n\r\n```\n  two\n\n\n    three\n```\n \n# B\n\nend")
        chunks = langchain_markdown(part, 3, "drop")
        assert texts(part, chunks) == ["one\r\n\r\n```\n  two\n\n\n    three\n```", "end"]
        assert not chunks.lost

    def test_a_text_that_does_not_stand_at_its_place_is_lost_with_the_place_of_its_region(self) -> None:
        part = part_of(alone(Document("d", "# A\n\none\n\n# B\n\none two")), "section")
        answers = iter(
            [[(0, "# A"), (5, "One")], [(NOWHERE, "one"), (0, "one two"), (5, "one two"), (99, "x"), (5, " ")]]
        )
        chunks = placed("x", part, lambda text: next(answers))
        assert texts(part, chunks) == ["# A", "one two"]
        assert chunks.lost == ((0, "One"), (10, "one"), (10, "one two"), (10, "x"))


class TestTrouble:
    """A library that is not there, or that gives up."""

    ADAPTERS: ClassVar[dict[str, Any]] = {
        "langchain_recursive": ("langchain-text-splitters", lambda part, unit: recursive("default")(part, 9, 0, unit)),
        "langchain_markdown": ("langchain-text-splitters", lambda part, unit: langchain_markdown(part, 3, "drop")),
        "llamaindex_sentence": ("llama-index-core", lambda part, unit: llamaindex_sentence(part, 9, 0, unit)),
        "semchunk": ("semchunk", lambda part, unit: semchunk(part, 9, 0, unit)),
        "semantic_text_splitter": ("semantic-text-splitter", lambda part, unit: semantic_text_splitter(part, 9, 0, unit)),
        "semantic_markdown_splitter": (
            "semantic-text-splitter", lambda part, unit: semantic_markdown_splitter(part, 9, 0, unit),
        ),
        "chonkie_recursive": ("chonkie", lambda part, unit: chonkie_recursive(part, 9, unit)),
        "chonkie_token": ("chonkie", lambda part, unit: chonkie_token(part, 9, 0, unit)),
        "chonkie_sentence": ("chonkie", lambda part, unit: chonkie_sentence(part, 9, 0, unit)),
        "chonkie_fast": ("chonkie", lambda part, unit: chonkie_fast(part, 9)),
    }  # fmt: skip

    @pytest.mark.parametrize("name", ADAPTERS)
    def test_a_missing_library_is_named_with_the_command(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        package, adapter = self.ADAPTERS[name]
        for module in ("langchain_text_splitters", "llama_index.core.node_parser", "semchunk", "semantic_text_splitter",
                       "chonkie", "chonkie.tokenizer"):  # fmt: skip
            monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ValueError, match=r"^strategy") as raised:
            adapter(whole("One two."), UNITS["words"])
        command = "install with pip install -r requirements-libraries.txt"
        assert str(raised.value) == f"strategy {name} needs {package}: {command}"

    def test_the_file_of_the_command_pins_every_package(self) -> None:
        lines = (ROOT / "requirements-libraries.txt").read_text(encoding="utf-8").splitlines()
        pinned = {line.split("==")[0] for line in lines if "==" in line}
        assert {package for package, _ in self.ADAPTERS.values()} == pinned

    def test_no_library_is_imported_before_it_is_chosen(self) -> None:
        modules = sorted(path.stem for path in (ROOT / "chunking" / "libraries").glob("[a-z]*.py"))
        code = "import sys\n" + "".join(f"import chunking.libraries.{module}\n" for module in modules)
        code += "print(*{name.split('.')[0] for name in sys.modules})"
        found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        libraries = {"langchain_text_splitters", "llama_index", "nltk", "semchunk", "semantic_text_splitter", "chonkie"}
        assert not set(found.stdout.split()) & libraries

    def test_a_library_that_gives_up_is_named_with_what_it_said(self) -> None:
        """One character of two tokens at size 1; a character parted between its bytes."""
        unit = Unit("tokens", lambda text: np.array([span for at in range(len(text)) for span in [(at, at + 1)] * 2]))
        for name, module, adapter in (
            ("semchunk", "semchunk", lambda part: semchunk(part, 1, 0, unit)),
            ("llamaindex_sentence", "llama_index.core.node_parser", lambda part: llamaindex_sentence(part, 1, 0, unit)),
            ("chonkie_fast", "chonkie", lambda part: chonkie_fast(part, 5)),
        ):
            pytest.importorskip(module)
            with pytest.raises(
                ValueError, match=f"^strategy {name}: the library cannot cut a text at these settings: "
            ):
                adapter(whole("é👍é👍é👍"))

    def test_a_panic_is_an_error_like_any_other(self) -> None:
        """One chunk is trimmed and the next begins with its indent: places go backwards, and the library panics."""
        pytest.importorskip("semantic_text_splitter")
        text = (
            "```\n```\n ```\ndi  for VAR in iterator:\n                  TARGET = EXPR\n                  yield TARGE"
        )
        with pytest.raises(ValueError, match=f"^strategy semantic_markdown_splitter: .*: {PANIC}$"):
            semantic_markdown_splitter(whole(text), 60, 20, UNITS["characters"])

    def test_an_error_of_the_tokenizer_is_passed_on_as_it_is(self) -> None:
        def broken(text: str) -> Any:
            raise OSError("no tokenizer")

        with pytest.raises(OSError, match="no tokenizer"):
            chonkie_token(whole("One two."), 2, 0, Unit("tokens", broken))


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", (0, 0, 0)),
        ("ab cd", (2, 5, 2)),
        ("泵坏了。 ok", (4, 7, 3)),
        ("caf\u00e9s are open", (3, 14, 4)),
        (" \n", (0, 2, 0)),
    ],
)
def test_lengths(text: str, counts: tuple[int, int, int]) -> None:
    """Words as everywhere in the program, code points, and what the tokenizer makes of it."""
    assert tuple(counter(unit)(text) for unit in UNITS.values()) == counts


def test_a_module_of_a_library_that_is_there() -> None:
    assert library("x", "json", "json") is json


class TestBench:
    """How our `recursive` differs from LangChain's: every difference is counted once, under a known reason."""

    @pytest.mark.parametrize("size", [50, 200])
    def test_the_kinds_add_up(self, size: int) -> None:
        pytest.importorskip("langchain_text_splitters")
        posts = [Document(title, text) for title, text in documents().items()]
        common, counts = compare(posts, size)
        pairs = [cuts(post, size) for post in posts]
        for place, side in enumerate((OURS, THEIRS)):
            assert sum(len(pair[place]) for pair in pairs) == common + sum(
                counts[one] for one in counts if one[0] == side
            )
        assert UNEXPLAINED not in {reason for _, (_, reason) in counts}

    def test_it_prints_a_table_a_size(self, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("langchain_text_splitters")
        assert bench_recursive(["--sizes", "200"]) == 0
        assert re.search(
            r"^200 words: \d+ boundaries in both, \d+ only ours, \d+ only theirs$", capsys.readouterr().out, re.M
        )


def spans(chunks: Chunks) -> np.ndarray:
    """The chunks' starts and ends, (n, 2)."""
    return np.column_stack((chunks.starts, chunks.ends))


def once(found: Texts) -> Texts:
    """Texts without those that are the same as the one before: a span returned twice is kept once."""
    return [text for text, _ in groupby(found)]
