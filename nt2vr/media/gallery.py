"""Galleries: named videos, and the JSONL manifest that lists them. Opens no videos."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nt2vr.errors import GalleryError, quoted
from nt2vr.files import parse_json


@dataclass(frozen=True)
class Video:
    """One clip of a gallery: a video file, a picture, or a window of a long video.

    Attributes:
        scene: exact description of its content as data, if known.
        start: where the clip starts in the file, in seconds.
        end: where it ends; None is the end of the file.
        film: id of the long video that the clip is a window of; empty for a whole file.
        content: hash of the file's content, where it is known without reading the file.
        root: folder that the file must lie in when it is opened, after links are followed; None is anywhere.
    """

    video_id: str
    path: Path
    captions: tuple[str, ...] = ()
    scene: Mapping[str, Any] | None = field(default=None, hash=False)
    start: float = 0.0
    end: float | None = None
    film: str = ""
    content: str = ""
    root: Path | None = None


@dataclass(frozen=True)
class Gallery:
    """Named videos.

    Attributes:
        key: name of the folder of its embeddings; unique among galleries, and safe in a path. Galleries without one
            share a folder.
    """

    name: str
    videos: tuple[Video, ...]
    key: str = ""


def load_gallery(manifest: Path) -> Gallery:
    """Read a JSONL manifest: one {"video_id", "path", "captions"?, "scene"?} per line, paths relative to its folder.

    Other keys are ignored; a GalleryError names file and line of an invalid one, or of a path that leads out of the
    folder. Unreadable videos are found when they are embedded.
    """
    try:
        lines = manifest.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise GalleryError(f"{manifest} cannot be read ({error}). Name a JSONL manifest.") from error
    folder = manifest.parent.resolve()
    videos: dict[str, Video] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                video = _video(parse_json(line), folder)
                if video.video_id in videos:
                    raise GalleryError(f"the video_id {quoted(video.video_id)} occurs twice; give each video its own.")
            except ValueError as error:
                raise GalleryError(f"{manifest}, line {number} is not JSON ({error}).") from None
            except GalleryError as error:
                raise GalleryError(f"{manifest}, line {number}: {error}") from None
            videos[video.video_id] = video
    if not videos:
        raise GalleryError(f'{manifest} names no videos. Write one {{"video_id": …, "path": …}} per line.')
    return Gallery(folder.name, tuple(videos.values()))


def _video(entry: object, folder: Path) -> Video:
    if not isinstance(entry, dict):
        raise GalleryError('expected {"video_id": …, "path": …}.')
    for key in ("video_id", "path"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise GalleryError(f"{key!r} must be a non-empty string, not {quoted(entry.get(key))}.")
    captions = entry.get("captions", [])
    if not isinstance(captions, list) or not all(isinstance(caption, str) for caption in captions):
        raise GalleryError(f"'captions' must be a list of strings, not {quoted(captions)}.")
    scene = entry.get("scene")
    if not isinstance(scene, dict | None):
        raise GalleryError(f"'scene' must be an object, not {quoted(scene)}.")
    try:
        path = (folder / entry["path"]).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a null byte, a loop of links
        raise GalleryError(f"the path {quoted(entry['path'])} cannot be used ({error}).") from None
    if not path.is_relative_to(folder):
        raise GalleryError(f"the path {quoted(entry['path'])} leads out of {folder}; keep the videos inside it.")
    return Video(entry["video_id"], path, tuple(captions), scene)
