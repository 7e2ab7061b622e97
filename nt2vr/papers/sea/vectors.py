"""Word vectors: made of captions, or read from a file."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, reason_of
from nt2vr.papers.sea.features import BigFile
from nt2vr.papers.sea.vocabulary import words_of

MAX_OTHERS = (
    50_000  # first words of a file that are kept although no caption has them: 50 MB of 500 numbers
)
ROUNDS, SPARE = (
    8,
    16,
)  # of the iteration for the largest singular values; the reference is NumPy's full SVD
SPREAD = (
    3**-0.5
)  # root mean square of U(-1, 1), from which a GRU's words without a vector are drawn
Vectors = dict[str, NDArray[np.float32]]


def ppmi_vectors(texts: Sequence[Sequence[str]], words: Sequence[str], size: int) -> Vectors:
    """Make vectors (size,), shorter if there are fewer words, of the captions that have two words in common.

        PPMI(a, b) = max(0, log(p(a, b) / (p(a) p(b)))) = U Σ Vᵀ,    vectors U √Σ, scaled to a spread of `SPREAD`

    Source: Levy & Goldberg, "Neural Word Embedding as Implicit Matrix Factorization", NeurIPS 2014,
    section 4.2.
    """
    row_of = {word: row for row, word in enumerate(words)}
    ppmi = np.zeros((len(words), len(words)), np.float32)
    for text in texts:
        rows = sorted({row_of[word] for word in text if word in row_of})
        ppmi[np.ix_(rows, rows)] += 1
    np.fill_diagonal(ppmi, 0)
    share = np.maximum(ppmi.sum(axis=1), 1)
    ppmi *= share.sum() / share[:, None] / share
    ppmi = np.log(np.maximum(ppmi, 1))
    size = min(size, len(words))
    basis = (
        np.random.default_rng(0)
        .normal(size=(len(words), min(len(words), size + SPARE)))
        .astype(np.float32)
    )
    for _ in range(ROUNDS):
        basis = np.linalg.qr(ppmi @ basis)[0]
    values, turned = np.linalg.eigh(basis.T @ ppmi @ basis)
    largest = np.argsort(-np.abs(values), kind="stable")[:size]
    vectors = basis @ turned[:, largest] * np.sqrt(np.abs(values[largest]))
    spread = float(np.sqrt(np.mean(vectors**2)))
    return dict(
        zip(words, (vectors * (SPREAD / spread if spread else 0)).astype(np.float32), strict=True)
    )


def read_vectors(path: Path, wanted: Collection[str]) -> Vectors:
    """Read the vectors of wanted words, and those of the first others, for words that nobody has written yet."""
    read = _rows if path.is_dir() else {".bin": _binary}.get(path.suffix, _plain)
    vectors: Vectors = {}
    others = 0
    try:
        for word, vector in read(path):
            is_other = word not in wanted
            if word in vectors or (is_other and (others >= MAX_OTHERS or words_of(word) != [word])):
                continue
            others += is_other
            vectors[word] = vector.astype(np.float32)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be read as word vectors ({reason_of(error)}). Name another file."
        ) from error
    if not vectors or not np.isfinite(np.stack(list(vectors.values()))).all():
        raise ConfigError(
            f"{path} has no vectors of words, or some that are not finite. Name another file."
        )
    return vectors


def _rows(folder: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    file = BigFile.open(folder)
    yield from zip(file.names, file.rows, strict=True)


def _binary(path: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    with path.open("rb") as file:
        rows, size = map(int, file.readline(100).split())
        for _ in range(rows):
            letters = bytearray()
            while (letter := file.read(1)) not in (b" ", b""):
                letters += letter
            yield (
                letters.decode("utf-8", "replace").strip(),
                np.frombuffer(file.read(4 * size), np.float32, size),
            )


def _plain(path: Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        _, size = map(int, file.readline(100).split())
        for line in file:
            word, *numbers = line.split()
            if len(numbers) != size:
                raise ValueError(f"{len(numbers)} numbers for {word[:40]} instead of {size}")
            yield word, np.array(numbers, np.float32)
