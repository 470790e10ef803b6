"""The store keeps bytes as they were, runs nothing that it finds, and lets work go on when it cannot be used."""

import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cache import store as store_module
from cache.store import Store, default_folder

ROOT = Path(__file__).parents[1]
TAG = "minilm, weights 53aa51172d14"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The finished process of a script with the project's folder in its path."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def inside(store: Store) -> Any:
    """diskcache's own object."""
    return store._cache


def test_what_is_put_comes_back(store: Store) -> None:
    store.put_many({"a": b"one", "b": b"\0\xff" * 40_000}, TAG)
    assert store.get_many(["a", "b", "c"]) == {"a": b"one", "b": b"\0\xff" * 40_000}
    assert store.count() == 2
    assert store.volume() > 80_000
    assert store.warnings == []


def test_it_is_there_for_the_next_process(tmp_path: Path) -> None:
    Store(tmp_path).put_many({"a": b"one"}, TAG)
    script = "import sys; from cache.store import Store; print(Store(sys.argv[1]).get_many(['a']))"
    assert run(script, tmp_path).stdout.strip() == "{'a': b'one'}"


def test_a_later_value_replaces_the_earlier(store: Store) -> None:
    store.put_many({"a": b"one"}, TAG)
    store.put_many({"a": b"two"}, TAG)
    assert store.get_many(["a"]) == {"a": b"two"}
    assert store.count() == 1


def test_nothing_is_ever_evicted(store: Store) -> None:
    inside(store).reset("size_limit", 10_000)
    for batch in range(10):
        store.put_many({f"{batch} {index}": bytes(500) for index in range(20)}, TAG)
    assert store.count() == 200
    assert len(store.get_many(f"{batch} {index}" for batch in range(10) for index in range(20))) == 200


def test_rows_are_counted_and_removed_by_model(store: Store) -> None:
    store.put_many({f"{index}": bytes(3000) for index in range(1000)}, "ollama:old")
    store.put_many({"b": b"two"}, TAG)
    assert store.tags() == {"ollama:old": 1000, TAG: 1}
    before = store.volume()
    assert store.remove("ollama:old") == 1000
    assert store.remove("ollama:unheard") == 0
    assert store.tags() == {TAG: 1}
    assert store.get_many(["0", "b"]) == {"b": b"two"}
    assert store.volume() < before / 10


def test_ten_thousand_vectors_are_read_within_half_a_second(store: Store) -> None:
    keys = [f"{index:064x}" for index in range(10_000)]
    store.put_many(dict.fromkeys(keys, bytes(12 + 4 * 768)), TAG)
    fastest = 9.0
    for _ in range(3):
        again = Store(store.folder)
        start = time.perf_counter()
        assert len(again.get_many(keys)) == 10_000
        fastest = min(fastest, time.perf_counter() - start)
    assert fastest < 0.5


def test_the_folder_is_private_also_where_it_was_not(tmp_path: Path) -> None:
    for folder in (tmp_path / "new", tmp_path / "old"):
        if folder.name == "old":
            folder.mkdir(mode=0o755)
        Store(folder).close()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_with_other_things_keeps_its_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "letter.txt").write_text("mine")
    Store(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_the_default_folder_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKSCOPE_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("CHUNKSCOPE_CACHE")
    assert default_folder() == ROOT / "cache" / "store"


# Hostile and damaged rows


class Bomb:
    """Unpickled, it makes a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple:
        return Path.touch, (self.target,)


def edit(store: Store, statement: str, *values: object) -> None:
    """Changes the database behind the store's back."""
    with closing(sqlite3.connect(store.folder / "cache.db")) as connection, connection:
        assert connection.execute(statement, values).rowcount > 0


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_a_planted_pickle_is_not_run(store: Store, tmp_path: Path, mode: int) -> None:
    target = tmp_path / "ran"
    payload = pickle.dumps(Bomb(target))
    pickle.loads(payload)
    assert target.exists(), "the payload would work"
    target.unlink()
    store.put_many({"a": b"one"}, TAG)
    edit(store, "UPDATE Cache SET mode = ?, value = ? WHERE key = 'a'", mode, payload)
    assert store.get_many(["a"]) == {}
    assert not target.exists()


def test_a_planted_pickled_key_is_not_run(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "ran"
    store.put_many({"a": b"one"}, TAG)
    edit(store, "UPDATE Cache SET key = ?, raw = 0", pickle.dumps(Bomb(target)))
    with pytest.raises(store_module.CorruptEntry):
        list(inside(store))
    assert store.get_many(["a"]) == {}
    assert not target.exists()


def test_a_row_that_names_a_file_is_neither_read_nor_does_it_delete_the_file(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"mine")
    store.put_many({"a": b"one"}, TAG)
    edit(store, "UPDATE Cache SET mode = 2, filename = ?, value = NULL", str(secret))
    assert store.get_many(["a"]) == {}
    store.put_many({"a": b"two"}, TAG)
    assert store.get_many(["a"]) == {"a": b"two"}
    assert secret.read_bytes() == b"mine"


def test_only_text_keys_and_bytes_are_taken(store: Store) -> None:
    with pytest.raises(TypeError, match="a value must be bytes, got list"):
        store.put_many({"a": [1]}, TAG)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a key must be text, got tuple"):
        store.put_many({("a",): b"one"}, TAG)  # type: ignore[dict-item]


@pytest.mark.parametrize("place", [0, 2, 6, 8])
def test_a_flipped_byte_is_a_miss_and_can_be_written_again(store: Store, place: int) -> None:
    store.put_many({"a": b"one", "b": b"two"}, TAG)
    (value,) = sqlite3.connect(store.folder / "cache.db").execute("SELECT value FROM Cache WHERE key = 'a'").fetchone()
    flipped = bytearray(value)
    flipped[place] ^= 1
    edit(store, "UPDATE Cache SET value = ? WHERE key = 'a'", bytes(flipped))
    assert store.get_many(["a", "b"]) == {"b": b"two"}
    store.put_many({"a": b"one"}, TAG)
    assert store.get_many(["a"]) == {"a": b"one"}


# Databases that cannot be used


@pytest.mark.parametrize("content", [b"this is no database, but a letter" * 200, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_database_is_moved_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cache.db").write_bytes(content)
    store = Store(tmp_path)
    (aside,) = tmp_path.glob("cache.db.corrupt-*")
    assert aside.read_bytes() == content
    assert len(store.warnings) == 1
    assert "was damaged" in store.warnings[0]
    assert aside.name in store.warnings[0]
    store.put_many({"a": b"one"}, TAG)
    assert Store(tmp_path).get_many(["a"]) == {"a": b"one"}


def test_foreign_settings_are_moved_aside(store: Store) -> None:
    store.put_many({"a": b"one"}, TAG)
    edit(store, "INSERT INTO Settings VALUES ('disk_unheard_of', 1)")
    again = Store(store.folder)
    assert len(list(store.folder.glob("cache.db.corrupt-*"))) == 1
    assert "was damaged" in again.warnings[0]
    again.put_many({"b": b"two"}, TAG)
    assert again.get_many(["a", "b"]) == {"b": b"two"}


def test_a_database_that_breaks_while_open_is_replaced(store: Store) -> None:
    store.put_many({f"{index}": bytes(2000) for index in range(200)}, TAG)
    inside(store)._sql("PRAGMA wal_checkpoint(TRUNCATE)")
    size = (store.folder / "cache.db").stat().st_size
    store.close()
    with (store.folder / "cache.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    assert store.get_many(["1"]) == {}
    store.put_many({"a": b"one"}, TAG)
    assert store.get_many(["a"]) == {"a": b"one"}
    assert list(store.folder.glob("cache.db.corrupt-*"))
    assert any("was damaged" in warning for warning in store.warnings)


def test_one_damaged_page_does_not_take_other_rows_along(store: Store) -> None:
    keys = [f"{index}" for index in range(200)]
    store.put_many({key: key.encode() * 10_000 for key in keys}, TAG)
    inside(store)._sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    data = (store.folder / "cache.db").read_bytes()
    page = data.index(b"77" * 2000) // 4096  # inside the value of one row
    (store.folder / "cache.db").write_bytes(data[: page * 4096] + bytes(4096) + data[(page + 1) * 4096 :])
    found = Store(store.folder).get_many(keys)
    assert 195 <= len(found) < 200
    assert all(value == key.encode() * 10_000 for key, value in found.items())


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file" / "store")
    store.put_many({"a": b"one"}, TAG)
    assert store.get_many(["a"]) == {}
    assert store.count() == store.volume() == store.remove(TAG) == 0
    assert store.tags() == {}
    assert len(store.warnings) == 1
    assert "cannot be used" in store.warnings[0]
    assert "kept in memory only" in store.warnings[0]
    store.close()


READ_ONLY = """
import os, sys
from pathlib import Path
from cache.store import Store
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)  # nobody: permissions do not bind root
store = Store(folder)
store.put_many({"b": b"two"}, "tag")
print(store.get_many(["a", "b"]), len(store.warnings), store.warnings)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of folders are a matter of Unix")
def test_a_read_only_folder_is_done_without() -> None:
    with tempfile.TemporaryDirectory() as name:  # not below pytest's own folder, where nobody else may go
        folder = Path(name)
        Store(folder).close()
        folder.chmod(0o555)
        (folder / "cache.db").chmod(0o444)
        done = run(READ_ONLY, folder)
        folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{} 1 ")
    assert "cannot be used" in done.stdout


FULL = """
import resource, sys
from cache.store import Store
store = Store(sys.argv[1])
store.put_many({"a": b"one"}, "tag")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for index in range(5):
    store.put_many({f"{index} {part}": bytes(20_000) for part in range(20)}, "tag")
print(store.get_many(["a"]), len(store.warnings), store.warnings)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limit that stands for a full disk is a matter of Unix")
def test_a_full_disk_ends_the_writing_but_not_the_work(tmp_path: Path) -> None:
    done = run(FULL, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'a': b'one'} 1 ")
    assert "could not be stored" in done.stdout


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for a lock for a moment only."""
    monkeypatch.setattr(store_module, "WAIT", 0.2)


@pytest.mark.usefixtures("brief")
def test_a_database_locked_by_another_does_not_hold_up_the_work(store: Store) -> None:
    own = Store(store.folder)
    with closing(sqlite3.connect(store.folder / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        own.put_many({"a": b"one"}, TAG)
        late = Store(store.folder)
        other.execute("ROLLBACK")
    assert own.get_many(["a"]) == {}
    assert len(own.warnings) == 1
    assert "could not be stored" in own.warnings[0]
    assert len(late.warnings) == 1
    assert "locked" in late.warnings[0]


@pytest.mark.usefixtures("brief")
def test_writing_is_taken_up_again_after_a_rest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Store(store.folder)
    with closing(sqlite3.connect(store.folder / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        own.put_many({"a": b"one"}, TAG)
        other.execute("ROLLBACK")
    own.put_many({"b": b"two"}, TAG)
    assert own.get_many(["b"]) == {}, "it rests"
    monkeypatch.setattr(own, "_rest_until", 0.0)
    own.put_many({"b": b"two"}, TAG)
    assert own.get_many(["b"]) == {"b": b"two"}


# Company

WRITER = """
import sys
from cache.store import Store
store = Store(sys.argv[1])
for batch in range(20):
    store.put_many({f"{batch} {index}": f"{batch} {index}".encode() * 100 for index in range(32)}, "tag")
print(store.warnings)
"""


def test_two_processes_write_the_same_keys(tmp_path: Path) -> None:
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [threading.Thread(target=lambda: results.append(run(WRITER, tmp_path))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.stdout.strip() for result in results] == ["[]", "[]"], results
    keys = [f"{batch} {index}" for batch in range(20) for index in range(32)]
    assert Store(tmp_path).get_many(keys) == {key: key.encode() * 100 for key in keys}


def test_eight_threads_share_one_store(store: Store) -> None:
    def work(name: int) -> None:
        for batch in range(10):
            store.put_many({f"{name} {batch} {index}": f"{name}".encode() * 500 for index in range(16)}, TAG)
            found = store.get_many([f"{name} {batch} {index}" for index in range(16)])
            assert set(found.values()) == {f"{name}".encode() * 500}
        done.append(name)

    done: list[int] = []
    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(8))
    assert store.count() == 8 * 160
    assert store.warnings == []


KILLED = """
import itertools, sys
from cache.store import Store
store = Store(sys.argv[1])
for batch in itertools.count():
    store.put_many({f"{batch} {index}": f"{batch} {index}".encode() * 200 for index in range(16)}, "tag")
    print(batch, flush=True)
"""


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(30)]
        process.kill()
        lines += process.stdout.readlines()
    acknowledged = int(lines[-1])
    store = Store(tmp_path)
    keys = [f"{batch} {index}" for batch in range(acknowledged + 1) for index in range(16)]
    assert store.get_many(keys) == {key: key.encode() * 200 for key in keys}
    assert store.count() % 16 == 0, "a batch is written whole or not at all"
    assert store.warnings == []
