"""Word vectors: made of captions, or read from a file."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from nt2vr.datasets.video_inputs import Vector
from nt2vr.errors import ConfigError, reason_of
from nt2vr.evaluation.queries import row_numbers
from nt2vr.models.encoder import Vectors
from nt2vr.papers.sea.features import BigFile
from nt2vr.papers.sea.vocabulary import TextWords, words_of

# Words of a file that are kept although no caption has them, the first ones: 100 MB of vectors of 500.
MAX_UNSEEN_WORDS = 50_000

# The randomised SVD multiplies by the matrix this often, with so many columns beyond those that are
# wanted. Its vectors are then those of NumPy's full SVD (tests/papers/sea/test_training.py).
ITERATIONS = 8
OVERSAMPLING = 16

# Root mean square of numbers from -1 to 1, from which words without a vector are drawn in a GRU.
SPREAD = 3**-0.5

WordVectors = dict[str, Vector]
NamedVectors = Iterator[tuple[str, Vector]]


def ppmi_vectors(texts: TextWords, words: Sequence[str], size: int) -> WordVectors:
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

    mean_square = np.mean(vectors**2)
    root_mean_square = float(np.sqrt(mean_square))
    # It is 0 if no two words share a caption.
    if root_mean_square:
        vectors *= SPREAD / root_mean_square
    return dict(zip(words, vectors, strict=True))


def _ppmi(texts: TextWords, words: Sequence[str]) -> Vectors:
    """Compute the positive pointwise mutual information of all pairs of V words: (V, V)."""
    row_of = row_numbers(words)
    num_words = len(words)
    # Captions that two words share.
    counts = np.zeros((num_words, num_words), np.float32)
    for text in texts:
        rows = sorted({row_of[word] for word in text if word in row_of})
        counts[np.ix_(rows, rows)] += 1
    np.fill_diagonal(counts, 0)

    totals = np.maximum(counts.sum(axis=1), 1)  # (V,)
    # p(a, b) / (p(a) p(b)), in place: the matrix is large.
    counts *= totals.sum() / totals[:, None] / totals
    ppmi: Vectors = np.log(np.maximum(counts, 1))
    return ppmi


def _largest_eigenvectors(matrix: Vectors, count: int) -> tuple[Vector, Vectors]:
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

    small_matrix = basis.T @ matrix @ basis
    values, rotation = np.linalg.eigh(small_matrix)
    largest_first = np.argsort(-np.abs(values), kind="stable")
    largest = largest_first[:count]
    return values[largest], basis @ rotation[:, largest]


def read_vectors(path: Path, caption_words: Collection[str]) -> WordVectors:
    """Read the vectors of the captions' words, and of the file's first other words, which queries may have."""
    try:
        vectors = _chosen(_vectors_in(path), caption_words)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be read as word vectors ({reason_of(error)}). Name another file."
        ) from error
    rows = np.array(list(vectors.values()))
    if not vectors or not np.isfinite(rows).all():
        raise ConfigError(
            f"{path} has no vectors of words, or some that are not finite. Name another file."
        )
    return vectors


def _chosen(named_vectors: NamedVectors, caption_words: Collection[str]) -> WordVectors:
    """Choose the captions' words and the first others, each with its first vector."""
    vectors = {}
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
        file = BigFile.open(path)
        return zip(file.names, file.rows, strict=True)
    if path.suffix == ".bin":
        return _binary_vectors(path)
    return _text_vectors(path)


def _binary_vectors(path: Path) -> NamedVectors:
    """Read word2vec's binary form: a line with two numbers, then words, each with a space and float32 numbers."""
    with path.open("rb") as file:
        num_words, size = map(int, file.readline(100).split())
        for _ in range(num_words):
            letters = bytearray()
            while (letter := file.read(1)) not in (b" ", b""):
                letters += letter
            word = letters.decode("utf-8", "replace").strip()
            numbers = file.read(4 * size)
            yield word, np.frombuffer(numbers, np.float32, size)


def _text_vectors(path: Path) -> NamedVectors:
    """Read word2vec's text form: a line with two numbers, then a line per word."""
    with path.open(encoding="utf-8", errors="replace") as file:
        _, size = map(int, file.readline(100).split())
        for line in file:
            word, *numbers = line.split()
            if len(numbers) != size:
                raise ValueError(f"{len(numbers)} numbers for {word[:40]} instead of {size}")
            yield word, np.array(numbers, np.float32)
