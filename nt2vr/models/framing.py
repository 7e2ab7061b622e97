"""Framing: how videos become an encoder's square inputs; and hashes of all settings that change embeddings."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from nt2vr.errors import CheckpointError, quoted

SHORTEST, LONGEST, SQUASH = RESIZE_MODES = ("shortest", "longest", "squash")
BICUBIC, BILINEAR = "bicubic", "bilinear"
CENTRES, ENDS = POSITIONS = ("centres", "ends")
KNOWN = {
    "resize_mode": RESIZE_MODES,
    "interpolation": (BICUBIC, BILINEAR),
    "positions": POSITIONS,
    "fill_color": range(256),
}
DEFAULT_SIZE = 224  # open_clip's
MEAN, STD = (
    (0.48145466, 0.4578275, 0.40821073),
    (0.26862954, 0.26130258, 0.27577711),
)  # open_clip's defaults


@dataclass(frozen=True)
class Framing:
    """Frame positions, and resizing and cropping as in open_clip's preprocessing at inference."""

    size: int  # height in pixels, and width unless it is given
    resize_mode: str = (
        SHORTEST  # "shortest" crops the centre, "longest" pads, "squash" ignores the aspect ratio
    )
    interpolation: str = BICUBIC
    fill_color: int = 0  # grey level of the padding
    # "centres" of equal segments of a video, or evenly spaced with both "ends", as in nT2VR's code
    positions: str = CENTRES
    width: int = 0  # 0 of a square

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 1:
            raise CheckpointError(
                f"The model takes frames of {quoted(self.size)} pixels, but only squares work."
            )
        for name, known in KNOWN.items():
            if (value := getattr(self, name)) not in known:
                raise CheckpointError(
                    f"The model's frames have the {name} {quoted(value)}, which is unknown."
                )

    @classmethod
    def of(cls, preprocess_cfg: Mapping[str, Any], size: Any = None) -> "Framing":
        """Read open_clip's preprocessing configuration, with open_clip's defaults; `size`, if given, overrides its."""
        given = {key: value for key, value in preprocess_cfg.items() if value is not None}
        size = given.get("size", DEFAULT_SIZE) if size is None else size
        if isinstance(size, list | tuple) and len(size) == 2 and size[0] == size[1]:
            size = size[0]
        interpolation = given.get("interpolation", BICUBIC)
        interpolation = BICUBIC if interpolation == "random" else interpolation  # at inference
        return cls(
            size, given.get("resize_mode", SHORTEST), interpolation, given.get("fill_color", 0)
        )

    @property
    def key(self) -> int | str:
        """Name it in cache keys: the size alone where the rest is open_clip's default, as in versions before 0.2."""
        if self == Framing(self.size):
            return self.size
        padding = f" {self.fill_color}" if self.resize_mode == LONGEST else ""
        places = f" {self.positions}" if self.positions != CENTRES else ""
        wide = f"x{self.width}" if self.width else ""
        return f"{self.size}{wide} {self.resize_mode} {self.interpolation}{padding}{places}"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.size, self.width or self.size


def frame_positions(length: int, count: int, positions: str = CENTRES) -> list[int]:
    """Choose frames, which repeat if there are fewer: the middles of equal segments, or from the first to the last."""
    if positions == ENDS:
        return [i * max(length - 1, 0) // max(count - 1, 1) for i in range(count)]
    return [(2 * i + 1) * length // (2 * count) for i in range(count)]


def visual_settings(model_cfg: Mapping[str, Any], preprocess_cfg: Mapping[str, Any]) -> str:
    """Hash the settings that change a frame's embedding: activation, normalisation, framing."""
    given = {key: value for key, value in preprocess_cfg.items() if value is not None}
    framing = asdict(Framing.of(given, model_cfg["vision_cfg"].get("image_size", DEFAULT_SIZE)))
    del framing["positions"], framing["width"]  # of frames in a video, and of other models
    normalisation = [given.get("mean", MEAN), given.get("std", STD)]
    return _hashed(
        model_cfg["vision_cfg"], bool(model_cfg.get("quick_gelu")), normalisation, framing
    )


def text_settings(model_cfg: Mapping[str, Any]) -> str:
    """Hash the settings that change a text's embedding, without the tower's weights and a tokenizer of its own."""
    return _hashed(model_cfg["text_cfg"], bool(model_cfg.get("quick_gelu")))


def _hashed(*values: Any) -> str:
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()
