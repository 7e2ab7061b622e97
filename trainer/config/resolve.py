"""Files that a config names: their paths made absolute, and whether base and data can serve."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.datasets.video_inputs import open_video_input
from nt2vr.errors import ConfigError, quoted
from nt2vr.files import parse_json
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog
from nt2vr.sections import absolute
from nt2vr.settings import Settings, resolve_path
from nt2vr.world import WORLD
from trainer.config.config import TrainConfig
from trainer.trainings import training_of

# Losses that must know what each clip shows, as only the built-in world tells.
OF_WORLD = frozenset({"composed", "labels", "order"})
# Losses that need no videos.
OF_CAPTIONS = frozenset({"distill"})
# Presets that fit data of one's own.
FOR_VIDEOS = ("own-videos", "clip-star", "clip-bnl", "paper-bnl")
FOR_CAPTIONS = ("teach-text",)
# Suffixes of dataset files, which have captions but also locate videos.
CAPTION_SUFFIXES = (".csv", ".json")


def resolved(config: TrainConfig, data_dir: Path | None = None) -> TrainConfig:
    """Make paths absolute, so that the run finds its files from anywhere, and check that base and data can serve.

    The base may be the name of a model of the data folder. An error refuses data, and names presets
    that fit it.
    """
    paths: dict[str, Any] = {}
    for section in config.extensions.values():
        paths |= section.absolute_paths()
    config = config.replace(
        base=_base_folder(config.encoder.base, data_dir),
        data=_absolute_data(config.dataset.data),
        **paths,
    )
    base = config.encoder.base_folder
    if base:
        card = read_card(base)
        if card.clip:
            raise ConfigError(
                f"{card.name} takes whole clips. Only open_clip's models are trained: choose one of those."
            )
    if not config.dataset.is_world:
        _check_data(config)
    return config


def _base_folder(base: str, data_dir: Path | None) -> str:
    """Return the folder of a base, which may be the name of a model, in any letter case."""
    if not base or resolve_path(base).is_absolute() or resolve_path(base).exists():
        return absolute(base)
    models = Catalog.of(Settings.read(data_dir))
    if not models.named(base):
        raise ConfigError(
            f"No model or checkpoint folder is called {quoted(base)}. `nt2vr models list` has names; "
            f'`nt2vr models add "{base}"`, or “More models” in Search, downloads a model of open_clip\'s.'
        )
    return str(models.folder(base).absolute())


def _absolute_data(data: str) -> str:
    """Return data with an absolute path; the kind of a dataset may come before it, as in msrvtt:PATH."""
    if data == WORLD:
        return data
    kind, _ = kind_and_path(data)
    if not kind:
        return absolute(data)
    _, _, path_text = data.partition(":")
    return f"{kind}:{absolute(path_text)}"


def names_files(config: TrainConfig) -> bool:
    """Return True if a config names files other than its base and its data."""
    return any(section.names_files for section in config.extensions.values())


def is_captions_file(path: Path) -> bool:
    """Return True for a file of captions without videos: a query set or plain text, but not a dataset's own file."""
    if not path.is_file() or path.suffix.lower() in CAPTION_SUFFIXES:
        return False
    with suppress(ValueError, TypeError, OSError), path.open(encoding="utf-8-sig") as file:
        return "path" not in parse_json(next(filter(str.strip, file), "{}"))
    return True


def _check_data(config: TrainConfig) -> None:
    """Raise an Nt2vrError if a dataset or a captions file is missing, or if the losses cannot learn from it."""
    data = config.dataset.data
    path = kind_and_path(data)[1]
    training = training_of(config)
    if training is not None:
        training.check_data(config)
        return
    if not path.exists():
        raise ConfigError(
            f"{data} is not there. Name world, a captions file or the folder of a dataset."
        )

    is_captions = is_captions_file(path)
    presets = FOR_CAPTIONS if is_captions else FOR_VIDEOS
    fitting_presets = " or ".join(presets)
    losses = config.objective.losses.keys()
    of_world = sorted(OF_WORLD & losses)
    if of_world:
        raise ConfigError(
            f"{', '.join(of_world)} must know what each clip shows, which only the built-in world says. "
            f"For {path.name}, choose the preset {fitting_presets}, or other losses."
        )
    of_videos = sorted(losses - OF_CAPTIONS)
    if not of_videos:
        return
    if is_captions:
        raise ConfigError(
            f"{path.name} has captions but no videos, which {', '.join(of_videos)} cannot do without. "
            f"Choose the preset {fitting_presets}, or name a dataset with videos."
        )
    _check_videos(config, path)


def _check_videos(config: TrainConfig, path: Path) -> None:
    video_input = config.video_input
    if video_input is not None:
        open_video_input(video_input, path)
    sees_frames = video_input is None
    videos = load_dataset(config.dataset.data, "train", with_files=sees_frames).videos
    batch_size = config.batches.batch_size
    if len(videos) < batch_size:
        raise ConfigError(
            f"{path.name} has {len(videos)} clips to train on, too few for a batch_size of {batch_size}. "
            "Make it smaller."
        )
