"""Judged queries: sentences with the videos that are right for them, and the benchmark they belong to."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop

QueryKind = Literal[
    "original", "negated", "composed", "without", "not", "retrieval", "choice", "pair", "class", "negated class"
]
Rows = NDArray[np.int32]  # (n,), which videos of a benchmark
Vectors = NDArray[np.float32]  # (N, D)
Embed = Callable[[Encoder, Progress, ShouldStop], Vectors]
CUE = re.compile(
    r"\b(?:no one|nobody|nothing|none|never|neither|nor|without|cannot|not|no|except|rather than|instead of)\b"
    r"|n['\u2019]t\b",
    re.I,
)


def row_array(numbers: Iterable[int]) -> Rows:
    """Return row numbers as an array."""
    return np.array(list(numbers), np.int32)


def cue_of(text: str) -> str:
    """Return the first negating word of a sentence in lower case, "n't" for "doesn't"; empty if it has none."""
    match = CUE.search(text)
    return match[0].lower().replace("\u2019", "'") if match else ""


@dataclass(frozen=True, eq=False)
class JudgedQuery:
    """A sentence to search for, and what is known about the videos searched.

    Attributes:
        kind: "original" (a caption), "negated" (a caption with one thing denied), "composed" (A and not B), "without"
            (A without a thing), "not" (not B, with nothing wanted) or "retrieval" (a true caption that denies);
            the others are questions, where texts are ranked for a video: see `choices`.
        text: all of it; of a question, the right text.
        relevant: the videos that are right; of a negated query, the one of its caption, which now is wrong.
        hard: videos that show the wanted and the unwanted; of "not", those that show B.
        violating: videos that show the unwanted, whatever else.
        wanted: the part to be seen, empty where nothing is; None if the parts are not known.
        unwanted: the parts not to be seen.
        original: of a negated query, the place of its caption among the benchmark's queries.
        cue: the word that denies.
        others: of a question, the places of the wrong texts among the benchmark's.
        group: what its answers are counted under, beside all.
    """

    kind: QueryKind
    text: str
    relevant: Rows
    hard: Rows = field(default_factory=lambda: row_array(()))
    violating: Rows = field(default_factory=lambda: row_array(()))
    wanted: str | None = None
    unwanted: tuple[str, ...] = ()
    original: int | None = None
    cue: str = ""
    others: Rows = field(default_factory=lambda: row_array(()))
    group: str = ""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Videos, and queries whose answers among them are known.

    Attributes:
        name: what people call it.
        video_ids: names of the V videos.
        queries: what is asked.
        embed: gives the videos' embeddings (V, D) under a model; raises InterruptedError when told to stop.
        source: what it was made from, plain JSON data (seeds, files, hashes): equal sources have equal videos.
        references: measures of other than systems, by name: of an oracle, say.
        texts: what questions can be answered with; empty if videos are searched.
    """

    name: str
    video_ids: tuple[str, ...]
    queries: tuple[JudgedQuery, ...]
    embed: Embed
    source: Mapping[str, Any]
    references: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not be measured.

        Raises:
            ConfigError: if there is nothing to search for or in, or a query has no video to be found.
        """
        if not self.queries or not self.video_ids:
            raise ConfigError(f"{self.name} has no queries or no videos. Choose other data.")
        for query in self.queries:
            if not len(query.relevant):
                raise ConfigError(f"No video of {self.name} is right for {query.text!r}. Leave the query out.")

    @property
    def digest(self) -> str:
        """Equal for benchmarks that ask the same of the same videos."""
        known = (self.name, sorted(self.source.items()), self.video_ids, self.texts)
        digest = blake2b(repr(known).encode(), digest_size=12)
        for query in self.queries:
            digest.update(repr((query.kind, query.text, query.wanted, query.unwanted, query.original)).encode())
            for numbers in (query.relevant, query.hard, query.violating, query.others):
                digest.update(np.int64(len(numbers)).tobytes() + np.asarray(numbers, "<i4").tobytes())
        return digest.hexdigest()


def mask(videos: Sequence[Rows], count: int) -> NDArray[np.bool_]:
    """Turn lists of row numbers into (len(videos), count) of truth values."""
    table = np.zeros((len(videos), count), bool)
    lengths = [len(some) for some in videos]
    table[np.repeat(np.arange(len(videos)), lengths), np.concatenate([row_array(()), *videos])] = True
    return table
