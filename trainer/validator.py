"""Validation after each epoch: measures of the model, and of the base it is compared with."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.metric_names import (
    AUC,
    HARD_PAIRS,
    KS,
    MIR,
    delta,
    recall,
)
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
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
# of captions, and of denying sentences; enough to follow a run
TRACKED_OF_CAPTIONS = tuple(f"original/{recall(k)}" for k in KS)
TRACKED = tuple(f"/{name}" for name in (MIR, delta(MIR), HARD_PAIRS, AUC))
CONTROLS = {
    "base": "plain",
    "drop": "drop",
    "boolean": "boolean",
}  # metric prefix -> search strategy


class Validator:
    """Measures the model and writes its checkpoints, see `Validates`; the base and its controls are measured once."""

    def __init__(
        self,
        learner: Learner,
        clips: Clips,
        progress: Progress,
        card_fields: Mapping[str, Any],
        changes: Sequence[Change] = (),
    ) -> None:
        """Measure the base, if any, and its controls, on clips of the validation split; the rest is for the card."""
        self._learner = learner
        self._clips = clips
        self._card_fields = card_fields
        self._changes = tuple(changes)
        config, has_videos = learner.config, clips.has_videos
        self.held_out = counted(len(clips), f"held-out {clips.unit.removesuffix('s')}")
        self._videos: NDArray[np.float32] | None = None
        self._text: TextMeasures | None = None
        self.controls: dict[str, float] = {}
        if has_videos and not config.encoder.trains_visual:
            self._videos = clips.embedded_once(learner.frozen_encoder().as_scored(), progress)
        if Parts in learner.losses.inputs and not (has_videos and config.dataset.is_world):
            self._text = TextMeasures(learner, clips)
            self.controls |= self._text.controls
        if config.encoder.base_folder and has_videos and config.video_input is None:
            self.controls |= control_metrics(
                config.encoder.base_folder, clips, learner.device, progress
            )
        if config.validation.patience and not (
            has_videos and config.validation.monitor.startswith("original/")
        ):
            self._refuse_unmeasured(config.validation.monitor)

    def _refuse_unmeasured(self, monitor: str) -> None:
        if monitor not in (measured := self.measure()):
            others, unit = ", ".join(name for name in measured if name in METRICS), self._clips.unit
            raise ConfigError(
                f"{monitor} cannot be measured on these {unit}. Set monitor to {others}."
            )

    def measure(self) -> dict[str, float]:
        encoder, videos = self._learner.encoder(), self._videos
        if videos is not None and self._learner.head is self._learner.pooling:
            videos = encoder.pool(self._learner.as_frames(videos))
        measured = validate(encoder, self._clips, videos) if self._clips.has_videos else {}
        return measured | (self._text(encoder) if self._text else {})

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        learner, config = self._learner, self._learner.config
        losses = config.objective.losses
        base = learner.base.name if learner.base and config.video_input is None else ""
        frames = config.frames.num_frames
        if learner.base and not self._clips.has_videos:
            frames = learner.base.framing.frames
        data = f"{self._clips.name}, {config.dataset.num_clips} {self._clips.unit}"
        card = Card(
            config.encoder.name,
            objective=" + ".join(losses),
            base=base,
            frames=frames,
            pooling=learner.card.pooling.name,
            positions=learner.card.framing.positions,
            losses=losses,
            data=data,
            epoch=epoch,
            metrics=metrics,
            changes=self._changes,
            **config.card_video_input,
        )
        card = card.replace(**self._card_fields)
        parts = {
            "tokenizer": learner.tokenizer,
            "pooling": learner.pooling,
            "text_side": learner.text_side,
        }
        configs = config.encoder.model_cfg, learner.preprocess
        write_checkpoint(
            folder, learner.model, *configs, card, base=config.encoder.base_folder, **parts
        )


def validate(
    encoder: Encoder, clips: Clips, videos: NDArray[np.float32] | None = None
) -> dict[str, float]:
    """Search the clips with captions and with denying sentences; return measures of `summarise`.

    These are every "original/" one, and for denying sentences those TRACKED; for datasets those of
    negated and composed queries. `videos` are as of `EmbeddedVideos.vectors`, and computed if None.
    """
    videos = clips.embeddings(encoder.as_scored()) if videos is None else videos
    return _measured(encoder, clips, videos, ["plain"])[0]


def control_metrics(
    base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent
) -> dict[str, float]:
    """Measure the starting model as it is ("base/") and with the control strategies "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    videos = clips.embedded_once(encoder.as_scored(), progress)
    measured = _measured(encoder, clips, videos, list(CONTROLS.values()), progress)
    return {
        f"{control}/{name}": value
        for control, metrics in zip(CONTROLS, measured, strict=True)
        for name, value in metrics.items()
        if control == "base"
        or not name.startswith("original/")  # captions score the same under every strategy
    }


def _measured(
    encoder: Encoder,
    clips: Clips,
    videos: NDArray[np.float32],
    strategies: Sequence[str],
    progress: Progress = silent,
) -> list[dict[str, float]]:
    queries, names = _queries(clips), tuple(map(str, range(len(clips))))
    embedded = EmbeddedVideos(videos)
    benchmark = TextBenchmark(clips.name or "clips", names, queries, lambda *_: embedded, {})
    systems = [System(encoder.name, strategy) for strategy in strategies]
    results = benchmark.measure(encoder, systems, progress=progress)
    found = [summarise(queries, result.measured) for result in results]
    # ranks, and the recalls and first pages of denying sentences, are for the evaluation
    return [
        {
            name: value
            for name, value in each.items()
            if name in TRACKED_OF_CAPTIONS or name.endswith(TRACKED)
        }
        for each in found
    ]


@lru_cache(maxsize=1)  # a run validates on the same clips after every epoch
def _queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    queries = clips.queries or clips.sentences.queries()
    if queries and not any(query.kind != "original" for query in queries):
        logger.warning(
            "No validation caption can be negated, so negation is not measured after each epoch."
        )
    return queries


def with_former_queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    """Return the queries of a dataset's clips for a run until 0.2.0: its own, and the composed ones that it lacked.

    What it has measured so far, on which its best epoch depends, goes on as it was.
    """
    if isinstance(clips.sentences, WorldSentences):
        return ()
    composed = (query for query in clips.queries if query.kind == "composed")
    return (*clips.sentences.queries(), *composed)
