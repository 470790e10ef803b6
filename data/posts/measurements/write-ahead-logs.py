"""Breaks a small write-ahead log at every byte and counts what recovery brings back.

Also counts fsync calls with and without group commit, and the cost of checkpoints.
"""

import json
import os
import random
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

HEADER = struct.Struct("<IIQ")  # checksum, payload length, sequence number
SHORT = struct.Struct("<II")  # checksum, payload length
RECORDS = 100
KEYS = 20
SYNC_US = 4_000
COMMITS = 20_000
PUTS = 60_000
TABLE = 2_000
CRASHES = 1_000


def encode(lsn: int, payload: bytes) -> bytes:
    """One record; the checksum covers everything that follows it."""
    body = struct.pack("<IQ", len(payload), lsn) + payload
    return struct.pack("<I", zlib.crc32(body)) + body


def scan(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yields (lsn, payload, end) up to the first record that is not whole."""
    at, last = 0, None
    while at + HEADER.size <= len(data):
        checksum, length, lsn = HEADER.unpack_from(data, at)
        end = at + HEADER.size + length
        if end > len(data) or zlib.crc32(data[at + 4 : end]) != checksum:
            return
        if last is not None and lsn != last + 1:
            return
        yield lsn, data[at + HEADER.size : end], end
        at, last = end, lsn


class Store:
    """A table of strings that survives a crash."""

    def __init__(self, folder: Path, sync: Callable[[int], None] = os.fsync) -> None:
        self.folder, self.sync = folder, sync
        self.table: dict[str, str] = {}
        self.lsn = 0
        snapshot = folder / "snapshot"
        if snapshot.exists():
            [(self.lsn, payload, _)] = scan(snapshot.read_bytes())
            self.table = json.loads(payload)
        self.log = (folder / "log").open("a+b")
        self.log.seek(0)
        good = 0
        for lsn, payload, end in scan(self.log.read()):
            if lsn > self.lsn + 1:
                raise ValueError("records are missing")
            if lsn == self.lsn + 1:
                self.apply(payload)
                self.lsn = lsn
            good = end
        self.log.truncate(good)
        self.sync(self.log.fileno())
        self.sync_folder()

    def apply(self, payload: bytes) -> None:
        """Changes the table as a record says."""
        key, _, value = payload.decode().partition("=")
        self.table[key] = value

    def put(self, key: str, value: str) -> None:
        """Logs the change, waits for the disk, then makes it."""
        payload = f"{key}={value}".encode()
        self.log.write(encode(self.lsn + 1, payload))
        self.log.flush()
        self.sync(self.log.fileno())
        self.lsn += 1
        self.apply(payload)

    def checkpoint(self) -> None:
        """Replaces the log by a snapshot of the table."""
        new = self.folder / "snapshot.new"
        with open(new, "wb") as out:
            out.write(encode(self.lsn, json.dumps(self.table).encode()))
            out.flush()
            self.sync(out.fileno())
        os.replace(new, self.folder / "snapshot")
        self.sync_folder()
        self.log.truncate(0)
        self.sync(self.log.fileno())

    def sync_folder(self) -> None:
        """Makes new names in the folder durable."""
        folder = os.open(self.folder, os.O_RDONLY)
        self.sync(folder)
        os.close(folder)


def no_sync(_: int) -> None:
    """Stands in for fsync: the cuts below play the crash."""


def random_puts(rng: random.Random, count: int, keys: int) -> list[tuple[str, str]]:
    """Keys of one width, values of 1 to 8 digits."""
    return [
        (f"key-{rng.randrange(keys):04d}", str(rng.randrange(10 ** rng.randint(1, 8))))
        for _ in range(count)
    ]


def states_of(puts: list[tuple[str, str]]) -> list[dict[str, str]]:
    """The table after 0, 1, 2 ... records."""
    states: list[dict[str, str]] = [{}]
    for key, value in puts:
        states.append({**states[-1], key: value})
    return states


def table_of(payloads: list[bytes]) -> dict[str, str]:
    """The table that a list of records gives."""
    table = {}
    for payload in payloads:
        key, _, value = payload.decode(errors="replace").partition("=")
        table[key] = value
    return table


def read_lines(data: bytes) -> list[bytes]:
    """Lines with an equals sign, the last one even without a newline."""
    return [line for line in data.split(b"\n") if b"=" in line]


def read_lengths(data: bytes) -> list[bytes]:
    """Records of a length and a payload."""
    out, at = [], 0
    while at + 4 <= len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if end > len(data):
            break
        out.append(data[at + 4 : end])
        at = end
    return out


def read_payload_sums(data: bytes) -> list[bytes]:
    """Records whose checksum covers the payload only."""
    out, at = [], 0
    while at + SHORT.size <= len(data):
        checksum, length = SHORT.unpack_from(data, at)
        end = at + SHORT.size + length
        if end > len(data) or zlib.crc32(data[at + SHORT.size : end]) != checksum:
            break
        out.append(data[at + SHORT.size : end])
        at = end
    return out


def read_full(data: bytes) -> list[bytes]:
    """The records of `scan` that are newer than the last checkpoint."""
    return [payload for lsn, payload, _ in scan(data) if lsn > 2 * RECORDS]


FORMATS: dict[str, tuple[Callable[[int, bytes], bytes], Callable]] = {
    "lines": (lambda _, p: p + b"\n", read_lines),
    "length": (lambda _, p: len(p).to_bytes(4, "little") + p, read_lengths),
    "payload checksum": (
        lambda _, p: SHORT.pack(zlib.crc32(p), len(p)) + p,
        read_payload_sums,
    ),
    "full": (encode, read_full),
}


def cut_formats(
    puts: list[tuple[str, str]], old_puts: list[tuple[str, str]]
) -> Iterator[tuple[str, str, int, int]]:
    """For each format and tail: the cuts, and those with a wrong table."""
    states = states_of(puts)
    for name, (write, read) in FORMATS.items():
        records = [
            write(2 * RECORDS + n, f"{k}={v}".encode())
            for n, (k, v) in enumerate(puts, 1)
        ]
        new = b"".join(records)
        old = b"".join(
            write(n, f"{k}={v}".encode()) for n, (k, v) in enumerate(old_puts, 1)
        )
        for tail in ("cut", "zeros", "old bytes"):
            wrong = 0
            for at in range(len(new) + 1):
                rest = {"cut": b"", "zeros": bytes(len(new) - at)}.get(tail, old[at:])
                data = new[:at] + rest
                whole, end = 0, 0
                for record in records:
                    end += len(record)
                    if end > at and data[:end] != new[:end]:
                        break
                    whole += 1
                wrong += table_of(read(data)) != states[whole]
            yield name, tail, len(new) + 1, wrong


def cut_store(puts: list[tuple[str, str]], folder: Path) -> dict[str, int]:
    """Cuts the log of a real store at every byte, recovers, writes on, recovers."""
    states = states_of(puts)
    store = Store(folder, no_sync)
    ends = []
    for key, value in puts:
        store.put(key, value)
        ends.append((folder / "log").stat().st_size)
    data = (folder / "log").read_bytes()
    out = {
        "exact": 0,
        "torn": 0,
        "dropped": 0,
        "most dropped": 0,
        "kept": 0,
        "kept without truncating": 0,
    }
    for at in range(len(data) + 1):
        whole = sum(end <= at for end in ends)
        good = ends[whole - 1] if whole else 0
        out["torn"] += at > good
        out["dropped"] += at - good
        out["most dropped"] = max(out["most dropped"], at - good)
        (folder / "log").write_bytes(data[:at])
        store = Store(folder, no_sync)
        out["exact"] += store.table == states[whole]
        store.put("later", "yes")
        store.log.close()
        store = Store(folder, no_sync)
        out["kept"] += store.table.get("later") == "yes"
        store.log.close()
        later = data[:at] + encode(whole + 1, b"later=yes")
        out["kept without truncating"] += b"later=yes" in [p for _, p, _ in scan(later)]
    return {"cuts": len(data) + 1, "bytes": len(data)} | out


def flip_bits(puts: list[tuple[str, str]]) -> tuple[int, int]:
    """Single flipped bits: all, and those that `scan` lets through."""
    flips = unnoticed = 0
    for lsn, (key, value) in enumerate(puts, 1):
        record = encode(lsn, f"{key}={value}".encode())
        for bit in range(8 * len(record)):
            damaged = bytearray(record)
            damaged[bit // 8] ^= 1 << bit % 8
            flips += 1
            unnoticed += bool(list(scan(bytes(damaged))))
    return flips, unnoticed


def crash_checkpoint(puts: list[tuple[str, str]], folder: Path) -> dict[str, int]:
    """Crashes at every step of a checkpoint, and in one that cuts the log first."""
    store = Store(folder, no_sync)
    for key, value in puts:
        store.put(key, value)
    log = (folder / "log").read_bytes()
    snapshot = encode(store.lsn, json.dumps(store.table).encode())
    good = store.table
    store.log.close()
    steps = [(log, None, snapshot[:at]) for at in range(len(snapshot) + 1)]
    steps += [(log, snapshot, None), (b"", snapshot, None)]
    hasty = [(b"", snapshot[:at], None) for at in range(len(snapshot) + 1)]
    names = ("log", "snapshot", "snapshot.new")
    out = {}
    for label, cases in (("safe", steps), ("log cut first", hasty)):
        out[f"{label}, crash states"] = len(cases)
        out[f"{label}, recovered"] = 0
        for parts in cases:
            for name, part in zip(names, parts, strict=True):
                (folder / name).unlink(missing_ok=True)
                if part is not None:
                    (folder / name).write_bytes(part)
            try:
                store = Store(folder, no_sync)
            except ValueError:
                continue
            out[f"{label}, recovered"] += store.table == good
            store.log.close()
    return out


def group_commit(per_second: int) -> tuple[int, float, float, float]:
    """Syncs with groups, and mean waits in ms: grouped, one by one, and its last."""
    rng = random.Random(per_second)
    now, arrivals = 0.0, []
    for _ in range(COMMITS):
        now += rng.expovariate(per_second / 1e6)
        arrivals.append(int(now))
    free = syncs = done = grouped = 0
    while done < COMMITS:
        start = max(free, arrivals[done])
        free = start + SYNC_US
        syncs += 1
        while done < COMMITS and arrivals[done] <= start:
            grouped += free - arrivals[done]
            done += 1
    free = alone = 0
    for arrival in arrivals:
        free = max(free, arrival) + SYNC_US
        alone += free - arrival
    last = free - arrivals[-1]
    return syncs, grouped / COMMITS / 1e3, alone / COMMITS / 1e3, last / 1e3


def checkpoint_cost(every: int) -> tuple[float, int, int]:
    """Mean records replayed, bytes of log, and bytes of snapshots."""
    rng = random.Random(6)
    table: dict[str, str] = {}
    log = snapshots = 0
    for lsn, (key, value) in enumerate(random_puts(rng, PUTS, TABLE), 1):
        log += len(encode(lsn, f"{key}={value}".encode()))
        table[key] = value
        if lsn % every == 0:
            snapshots += len(encode(lsn, json.dumps(table).encode()))
    replayed = sum(rng.randrange(1, PUTS + 1) % every for _ in range(CRASHES))
    return replayed / CRASHES, log, snapshots


def main() -> None:
    """Prints the set-up and every figure."""
    puts = random_puts(random.Random(1), RECORDS, KEYS)
    old_puts = random_puts(random.Random(2), 2 * RECORDS, KEYS)
    print("checksum: CRC-32")
    print(f"header: {HEADER.size} bytes")
    print(f"records: {RECORDS}")
    print(f"keys: {KEYS}")
    with tempfile.TemporaryDirectory() as folder:
        found = cut_store(puts, Path(folder))
    for label, count in found.items():
        print(f"store, {label}: {count:,}")
    print(f"store, dropped, mean: {found['dropped'] / found['cuts']:.1f} bytes")
    for name, tail, cuts, wrong in cut_formats(puts, old_puts):
        print(f"{name}, {tail}, cuts: {cuts:,}")
        print(f"{name}, {tail}, wrong: {wrong:,}")
        print(f"{name}, {tail}, wrong, share: {100 * wrong / cuts:.1f} %")
    print(f"checksum of an empty payload: {zlib.crc32(b'')}")
    print(f"phantom records in 4,096 zeros: {len(read_payload_sums(bytes(4096)))}")
    flips, unnoticed = flip_bits(puts)
    print(f"flipped bits: {flips:,}")
    print(f"flipped bits, unnoticed: {unnoticed:,}")
    with tempfile.TemporaryDirectory() as folder:
        for label, count in crash_checkpoint(puts, Path(folder)).items():
            print(f"checkpoint, {label}: {count:,}")
    print(f"one fsync: {SYNC_US // 1000} ms")
    print(f"commits: {COMMITS:,}")
    print(f"commits a second at most, one fsync each: {1_000_000 // SYNC_US}")
    for rate in (100, 1_000, 10_000):
        syncs, grouped, alone, last = group_commit(rate)
        digits = 1 if alone < 1_000 else 0
        print(f"{rate:,} commits a second, fsyncs in groups: {syncs:,}")
        print(f"{rate:,} commits a second, commits per fsync: {COMMITS / syncs:.1f}")
        print(f"{rate:,} commits a second, mean wait in groups: {grouped:.1f} ms")
        print(f"{rate:,} commits a second, mean wait alone: {alone:,.{digits}f} ms")
        print(f"{rate:,} commits a second, last wait alone: {last:,.0f} ms")
    print(f"puts: {PUTS:,}")
    print(f"keys in the table: {TABLE:,}")
    print(f"crash points: {CRASHES:,}")
    for every in (1_000, 5_000, 20_000):
        replayed, log, snapshots = checkpoint_cost(every)
        print(f"checkpoint every {every:,}, records replayed: {replayed:,.0f}")
        print(f"checkpoint every {every:,}, log: {log / 1e6:.1f} MB")
        print(f"checkpoint every {every:,}, snapshots: {snapshots / 1e6:.1f} MB")
        print(f"checkpoint every {every:,}, ratio: {snapshots / log:.2f} times")


if __name__ == "__main__":
    main()
