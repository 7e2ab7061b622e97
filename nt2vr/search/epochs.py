"""A query's ranking by every epoch of a run: cached, computed in the background, or recorded."""

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError, quoted
from nt2vr.files import stored_json
from nt2vr.media.gallery import Video
from nt2vr.models.catalog import Catalog, checkpoint_epoch
from nt2vr.models.catalog import Entries as Entries
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Ranking
from nt2vr.search.exclusion import above_mean
from nt2vr.search.hits import Hit
from nt2vr.search.judge import Verdict
from nt2vr.search.live import LoadedModel
from nt2vr.search.plan import SearchPlan
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import System
from nt2vr.search.system_search import embed_for_systems

logger = logging.getLogger(__name__)
# Queries whose rankings are kept: about 30 KB each, of 15 epochs with eight clips.
MAX_QUERIES = 256
# Queries whose epochs wait to be searched, one after another; a later search asks for others again.
MAX_WAITING = 4
EPOCH_IN_NAME = re.compile(r" · (?:epoch (\d+)|best)$")
# By epoch.
Rankings = dict[int, Ranking]
# A run, and the query with its strategy.
Key = tuple[str, str]
# Ids and scores of the first clips, best first.
RecordedHits = Sequence[tuple[str, float]]


@dataclass(frozen=True)
class RunEpochs:
    """A run, by its name in the catalog, and the epochs whose checkpoints remain, oldest first."""

    run: str
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, model: str, entries: Entries) -> "RunEpochs | None":
        """Return the run that a model is, or is an epoch of, with all epochs; None for other models."""
        entry = entries.get(model)
        if entry is None or entry.kind not in ("run", "epoch"):
            return None
        without_epoch = EPOCH_IN_NAME.sub("", model)
        run = without_epoch if without_epoch in entries else model
        epochs = map(checkpoint_epoch, entries[run].folders)
        return cls(run, tuple(sorted(epoch for epoch in epochs if epoch is not None)))

    def system(self, epoch: int, like: System) -> System:
        """Return the system of an epoch with the strategy of another.

        The newest epoch is the run itself, which goes on.
        """
        if epoch not in self.epochs:
            raise ConfigError(
                f"{quoted(self.run)} has no such epoch. Choose one from {self.epochs[0]} on."
            )
        model = self.run if epoch == self.epochs[-1] else f"{self.run} · epoch {epoch}"
        return replace(like, model=model)

    def missing(self, models: Catalog, base: str, ranked: Collection[int]) -> list[int]:
        """List the epochs without a ranking, with 0 for the base.

        Epochs that would embed the gallery wait until somebody asks for them.

        Args:
            ranked: the epochs with a ranking.
        """
        entries = models.entries()
        visual_key = models.card(self.run, entries).visual_key
        missing = []
        for epoch in (0, *self.epochs):
            model = self._model_of(epoch, base)
            is_absent = epoch not in ranked and model in entries
            if is_absent and models.card(model, entries).visual_key == visual_key:
                missing.append(epoch)
        return missing

    def _model_of(self, epoch: int, base: str) -> str:
        """Return the name of an epoch that is not loaded, or of the base for 0."""
        if not epoch:
            return base
        return f"{self.run} · epoch {epoch}"

    def rank(
        self,
        searcher: Searcher,
        query: Query,
        plan: SearchPlan,
        epoch: int,
        base: str,
        like: System,
    ) -> Ranking:
        """Rank with an epoch that is not loaded, or the base for 0; no hits if that fails.

        Args:
            plan: everything else of the search.
            like: a system with the strategy.
        """
        model = self._model_of(epoch, base)
        system = replace(like, model=model)
        try:
            if epoch:
                encoder = searcher.models.read(searcher.models.folder(model))
            else:
                encoder = searcher.live.encoder(base)
            plan = replace(plan, systems=(system,), loaded={model: LoadedModel(encoder)})
            return searcher.answer(query, plan).rankings[0]
        except Nt2vrError as error:
            logger.warning("Epoch %d of %s was not searched: %s", epoch, self.run, error)
            return Ranking(system, ())


def judged_by_parts(
    rankings: Mapping[int, Ranking], base: str, query: Query, searcher: Searcher, plan: SearchPlan
) -> Rankings:
    """Judge hits by what a run's base finds for each part of a query alone.

    This is for galleries whose content is unknown. A clip counts as showing a part if its similarity
    is a standard deviation above the gallery's mean. On the built-in world, this is right about
    violations for 76 % of 922 first clips, and for 72 to 87 % where a tenth to half of 60 clips
    violate.
    """
    verdict_of = _judge_by_parts(base, query, searcher, plan)
    judged = {}
    for epoch, ranking in rankings.items():
        hits = [replace(hit, verdict=verdict_of(hit.video_id)) for hit in ranking.hits]
        judged[epoch] = replace(ranking, hits=tuple(hits))
    return judged


def _judge_by_parts(
    base: str, query: Query, searcher: Searcher, plan: SearchPlan
) -> Callable[[str], Verdict]:
    """Return a judge of clips by their ids, see `judged_by_parts`."""
    # Unlike the sentence as typed, this strategy has the parts embedded.
    system = System(base, "boolean")
    base_plan = replace(plan, systems=(system,), loaded={base: searcher.live.get(base)})
    (parts,) = embed_for_systems(query, base_plan)
    texts = parts.unwanted
    if parts.wanted is not None:
        texts = np.vstack([parts.unwanted, parts.wanted])
    gallery = base_plan.gallery_of(base)
    thresholds = above_mean(gallery.embeddings, texts, deviations=1)

    def verdict_of(video_id: str) -> Verdict:
        clip = gallery.embeddings[gallery.row_of[video_id]]
        return _verdict(clip @ texts.T > thresholds, len(parts.unwanted))

    return verdict_of


def _verdict(shows_part: NDArray[np.bool_], num_unwanted: int) -> Verdict:
    """Judge a clip by the parts that it shows, the unwanted ones first."""
    if shows_part[:num_unwanted].any():
        return "violation"
    if shows_part[num_unwanted:].all():
        return "right"
    return "miss"


def epoch_of(ranking: Ranking) -> int:
    """Return the epoch that answered; 0 if the model's name does not say."""
    if ranking.epoch:
        return ranking.epoch
    match = EPOCH_IN_NAME.search(ranking.system.model)
    if match is None or match[1] is None:
        return 0
    return int(match[1])


class RankingCache:
    """Rankings by run, query and epoch, of the latest queries of all pages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Rankings] = OrderedDict()
        self._waiting: set[Key] = set()
        self._changing = threading.Lock()
        self._searching = threading.Lock()

    def add(self, key: Key, rankings: Mapping[int, Ranking]) -> Rankings:
        """Add rankings by epoch, and return all of the run and query.

        They are stored without their embeddings, which only the view of one clip needs.
        """
        slim = {
            epoch: replace(ranking, ranks={}, vector=None, gallery=None)
            for epoch, ranking in rankings.items()
        }
        with self._changing:
            # The latest queries come last.
            all_rankings = {**self._kept.pop(key, {}), **slim}
            self._kept[key] = all_rankings
            while len(self._kept) > MAX_QUERIES:
                self._kept.popitem(last=False)
            return dict(all_rankings)

    def keep_only(self, runs: Collection[str]) -> None:
        """Drop the rankings of all other runs, as these were deleted."""
        with self._changing:
            for key in list(self._kept):
                run, _ = key
                if run not in runs:
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
    """A run's results by query and epoch, replayed without models.

    `benchmarks.recording` makes the shipped one.

    Attributes:
        base: name of the model that the run started from.
        preset: name of its config.
        date: its day, as in "2026-11-25".
        seconds: from the start to each epoch's checkpoint.
        hard_pairs: of each epoch on the run's validation clips, in percent.
        queries: by sentence, the first clips of each epoch.
    """

    base: str
    preset: str
    date: str
    seconds: Sequence[float]
    hard_pairs: Sequence[float]
    queries: Mapping[str, Sequence[RecordedHits]]

    @classmethod
    def of_gallery(cls, path: Path, videos: Collection[str]) -> "Recording | None":
        """Read a recording of a gallery; None if there is none, or it is of other clips."""
        if not path.is_file():
            return None
        recording = cls(**stored_json(path))
        if recording.video_ids() <= set(videos):
            return recording
        logger.warning(
            "%s is of another gallery. Make it again: python -m benchmarks.recording.", path
        )
        return None

    def video_ids(self) -> set[str]:
        """Return the ids of all clips that were recorded."""
        video_ids: set[str] = set()
        for epochs in self.queries.values():
            for hits in epochs:
                video_ids.update(video_id for video_id, _ in hits)
        return video_ids

    def rankings(
        self,
        query: Query,
        judge: Callable[[Query, Video], Verdict | None],
        video_of: Callable[[str], Video],
    ) -> Rankings:
        """Return the ranking of each epoch, judged; none for a sentence that was not recorded."""
        rankings = {}
        for epoch, recorded in enumerate(self.queries.get(query.text, ())):
            hits = [
                Hit(
                    video_id=video_id,
                    rank=rank,
                    score=score,
                    verdict=judge(query, video_of(video_id)),
                )
                for rank, (video_id, score) in enumerate(recorded, 1)
            ]
            rankings[epoch] = Ranking(System(self.base), tuple(hits))
        return rankings
