"""The store of finished vectors: a diskcache folder of raw, checksummed bytes.

diskcache 5.6.3 pickles what is not plain (CVE-2025-69872), forgets old rows once it holds 1 GiB, and waits without
end on a database that has turned read-only. None of the three can happen here: see `BytesDisk` and `Store`.
"""

import os
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import DBNAME, MODE_RAW, UNKNOWN

#: Seconds for which a write waits for another process's, and for which writing rests after one failed.
WAIT = 5.0
REST = 30.0

#: Keys that are looked up in one question: two or three times as fast as one by one.
AT_ONCE = 500

_SELECT = "SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN"
_MAGIC = b"C1"
_CHECKSUM = struct.Struct("<2sI")
_FAILURES = (sqlite3.Error, diskcache.Timeout, OSError)
# A settings table that somebody else wrote makes diskcache fail in these ways while it opens.
_FOREIGN = (TypeError, ValueError, KeyError, AttributeError)


class CorruptEntry(ValueError):  # noqa: N818 - it is an entry, and it is corrupt
    """A row that this program did not write, or that has changed since."""


class BytesDisk(diskcache.Disk):  # type: ignore[misc,unused-ignore]  # diskcache has no types
    """Keeps bytes under text keys, in the database only; a row of any other kind is refused, never unpickled."""

    def put(self, key: object) -> Any:
        """The key as the database holds it; only text is taken."""
        if type(key) is not str:
            raise TypeError(f"a key must be text, got {type(key).__name__}")
        return super().put(key)

    def get(self, key: object, raw: bool) -> str:
        """The text key of a row."""
        if type(key) is not str:
            raise CorruptEntry("a key in the store is not text")
        return key

    def store(self, value: object, read: bool, key: object = UNKNOWN) -> tuple[int, int, None, memoryview]:
        """The columns (size, mode, filename, value) of a row."""
        if read or type(value) is not bytes:
            raise TypeError(f"a value must be bytes, got {type(value).__name__}")
        return 0, MODE_RAW, None, memoryview(_CHECKSUM.pack(_MAGIC, zlib.crc32(value)) + value)

    def fetch(self, mode: int, filename: object, value: object, read: bool) -> bytes:
        """The bytes of a row, if they are those that were stored."""
        if mode != MODE_RAW or filename is not None or read or type(value) is not bytes:
            raise CorruptEntry("a row in the store is not plain bytes")
        data = value[_CHECKSUM.size :]
        if value[: _CHECKSUM.size] != _CHECKSUM.pack(_MAGIC, zlib.crc32(data)):
            raise CorruptEntry("a row in the store has changed since it was written")
        return data

    def remove(self, file_path: object) -> None:
        """Nothing: our rows own no files, so a row that names one is not to be followed."""

    def filename(self, key: object = UNKNOWN, value: object = UNKNOWN) -> Any:
        """No row has a file."""
        raise TypeError("the store keeps no files")


class Store:
    """Bytes by key in a private folder. Where the folder cannot be used, work goes on without, and `warnings` says so.

    Safe to share between threads and between processes on one machine; not on a network drive.
    """

    def __init__(self, folder: Path | str) -> None:
        # diskcache expands variables in the name; doing it here keeps both at the same folder.
        self.folder = Path(os.path.expandvars(folder)).expanduser().absolute()
        self.warnings: list[str] = []
        self._lock = threading.Lock()
        self._rest_until = 0.0
        self._cache = self._opened()

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of the keys that are there, whole; a damaged row counts as not there."""
        found: dict[str, bytes] = {}
        if (cache := self._cache) is None:
            return found
        rest = iter(keys)
        while part := list(islice(rest, AT_ONCE)):
            try:
                rows = cache._sql(f"{_SELECT} ({','.join('?' * len(part))})", part).fetchall()
            except _FAILURES:  # one damaged page does not take the others along
                found |= self._one_by_one(cache, part)
                continue
            for key, *row in rows:
                with suppress(CorruptEntry):
                    found[key] = cache.disk.fetch(*row, False)
        return found

    def _one_by_one(self, cache: diskcache.Cache, keys: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for key in keys:
            try:
                value = cache.get(key)
            except CorruptEntry:
                continue
            except _FAILURES as error:
                self._warn(f"The store in {self.folder} could not be read in full ({error}).")
                continue
            if value is not None:
                found[key] = value
        return found

    def put_many(self, values: Mapping[str, bytes], tag: str) -> None:
        """Writes all the values, or none, in one short transaction; each row is tagged with the model's identity."""
        for _ in range(2):  # the second time into the new database, where the old one proved damaged
            if (cache := self._cache) is None or time.monotonic() < self._rest_until:
                return
            try:
                _write(cache, values, tag)
                return
            except _FAILURES as error:
                if _is_damage(error):
                    self._replace(cache, error)
                else:
                    self._rest(error)

    def count(self) -> int:
        """The number of stored values."""
        return self._asked(len)

    def volume(self) -> int:
        """The size of the store on disk, in bytes."""
        return self._asked(diskcache.Cache.volume)

    def tags(self) -> dict[str, int]:
        """How many values each model has made, by its identity as they were tagged."""
        try:
            rows = self._cache._sql("SELECT tag, COUNT(*) FROM Cache GROUP BY tag") if self._cache is not None else ()
            return {str(tag): number for tag, number in rows}
        except _FAILURES as error:
            self._warn(f"The store in {self.folder} could not be read in full ({error}).")
            return {}

    def remove(self, tag: str) -> int:
        """Removes the values of that tag; how many were."""
        before = self.count()
        try:
            if self._cache is not None:
                self._cache.evict(tag)
        except _FAILURES as error:
            self._warn(f"What {tag} made in {self.folder} could not all be removed ({error}).")
        return before - self.count()

    def close(self) -> None:
        """Closes this thread's connection; the store opens it again when it is next used."""
        if (cache := self._cache) is not None:
            cache.close()

    def _asked(self, question: Callable[[Any], int]) -> int:
        try:
            return 0 if self._cache is None else question(self._cache)
        except _FAILURES:
            return 0

    def _opened(self, damage: Exception | None = None) -> diskcache.Cache | None:
        """The folder's cache; a new one where the old is damaged; None, with a warning, where there can be none."""
        try:
            make_private(self.folder)
            if damage is not None:
                self._move_aside(damage)
            return _open(self.folder)
        except (*_FAILURES, *_FOREIGN) as error:
            if damage is None and _is_damage(error):
                return self._opened(error)
            self._warn(
                f"The store in {self.folder} cannot be used ({error}): "
                "what models make is kept in memory only, and is made again at the next start."
            )
            return None

    def _replace(self, broken: diskcache.Cache, error: Exception) -> None:
        """Puts a new cache in the place of a broken one, once, however many threads have noticed."""
        broken.close()
        with self._lock:
            if self._cache is broken:
                self._cache = self._opened(error)

    def _rest(self, error: Exception) -> None:
        self._rest_until = time.monotonic() + REST
        self._warn(f"What models make could not be stored in {self.folder} ({error}), so it may have to be made again.")

    def _move_aside(self, error: Exception) -> None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for name in (DBNAME, f"{DBNAME}-wal", f"{DBNAME}-shm"):
            if (self.folder / name).exists():
                os.replace(self.folder / name, self.folder / f"{name}.corrupt-{stamp}")
        self._warn(
            f"The store in {self.folder} was damaged ({error}): "
            f"it was moved to {DBNAME}.corrupt-{stamp}, and a new one was begun."
        )

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)


def default_folder() -> Path:
    """The folder that CHUNKSCOPE_CACHE names, else `store` beside this file."""
    return Path(os.environ.get("CHUNKSCOPE_CACHE") or Path(__file__).with_name("store")).expanduser()


def make_private(folder: Path) -> None:
    """Makes the folder, open to its owner only; one that holds other things than a store keeps its permissions."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / DBNAME).exists() or not any(folder.iterdir()):
        folder.chmod(0o700)


def _open(folder: Path) -> diskcache.Cache:
    """The folder's cache, without eviction.

    The lock is tried first, because diskcache waits a whole minute for a locked database while it opens.
    """
    with closing(sqlite3.connect(folder / DBNAME, timeout=WAIT, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    settings = {"eviction_policy": "none", "cull_limit": 0, "tag_index": True}
    return diskcache.Cache(str(folder), timeout=WAIT, disk=BytesDisk, **settings)


def _write(cache: diskcache.Cache, values: Mapping[str, bytes], tag: str) -> None:
    with cache.transact(retry=False):
        for key, value in values.items():
            cache.set(key, value, tag=tag, retry=False)


def _is_damage(error: Exception) -> bool:
    """True where the database itself is broken; the classes below DatabaseError mean locked, full or out of reach."""
    return type(error) is sqlite3.DatabaseError or isinstance(error, _FOREIGN)
