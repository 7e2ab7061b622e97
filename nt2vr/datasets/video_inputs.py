"""What a model may read of a dataset's videos instead of frames: vectors that an extension finds by name."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from nt2vr.extension import load, video_inputs
from nt2vr.files import AnyPath
from nt2vr.models.capabilities import VideoInputName

Vector = NDArray[np.float32]  # (W,)


class VideoInput(ABC):
    """One vector per video, in place of frames: what an input of `Extension.video_inputs` is.

    A pooling that learns takes the vectors as they are, each as a single frame. The extension's
    settings refuse a config that asks for an input without such a pooling, or with the built-in
    world as data.
    """

    @abstractmethod
    def __init__(self, data: AnyPath, name: str) -> None:
        """Find the vectors of this name in a dataset, named as for `load_dataset`, without reading any.

        Raises:
            DatasetError: if the dataset has none of this name.
        """

    @property
    @abstractmethod
    def width(self) -> int:
        """W, the length of a vector; a DatasetError says what is wrong with the files."""

    @abstractmethod
    def read(self, video_ids: Collection[str]) -> Mapping[str, Vector]:
        """Read the vectors of these videos, of those that have any, by id.

        Raises:
            DatasetError: if no video has one, or the files cannot be used.
        """


@dataclass(frozen=True, eq=False)
class VideoVectors:
    """The vectors (W,) that an input has of a dataset's videos, by id, for videos that have any."""

    name: VideoInputName
    width: int
    of_video: Mapping[str, Vector]

    @property
    def digest(self) -> str:
        """Hash of the input's name and of all vectors, under which version 0.2.0 stored results."""
        digest = blake2b(self.name.name.encode(), digest_size=12)
        for video_id, vector in sorted(self.of_video.items()):
            digest.update(video_id.encode() + vector.tobytes())
        return digest.hexdigest()


def open_video_input(name: VideoInputName, data: AnyPath) -> VideoInput:
    """Find an input in a dataset; a DatasetError says if it has none of this name."""
    kind: type[VideoInput] = load(video_inputs()[name.kind])
    return kind(data, name.name)


def read_vectors(name: VideoInputName, data: AnyPath, video_ids: Collection[str]) -> VideoVectors:
    """Read an input of a dataset's videos; errors as of `VideoInput`."""
    video_input = open_video_input(name, data)
    return VideoVectors(name, video_input.width, video_input.read(video_ids))
