"""What a fusion is trained on, and the queries that it is validated with."""

from pathlib import Path

from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.dataset_triplets import load_dataset
from nt2vr.papers.covr.fusion_data import LoadedData
from nt2vr.papers.covr.world_triplets import load_world
from nt2vr.progress import Progress, silent
from trainer.config import TrainConfig


def load(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> LoadedData:
    """Embed what a fusion is trained on, and the queries that it is validated with.

    Of a dataset, whose splits must be "train" and "val", at most `num_clips` triplets are taken, a
    random choice.
    """
    if config.dataset.is_world:
        return load_world(encoder, config, cache, progress)
    return load_dataset(encoder, config, cache, progress)
