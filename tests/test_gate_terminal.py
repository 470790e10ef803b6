"""`chunkscope.py compare` and `check`: what they print, and the status they end with, on a small corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chunkscope
from chunking.recorded import compare_records, left_out, shared_questions
from data.studies import read_trials
from tests.fakes import BagOfWords

PLACES = ("harbour", "mill", "quarry", "orchard", "tower", "shop", "chapel", "ferry", "kiln", "forge", "bakery", "market", "brewery", "tannery")  # fmt: skip


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> BagOfWords:
    fake = BagOfWords()
    monkeypatch.setattr(chunkscope, "_embedder", lambda *_: fake)
    return fake


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fourteen documents with one question each, whose passage is the first of two sentences of six words."""
    (tmp_path / "docs").mkdir()
    for place in PLACES:
        text = f"The old {place} opens at dawn. Nobody goes there in deep winter."
        (tmp_path / "docs" / f"{place}.txt").write_text(text)
    rows = [{"id": f"q-{place}", "question": f"When does the {place} open?", "passage": f"The old {place} opens at dawn."}
            for place in PLACES]  # fmt: skip
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def on(folder: Path) -> list[str]:
    return ["--documents", str(folder / "docs"), "--questions", str(folder / "q.jsonl")]


def study(folder: Path, *more: str, name: str = "s.json") -> str:
    path = str(folder / name)
    assert chunkscope.main(["sweep", *on(folder), "--study", path, "--k", "1", "--budget", "30", *more]) == 0
    return path


def checked(folder: Path, path: str, *more: str) -> int:
    return chunkscope.main(["check", path, *on(folder), "--margin", "0.05", *more])


class TestCheck:
    def test_the_same_again_passes(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6")
        capsys.readouterr()
        assert checked(folder, path) == 0
        assert capsys.readouterr().out.splitlines() == [
            "Nothing has changed: each of the 14 questions is sent the same.",
            f"against {json.loads(Path(path).read_text())['trials'][0]['id']}: found the same 14 of 14",
            "changed: nothing that is known",
        ]

    def test_a_cut_through_every_passage_is_worse_beyond_chance(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6")
        capsys.readouterr()
        assert checked(folder, path, "--set", "size=4") == 1
        out = capsys.readouterr().out.splitlines()
        assert out[0] == "The hit rate is worse beyond chance: it is 100 points lower, p < 0.001."
        assert "changed: size was 6 and is 4" in out
        assert out[-1] == "lost: " + ", ".join(f"q-{place}" for place in PLACES)

    def test_a_loss_of_a_few_cannot_be_told(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6")
        for place in PLACES[:2]:
            (folder / "docs" / f"{place}.txt").write_text(f"Hi. The old {place} opens at dawn. Nobody goes there.")
        capsys.readouterr()
        assert checked(folder, path) == 3
        out = capsys.readouterr().out.splitlines()
        assert out[0].startswith(
            "It cannot be told whether more than 5 points are lost: the hit rate is 14.3 points lower"
        )
        assert "changed: 2 documents changed: harbour.txt, mill.txt" in out
        assert "changed: 2 questions changed: q-harbour, q-mill" in out
        assert out[-1] == "lost: q-harbour, q-mill"

    def test_the_baseline_is_the_first_or_the_one_named(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = study(folder, "--strategy", "fixed", "--vary", "size=4,6")
        split, held = (one["id"] for one in json.loads(Path(path).read_text())["trials"][::2])
        assert checked(folder, path, "--set", "size=4") == 0
        assert checked(folder, path, "--set", "size=4", "--baseline", held) == 1
        assert checked(folder, path, "--set", "size=6", "--baseline", split) == 0
        capsys.readouterr()
        assert checked(folder, path, "--baseline", "nought") == 2
        assert f"--baseline must be the id of one of 4 trials ({split}" in capsys.readouterr().err.splitlines()[-1]

    def test_what_is_not_named_is_as_in_the_baseline(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = study(
            folder,
            "--strategy",
            "fixed",
            "--set",
            "size=6",
            "--scope",
            "section",
            "--search",
            "keyword",
            "--vary",
            "k=3",
        )
        capsys.readouterr()
        assert checked(folder, path, "--json") == 0
        now = json.loads(capsys.readouterr().out)
        assert now["trial"]["id"] == now["baseline"]
        assert (now["status"], now["changed"], now["left_out"]) == (0, [], [])
        assert checked(folder, path, "--strategy", "sentence", "--set", "size=6", "--budget", "20", "--json") == 0
        now = json.loads(capsys.readouterr().out)["trial"]["config"]
        assert {name: now[name] for name in ("strategy", "scope", "search", "k", "budget")} == {
            "strategy": "sentence", "scope": "section", "search": "keyword", "k": 3, "budget": 20,
        }  # fmt: skip

    def test_chunks_of_another_tool_are_audited_and_checked(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6", "--scope", "section")
        texts = {place: (folder / "docs" / f"{place}.txt").read_text() for place in PLACES}
        chunks = [{"document": f"{place}.txt", "start": 0, "end": text.index(".") + 1, "text": text[: text.index(".") + 1]}
                  for place, text in texts.items()]  # fmt: skip
        (folder / "c.json").write_text(json.dumps([*chunks, {"document": "mill.txt", "start": 0, "end": 999}]))
        capsys.readouterr()
        assert checked(folder, path, "--chunks", str(folder / "c.json")) == 0
        out, err = capsys.readouterr()
        assert "changed: strategy was fixed and is chunks" in out
        assert "chunk 15" in err

    def test_questions_that_are_gone_or_new_are_left_out_and_named(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6")
        rows = (folder / "q.jsonl").read_text().splitlines()
        (folder / "q.jsonl").write_text("\n".join([*rows[1:], rows[0].replace("q-harbour", "q-new")]))
        capsys.readouterr()
        assert checked(folder, path) == 0
        out = capsys.readouterr().out
        assert "found the same 13 of 13" in out
        assert "asked of one alone and left out: q-harbour, q-new" in out

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            (["--margin", "5"], "margin must be at least 0 and below 1, got 5.0"),
            (["--margin", "few"], "argument --margin: invalid float value: 'few'"),
            (["--set", "size=0"], "size must be from 1"),
            (["--measure", "words_sent"], "argument --measure: invalid choice: 'words_sent'"),
            (["--questions", "nowhere.jsonl"], "nowhere.jsonl"),
            (["--chunks", "nowhere.json", "--strategy", "fixed"], "give --chunks or a strategy"),
        ],
    )
    def test_wrong_input_is_one_line_and_status_2(
        self, folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], sentence: str
    ) -> None:
        path = study(folder, "--strategy", "fixed", "--set", "size=6")
        capsys.readouterr()
        try:
            status = checked(folder, path, *more)
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert sentence in err

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (None, "there is no file"),
            ("{", "Expecting property name"),
            ("[]", "a study must be a JSON object with a format"),
            ('{"format": 1, "documents": {}, "questions": {}, "clusters": {}, "versions": {}, "trials": []}', "it has no trial"),
        ],
    )  # fmt: skip
    def test_a_file_that_is_no_study_is_status_2(
        self, folder: Path, capsys: pytest.CaptureFixture[str], text: str | None, sentence: str
    ) -> None:
        path = folder / "s.json"
        if text is not None:
            path.write_text(text)
        assert checked(folder, str(path)) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines()), sentence in err) == ("", 1, True)


class TestCompare:
    def evaluated(self, folder: Path, size: int, capsys: pytest.CaptureFixture[str]) -> str:
        capsys.readouterr()
        asked = ["evaluate", *on(folder), "--strategy", "fixed", "--set", f"size={size}", "--k", "1", "--json"]
        assert chunkscope.main(asked) == 0
        path = folder / f"e{size}.json"
        path.write_text(capsys.readouterr().out)
        return str(path)

    def test_two_studies_in_a_table_with_differences_and_a_verdict(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = study(folder, "--strategy", "fixed", "--set", "size=4", "--vary", "k=1", name="a.json")
        second = study(folder, "--strategy", "fixed", "--set", "size=6", "--vary", "k=1", name="b.json")
        capsys.readouterr()
        assert chunkscope.main(["compare", first, second]) == 0
        out, err = capsys.readouterr()
        lines = out.splitlines()
        assert err == ""
        assert lines[0].split()[0] == "size"
        assert "(size 6): found 14 more and lost none of 14; unlikely to be chance, p < 0.001" in out
        assert lines[-4:] == [
            "Best hit rate: size 6, 100.0%.",
            "Cannot be told from the best: none.",
            "Ruled out: size 4 (100 points behind, at most 100 points).",
            "On documents held out from the choosing, the one chosen as best gives 100.0% (95% interval 100.0% to 100.0%).",
        ]

    def test_what_evaluate_prints_can_be_compared_and_what_it_lacks_is_said(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = [self.evaluated(folder, size, capsys) for size in (4, 6)]
        assert chunkscope.main(["compare", *files, "--json"]) == 0
        out, err = capsys.readouterr()
        (found,) = json.loads(out)["differences"].values()
        assert (len(found["won"]), found["lost"], found["too_narrow"]) == (14, [], False)
        assert [line.split(" is ")[-1] for line in err.splitlines()] == ["one trial without hashes: its questions are known by their ids alone"] * 2  # fmt: skip

    def test_without_documents_questions_are_taken_as_independent_and_it_is_said(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = [self.evaluated(folder, size, capsys) for size in (4, 6)]
        for path in files:
            value = json.loads(Path(path).read_text())
            for row in value["per_question"]:
                del row["document"]
            Path(path).write_text(json.dumps(value))
        assert chunkscope.main(["compare", *files]) == 0
        out, err = capsys.readouterr()
        assert "fewer than ten documents carry questions, so this is surer than it should be" in out
        assert f"{files[0]} does not name the document of every question: they are taken as independent" in err

    def test_studies_of_other_documents_are_told_apart(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first = study(folder, "--strategy", "fixed", "--set", "size=4", name="a.json")
        (folder / "docs" / "mill.txt").write_text("The old mill opens at dawn. Or not.")
        second = study(folder, "--strategy", "fixed", "--set", "size=6", name="b.json")
        capsys.readouterr()
        assert chunkscope.main(["compare", first, second]) == 0
        assert f"{second} differs from {first}: 1 document changed: mill.txt" in capsys.readouterr().err

    def test_one_trial_is_no_comparison(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = self.evaluated(folder, 4, capsys)
        assert chunkscope.main(["compare", path, path]) == 2
        assert "a comparison needs at least two trials, and these files have one" in capsys.readouterr().err

    def test_trials_without_a_common_question_are_refused(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = self.evaluated(folder, 4, capsys)
        (folder / "q.jsonl").write_text((folder / "q.jsonl").read_text().replace('"q-', '"z-'))
        second = self.evaluated(folder, 6, capsys)
        assert chunkscope.main(["compare", first, second]) == 2
        assert "these have none in common" in capsys.readouterr().err

    @pytest.mark.parametrize("gone", ["config", "misses", "per_question", "coverage"])
    def test_a_trial_that_lacks_something_is_refused_with_its_name(
        self, folder: Path, capsys: pytest.CaptureFixture[str], gone: str
    ) -> None:
        path = self.evaluated(folder, 4, capsys)
        value = json.loads(Path(path).read_text())
        del value[gone]
        Path(path).write_text(json.dumps(value))
        assert chunkscope.main(["compare", path, path]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"chunkscope: {path}: a ")

    def test_records_are_compared_as_their_trials_are(self, folder: Path) -> None:
        records = read_trials(Path(study(folder, "--strategy", "fixed", "--vary", "size=4,5,6"))).records
        coverage, hit = (compare_records(records[1:], records[0], name) for name in ("coverage", "hit"))
        assert [one.mean for one in coverage] == pytest.approx(
            [one["coverage"] - records[0]["coverage"] for one in records[1:]]
        )
        assert [one.mean for one in hit] == pytest.approx(
            [one["hit_rate"] - records[0]["hit_rate"] for one in records[1:]]
        )
        fewer = {**records[1], "per_question": records[1]["per_question"][3:]}
        assert len(shared_questions([records[0], fewer])) == 11
        assert left_out([records[0], fewer]) == ["q-harbour", "q-mill", "q-quarry"]
