"""Galleries: named videos, none of which is opened here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nt2vr.files import parse_json

TIFF_SUFFIXES = (".tif", ".tiff")


@dataclass(frozen=True)
class Video:
    """One clip of a gallery: a video file, a picture, or a window of a long video.

    Attributes:
        scene: exact description of its content as data, if known.
        start: where the clip starts in the file, in seconds.
        end: where it ends; None is the end of the file.
        long_video: id of the long video that the clip is a window of; empty for a whole file.
        content: hash of the file's content, where it is known without reading the file.
        root: folder that the file must lie in when it is opened, after links are followed; None is
            anywhere.
    """

    video_id: str
    path: Path
    captions: tuple[str, ...] = ()
    scene: Mapping[str, Any] | None = field(default=None, hash=False)
    start: float = 0.0
    end: float | None = None
    long_video: str = ""
    content: str = field(default="", compare=False)
    root: Path | None = None

    @property
    def decoded_content(self) -> str:
        """Name what the file shows: its content, and for a TIFF that it is read upright.

        Frames, embeddings, posters and results of TIFFs that were stored before have the content
        alone as their name. They may show the picture turned twice, and so are not found.
        """
        if self.path.suffix.lower() in TIFF_SUFFIXES:
            return f"{self.content}-upright"
        return self.content

    @property
    def key(self) -> str:
        """Name what is decoded: the content, and the seconds where it is a window."""
        if not self.start and self.end is None:
            return self.decoded_content
        return f"{self.decoded_content} {self.start:.3f}-{self.end or 0:.3f}"


@dataclass(frozen=True)
class Gallery:
    """Named clips.

    Attributes:
        key: name of the folder of its embeddings, safe in a path; galleries without one share a
            folder.
    """

    name: str
    videos: tuple[Video, ...]
    key: str = ""


def load_gallery(manifest: Path) -> Gallery:
    """Read a gallery of our own, with paths within its folder.

    Each line is {"video_id", "path", "captions", "scene"}; captions and scene are optional.
    """
    folder = manifest.parent.resolve()
    videos = []
    for line in manifest.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        entry = parse_json(line)
        video = Video(
            video_id=entry["video_id"],
            path=folder / entry["path"],
            captions=tuple(entry.get("captions", ())),
            scene=entry.get("scene"),
        )
        videos.append(video)
    return Gallery(folder.name, tuple(videos))
