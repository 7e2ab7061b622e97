"""What a new run can be refused for, checked before anything of it is written, drawn, decoded or measured."""

from collections.abc import Sequence

from nt2vr.datasets.base import Dataset
from nt2vr.datasets.load import load_dataset
from nt2vr.datasets.splits import sample
from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS, COMPOSED_MIR, NEGATED_DELTA_MIR
from nt2vr.evaluation.queries import JudgedQueries
from nt2vr.world import NAME
from trainer.config import OF_DENYING, OF_TEXT, OF_VIDEOS, TrainConfig
from trainer.data.caption_clips import read_split
from trainer.data.queries import evaluation_queries
from trainer.inputs import Parts
from trainer.losses import WeightedLosses
from trainer.start import check_batch_size, check_model
from trainer.trainings import num_processes, training_of

# Metrics of negation that validation measures on a dataset.
OF_DATASETS = (COMPOSED_MIR, COMPOSED_HARD_PAIRS, NEGATED_DELTA_MIR)


def check_start(config: TrainConfig) -> None:
    """Raise an Nt2vrError if a run with this config, whose paths are absolute, would be refused as it starts.

    Files are listed and captions read, but no video is decoded and no tower loaded. What only shows
    later, such as videos that cannot be decoded, still ends a run that has begun.
    """
    training = training_of(config)
    if training is not None:
        training.check_start(config)
        return
    check_batch_size(config, num_processes())
    losses = check_model(config)
    for section in config.extensions.values():
        section.check_files()
    measured = measured_metrics(config, losses)
    if not losses.reading.videos:
        _check_captions(config)
        _check_monitor(config, "captions without videos", measured)
    elif config.dataset.is_world:
        _check_monitor(config, NAME, measured)
    else:
        _check_dataset(config, measured)


def _check_captions(config: TrainConfig) -> None:
    if config.dataset.is_world:
        return
    _, captions = read_split(config, "train")
    read_split(config, "validation")
    if not config.dataset.add_world:
        _check_counts(config, num_clips=len(captions))


def _check_dataset(config: TrainConfig, measured: Sequence[str]) -> None:
    has_files = config.video_input is None
    training = load_dataset(config.dataset.data, "train", with_files=has_files)
    validation = load_dataset(config.dataset.data, "validation", with_files=has_files)
    clips = sample(training.videos, config.dataset.num_clips)
    num_captions = sum(len(video.captions) for video in clips)
    _check_counts(config, len(clips), num_captions)
    _check_monitor(config, f"the held-out clips of {validation.name}", measured)
    if config.validation.monitor in OF_DATASETS:
        _check_queries(config, validation)


def _check_counts(config: TrainConfig, num_clips: int, num_captions: int = 0) -> None:
    """Build the config that the run will have: with as many clips and captions as there are."""
    config.replace(num_clips=num_clips, num_captions=min(config.dataset.num_captions, num_captions))


def _check_monitor(config: TrainConfig, where: str, measured: Sequence[str]) -> None:
    """Refuse a monitor that is not among the metrics that are measured there."""
    monitor = config.validation.monitor
    if monitor not in measured:
        monitors = ", ".join(measured)
        raise ConfigError(
            f"{monitor} cannot be measured on {where}. Set monitor to one of: {monitors}."
        )


def measured_metrics(config: TrainConfig, losses: WeightedLosses) -> list[str]:
    """List the metrics that a run's validation measures, given its losses."""
    has_videos = losses.reading.videos
    of_world = has_videos and config.dataset.is_world
    metrics: list[str] = []
    if has_videos:
        metrics += OF_VIDEOS
    if of_world:
        metrics += OF_DENYING
    elif has_videos:
        metrics += OF_DATASETS
    if Parts in losses.inputs and not of_world:
        metrics += OF_TEXT
    return metrics


def _check_queries(config: TrainConfig, validation: Dataset) -> None:
    """Refuse a monitor for which the captions of the held-out clips give no queries."""
    count = config.validation.validation_clips
    held_out_ids = {video.video_id for video in sample(validation.videos, count)}
    # Wordings depend on the order of the dataset.
    clips = [video for video in validation.videos if video.video_id in held_out_ids]
    measured = _metrics_of(evaluation_queries(clips, clips))
    clip_count = counted(len(clips), "held-out clip")
    where = f"the {clip_count} of {validation.name}, whose captions give no such queries"
    _check_monitor(config, where, [*OF_VIDEOS, *measured])


def _metrics_of(queries: JudgedQueries) -> list[str]:
    composed = [query for query in queries if query.kind == "composed"]
    metrics = []
    if composed:
        metrics.append(COMPOSED_MIR)
    if any(len(query.hard) for query in composed):
        metrics.append(COMPOSED_HARD_PAIRS)
    if any(query.kind == "negated" for query in queries):
        metrics.append(NEGATED_DELTA_MIR)
    return metrics
