"""What a training run does, as one frozen dataclass and one JSON file; unknown keys are refused."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from nt2vr.errors import ConfigError

Precision = Literal["auto", "fp32", "bf16"]

# A small ResNet and a small text transformer with CLIP's tokenizer: 12.4 million weights, 9.5 of them token rows
SMALL_MODEL: dict[str, Any] = {
    "embed_dim": 192,
    "vision_cfg": {"image_size": 112, "layers": [1, 1, 1, 1], "width": 16},
    "text_cfg": {"context_length": 40, "vocab_size": 49408, "width": 192, "heads": 4, "layers": 4},
}


@dataclass(frozen=True)
class TrainConfig:
    """One run. The defaults train the built-in CLIP.

    Attributes:
        name: what people call the model.
        model: open_clip's configuration of it; its image size is the size of the frames.
        losses: loss name to {"weight", and the loss's own fields}.
        num_clips: training clips of the built-in world.
        num_frames: frames kept of each clip, and frames the trained model wants of a video.
        frames_per_step: how many of these, drawn at random, a training step sees (mean-pooled).
        flip: mirror clips at random; right as long as no caption says left or right.
        validation_clips: clips that are searched after each epoch, none of them trained on.
        epochs: passes over the training clips, each with fresh captions.
        batch_size: clips a step.
        learning_rate: its highest value, reached after `warmup_steps`, then a cosine down to 0.
        weight_decay: AdamW's, on matrices only.
        warmup_steps: steps of linear rise.
        max_grad_norm: gradients longer than this are shortened to it.
        precision: bf16 is 2 to 10 times faster where the processor has it; auto takes it there.
        seed: of weights, clips, captions and order.
        log_every: steps between two lines of metrics.

    Raises:
        ConfigError: in one sentence, for a value that cannot be used.
    """

    name: str = "CLIP"
    model: Mapping[str, Any] = field(default_factory=lambda: SMALL_MODEL)
    losses: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"contrastive": {"weight": 1.0}})
    num_clips: int = 32_000
    num_frames: int = 4
    frames_per_step: int = 1
    flip: bool = True
    validation_clips: int = 1_000
    epochs: int = 16
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.05
    warmup_steps: int = 60
    max_grad_norm: float = 1.0
    precision: Precision = "auto"
    seed: int = 0
    log_every: int = 20

    def __post_init__(self) -> None:
        """Refuse what cannot be used."""
        if not self.name.strip():
            raise ConfigError("The name of the model is empty. Give it one.")
        for key in ("num_clips", "num_frames", "frames_per_step", "validation_clips", "epochs", "log_every"):
            if getattr(self, key) < 1:
                raise ConfigError(f"{key} must be at least 1, not {getattr(self, key)}.")
        if not 2 <= self.batch_size <= self.num_clips:
            raise ConfigError(f"batch_size must be from 2 to num_clips ({self.num_clips}), not {self.batch_size}.")
        if self.frames_per_step > self.num_frames:
            raise ConfigError(
                f"frames_per_step ({self.frames_per_step}) must not exceed num_frames ({self.num_frames})."
            )
        for key in ("learning_rate", "max_grad_norm"):
            if not getattr(self, key) > 0:
                raise ConfigError(f"{key} must be above 0, not {getattr(self, key)}.")
        for key in ("weight_decay", "warmup_steps"):
            if not getattr(self, key) >= 0:
                raise ConfigError(f"{key} must not be below 0, but is {getattr(self, key)}.")
        if self.precision not in get_args(Precision):
            raise ConfigError(f"precision must be one of {', '.join(get_args(Precision))}, not {self.precision!r}.")
        if missing := {"embed_dim", "vision_cfg", "text_cfg"} - set(self.model):
            raise ConfigError(f"The model configuration lacks {', '.join(sorted(missing))}.")

    @property
    def image_size(self) -> int:
        """Side of a frame in pixels."""
        size = self.model["vision_cfg"].get("image_size", 224)
        if not isinstance(size, int):
            raise ConfigError(f"image_size must be one number of pixels, not {size!r}.")
        return size

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches only: a smaller one would be an easier task."""
        return self.num_clips // self.batch_size


def load_config(path: Path) -> TrainConfig:
    """Read a config; what it does not name keeps its default.

    Raises:
        ConfigError: if the file cannot be read, or has an unknown key or a value of the wrong kind.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Name a config file.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold one JSON object.")
    known = {f.name: f for f in fields(TrainConfig)}
    if unknown := sorted(set(data) - set(known)):
        raise ConfigError(f"{path} has unknown keys: {', '.join(unknown)}. There are: {', '.join(known)}.")
    for key, value in data.items():
        _check_kind(key, value, getattr(TrainConfig(), key))
    return TrainConfig(**data)


def _check_kind(key: str, value: object, default: object) -> None:
    """Refuse a value of another kind than the default's; a whole number is a number."""
    kind = int | float if isinstance(default, float) else type(default)
    if not isinstance(value, kind) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise ConfigError(f"{key} must be like {json.dumps(default)}, not {json.dumps(value)}.")


def save_config(config: TrainConfig, path: Path) -> None:
    """Write a config, all its fields named."""
    path.write_text(json.dumps(asdict(config), indent=2) + "\n", encoding="utf-8")
