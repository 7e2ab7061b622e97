"""What a person may say about a model that is added; light, as the command line is made of it."""

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Literal, get_args

from nt2vr.errors import ConfigError, quoted

QUICK_GELU = "QuickGELU"
GELU = "GELU"
Activation = Literal["QuickGELU", "GELU", ""]
Pooling = Literal["mean", "raw_mean", "query_scored", ""]
Positions = Literal["centres", "ends", ""]
ACTIVATIONS = [QUICK_GELU, GELU]
# Per video, of a model from elsewhere.
MAX_FRAMES = 64
MAX_FPS = 60
MAX_DIMENSIONS = 1 << 16
# Of a frame, in pixels.
MIN_SIDE = 16
MAX_SIDE = 1024


@dataclass(frozen=True)
class AddOptions:
    """What a person may say about a model that is added; what is left out is taken from its source."""

    name: str = ""
    "name of the model; default: the source's"
    model: str = ""
    "of a checkpoint: what it is, a model of open_clip's or one here; default: what files beside it say, or a guess"
    key: str = ""
    "of a checkpoint: which of several models in the file, such as state_dict_ema"
    frames: int | None = None
    "frames per video; default: the trainer's or the model's, or 8"
    activation: Activation = ""
    "activation of a checkpoint; default: the model's, or GELU if the model is a guess"
    pooling: Pooling = ""
    "how a checkpoint's frame embeddings are pooled; raw_mean does not normalise them first, as in nT2VR's code; \
query_scored weighs them by each query; default: the recognised trainer's, or mean"
    positions: Positions = ""
    "where a checkpoint's frames are taken from a video; ends as in nT2VR's code; default: the recognised trainer's, \
or centres"
    fps: float = 0.0
    "of a model that takes whole clips: frames per second; short clips then have fewer frames"
    size: str = ""
    "of a model that takes whole clips: width and height of frames in pixels, such as 448x256"
    instruction: str = ""
    "of a model that takes whole clips: instruction for queries, instead of the model's own"
    dimensions: int = 0
    "of a model that takes whole clips: length of embeddings, if they may be cut"

    def __post_init__(self) -> None:
        if self.frames is not None and not 1 <= self.frames <= MAX_FRAMES:
            raise ConfigError(
                f"A model cannot take {self.frames} frames per video: choose 1 to {MAX_FRAMES}."
            )
        _check_range("fps", self.fps, MAX_FPS)
        _check_range("dimensions", self.dimensions, MAX_DIMENSIONS)
        _check_choice("activation", self.activation, get_args(Activation))
        _check_choice("pooling", self.pooling, get_args(Pooling))
        _check_choice("positions", self.positions, get_args(Positions))
        # One that cannot be read counts as too small.
        sides = self.shape or (0, 0)
        if self.size and not all(MIN_SIDE <= side <= MAX_SIDE for side in sides):
            raise ConfigError(
                f"The size {quoted(self.size)} cannot be used: write a width and a height of {MIN_SIDE} to {MAX_SIDE} "
                "pixels, such as 448x256."
            )

    @property
    def shape(self) -> tuple[int, int] | None:
        """Height and width of frames; None if no size is given, or if it is not WIDTHxHEIGHT."""
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
                raise ConfigError(
                    f"The option {option.name} does not apply to {title}. Leave it out."
                )


def _check_range(option: str, value: float, most: int) -> None:
    if not 0 <= value <= most:
        raise ConfigError(f"{option} cannot be {value}: choose 0 to {most}.")


def _check_choice(option: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        names = ", ".join(choice for choice in choices if choice)
        raise ConfigError(f"{option} cannot be {quoted(value)}: choose one of {names}.")
