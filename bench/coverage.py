"""How often intervals, tests and verdicts are right, by simulation: `python -m bench.coverage`.

Hits are drawn for questions that hang together by document: whether a question is hit is a normal deviate below a bound,
and the deviate is made of what all settings share (60%) and of what is a setting's own, each partly the document's and
partly the question's. The document's part is the correlation (ICC) in the tables. Three or four questions a document, as
in the bundled corpus, which has 23. Each figure stands with twice its Monte-Carlo error and with what it should be;
`off` marks those that are further from it than that and one point. Exit status 1 where something is off.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from chunking.best import judged
from chunking.comparing import Difference, difference, flip_p, holm, questions_needed
from chunking.gate import PASS, decide
from chunking.intervals import Floats, interval, unit_sums, units_of

DOCUMENTS = (10, 23, 40)
CORRELATIONS = (0.0, 0.1, 0.3)
SHARED = 0.6
SETTINGS = 20
MARGIN = 0.05
EQUAL = [0.5] * SETTINGS
GRADED = np.linspace(0.35, 0.6, SETTINGS).tolist()


@dataclass
class Tally:
    """Figures printed so far, and those that were off."""

    off: list[str] = field(default_factory=list)

    def share(self, title: str, hits: Sequence[bool] | Sequence[float], least: float = 0.0, most: float = 1.0) -> None:
        """Prints a share in per cent beside what it should be."""
        mean, error = float(np.mean(hits)), float(np.std(hits)) / len(hits) ** 0.5
        good = least - 0.01 - 2 * error <= mean <= most + 0.01 + 2 * error
        wanted = f"at least {least:.0%}" if least else f"at most {most:.0%}"
        print(f"  {title:58} {mean:7.1%} ± {2 * error:.1%}   {wanted:13} {'ok' if good else 'off'}", flush=True)
        if not good:
            self.off.append(title)

    def bias(self, title: str, errors: Sequence[float], most: float | None = None) -> None:
        """Prints a mean error in points; with `most` it is held to no more than that upwards."""
        mean, error = 100 * float(np.mean(errors)), 200 * float(np.std(errors)) / len(errors) ** 0.5
        good = most is None or mean <= most + 1 + error
        wanted = "" if most is None else f"at most {most:+.0f}"
        print(
            f"  {title:58} {mean:+7.1f} ± {error:.1f}   {wanted:13} {'' if most is None else 'ok' if good else 'off'}"
        )
        if not good:
            self.off.append(title)


def drawn(random: np.random.Generator, documents: int, icc: float, rates: Sequence[float]) -> tuple[Floats, list[str]]:
    """Hits of each question under each setting, (n, m), whose true rates are `rates`, and the questions' documents."""
    own = np.repeat(np.arange(documents), random.integers(3, 5, documents))
    deviates = sum(
        np.sqrt(share * part) * random.normal(size=(documents if by_document else len(own), columns))[own if by_document else slice(None)]
        for share, columns in ((SHARED, 1), (1 - SHARED, len(rates)))
        for part, by_document in ((icc, True), (1 - icc, False))
    )  # fmt: skip
    bounds = [NormalDist().inv_cdf(rate) for rate in rates]
    return (deviates < np.array(bounds)).astype(float), [f"d{number:03}" for number in own]


def pair(table: Floats, names: Sequence[str], ours: int = 0, theirs: int = 1) -> Difference:
    """The difference of two columns."""
    return difference(table[:, ours], table[:, theirs], names, [str(number) for number in range(len(names))])


def singles(tally: Tally, random: np.random.Generator, documents: int, icc: float, runs: int) -> None:
    """Intervals of one rate."""
    for rate in (0.6, 0.9):
        held = []
        for _ in range(runs):
            table, names = drawn(random, documents, icc, [rate])
            found = interval(table[:, 0].tolist(), names, rate=True)
            held.append(found.low <= rate <= found.high)
        tally.share(f"interval of a rate of {rate} holds it", held, least=0.95)


def pairs(tally: Tally, random: np.random.Generator, documents: int, icc: float, runs: int) -> None:
    """Paired intervals, tests where nothing differs, correction over five, and the gate at a loss of just the margin."""
    held, wrong, family, passed = [], [], [], []
    for _ in range(runs):
        found = pair(*drawn(random, documents, icc, [0.65, 0.5]))
        held.append(found.low <= 0.15 <= found.high)
        table, names = drawn(random, documents, icc, [0.6] * 6)
        units, _ = units_of(names)
        p = [flip_p(unit_sums(table[:, other] - table[:, 0], units)) for other in range(1, 6)]
        wrong.append(p[0] <= 0.05)
        family.append(min(holm(p)) <= 0.05)
        passed.append(decide(pair(*drawn(random, documents, icc, [0.6 - MARGIN, 0.6])), MARGIN).status == PASS)
    tally.share("paired interval of a difference of 15 points holds it", held, least=0.95)
    tally.share("two equal settings are told apart", wrong, most=0.05)
    tally.share("one of five settings equal to a sixth is told, Holm", family, most=0.05)
    tally.share("the gate passes a loss of just the margin", passed, most=0.05)


def choices(tally: Tally, random: np.random.Generator, documents: int, icc: float, runs: int) -> None:
    """The best of twenty: whether the truly best is ruled out, bounds hold at once, and what the chosen one's rate is worth."""
    for title, rates in (("20 equal", EQUAL), ("20 graded", GRADED)):
        truth, best = np.array(rates), int(np.argmax(rates))
        out, bounds, naive, fair, held, left = [], [], [], [], [], []
        for _ in range(runs):
            found = judged(*drawn(random, documents, icc, rates))
            chosen = found.winner
            out.append(best in found.ruled_out)
            bounds.append(bool((truth.max() - truth <= np.array(found.most_behind) + 1e-9).all()))
            naive.append(found.means[chosen] - rates[chosen])
            fair.append(found.held_out.mean - rates[chosen])
            held.append(found.held_out.interval.low <= rates[chosen] <= found.held_out.interval.high)
            left.append(1 + len(found.level))
        tally.share(f"{title}: the truly best is ruled out", out, most=0.05)
        tally.share(f"{title}: all bounds on being behind hold at once", bounds, least=0.95)
        tally.bias(f"{title}: winner's own rate less its true one, points", naive)
        tally.bias(f"{title}: held-out rate less the true one, points", fair, most=0)
        tally.share(f"{title}: held-out interval holds the true rate", held, least=0.9)
        print(f"  {title + ': left as possibly the best, of 20':58} {np.mean(left):7.1f}")


def power(tally: Tally, random: np.random.Generator, icc: float, runs: int) -> None:
    """Whether so many questions as are said to be needed tell a difference of 10 points apart in 4 of 5 repetitions."""
    rates = [0.6, 0.5]
    table, names = drawn(random, 40_000, icc, rates)
    needed = questions_needed(table[:, 0] - table[:, 1], names)
    documents = round(needed / 3.5)
    told = [pair(*drawn(random, documents, icc, rates)).p <= 0.05 for _ in range(runs)]
    tally.share(f"{needed} questions tell 10 points apart", told, least=0.8, most=0.83)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where something is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few runs of one world: whether it runs at all")
    quick = parser.parse_args(arguments).quick
    runs, choosing = (40, 10) if quick else (1000, 200)
    tally, random, begin = Tally(), np.random.default_rng(1), time.perf_counter()
    for documents in (23,) if quick else DOCUMENTS:
        for icc in (0.1,) if quick else CORRELATIONS:
            print(f"{documents} documents, ICC {icc}")
            singles(tally, random, documents, icc, runs)
            pairs(tally, random, documents, icc, runs)
            choices(tally, random, documents, icc, choosing)
    for icc in (0.1,) if quick else CORRELATIONS:
        print(f"ICC {icc}")
        power(tally, random, icc, runs)
    print(f"{len(tally.off)} off, {time.perf_counter() - begin:.0f} s")
    return int(bool(tally.off))


if __name__ == "__main__":
    raise SystemExit(main())
