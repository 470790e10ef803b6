"""The terminal: what it prints, and one clear line with exit status 2 where the input is wrong."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import cache
import chunkscope
from cache.errors import ModelMissing
from cache.store import Store
from chunking.types import Ints
from tests.fakes import BagOfWords
from tests.ollama_double import OllamaDouble

TEXT = "# Tanks\n\nThe blue tank is full. The red one is empty.\n\n## Pumps\n\nPumps run at night.\n"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> BagOfWords:
    fake = BagOfWords(limit=900)
    monkeypatch.setattr(chunkscope, "_embedder", lambda *_: fake)
    return fake


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "more").mkdir(parents=True)
    (tmp_path / "docs" / "tanks.md").write_text(TEXT)
    (tmp_path / "docs" / "more" / "birds.txt").write_text("Ravens are clever. Slate splits well.")
    (tmp_path / "q.jsonl").write_text(
        json.dumps({"question": "Is the blue tank full?", "document": "tanks", "passage": "The blue tank is full."}) + "\n"
        + json.dumps({"question": "Are ravens clever, and does slate splits well?", "passage": "Ravens are clever."}) + "\n"
        + json.dumps({"question": "What?", "passage": "Not there."}) + "\n"
    )  # fmt: skip
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert chunkscope.main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_cut_prints_exact_spans(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = printed(
        capsys,
        "cut",
        str(folder / "docs" / "tanks.md"),
        "--strategy",
        "fixed",
        "--set",
        "size=6",
        "--set",
        "overlap=2",
        "--json",
    )
    assert result["document"] == "tanks.md"
    assert result["characters"] == len(TEXT)
    assert [TEXT[chunk["start"] : chunk["end"]] for chunk in result["chunks"]] == [
        "# Tanks\n\nThe blue tank is", "tank is full. The red one", "red one is empty.\n\n## Pumps", "## Pumps\n\nPumps run at night.",
    ]  # fmt: skip
    assert result["chunks"][0] == {
        "start": 0,
        "end": 25,
        "returned_start": 0,
        "returned_end": 25,
        "words": 6,
        "prefix": "",
        "flags": [],
    }
    assert result["chunks"][2]["flags"] == ["heading_last"]


def test_cut_shows_the_context_that_would_be_embedded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = printed(
        capsys,
        "cut",
        str(folder / "docs" / "tanks.md"),
        "--strategy",
        "sentence",
        "--set",
        "size=5",
        "--scope",
        "body",
        "--context",
        "headings",
        "--json",
    )
    assert [chunk["prefix"] for chunk in result["chunks"]] == ["Tanks", "Tanks", "Tanks > Pumps"]


def test_cut_without_json_prints_a_line_a_chunk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert chunkscope.main(["cut", str(folder / "docs" / "tanks.md"), "--strategy", "section"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_evaluate_prints_the_trial(folder: Path, model: BagOfWords, capsys: pytest.CaptureFixture[str]) -> None:
    assert chunkscope.main(["evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"), "--strategy", "sentence",
                            "--set", "size=6", "--k", "1", "--json"]) == 0  # fmt: skip
    out, err = capsys.readouterr()
    trial = json.loads(out)
    assert trial["questions"] == 2
    assert "line 3: the passage 'Not there.' is not in any document" in err
    assert trial["hit_rate"] == 1.0
    assert trial["misses"] == {"split": 0, "truncated": 0, "outranked_same_document": 0, "outranked_other_document": 0}
    assert trial["per_question"][1]["sent"] == [["more/birds.txt", 0, 37]]
    assert {"config", "chunks", "words_per_chunk", "hit_rate_interval", "split_share", "coverage", "precision", "iou", "words_sent",
            "hit_at", "mean_reciprocal_rank", "truncated_chunks"} <= set(trial)  # fmt: skip
    assert set(trial["hit_at"]) == {"1", "3", "5", "10"}


def test_evaluate_uses_the_bundled_corpus_by_default(model: BagOfWords, capsys: pytest.CaptureFixture[str]) -> None:
    trial = printed(capsys, "evaluate", "--strategy", "paragraph", "--budget", "500", "--json")
    assert trial["questions"] >= 30
    assert all(row["words_sent"] <= 500 for row in trial["per_question"])


def test_hits_and_misses_add_up(model: BagOfWords, capsys: pytest.CaptureFixture[str]) -> None:
    trial = printed(capsys, "evaluate", "--strategy", "fixed", "--set", "size=50", "--json")
    hits = sum(row["hit"] for row in trial["per_question"])
    assert hits + sum(trial["misses"].values()) == trial["questions"]
    assert trial["hit_rate"] == pytest.approx(hits / trial["questions"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cut", "nowhere.md", "--strategy", "whole"], "there is no file nowhere.md"),
        (["cut", "{empty}", "--strategy", "whole"], "the file is empty"),
        (["cut", "{file}", "--strategy", "recursiv"], "did you mean recursive"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "overlap=200"], "overlap must be at least 0 and below size, got overlap 200 and size 200"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "size=0"], "size must be from 1"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "size=1.5"], "size must be a whole number, got 1.5"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "size=big"], "size must be a number, got 'big'"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "size"], "--set takes NAME=VALUE"),
        (["cut", "{file}", "--strategy", "whole", "--set", "size=3"], "has no setting 'size'"),
        (["cut", "{file}", "--strategy", "fixed", "--set", "unit=pages"], "unit must be one of"),
        (["cut", "{file}", "--strategy", "fixed", "--scope", "page"], "scope must be one of"),
        (["cut", "{file}", "--strategy", "fixed", "--context", "all"], "context must be one of"),
        (["evaluate", "--strategy", "fixed", "--documents", "{folder}"], "--documents needs --questions"),
        (["evaluate", "--strategy", "fixed", "--documents", "nowhere", "--questions", "{questions}"], "there is no folder nowhere"),
        (["evaluate", "--strategy", "fixed", "--documents", "{folder}", "--questions", "gone.csv"], "there is no file gone.csv"),
        (["evaluate", "--strategy", "fixed", "--documents", "{folder}", "--questions", "{unusable}"], "no question of"),
        (["evaluate", "--strategy", "fixed", "--k", "0"], "k must be a whole number from 1 to 20, got 0"),
        (["evaluate", "--strategy", "fixed", "--budget", "0"], "budget must be a whole number of words"),
        (["evaluate", "--strategy", "fixed", "--search", "magic"], "search must be one of"),
        (["evaluate", "--strategy", "fixed", "--embedder", "word2vec"], "the embedder must be"),
        (["evaluate", "--strategy", "fixed", "--k", "many"], "invalid int value"),
        (["evaluate"], "name a strategy with --strategy: whole, fixed"),
        (["slice"], "invalid choice"),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_line_and_status_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (folder / "empty.md").write_text("  \n")
    (folder / "unusable.csv").write_text("question,passage\nWhat?,Nowhere\n")
    places = {"empty": folder / "empty.md", "file": folder / "docs" / "tanks.md", "folder": folder / "docs",
              "questions": folder / "q.jsonl", "unusable": folder / "unusable.csv"}  # fmt: skip
    try:
        status = chunkscope.main([argument.format(**places) for argument in arguments])
    except SystemExit as stopped:
        status = stopped.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert said in last
    assert "Traceback" not in err


def test_a_missing_model_gets_the_line_that_fetches_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str, **_: object) -> None:
        raise ModelMissing("the model nomic-embed-text is not on the server: ollama pull nomic-embed-text")

    monkeypatch.setattr(cache, "open_embedder", missing)
    assert chunkscope.main(["evaluate", "--strategy", "fixed", "--embedder", "ollama:nomic-embed-text"]) == 2
    assert "ollama pull nomic-embed-text" in capsys.readouterr().err


def test_help_lists_every_strategy_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    from chunking.registry import STRATEGIES

    with pytest.raises(SystemExit):
        chunkscope.main(["--help"])
    shown = capsys.readouterr().out
    for strategy in STRATEGIES.values():
        assert strategy.name in shown
        assert all(f"{parameter.name}=" in shown for parameter in strategy.parameters)


def test_several_sizes_are_given_with_commas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder / "docs" / "tanks.md")
    result = printed(capsys, "cut", file, "--strategy", "multi", "--set", "sizes=3,9", "--json")
    alone = [
        printed(capsys, "cut", file, "--strategy", "recursive", "--set", f"size={size}", "--json") for size in (3, 9)
    ]
    spans = {(chunk["start"], chunk["end"]) for one in alone for chunk in one["chunks"]}
    assert [(chunk["start"], chunk["end"]) for chunk in result["chunks"]] == sorted(spans)


def test_keyword_search_asks_no_model(folder: Path, model: BagOfWords, capsys: pytest.CaptureFixture[str]) -> None:
    trial = printed(capsys, "evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"),
                    "--strategy", "sentence", "--set", "size=6", "--search", "keyword", "--k", "1", "--json")  # fmt: skip
    assert model.seen == {"document": [], "query": []}
    assert [one["rank"] for one in trial["per_question"]] == [1, 1]
    assert trial["truncated_chunks"] == 0


def test_chunks_of_another_tool_are_measured_after_an_audit(
    folder: Path, model: BagOfWords, capsys: pytest.CaptureFixture[str]
) -> None:
    start = TEXT.index("The blue")
    chunks = [{"document": "tanks", "start": start, "end": start + 22}, {"document": "more/birds", "start": 0, "end": 18},
              {"document": "tanks", "start": 5, "end": 5000}]  # fmt: skip
    (folder / "chunks.json").write_text(json.dumps(chunks))
    asked = ("evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"), "--chunks",
             str(folder / "chunks.json"))  # fmt: skip
    assert chunkscope.main((*asked, "--json")) == 0
    out, err = capsys.readouterr()
    trial = json.loads(out)
    assert (trial["chunks"], trial["hit_rate"]) == (2, 1.0)
    assert trial["config"]["strategy"] == "chunks"
    assert trial["config"]["settings"] == {"file": "chunks.json"}
    assert "5000" in err, "what is out of range is reported"
    assert chunkscope.main(asked) == 0
    assert "chunks: 2 chunks of" in capsys.readouterr().out


@pytest.mark.parametrize("more", [["--strategy", "fixed"], ["--set", "size=3"], ["--scope", "body"]])
def test_chunks_that_are_brought_along_cannot_be_cut_again(
    folder: Path, model: BagOfWords, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "chunks.json").write_text('[{"document": "tanks", "start": 0, "end": 7}]')
    asked = ["evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl")]
    assert chunkscope.main([*asked, "--chunks", str(folder / "chunks.json"), *more]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) >= 1


def test_contextual_context_tells_its_price_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "store"))
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        server.reply = lambda prompt: "It is on tanks."
        cutting = (
            "cut",
            str(folder / "docs" / "tanks.md"),
            "--strategy",
            "section",
            "--context",
            "contextual",
            "--json",
        )
        assert chunkscope.main(cutting) == 0
        out, err = capsys.readouterr()
        assert {chunk["prefix"] for chunk in json.loads(out)["chunks"]} == {"It is on tanks."}
        assert "ollama:llama3.2 describes 2 chunks, 0 are described already: 2 calls, at most about" in err
        assert "described 2 of 2" in err
        assert chunkscope.main(cutting) == 0
        assert "describes 0 chunks, 2 are described already" in capsys.readouterr().err
        assert len(server.chats) == 2


def test_contextual_context_without_a_chat_model_says_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert (
        chunkscope.main(["cut", str(folder / "docs" / "tanks.md"), "--strategy", "section", "--context", "contextual"])
        == 2
    )
    assert "needs an Ollama server with a chat model" in capsys.readouterr().err


def test_chunks_without_a_vector_are_counted_and_ranked_last(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Gap(BagOfWords):
        """Has no vector for a text about ravens, and read nothing of it."""

        def vector(self, text: str) -> Sequence[float]:
            return [0.0] * 64 if "Ravens" in text else super().vector(text)

        def read(self, texts: Sequence[str]) -> Ints:
            return np.array([0 if "Ravens" in text else len(text) for text in texts])

    monkeypatch.setattr(chunkscope, "_embedder", lambda *_: Gap())
    asked = ["evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"), "--strategy", "sentence",
             "--set", "size=4", "--json"]  # fmt: skip
    assert chunkscope.main(asked) == 0
    out, err = capsys.readouterr()
    trial = json.loads(out)
    assert trial["unread_chunks"] == 1
    assert "1 chunks have no vector" in err
    missed = trial["per_question"][1]
    assert (missed["reason"], missed["rank"]) == ("truncated", trial["chunks"])


def test_prefixes_of_ones_own_reach_the_server_and_the_trial(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "store"))
    asked = ("evaluate", "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"), "--strategy",
             "section", "--embedder", "ollama:nomic-embed-text", "--query-prefix", "find: ", "--document-prefix", "", "--json")  # fmt: skip
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert chunkscope.main(asked) == 0
        assert {"find: Is the blue tank full?", "Ravens are clever. Slate splits well."} <= set(server.taken)
    assert ", document prefix '', query prefix 'find: '\n" in capsys.readouterr().err


def test_a_language_that_the_model_does_not_know_is_warned_of_after_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "whales.txt").write_text("这是一个关于检索的文章。鲸鱼很大。")
    (tmp_path / "q.csv").write_text("question,passage\n鲸鱼很大吗,鲸鱼很大。\n")
    axes = ("--strategy", "semantic")
    for asked in (
        ("cut", str(tmp_path / "docs" / "whales.txt"), *axes),
        ("evaluate", "--documents", str(tmp_path / "docs"), "--questions", str(tmp_path / "q.csv"), *axes),
    ):
        assert chunkscope.main(asked) == 0
        assert capsys.readouterr().err.count("minilm does not know many of the characters in") == 1


# The store

OLD, NEW = "0" * 11 + "9", "0" * 12


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of the terminal, with rows of models that the double of a server has, or has not."""
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path / "store"))
    store = Store(tmp_path / "store")
    tags = ["minilm, weights 53aa51172d14", f"ollama:all-minilm, digest {NEW}, engine from 0.30, 8d3c18ce",
            f"ollama:all-minilm, digest {OLD}, engine from 0.30, 8d3c18ce",
            f"ollama:hf.co/a,b:x, digest {OLD}, prompt 12345678"]  # fmt: skip
    for number, tag in enumerate(tags, 1):
        store.put_many({f"{number} {row}": bytes(1000) for row in range(number)}, tag)
    return store


def test_cache_prints_folder_size_and_vectors_by_model(stored: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert chunkscope.main(["cache"]) == 0
    folder, size, *models = capsys.readouterr().out.splitlines()
    assert folder == str(stored.folder)
    assert re.fullmatch(r"0\.\d MB", size)
    assert [line.split(" of ")[0].strip() for line in models] == ["1", "2", "3", "4"]
    assert models[0].endswith(" of minilm, weights 53aa51172d14")


def test_what_uninstalled_models_made_is_removed(
    stored: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert chunkscope.main(["cache", "--remove-uninstalled"]) == 0
        out, err = capsys.readouterr()
        assert (
            f"removed 3 of ollama:all-minilm, digest {OLD}, engine from 0.30, 8d3c18ce, which http://{server.host}"
            in err
        )
        assert "removed 4 of ollama:hf.co/a,b:x" in err
        assert len(out.splitlines()) == 4
        assert list(stored.tags().values()) == [1, 2]
        assert chunkscope.main(["cache", "--remove-uninstalled"]) == 0
        assert "nothing to remove" in capsys.readouterr().err


def test_nothing_is_removed_where_the_server_cannot_tell(
    stored: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert chunkscope.main(["cache", "--remove-uninstalled"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "no Ollama server answers at http://127.0.0.1:9" in err
    with OllamaDouble() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        server.digests["all-minilm:latest"] = ""
        assert chunkscope.main(["cache", "--remove-uninstalled"]) == 2
        assert "does not tell the digest of every model" in capsys.readouterr().err
    assert stored.count() == 10


SWEEP = ("sweep", "--strategy", "fixed", "--vary", "size=4,8,12")


def swept(folder: Path, *more: str) -> list[str]:
    return [*SWEEP, "--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl"), *more]


class TestSweep:
    def test_a_table_a_csv_file_and_progress(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert chunkscope.main(swept(folder, "--csv", str(folder / "s.csv"), "--k", "2", "--budget", "9")) == 0
        out, err = capsys.readouterr()
        lines = out.splitlines()
        assert lines[0].split()[:4] == ["size", "chunks", "words/chunk", "whole"]
        assert "hit_rate at 2" in lines[0]
        assert "hit_rate in 9 words" in lines[0]
        assert [line.split()[0] for line in lines[1:]] == ["4", "8", "12"]
        assert "measured 6 of 6" in err
        rows = list(csv.DictReader((folder / "s.csv").read_text().splitlines()))
        assert [(row["size"], row["k"], row["budget"]) for row in rows[:2]] == [("4", "2", ""), ("4", "2", "9")]

    def test_what_a_study_has_is_not_measured_again(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = str(folder / "s.json")
        assert chunkscope.main(swept(folder, "--study", study)) == 0
        first = capsys.readouterr().out
        seen = len(model.seen["document"])
        assert chunkscope.main(swept(folder, "--study", study)) == 0
        assert capsys.readouterr().out == first
        assert len(model.seen["document"]) == seen
        assert chunkscope.main([*swept(folder, "--study", study), "--vary", "overlap=0,1"]) == 0
        assert "measured 6 of 6" in capsys.readouterr().err
        assert len(json.loads(Path(study).read_text())["trials"]) == 12

    def test_stopping_keeps_what_is_done_and_says_how_to_go_on(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = folder / "s.json"

        def stop(sentence: str, last: bool) -> None:
            if sentence == "measured 4 of 6":
                raise KeyboardInterrupt

        monkeypatch.setattr(chunkscope, "_counted", stop)
        assert chunkscope.main(swept(folder, "--study", str(study), "--csv", str(folder / "s.csv"))) == 130
        out, err = capsys.readouterr()
        assert f"4 of 6 trials are measured; the same command measures the rest, {study} has these" in err
        assert [line.split()[0] for line in out.splitlines()[1:]] == ["4", "8"]
        assert len((folder / "s.csv").read_text().splitlines()) == 5
        monkeypatch.undo()
        monkeypatch.setattr(chunkscope, "_embedder", lambda *_: model)
        assert chunkscope.main(swept(folder, "--study", str(study))) == 0
        assert "measured 2 of 2" in capsys.readouterr().err
        assert len(json.loads(study.read_text())["trials"]) == 6

    def test_a_study_is_written_while_its_trials_are_measured(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = folder / "s.json"
        held = []
        measured = chunkscope.record

        def record(*given: object) -> object:
            held.append(len(json.loads(study.read_text())["trials"]) if study.exists() else 0)
            return measured(*given)

        monkeypatch.setattr(chunkscope, "_WRITE_EVERY", 0.0)
        monkeypatch.setattr(chunkscope, "record", record)
        assert chunkscope.main(swept(folder, "--study", str(study))) == 0
        assert held == [0, 1, 2, 3, 4, 5]

    def test_a_study_of_other_documents_is_refused_and_left_as_it_is(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = folder / "s.json"
        assert chunkscope.main(swept(folder, "--study", str(study))) == 0
        before = study.read_bytes()
        (folder / "docs" / "tanks.md").write_text(TEXT + "More.\n")
        capsys.readouterr()
        assert chunkscope.main(swept(folder, "--study", str(study))) == 2
        assert (
            "was measured on something else (1 document changed: tanks.md): name another file"
            in capsys.readouterr().err
        )
        assert study.read_bytes() == before

    def test_other_versions_are_named(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = folder / "s.json"
        assert chunkscope.main(swept(folder, "--study", str(study))) == 0
        value = json.loads(study.read_text())
        value["versions"]["numpy"] = "0.1"
        study.write_text(json.dumps(value))
        capsys.readouterr()
        assert chunkscope.main(swept(folder, "--study", str(study))) == 0
        assert "was measured with other versions: numpy was 0.1 and is " in capsys.readouterr().err

    def test_with_and_without_summaries(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "docs" / "tanks.md").write_text(TEXT + "\n## Summary\n\nRavens are not tanks.\n")
        assert chunkscope.main(swept(folder, "--summaries")) == 0
        out, err = capsys.readouterr()
        assert [line.split()[1] for line in out.splitlines()[1:7]] == ["kept"] * 3 + ["removed"] * 3
        assert "0 questions are answered in a summary and are left out of both arms" in err
        assert chunkscope.main(swept(folder, "--summaries", "pumps,birds")) == 0
        assert chunkscope.main(swept(folder, "--summaries", "birds")) == 2
        assert "no document has a section headed birds" in capsys.readouterr().err

    def test_settings_that_cut_identically_are_named(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert chunkscope.main([*swept(folder), "--vary", "size=4,90,99"]) == 0
        assert "size 90 and size 99 cut identically" in capsys.readouterr().out.splitlines()

    def test_combinations_that_are_refused_are_told(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert chunkscope.main([*swept(folder), "--vary", "overlap=0,4"]) == 0
        assert (
            "left out: fixed: overlap must be at least 0 and below size, got overlap 4 and size 4"
            in capsys.readouterr().err
        )

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            (["--vary", "size"], "--vary takes NAME=VALUE, got 'size'"),
            (["--vary", "size=4:1:1"], "size must be low:high:step with a step above 0, got '4:1:1'"),
            (["--vary", "colour=red"], "no strategy of this sweep (fixed) has a setting 'colour'"),
            (["--measure", "hits"], "measure must be one of questions"),
            (["--csv", "nowhere/s.csv"], "there is no folder nowhere for s.csv"),
            (["--vary", "strategy=fixt"], "strategy 'fixt' is not known: did you mean fixed?"),
        ],
    )
    def test_wrong_input_is_one_line(
        self, model: BagOfWords, folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], sentence: str
    ) -> None:
        assert chunkscope.main([*swept(folder), *more]) == 2
        out, err = capsys.readouterr()
        assert (out, sentence in err.splitlines()[-1]) == ("", True)
