"""Validation after each epoch: measures of the model, and of the base it is compared with."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.metric_names import (
    AUC,
    HARD_PAIRS,
    MIR,
    ORIGINAL,
    ORIGINAL_RECALLS,
    Metrics,
    delta,
)
from nt2vr.evaluation.queries import JudgedQueries
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System
from trainer.config import METRICS
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs import Parts
from trainer.learner import Learner
from trainer.runs.resume import Change
from trainer.text_measures import TextMeasures

logger = logging.getLogger(__name__)
# Enough to follow a run; the ranks are for the evaluation.
TRACKED = tuple(f"/{name}" for name in (MIR, delta(MIR), HARD_PAIRS, AUC))
# Search strategies of the controls, by the prefix of their measures.
CONTROLS = {"base": "plain", "drop": "drop", "boolean": "boolean"}


class Validator:
    """Measures the model and writes its checkpoints, see `Validates`.

    Attributes:
        controls: measures of the base and of control strategies, taken once.
        held_out: names what it measures on, such as "16 held-out clips".
    """

    def __init__(
        self,
        learner: Learner,
        clips: Clips,
        progress: Progress,
        changes: Sequence[Change],
    ) -> None:
        """Measure the base, if any, and its controls, on clips of the validation split.

        `changes` are written on the cards of checkpoints, with what the losses' inputs say.
        """
        self._learner = learner
        self._clips = clips
        self._card_fields: dict[str, Any] = {}
        for loss_input in learner.losses.inputs:
            self._card_fields |= loss_input.card_fields()
        self._changes = tuple(changes)
        self.held_out = counted(len(clips), f"held-out {clips.unit.removesuffix('s')}")
        self.controls: Metrics = {}
        config = learner.config

        self._videos: Vectors | None = None
        if clips.has_videos and not config.encoder.trains_visual:
            self._videos = clips.embedded_once(learner.frozen_encoder().as_scored(), progress)

        self._text_measures: TextMeasures | None = None
        is_world = clips.has_videos and config.dataset.is_world
        if Parts in learner.losses.inputs and not is_world:
            self._text_measures = TextMeasures(learner, clips)
            self.controls |= self._text_measures.controls

        base = config.encoder.base_folder
        if base and clips.has_videos and config.video_input is None:
            self.controls |= control_metrics(base, clips, learner.device, progress)
        if config.validation.patience:
            self._check_monitor()

    def _check_monitor(self) -> None:
        """Raise a ConfigError if these clips do not allow to measure what patience watches."""
        monitor = self._learner.config.validation.monitor
        if self._clips.has_videos and monitor.startswith(ORIGINAL):
            return
        measures = self.measure()
        if monitor not in measures:
            monitors = ", ".join(name for name in measures if name in METRICS)
            raise ConfigError(
                f"{monitor} cannot be measured on these {self._clips.unit}. "
                f"Set monitor to {monitors}."
            )

    def measure(self) -> Metrics:
        learner = self._learner
        encoder = learner.encoder()
        videos = self._videos
        if videos is not None and learner.learns_pooling:
            videos = encoder.pool(learner.as_frames(videos))

        measures: Metrics = {}
        if self._clips.has_videos:
            measures |= validate(encoder, self._clips, videos)
        if self._text_measures:
            measures |= self._text_measures(encoder)
        return measures

    def write(self, epoch: int, folder: Path, metrics: Metrics) -> None:
        learner = self._learner
        config = learner.config
        write_checkpoint(
            folder,
            model=learner.model,
            model_cfg=config.encoder.model_cfg,
            preprocess_cfg=learner.preprocess,
            card=self._card(epoch, metrics),
            base=config.encoder.base_folder,
            tokenizer=learner.tokenizer,
            pooling=learner.pooling,
            text_side=learner.text_side,
        )

    def _card(self, epoch: int, metrics: Metrics) -> Card:
        learner = self._learner
        config = learner.config
        losses = config.objective.losses
        base = ""
        if learner.base and config.video_input is None:
            base = learner.base.name
        # A training on captions alone leaves the base's number of frames as it is.
        frames = config.frames.num_frames
        if learner.base and not self._clips.has_videos:
            frames = learner.base.framing.frames

        card = Card(
            config.encoder.name,
            objective=" + ".join(losses),
            base=base,
            frames=frames,
            pooling=learner.card.pooling.name,
            positions=learner.card.framing.positions,
            losses=losses,
            data=f"{self._clips.name}, {config.dataset.num_clips} {self._clips.unit}",
            epoch=epoch,
            metrics=metrics,
            changes=self._changes,
            **config.card_video_input,
        )
        return card.replace(**self._card_fields)


def validate(encoder: Encoder, clips: Clips, videos: Vectors | None = None) -> Metrics:
    """Search the clips with captions and with denying sentences; return measures of `summarise`.

    These are every "original/" one, and for denying sentences those TRACKED; for datasets those of
    negated and composed queries. `videos` are as of `EmbeddedVideos.vectors`, and computed if None.
    """
    if videos is None:
        videos = clips.embeddings(encoder.as_scored())
    return _measure(encoder, clips, videos, strategies=["plain"])[0]


def control_metrics(
    base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent
) -> Metrics:
    """Measure the starting model as it is ("base/"), and with control strategies.

    These are "drop/" and "boolean/". Captions score the same under every strategy, so their
    measures are those of "base/".
    """
    encoder = read_checkpoint(base, device)
    videos = clips.embedded_once(encoder.as_scored(), progress)
    measures = _measure(
        encoder, clips, videos, strategies=list(CONTROLS.values()), progress=progress
    )
    controls = {}
    for control, of_strategy in zip(CONTROLS, measures, strict=True):
        for name, value in of_strategy.items():
            if control == "base" or not name.startswith(ORIGINAL):
                controls[f"{control}/{name}"] = value
    return controls


def _measure(
    encoder: Encoder,
    clips: Clips,
    videos: Vectors,
    strategies: Sequence[str],
    progress: Progress = silent,
) -> list[Metrics]:
    """Return the tracked measures of a model with each strategy."""
    queries = _queries(clips)
    embedded = EmbeddedVideos(videos)
    benchmark = TextBenchmark(
        name=clips.name or "clips",
        video_ids=tuple(map(str, range(len(clips)))),
        queries=queries,
        embed=lambda *_: embedded,
        source={},
    )
    systems = [System(encoder.name, strategy) for strategy in strategies]
    results = benchmark.measure(encoder, systems, progress=progress)
    return [_tracked(summarise(queries, result.measured)) for result in results]


def _tracked(measures: Metrics) -> Metrics:
    tracked = {}
    for name, value in measures.items():
        if name in ORIGINAL_RECALLS or name.endswith(TRACKED):
            tracked[name] = value
    return tracked


# A run validates on the same clips after every epoch.
@lru_cache(maxsize=1)
def _queries(clips: Clips) -> JudgedQueries:
    queries = clips.queries or clips.sentences.queries()
    has_negation = any(query.kind != "original" for query in queries)
    if queries and not has_negation:
        logger.warning(
            "No validation caption can be negated, so negation is not measured after each epoch."
        )
    return queries


def with_former_queries(clips: Clips) -> JudgedQueries:
    """Return the queries that a run on a dataset, begun with nT2VR 0.2.0 or earlier, validates on.

    These are its own, and the composed ones that it lacked. What it has measured so far, on which
    its best epoch depends, goes on as it was.
    """
    if isinstance(clips.sentences, WorldSentences):
        return ()
    composed = (query for query in clips.queries if query.kind == "composed")
    return (*clips.sentences.queries(), *composed)
