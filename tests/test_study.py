"""Studies: ids from content, the round trip through JSON, what differs is named, no text is in them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from chunking.experiment import run
from chunking.index import Config
from chunking.study import FORMAT, Study, config_object, config_of, record, trial_id, trial_object
from chunking.types import Corpus, Document, Passage, Question
from data.report import ReadError
from data.studies import read_study, versions, write_csv, write_study
from tests.fakes import BagOfWords

TANKS = Document("tanks.md", "# Tanks\n\nThe blue tank is full. The red one is empty.\n", title="Tanks")
BIRDS = Document("birds.txt", "Ravens are clever. Slate splits well.", markdown=False)
QUESTION = Question("q1", "Is it full?", ((Passage("tanks.md", 9, 31),),))
OTHER = Question("q2", "Which bird?", ((Passage("birds.txt", 0, 18),),))
CORPUS = Corpus((TANKS, BIRDS), (QUESTION, OTHER))
CONFIGS = (
    Config.of("fixed", {"size": 6, "overlap": 2}),
    Config.of("multi", {"sizes": [4, 8]}, budget=12, scope="section", context="title"),
)


def study_of(corpus: Corpus = CORPUS) -> Study:
    study, embed = Study.of(corpus, {"engine": "1"}), BagOfWords()
    for config in CONFIGS:
        study.add(record(run(corpus, config, embed), embed))
    return study


@pytest.mark.parametrize("config", CONFIGS)
def test_a_configuration_goes_through_json_and_back(config: Config) -> None:
    assert config_of(json.loads(json.dumps(config_object(config)))) == config


def test_a_study_goes_through_a_file_and_back(tmp_path: Path) -> None:
    study = study_of()
    write_study(tmp_path / "s.json", study)
    again = read_study(tmp_path / "s.json")
    assert again.to_object() == json.loads(json.dumps(study.to_object()))
    assert again.changes(CORPUS, {"engine": "1"}) == ([], [])
    assert again.clusters == {"q1": "tanks.md", "q2": "birds.txt"}
    assert [file.name for file in tmp_path.iterdir()] == ["s.json"]


def test_an_id_is_made_of_all_that_a_trial_depends_on() -> None:
    first, second = CONFIGS
    base = trial_id(CORPUS, first, "minilm 1")
    assert trial_id(Corpus((TANKS, BIRDS), (QUESTION, OTHER)), replace(first), "minilm 1") == base
    changed = [
        trial_id(CORPUS, second, "minilm 1"),
        trial_id(CORPUS, replace(first, k=4), "minilm 1"),
        trial_id(CORPUS, first, "minilm 2"),
        trial_id(Corpus((replace(TANKS, text=TANKS.text + "!"), BIRDS), CORPUS.questions), first, "minilm 1"),
        trial_id(Corpus((replace(TANKS, title="Tank"), BIRDS), CORPUS.questions), first, "minilm 1"),
        trial_id(Corpus((TANKS, replace(BIRDS, markdown=True)), CORPUS.questions), first, "minilm 1"),
        trial_id(Corpus((TANKS, BIRDS), (QUESTION,)), first, "minilm 1"),
        trial_id(Corpus((TANKS, BIRDS), (QUESTION, replace(OTHER, text="Who?"))), first, "minilm 1"),
        trial_id(Corpus((TANKS, BIRDS), (QUESTION, replace(OTHER, needs=((Passage("birds.txt", 0, 17),),)))), first, "minilm 1"),
    ]  # fmt: skip
    assert len({base, *changed}) == 1 + len(changed)
    assert len(base) == 16


def test_a_record_has_the_object_of_its_trial_with_intervals_and_the_hash_of_its_cut() -> None:
    embed = BagOfWords()
    trial = run(CORPUS, CONFIGS[0], embed)
    kept, whole = record(trial, embed, "summaries kept"), trial_object(trial)
    assert {name: kept[name] for name in whole if name != "lost"} == {
        name: whole[name] for name in whole if name != "lost"
    }
    assert (kept["arm"], kept["embedder"], kept["id"]) == (
        "summaries kept",
        embed.identity,
        trial_id(CORPUS, CONFIGS[0], embed.identity),
    )
    assert kept["intervals"]["hit_rate"] == whole["hit_rate_interval"]
    assert kept["whole_share"] == 1 - whole["split_share"]
    for name, (low, high) in kept["intervals"].items():
        assert low <= kept[name] <= high, name


def test_no_text_of_a_document_or_question_is_in_a_study() -> None:
    trial = run(CORPUS, CONFIGS[0], BagOfWords())
    trial.index.lost.extend([("birds.txt", "Ravens are"), ("birds.txt", "clever")])
    study = Study.of(CORPUS, {})
    study.add(record(trial, BagOfWords()))
    written = json.dumps(study.to_object())
    for word in ("blue", "Ravens", "clever", "full", "Which"):
        assert word not in written
    assert '"lost": [{"document": "birds.txt", "texts": 2}]' in written
    assert '"sent": [["' in written


def test_what_differs_is_named() -> None:
    now = Corpus(
        (replace(TANKS, text="# Tanks\n\nThe blue tank is full."), Document("new.md", "New.")),
        (QUESTION, replace(OTHER, text="Who?")),
    )
    content, other = study_of().changes(now, {"engine": "2", "numpy": "3"})
    assert content == [
        "1 document gone: birds.txt",
        "1 document new: new.md",
        "1 document changed: tanks.md",
        "1 question changed: q2",
    ]
    assert other == ["engine was 1 and is 2", "numpy was absent and is 3"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "Expecting property name"),
        ("[]", "a study must be a JSON object with a format, as sweep --study writes it"),
        (json.dumps({"format": FORMAT + 1}), "a newer Chunkscope wrote it"),
        (json.dumps({"format": 1, "documents": {}, "questions": {}, "clusters": {}, "versions": {}}), "this lacks 'trials'"),
        (json.dumps({"format": 1, "documents": {}, "questions": {}, "clusters": {}, "versions": {}, "trials": [{"id": "x", "config": {"strategy": "fixed"}}]}),
         "a configuration must have a strategy"),
        (json.dumps({"format": 1, "documents": {}, "questions": {}, "clusters": {}, "versions": {},
                     "trials": [{"config": config_object(CONFIGS[0])}]}), "this lacks 'id'"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_study_gets_one_sentence_with_its_name(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(ReadError) as error:
        read_study(path)
    assert str(error.value).startswith(f"study {path}: ")
    assert sentence in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no file"):
        read_study(tmp_path / "s.json")


def test_csv_has_every_figure_and_interval_in_one_row_for_each_trial(tmp_path: Path) -> None:
    study = study_of()
    write_csv(tmp_path / "s.csv", study.trials.values())
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    fixed, multi = rows
    assert (fixed["strategy"], fixed["size"], fixed["overlap"], fixed["sizes"]) == ("fixed", "6", "2", "")
    assert (multi["strategy"], multi["size"], multi["sizes"], multi["budget"]) == ("multi", "", "4 8", "12")
    kept = next(iter(study.trials.values()))
    assert float(fixed["hit_rate"]) == kept["hit_rate"]
    assert [float(fixed["coverage_low"]), float(fixed["coverage_high"])] == kept["intervals"]["coverage"]
    assert fixed["misses_split"] == str(kept["misses"]["split"])
    assert fixed["hit_at_10"] == str(kept["hit_at"]["10"])
    assert "per_question" not in fixed


def test_versions_name_what_numbers_depend_on() -> None:
    found = versions()
    assert found["engine"] == "1"
    assert {"python", "numpy", "sentencex", "tokenizers"} <= found.keys()
