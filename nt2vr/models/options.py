"""What a person may say about a model that is added; light, as the command line is made of it."""

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Literal

from nt2vr.errors import ConfigError, quoted

ACTIVATIONS = (QUICK_GELU, GELU) = ("QuickGELU", "GELU")
MAX_FRAMES = 64  # per video, of a model from elsewhere
MAX_FPS = 60
MAX_DIMENSIONS = 1 << 16
MIN_SIDE, MAX_SIDE = 16, 1024  # pixels, of a frame


@dataclass(frozen=True)
class AddOptions:
    """What a person may say about a model that is added; what is left out is taken from its source."""

    name: str = ""
    "name of the model; default: the source's"
    model: str = ""
    "of a checkpoint: what it is, a model of open_clip's or one here; default: told by files beside it, or guessed"
    key: str = ""
    "of a checkpoint: which of several models in the file, such as state_dict_ema"
    frames: int | None = None
    "frames per video; default: the trainer's or the model's, or 8"
    activation: Literal["QuickGELU", "GELU", ""] = ""
    "of a checkpoint; default: the model's; GELU where that is a guess"
    pooling: Literal["mean", "raw_mean", "query_scored", ""] = ""
    "of a checkpoint's frame embeddings; raw_mean does not normalise them before, as nT2VR's code; query_scored \
weighs them by each query; default: the recognised trainer's, or mean"
    positions: Literal["centres", "ends", ""] = ""
    "of a checkpoint's frames in a video; ends are those of nT2VR's code; default: the recognised trainer's, or \
centres"
    fps: float = 0.0
    "of a model that takes whole clips: frames per second, of which a short clip has fewer"
    size: str = ""
    "of a model that takes whole clips: width and height of frames in pixels, such as 448x256"
    instruction: str = ""
    "of a model that takes whole clips: instruction for queries, instead of the model's own"
    dimensions: int = 0
    "of a model that takes whole clips: length of embeddings, if they may be cut"

    def __post_init__(self) -> None:
        if self.frames is not None and not 1 <= self.frames <= MAX_FRAMES:
            raise ConfigError(f"A model cannot take {self.frames} frames per video: choose 1 to {MAX_FRAMES}.")
        self._check_at_most("fps", self.fps, MAX_FPS)
        self._check_at_most("dimensions", self.dimensions, MAX_DIMENSIONS)
        sides = self.shape or (0,)
        if self.size and not all(MIN_SIDE <= side <= MAX_SIDE for side in sides):
            raise ConfigError(
                f"The size {quoted(self.size)} cannot be used: write a width and a height of {MIN_SIDE} to {MAX_SIDE} "
                "pixels, such as 448x256."
            )

    def _check_at_most(self, option: str, value: float, most: int) -> None:
        if not 0 <= value <= most:
            raise ConfigError(f"{option} is {value}, which cannot be used: at most {most}.")

    @property
    def shape(self) -> tuple[int, int] | None:
        """Height and width of frames; None if no size is given, or it is none."""
        match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", self.size)
        return (int(match[2]), int(match[1])) if match else None

    def check_used(self, used: Collection[str], title: str) -> None:
        """Raise a ConfigError for an option that means nothing for a kind of source.

        Args:
            used: names of the options that it does use, besides the name.
            title: the source, as a message names it.
        """
        for option in fields(self):
            is_given = getattr(self, option.name) != option.default
            if is_given and option.name not in ("name", *used):
                raise ConfigError(f"{title} takes no {option.name}. Leave it out.")
