"""An embedding model of an Ollama server, as a backend.

A text that is too long is never cut by the server, which does so without a word: it is asked not to, and what it
refuses is cut here, so that the cut is known.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from cache import canaries
from cache import ollama_models as models
from cache.errors import BadVectors, EmbedderError, ModelChanged, ModelMissing, NotAnEmbeddingModel
from cache.ollama_client import (
    REQUEST_ERRORS,
    CutUnasked,
    NotFinite,
    Server,
    Verdict,
    explained,
    judge,
    no_vector_for,
    not_an_embedding_model,
    tried,
)
from cache.records import BROKE_DOWN, NO_NUMBER, Record, keyed_by, no_vector, pack_rows, quote, unpack_rows
from cache.store import Store

#: How often in a row a list of texts is halved because its vectors were not there in time.
HALVINGS = 2

#: After so many texts in a row over which the server broke down, it is looked at whether it has any vector at all.
MOST_CRASHES = 8

#: How far a long text's cut may fall short of the longest that the server takes, as a share of its length.
CUT_PRECISION = 0.05
_CHARACTERS_A_TOKEN = 4


class Ollama:
    """An embedding model of a server, as a backend."""

    batch_texts = 32
    batch_characters = 32_000  # some 8,000 tokens, the most that a slow processor reads while somebody waits
    token_spans = None  # the server has no tokenizer to ask

    def __init__(self, model: str, host: str | None = None, store: Store | None = None, typed: bool = False) -> None:
        self._server = Server(host, typed=typed)
        self._crashes = 0  # texts in a row over which the server broke down
        self._model = models.full_name(model)
        self._version = self._server.version()
        self._digest = self._server.digest(self._model)
        show = self._server.show(self._model)
        if not models.is_embedding(show):
            raise not_an_embedding_model(model)
        self.name = f"ollama:{models.short_name(model)}"
        self._tokens = models.reading_limit(show, self._version)
        self.limit: int | None = self._tokens
        self.prefixes = models.prefixes(model)
        self.warnings = models.version_warnings(self._version, models.architecture(show))
        epoch = models.epoch(self._version)
        settings = f"num_ctx {self._tokens}, num_batch {self._tokens}, cut by characters, l2"
        self.dimension = models.model_number(show, "embedding_length") or len(self._records(["dimension"])[0].vector)
        if not self.dimension:
            raise no_vector_for(self._model, "dimension")
        engine = self._engine(settings, store)
        self.identity = f"{self.name}, digest {self._digest[:12]}, engine {epoch}, {engine}"
        self.fingerprint: tuple[str, ...] = ("ollama", self._digest, epoch, engine, settings)

    def _engine(self, settings: str, store: Store | None) -> str:
        """What the vectors of the canaries tell of the engine; they are asked for once a version of the server."""
        key = keyed_by(("canaries", self._digest, self._version, settings))("\n".join(canaries.CANARIES))
        data = (store.get_many([key]) if store else {}).get(key, b"")
        vectors = unpack_rows(data, (len(canaries.CANARIES), self.dimension))
        if vectors is None:
            try:
                vectors = self._canary_vectors()
            except (NotAnEmbeddingModel, ModelMissing):
                raise
            except EmbedderError as error:  # it may have vectors for other texts all the same
                self.warnings.append(f"Whether {self.name} gives the vectors that it should is not known: {error}.")
                return "unseen"
            if store:
                tag = f"{self.name}, digest {self._digest[:12]}, canaries of Ollama {self._version}"
                store.put_many({key: pack_rows(vectors)}, tag)
        self.warnings += canaries.warnings(self.name, self._version, vectors)
        return canaries.fingerprint(vectors)

    def _canary_vectors(self) -> np.ndarray:
        """(5, dimension) float32: what the server answers now."""
        vectors = [record.vector for record in self._records(canaries.CANARIES)]
        self._check_unchanged()
        for text, vector in zip(canaries.CANARIES, vectors, strict=True):
            if vector.shape != (self.dimension,) or not vector.any():
                raise no_vector_for(self._model, text)
        return np.stack(vectors)

    def encode(self, texts: Sequence[str]) -> list[Record]:
        """One record for each text, in order."""
        # Shortest first: where a batch must be halved, the long texts are then together.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        records = dict(zip(order, self._records([texts[index] for index in order]), strict=True))
        self._check_unchanged()
        return [records[index] for index in range(len(texts))]

    def _check_unchanged(self) -> None:
        """ModelChanged where model or server are not those that the embedder was opened with."""
        if tried(lambda: self._server.digest(self._model)) != self._digest:
            raise ModelChanged(f"{self.name} was replaced on the server meanwhile: choose it again to use the new one")
        version = tried(self._server.version)
        if version != self._version:
            raise ModelChanged(
                f"the Ollama server was changed from {self._version} to {version} meanwhile: choose {self.name} again"
            )

    def _records(self, texts: Sequence[str], halvings: int = HALVINGS) -> list[Record]:
        """The records of the texts, asked for in one request, or in two of half as many where that fails."""
        try:
            vectors, tokens = self._answer(texts)
        except REQUEST_ERRORS as error:
            verdict = judge(error)
            if len(texts) > 1 and verdict is Verdict.SLOW and halvings:
                return self._halved(texts, halvings - 1)
            if len(texts) > 1 and verdict in (Verdict.LONG, Verdict.NAN, Verdict.CRASH, Verdict.LARGE):
                return self._halved(texts, halvings)
            if verdict is Verdict.LONG:
                return [self._cut(texts[0])]
            return [self._without(error, texts[0])]
        alone = tokens if len(texts) == 1 else None  # the server tells only the sum
        return [Record(vector, alone, len(text), False) for vector, text in zip(vectors, texts, strict=True)]

    def _halved(self, texts: Sequence[str], halvings: int) -> list[Record]:
        half = len(texts) // 2
        if halvings < HALVINGS:  # too slow for so much text: later batches are not to wait for that again
            self.batch_characters = min(self.batch_characters, sum(map(len, texts)) // 2)
        return self._records(texts[:half], halvings) + self._records(texts[half:], halvings)

    def _without(self, error: Exception, text: str) -> Record:
        """What stands for a text that the model has no vector for; any other failure is the user's to mend."""
        verdict = judge(error)
        if verdict is Verdict.NAN:
            return no_vector(NO_NUMBER)
        if verdict is Verdict.CRASH and self._works():
            return no_vector(BROKE_DOWN)
        raise explained(error, self._server.host, self._model, text) from error

    def _works(self) -> bool:
        """Whether the server, which just broke down over a text, is sound; it is asked after several in a row."""
        self._crashes += 1
        if self._crashes <= MOST_CRASHES:
            return True
        try:
            self._answer(canaries.CANARIES[:1])
        except REQUEST_ERRORS:
            return False
        return True

    def _cut(self, text: str) -> Record:
        """The record of as much of a too long text as the server takes, to within 5%."""
        taken: Record | None = None
        low, high = 0, len(text)  # taken, refused
        while length := next_cut(low, high, self._tokens * _CHARACTERS_A_TOKEN):
            try:
                vectors, _ = self._answer([text[:length]])
            except REQUEST_ERRORS as error:
                if judge(error) is not Verdict.LONG:
                    return self._without(error, text[:length])
                high = length
            else:
                low, taken = length, Record(vectors[0], None, length, True)
        if taken is None:
            raise BadVectors(f"{self.name} takes not even one character of the text {quote(text)}")
        return taken

    def _answer(self, texts: Sequence[str]) -> tuple[list[np.ndarray], int | None]:
        """A vector for each text, and the sum of their tokens; tried again where that may help."""
        answer = tried(lambda: self._server.embed(self._model, texts, self._tokens))
        if len(answer.embeddings) != len(texts):
            raise BadVectors(f"{self.name} must answer {len(texts)} vectors, got {len(answer.embeddings)}")
        vectors = [np.array(numbers, np.float32) for numbers in answer.embeddings]
        self._crashes = 0
        if not all(np.isfinite(vector).all() for vector in vectors):
            raise NotFinite
        if self._full(texts, answer.prompt_eval_count) and self._cuts_unasked:
            raise CutUnasked
        return vectors, answer.prompt_eval_count

    def _full(self, texts: Sequence[str], tokens: int | None) -> bool:
        """Whether one of the texts may have more tokens than are read, by their sum and by its bytes, which are more."""
        return (tokens or 0) >= self._tokens and any(len(text.encode()) + 2 >= self._tokens for text in texts)

    @cached_property
    def _cuts_unasked(self) -> bool:
        """Whether the server cuts a text that is too long, although it is asked not to. Ollama itself refuses it."""
        try:
            tried(lambda: self._server.embed(self._model, ["word " * (self._tokens + 1)], self._tokens))
        except REQUEST_ERRORS as error:
            if judge(error) in (Verdict.AGAIN, Verdict.SLOW):  # nothing was learnt
                raise
            return False
        return True


def next_cut(low: int, high: int, guess: int) -> int:
    """The length to try next between one that was taken and one that was refused; 0 when they are close enough."""
    if high - low <= max(1, int(low * CUT_PRECISION)):
        return 0
    if low == 0:
        return max(1, min(guess, int(high * 0.7)))
    return min(int(low * 1.4) + 1, (low + high) // 2)
