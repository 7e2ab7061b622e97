"""Word vectors: made of captions, or read from a file."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, reason_of
from nt2vr.papers.sea.features import BigFile
from nt2vr.papers.sea.vocabulary import words_of

# Words of a file that are kept although no caption has them, the first ones: 100 MB of vectors of 500.
MAX_UNSEEN_WORDS = 50_000

# The randomised SVD multiplies by the matrix this often, with so many columns beyond those that are
# wanted. Its vectors are then those of NumPy's full SVD (tests/papers/sea/test_training.py).
ITERATIONS = 8
OVERSAMPLING = 16

# Root mean square of numbers from -1 to 1, from which words without a vector are drawn in a GRU.
SPREAD = 3**-0.5

Vectors = dict[str, NDArray[np.float32]]
NamedVectors = Iterator[tuple[str, NDArray[np.float32]]]


def ppmi_vectors(texts: Sequence[Sequence[str]], words: Sequence[str], size: int) -> Vectors:
    """Make vectors of words from the captions that two words share.

        PPMI(a, b) = max(0, log(p(a, b) / (p(a) p(b)))) = U Σ Vᵀ       (positive pointwise mutual information)
        vectors = U √Σ, scaled to a root mean square of `SPREAD`

    Args:
        texts: the words of each caption.
        words: those that get a vector.
        size: length of a vector; the vectors are shorter if there are fewer words.

    Source: Levy & Goldberg, "Neural Word Embedding as Implicit Matrix Factorization", NeurIPS 2014,
    section 4.2.
    """
    ppmi = _ppmi(texts, words)  # (V, V)
    values, columns = _largest_eigenvectors(ppmi, min(size, len(words)))  # (size,), (V, size)
    vectors = columns * np.sqrt(np.abs(values))

    root_mean_square = float(np.sqrt(np.mean(vectors**2)))
    scale = SPREAD / root_mean_square if root_mean_square else 0
    scaled = (vectors * scale).astype(np.float32)
    return dict(zip(words, scaled, strict=True))


def _ppmi(texts: Sequence[Sequence[str]], words: Sequence[str]) -> NDArray[np.float32]:
    """Compute the positive pointwise mutual information of all pairs of V words: (V, V)."""
    row_of = {word: row for row, word in enumerate(words)}
    # Captions that two words share.
    counts = np.zeros((len(words), len(words)), np.float32)
    for text in texts:
        rows = sorted({row_of[word] for word in text if word in row_of})
        counts[np.ix_(rows, rows)] += 1
    np.fill_diagonal(counts, 0)

    totals = np.maximum(counts.sum(axis=1), 1)  # (V,)
    # p(a, b) / (p(a) p(b)), in place: the matrix is large.
    counts *= totals.sum() / totals[:, None] / totals
    ppmi: NDArray[np.float32] = np.log(np.maximum(counts, 1))
    return ppmi


def _largest_eigenvectors(
    matrix: NDArray[np.float32], count: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a symmetric (V, V) matrix's eigenvalues furthest from 0, (count,), and their vectors, (V, count).

    Their absolute values are its largest singular values. A random basis is multiplied by the matrix
    a few times, so that it turns towards them; the small matrix in that basis is then solved exactly.

    Source: Halko, Martinsson and Tropp, "Finding Structure with Randomness", SIAM Review 2011.
    """
    num_rows = len(matrix)
    num_columns = min(num_rows, count + OVERSAMPLING)
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(num_rows, num_columns)).astype(np.float32)
    for _ in range(ITERATIONS):
        basis, _ = np.linalg.qr(matrix @ basis)

    values, rotation = np.linalg.eigh(basis.T @ matrix @ basis)
    largest = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[largest], basis @ rotation[:, largest]


def read_vectors(path: Path, caption_words: Collection[str]) -> Vectors:
    """Read the vectors of the captions' words, and of the file's first other words, which queries may have."""
    try:
        vectors = _chosen(_vectors_in(path), caption_words)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be read as word vectors ({reason_of(error)}). Name another file."
        ) from error
    if not vectors or not np.isfinite(np.stack(list(vectors.values()))).all():
        raise ConfigError(
            f"{path} has no vectors of words, or some that are not finite. Name another file."
        )
    return vectors


def _chosen(named_vectors: NamedVectors, caption_words: Collection[str]) -> Vectors:
    """Choose the captions' words and the first others, each with its first vector."""
    vectors: Vectors = {}
    num_unseen = 0
    for word, vector in named_vectors:
        if word in vectors:
            continue
        if word not in caption_words:
            if num_unseen >= MAX_UNSEEN_WORDS or words_of(word) != [word]:
                continue
            num_unseen += 1
        vectors[word] = vector.astype(np.float32)
    return vectors


def _vectors_in(path: Path) -> NamedVectors:
    if path.is_dir():
        return _bigfile_vectors(path)
    if path.suffix == ".bin":
        return _binary_vectors(path)
    return _text_vectors(path)


def _bigfile_vectors(folder: Path) -> NamedVectors:
    file = BigFile.open(folder)
    yield from zip(file.names, file.rows, strict=True)


def _binary_vectors(path: Path) -> NamedVectors:
    """Read word2vec's binary form: a line with two numbers, then words, each with a space and float32 numbers."""
    with path.open("rb") as file:
        num_words, size = map(int, file.readline(100).split())
        for _ in range(num_words):
            letters = bytearray()
            while (letter := file.read(1)) not in (b" ", b""):
                letters += letter
            word = letters.decode("utf-8", "replace").strip()
            yield word, np.frombuffer(file.read(4 * size), np.float32, size)


def _text_vectors(path: Path) -> NamedVectors:
    """Read word2vec's text form: a line with two numbers, then a line per word."""
    with path.open(encoding="utf-8", errors="replace") as file:
        _, size = map(int, file.readline(100).split())
        for line in file:
            word, *numbers = line.split()
            if len(numbers) != size:
                raise ValueError(f"{len(numbers)} numbers for {word[:40]} instead of {size}")
            yield word, np.array(numbers, np.float32)
