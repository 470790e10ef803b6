"""Counts how often one operation runs twice when requests and responses get lost.

A payment endpoint with and without idempotency keys; all times are simulated.
"""

import hashlib
import random
import sqlite3

SCHEMA = """
CREATE TABLE payment (account TEXT, body BLOB);
CREATE TABLE idempotency_key (
    account     TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status      INTEGER,
    reply       TEXT,
    PRIMARY KEY (account, key)
);
"""
OPERATIONS = 20_000
LOSS = 0.02
ATTEMPTS = 4
TIMEOUT_MS = 500
BASE_MS = 50
MEAN_EXTRA_MS = 150
OFFLINE_SHARE = 0.03
OFFLINE_MEAN_HOURS = 12
CUSTOMERS = 20_000
PRICES = 50


def handle(
    db: sqlite3.Connection, account: str, key: str, body: bytes
) -> tuple[int, str]:
    """Claims the key, runs the payment and stores the response, in one transaction."""
    fingerprint = hashlib.sha256(body).hexdigest()
    with db:
        claim = db.execute(
            "INSERT INTO idempotency_key (account, key, fingerprint)"
            " VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (account, key, fingerprint),
        )
        if claim.rowcount == 0:
            seen, status, reply = db.execute(
                "SELECT fingerprint, status, reply FROM idempotency_key"
                " WHERE account = ? AND key = ?",
                (account, key),
            ).fetchone()
            if seen != fingerprint:
                return 422, "key was used with another body"
            return status, reply
        payment = db.execute("INSERT INTO payment VALUES (?, ?)", (account, body))
        reply = f"payment {payment.lastrowid}"
        db.execute(
            "UPDATE idempotency_key SET status = 201, reply = ?"
            " WHERE account = ? AND key = ?",
            (reply, account, key),
        )
    return 201, reply


def new_database() -> sqlite3.Connection:
    """An empty database in memory."""
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    return db


def percent(part: int, whole: int) -> str:
    """A share with two decimals."""
    return f"{100 * part / whole:.2f} %"


def lost_messages(policy: str) -> dict[str, int]:
    """Sends every operation until it is answered or the attempts are used up."""
    rng = random.Random(1)
    db = new_database()
    out = {"never run": 0, "run twice or more": 0, "runs": 0, "unanswered": 0}
    out["unanswered though run"] = 0
    out |= {"retries": 0, "retries after a run": 0, "replayed answers differ": 0}
    for op in range(OPERATIONS):
        runs, answered = 0, False
        first_reply = ""
        for attempt in range(1 if policy == "no retry" else ATTEMPTS):
            if attempt:
                out["retries"] += 1
                out["retries after a run"] += runs > 0
            arrives, returns = rng.random() >= LOSS, rng.random() >= LOSS
            if not arrives:
                continue
            key = f"op-{op}"
            if policy in ("no key", "key per attempt"):
                key += f"-{attempt}"
            before = db.total_changes
            _, reply = handle(db, f"account-{op % 1000}", key, b"%d" % op)
            runs += db.total_changes > before
            first_reply = first_reply or reply
            if returns:
                answered = True
                if policy == "key per operation":
                    out["replayed answers differ"] += reply != first_reply
                break
        out["never run"] += runs == 0
        out["run twice or more"] += runs > 1
        out["runs"] += runs
        out["unanswered"] += not answered
        out["unanswered though run"] += runs > 0 and not answered
    return out


def slow_handler(claim_first: bool) -> tuple[int, int]:
    """Operations run twice, and answers of 409, when the client's timer is short."""
    rng = random.Random(2)
    twice = conflicts = 0
    for _ in range(OPERATIONS):
        stored_at = float("inf")
        runs = 0
        for attempt in range(ATTEMPTS):
            now = attempt * TIMEOUT_MS
            duration = BASE_MS + rng.expovariate(1 / MEAN_EXTRA_MS)
            if stored_at <= now:
                break
            if runs and claim_first:
                conflicts += 1
                continue
            runs += 1
            stored_at = min(stored_at, now + duration)
            if duration <= TIMEOUT_MS:
                break
        twice += runs > 1
    return twice, conflicts


def reused_keys() -> tuple[int, int, int]:
    """Orders under a key that is too wide: lost without, and with, a fingerprint."""
    rng = random.Random(3)
    db = new_database()
    seen: set[int] = set()
    without = rejected = swallowed = 0
    for _ in range(OPERATIONS):
        customer, price = rng.randrange(CUSTOMERS), rng.randrange(PRICES)
        without += customer in seen
        before = db.total_changes
        status, _ = handle(db, f"customer-{customer}", "2025-02-27", b"%d" % price)
        rejected += status == 422
        swallowed += status == 201 and db.total_changes == before
        seen.add(customer)
    return without, rejected, swallowed


def late_retries() -> dict[int, int]:
    """Retries that arrive after their key has been deleted, by hours of retention."""
    rng = random.Random(4)
    late = dict.fromkeys((1, 24, 72), 0)
    for _ in range(OPERATIONS):
        hours = rng.random() / 60
        if rng.random() < OFFLINE_SHARE:
            hours = rng.expovariate(1 / OFFLINE_MEAN_HOURS)
        for kept in late:
            late[kept] += hours > kept
    return late


def main() -> None:
    """Prints the set-up and every figure."""
    print(f"operations: {OPERATIONS:,}")
    print(f"loss of a request: {100 * LOSS:.0f} %")
    print(f"loss of a response: {100 * LOSS:.0f} %")
    print(f"attempts at most: {ATTEMPTS}")
    for policy in ("no retry", "no key", "key per attempt", "key per operation"):
        for label, count in lost_messages(policy).items():
            print(f"{policy}, {label}: {count:,}")
    print(f"client timer: {TIMEOUT_MS} ms")
    print(f"handler, shortest: {BASE_MS} ms")
    print(f"handler, mean: {BASE_MS + MEAN_EXTRA_MS} ms")
    print("status while the first attempt runs: 409")
    print("status for another body: 422")
    for label, claim_first in (("look up, store later", False), ("claim first", True)):
        twice, conflicts = slow_handler(claim_first)
        print(f"{label}, run twice or more: {twice:,}")
        print(f"{label}, run twice or more, share: {percent(twice, OPERATIONS)}")
        print(f"{label}, answers of 409: {conflicts:,}")
    without, rejected, swallowed = reused_keys()
    print(f"customers: {CUSTOMERS:,}")
    print(f"prices: {PRICES}")
    print(f"orders swallowed without fingerprint: {without:,}")
    print(f"orders rejected with fingerprint: {rejected:,}")
    print(f"orders swallowed with fingerprint: {swallowed:,}")
    print(f"retries, online share: {100 * (1 - OFFLINE_SHARE):.0f} %")
    print(f"retries, offline share: {100 * OFFLINE_SHARE:.0f} %")
    print(f"retries, offline mean delay: {OFFLINE_MEAN_HOURS} hours")
    for kept, count in late_retries().items():
        print(f"keys kept {kept} h, late retries: {count:,}")


if __name__ == "__main__":
    main()
