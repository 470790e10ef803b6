"""The answer of a chat model from the chunks that were sent, against the double of an Ollama server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.answering import ANSWER_TOKENS, Answerer, cited, prompt_of, spoken
from cache.errors import EmbedderError, NoAnswer, NotAChatModel, ServerAway
from tests.ollama_double import OllamaDouble, chat_model

TEXTS = ["The harbour was closed in March.", "Nobody\nwrote about [7] it."]


@pytest.fixture
def server(alone: None) -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        double.reply = lambda _: "It was closed in March [1]."
        yield double


def answered(server: OllamaDouble, texts: list[str] = TEXTS, model: str = "llama3.2") -> str:
    return "".join(Answerer(model, server.host)("When was the harbour closed?", texts))


def test_it_is_the_models_answer(server: OllamaDouble) -> None:
    assert answered(server) == "It was closed in March [1]."


def test_the_model_is_asked_from_exactly_these_chunks(server: OllamaDouble) -> None:
    answered(server)
    (asked,) = server.chats
    prompt = asked["messages"][0]["content"]
    assert [f"[{number}]\n{text}\n" in prompt for number, text in enumerate(TEXTS, 1)] == [True, True]
    assert prompt.index(TEXTS[0]) < prompt.index(TEXTS[1]) < prompt.index("When was the harbour closed?")
    assert asked["stream"] is True
    assert (asked["truncate"], asked["shift"]) == (False, False), "nothing is left out in silence"
    assert asked["options"] == {"num_ctx": 8192, "num_predict": ANSWER_TOKENS, "temperature": 0, "seed": 0}


def test_the_pieces_come_as_they_are_written(server: OllamaDouble) -> None:
    server.pace = 0.05
    times = [time.monotonic() for _ in Answerer("llama3.2", server.host)("Why?", TEXTS)]
    assert len(times) == 6
    assert times[-1] - times[0] > 0.15


def test_leaving_off_early_ends_the_answer(server: OllamaDouble) -> None:
    server.reply = lambda _: "word " * 500
    server.pace = 0.01
    with closing(Answerer("llama3.2", server.host)("Why?", TEXTS)) as pieces:
        next(pieces)
    time.sleep(0.3)
    assert 0 < server.lines < 100


def test_what_a_model_thinks_first_is_not_its_answer(server: OllamaDouble) -> None:
    server.models["deep:latest"] = chat_model(131072, "thinking")
    server.thought = "Let me see."
    server.keeps_thinking = True
    assert answered(server, model="deep") == "It was closed in March [1]."
    assert [body.get("think") for body in server.chats] == [False, None]


@pytest.mark.parametrize("before", ["<think>Hm [2].</think>\n\n", "  <thinking>Hm.</thinking> ", ""])
@given(data=st.data())
def test_thoughts_between_marks_are_left_out_however_they_are_parted(before: str, data: st.DataObject) -> None:
    said = "A <b> and </think> [1]." if not before else "A <b>."
    whole = before + said
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=8).map(sorted))
    pieces = [whole[low:high] for low, high in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert "".join(spoken(pieces)) == said


def test_an_answer_that_is_broken_off_says_so(server: OllamaDouble) -> None:
    server.reply = lambda _: "word " * (ANSWER_TOKENS + 1)
    assert answered(server).endswith("word … (broken off at the limit of the answer's length)")


def test_chunks_that_are_too_long_are_told(server: OllamaDouble) -> None:
    with pytest.raises(
        NoAnswer, match=r"ollama:llama3.2 reads 8,192 tokens and the chunks are about [\d,]+: send fewer"
    ):
        answered(server, ["word " * 20_000])


def test_no_answer_is_told(server: OllamaDouble) -> None:
    server.reply = lambda _: " "
    with pytest.raises(NoAnswer, match="gave no answer: choose another chat model"):
        answered(server)


def test_a_busy_server_is_asked_again(server: OllamaDouble) -> None:
    server.busy = 2
    assert answered(server).startswith("It was closed")


def test_a_server_that_stays_away_is_told(server: OllamaDouble) -> None:
    server.busy = 99
    with pytest.raises(ServerAway, match="try again later"):
        answered(server)


def test_an_error_in_the_midst_of_an_answer_is_told(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = iter([{"message": {"content": "It "}}, {"error": "the disk is gone"}])
    monkeypatch.setattr("tests.ollama_double.streamed", lambda _: parts)
    pieces = Answerer("llama3.2", server.host)("Why?", TEXTS)
    assert next(pieces) == "It "
    with pytest.raises(EmbedderError, match="the disk is gone"):
        list(pieces)


def test_an_embedding_model_is_refused(server: OllamaDouble) -> None:
    with pytest.raises(NotAChatModel, match="all-minilm is not a chat model"):
        Answerer("all-minilm", server.host)


def test_no_chunks_are_refused(server: OllamaDouble) -> None:
    with pytest.raises(ValueError, match="at least one chunk, got none"):
        answered(server, [])


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [("So it is [2], or not [1, 2].", [2, 1]), ("None.", []), ("[x] [3][3] [ 4 ]", [3]), ("a[0] [12]", [0, 12])],
)
def test_the_numbers_that_an_answer_cites(answer: str, numbers: list[int]) -> None:
    assert cited(answer) == numbers


def test_a_lone_surrogate_does_not_stop_the_question() -> None:
    assert "\ud800" not in prompt_of("Why \ud800?", ["\ud800"])
