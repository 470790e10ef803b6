"""A sentence or two that place a chunk in its document, written by a chat model of an Ollama server, each once, ever.

The idea is that of Anthropic's "contextual retrieval" (2024): a chunk says "it" and "that year", and so does its
vector; a model that is shown the document can say what is meant. The words of the prompt are our own.

A document of some 17,000 characters is shown whole. Of a longer one the model is shown a window of that length; the
windows step by half of it, and a chunk gets the one whose middle is nearest to its own. Neighbouring chunks so share
the beginning of their prompts, which the server then need not read again. Of a chunk longer than a third of a window
the beginning is shown. Windows are smaller for a model that reads less than 8,192 tokens, or needs some to think.
"""

import json
import re
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cache import ollama_models as models
from cache.chat_model import ChatModel
from cache.errors import EmbedderError, ModelChanged, NoAnswer
from cache.ollama_client import (
    REQUEST_ERRORS,
    Verdict,
    explained,
    judge,
    tried,
)
from cache.records import keyed_by, quote, readable
from cache.store import Store
from chunking.types import Document

Progress = Callable[[int, int], None]  # (answers so far, answers that were missing)

BEFORE = """\
Below is a document, or a part of one, and after it a passage that was taken from it.

Title: {title}

<document>
{part}
</document>

<passage>
"""

AFTER = """
</passage>

Write one or two short sentences that will stand before the passage in a search index, so that it can be understood \
without the document. Say what the passage is about and where in the document it belongs, and name the people, things, \
places and times that it only points to. Use the language of the document. Do not repeat the passage, and write \
nothing but these sentences."""

#: The most tokens of an answer, and what is added for a model that thinks, because not every one can be kept from it.
ANSWER_TOKENS = 200
THINKING_TOKENS = 800

#: Two sentences, as they usually turn out: for estimates.
USUAL_ANSWER_TOKENS = 75

#: After so many empty answers on end, the model is taken to have none to give.
EMPTY_ON_END = 3

_FRAME_TOKENS = 300  # our own words around the texts, the title, and the marks that the server puts between messages
_TITLE_CHARACTERS = 200
_USUAL_BYTES_A_TOKEN = 4
_FEWEST_BYTES_A_TOKEN = 3  # of running text; what has fewer, as figures do, is shown in smaller parts once refused
_LEAST_ROOM = 200  # bytes

_SCHEMA = 1
_HEADER = struct.Struct("<HH")  # schema, flags
_CUT = 1
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_THOUGHT = re.compile(r"<think(?:ing)?>")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？][”’」』）]*")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What describing the chunks of a document costs: calls of the model, and about how many tokens.

    `calls` and `cached` count different prompts: those that are still to be answered, and those that are already.
    Tokens are reckoned at four bytes each. What the prompts of neighbouring chunks share a server reads only once where
    it remembers the last prompt, so that it may read far fewer than `prompt_tokens`.
    """

    calls: int
    cached: int
    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is asked about one chunk: the prompt up to the chunk, and the chunk as far as it is shown."""

    start: int
    text: str
    before: str  # the same object for all chunks of one window
    shown: str

    @property
    def prompt(self) -> str:
        """The whole prompt."""
        return f"{self.before}{self.shown}{AFTER}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, on one line, and whether it was cut off there."""

    text: str
    cut: bool


class Chat:
    """`chat(document, texts) -> list[str]`: a description of each chunk text of the document, on one line.

    It is '' where the model, asked twice, had none to give; such a chunk is asked about again at the next start.
    Threads may share it: one question is asked at a time, and none twice.
    """

    def __init__(self, model: str, store: Store | None, host: str | None = None, typed: bool = False) -> None:
        self._chat = ChatModel(model, host, typed, ANSWER_TOKENS, THINKING_TOKENS)
        self._server, self._model, self._options = self._chat.server, self._chat.model, self._chat.options
        self._digest = self._server.digest(self._model)
        self.name = self._chat.name
        spare = self._options["num_ctx"] - self._options["num_predict"] - _FRAME_TOKENS
        self._room = max(_LEAST_ROOM, spare * _FEWEST_BYTES_A_TOKEN)
        settings = (str(_SCHEMA), BEFORE, AFTER, json.dumps(self._options), f"think {self._chat.think}")
        self._fingerprint = ("chat", self._digest, *settings)
        self.identity = f"{self.name}, digest {self._digest[:12]}, prompt {keyed_by(settings)('')[:8]}"
        self._about_model = self._model_warnings()
        self._store = store
        self._memory: dict[str, Answer] = {}  # by key
        self._empty = 0  # answers on end
        self._one_at_a_time = threading.Lock()

    def __call__(self, document: Document, texts: Sequence[str]) -> list[str]:
        """One description for each chunk text of the document, in order."""
        return self.describe(document, texts)

    def describe(self, document: Document, texts: Sequence[str], progress: Progress | None = None) -> list[str]:
        """One description for each chunk text of the document, in order; an EmbedderError where that fails.

        After each answer, when it is safe in the store, `progress(done, total)` is called, and may raise to cancel.
        """
        keyed = self._keyed(document, texts)
        missing = self._missing(keyed)
        for done, (key, question) in enumerate(missing.items(), start=1):
            self._ask(key, document, question)
            if progress is not None:
                progress(done, len(missing))
        return [self._memory[key].text for key, _ in keyed]

    def estimate(self, document: Document, texts: Sequence[str]) -> Estimate:
        """What `describe` would cost now."""
        keyed = self._keyed(document, texts)
        missing = self._missing(keyed)
        tokens = sum(about_tokens(question.prompt) for question in missing.values())
        cached = len(dict(keyed)) - len(missing)
        return Estimate(len(missing), cached, tokens, len(missing) * USUAL_ANSWER_TOKENS)

    @property
    def warnings(self) -> list[str]:
        """Sentences for the user about the model, its answers so far, and the store."""
        answers = list(self._memory.values())
        cut, empty = sum(answer.cut for answer in answers), sum(not answer.text for answer in answers)
        found = list(self._about_model)
        if cut:
            found.append(
                f"{self.name} reached the limit of {self._options['num_predict']} tokens in {cut} of {len(answers)} "
                "descriptions, each of which ends at its last full sentence."
            )
        if empty:
            found.append(f"{self.name} gave no description of {empty} of {len(answers)} chunks.")
        return [*found, *(self._store.warnings if self._store else [])]

    def _model_warnings(self) -> list[str]:
        found = models.chat_warnings(self._server.version())
        if elsewhere := self._server.entry(self._model).get("remote_host"):
            found.append(f"{self.name} runs at {elsewhere}, so the Ollama server sends the documents there.")
        return found

    def _keyed(self, document: Document, texts: Sequence[str]) -> list[tuple[str, Question]]:
        """Each chunk's question, with the key of all that its answer depends on."""
        key_after: dict[str, Callable[[str], str]] = {}
        keyed = []
        for question in questions(document, places(document, texts), texts, self._room):
            if question.before not in key_after:
                key_after[question.before] = keyed_by((*self._fingerprint, question.before))
            keyed.append((key_after[question.before](question.shown), question))
        return keyed

    def _missing(self, keyed: Sequence[tuple[str, Question]]) -> dict[str, Question]:
        """The questions that have no answer in memory or in the store, by key; the others are in memory then."""
        unknown = {key: question for key, question in keyed if key not in self._memory}
        if self._store is not None and unknown:
            for key, data in self._store.get_many(unknown).items():
                if answer := unpack(data):
                    self._memory[key] = answer
                    del unknown[key]
        return unknown

    def _ask(self, key: str, document: Document, question: Question) -> None:
        """Puts the answer to the question into memory, and into the store if there is anything in it."""
        with self._one_at_a_time:
            if key in self._memory:  # another thread has asked meanwhile
                return
            answer = self._answer(document, question)
            if self._server.digest(self._model) != self._digest:
                raise ModelChanged(
                    f"{self.name} was replaced on the server meanwhile: choose it again to use the new one"
                )
            self._memory[key] = answer
            self._empty = 0 if answer.text else self._empty + 1
            if answer.text and self._store is not None:
                self._store.put_many({key: pack(answer)}, tag=self.identity)
        if self._empty >= EMPTY_ON_END:
            raise NoAnswer(f"{self.name} gave {self._empty} empty answers on end: choose another chat model")

    def _answer(self, document: Document, question: Question) -> Answer:
        """The model's answer; where the server finds the prompt too long, that to one with half the room."""
        room = self._room
        while True:
            try:
                return self._answer_or_empty(question.prompt)
            except REQUEST_ERRORS as error:
                verdict = judge(error)
                if verdict is Verdict.LOOP:
                    return Answer("", cut=False)
                if verdict is not Verdict.LONG or room < 2 * _LEAST_ROOM:
                    raise self._explained(error, verdict, question.text) from error
            room //= 2
            (question,) = questions(document, [question.start], [question.text], room)

    def _answer_or_empty(self, prompt: str) -> Answer:
        """The model's answer, asked for a second time where the first is empty."""
        for _ in range(2):
            response = tried(
                lambda: self._chat.asked(lambda think: self._server.chat(self._model, prompt, self._options, think))
            )
            cut = response.done_reason == "length"
            text = one_line(response.message.content or "")
            if cut and not text:
                raise NoAnswer(
                    f"{self.name} thinks until it has reached the limit of {self._options['num_predict']} tokens: "
                    "choose a chat model that answers at once"
                )
            if text:
                break
        return Answer(full_sentences(text) if cut else text, cut)

    def _explained(self, error: Exception, verdict: Verdict, text: str) -> EmbedderError:
        if verdict is Verdict.CRASH:
            return NoAnswer(
                f"the server broke down twice over the chunk {quote(text)} with {self.name}: choose a smaller chat model"
            )
        if verdict is Verdict.LONG:
            return NoAnswer(f"{self.name} reads too little for the chunk {quote(text)}: choose another chat model")
        return explained(error, self._server.host, self._model, text)


def places(document: Document, texts: Sequence[str]) -> list[int]:
    """Where each chunk text begins in the document: from one to the next where they are in order, else anywhere."""
    found: list[int] = []
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"a text must have a character that is not white space, got {text!r} at {index}")
        least = found[-1] + (text == texts[index - 1]) if found else 0
        place = document.text.find(text, least)
        found.append(place if place >= 0 else document.text.find(text))
        if found[-1] < 0:
            raise ValueError(f"each text must be a part of the document {document.id}, got {quote(text)}")
    return found


def questions(document: Document, starts: Sequence[int], texts: Sequence[str], room: int) -> list[Question]:
    """What the model is asked about each chunk, in no more than `room` bytes of the document and the chunk."""
    text = readable(document.text)
    characters = room * len(text) // max(1, len(text.encode()))
    size, most = max(2, characters * 3 // 4), max(1, characters // 4)
    title = readable(document.title or document.id)[:_TITLE_CHARACTERS]
    before: dict[int, str] = {}
    made = []
    for start, chunk in zip(starts, texts, strict=True):
        first = window_start(len(text), start + len(chunk) // 2, size)
        if first not in before:
            before[first] = BEFORE.format(title=title, part=text[first : first + size])
        made.append(Question(start, chunk, before[first], readable(chunk)[:most]))
    return made


def window_start(length: int, middle: int, size: int) -> int:
    """Where the window begins whose middle is nearest to `middle`, in a text of that length; windows step by half."""
    step = size // 2
    nearest = (middle - step + step // 2) // step * step
    return max(0, min(nearest, length - size))


def about_tokens(text: str) -> int:
    """About how many tokens a model makes of the text."""
    return -(-len(text.encode()) // _USUAL_BYTES_A_TOKEN)


def one_line(said: str) -> str:
    """What the model said after thinking aloud, on one line.

    Example: '<think>Hm.\\n</think>\\nIt is  about\\npumps.' -> 'It is about pumps.'
    """
    after = _THOUGHT_END.split(said)[-1]
    return " ".join(readable(_THOUGHT.split(after)[0]).split())


def full_sentences(text: str) -> str:
    """The text up to the end of its last full sentence; with an ellipsis where it has none.

    Example: 'It is about pumps. They are' -> 'It is about pumps.'
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else f"{text}…"


def pack(answer: Answer) -> bytes:
    """The answer as bytes: 4 of header, then UTF-8."""
    return _HEADER.pack(_SCHEMA, _CUT if answer.cut else 0) + answer.text.encode()


def unpack(data: bytes) -> Answer | None:
    """The answer in these bytes, or None where they are not one."""
    if len(data) <= _HEADER.size:
        return None
    schema, flags = _HEADER.unpack_from(data)
    try:
        return Answer(data[_HEADER.size :].decode(), bool(flags & _CUT)) if schema == _SCHEMA else None
    except UnicodeDecodeError:
        return None
