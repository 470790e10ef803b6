"""A few fixed texts whose vectors tell one engine from another, and a broken one from a whole one.

The same model under the same digest gives other vectors on other versions of Ollama. The number of a version does not
tell which agree: what the server makes of these texts does.
"""

import hashlib

import numpy as np

#: Two of them are in capitals alone and two have an accent, because Ollama has got just those wrong.
CANARIES = ("The harbour was closed.", "REPLACE SUMP PUMP", "CREATE A SPREADSHEET", "Hokkaidō", "Éire")

#: Two texts that have nothing in common are never as alike as this: all-MiniLM has them at 0.00 and 0.21.
COLLAPSED = 0.98

# The pairs by their places, what they have in common, and since when the fault is mended.
_PAIRS = ((1, 2, "capitals"), (3, 4, "accents"))


def fingerprint(vectors: np.ndarray) -> str:
    """Eight hexadecimal digits that stay the same while no vector moves by more than noise.

    Of each vector the sums of its four quarters count, to two decimals: each is of about 0.5, so that the noise between
    two processors, 0.000001, almost never changes one, and a move by 0.01, a cosine of 0.99995 to before, always does.
    """
    quarters = [part.sum(axis=1) for part in np.array_split(vectors.astype(np.float64), 4, axis=1)]
    figures = np.round(np.stack(quarters), 2) + 0.0  # no -0.0
    return hashlib.blake2b(figures.astype("<f8").tobytes(), digest_size=4).hexdigest()


def warnings(name: str, version: str, vectors: np.ndarray) -> list[str]:
    """A sentence for each pair of texts that the model should tell apart and does not."""
    return [
        f"{name} on Ollama {version} gives texts with {what} one and the same vector, as {CANARIES[one]!r} and "
        f"{CANARIES[two]!r}: 0.30 and later do not."
        for one, two, what in _PAIRS
        if float(vectors[one] @ vectors[two]) > COLLAPSED
    ]
