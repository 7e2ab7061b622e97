"""Query x system -> ranked clips, with verdicts where truth is known. How a system weighs a query is `systems`'."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.cache import Cache
from nt2vr.encoder import Encoder, pool
from nt2vr.errors import ConfigError, Nt2vrError, QueryError
from nt2vr.language.tagger import load_tagger
from nt2vr.library import EmbeddedGallery, Gallery, Video, embed_gallery, prefetch_frames
from nt2vr.models import Models
from nt2vr.picture import fit
from nt2vr.query import Query, understand
from nt2vr.registry import pick
from nt2vr.systems import COSINE, DEFAULT_ALPHA, STRATEGIES, Parts, System, Vector
from nt2vr.video import Decoder
from nt2vr.world.truth import Verdict, judge

MAX_ALPHA = 10
MAX_K = 100
MAX_SYSTEMS = 8
RANKED = 1000  # how deep a clip's rank is looked up
NUM_BEST_FRAMES = 3
LOW_SCORE = "validation/low_score"  # in a model's card: 99% of captions that fit a clip get a better best score


@dataclass(frozen=True)
class Hit:
    """One clip found: `score` is in cosine units, `rank` counts from 1, `verdict` is None where truth is not known."""

    video_id: str
    rank: int
    score: float
    verdict: Verdict | None


@dataclass(frozen=True)
class Ranking:
    """What one system found.

    Attributes:
        system: which.
        hits: the best k, best first; empty if the strategy leaves nothing to search for.
        unseen: words of the query that the model never saw in training.
        low: the best score is lower than the model's scores for clips that do fit.
        vector: what was searched for, for the best frames of a clip; None if nothing.
        ranks: rank by video_id of the first RANKED.
    """

    system: System
    hits: tuple[Hit, ...]
    unseen: tuple[str, ...] = ()
    low: bool = False
    vector: Vector | None = field(default=None, repr=False, compare=False)
    ranks: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many hits have each verdict."""
        verdicts: tuple[Verdict, ...] = ("right", "violation", "miss")
        return {verdict: sum(hit.verdict == verdict for hit in self.hits) for verdict in verdicts}


@dataclass(frozen=True)
class Answer:
    """A query as understood, and what each system found."""

    query: Query
    rankings: tuple[Ranking, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the API's form of it, plain JSON data."""
        return {
            "query": {
                "text": self.query.text,
                "wanted": list(self.query.wanted),
                "unwanted": list(self.query.unwanted),
            },
            "systems": [
                {
                    "name": ranking.system.name,
                    "hits": [
                        {"video_id": hit.video_id, "rank": hit.rank, "score": hit.score, "verdict": hit.verdict}
                        for hit in ranking.hits
                    ],
                }
                for ranking in self.rankings
            ],
        }


@dataclass(frozen=True)
class Seen:
    """How one system sees one clip: its rank (None: below RANKED), score, and the best frames' places in [0, 1]."""

    system: System
    rank: int | None
    score: float | None
    moments: tuple[float, ...]


class Searcher:
    """Answers queries over one gallery with any of the models, each gallery embedding made once a visual tower."""

    def __init__(self, models: Models, gallery: Gallery, decoder: Decoder, cache: Cache) -> None:
        """Nothing is loaded before it is needed."""
        self.models = models
        self.gallery = gallery
        self._decoder = decoder
        self._cache = cache
        self._videos = {video.video_id: video for video in gallery.videos}
        self._embedded: dict[str, EmbeddedGallery] = {}
        self._embedding = threading.Lock()
        self.status = "starting"
        self.is_ready = False

    def system_names(self) -> list[str]:
        """Every model with every strategy; boolean also with the weight that the literature gives it."""
        systems = [
            System(model, strategy, alpha)
            for model in self.models.names()
            for strategy, alpha in (
                ("plain", None),
                ("boolean", None),
                ("boolean", 1.0),
                ("projection", None),
                ("drop", None),
            )
        ]
        return [system.name for system in systems]

    @cached_property
    def _tagger(self) -> Any:
        return load_tagger()

    def understand(self, text: str) -> Query:
        """Find the wanted and the unwanted part of a sentence."""
        return understand(text, self._tagger)

    def video(self, video_id: str) -> Video:
        """Return a video of the gallery."""
        return pick("clip", video_id, self._videos)

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        """Return the gallery as a model sees it, made once for each visual tower; callers wait for it."""
        key = f"{encoder.visual_fingerprint}-{encoder.num_frames}"
        if key not in self._embedded:
            with self._embedding:
                if key not in self._embedded:
                    self._embedded[key] = embed_gallery(
                        self.gallery, encoder, self._decoder, self._cache, self._report
                    )
        return self._embedded[key]

    def _report(self, done: int, total: int) -> None:
        self.status = f"reading clips, {done} of {total}"

    def warm_up(self, model: str) -> None:
        """Do what the first search needs; what fails here fails again, and is told, in the first search."""
        self.status = f"loading {model}"
        try:
            card = self.models.card(model)
            reading = threading.Thread(
                target=prefetch_frames,
                args=(self.gallery, card.frames, card.image_size, self._decoder, self._cache, card.visual_fingerprint),
                daemon=True,
            )
            reading.start()  # in child processes, while this one imports torch
            self.understand("a dog and not a cat")
            encoder = self.models.get(model)
            encoder.encode_text(["a dog"])
            reading.join()
            embedded = self.embedded(encoder)
        except Nt2vrError as error:
            self.status = str(error)
        else:
            self.status = f"{len(embedded.gallery.videos)} clips"
        self.is_ready = True

    def search(
        self,
        query: Query,
        systems: Sequence[str],
        k: int,
        image: NDArray[np.uint8] | None = None,
        image_weight: float = 0.5,
        alpha: float = DEFAULT_ALPHA,
    ) -> Answer:
        """Rank the gallery's clips for a query.

        Args:
            query: as understood (or as edited by the person).
            systems: names, a column each.
            k: hits a system.
            image: (H, W, 3) uint8 RGB reference picture, joins the query as a weighted mean of unit vectors.
            image_weight: 0 (text alone) to 1 (picture alone).
            alpha: weight of the unwanted part where a system fixes none.

        Raises:
            QueryError: if there is nothing to search for.
            ConfigError: if a system, k or a weight is impossible.
        """
        if not query.text.strip() and image is None:
            raise QueryError("Type what the clip should show, and what it should not, or give a reference picture.")
        if not 1 <= k <= MAX_K:
            raise ConfigError(f"Cannot show {k} results: choose 1 to {MAX_K}.")
        if not 1 <= len(systems) <= MAX_SYSTEMS:
            raise ConfigError(f"Cannot compare {len(systems)} systems: choose 1 to {MAX_SYSTEMS}.")
        if not 0 <= image_weight <= 1:
            raise ConfigError(f"The picture's weight is {image_weight}: choose 0 to 1.")
        names = self.models.names()
        chosen = [System.named(name, names) for name in systems]
        for weight in (alpha, *(system.alpha for system in chosen if system.alpha is not None)):
            if not 0 <= weight <= MAX_ALPHA:
                raise ConfigError(f"The unwanted part's weight α is {weight:g}: choose 0 to {MAX_ALPHA}.")
        return Answer(query, tuple(self._rank(query, system, k, image, image_weight, alpha) for system in chosen))

    def _rank(
        self, query: Query, system: System, k: int, image: NDArray[np.uint8] | None, image_weight: float, alpha: float
    ) -> Ranking:
        encoder = self.models.get(system.model)
        embedded = self.embedded(encoder)
        parts = _embed(query, encoder, image, image_weight, alpha if system.alpha is None else system.alpha)
        vector = STRATEGIES[system.strategy](parts)
        unseen = encoder.unseen_words(" ".join((*query.wanted, *query.unwanted)))
        if vector is None:
            return Ranking(system, (), unseen)
        scores, rows = embedded.index.search(vector[None], max(k, RANKED))
        videos = [embedded.gallery.videos[row] for row in rows[0]]
        hits = tuple(
            Hit(video.video_id, rank, round(float(score), 4), judge(query, video.scene) if video.scene else None)
            for rank, (video, score) in enumerate(zip(videos[:k], scores[0], strict=False), 1)
        )
        ranks = {video.video_id: rank for rank, video in enumerate(videos, 1)}
        floor = encoder.card.metrics.get(LOW_SCORE, -1.0)
        low = image is None and system.strategy in COSINE and bool(hits) and hits[0].score < floor
        return Ranking(system, hits, unseen, low, vector, ranks)

    def see(self, answer: Answer, video_id: str) -> tuple[Seen, ...]:
        """Say how every system of an answer sees one clip."""
        return tuple(self._see(ranking, video_id) for ranking in answer.rankings)

    def _see(self, ranking: Ranking, video_id: str) -> Seen:
        embedded = self.embedded(self.models.get(ranking.system.model))
        row = next((i for i, video in enumerate(embedded.gallery.videos) if video.video_id == video_id), None)
        if ranking.vector is None or row is None:
            return Seen(ranking.system, None, None, ())
        frames = embedded.frame_embeddings[row] @ ranking.vector  # (F,)
        best = np.argsort(-frames, kind="stable")[:NUM_BEST_FRAMES]
        moments = tuple(float((frame + 0.5) / len(frames)) for frame in sorted(best))
        score = float(pool(embedded.frame_embeddings[row]) @ ranking.vector)
        return Seen(ranking.system, ranking.ranks.get(video_id), round(score, 4), moments)


def _embed(
    query: Query, encoder: Encoder, image: NDArray[np.uint8] | None, image_weight: float, alpha: float
) -> Parts:
    """Embed a query's parts in one batch; the reference picture joins what is searched for, not what is avoided."""
    wanted_text = " ".join(query.wanted)
    texts = [text for text in (query.text, wanted_text) if text.strip()]
    embeddings = encoder.encode_text([*texts, *query.unwanted]) if texts or query.unwanted else None
    whole = embeddings[0] if embeddings is not None and query.text.strip() else None
    wanted = embeddings[len(texts) - 1] if embeddings is not None and wanted_text.strip() else None
    unwanted = embeddings[len(texts) :] if embeddings is not None else np.zeros((0, encoder.embed_dim), np.float32)
    if image is not None:
        picture = encoder.encode_frames(fit(image, encoder.image_size)[None])[0]
        whole, wanted = _mix(whole, picture, image_weight), _mix(wanted, picture, image_weight)
    return Parts(whole, wanted, unwanted, alpha)


def _mix(text: Vector | None, picture: Vector, weight: float) -> Vector:
    """Weighted mean of two unit vectors, a unit vector again; the picture alone where there is no text."""
    if text is None:
        return picture
    mean = (1 - weight) * text + weight * picture
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-6), np.float32)
