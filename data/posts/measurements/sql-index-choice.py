"""Count the entries, rows and pages that queries read through different indexes.

The page model follows SQLite's record format; SQLite itself gives results and plans.
"""

import random
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate

SEED = 20260117
ROWS = 100_000
CUSTOMERS = 5_000
PAGE = 4_096
ROW_BYTES = 200
ROWS_PER_PAGE = PAGE // ROW_BYTES
DAY = 86_400
START = 1_735_689_600

Row = tuple[int, int, str, int, int]
Test = Callable[[Row], bool]
COLUMNS = {"id": 0, "customer_id": 1, "status": 2, "created": 3, "total": 4}
BYTES = {"id": 3, "customer_id": 2, "status": 4, "created": 4, "total": 2}
ID, CUSTOMER, STATUS, CREATED, TOTAL = range(5)


def make_rows(rng: random.Random) -> list[Row]:
    """Make one year of orders, in the order of their creation."""
    weights = list(accumulate(1 / rank for rank in range(1, CUSTOMERS + 1)))
    customers = rng.choices(
        range(1_001, CUSTOMERS + 1_001), cum_weights=weights, k=ROWS
    )
    kinds = ("done", "paid", "open")
    statuses = rng.choices(kinds, cum_weights=(90, 98, 100), k=ROWS)
    times = sorted(rng.sample(range(START, START + 364 * DAY), ROWS))
    totals = [rng.randint(500, 20_000) for _ in range(ROWS)]
    ids = range(1, ROWS + 1)
    return list(zip(ids, customers, statuses, times, totals, strict=True))


def table_pages(rows: Iterable[Row]) -> int:
    """Count the distinct table pages that hold the rows."""
    return len({(row[ID] - 1) // ROWS_PER_PAGE for row in rows})


class Index:
    """The leaf level of an index: sorted entries in full pages."""

    def __init__(self, rows: Iterable[Row], *columns: str) -> None:
        """Sort the rows by the columns; the id comes last in each entry."""
        self.columns = columns
        self.rows = sorted(rows, key=self.key)
        size = 4 + sum(1 + BYTES[name] for name in (*columns, "id"))
        self.per_page = (PAGE - 8) // size
        self.pages = -(-len(self.rows) // self.per_page)

    def key(self, row: Row) -> tuple[int | str, ...]:
        """Return the entry of a row."""
        return tuple(row[COLUMNS[name]] for name in (*self.columns, "id"))

    def read(self, bounds: Test, fetched: Test) -> tuple[int, int, int, int]:
        """Return entries read, table rows fetched, index pages and table pages."""
        places = [place for place, row in enumerate(self.rows) if bounds(row)]
        assert not places or places[-1] - places[0] == len(places) - 1
        rows = [self.rows[p] for p in places if fetched(self.rows[p])]
        leaves = len({place // self.per_page for place in places})
        return len(places), len(rows), leaves, table_pages(rows)

    def touched(self, new: Iterable[Row]) -> int:
        """Count the present leaf pages that have to take new rows."""
        keys = [self.key(row) for row in self.rows]
        last = len(keys) - 1
        places = (min(last, bisect_left(keys, self.key(row))) for row in new)
        return len({place // self.per_page for place in places})


def database(rows: list[Row]) -> sqlite3.Connection:
    """Load the rows into SQLite, with an address to fill them up."""
    db = sqlite3.connect(":memory:")
    db.execute(f"PRAGMA page_size = {PAGE}")
    db.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL,"
        " status TEXT NOT NULL, created INTEGER NOT NULL, total INTEGER NOT NULL,"
        " address TEXT NOT NULL)"
    )
    filled = [(*row, "x" * 172) for row in rows]
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", filled)
    return db


def used_pages(db: sqlite3.Connection) -> int:
    """Return the pages in use in the whole database."""
    total, free = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count")
    )
    return total - free


def plan(db: sqlite3.Connection, index: str, query: str) -> str:
    """Return SQLite's plan with this index as the only one, without histograms."""
    db.execute(f"CREATE INDEX candidate ON orders {index}")
    db.execute("ANALYZE")
    db.execute("DROP TABLE IF EXISTS sqlite_stat4")
    db.execute("ANALYZE sqlite_schema")
    steps = []
    for *_, line in db.execute("EXPLAIN QUERY PLAN " + query):
        if "B-TREE" in line:
            steps.append("sort")
            continue
        kind = "search" if line.startswith("SEARCH") else "scan"
        found = re.search(r"(COVERING )?INDEX candidate", line)
        where = (
            "covering index" if found and found[1] else "index" if found else "table"
        )
        steps.append(f"{kind} of {where}")
    db.execute("DROP INDEX candidate")
    return ", ".join(steps)


def show(name: str, figures: tuple[int, int, int, int]) -> None:
    """Print what one way of reading costs."""
    entries, rows, leaves, pages = figures
    print(f"{name}, entries read: {entries:,}")
    print(f"{name}, table rows fetched: {rows:,}")
    print(f"{name}, index pages: {leaves:,}")
    print(f"{name}, table pages: {pages:,}")
    print(f"{name}, all pages: {leaves + pages:,}")


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    rows = make_rows(rng)
    db = database(rows)
    scan = table_pages(rows)
    print(f"seed: {SEED}")
    print(f"orders: {ROWS:,} rows")
    print(f"customers: {CUSTOMERS:,}")
    print(f"page: {PAGE:,} bytes")
    print(f"rows a page: {ROWS_PER_PAGE}")
    print(f"table: {scan:,} pages")
    for status in ("done", "paid", "open"):
        count = sum(row[STATUS] == status for row in rows)
        print(f"{status} orders: {count:,}, {100 * count / ROWS:.0f} %")

    by_status = Index(rows, "status")
    by_created = Index(rows, "created")
    status_created = Index(rows, "status", "created")
    created_status = Index(rows, "created", "status")
    covering = Index(rows, "status", "created", "total")
    by_customer = Index(rows, "customer_id")
    customer_created = Index(rows, "customer_id", "created")
    partial = Index([r for r in rows if r[STATUS] == "open"], "created")
    sizes = {
        "(status)": by_status,
        "(created)": by_created,
        "(status, created)": status_created,
        "(created, status)": created_status,
        "(status, created, total)": covering,
        "(customer_id)": by_customer,
        "(customer_id, created)": customer_created,
        "(created) WHERE status = 'open'": partial,
    }
    assert abs(used_pages(db) / scan - 1) < 0.05
    worst = 0.0
    for name, index in sizes.items():
        before = used_pages(db)
        db.execute(f"CREATE INDEX candidate ON orders {name}")
        real = used_pages(db) - before
        db.execute("DROP INDEX candidate")
        if index is not partial:
            worst = max(worst, abs(index.pages / real - 1))
        print(f"{name}, size: {index.pages} pages")
    assert worst < 0.05, worst
    print("full indexes, model and SQLite differ by less than: 5 %")

    days = 28
    since = rows[-1][CREATED] - days * DAY

    def paid(row: Row) -> bool:
        return row[STATUS] == "paid"

    def late(row: Row) -> bool:
        return row[CREATED] >= since

    def both(row: Row) -> bool:
        return paid(row) and late(row)

    def every(row: Row) -> bool:
        return True

    def none(row: Row) -> bool:
        return False

    where = f"WHERE status = 'paid' AND created >= {since}"
    matching = sum(map(both, rows))
    assert db.execute(f"SELECT count(*) FROM orders {where}").fetchone()[0] == matching
    print(f"days: {days}")
    print(f"paid in the last {days} days: {matching}")
    show("paid and late, (status)", by_status.read(paid, every))
    show("paid and late, (created)", by_created.read(late, every))
    show("paid and late, (created, status)", created_status.read(late, both))
    show("paid and late, (status, created)", status_created.read(both, every))
    show("paid and late, (status, created, total)", covering.read(both, none))
    for name in ("(status, created)", "(status, created, total)"):
        text = plan(db, name, f"SELECT sum(total) FROM orders {where}")
        print(f"plan, sum with {name}: {text}")

    orders: dict[int, list[Row]] = {}
    for row in rows:
        orders.setdefault(row[CUSTOMER], []).append(row)
    largest = max(orders, key=lambda c: len(orders[c]))
    small = min(c for c in orders if len(orders[c]) == 12)
    print("limit: 10")
    for name, customer in (("largest customer", largest), ("small customer", small)):
        own = orders[customer]
        wanted = own[-10:]
        walked = [row for row in rows if row[ID] >= wanted[0][ID]]
        print(f"{name}, orders: {len(own):,}")
        print(f"{name}, (customer_id), rows fetched: {len(own):,}")
        print(f"{name}, (customer_id), table pages: {table_pages(own):,}")
        print(f"{name}, (created), rows fetched: {len(walked):,}")
        print(f"{name}, (created), table pages: {table_pages(walked):,}")
        print(f"{name}, (customer_id, created), rows fetched: {len(wanted)}")
        print(f"{name}, (customer_id, created), table pages: {table_pages(wanted)}")
    latest = (
        "SELECT id, total FROM orders WHERE customer_id = 1007"
        " ORDER BY created DESC LIMIT 10"
    )
    for name in ("(customer_id)", "(created)", "(customer_id, created)"):
        print(f"plan, latest with {name}: {plan(db, name, latest)}")

    by_total = Index(rows, "total").rows
    for per_mille in (1, 5, 10, 20, 50, 100, 250):
        count = ROWS * per_mille // 1_000
        scattered, together = table_pages(by_total[-count:]), table_pages(rows[-count:])
        name = f"{per_mille / 10:.1f} % of rows"
        print(f"{name}: {count:,}")
        print(f"{name}, scattered: {scattered:,} pages, {100 * scattered / scan:.0f} %")
        print(f"{name}, together: {together:,} pages, {100 * together / scan:.0f} %")
    print("cost of a random page: 4")
    print("cost of a page in a scan: 1")
    even = next(n for n in range(1, ROWS) if 4 * table_pages(by_total[-n:]) >= scan)
    print(f"break-even, scattered: {even:,} rows, {100 * even / ROWS:.1f} %")

    show("done, (status)", by_status.read(lambda row: row[STATUS] == "done", every))
    show("open, (status)", by_status.read(lambda row: row[STATUS] == "open", every))
    for status in ("done", "open"):
        query = f"SELECT sum(total) FROM orders WHERE status = '{status}'"
        print(f"plan, {status} with (status): {plan(db, '(status)', query)}")

    print(
        f"partial as share of (created): {100 * partial.pages / by_created.pages:.0f} %"
    )
    for name in ("status = 'open'", "status IN ('open', 'paid')", "no status"):
        condition = "" if name == "no status" else f" AND {name}"
        query = f"SELECT id, total FROM orders WHERE created < 1738000000{condition}"
        text = plan(db, "(created) WHERE status = 'open'", query)
        print(f"plan, partial index, {name}: {text}")
    for name, condition, index in (
        ("date(created)", "date(created, 'unixepoch') = '2025-03-01'", "(created)"),
        (
            "range of created",
            "created >= 1740787200 AND created < 1740873600",
            "(created)",
        ),
        ("second column only", "created >= 1767000000", "(status, created)"),
        ("status without first column", "status = 'open'", "(created, status)"),
    ):
        query = f"SELECT id, total FROM orders WHERE {condition}"
        print(f"plan, {name}, {index}: {plan(db, index, query)}")

    added = 1_000
    chosen = rng.choices(rows, k=added)
    end = rows[-1][CREATED]
    new = [
        (ROWS + n, old[CUSTOMER], "open", end + 300 * n, old[TOTAL])
        for n, old in enumerate(chosen, 1)
    ]
    print(f"new orders: {added:,}")
    for name, index in sizes.items():
        print(f"{name}, pages that take new orders: {index.touched(new)}")
    print(f"(total), pages that take new orders: {Index(rows, 'total').touched(new)}")


if __name__ == "__main__":
    main()
