"""Framing: how videos become an encoder's square inputs; and hashes of all settings that change embeddings."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nt2vr.errors import CheckpointError, quoted
from nt2vr.files import hash_text

# A configuration of open_clip's: of a model, of one of its towers, or of its preprocessing.
Config = Mapping[str, Any]
# Of a model, and of its preprocessing.
Configs = tuple[Config, Config]
# Ways to resize: the first crops the centre, the second pads, the third ignores the aspect ratio.
SHORTEST = "shortest"
LONGEST = "longest"
SQUASH = "squash"
BICUBIC = "bicubic"
BILINEAR = "bilinear"
# Centres of equal segments of a video; or evenly spaced with both ends, as in nT2VR's code.
CENTRES = "centres"
ENDS = "ends"
ALLOWED = {
    "resize_mode": (SHORTEST, LONGEST, SQUASH),
    "interpolation": (BICUBIC, BILINEAR),
    "positions": (CENTRES, ENDS),
    "fill_color": range(256),
}
# open_clip's defaults.
DEFAULT_SIZE = 224
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class Framing:
    """Frame positions, and resizing and cropping as in open_clip's preprocessing at inference.

    Attributes:
        size: height in pixels, and width unless it is given.
        resize_mode: SHORTEST, LONGEST or SQUASH.
        interpolation: BICUBIC or BILINEAR.
        fill_color: grey level of the padding.
        positions: of frames in a video, CENTRES or ENDS.
        width: in pixels; 0 of a square.
    """

    size: int
    resize_mode: str = SHORTEST
    interpolation: str = BICUBIC
    fill_color: int = 0
    positions: str = CENTRES
    width: int = 0

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise CheckpointError(
                f"The model takes frames of {quoted(self.size)} pixels, but only squares work."
            )
        for name, allowed in ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                raise CheckpointError(
                    f"The model's frames have the {name} {quoted(value)}, which is unknown."
                )

    @classmethod
    def of(cls, preprocess_cfg: Config, size: Any = None) -> "Framing":
        """Read open_clip's preprocessing configuration, with open_clip's defaults.

        Args:
            preprocess_cfg: the configuration.
            size: instead of the one there.
        """
        config = _without_none(preprocess_cfg)
        if size is None:
            size = config.get("size", DEFAULT_SIZE)
        if isinstance(size, list | tuple) and len(size) == 2 and size[0] == size[1]:
            size = size[0]
        interpolation = config.get("interpolation", BICUBIC)
        # In training alone, open_clip draws one.
        if interpolation == "random":
            interpolation = BICUBIC
        return cls(
            size, config.get("resize_mode", SHORTEST), interpolation, config.get("fill_color", 0)
        )

    @property
    def key(self) -> int | str:
        """Name it in cache keys: the size alone where the rest is open_clip's default, as in versions before 0.2."""
        if self == Framing(self.size):
            return self.size
        size = str(self.size)
        if self.width:
            size = f"{self.size}x{self.width}"
        parts = [size, self.resize_mode, self.interpolation]
        if self.resize_mode == LONGEST:
            parts.append(str(self.fill_color))
        if self.positions != CENTRES:
            parts.append(self.positions)
        return " ".join(parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.size, self.width or self.size


def frame_positions(length: int, count: int) -> list[int]:
    """Choose the middle frames of equal segments; they repeat if there are fewer frames."""
    return [(2 * i + 1) * length // (2 * count) for i in range(count)]


def visual_settings(model_cfg: Config, preprocess_cfg: Config) -> str:
    """Hash the settings that change a frame's embedding: activation, normalisation, framing."""
    vision_cfg = model_cfg["vision_cfg"]
    framing = asdict(Framing.of(preprocess_cfg, vision_cfg.get("image_size", DEFAULT_SIZE)))
    # The first is of frames in a video, the second of other models.
    del framing["positions"], framing["width"]
    config = _without_none(preprocess_cfg)
    normalisation = [config.get("mean", MEAN), config.get("std", STD)]
    return _hashed(vision_cfg, bool(model_cfg.get("quick_gelu")), normalisation, framing)


def text_settings(model_cfg: Config) -> str:
    """Hash the settings that change a text's embedding, without the tower's weights and a tokenizer of its own."""
    return _hashed(model_cfg["text_cfg"], bool(model_cfg.get("quick_gelu")))


def _without_none(config: Config) -> Config:
    return {key: value for key, value in config.items() if value is not None}


def _hashed(*values: Any) -> str:
    return hash_text(json.dumps(values, sort_keys=True), 8)
