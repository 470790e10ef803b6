"""What must be known about Ollama's models and versions to ask them rightly. Pure functions and tables."""

import re
from collections.abc import Mapping
from typing import Any

#: What each model was trained to see before a query and before a document. Ollama adds nothing itself.
#: The first pattern that is found in the model's name, in small letters and without its tag, decides.
PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"snowflake-arctic-embed.*(2|v2\.0)$", "query: ", ""),
    (r"snowflake-arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
    (r"mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
    (r"bge-(small|base|large)-en|^bge-large$", "Represent this sentence for searching relevant passages: ", ""),
    (r"embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (
        r"qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
)

#: More than this is not asked for, although some models read 32,768: the memory for it is reserved at once.
MOST_TOKENS = 8192

#: What a server reads when neither the model nor a request says otherwise.
USUAL_TOKENS = 2048

#: Servers between two of these give the same vectors for the same model; across one, they may not.
EPOCHS: tuple[tuple[tuple[int, int, int], str], ...] = (
    ((0, 30, 0), "from 0.30"),
    ((0, 13, 1), "0.13.1 to 0.29"),
    ((0, 12, 0), "0.12 to 0.13.0"),
    ((0, 0, 1), "before 0.12"),
)


def full_name(model: str) -> str:
    """The model's name with its tag: "bge-m3" -> "bge-m3:latest"."""
    return model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"


def short_name(model: str) -> str:
    """The model's name as people write it: "bge-m3:latest" -> "bge-m3"."""
    return model.removesuffix(":latest")


def prefixes(model: str) -> dict[str, str]:
    """What to put before a "query" and before a "document"; nothing for a model that the table does not have."""
    base = model.rsplit("/", 1)[-1].split(":")[0].lower().removesuffix("-gguf")
    for pattern, query, document in PREFIXES:
        if re.search(pattern, base):
            return {"query": query, "document": document}
    return {"query": "", "document": ""}


def parsed_version(version: str) -> tuple[int, int, int] | None:
    """The numbers of a version, "0.33.0-rc2" -> (0, 33, 0); None for one that says nothing, as "0.0.0" does."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version)
    major, minor, patch = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    return (major, minor, patch) if major or minor or patch else None


def epoch(version: str) -> str:
    """The group of server versions that this one gives the same vectors as."""
    numbers = parsed_version(version)
    if numbers is None:
        return f"unknown version {version}"
    return next(name for first, name in EPOCHS if numbers >= first)


def is_embedding(show: Mapping[str, Any]) -> bool:
    """True where /api/show says that the model gives vectors; servers before 0.6.4 tell it only by the pooling."""
    capabilities = show.get("capabilities")
    if capabilities is not None:
        return "embedding" in capabilities
    return any(name.endswith(".pooling_type") for name in show.get("model_info") or {})


def is_chat(show: Mapping[str, Any]) -> bool:
    """True where /api/show says that the model answers in words; before 0.6.4 all did that give no vectors."""
    capabilities = show.get("capabilities")
    if capabilities is not None:
        return "completion" in capabilities
    return bool(show.get("model_info")) and not is_embedding(show)


def digest(entry: Mapping[str, Any]) -> str:
    """The sha256 of a model as the list of a server has it; '' where it does not tell."""
    return str(entry.get("digest") or "").removeprefix("sha256:")


def size(entry: Mapping[str, Any]) -> int:
    """The bytes that a model takes on the server's disk; 0 where its list does not tell."""
    told = entry.get("size")
    return told if isinstance(told, int) else 0


def architecture(show: Mapping[str, Any]) -> str:
    """The model's architecture, such as "nomic-bert"; "" where the server does not say."""
    return str((show.get("model_info") or {}).get("general.architecture", ""))


def model_number(show: Mapping[str, Any], name: str) -> int | None:
    """A number such as `context_length` from the model's own description, or None."""
    value = (show.get("model_info") or {}).get(f"{architecture(show)}.{name}")
    return value if isinstance(value, int) and value > 0 else None


def reading_limit(show: Mapping[str, Any], version: str) -> int:
    """How many tokens of a text we let the model read, special ones included.

    The least of the model's context, the `num_ctx` that its maker set, and our own bounds. Since 0.30 a model that
    is not of the BERT kind may break down on more than 2048 tokens; one that is reads more only when asked to take
    them in one batch, as we ask.
    """
    bounds = [model_number(show, "context_length") or USUAL_TOKENS, MOST_TOKENS]
    if found := re.search(r"^num_ctx\s+(\d+)", show.get("parameters") or "", re.MULTILINE):
        bounds.append(int(found[1]))
    numbers = parsed_version(version)
    if "bert" not in architecture(show) and (numbers is None or numbers >= EPOCHS[0][0]):
        bounds.append(USUAL_TOKENS)
    return min(bounds)


def version_warnings(version: str, arch: str) -> list[str]:
    """Sentences about what a server of this version is known to get wrong for such a model."""
    numbers = parsed_version(version)
    if numbers is None:
        return [f"The Ollama server gives its version as {version}, so known faults cannot be told."]
    if numbers < (0, 5, 8):
        return [f"Ollama {version} can mix up vectors that it makes in one request; 0.5.8 and later do not."]
    if "bert" in arch and (0, 13, 1) <= numbers < (0, 30, 0):
        return [
            f"Ollama {version} gives wrong vectors for some texts (words in capitals, accented letters) "
            "with models of the BERT kind; 0.30 and later do not."
        ]
    return []


def chat_warnings(version: str) -> list[str]:
    """Sentences about what a server of this version is known to do wrong when a chat model is asked."""
    numbers = parsed_version(version)
    if numbers is None or numbers >= (0, 12, 6):
        return []
    return [f"Ollama {version} cuts a prompt that is too long for the model without a word; 0.12.6 and later do not."]
