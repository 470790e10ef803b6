"""What can go wrong between a text and what a model makes of it, as one small tree.

EmbedderError
├── ModelUnavailable     the built-in model's files are not there, or are not the genuine ones
├── ServerAway           no Ollama server answers, or it stayed busy
├── NotOllama            something answers, but not an Ollama server
├── ModelMissing         the server does not have the model
├── ModelChanged         the model was replaced on the server during the work
├── NotAnEmbeddingModel  the model is there, but gives no vectors
├── BadVectors           the answer is not one finite unit vector of the right length for each text
├── NotAChatModel        the model is there, but does not answer in words
└── NoAnswer             the chat model has no answer to give
"""

# ruff: noqa: N818 - these names say what happened; "Error" at the end of each would add nothing


class EmbedderError(Exception):
    """A text could not be embedded or described; the message is one sentence for the user."""


class ModelUnavailable(EmbedderError, ConnectionError):
    """The built-in model's files are missing or not the genuine ones."""


class ServerAway(EmbedderError, ConnectionError):
    """The Ollama server does not answer, or not in time."""


class NotOllama(EmbedderError):
    """What answers at the address is not an Ollama server."""


class ModelMissing(EmbedderError):
    """The server does not have the model; a line of the message is the command that fetches it."""


class ModelChanged(EmbedderError):
    """The model behind the name was replaced, so what the old and the new one make would have been mixed."""


class NotAnEmbeddingModel(EmbedderError):
    """The model gives no vectors, as chat models do not."""


class BadVectors(EmbedderError):
    """The model's answer cannot be used as vectors."""


class NotAChatModel(EmbedderError):
    """The model does not answer in words, as embedding models do not."""


class NoAnswer(EmbedderError):
    """The chat model breaks down, or says nothing."""
