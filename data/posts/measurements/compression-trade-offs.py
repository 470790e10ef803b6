"""Measure compressed sizes of seeded synthetic data with zlib, bz2 and lzma.

Compressed sizes are printed in whole kilobytes or bytes and ratios with one decimal, since builds
of the libraries can differ slightly. The figures are those of classic zlib, as nearly all builds
of Python have it; with zlib-ng they differ by some per cent, at level 1 by much more.
"""

import binascii
import bz2
import gzip
import hashlib
import itertools
import json
import lzma
import random
import struct
import zlib
from collections.abc import Callable

SEED = 20260618
SIZE = 200_000
BLOCK = 16_384
Codec = Callable[[bytes], bytes]

CODECS: dict[str, Codec] = {
    "zlib 1": lambda data: zlib.compress(data, 1),
    "zlib 6": lambda data: zlib.compress(data, 6),
    "zlib 9": lambda data: zlib.compress(data, 9),
    "bz2 9": lambda data: bz2.compress(data, 9),
    "lzma 6": lambda data: lzma.compress(data, preset=6),
}


def prose(rng: random.Random) -> bytes:
    """Return invented words whose frequencies follow Zipf's law."""
    syllables = [a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "er")]
    stock = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(5_000)]
    weights = [1 / rank for rank in range(1, len(stock) + 1)]
    return " ".join(rng.choices(stock, weights, k=SIZE // 3)).encode()[:SIZE]


def access_log(rng: random.Random) -> bytes:
    """Return access log lines with increasing times."""
    lines, now = [], 1_780_000_000_000
    for _ in range(SIZE // 50):
        now += rng.randint(1, 2_000)
        path = rng.choice(("/api/orders", "/api/users", "/login", "/static/app.js", "/health"))
        status = rng.choices((200, 304, 404, 500), (90, 6, 3, 1))[0]
        address = f"10.0.{rng.randrange(4)}.{rng.randrange(256)}"
        size = rng.randrange(200, 20_000)
        lines.append(f'{address} - [{now}] "GET {path} HTTP/1.1" {status} {size}\n')
    return "".join(lines).encode()[:SIZE]


def record(rng: random.Random, number: int) -> bytes:
    """Return one event as a line of JSON."""
    event = {
        "event_id": f"{rng.getrandbits(64):016x}",
        "sequence": number,
        "type": rng.choice(("order_created", "order_paid", "order_shipped", "order_cancelled")),
        "customer": {"id": rng.randrange(50_000), "country": rng.choice(("DE", "PL", "NO", "GB"))},
        "amount_cents": rng.randrange(100, 50_000),
        "currency": "EUR",
    }
    return json.dumps(event).encode() + b"\n"


def temperatures(rng: random.Random) -> bytes:
    """Return doubles of a slowly wandering temperature with a resolution of a hundredth."""
    value, values = 2_000, []
    for _ in range(SIZE // 8):
        value += rng.randint(-3, 3)
        values.append(value / 100)
    return struct.pack(f"<{len(values)}d", *values)


def timestamps(rng: random.Random) -> list[int]:
    """Return increasing times in milliseconds."""
    steps = (rng.randint(900, 1_100) for _ in range(SIZE // 8 - 1))
    return list(itertools.accumulate(steps, initial=1_780_000_000_000))


def deltas(values: list[int]) -> list[int]:
    """Return the first value and then the differences between neighbours."""
    return [values[0], *(after - before for before, after in itertools.pairwise(values))]


def ints(values: list[int]) -> bytes:
    """Pack integers with 8 bytes each."""
    return struct.pack(f"<{len(values)}q", *values)


def base64(data: bytes) -> bytes:
    """Encode as Base64."""
    return binascii.b2a_base64(data, newline=False)


def ratio(data: bytes, codec: Codec, block: int = 0) -> float:
    """Return uncompressed over compressed size, optionally with each block by itself."""
    step = block or len(data)
    parts = (data[start : start + step] for start in range(0, len(data), step))
    return len(data) / sum(len(codec(part)) for part in parts)


def print_table(kinds: dict[str, bytes]) -> None:
    """Print size, ratio and ratio in blocks for every kind of data and codec."""
    print(f"bytes of each kind: {SIZE // 1_000} kB")
    print(f"bytes of a block: {BLOCK // 1_024} KiB")
    for kind, data in kinds.items():
        for name, codec in CODECS.items():
            size = len(codec(data))
            print(f"{kind}, {name}: {size / 1_000:.0f} kB")
            print(f"{kind}, {name}, ratio: {len(data) / size:.1f}")
            print(f"{kind}, {name}, ratio in blocks: {ratio(data, codec, BLOCK):.1f}")


def print_blocks(events: list[bytes]) -> None:
    """Print what the size of a block costs in ratio and in bytes to decompress for one event."""
    data = b"".join(events)
    print(f"events: {len(events):,}")
    print(f"bytes of all events: {len(data) / 1_000:.0f} kB")
    for kib in (4, 16, 64, 256):
        block, end, total = kib * 1_024, 0, 0
        for event in events:
            start, end = end, end + len(event)
            total += end - start // block * block
        print(f"blocks of {kib} KiB, zlib 6, ratio: {ratio(data, CODECS['zlib 6'], block):.1f}")
        print(f"blocks of {kib} KiB, lzma 6, ratio: {ratio(data, CODECS['lzma 6'], block):.1f}")
        print(f"blocks of {kib} KiB, read for one event: {total / len(events) / 1_000:.1f} kB")


def print_small(events: list[bytes]) -> None:
    """Print sizes of single events with and without a dictionary, and of batches."""
    sample, rest = events[:20], events[1_000:2_000]
    dictionary = b"".join(sample)
    print(f"empty input, zlib: {len(zlib.compress(b''))} bytes")
    print(f"empty input, gzip: {len(gzip.compress(b''))} bytes")
    print(f"empty input, bz2: {len(bz2.compress(b''))} bytes")
    print(f"empty input, lzma: {len(lzma.compress(b''))} bytes")
    print(f"small events: {len(rest):,}")
    print(f"event, plain: {sum(map(len, rest)) / len(rest):.0f} bytes")
    for name in ("zlib 6", "bz2 9", "lzma 6"):
        total = sum(len(CODECS[name](event)) for event in rest)
        print(f"event, alone, {name}: {total / len(rest):.0f} bytes")
    total = 0
    for event in rest:
        packer = zlib.compressobj(6, zdict=dictionary)
        total += len(packer.compress(event) + packer.flush())
    print(f"events in the dictionary: {len(sample)}")
    print(f"bytes of the dictionary: {len(dictionary) / 1_000:.1f} kB")
    print(f"event, alone with the dictionary, zlib 6: {total / len(rest):.0f} bytes")
    for count in (10, 100, 1_000):
        batches = [b"".join(rest[at : at + count]) for at in range(0, len(rest), count)]
        total = sum(len(zlib.compress(batch, 6)) for batch in batches)
        print(f"event, in batches of {count:,}, zlib 6: {total / len(rest):.0f} bytes")


def print_layout(events: list[bytes]) -> None:
    """Print what identifiers and the order of the fields do to the same events."""
    rows = [json.loads(event) for event in events]
    no_ids = [{key: row[key] for key in row if key != "event_id"} for row in rows]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    shapes = {
        "rows": "\n".join(map(json.dumps, rows)),
        "rows without event_id": "\n".join(map(json.dumps, no_ids)),
        "columns": json.dumps(columns),
    }
    for name, shape in shapes.items():
        data = shape.encode()
        print(f"events as {name}: {len(data) / 1_000:.0f} kB")
        for codec in ("zlib 6", "lzma 6"):
            print(f"events as {name}, {codec}: {len(CODECS[codec](data)) / 1_000:.0f} kB")
    print(f"event_id, binary: {8 * len(rows) / 1_000:.0f} kB")


def print_window(rng: random.Random) -> None:
    """Print what a repetition at a distance brings."""
    block = rng.randbytes(100_000)
    print("repeated block of random bytes: 100 kB")
    for name in ("zlib 9", "bz2 9", "lzma 6"):
        print(f"block twice, {name}, ratio: {ratio(block * 2, CODECS[name]):.1f}")


def encrypt(data: bytes, key: bytes) -> bytes:
    """XOR with a key stream from SHA-256 in counter mode (for sizes only, not for secrets)."""
    counters = range(len(data) // 32 + 1)
    stream = b"".join(hashlib.sha256(key + struct.pack("<q", n)).digest() for n in counters)
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def page(token: str, query: str) -> bytes:
    """Return a page that holds a secret and repeats a query."""
    return (
        f'<form action="/transfer"><input type="hidden" name="csrf" value="token={token}">'
        f'<input name="amount"></form><p>No results for "{query}".</p>'
    ).encode()


def mean_page(rng: random.Random, right: int) -> float:
    """Return the mean size of compressed pages that repeat a guess with `right` right digits."""
    total = 0
    for _ in range(500):
        token, wrong = (f"{rng.getrandbits(128):032x}" for _ in range(2))
        guess = token[:right] + wrong[right:]
        total += len(zlib.compress(page(token, f"token={guess}"), 6))
    return total / 500


def print_when_not(rng: random.Random, log: bytes, noise: bytes) -> None:
    """Print sizes of data that should not be compressed, or not in this order."""
    codec, key = CODECS["zlib 6"], rng.randbytes(32)
    print(f"log, compressed then encrypted, ratio: {len(log) / len(encrypt(codec(log), key)):.1f}")
    print(f"log, encrypted then compressed, ratio: {ratio(encrypt(log, key), codec):.1f}")
    print(f"log, ratio of a second pass: {ratio(codec(log), codec):.1f}")
    print(f"random bytes in Base64: {len(base64(noise)) / 1_000:.0f} kB")
    print(f"random bytes in Base64, zlib 6: {len(codec(base64(noise))) / 1_000:.0f} kB")
    print("zero bytes: 10 MB")
    print(f"zero bytes, zlib 9: {len(zlib.compress(bytes(10_000_000), 9)) / 1_000:.0f} kB")
    print("digits of a token: 32")
    print("pages per case: 500")
    wrong = mean_page(rng, 0)
    for right in (8, 16, 32):
        saved = wrong - mean_page(rng, right)
        print(f"page with {right} right digits, shorter by: {saved:.0f} bytes")


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    events = [record(rng, number) for number in range(4_000)]
    moments = timestamps(rng)
    kinds = {
        "prose": prose(rng),
        "access log": access_log(rng),
        "JSON events": b"".join(events)[:SIZE],
        "timestamps": ints(moments),
        "timestamp differences": ints(deltas(moments)),
        "temperatures": temperatures(rng),
        "random bytes": rng.randbytes(SIZE),
    }
    print_table(kinds)
    print_blocks(events)
    print_small(events)
    print_layout(events)
    print_window(rng)
    print_when_not(rng, kinds["access log"], kinds["random bytes"])


if __name__ == "__main__":
    main()
