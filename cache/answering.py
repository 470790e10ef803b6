"""The answer of a chat model from exactly the chunks that were sent, piece by piece as it is written."""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from cache.chat import about_tokens
from cache.chat_model import ChatModel
from cache.errors import NoAnswer
from cache.ollama_client import REQUEST_ERRORS, Verdict, explained, judge, tried
from cache.records import readable

PROMPT = """\
Below are {count} numbered passages that were found for a question, and then the question.

{passages}

Question: {question}

Answer the question from these passages alone, in the language of the question and in as few sentences as it takes. \
After each statement give the number of the passage that it rests on in square brackets, like [2]. If the passages do \
not hold the answer, say so and do not guess."""

#: The most tokens of an answer, and what is added for a model that thinks, because not every one can be kept from it.
ANSWER_TOKENS = 600
THINKING_TOKENS = 1400

_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_CITED = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")


class Answerer:
    """`answerer(question, texts)`: a chat model's answer to the question from the texts, piece by piece."""

    def __init__(self, model: str, host: str | None = None, typed: bool = False) -> None:
        self._chat = ChatModel(model, host, typed, ANSWER_TOKENS, THINKING_TOKENS)
        self.name = self._chat.name

    def __call__(self, question: str, texts: Sequence[str]) -> Generator[str]:
        """The pieces of the answer; an EmbedderError where there is none. Leaving off early ends the model's work."""
        if not texts:
            raise ValueError("an answer needs at least one chunk, got none")
        prompt = prompt_of(question, texts)
        try:
            first, rest = tried(lambda: self._chat.asked(lambda think: self._begun(prompt, think)))
            yield from spoken(self._pieces(first, rest))
        except REQUEST_ERRORS as error:
            if judge(error) is Verdict.LONG:
                tokens = about_tokens(prompt)
                raise NoAnswer(
                    f"{self.name} reads {self._chat.options['num_ctx']:,} tokens and the chunks are about {tokens:,}: send fewer words"
                ) from error
            raise explained(error, self._chat.server.host, self._chat.model, question) from error

    def _begun(self, prompt: str, think: bool | None) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
        """The first part of the server's answer, and the others; what fails until then can be tried again."""
        parts = self._chat.server.chat_parts(self._chat.model, prompt, self._chat.options, think)
        return next(parts), parts

    def _pieces(self, first: Mapping[str, Any], rest: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """What each part says; a sentence at the end where the answer was broken off."""
        said, reason = False, ""
        for part in chain([first], rest):
            reason = str(part.get("done_reason") or reason)
            if content := _content(part):
                said = said or bool(content.strip())
                yield content
        if not said:
            raise NoAnswer(f"{self.name} gave no answer: choose another chat model")
        if reason == "length":
            yield " … (broken off at the limit of the answer's length)"


def prompt_of(question: str, texts: Sequence[str]) -> str:
    """What the model is asked: the texts, numbered from 1 in their order, and the question."""
    passages = "\n\n".join(f"[{number}]\n{readable(text)}" for number, text in enumerate(texts, 1))
    return PROMPT.format(count=len(texts), passages=passages, question=readable(question))


def cited(answer: str) -> list[int]:
    """The numbers that an answer cites, each once, in order. Example: 'So it is [2], or not [1, 2].' -> [2, 1]"""
    groups = (match[1] for match in _CITED.finditer(answer))
    return list(dict.fromkeys(int(number) for group in groups for number in group.split(",")))


def spoken(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces without what a model thinks aloud, between marks, before it answers."""
    held, speaks = "", False
    for piece in pieces:
        if speaks:
            yield piece
            continue
        held += piece
        start = held.lstrip()
        if start.startswith("<think"):
            _, *after = _THOUGHT_END.split(start, maxsplit=1)
            if not after:
                continue
            start = after[0].lstrip()
        if start and not "<think".startswith(start):
            speaks = True
            yield start


def _content(part: Mapping[str, Any]) -> str:
    return str((part.get("message") or {}).get("content") or "")
