"""What becomes of a long run when everything fails that can: `python -m bench.faults`.

Distinct short texts are embedded through `open_embedder` in a process of its own, against the double of an Ollama
server with the built-in model's vectors. At random the double fails in every mode of `ollama_double.FAULTS`, each at
least once, and the process is killed with SIGKILL at random and started again on the same store. Where a run stops
with a sentence for the user, it is started again as well.

In the end every vector must equal that of a run without faults, bit for bit. And no text may be computed more often
than its failures explain: again only where the vector was lost by the failure of its request, or where the run ended,
by a kill or by an error, before its batch was in the store. At each end that must be one batch at most.
Exit status 1 where something is off. To be quick, the process waits 1 s for an answer instead of 300, and hardly
between two tries. "too long" is said of two texts or more only: of one it would be a lie that changes its vector.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.embed import windows
from cache import EmbedderError, ollama_client, ollama_embedder, open_embedder
from cache.ollama_client import Server
from cache.ollama_embedder import Ollama
from cache.store import Store
from tests.ollama_double import FAULTS, OllamaDouble, Reply, minilm, remembered, stand_in

MODEL = "ollama:all-minilm"
SHARE = 0.35  # of the requests for vectors, as long as the faults last
DECKS = 2  # how often every fault is dealt
LOST = Ollama.batch_texts  # the most texts whose vectors an end of a run may lose
ROOT = Path(__file__).resolve().parents[1]
STOPPED, WITHOUT = 3, 4  # how a run can end: with an error, or with texts that have no vector yet


class Faulty(OllamaDouble):
    """A double that deals faults at random, and counts what it computed and answered."""

    def __init__(self, seed: int, vectors: Any) -> None:
        super().__init__(vectors=vectors)
        self.random = random.Random(seed)
        self.deck = [reply for replies in FAULTS.values() for reply in dict.fromkeys(replies)] * DECKS
        self.random.shuffle(self.deck)
        self.names = {reply: name for name, replies in FAULTS.items() for reply in replies}
        self.met: Counter[str] = Counter()
        self.guard = threading.Lock()

    def fault(self, path: str, body: dict[str, Any]) -> Reply | None:
        """The next fault of the deck, for about every third request for vectors."""
        with self.guard:
            if path != "/api/embed" or not self.deck or self.random.random() >= SHARE:
                return None
            reply = self.deck[-1]
            if len(body["input"]) == 1 and ollama_client._judge_answer(reply.body.decode(), reply.status) in LYING:
                return None
            self.met[self.names[reply]] += 1
            return self.deck.pop()


LYING = {ollama_client.Verdict.LONG}


def child(host: str, folder: Path, out: Path) -> int:
    """One run: embeds the texts that are left, and writes all vectors where none is missing."""
    ollama_client.FIRST_WAIT = 0.01
    ollama_embedder.Server = partial(Server, read_seconds=1.0)  # type: ignore[misc,assignment]
    texts = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    try:
        embedder = open_embedder(MODEL, Store(folder), host)
        print(len(texts) - embedder.missing(texts, "document"), flush=True)
        vectors = embedder(texts, "document")
    except EmbedderError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return STOPPED
    if not vectors.any(axis=1).all():
        return WITHOUT
    np.save(out, vectors)
    return 0


class Trial:
    """A run from its first start to its end, through kills and errors, and the books on it."""

    def __init__(self, server: OllamaDouble, folder: Path, texts: list[str]) -> None:
        self.server, self.folder, self.texts = server, folder, texts
        self.out = folder / "vectors.npy"
        self.out.with_suffix(".json").write_text(json.dumps(texts), encoding="utf-8")
        self.ends: Counter[str] = Counter()
        self.resumed: list[int] = []  # texts that each start found in the store
        self.again: Counter[str] = Counter()  # answers for a text that an end of a run has lost
        self.most_lost = 0
        self.sentences: Counter[str] = Counter()

    def run(self, kills: Iterable[int]) -> np.ndarray:
        """The vectors; the process is killed when so many texts have been answered."""
        left = sorted(kills, reverse=True)
        for _ in range(1000):
            if self._once(left) == "done":
                return np.load(self.out)
        raise SystemExit("the run does not come to an end")

    def _once(self, kills: list[int]) -> str:
        command = [sys.executable, "-m", "bench.faults", "--child", self.server.host, str(self.folder), str(self.out)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, cwd=ROOT, **pipes)  # type: ignore[call-overload]
        while process.poll() is None:
            if kills and len(set(self.server.taken)) >= kills[-1]:
                kills.pop()
                time.sleep(random.uniform(0, 0.03))
                process.kill()
            time.sleep(0.005)
        said, error = process.communicate()
        how = {0: "done", STOPPED: "stopped", WITHOUT: "without", -9: "killed"}.get(process.returncode)
        if how is None:
            raise SystemExit(f"the run broke down:\n{error}")
        self.ends[how] += 1
        self.sentences.update([error.partition(":")[0]] if how == "stopped" else [])
        self.resumed += [int(said)] if said else []
        self._balance()
        return how

    def _balance(self) -> None:
        """What was answered and is not in the store was lost by this end."""
        time.sleep(0.1)  # the server may still be busy with what nobody waits for
        met, self.server.fault = self.server.fault, lambda *_: None  # type: ignore[method-assign]
        embedder = open_embedder(MODEL, Store(self.folder), self.server.host)
        self.server.fault = met  # type: ignore[method-assign]
        answered = Counter(self.server.taken)
        lost = [text for text in answered - self.again if embedder.missing([text], "document")]
        self.again.update({text: answered[text] - self.again[text] for text in lost})
        self.most_lost = max(self.most_lost, len(lost))


def short_texts(count: int) -> list[str]:
    """Distinct texts of ten words."""
    return [f"{index} {text}" for index, text in enumerate(windows(count, 10))]


def report(server: Faulty, trial: Trial, kills: int, same: bool) -> bool:
    """Prints the counts; whether all is as it must be."""
    answered, lost = Counter(server.taken), Counter(server.lost)
    computed = answered + lost
    times = Counter(min(computed[text], 3) for text in trial.texts)
    explained = all(answered[text] == 1 + trial.again[text] for text in trial.texts)
    print(f"requests for vectors: {len(server.asked)}, failed {server.met.total()}")
    print("failures by mode: " + ", ".join(f"{name} {count}" for name, count in sorted(server.met.items())))
    print(f"kills: {trial.ends['killed']}; ends with a text without a vector: {trial.ends['without']}")
    print(f"ends with an error: {trial.ends['stopped']} ({dict(trial.sentences)})")
    print(f"texts computed once {times[1]}, twice {times[2]}, more often {times[3]}, never {times[0]}")
    print(f"computed again: lost in a failed request {lost.total()}, at the end of a run {trial.again.total()}")
    print(f"lost at one end of a run at most: {trial.most_lost} texts (a batch has {LOST})")
    print(f"resumed from the store: {sum(trial.resumed)} texts at {len(trial.resumed)} starts")
    print(f"every vector equals that of the run without faults: {'yes' if same else 'NO'}")
    print(f"every computation is explained: {'yes' if explained else 'NO'}")
    every_mode = set(server.met) == set(FAULTS)
    print(f"every mode was met: {'yes' if every_mode else 'NO'}")
    return same and explained and every_mode and trial.most_lost <= LOST and trial.ends["killed"] == kills


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stand-in", action="store_true", help="random vectors instead of the built-in model's")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        host, folder, out = options.child
        return child(host, Path(folder), Path(out))
    begin = time.perf_counter()
    texts = short_texts(options.texts)
    vectors = remembered(stand_in if options.stand_in else minilm)
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as storm:
        with OllamaDouble(vectors=vectors) as server:
            expected = Trial(server, Path(calm), texts).run([])
        with Faulty(options.seed, vectors) as faulty:
            trial = Trial(faulty, Path(storm), texts)
            found = trial.run(random.sample(range(1, options.texts - LOST), options.kills))
    good = report(faulty, trial, options.kills, found.tobytes() == expected.tobytes())
    print(f"{options.texts} texts, seed {options.seed}, {time.perf_counter() - begin:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
