"""What a training run does, as one frozen dataclass and one JSON file; unknown keys are refused."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from nt2vr.errors import ConfigError
from nt2vr.files import write_json
from nt2vr.models.checkpoint import read_configs
from nt2vr.querygen.denials import DenialKind
from nt2vr.settings import resolve_path

Precision = Literal["auto", "fp32", "bf16"]
Towers = Literal["all", "text", "visual"]
Optimizer = Literal["adamw", "rmsprop"]
Schedule = Literal["cosine", "exponential"]
PRESETS = Path(__file__).parent / "configs"
WORLD = "world"  # the built-in one, as `data`
METRICS = (  # what validation measures and a run may be ended by: of each, higher is better
    *("original/MIR", "original/R@1", "original/R@5", "original/R@10"),
    *("composed/MIR", "composed/hard_pairs", "without/MIR", "without/hard_pairs", "not/auc", "negated/delta_MIR"),
    *("text/order", "text/target", "text/kept"),  # of distillation on captions: no videos are searched
)
CHOICES: dict[str, tuple[str, ...]] = {
    "precision": get_args(Precision),
    "train": get_args(Towers),
    "optimizer": get_args(Optimizer),
    "schedule": get_args(Schedule),
    "monitor": METRICS,
}

COUNTS = (
    *("num_clips", "num_frames", "frames_per_step", "validation_clips"),
    *("epochs", "passes", "accumulate", "log_every"),
)
NOT_NEGATIVE = ("weight_decay", "warmup_steps", "pool_clips", "hard_clips", "patience", "added_layers", "not_epochs")

# A small ResNet and a small text transformer with CLIP's tokenizer: 12.4 million weights, 9.5 of them token rows
SMALL_MODEL: dict[str, Any] = {
    "embed_dim": 192,
    "vision_cfg": {"image_size": 112, "layers": [1, 1, 1, 1], "width": 16},
    "text_cfg": {"context_length": 40, "vocab_size": 49408, "width": 192, "heads": 4, "layers": 4},
}
OPEN_CLIP_LAYERS = 12  # of a text transformer whose configuration does not say
FRAGMENT = "fragment"  # the kind of sentences that only captions give
SENTENCES: dict[str, float] = {"composed": 0.4, "without": 0.3, "not": 0.15, "negated": 0.15}


@dataclass(frozen=True)
class TrainConfig:
    """One run. The defaults train the built-in CLIP.

    Attributes:
        name: what people call the model.
        base: checkpoint folder to start from; empty for random weights. A model that the app has downloaded is one:
            ~/.cache/nt2vr/models/ViT-B-32--openai.
        train: which towers learn. "text" keeps the visual tower as it is: videos are embedded once, with all their
            frames, before the first step, and each checkpoint can be searched with the base's index. "visual" keeps
            the text tower as it is.
        keep_tokens: leave the token embeddings that the base has learnt as they are; those of tokens new to it learn.
            What is learnt about words then lies in the layers, and holds for words that training does not show so.
        added_layers: new layers in the base's text transformer, evenly spread. They change nothing until they learn.
        model: open_clip's configuration of it; empty for the base's own (and the added layers), and without a base for
            the small built-in one. Its image size is the size of the frames.
        losses: loss name to {"weight", and the loss's own fields}.
        sentences: shares of the kinds of denying sentences, for losses that need such: one sentence a clip and epoch.
            "composed", "without", "not", "negated", and "fragment", which is made of any captions only.
        not_epochs: first epochs whose denying sentences are all of the kind "not", which want nothing. From these a
            model learns in a few hundred steps that denying turns a phrase around; beside others it may never.
        free: share of these sentences that is made of captions where data is the built-in world, whose grammar makes
            the others. It is not known which clips they are right for, so composed passes them over.
        pool_clips: clips drawn at random at each step, beside the batch's, that denying sentences are searched among;
            0 where the visual tower is trained too.
        hard_clips: clips a sentence added to these that show both its wanted and its unwanted part; likewise.
        data: what to train on: "world", the built-in one, or the path of a dataset (see `nt2vr.datasets`). Where no
            loss needs videos (distill alone), also the path of a file with captions, one a line, or as
            `nt2vr.query_sets` reads them; of a dataset, captions are all that is read then.
        num_clips: training clips; of a dataset at most so many. Where only captions are read, captions.
        num_frames: frames kept of each clip, and frames the trained model wants of a video.
        frames_per_step: how many of these, drawn at random, a training step sees (mean-pooled).
        flip: mirror clips at random; right as long as no caption says left or right.
        validation_clips: clips that are searched after each epoch, or captions, none of them trained on.
        epochs: how often all this is gone through; validation and a checkpoint follow each.
        passes: how often an epoch takes each training clip, each time with a caption drawn anew. The paper's epochs
            take every caption once: 20 for MSR-VTT.
        patience: epochs in a row without gain after which the run ends early; 0 for never (the paper: 2).
        monitor: the validation metric that `patience` watches.
        batch_size: clips in a batch: the other videos that a caption is told from. Processes share it.
        accumulate: batches a step, which learns from the mean of their gradients.
        optimizer: AdamW, or the paper's RMSProp.
        learning_rate: its highest value, reached after `warmup_steps`.
        schedule: what then follows: a cosine down to 0, or `decay` an epoch (the paper's).
        decay: what "exponential" multiplies the rate with, after each epoch.
        weight_decay: on matrices only.
        warmup_steps: steps of linear rise.
        max_grad_norm: gradients longer than this are shortened to it.
        precision: bf16 is 2 to 10 times faster where the processor has it; auto takes it there.
        seed: of weights, clips, captions and order.
        log_every: steps between two lines of metrics.

    Raises:
        ConfigError: in one sentence, for a value that cannot be used.
    """

    name: str = "CLIP"
    base: str = ""
    train: Towers = "all"
    keep_tokens: bool = False
    added_layers: int = 0
    model: Mapping[str, Any] = field(default_factory=dict)
    losses: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"contrastive": {"weight": 1.0}})
    sentences: Mapping[str, float] = field(default_factory=lambda: SENTENCES)
    not_epochs: int = 0
    free: float = 0.0
    pool_clips: int = 1024
    hard_clips: int = 2
    data: str = WORLD
    num_clips: int = 32_000
    num_frames: int = 4
    frames_per_step: int = 1
    flip: bool = True
    validation_clips: int = 1_000
    epochs: int = 16
    passes: int = 1
    patience: int = 0
    monitor: str = "original/MIR"
    batch_size: int = 128
    accumulate: int = 1
    optimizer: Optimizer = "adamw"
    learning_rate: float = 1e-3
    schedule: Schedule = "cosine"
    decay: float = 0.99
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
        if not self.data.strip():
            raise ConfigError("data is empty. Write world, or the path of a dataset.")
        for key in COUNTS:
            if getattr(self, key) < 1:
                raise ConfigError(f"{key} must be at least 1, not {getattr(self, key)}.")
        if not 2 <= self.batch_size <= self.num_clips:
            raise ConfigError(f"batch_size must be from 2 to num_clips ({self.num_clips}), not {self.batch_size}.")
        if self.steps_per_epoch < 1:
            batches = self.passes * (self.num_clips // self.batch_size)
            raise ConfigError(f"accumulate ({self.accumulate}) must not exceed the batches of an epoch ({batches}).")
        if self.frames_per_step > self.num_frames:
            raise ConfigError(
                f"frames_per_step ({self.frames_per_step}) must not exceed num_frames ({self.num_frames})."
            )
        for key in ("learning_rate", "decay", "max_grad_norm"):
            if not getattr(self, key) > 0:
                raise ConfigError(f"{key} must be above 0, not {getattr(self, key)}.")
        for key in NOT_NEGATIVE:
            if not getattr(self, key) >= 0:
                raise ConfigError(f"{key} must not be below 0, but is {getattr(self, key)}.")
        for key, choices in CHOICES.items():
            if getattr(self, key) not in choices:
                raise ConfigError(f"{key} must be one of {', '.join(choices)}, not {getattr(self, key)!r}.")
        if self.train != "all" and not self.base:
            kept = "visual" if self.train == "text" else "text"
            raise ConfigError(
                f"train is {self.train}, but there is no base whose {kept} tower could be kept. Name one."
            )
        if self.keep_tokens and not self.base:
            raise ConfigError("keep_tokens is set, but there is no base whose tokens could be kept. Name one.")
        if self.added_layers and (not self.base or self.train == "visual"):
            raise ConfigError("added_layers needs a base, and a text tower that learns. Set it to 0.")
        if not 0 <= self.free <= 1:
            raise ConfigError(f"free must be a share from 0 to 1, not {self.free}.")
        _check_shares(self.sentences)
        if self.not_epochs and not self.sentences.get("not"):
            raise ConfigError('not_epochs needs sentences of the kind "not". Give them a share, or set it to 0.')
        if self.data == WORLD and self.free < 1 and not sum(self.sentences.values()) > self.sentences.get(FRAGMENT, 0):
            raise ConfigError("The built-in world's grammar makes no fragments. Add another kind, or set free to 1.")
        if self.model and (missing := {"embed_dim", "vision_cfg", "text_cfg"} - set(self.model)):
            raise ConfigError(f"The model configuration lacks {', '.join(sorted(missing))}.")

    @property
    def base_folder(self) -> Path | None:
        """The checkpoint folder to start from, "~" and shipped "assets/…" resolved; None for random weights."""
        return resolve_path(self.base) if self.base else None

    @cached_property
    def model_cfg(self) -> Mapping[str, Any]:
        """The model's whole configuration: what `model` says, or the base's own with added layers, or the small one.

        Raises:
            ConfigError: if the base's cannot be read.
        """
        if self.model:
            return self.model
        if self.base_folder is None:
            return SMALL_MODEL
        try:
            return deeper(read_configs(self.base_folder)[0], self.added_layers)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"The base {self.base} cannot be read ({error}). Choose a checkpoint folder.") from error

    @property
    def image_size(self) -> int:
        """Side of a frame in pixels."""
        size = self.model_cfg["vision_cfg"].get("image_size", 224)
        if not isinstance(size, int):
            raise ConfigError(f"image_size must be one number of pixels, not {size!r}.")
        return size

    @property
    def steps_per_epoch(self) -> int:
        """Steps of the optimizer. Whole batches only: a smaller one would be an easier task."""
        return self.passes * (self.num_clips // self.batch_size) // self.accumulate


def deeper(model_cfg: Mapping[str, Any], added_layers: int) -> dict[str, Any]:
    """Return an open_clip configuration with so many more layers in the text transformer."""
    text_cfg = model_cfg["text_cfg"]
    layers = text_cfg.get("layers", OPEN_CLIP_LAYERS) + added_layers
    return {**model_cfg, "text_cfg": {**text_cfg, "layers": layers} if added_layers else text_cfg}


def _check_shares(shares: Mapping[str, float]) -> None:
    """Refuse shares of sentences that cannot be drawn."""
    if unknown := sorted(set(shares) - set(get_args(DenialKind))):
        kinds = ", ".join(get_args(DenialKind))
        raise ConfigError(f"There are no sentences of the kind {', '.join(unknown)}. Choose among: {kinds}.")
    for kind, share in shares.items():
        check_kind(f"The share of {kind} sentences", share, 0.5)
    if not (all(0 <= share < math.inf for share in shares.values()) and sum(shares.values()) > 0):
        raise ConfigError("The shares of sentences must be numbers from 0 up, at least one of them above 0.")


def preset_or_file(path: Path) -> Path:
    """Return the shipped preset of that name if there is no such file."""
    preset = PRESETS / f"{path}.json"
    return preset if preset.is_file() and not path.exists() else path


def load_config(path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> TrainConfig:
    """Read a config; what neither it nor `changes` name keeps its default.

    Raises:
        ConfigError: if the file cannot be read, or has an unknown key or a value of the wrong kind.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Name a config file.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold one JSON object.")
    return build_config({**data, **changes}, str(path))


def build_config(data: Mapping[str, Any], source: str) -> TrainConfig:
    """Make a config of JSON values.

    Raises:
        ConfigError: if there is an unknown key (in `source`) or a value of the wrong kind.
    """
    known = [f.name for f in fields(TrainConfig)]
    if unknown := sorted(set(data) - set(known)):
        raise ConfigError(f"{source} has unknown keys: {', '.join(unknown)}. There are: {', '.join(known)}.")
    for key, value in data.items():
        check_kind(key, value, getattr(TrainConfig(), key))
    return TrainConfig(**data)


def check_kind(key: str, value: object, default: object) -> None:
    """Refuse a value of another kind than the default's; a whole number is a number."""
    kind = int | float if isinstance(default, float) else type(default)
    if not isinstance(value, kind) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise ConfigError(f"{key} must be like {json.dumps(default)}, not {json.dumps(value)}.")


def save_config(config: TrainConfig, path: Path) -> None:
    """Write a config with all its fields, atomically."""
    write_json(path, asdict(config), indent=2)
