"""Clips of a dataset as features that other code has computed, in place of frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.features import Features
from nt2vr.errors import ConfigError
from nt2vr.media.gallery import Video


@dataclass(frozen=True, eq=False)
class FeatureClips:
    """The features of clips: (N, W)."""

    rows: NDArray[np.float32]

    @classmethod
    def of(cls, videos: Sequence[Video], features: Features) -> "FeatureClips":
        """Take the rows of videos that all have features."""
        return cls(np.stack([features.of_video[video.video_id] for video in videos]))

    @property
    def shape(self) -> tuple[int, ...]:
        """That of a clip of one frame without pixels."""
        return len(self), 1, 0, 0, 3

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        """Refuse, as nothing of these clips can be seen."""
        raise ConfigError("These clips are features, which have no frames. Leave features out.")
