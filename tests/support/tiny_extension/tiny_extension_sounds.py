"""An input that a model may read instead of frames: what is heard of each video."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from nt2vr.datasets.video_inputs import Vector, VideoInput
from nt2vr.errors import ConfigError, DatasetError
from nt2vr.sections import Section


class SoundSettings(Section):
    """What is heard of videos."""

    sounds: str = Field(
        default="", description="JSON file in the dataset's folder, to read instead of frames"
    )

    def check_config(self, config: Any) -> None:
        """Refuse sounds with a pooling that does not learn."""
        if self.sounds and config.encoder.train != "head":
            raise ConfigError("sounds needs train head. Set it.")


class Sounds(VideoInput):
    """The vectors of a JSON file, by the ids of videos."""

    def __init__(self, data: str | Path, name: str) -> None:
        """Read the file, which is small."""
        path = Path(data) / f"{name}.json"
        if not path.is_file():
            raise DatasetError(f"{path} is not there. Name another file.")
        self._rows: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))

    @property
    def width(self) -> int:
        """Length of the first vector."""
        return len(next(iter(self._rows.values())))

    def read(self, video_ids: Collection[str]) -> dict[str, Vector]:
        """Return the vectors of these videos."""
        vectors = {}
        for video_id in video_ids:
            if video_id in self._rows:
                vectors[video_id] = np.array(self._rows[video_id], np.float32)
        return vectors
