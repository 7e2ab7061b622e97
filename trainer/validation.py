"""Validation after each epoch: the evaluation's measures for one model on held-out clips, and its checkpoint."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.progress import Progress, silent
from nt2vr.search.systems import System
from trainer.config import METRICS
from trainer.data.clips import Clips
from trainer.learner import Learner
from trainer.text_measures import TextMeasures, early_warning

logger = logging.getLogger(__name__)
TRACKED = ("/MIR", "/delta_MIR", "/hard_pairs", "/auc")  # of denying sentences; enough to follow a run
CONTROLS = {"base": "plain", "drop": "drop", "boolean": "boolean"}  # metric prefix -> search strategy


class Validator:
    """Measures the model and writes its checkpoints, see `Validates`; the base and its controls are measured once."""

    def __init__(self, learner: Learner, clips: Clips, progress: Progress, shifts: Mapping[str, float]) -> None:
        """Measure the base, if any, and its controls, on clips of the validation split; `shifts` are for the card."""
        self._learner, self._clips, self._shifts = learner, clips, shifts
        config = learner.config
        self._videos: NDArray[np.float32] | None = None
        self.controls: dict[str, float] = {}
        self._text: TextMeasures | None = None
        if not config.trains_visual and clips.has_videos:
            self._videos = clips.embedded_once(as_scored(learner.frozen_encoder()), progress)
        if config.base_folder:
            if clips.has_videos and not config.features:
                self.controls = control_metrics(config.base_folder, clips, learner.device, progress)
            if learner.teacher and "truth" in clips.sentences.lacks:
                self._text = TextMeasures(learner, clips)
                self.controls |= self._text.controls
        doubtful = config.patience > 0 and not (clips.has_videos and config.monitor.startswith("original/"))
        if doubtful and config.monitor not in (measured := self.measure()):
            others = ", ".join(name for name in measured if name in METRICS)
            raise ConfigError(f"{config.monitor} cannot be measured on these {clips.unit}. Set monitor to {others}.")

    def measure(self) -> dict[str, float]:
        """Measure the model as it is now, putting it in eval mode."""
        encoder, videos = self._learner.encoder(), self._videos
        if videos is not None and self._learner.head is self._learner.pooling:
            videos = encoder.pool(self._learner.as_frames(videos))
        measured = validate(encoder, self._clips, videos) if self._clips.has_videos else {}
        return measured | (self._text(encoder) if self._text else {})

    def check_early(self) -> None:
        """Warn in the log if teaching from captions gets nowhere."""
        if self._text:
            measured = self._text(self._learner.encoder())
            self._learner.start_epoch()  # as `encoder` puts the model in eval mode
            if warning := early_warning(measured, self.controls, self._learner.config.learning_rate):
                logger.warning(warning)

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        """Write the model as a checkpoint."""
        learner, config = self._learner, self._learner.config
        card = Card(
            name=config.name,
            objective=" + ".join(config.losses),
            base=learner.base.name if learner.base and not config.features else "",
            frames=config.num_frames if self._clips.has_videos or not learner.base else learner.base.frames,
            pooling=learner.card.pooling,
            positions=learner.card.positions,
            features=config.features,
            losses=config.losses,
            data=f"{self._clips.name}, {config.num_clips} {self._clips.unit}",
            epoch=epoch,
            metrics=metrics,
            shifts=self._shifts,
        )
        write_checkpoint(
            folder,
            learner.model,
            config.model_cfg,
            learner.preprocess,
            card,
            tokenizer=learner.tokenizer,
            pooling=learner.pooling,
            words=learner.words,
        )


def validate(encoder: Encoder, clips: Clips, videos: NDArray[np.float32] | None = None) -> dict[str, float]:
    """Search the clips with one caption per clip and with denying sentences; return measures of `summarise`.

    These are every "original/" one, and for denying sentences those TRACKED; for datasets only "negated/delta_MIR".

    Args:
        videos: (N, D), L2-normalised clip embeddings, or (N, F, D) as for `Benchmark.embed`; computed if None.
    """
    videos = clips.embeddings(as_scored(encoder)) if videos is None else videos
    return _measured(encoder, clips, videos, ["plain"])[0]


def control_metrics(base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent) -> dict[str, float]:
    """Measure the starting model as it is ("base/") and with the control strategies "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    videos = clips.embedded_once(as_scored(encoder), progress)
    measured = _measured(encoder, clips, videos, list(CONTROLS.values()), progress)
    return {
        f"{control}/{name}": value
        for control, metrics in zip(CONTROLS, measured, strict=True)
        for name, value in metrics.items()
        if control == "base" or not name.startswith("original/")  # captions score the same under every strategy
    }


def _measured(
    encoder: Encoder, clips: Clips, videos: NDArray[np.float32], strategies: Sequence[str], progress: Progress = silent
) -> list[dict[str, float]]:
    queries = _queries(clips)
    names = tuple(map(str, range(len(clips))))
    benchmark = Benchmark(clips.name or "clips", names, queries, lambda *_: videos, {})
    measured = ask(encoder, [System(encoder.name, strategy) for strategy in strategies], videos, benchmark, progress)
    return [_tracked(summarise(queries, values)) for values in measured]


def _tracked(metrics: dict[str, float]) -> dict[str, float]:
    """Drop ranks, and the recalls and first-page measures of denying sentences, which only the evaluation reports."""
    return {name: value for name, value in metrics.items() if name.startswith("original/R@") or name.endswith(TRACKED)}


@lru_cache(maxsize=1)  # a run validates on the same clips after every epoch
def _queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    return clips.sentences.queries()
