"""Hyperparameters of a fusion's training. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nt2vr.errors import ConfigError
from trainer.options import AnySize, Count, Positive, Whole, check_settings, read_settings

OF_RUNS = ("blocks", "hidden", "hn_nce", "iterate", "loss", "random_clips", "temperature", "weigh_frames")  # see `of`


@dataclass(frozen=True)
class FusionConfig:
    """Hyperparameters of a fusion's training.

    Attributes:
        hidden: units of the hidden layer; 0 for a linear fusion.
        blocks: of cross-attention over the text's tokens and the reference's frames, beside the layers; 0 for none.
        iterate: what a step draws: families, of which it asks all queries; or triplets, all of them in turn, or only
            one for each of distinct targets, as CoVR does.
        batch: of these per step.
        random_clips: further candidates per step, of other families.
        learning_rate: at the start; decays to 0 along a cosine.
        weight_decay: pulls the correction to zero, and so the fusion to `parts`.
        hn_nce: form of that loss: of CoVR's paper, though with fixed alpha and temperature, or of its code.
        weigh_frames: whether frames of targets are weighted by their similarity to the wanted part, as in CoVR.
    """

    families: Count = 1_000
    hidden: Whole = 0
    blocks: Whole = 0
    iterate: Literal["families", "targets", "triplets"] = "families"
    steps: Count = 300
    batch: Count = 64
    random_clips: Whole = 1_000
    learning_rate: Positive = 3e-3
    weight_decay: AnySize = 0.05
    temperature: Positive = 0.02
    loss: Literal["info_nce", "hn_nce"] = "info_nce"
    hn_nce: Literal["as_published", "as_code"] = "as_published"
    weigh_frames: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse values that break their rules, and a form of a loss that is not used."""
        check_settings(self, "fusion.")
        if self.hn_nce != "as_published" and self.loss != "hn_nce":
            raise ConfigError(f"The loss is {self.loss}, which has no form {self.hn_nce!r}. Choose the loss hn_nce.")

    @classmethod
    def of(cls, settings: Mapping[str, Any], on_world: bool) -> "FusionConfig":
        """Read the settings `fusion` of a run's config, whose other fields have what is not among OF_RUNS.

        Args:
            on_world: whether families of the built-in world are drawn instead of a dataset's triplets.
        """
        given = {"iterate": "families" if on_world else "targets"}
        config = read_settings(cls, "fusion", {**given, **settings}, OF_RUNS)
        if (config.iterate == "families") != on_world or (config.weigh_frames and not on_world):
            raise ConfigError(
                "fusion.iterate is families for the built-in world, and targets or triplets for a dataset, whose "
                "frames are not weighed. Leave iterate and weigh_frames out."
            )
        return config
