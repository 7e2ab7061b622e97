"""A query's ranking by every epoch of a run, as the catalog lists it: kept, made in the background, or recorded."""

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nt2vr.errors import ConfigError, Nt2vrError, quoted
from nt2vr.files import parse_json
from nt2vr.media.gallery import Video
from nt2vr.models.catalog import EPOCH, Catalog, CatalogEntry
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Hit, Judge, Ranking, Verdict
from nt2vr.search.exclusion import above_mean
from nt2vr.search.live import LoadedModel
from nt2vr.search.searcher import Panel, Searcher
from nt2vr.search.strategies import System

logger = logging.getLogger(__name__)
MAX_QUERIES = 256  # whose rankings are kept: about 30 KB each, of 15 epochs with eight clips
MAX_WAITING = (
    4  # queries whose epochs are being searched, one after another; others are asked again later
)
OF_RUN = re.compile(r" · (?:epoch (\d+)|best)$")
Entries = Mapping[str, CatalogEntry]
Key = tuple[str, str]  # a run, and the query with its strategy
Found = Sequence[tuple[str, float]]  # ids and scores of the first clips, best first


@dataclass(frozen=True)
class RunEpochs:
    """A run, by its name in the catalog, and the epochs whose checkpoints remain, oldest first."""

    run: str
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, model: str, entries: Entries) -> "RunEpochs | None":
        """Return those of the run whose newest, best or single epoch a model is; None if it is none of a run."""
        entry = entries.get(model)
        if entry is None or entry.kind not in ("run", "epoch"):
            return None
        shorter = OF_RUN.sub("", model)
        run = shorter if shorter in entries else model
        found = (EPOCH.fullmatch(folder.name) for folder in entries[run].folders)
        return cls(run, tuple(sorted(int(match[1]) for match in found if match)))

    def system(self, epoch: int, like: System) -> System:
        """Return the system of an epoch with the strategy of another; the newest epoch is the run, which goes on."""
        if epoch not in self.epochs:
            raise ConfigError(
                f"{quoted(self.run)} has no such epoch. Choose one from {self.epochs[0]} on."
            )
        model = self.run if epoch == self.epochs[-1] else f"{self.run} · epoch {epoch}"
        return System(model, like.strategy, like.strength)

    def missing(self, models: Catalog, base: str, kept: Collection[int]) -> list[int]:
        """List the epochs not kept, with 0 for the base; those that would embed the gallery wait to be asked for."""
        entries = models.entries()
        key = models.card(self.run, entries).visual_key
        names = {0: base} | {epoch: f"{self.run} · epoch {epoch}" for epoch in self.epochs}
        absent = (
            (epoch, name) for epoch, name in names.items() if epoch not in kept and name in entries
        )
        return [epoch for epoch, name in absent if models.card(name, entries).visual_key == key]

    def rank(
        self, searcher: Searcher, query: Query, panel: Panel, epoch: int, base: str, like: System
    ) -> Ranking:
        """Rank with an epoch that is not loaded, or the base for 0, as `panel` asks `like`; no hits if that fails."""
        system = replace(like, model=f"{self.run} · epoch {epoch}" if epoch else base)
        try:
            models = searcher.models
            encoder = (
                models.read(models.folder(system.model)) if epoch else searcher.live.encoder(base)
            )
            panel = replace(panel, systems=(system,), loaded={system.model: LoadedModel(encoder)})
            return searcher.answer(query, panel).rankings[0]
        except Nt2vrError as error:
            logger.warning("Epoch %d of %s was not searched: %s", epoch, self.run, error)
            return Ranking(system, ())


def judged_by_parts(
    rankings: Mapping[int, Ranking], base: str, query: Query, searcher: Searcher, panel: Panel
) -> dict[int, Ranking]:
    """Judge hits by what a run's base finds for each part of a query alone, where nobody knows what clips show.

    A clip shows a part if its similarity is a standard deviation above the gallery's mean. That
    tells of 76 % of 922 first clips of the built-in world whether they violate, and of 72 to 87 %
    where a tenth to half of 60 clips do.
    """
    model = searcher.live.get(base)
    (parts,) = searcher.parts(query, replace(panel, systems=(System(base),), loaded={base: model}))
    gallery, num_unwanted = model.view(searcher), len(parts.unwanted)
    texts = parts.unwanted if parts.wanted is None else np.vstack([parts.unwanted, parts.wanted])
    least = above_mean(gallery.embeddings, texts, deviations=1)

    def verdict(hit: Hit) -> Verdict:
        shows = gallery.embeddings[gallery.row_of[hit.video_id]] @ texts.T > least
        if shows[:num_unwanted].any():
            return "violation"
        return "right" if shows[num_unwanted:].all() else "miss"

    return {
        epoch: replace(each, hits=tuple(replace(hit, verdict=verdict(hit)) for hit in each.hits))
        for epoch, each in rankings.items()
    }


def epoch_of(ranking: Ranking) -> int:
    """Return the epoch that answered; 0 if the model's name does not say."""
    named = OF_RUN.search(ranking.system.model)
    return ranking.epoch or (int(named[1]) if named and named[1] else 0)


class KeptRankings:
    """Rankings by run, query and epoch, of the latest queries of all pages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, dict[int, Ranking]] = OrderedDict()
        self._waiting: set[Key] = set()
        self._changing, self._searching = threading.Lock(), threading.Lock()

    def add(self, key: Key, rankings: Mapping[int, Ranking]) -> dict[int, Ranking]:
        """Add rankings by epoch, and return all of the run and query; without what only a clip's details need."""
        slim = {
            epoch: replace(each, ranks={}, vector=None, gallery=None)
            for epoch, each in rankings.items()
        }
        with self._changing:
            known = self._kept[key] = {**self._kept.pop(key, {}), **slim}
            while len(self._kept) > MAX_QUERIES:
                self._kept.popitem(last=False)
            return dict(known)

    def keep_to(self, runs: Collection[str]) -> None:
        """Drop what is kept of runs that were deleted."""
        with self._changing:
            for key in [key for key in self._kept if key[0] not in runs]:
                del self._kept[key]

    def complete(self, key: Key, epochs: Sequence[int], rank: Callable[[int], Ranking]) -> None:
        """Rank with further epochs in the background, unless that is under way."""
        with self._changing:
            if key in self._waiting or len(self._waiting) >= MAX_WAITING:
                return
            self._waiting.add(key)

        def work() -> None:
            try:
                with self._searching:
                    for epoch in epochs:
                        self.add(key, {epoch: rank(epoch)})
            finally:
                with self._changing:
                    self._waiting.discard(key)

        threading.Thread(target=work, name="epochs", daemon=True).start()


@dataclass(frozen=True)
class Recording:
    """A run's results by query and epoch, replayed without models; `benchmarks.recording` makes the shipped one."""

    base: str  # name of the model that the run started from
    preset: str  # name of its config
    date: str  # its day, as in "2026-11-25"
    seconds: Sequence[float]  # from the start to each epoch's checkpoint
    hard_pairs: Sequence[float]  # of each epoch on the run's validation clips, in percent
    queries: Mapping[str, Sequence[Found]]  # sentence to what each epoch found

    @classmethod
    def of_gallery(cls, path: Path, videos: Collection[str]) -> "Recording | None":
        """Read a recording of a gallery; None if there is none, or it is of other clips."""
        if not path.is_file():
            return None
        recording = cls(**parse_json(path.read_text(encoding="utf-8")))
        if {
            clip for epochs in recording.queries.values() for found in epochs for clip, _ in found
        } <= set(videos):
            return recording
        logger.warning(
            "%s is of another gallery. Make it again: python -m benchmarks.recording.", path
        )
        return None

    def rankings(
        self, query: Query, judge: Judge, video_of: Callable[[str], Video]
    ) -> dict[int, Ranking]:
        """Return what each epoch found, judged; nothing for a sentence that was not recorded."""
        rankings = {}
        for epoch, found in enumerate(self.queries.get(query.text, ())):
            ranked = enumerate(found, 1)
            hits = (
                Hit(clip, rank, score, judge(query, video_of(clip)))
                for rank, (clip, score) in ranked
            )
            rankings[epoch] = Ranking(System(self.base), tuple(hits))
        return rankings
