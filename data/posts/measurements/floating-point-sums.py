"""Measure the errors of several ways of adding up doubles against the correctly rounded sum.

All additions are explicit loops, since the built-in sum() compensates from Python 3.12 on.
"""

import math
import random
import struct
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

SEED = 20240829
COUNT = 200_000


def naive(values: Sequence[float]) -> float:
    """Add from left to right."""
    total = 0.0
    for value in values:
        total += value
    return total


def kahan(values: Sequence[float]) -> float:
    """Carry the rounding error of each addition into the next one."""
    total = error = 0.0
    for value in values:
        corrected = value - error
        new = total + corrected
        error = (new - total) - corrected
        total = new
    return total


def neumaier(values: Sequence[float]) -> float:
    """Collect the rounding errors apart, whichever of the operands is larger."""
    total = lost = 0.0
    for value in values:
        new = total + value
        if abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total + lost


def pairwise(values: Sequence[float]) -> float:
    """Add the sums of both halves, down to blocks of 64."""
    if len(values) <= 64:
        return naive(values)
    middle = len(values) // 2
    return pairwise(values[:middle]) + pairwise(values[middle:])


METHODS: dict[str, Callable[[Sequence[float]], float]] = {
    "left to right": naive,
    "ascending": lambda values: naive(sorted(values)),
    "descending": lambda values: naive(sorted(values, reverse=True)),
    "pairwise": pairwise,
    "Kahan": kahan,
    "Neumaier": neumaier,
    "math.fsum": math.fsum,
}


def ulps(result: float, exact: float) -> float:
    """Return the distance from the correctly rounded sum in units in the last place of it."""
    return abs(result - exact) / math.ulp(exact)


def scientific(value: float) -> str:
    """Write a figure with one significant digit."""
    return f"{value:.0e}" if value else "0"


def data_sets(rng: random.Random) -> dict[str, list[float]]:
    """Return values of one size, of very different sizes, and of both signs that nearly cancel."""
    uniform = [rng.random() for _ in range(COUNT)]
    powers = [float(f"1e{exponent}") for exponent in range(-8, 9)]
    spread = [rng.random() * rng.choice(powers) for _ in range(COUNT)]
    half = [rng.uniform(0, 1e9) for _ in range(COUNT // 2)]
    mixed = half + [-value for value in half] + [rng.random() for _ in range(100)]
    rng.shuffle(mixed)
    return {"uniform": uniform, "spread": spread, "cancelling": mixed}


def print_orders(rng: random.Random) -> None:
    """Count the different totals of the same prices in different orders."""
    prices = [rng.randrange(1, 100_000) / 100 for _ in range(1_000)]
    totals, rounded = set(), set()
    for _ in range(1_000):
        rng.shuffle(prices)
        totals.add(naive(prices))
        rounded.add(math.fsum(prices))
    print("prices: 1,000")
    print("orders: 1,000")
    print(f"different totals: {len(totals)}")
    print(f"largest difference of two totals: {max(totals) - min(totals):.1e}")
    print(f"different totals with math.fsum: {len(rounded)}")


def print_money(rng: random.Random) -> None:
    """Count where binary prices and the place of rounding change the cents."""
    invoices, differing = 10_000, 0
    for _ in range(invoices):
        lines = [rng.randrange(1, 20_000) for _ in range(10)]
        taxes = [Decimal(cents * 19) / 100 for cents in lines]
        per_line = sum(tax.quantize(Decimal(1), ROUND_HALF_UP) for tax in taxes)
        at_end = sum(taxes).quantize(Decimal(1), ROUND_HALF_UP)
        differing += per_line != at_end
    print(f"invoices: {invoices:,}")
    print("lines per invoice: 10")
    print("tax: 19 %")
    print(f"invoices where tax rounded by line differs: {100 * differing / invoices:.1f} %")
    amounts = [Decimal(cents * 10 + 5).scaleb(-3) for cents in range(100_000)]
    down = sum(Decimal(repr(round(float(amount), 2))) < amount for amount in amounts)
    print(f"amounts that end in half a cent: {len(amounts):,}")
    print(f"amounts of half a cent that round() takes down: {100 * down / len(amounts):.1f} %")


def float32(value: float) -> float:
    """Round to single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]


def main() -> None:
    """Print one figure a line."""
    rng = random.Random(SEED)
    print(f"seed: {SEED}")
    print(f"values: {COUNT:,}")
    print("spread, powers of ten: 17")
    for name, values in data_sets(rng).items():
        exact = math.fsum(values)
        print(f"{name}, sum: {exact:.6g}")
        for method, add in METHODS.items():
            result = add(values)
            print(f"{name}, {method}: {ulps(result, exact):,.0f} ULP")
            error = scientific(abs(result - exact) / abs(exact))
            print(f"{name}, {method}, relative error: {error}")
        condition = scientific(math.fsum(map(abs, values)) / abs(exact))
        print(f"{name}, sum of magnitudes / sum: {condition}")
    tricky = [1.0, 1e100, 1.0, -1e100]
    for method, add in METHODS.items():
        print(f"1, 1e100, 1, -1e100, {method}: {add(tricky):.1f}")
    print(f"0.1 added 10 times: {naive([0.1] * 10)}")
    print(f"0.1 added 1,000,000 times: {naive([0.1] * 1_000_000)}")
    stuck = next(2**power for power in range(60) if float32(2.0**power + 1) == 2**power)
    print(f"float32, adding 1 has no effect at: {stuck:,}")
    print_orders(rng)
    print_money(rng)


if __name__ == "__main__":
    main()
