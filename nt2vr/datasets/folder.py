"""Custom videos: a folder with a captions file, CSV or JSONL."""

import os
from pathlib import Path

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, split_named
from nt2vr.datasets.files import Files, expecting, read_table, text
from nt2vr.errors import DatasetError
from nt2vr.files import parse_json
from nt2vr.media.gallery import load_gallery

MARKS = ("*.csv", "*.jsonl")
FORM = (
    'a CSV with the columns "caption", "video_id" or "path" (one caption per row) and optionally "split", or a JSONL '
    'with one {"video_id", "path", "captions": […]} per line, optionally with "split"'
)


def _load(files: Files) -> Annotations:
    """Read the captions file; videos without a "split" are for training if others have one."""
    found = files.named(*MARKS)
    found = [file for file in found if file.parent == found[0].parent]
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise DatasetError(f"{found[0].parent} has several captions files ({names}). Name one of them.")
    (path,) = found
    annotations = _from_table(path) if path.suffix == ".csv" else _from_manifest(path)
    if len(annotations.splits) > 1:  # only some videos name their split
        annotations.splits.setdefault("train", {}).update(annotations.splits.pop("all", {}))
    return annotations


def _from_manifest(path: Path) -> Annotations:
    videos = load_gallery(path).videos
    splits: dict[Split, Captions] = {}
    with expecting(path, FORM):
        lines = path.read_text(encoding="utf-8-sig").split("\n")
        entries = [parse_json(line) for line in lines if line.strip()]
        for video, entry in zip(videos, entries, strict=True):
            splits.setdefault(_split(entry.get("split")), {})[video.video_id] = list(video.captions)
    return Annotations(path.parent.name, splits, {video.video_id: video.path for video in videos})


def _from_table(path: Path) -> Annotations:
    splits: dict[Split, Captions] = {}
    paths: dict[str, Path] = {}
    with expecting(path, FORM):
        for row in read_table(path, ["caption"]):
            video_id = text(row.get("video_id") or row["path"])
            if row.get("path"):
                paths[video_id] = _inside(path.parent, row["path"].strip())
            splits.setdefault(_split(row.get("split")), {}).setdefault(video_id, []).append(text(row["caption"]))
    return Annotations(path.parent.name, splits, paths)


def _split(name: str | None) -> Split:
    return split_named(text(name)) if name else "all"


def _inside(folder: Path, name: str) -> Path:
    path = Path(os.path.normpath(folder / name))
    if not path.is_relative_to(folder):
        raise DatasetError(f"the path {name!r} leads out of the folder")
    return path


LOADER = Loader(MARKS, f"your own captions file: {FORM}", _load)
