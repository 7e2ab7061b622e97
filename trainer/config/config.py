"""The config of a training: its sections, and what refuses settings of two sections that cannot go together."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.fields import FieldInfo

from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import loaded, text_sides, video_inputs
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.card import Card, read_card
from nt2vr.models.framing import Framing
from nt2vr.sections import AnySection, Section, check_names, read_settings
from trainer.config.clips import DatasetSettings, FrameSettings
from trainer.config.encoder import EncoderSettings
from trainer.config.objective import NegationSettings, ObjectiveSettings
from trainer.config.steps import BatchSettings, OptimizationSettings, RateSettings
from trainer.config.validation import RunSettings, ValidationSettings

# New values by flat key, which may be dotted: losses.bnl.m4.
ConfigChanges = Mapping[str, Any]
# Poolings that are a `SequenceTransformer`.
KNOW_ORDER = ("seqTransf", "unit_seqTransf")


class TrainConfig(BaseModel):
    """One training run. The defaults train the built-in CLIP.

    People and files write settings flat, by keys that no two sections share: `learning_rate` of a
    file, of `--set` or of `TrainConfig(learning_rate=1e-4)` is read as `config.rate.learning_rate`.

    Attributes:
        extensions: the sections that extensions add, by name; see `section`.
    """

    model_config = ConfigDict(frozen=True)

    encoder: EncoderSettings
    objective: ObjectiveSettings
    negation: NegationSettings
    dataset: DatasetSettings
    frames: FrameSettings
    validation: ValidationSettings
    batches: BatchSettings
    rate: RateSettings
    optimization: OptimizationSettings
    run: RunSettings
    extensions: Mapping[str, Section]

    def __init__(self, /, **values: Any) -> None:
        """Build a config from values by flat key; a ConfigError names what is unknown or unusable."""
        check_names(values, SECTION_OF)
        by_section: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
        for key, value in values.items():
            by_section[SECTION_OF[key]][key] = value
        sections = {name: read_settings(SECTIONS[name], own) for name, own in by_section.items()}
        extensions = {name: sections.pop(name) for name in EXTENSION_SECTIONS}
        super().__init__(**sections, extensions=extensions)

    def section(self, kind: type[AnySection]) -> AnySection:
        """Return the settings of an extension, by their class."""
        return next(section for section in self.extensions.values() if isinstance(section, kind))

    def flat(self) -> dict[str, Any]:
        """Return all values by flat key, as config.json has them; changing them does not change the config."""
        core_sections = [getattr(self, name) for name in CORE_SECTIONS]
        values: dict[str, Any] = {}
        for section in (*core_sections, *self.extensions.values()):
            values |= section.as_dict()
        return values

    def replace(self, **values: Any) -> "TrainConfig":
        """Return a config with other values by flat key: config.replace(epochs=3)."""
        return self.with_changes(values)

    def with_changes(self, changes: ConfigChanges) -> "TrainConfig":
        """Return a config with other values: {"losses.bnl.m4": -0.1}."""
        return TrainConfig(**changed(self.flat(), changes))

    @model_validator(mode="after")
    def _check_batches(self) -> Self:
        batch_size = self.batches.batch_size
        num_clips = self.dataset.num_clips
        num_captions = self.dataset.num_captions
        if not 2 <= batch_size <= num_clips:
            raise ConfigError(
                f"batch_size must be from 2 to the number of clips or captions ({num_clips}), not {batch_size}."
            )
        if num_captions and (self.dataset.is_world or batch_size > num_captions):
            raise ConfigError(
                f"num_captions is for datasets and at least batch_size ({batch_size}), not {num_captions}. Set 0."
            )
        if self.steps_per_epoch < 1:
            raise ConfigError(
                f"accumulate ({self.batches.accumulate}) must not exceed the batches of an epoch "
                f"({self.batches_per_epoch})."
            )
        return self

    @model_validator(mode="after")
    def _check_extensions(self) -> Self:
        for section in self.extensions.values():
            section.check_config(self)
        return self

    @model_validator(mode="after")
    def _check_sentences(self) -> Self:
        kinds = self.negation.kinds
        if "distill" in self.objective.losses and kinds == {"idiom"}:
            raise ConfigError(
                "distill needs sentences that deny something, which idioms do not. Give another kind a share."
            )
        if self.dataset.is_world and self.negation.free != 1 and kinds == {"fragment"}:
            raise ConfigError(
                "The built-in world's grammar makes no fragments. Add another kind of sentences, or set free to 1."
            )
        return self

    @property
    def text_side(self) -> str:
        """Name of the extension's text side that replaces the text tower, if its settings are not empty; or ""."""
        for name in text_sides():
            if getattr(self.extensions[SECTION_OF[name]], name):
                return name
        return ""

    @property
    def video_input(self) -> VideoInputName | None:
        """The extension's input that is read instead of frames; None for frames."""
        for kind in video_inputs():
            name = getattr(self.extensions[SECTION_OF[kind]], kind)
            if name:
                return VideoInputName(kind, name)
        return None

    @property
    def card_video_input(self) -> dict[str, str]:
        """What the card says of the input that is read instead of frames; nothing for frames."""
        video_input = self.video_input
        if video_input is None:
            return {}
        return {video_input.kind: video_input.name}

    @property
    def card_positions(self) -> str:
        """Frame positions by their name on the card."""
        if self.frames.positions != "base":
            return self.frames.positions
        return self._base_card.framing.positions

    @property
    def _base_card(self) -> Card:
        """The base's card, or that of a model without a base."""
        base = self.encoder.base_folder
        return read_card(base) if base else Card(self.encoder.name)

    @property
    def knows_order(self) -> bool:
        """True if the pooling learns the order of frames."""
        pooling = self.frames.pooling
        if pooling == "base":
            pooling = self._base_card.pooling.name
        return pooling in KNOW_ORDER

    @property
    def framing(self) -> Framing:
        """Framing of the base, or open_clip's default, with this config's frame positions."""
        _, preprocess_cfg = self.encoder.base_configs
        framing = Framing.of(preprocess_cfg, self.encoder.image_size)
        return replace(framing, positions=self.card_positions)

    @property
    def batches_per_epoch(self) -> int:
        """Full batches per epoch; a smaller last one would be an easier task and is dropped."""
        per_pass = (self.dataset.num_captions or self.dataset.num_clips) // self.batches.batch_size
        return self.batches.passes * per_pass

    @property
    def steps_per_epoch(self) -> int:
        return self.batches_per_epoch // self.batches.accumulate

    @property
    def total_steps(self) -> int:
        """Steps of all epochs."""
        return self.batches.epochs * self.steps_per_epoch


CORE_SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in TrainConfig.model_fields.items()
    if field.annotation and name != "extensions"
}
EXTENSION_SECTIONS: dict[str, type[Section]] = loaded(lambda extension: extension.settings)
SECTIONS = CORE_SECTIONS | EXTENSION_SECTIONS
# Flat key -> name of its section.
SECTION_OF: dict[str, str] = {}
# Flat key -> type, default and description.
FIELDS: dict[str, FieldInfo] = {}
# Flat key -> what may be chosen, where that is a list.
CHOICES: dict[str, tuple[Any, ...]] = {}
for _name, _section in SECTIONS.items():
    for _key, _field in _section.model_fields.items():
        SECTION_OF[_key] = _name
        FIELDS[_key] = _field
        if get_origin(_field.annotation) is Literal:
            CHOICES[_key] = get_args(_field.annotation)


def changed(values: Mapping[str, Any], changes: ConfigChanges) -> dict[str, Any]:
    """Return a copy of a config's flat values with changes."""
    copied = deepcopy(dict(values))
    for key, value in changes.items():
        place = copied
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(
                    f"{quoted(key)} is not a setting: {parent} has no parts. Correct the key."
                )
        place[last] = value
    return copied
