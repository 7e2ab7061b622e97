"""Settings of a training of a fusion. Imports no torch."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError
from nt2vr.sections import Positive, Section, Whole, read_settings

if TYPE_CHECKING:
    from trainer.config.config import TrainConfig

# Start of the names of the measures.
PREFIX = "fusion/"


class FusionSettings(Section):
    """Settings of a fusion's training in addition to those of every run."""

    hidden: Whole = Field(default=0, description="units of a hidden layer; 0 for a linear fusion")
    blocks: Whole = Field(
        default=0,
        description="blocks of cross-attention over the text's tokens and the reference's frames; or 0",
    )
    iterate: Literal["families", "targets", "triplets"] = Field(
        default="targets",
        description="what a step draws: families of the world, triplets in turn, or one triplet per distinct target",
    )
    random_clips: Whole = Field(
        default=1_000, description="further candidates per step, of other families"
    )
    temperature: Positive = Field(default=0.02, description="divides cosines")
    loss: Literal["info_nce", "hn_nce"] = Field(default="info_nce", description="loss")
    hn_nce: Literal["as_published", "as_code"] = Field(
        default="as_published",
        description="form of hn_nce: of CoVR's paper, though with fixed alpha and temperature, or of its code",
    )
    weigh_frames: bool = Field(
        default=False,
        description="weigh targets' frames by similarity to the wanted part; of the world only",
    )

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        if self.hn_nce != "as_published" and self.loss != "hn_nce":
            raise ConfigError(
                f"The loss is {self.loss}, which has no form {self.hn_nce!r}. Choose the loss hn_nce."
            )
        return self

    @property
    def attends(self) -> bool:
        """Whether the fusion has cross-attention."""
        return self.blocks > 0

    def check_groups(self, data_name: str, num_groups: int, batch_size: int) -> None:
        """Refuse data with fewer groups than a step draws."""
        if num_groups >= batch_size:
            return
        noun = "distinct targets" if self.iterate == "targets" else self.iterate
        raise ConfigError(
            f"{data_name} has {num_groups} {noun}, fewer than batch_size ({batch_size}). Lower it."
        )

    def fits(self, is_world: bool) -> bool:
        """Return False if the data, the built-in world or a dataset, cannot be drawn and weighed like this."""
        if is_world:
            return self.iterate == "families"
        return self.iterate != "families" and not self.weigh_frames


class PictureSettings(Section):
    """A fusion of a picture and a text, which a run may train instead of towers."""

    fusion: Mapping[str, Any] = Field(
        default={},
        description="settings of a fusion of pictures and texts, which alone learns if train is "
        "fusion: loss (info_nce or hn_nce), temperature, hn_nce (as_published or as_code), "
        "iterate (targets, where each step draws triplets with distinct targets, or triplets), "
        "hidden (units; 0 for a linear fusion), blocks (of cross-attention over tokens and "
        "frames; 0 for none) and random_clips (for info_nce). The data is the folder of "
        "WebVid-CoVR, CIRR or FashionIQ, or a folder of videos with a .jsonl file that has "
        "triplets in its name; num_clips is the number of triplets, or of families of the "
        "built-in world",
    )

    def check_config(self, config: Any) -> None:
        """Refuse a fusion without its settings, its data or its measures, and these without a fusion."""
        trains_fusion = config.encoder.train == "fusion"
        has_settings = bool(self.fusion)
        if has_settings != trains_fusion or (has_settings and config.objective.losses):
            raise ConfigError(
                "fusion needs train fusion, which needs the settings fusion and no other losses. "
                "See the preset fusion."
            )
        if trains_fusion and not self.of_fusion(config).fits(config.dataset.is_world):
            raise ConfigError(
                "fusion.iterate is families for the built-in world, and targets or triplets for a dataset, whose "
                "frames are not weighed. Leave iterate and weigh_frames out."
            )
        monitor = config.validation.monitor
        if trains_fusion != monitor.startswith(PREFIX):
            raise ConfigError(
                f"monitor is {monitor}. A fusion is measured by fusion/R@1, fusion/R@5 and fusion/R@10, and no other "
                "training is. Choose another monitor."
            )

    def of_fusion(self, config: Any) -> FusionSettings:
        """Return the settings of the fusion; the default of `iterate` depends on the data."""
        iterate = "families" if config.dataset.is_world else "targets"
        return read_settings(FusionSettings, {"iterate": iterate, **self.fusion}, " of the fusion")


def fusion_settings(config: "TrainConfig") -> FusionSettings:
    """Return the settings of the fusion that a config trains."""
    return config.section(PictureSettings).of_fusion(config)
