"""Descriptions of chunks by a chat model, against a double that speaks Ollama's protocol; see `ollama_double.py`."""

import itertools
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cache
from cache import chat as chat_module
from cache import ollama_client, ollama_models
from cache.chat import (
    ANSWER_TOKENS,
    USUAL_ANSWER_TOKENS,
    Answer,
    Chat,
    Estimate,
    about_tokens,
    full_sentences,
    one_line,
    pack,
    places,
    questions,
    unpack,
    window_start,
)
from cache.errors import (
    EmbedderError,
    ModelChanged,
    ModelMissing,
    NoAnswer,
    NotAChatModel,
    NotOllama,
    ServerAway,
)
from cache.store import Store
from chunking.context import prefixes
from chunking.types import Chunks, Document
from tests.ollama_double import OllamaDouble, chat_model, embedding_model

ROOT = Path(__file__).parents[1]
PARTS = [f"Part {index} tells what the harbour master wrote." for index in range(5)]
DOCUMENT = Document("harbour.md", "\n\n".join(PARTS), "The second book")
LONG = Document(
    "long.md", "\n\n".join(f"Entry {index}: the tide was high and so was the price." for index in range(2000))
)


def passage(prompt: str) -> str:
    """The chunk in a prompt."""
    return prompt.split("<passage>\n")[1].split("\n</passage>")[0]


def shown_part(prompt: str) -> str:
    """The document, or the part of it, in a prompt."""
    return prompt.split("<document>\n")[1].split("\n</document>")[0]


@pytest.fixture
def server(alone: None) -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.reply = lambda prompt: f"About: {passage(prompt)}"
        yield double


def opened(server: OllamaDouble, model: str = "llama3.2", store: Store | None = None) -> Chat:
    """A chat model in front of the double, with no store unless one is given."""
    return Chat(model, store, server.host)


def prompts(server: OllamaDouble) -> list[str]:
    """The prompts that reached the server."""
    return [body["messages"][0]["content"] for body in server.chats]


# Descriptions


def test_a_description_becomes_the_prefix_of_its_chunk(server: OllamaDouble) -> None:
    starts = np.array([DOCUMENT.text.index(part) for part in PARTS], np.int64)
    chunks = Chunks.plain(starts, starts + [len(part) for part in PARTS])
    assert prefixes(DOCUMENT, chunks, "contextual", opened(server)) == [f"About: {part}" for part in PARTS]


def test_the_prompt_has_the_title_the_document_and_the_chunk_in_this_order(server: OllamaDouble) -> None:
    opened(server)(DOCUMENT, [PARTS[2]])
    (prompt,) = prompts(server)
    assert "Title: The second book\n" in prompt
    assert shown_part(prompt) == DOCUMENT.text
    assert passage(prompt) == PARTS[2]
    assert prompt.index("Title:") < prompt.index("<document>") < prompt.index("<passage>") < prompt.index("Write one")


def test_a_document_without_a_title_is_called_by_its_id(server: OllamaDouble) -> None:
    opened(server)(Document("reports/2023.md", "It rose."), ["It rose."])
    assert "Title: reports/2023.md\n" in prompts(server)[0]


def test_answers_come_in_the_order_of_the_texts_and_each_prompt_is_sent_once(server: OllamaDouble) -> None:
    texts = [PARTS[3], PARTS[0], PARTS[3], PARTS[1]]
    assert opened(server)(DOCUMENT, texts) == [f"About: {text}" for text in texts]
    assert [passage(prompt) for prompt in prompts(server)] == [PARTS[3], PARTS[0], PARTS[1]]


def test_the_request_is_the_same_but_for_the_prompt(server: OllamaDouble) -> None:
    chat = opened(server)
    chat(DOCUMENT, PARTS[:2])
    chat(LONG, [LONG.text[5000:5400]])
    server.chats = [body | {"messages": []} for body in server.chats]
    assert server.chats == [server.chats[0]] * 3
    assert server.chats[0] == {
        "model": "llama3.2:latest",
        "messages": [],
        "stream": False,
        "truncate": False,
        "shift": False,
        "options": {"num_ctx": 8192, "num_predict": 200, "temperature": 0, "seed": 0},
        "keep_alive": "10m",
    }


@pytest.mark.parametrize(("context", "expected"), [(131072, 8192), (8192, 8192), (4096, 4096)])
def test_no_more_context_is_asked_for_than_the_model_has(server: OllamaDouble, context: int, expected: int) -> None:
    server.models["llama3.2:latest"] = chat_model(context)
    opened(server)(LONG, [LONG.text[50000:50500]])
    assert server.chats[0]["options"]["num_ctx"] == expected


def test_a_model_that_does_not_tell_its_context_is_asked_for_the_usual(server: OllamaDouble) -> None:
    server.models["llama3.2:latest"] = {"capabilities": ["completion"], "model_info": {}}
    opened(server)(DOCUMENT, PARTS[:1])
    assert server.chats[0]["options"]["num_ctx"] == 2048


def test_a_lone_surrogate_neither_way_stops_the_work(server: OllamaDouble, tmp_path: Path) -> None:
    server.reply = lambda prompt: "half \ud83d letter"
    document = Document("a", "one \ud83d two", "\ud83d")
    assert opened(server, store=Store(tmp_path))(document, [document.text]) == ["half \ufffd letter"]
    assert passage(prompts(server)[0]) == "one \ufffd two"


def test_what_the_user_is_shown(server: OllamaDouble) -> None:
    chat = opened(server)
    assert chat.name == "ollama:llama3.2"
    assert re.fullmatch(r"ollama:llama3\.2, digest 000000000000, prompt [0-9a-f]{8}", chat.identity)
    assert chat.warnings == []


# Documents that are longer than the model reads


def test_of_a_long_document_the_part_around_the_chunk_is_shown(server: OllamaDouble) -> None:
    texts = [LONG.text[start : start + 400] for start in range(0, len(LONG.text), 2500)]
    opened(server)(LONG, texts)
    for prompt, text in zip(prompts(server), texts, strict=True):
        assert text in shown_part(prompt)
        assert 17_000 < len(shown_part(prompt)) < 17_600
        assert shown_part(prompt) in LONG.text


def test_neighbouring_chunks_share_a_window() -> None:
    starts = range(0, len(LONG.text), 400)
    asked = questions(LONG, starts, [LONG.text[start : start + 400] for start in starts], 23_000)
    changes = sum(one.before != other.before for one, other in itertools.pairwise(asked))
    assert len(asked) == 263
    assert changes == len({question.before for question in asked}) - 1 == 11


@given(st.integers(4, 5000), st.integers(2, 500), st.data())
def test_a_window_holds_every_chunk_of_up_to_half_its_length(length: int, size: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, length - 1))
    end = data.draw(st.integers(start + 1, min(length, start + max(1, size // 2))))
    first = window_start(length, (start + end) // 2, size)
    assert 0 <= first <= max(0, length - size)
    assert first <= start
    assert end <= first + size + size % 2, "an odd window steps by half a character less"


def test_a_long_chunk_is_shown_by_its_beginning(server: OllamaDouble) -> None:
    opened(server)(LONG, [LONG.text])
    shown = passage(prompts(server)[0])
    assert LONG.text.startswith(shown)
    assert 5_500 < len(shown) < 6_000


def test_the_second_of_two_equal_chunks_is_shown_where_it_stands(server: OllamaDouble) -> None:
    document = Document("a", f"Refrain.\n\n{LONG.text[:40_000]}\n\nRefrain.\n\n{LONG.text[:40_000]}\n\nRefrain.")
    assert places(document, ["Refrain."] * 3) == [0, 40_012, len(document.text) - 8]
    opened(server)(document, ["Refrain."] * 3)
    assert len({shown_part(prompt) for prompt in prompts(server)}) == 3


def test_places_are_found_in_any_order_and_refused_where_there_are_none() -> None:
    assert places(Document("a", "one two one"), ["two", "one", "one"]) == [4, 8, 0]
    assert places(Document("a", "aaaa"), ["aa", "aa", "a"]) == [0, 1, 1]
    with pytest.raises(ValueError, match="each text must be a part of the document a, got 'three'"):
        places(Document("a", "one two"), ["one", "three"])
    with pytest.raises(ValueError, match="a character that is not white space, got ' ' at 1"):
        places(Document("a", "one two"), ["one", " "])


def test_scripts_of_many_bytes_have_windows_of_fewer_characters() -> None:
    text = "港口的主人有两本书，第二本写着真相。" * 2000
    (question,) = questions(Document("a", text, "b"), [20_000], [text[20_000:20_500]], 23_000)
    assert len(shown_part(question.prompt)) == 23_000 // 3 * 3 // 4
    assert question.shown == question.text


def test_what_the_server_finds_too_long_is_asked_about_with_half_the_room(server: OllamaDouble) -> None:
    """Where every figure is a token, the part of a usual document's length is too much."""
    document = Document("table", " ".join(str(number % 10) for number in range(30_000)))
    text = document.text[30_000:30_100].strip()
    assert opened(server)(document, [text]) == [f"About: {text}"]
    lengths = [len(shown_part(prompt)) for prompt in prompts(server)]
    assert len(lengths) == 2
    assert lengths[1] == lengths[0] // 2
    assert text in shown_part(prompts(server)[1])


def test_a_model_that_reads_next_to_nothing_is_refused(server: OllamaDouble) -> None:
    server.models["llama3.2:latest"] = chat_model(64)
    with pytest.raises(NoAnswer, match=r"reads too little for the chunk 'Part 0 tells .*': choose another chat model$"):
        opened(server)(DOCUMENT, PARTS[:1])
    assert len(server.chats) <= 3


# What the model says


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It is about pumps.", "It is about pumps."),
        ("  It is\n\nabout\t pumps. \r\n", "It is about pumps."),
        ("<think>\nHm.\n</think>\n\nIt is about pumps.", "It is about pumps."),
        ("Hm.</think>It is about pumps.", "It is about pumps."),
        ("<thinking>Hm.</thinking> It is about pumps.", "It is about pumps."),
        ("<think>a</think><think>b</think>It is.", "It is."),
        ("It is about pumps.<think>But then", "It is about pumps."),
        ("<think>Hm. It is", ""),
        ("<think></think>", ""),
        ("\x00 \ud800", "\x00 \ufffd"),
    ],
)
def test_thoughts_and_line_ends_are_left_out(said: str, expected: str) -> None:
    assert one_line(said) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is about pumps. They are", "It is about pumps."),
        ("It costs 3.5 pounds. They", "It costs 3.5 pounds."),
        ('She said "no!" And then', 'She said "no!"'),
        ("这是泵。它们", "这是泵。"),
        ("No end in sight", "No end in sight…"),
    ],
)
def test_a_cut_answer_ends_at_its_last_full_sentence(text: str, expected: str) -> None:
    assert full_sentences(text) == expected


def test_an_answer_that_is_cut_off_is_kept_to_its_last_full_sentence(server: OllamaDouble, tmp_path: Path) -> None:
    server.reply = lambda prompt: "It is about pumps. " + "word " * 300
    chat = opened(server, store=Store(tmp_path))
    assert chat(DOCUMENT, PARTS[:2]) == ["It is about pumps."] * 2
    for again in (chat, opened(server, store=Store(tmp_path))):
        again(DOCUMENT, PARTS[:2])
        assert again.warnings == [
            "ollama:llama3.2 reached the limit of 200 tokens in 2 of 2 descriptions, "
            "each of which ends at its last full sentence."
        ]


def test_thinking_is_switched_off_and_has_room_where_it_cannot_be(server: OllamaDouble) -> None:
    server.models["llama3.2:latest"] = chat_model(131072, "thinking")
    server.thought = "thought " * 500
    chat = opened(server)
    assert chat(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    server.keeps_thinking = True
    assert chat(DOCUMENT, PARTS[1:3]) == [f"About: {part}" for part in PARTS[1:3]]
    assert [body.get("think") for body in server.chats] == [False, False, None, None]
    assert {body["options"]["num_predict"] for body in server.chats} == {1000}


def test_a_model_that_only_thinks_is_refused(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    server.reply = lambda prompt: "<think>" + "thought " * 300
    with pytest.raises(NoAnswer, match="thinks until it has reached the limit of 200 tokens: choose a chat model that"):
        opened(server, store=store)(DOCUMENT, PARTS)
    assert len(server.chats) == 1
    assert store.count() == 0


def test_an_empty_answer_is_asked_for_twice_and_again_at_the_next_start(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    server.reply = lambda prompt: " \n" if passage(prompt) == PARTS[1] else "Something."
    chat = opened(server, store=store)
    for _ in range(2):
        assert chat(DOCUMENT, PARTS) == ["Something.", "", "Something.", "Something.", "Something."]
    assert len(server.chats) == 6
    assert chat.warnings == ["ollama:llama3.2 gave no description of 1 of 5 chunks."]
    assert store.count() == 4
    server.reply = lambda prompt: "At last."
    assert opened(server, store=store)(DOCUMENT, PARTS)[1] == "At last."
    assert len(server.chats) == 7


def test_a_model_that_says_nothing_is_given_up_after_three_chunks(server: OllamaDouble) -> None:
    server.reply = lambda prompt: ""
    with pytest.raises(NoAnswer, match="gave 3 empty answers on end: choose another chat model"):
        opened(server)(DOCUMENT, PARTS)
    assert len(server.chats) == 6


def test_empty_answers_between_others_do_not_stop_the_work(server: OllamaDouble) -> None:
    server.reply = lambda prompt: "" if passage(prompt) in PARTS[::2] else "Something."
    assert opened(server)(DOCUMENT, PARTS) == ["", "Something.", "", "Something.", ""]


def test_a_model_that_says_one_word_without_end_has_said_nothing(server: OllamaDouble) -> None:
    server.loops = 1
    assert opened(server)(DOCUMENT, PARTS[:2]) == ["", f"About: {PARTS[1]}"]
    assert len(server.chats) == 2


# What is kept


def test_what_is_described_is_not_asked_for_again(server: OllamaDouble, tmp_path: Path) -> None:
    first = opened(server, store=Store(tmp_path))(DOCUMENT, PARTS)
    again = opened(server, "llama3.2:latest", Store(tmp_path))
    assert again(DOCUMENT, PARTS) == first
    assert again(DOCUMENT, PARTS[2:]) == first[2:]
    assert len(server.chats) == 5


def other_digest(server: OllamaDouble, _: pytest.MonkeyPatch) -> Document:
    server.digests["llama3.2:latest"] = "f" * 64
    return DOCUMENT


def other_words(_: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> Document:
    monkeypatch.setattr(chat_module, "AFTER", "\n</passage>\n\nSay more.")
    return DOCUMENT


def other_options(server: OllamaDouble, _: pytest.MonkeyPatch) -> Document:
    server.models["llama3.2:latest"] = chat_model(4096)
    return DOCUMENT


def other_title(_server: OllamaDouble, _: pytest.MonkeyPatch) -> Document:
    return Document(DOCUMENT.id, DOCUMENT.text, "The first book")


def other_text(_server: OllamaDouble, _: pytest.MonkeyPatch) -> Document:
    return Document(DOCUMENT.id, f"{DOCUMENT.text} The end.", DOCUMENT.title)


@pytest.mark.parametrize("change", [other_digest, other_words, other_options, other_title, other_text])
def test_another_model_or_prompt_has_its_own_answers(
    server: OllamaDouble,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[OllamaDouble, pytest.MonkeyPatch], Document],
) -> None:
    before = opened(server, store=Store(tmp_path))
    before(DOCUMENT, PARTS)
    document = change(server, monkeypatch)
    after = opened(server, store=Store(tmp_path))
    assert after.estimate(document, PARTS).calls == 5
    assert (after.identity != before.identity) == (change not in (other_title, other_text))


def test_nothing_else_makes_a_new_call(server: OllamaDouble, tmp_path: Path) -> None:
    opened(server, store=Store(tmp_path))(DOCUMENT, PARTS)
    server.version = "0.24.0"
    moved = Document("elsewhere.md", DOCUMENT.text, DOCUMENT.title, date="2024-01-01")
    assert opened(server, store=Store(tmp_path)).estimate(moved, PARTS).calls == 0


def test_progress_comes_after_each_answer_and_only_for_what_is_missing(server: OllamaDouble, tmp_path: Path) -> None:
    store, steps = Store(tmp_path), []
    chat = opened(server, store=store)
    chat.describe(DOCUMENT, PARTS[:1])
    chat.describe(DOCUMENT, PARTS, lambda done, total: steps.append((done, total, store.count(), len(server.chats))))
    assert steps == [(1, 4, 2, 2), (2, 4, 3, 3), (3, 4, 4, 4), (4, 4, 5, 5)]


def test_a_cancelled_run_goes_on_where_it_stopped(server: OllamaDouble, tmp_path: Path) -> None:
    def cancel(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(server, store=Store(tmp_path)).describe(DOCUMENT, PARTS, cancel)
    again = opened(server, store=Store(tmp_path))
    assert again.estimate(DOCUMENT, PARTS).calls == 3
    assert again(DOCUMENT, PARTS) == [f"About: {part}" for part in PARTS]
    assert [passage(prompt) for prompt in prompts(server)] == PARTS


def test_a_killed_run_goes_on_where_it_stopped(server: OllamaDouble, tmp_path: Path) -> None:
    script = (
        "import os, signal\n"
        "from cache.chat import Chat\nfrom cache.store import Store\nfrom tests.test_chat import DOCUMENT, PARTS\n"
        f"chat = Chat('llama3.2', Store({str(tmp_path)!r}), {server.host!r})\n"
        "chat.describe(DOCUMENT, PARTS, lambda done, total: done == 2 and os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == -signal.SIGKILL
    again = opened(server, store=Store(tmp_path))
    assert again.estimate(DOCUMENT, PARTS).calls == 3
    assert again(DOCUMENT, PARTS) == [f"About: {part}" for part in PARTS]
    assert len(server.chats) == 5


def test_an_error_keeps_what_is_done(server: OllamaDouble, tmp_path: Path) -> None:
    server.on_chat = lambda: setattr(server, "crash", 2 if len(server.chats) == 3 else server.crash)
    with pytest.raises(NoAnswer):
        opened(server, store=Store(tmp_path))(DOCUMENT, PARTS)
    assert opened(server, store=Store(tmp_path)).estimate(DOCUMENT, PARTS).calls == 3


def test_a_damaged_answer_is_asked_for_again(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    opened(server, store=store)(DOCUMENT, PARTS[:1])
    (key,) = store._cache.iterkeys()  # type: ignore[union-attr]
    for damage in (b"", b"\x01\x00", b"\x01\x00\x00\x00", b"\x02\x00\x00\x00text", b"\x01\x00\x00\x00\xff"):
        store.put_many({key: damage}, "test")
        assert opened(server, store=store)(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    assert len(server.chats) == 6


@pytest.mark.parametrize("answer", [Answer("It is about pumps.", cut=False), Answer("港口。", cut=True)])
def test_an_answer_survives_the_store(answer: Answer) -> None:
    assert unpack(pack(answer)) == answer


def test_answers_and_vectors_share_the_store(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    cache.open_embedder("ollama:all-minilm", store, server.host)(PARTS, "document")
    opened(server, store=store)(DOCUMENT, PARTS)
    assert store.count() == 11, "five of each, and what tells the engine"
    assert cache.open_embedder("ollama:all-minilm", store, server.host).missing(PARTS, "document") == 0


def test_threads_ask_nothing_twice(server: OllamaDouble) -> None:
    server.delay = 0.02
    chat, answers = opened(server), []
    threads = [threading.Thread(target=lambda: answers.append(chat(DOCUMENT, PARTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[f"About: {part}" for part in PARTS]] * 4
    assert len(server.chats) == 5


# What it costs


def test_the_estimate_counts_calls_and_what_is_cached_apart(server: OllamaDouble, tmp_path: Path) -> None:
    chat = opened(server, store=Store(tmp_path))
    chat(DOCUMENT, PARTS[:2])
    texts = [*PARTS, *PARTS]
    estimate = chat.estimate(DOCUMENT, texts)
    assert len(server.chats) == 2, "an estimate asks nothing"
    chat(DOCUMENT, texts)
    tokens = sum(about_tokens(prompt) for prompt in prompts(server)[2:])
    assert estimate == Estimate(3, 2, tokens, 3 * USUAL_ANSWER_TOKENS)
    assert chat.estimate(DOCUMENT, texts) == Estimate(0, 5, 0, 0)
    assert chat.estimate(DOCUMENT, []) == Estimate(0, 0, 0, 0)
    assert USUAL_ANSWER_TOKENS < ANSWER_TOKENS


def test_about_tokens() -> None:
    assert [about_tokens(text) for text in ("", "a", "abcd", "abcde", "港口的主")] == [0, 1, 1, 2, 3]


# Failures of the server


def test_a_busy_server_is_asked_again_and_given_up_after_four_tries(server: OllamaDouble) -> None:
    chat = opened(server)
    server.busy = 3
    assert chat(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    assert len(server.chats) == 4
    server.busy = 100
    with pytest.raises(ServerAway, match=r"stayed unable to answer \(503: server busy.*\): try again later$"):
        chat(DOCUMENT, PARTS)
    assert len(server.chats) == 8


def test_a_cut_connection_is_tried_again(server: OllamaDouble) -> None:
    server.cut = 2
    assert opened(server)(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    assert len(server.chats) == 3


def test_a_crash_is_tried_again_once(server: OllamaDouble) -> None:
    chat = opened(server)
    server.crash = 1
    assert chat(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    assert len(server.chats) == 2
    server.crash = 2
    with pytest.raises(
        NoAnswer, match=r"broke down twice over the chunk 'Part 1 tells .*: choose a smaller chat model$"
    ):
        chat(DOCUMENT, PARTS)
    assert len(server.chats) == 4


def test_a_slow_server_is_waited_for_only_so_long(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = opened(server)
    monkeypatch.setattr(ollama_client, "CHAT_SECONDS", 0.1)
    server.delay = 0.6
    with pytest.raises(ServerAway, match=r"did not answer in time: try a smaller model, or later$"):
        chat(DOCUMENT, PARTS)
    assert len(server.chats) == 1, "a model that was too slow is not asked to begin anew"


def test_a_model_that_is_not_there_names_the_command(server: OllamaDouble) -> None:
    with pytest.raises(ModelMissing, match=r"does not have qwen3: fetch it with `ollama pull qwen3`$"):
        opened(server, "qwen3")


def test_a_model_that_is_removed_meanwhile_names_the_command(server: OllamaDouble) -> None:
    chat = opened(server)
    del server.models["llama3.2:latest"]
    with pytest.raises(ModelMissing, match=r"`ollama pull llama3\.2`$"):
        chat(DOCUMENT, PARTS)


def test_an_embedding_model_is_refused_at_the_door_and_later(server: OllamaDouble) -> None:
    with pytest.raises(NotAChatModel, match=r"^all-minilm is not a chat model: choose one that is, such as llama3\.2$"):
        opened(server, "all-minilm")
    assert server.chats == []
    chat = opened(server)
    server.models["llama3.2:latest"] = embedding_model("bert", 512)
    with pytest.raises(NotAChatModel, match=r"^llama3\.2 is not a chat model"):
        chat(DOCUMENT, PARTS)
    assert len(server.chats) == 1


def test_a_model_that_is_replaced_meanwhile_leaves_nothing_in_the_store(server: OllamaDouble, tmp_path: Path) -> None:
    store = Store(tmp_path)
    chat = opened(server, store=store)
    server.on_chat = lambda: server.digests.update({"llama3.2:latest": "f" * 64})
    with pytest.raises(ModelChanged, match="was replaced on the server meanwhile: choose it again"):
        chat(DOCUMENT, PARTS)
    assert store.count() == 0
    with pytest.raises(ModelChanged):
        chat(DOCUMENT, PARTS)


def test_a_server_without_digests_is_refused(server: OllamaDouble) -> None:
    server.digests["llama3.2:latest"] = ""
    with pytest.raises(EmbedderError, match=r"does not tell the digest of llama3\.2"):
        opened(server)


def test_another_web_site_is_recognised(server: OllamaDouble) -> None:
    chat = opened(server)
    server.html = True
    for work in (lambda: chat(DOCUMENT, PARTS), lambda: opened(server)):
        with pytest.raises(NotOllama, match=rf"what answers at http://{server.host} is not an Ollama server"):
            work()


@pytest.mark.parametrize("answer", [{}, [], {"message": None}, {"message": "text"}])
def test_an_answer_of_another_shape_is_recognised(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    chat = opened(server)
    monkeypatch.setattr(server, "_chat", lambda *_: (200, answer))
    with pytest.raises(NotOllama):
        chat(DOCUMENT, PARTS)


def test_no_server_is_said_plainly() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    expected = rf"no Ollama server answers at http://127.0.0.1:{port}: start it with `ollama serve` or set OLLAMA_HOST$"
    with pytest.raises(ServerAway, match=expected):
        Chat("llama3.2", None, f"127.0.0.1:{port}")


def test_a_reason_in_several_lines_becomes_one_sentence(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = opened(server)
    monkeypatch.setattr(server, "_chat", lambda *_: (500, {"error": "model requires more\nsystem memory"}))
    with pytest.raises(EmbedderError, match=r"refused \(status 500\): model requires more system memory$"):
        chat(DOCUMENT, PARTS)


def test_the_key_goes_only_where_it_belongs(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    opened(server)(DOCUMENT, PARTS[:1])
    assert all("secret" not in str(headers) for headers in server.headers)
    server.headers.clear()
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    opened(server)(DOCUMENT, PARTS[:1])
    assert all(headers["authorization"] == "Bearer secret" for headers in server.headers)


# Warnings, names and choices


def test_a_server_that_cuts_prompts_in_silence_is_warned_of(server: OllamaDouble) -> None:
    server.version = "0.12.5"
    (warning,) = opened(server).warnings
    assert warning.startswith("Ollama 0.12.5 cuts a prompt that is too long for the model without a word")
    assert [ollama_models.chat_warnings(version) for version in ("0.12.6", "0.33.0", "main")] == [[], [], []]


def test_a_model_that_runs_elsewhere_is_warned_of_and_never_the_default(server: OllamaDouble) -> None:
    server.models["deepseek:cloud"] = chat_model()
    server.digests["deepseek:cloud"] = "d" * 64
    server.remote["deepseek:cloud"] = "https://ollama.com:443"
    assert opened(server, "deepseek:cloud").warnings == [
        "ollama:deepseek:cloud runs at https://ollama.com:443, so the Ollama server sends the documents there."
    ]
    assert cache.chat_models(cache.look(server.host)) == ["ollama:llama3.2", "ollama:deepseek:cloud"]
    assert cache.default_chat_name(cache.look(server.host)).name == "ollama:llama3.2"
    del server.models["llama3.2:latest"]
    assert cache.default_chat_name(cache.look(server.host)).name == ""


def test_the_store_is_warned_of(server: OllamaDouble, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert any("cannot be used" in warning for warning in opened(server, store=Store(tmp_path / "file")).warnings)


@pytest.mark.parametrize("tells", [True, False])
def test_the_first_chat_model_by_name_is_the_default(server: OllamaDouble, tells: bool) -> None:
    server.tells_capabilities = tells
    server.models |= {"gemma3:1b": chat_model(), "damaged:latest": {"capabilities": 5, "model_info": 5}}
    server.digests |= {"gemma3:1b": "a" * 64, "damaged:latest": "b" * 64}
    if tells:
        del server.models["damaged:latest"]
    choice = cache.default_chat_name(cache.look(server.host))
    assert choice.name == "ollama:gemma3:1b"
    assert choice.sentence == f"gemma3:1b of the Ollama server at http://{server.host} describes the chunks."
    assert cache.chat_models(cache.look(server.host)) == ["ollama:gemma3:1b", "ollama:llama3.2"]


def test_models_of_servers_that_tell_no_abilities_are_told_by_their_pooling() -> None:
    assert ollama_models.is_chat({"model_info": {"general.architecture": "llama"}})
    assert not ollama_models.is_chat({"model_info": {"bert.pooling_type": 1}})
    assert not ollama_models.is_chat({})


def test_without_a_chat_model_a_sentence_says_what_to_do(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    need = "Context by a chat model needs an Ollama server with a chat model"
    del server.models["llama3.2:latest"]
    assert cache.default_chat_name(cache.look(server.host)) == cache.Choice(
        "", f"{need}: the one at http://{server.host} has none of its own; `ollama pull llama3.2` fetches one."
    )
    assert cache.chat_models(cache.look(server.host)) == []
    assert cache.default_chat_name(cache.look("127.0.0.1:1")) == cache.Choice(
        "",
        f"{need}, and no Ollama server answers at http://127.0.0.1:1: start it with `ollama serve` or set OLLAMA_HOST.",
    )
    assert cache.chat_models(cache.look("127.0.0.1:1")) == []
    monkeypatch.setenv("OLLAMA_HOST", "http://[broken")
    choice = cache.default_chat_name(cache.look())
    assert choice.name == ""
    assert choice.sentence.startswith(f"{need}, and the address of an Ollama server must look like")
    assert cache.chat_models(cache.look()) == []


@pytest.mark.parametrize("name", ["", "llama3.2", "ollama:", "ollama: ", "openai:x", "minilm"])
def test_an_unknown_chat_model_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match='the chat model must be "ollama:MODEL", got'):
        cache.open_chat(name)


def test_open_chat_goes_to_the_host_of_the_environment_and_the_default_store(
    server: OllamaDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path))
    chat = cache.open_chat("ollama:llama3.2:latest")
    assert chat(DOCUMENT, PARTS[:1]) == [f"About: {PARTS[0]}"]
    assert chat.name == "ollama:llama3.2"
    assert Store(tmp_path).count() == 1
