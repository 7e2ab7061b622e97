"""Captions without videos: read, split, and parsed to be negated."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from nt2vr.datasets.load import held_out_of, load_dataset, sample_ids
from nt2vr.errors import DatasetError
from nt2vr.files import expanded, parse_json
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.query_sets import read_any_captions
from nt2vr.progress import Progress, progress_bar, silent, tracked
from trainer.config import TrainConfig

DATASET_SUFFIXES = (".csv", ".json")  # dataset files, which locate their videos


def captions_file(path: Path) -> bool:
    """Return True for a file of captions without videos: a query set or plain text, but not a dataset's own file."""
    if not path.is_file() or path.suffix.lower() in DATASET_SUFFIXES:
        return False
    with suppress(ValueError, TypeError, OSError), path.open(encoding="utf-8-sig") as file:
        return "path" not in parse_json(next(filter(str.strip, file), "{}"))
    return True


def read_split(config: TrainConfig, split: Literal["train", "validation"]) -> tuple[str, list[str]]:
    """Read the display name and at most `num_clips` or `validation_clips` captions; the videos need not exist.

    A tenth of a captions file's videos is held out, at most HELD_OUT, by a hash of their ids, as in a dataset without
    a validation split. No validation caption also occurs in the training split, whichever video it describes.
    """
    path = expanded(config.data)
    if captions_file(path):
        name, videos = path.name, read_any_captions(path)
        ids = held_out_of(videos)
        parts = {
            "train": {video: some for video, some in videos.items() if video not in ids},
            "validation": {video: videos[video] for video in ids},
        }
    else:
        datasets = {part: load_dataset(config.data, part, with_files=False) for part in ("train", "validation")}
        name = datasets["train"].name
        parts = {part: {video.video_id: video.captions for video in some.videos} for part, some in datasets.items()}
    captions = _sampled(parts["train"], config.num_clips)
    if split == "validation":
        trained = {caption.lower() for some in parts["train"].values() for caption in some}
        unseen = {
            video: [caption for caption in some if caption.lower() not in trained]
            for video, some in parts["validation"].items()
        }
        captions = _sampled(unseen, config.validation_clips)
    if not captions:
        raise DatasetError(f"{name} has no captions that could be held out for validation. Add captions.")
    return name, captions


def _sampled(videos: Mapping[str, Sequence[str]], count: int) -> list[str]:
    """Sample at most `count` distinct captions, deterministically."""
    numbered = {f"{video}#{n}": text for video, texts in videos.items() for n, text in enumerate(texts)}
    unique = dict.fromkeys(numbered[key] for key in sample_ids(numbered, len(numbered)))
    return list(unique)[:count]


def denials_of(captions: Sequence[str], progress: Progress = silent) -> CaptionDenials:
    """Parse captions to draw denying sentences from; takes about a minute for 30,000."""
    with progress_bar(progress) as shown:
        return CaptionDenials(tracked(captions, len(captions), "parsing captions", shown))
