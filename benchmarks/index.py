"""Opening and searching large galleries, made up: `python -m benchmarks.index [gallery|indexes|excluding] [LARGEST]`.

Vectors are clustered, one cluster per hundred: a random centre of length 1 plus noise of length 0.7, normalised.
Queries are new members of random clusters, with as much noise (near) or twice as much (far). What they exclude is a
new member of another cluster (other), or the middle between such a one and the query itself (same).
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments, timed, write_head, write_row
from nt2vr.media.cache import Cache
from nt2vr.media.gallery import Gallery, Video
from nt2vr.models.card import Card
from nt2vr.search.embed_clips import open_gallery
from nt2vr.search.embedded import RELIABLE
from nt2vr.search.embedding_file import CHUNK, EmbeddingFile
from nt2vr.search.embedding_folders import tower_folder
from nt2vr.search.exclusion import Exclusion, scores_of
from nt2vr.search.index import ExactIndex, FaissIndex, Index, best_rows

DIM, NUM_FRAMES = 512, 8
SIZES = (10_000, 100_000, 1_000_000)
NUM_QUERIES = 101
K, RANKED = 10, 1000
PER_CLUSTER = 100
WEIGHTS, SHORTLISTS = (1.0, 3.0), (1_000, 10_000)
NEAR, FAR = 0.7, 1.4  # length of the noise; centres have length 1
Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """Generator of vectors."""

    centres: Vectors

    @classmethod
    def of(cls, count: int) -> "Clusters":
        """Draw the centres for this many vectors."""
        centres = np.random.default_rng(0).standard_normal((max(1, count // PER_CLUSTER), DIM), np.float32)
        return cls(centres / np.linalg.norm(centres, axis=1, keepdims=True))

    def draw(self, count: int, noise: float, seed: int) -> Vectors:
        """Draw unit vectors (N, D)."""
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((count, DIM), np.float32) * np.float32(noise / np.sqrt(DIM))
        vectors += self.centres[rng.integers(0, len(self.centres), count)]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def chunks(self, count: int) -> Iterator[Vectors]:
        """Draw many vectors, some at a time."""
        for start in range(0, count, CHUNK):
            yield self.draw(min(CHUNK, count - start), NEAR, start)


class MadeUpEncoder:
    """Stands for a model; embeds nothing."""

    name, num_frames, embed_dim = "made up", NUM_FRAMES, DIM
    card = Card("made up", frames=NUM_FRAMES, visual_fingerprint="made up")

    def pool(self, frames: Vectors) -> Vectors:
        """Average the frames."""
        means = frames.mean(axis=1)
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))


def p50_ms(search: Callable[[Vectors], object], queries: Vectors) -> float:
    """Return the median time of a single query, without the first, which warms up."""
    times_s = np.array([timed(partial(search, query))[0] for query in queries])
    return 1000 * float(np.median(times_s[1:]))


def write_gallery(count: int, cache: Cache) -> Gallery:
    """Store made-up embeddings of clips whose content is known, as a library's is."""
    videos = tuple(Video(f"clip {n}", Path(f"/nowhere/{n}.mp4"), content=f"content {n}") for n in range(count))
    gallery = Gallery("made up", videos, "made-up")
    file = EmbeddingFile(tower_folder(gallery, MadeUpEncoder.card, cache), (NUM_FRAMES, DIM))
    start = 0
    for chunk in Clusters.of(count).chunks(count):
        keys = [f"content {n}" for n in range(start, start + len(chunk))]
        file.append(keys, np.repeat(chunk[:, None], NUM_FRAMES, axis=1))
        start += len(chunk)
    return gallery


def forget_pages(folder: Path) -> None:
    """Ask the system to read the files of a folder from the disk again."""
    for path in folder.rglob("*.f32"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure_gallery(count: int) -> None:
    """Print how long a gallery takes to open and to search, with its files in memory and on the disk."""
    with TemporaryDirectory() as folder, Cache(Path(folder)) as cache:
        gallery, encoder = write_gallery(count, cache), MadeUpEncoder()
        first_s, _ = timed(lambda: open_gallery(gallery, encoder, cache))  # type: ignore[arg-type]
        sys.stdout.write(
            f"{count:,} clips, {NUM_FRAMES} frames of {DIM}; pooled at the first opening: {first_s:.2f} s\n\n"
        )
        write_head("files", "opened, s", "first search, ms", "search, p50 ms")
        for where in ("in memory", "on disk"):
            if where == "on disk":
                forget_pages(Path(folder))
            opened_s, embedded = timed(lambda: open_gallery(gallery, encoder, cache))  # type: ignore[arg-type]
            queries = Clusters.of(count).draw(NUM_QUERIES, NEAR, -1 % 2**32)
            found_s, _ = timed(lambda: embedded.search(queries[0], RANKED))  # noqa: B023
            times = p50_ms(lambda query: embedded.search(query, RANKED), queries)  # noqa: B023
            write_row(where, f"{opened_s:.2f}", f"{1000 * found_s:.1f}", f"{times:.1f}")


def recall(index: Index, exact: Index, queries: Vectors) -> float:
    """Return the share of the true 10 best that an index finds."""
    found, best = (np.concatenate([each.search(query[None], K)[1] for query in queries]) for each in (index, exact))
    return sum(len(np.intersect1d(*rows)) for rows in zip(found, best, strict=True)) / best.size


def measure_indexes(largest: int) -> None:
    """Print one row per index and size."""
    speeds = f"best {K}, p50 ms", f"best {RANKED:,}, p50 ms"
    write_head(f"vectors of {DIM}", "index", "built, s", *speeds, "recall@10, near", "far")
    for size in (size for size in SIZES if size <= largest):
        clusters = Clusters.of(size)
        vectors = np.concatenate(list(clusters.chunks(size)))
        vectors.flags.writeable = False
        near, far = (clusters.draw(NUM_QUERIES, noise, -seed % 2**32) for seed, noise in ((1, NEAR), (2, FAR)))
        exact = ExactIndex(DIM)
        for index in (exact, FaissIndex(DIM)):
            built_s, _ = timed(lambda: index.add(np.arange(size), vectors))  # noqa: B023
            few = p50_ms(lambda query: index.search(query[None], K), near)  # noqa: B023
            many = p50_ms(lambda query: index.search(query[None], RANKED), near)  # noqa: B023
            shares = (f"{recall(index, exact, queries):.3f}" for queries in (near, far))
            write_row(f"{size:,}", type(index).__name__, f"{built_s:.1f}", f"{few:.2f}", f"{many:.2f}", *shares)


@dataclass(frozen=True)
class Excluding:
    """A query that excludes, in a gallery of which an index knows the nearest."""

    vectors: Vectors
    index: Index
    wanted: Vectors
    exclusion: Exclusion

    def best(self) -> Rows:
        """Score everything, and return the rows of the best K."""
        return best_rows(scores_of(self.vectors, self.wanted, self.exclusion), np.arange(len(self.vectors)), K)

    def best_of(self, shortlist: int) -> Rows:
        """Score as many clips as the shortlist has, the nearest to the wanted part, likewise."""
        return self._scored(shortlist)[0]

    def is_sure(self, shortlist: int) -> bool:
        """Return whether these are known to be the best of all."""
        return self._scored(shortlist)[1]

    def _scored(self, shortlist: int) -> tuple[Rows, bool]:
        products, rows = (found[0] for found in self.index.search(self.wanted[None], shortlist))
        worst, rows = products[:RELIABLE][-1], np.sort(rows)
        scores = scores_of(self.vectors[rows], self.wanted, self.exclusion)
        best = best_rows(scores, rows, K)
        return rows[best], bool(scores[best[-1]] >= worst)


def measure_excluding(largest: int) -> None:
    """Print how many of the true 10 best of `rectified` a shortlist has, how often that is sure, and speeds."""
    columns = "recall@10, other", "same", "sure, other", "same"
    write_head(f"vectors of {DIM}", "α", "shortlist", "p50 ms", "all, p50 ms", *columns)
    for size in (size for size in SIZES[1:] if size <= largest):
        clusters = Clusters.of(size)
        vectors = np.concatenate(list(clusters.chunks(size)))
        vectors.flags.writeable = False
        index = FaissIndex(DIM)
        index.add(np.arange(size), vectors)
        wanted, other, noise = (clusters.draw(NUM_QUERIES, NEAR, -seed % 2**32) for seed in (1, 2, 3))
        same = wanted + noise
        same /= np.linalg.norm(same, axis=1, keepdims=True)
        for weight in WEIGHTS:
            exclusions = [[Exclusion(part[None], weight).within(vectors) for part in parts] for parts in (other, same)]
            kinds = [list(map(partial(Excluding, vectors, index), wanted, some)) for some in exclusions]
            exact_ms = 1000 * median([timed(asked.best)[0] for asked in kinds[0]])
            best = [[asked.best() for asked in kind] for kind in kinds]
            for count in SHORTLISTS:
                took_ms = 1000 * median([timed(partial(asked.best_of, count))[0] for asked in kinds[0]])
                shares = [
                    sum(len(np.intersect1d(each.best_of(count), rows)) for each, rows in zip(kind, found, strict=True))
                    for kind, found in zip(kinds, best, strict=True)
                ]
                sure = [sum(each.is_sure(count) for each in kind) for kind in kinds]
                times = f"{took_ms:.1f}", f"{exact_ms:.1f}"
                recalls = (f"{share / (K * NUM_QUERIES):.3f}" for share in shares)
                write_row(
                    f"{size:,}",
                    f"{weight:g}",
                    f"{count:,}",
                    *times,
                    *recalls,
                    *(f"{100 * share / NUM_QUERIES:.0f} %" for share in sure),
                )


def main() -> None:
    """Measure what was asked for."""
    parser = arguments("index", __doc__)
    parser.add_argument("part", nargs="?", choices=("gallery", "indexes", "excluding"))
    parser.add_argument("largest", nargs="?", type=int)
    options = parser.parse_args()
    if options.part in (None, "gallery"):
        measure_gallery(options.largest or 100_000)
    if options.part in (None, "indexes"):
        measure_indexes(options.largest or SIZES[-1])
    if options.part in (None, "excluding"):
        measure_excluding(options.largest or SIZES[-1])


if __name__ == "__main__":
    main()
