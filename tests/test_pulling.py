"""Fetching a model through a server, against its double: progress, errors in the stream, and a cancel that ends it."""

import time
from collections.abc import Callable, Iterator

import pytest

from cache.pulling import Pull, Pulls
from tests.ollama_double import OllamaDouble, pulled


@pytest.fixture
def server() -> Iterator[OllamaDouble]:
    with OllamaDouble() as double:
        del double.models["nomic-embed-text:latest"]
        yield double


def ended(pull: Pull) -> Pull:
    pull.join()
    return pull


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_model_is_fetched_and_its_parts_are_counted_together(server: OllamaDouble) -> None:
    pull = ended(Pulls().begin(server.host, " nomic-embed-text:latest "))
    assert (pull.problem, pull.running, pull.cancelled) == ("", False, False)
    assert (pull.done, pull.total) == (274_000_000, 274_000_000)
    assert "nomic-embed-text:latest" in server.models


def test_progress_is_told_while_it_runs(server: OllamaDouble) -> None:
    server.pull_wait = 0.1
    pull = Pulls().begin(server.host, "nomic-embed-text")
    until(lambda: pull.done)
    assert pull.running
    assert pull.done < pull.total
    assert pull.status == "pulling aaaa"
    pull.cancel()
    pull.join()


def test_cancelling_ends_the_connection_even_while_the_server_is_silent(server: OllamaDouble) -> None:
    server.pull_wait = 1.0
    pulls = Pulls()
    pull = pulls.begin(server.host, "nomic-embed-text")
    until(lambda: server.pulls)
    start = time.monotonic()
    pull.cancel()
    pull.join()
    assert time.monotonic() - start < 0.8, "it does not wait for the next line"
    assert pull.cancelled
    assert not pull.problem
    until(lambda: server.pulls_left == 1)
    assert "nomic-embed-text:latest" not in server.models
    server.pull_wait = 0.0
    assert not ended(pulls.begin(server.host, "nomic-embed-text")).cancelled


def test_a_model_is_fetched_once_however_many_ask(server: OllamaDouble) -> None:
    server.pull_wait = 0.05
    pulls = Pulls()
    first = pulls.begin(server.host, "nomic-embed-text")
    assert pulls.begin(f"http://{server.host}", "nomic-embed-text:latest") is first
    until(lambda: server.pulls)
    assert (pulls.running(server.host), pulls.ended(server.host)) == ([first], 0)
    first.cancel()
    first.join()
    assert (pulls.running(server.host), pulls.ended(server.host)) == ([], 1)
    assert len(server.pulls) == 1


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([{"status": "pulling manifest"}, {"error": "max retries\n exceeded"}], "could not fetch nomic-embed-text: max retries exceeded"),
        ([{"status": "pulling manifest"}], "broke off while it fetched nomic-embed-text"),
        ([5], "is not an Ollama server"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_the_stream_is_said(server: OllamaDouble, lines: list, problem: str) -> None:
    server.pull_lines = lines
    assert problem in ended(Pulls().begin(server.host, "nomic-embed-text")).problem


def test_a_name_that_there_is_not_another_site_and_no_server_are_told(server: OllamaDouble) -> None:
    assert "there is no model of that name" in ended(Pulls().begin(server.host, "nomic-embed")).problem
    server.html = True
    assert "is not an Ollama server" in ended(Pulls().begin(server.host, "nomic-embed-text")).problem
    assert "no Ollama server answers at http://127.0.0.1:1" in ended(Pulls().begin("127.0.0.1:1", "x")).problem
    with pytest.raises(ValueError, match="name the model"):
        Pulls().begin(server.host, " ")


def test_lines_without_totals_and_with_nulls_do_no_harm(server: OllamaDouble) -> None:
    server.pull_lines = [{"status": None}, {"status": "pulling a", "digest": "a", "total": None, "completed": None},
                         {"status": "success"}]  # fmt: skip
    pull = ended(Pulls().begin(server.host, "nomic-embed-text"))
    assert (pull.problem, pull.done, pull.total) == ("", 0, 0)


def test_no_key_goes_to_a_typed_address(server: OllamaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.host)
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    ended(Pulls().begin(f"http://user:pass@{server.host}", "nomic-embed-text", typed=True))
    assert [headers.get("authorization") for headers in server.headers] == [None]
    ended(Pulls().begin(server.host, "nomic-embed-text"))
    assert server.headers[-1]["authorization"] == "Bearer secret"


def test_the_double_says_what_a_server_says() -> None:
    lines = pulled(1000)
    assert lines[0] == {"status": "pulling manifest"}
    assert lines[-1] == {"status": "success"}
    assert {line.get("total") for line in lines} == {None, 600, 400}
