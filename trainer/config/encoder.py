"""The model of a training: what it starts from, its architecture, and which part of it learns."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.extension import trainings
from nt2vr.models.card import read_configs, remedy
from nt2vr.models.framing import Config, Configs
from nt2vr.sections import Section, Whole
from nt2vr.settings import resolve_path

# Values of `train` that need no extension.
TOWERS = ("all", "text", "visual", "head")
if TYPE_CHECKING:
    # A type checker does not know the names of extensions' trainings.
    TrainedPart = str
else:
    TrainedPart = Literal[(*TOWERS, *trainings())]

# A small ResNet and a small text transformer with CLIP's tokenizer: 12.4 million weights, 9.5 of
# them token rows.
SMALL_MODEL: Config = {
    "embed_dim": 192,
    "vision_cfg": {"image_size": 112, "layers": [1, 1, 1, 1], "width": 16},
    "text_cfg": {"context_length": 40, "vocab_size": 49408, "width": 192, "heads": 4, "layers": 4},
}
# Default of a text transformer whose configuration omits the number.
OPEN_CLIP_LAYERS = 12
MODEL_KEYS = {"embed_dim", "vision_cfg", "text_cfg"}


class EncoderSettings(Section):
    """The model, what it starts from, and which part of it learns."""

    name: str = Field(default="CLIP", description="display name of the model")
    base: str = Field(
        default="",
        description="model to start from: its name, such as ViT-B-32/openai, or the folder of an open_clip "
        "checkpoint; empty for random weights",
    )
    train: TrainedPart = Field(
        default="all",
        description="part that learns. With text, the visual tower is frozen: videos are embedded once, from all "
        "their frames, and checkpoints can be searched with the base's index. With visual, the text tower is frozen. "
        "With head, both are, and only the pooling learns. With other values, neither tower learns; their own "
        "settings say what does",
    )
    keep_tokens: bool = Field(
        default=False,
        description="freeze the base's token embeddings. What is learned about negation then goes into the layers, "
        "and also holds for words that no training sentence negates",
    )
    keep_head: bool = Field(
        default=False,
        description="freeze the base's pooling, so that checkpoints can be searched with the base's index",
    )
    added_layers: Whole = Field(
        default=0,
        description="layers to add to the base's text transformer, evenly spaced; they change nothing until they "
        "learn",
    )
    model: Config = Field(
        default={},
        description="open_clip model configuration; empty for the base's own or, without a base, the small built-in "
        "model. Its image size sets the frame size",
    )

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if not self.name.strip() or len(self.name) > MAX_QUOTED or not self.name.isprintable():
            raise ConfigError(
                f"The name of the model must have 1 to {MAX_QUOTED} printable characters."
            )
        return self

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if self.model and MODEL_KEYS - set(self.model):
            raise ConfigError("The model must have embed_dim, vision_cfg and text_cfg.")
        return self

    @model_validator(mode="after")
    def _check_base(self) -> Self:
        """Refuse what needs a base if there is none."""
        if not self.base and self.train != "all":
            raise ConfigError(
                f"train is {self.train}, which needs a base whose other towers can be frozen. Name one."
            )
        if not self.base and self.keep_tokens:
            raise ConfigError("keep_tokens needs a base whose tokens can be frozen. Name one.")
        if self.keep_head and (not self.base or self.train not in ("text", "visual")):
            raise ConfigError(
                "keep_head needs a base whose pooling can be frozen while a tower learns. Set base, and train to text."
            )
        if self.added_layers and not (self.base and self.trains_text):
            raise ConfigError(
                "added_layers needs a base, and a text tower that learns. Set it to 0."
            )
        return self

    @property
    def trains_text(self) -> bool:
        return self.train in ("all", "text")

    @property
    def trains_visual(self) -> bool:
        return self.train in ("all", "visual")

    @property
    def trains_towers(self) -> bool:
        """True for a training of a tower or the pooling; False for one that an extension adds."""
        return self.train in TOWERS

    @property
    def base_folder(self) -> Path | None:
        """The checkpoint folder to start from, "~" and shipped "assets/…" resolved; None for random weights."""
        if self.base:
            return resolve_path(self.base)
        return None

    @cached_property
    def model_cfg(self) -> Config:
        """Complete model configuration: `model` if set, otherwise the base's with added layers, or `SMALL_MODEL`."""
        if self.model:
            return self.model
        if self.base_folder is None:
            return SMALL_MODEL
        model_cfg, _ = self.base_configs
        return deeper(model_cfg, self.added_layers)

    @cached_property
    def base_configs(self) -> Configs:
        """The base's configurations of its model and of its preprocessing; empty without a base."""
        if self.base_folder is None:
            return {}, {}
        try:
            return read_configs(self.base_folder)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(
                f"The base {self.base} cannot be read ({error}). {remedy(self.base_folder)}"
            ) from error

    @property
    def image_size(self) -> int:
        """Width and height of a frame, in pixels."""
        size = self.model_cfg["vision_cfg"].get("image_size", 224)
        if not isinstance(size, int):
            raise ConfigError(f"image_size must be one number of pixels, not {quoted(size)}.")
        return size


def deeper(model_cfg: Config, added_layers: int) -> Config:
    """Return an open_clip configuration with `added_layers` more layers in its text transformer."""
    if not added_layers:
        return dict(model_cfg)
    layers = text_layers(model_cfg) + added_layers
    return {**model_cfg, "text_cfg": {**model_cfg["text_cfg"], "layers": layers}}


def text_layers(model_cfg: Config) -> int:
    """Return the number of layers of the text transformer in an open_clip configuration."""
    return int(model_cfg["text_cfg"].get("layers", OPEN_CLIP_LAYERS))
