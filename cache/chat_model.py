"""A chat model of an Ollama server as it is asked, for descriptions of chunks and for answers to questions."""

from collections.abc import Callable
from typing import TypeVar

from cache import ollama_models as models
from cache.ollama_client import REQUEST_ERRORS, Server, refuses_thinking

T = TypeVar("T")


class ChatModel:
    """The server, the model's names, and the options of every request; a model that thinks has more tokens for it."""

    def __init__(self, model: str, host: str | None, typed: bool, answer_tokens: int, thinking_tokens: int) -> None:
        self.server = Server(host, typed=typed)
        self.model = models.full_name(model)
        show = self.server.show_chat(self.model)
        self.name = f"ollama:{models.short_name(model)}"
        thinks = "thinking" in (show.get("capabilities") or ())
        self.think = False if thinks else None  # what a request says of it; None: nothing
        # The same for every request, because the server loads a model anew for other options.
        self.options = {
            "num_ctx": min(models.model_number(show, "context_length") or models.USUAL_TOKENS, models.MOST_TOKENS),
            "num_predict": answer_tokens + (thinking_tokens if thinks else 0),
            "temperature": 0,
            "seed": 0,
        }

    def asked(self, ask: Callable[[bool | None], T]) -> T:
        """What `ask(think)` gives, with the model's thinking off where that can be."""
        try:
            return ask(self.think)
        except REQUEST_ERRORS as error:
            if self.think is None or not refuses_thinking(error):
                raise
            self.think = None
            return ask(None)
