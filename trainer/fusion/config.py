"""Hyperparameters of a fusion's training. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nt2vr.errors import ConfigError
from trainer.options import AnySize, Count, Positive, Whole, check_settings, option, read_settings

OF_RUNS = ("blocks", "hidden", "hn_nce", "iterate", "loss", "random_clips", "temperature", "weigh_frames")  # see `of`


@dataclass(frozen=True)
class FusionConfig:
    """Hyperparameters of a fusion's training; each field is a flag of `python -m trainer.fusion`."""

    families: Count = option(1_000, "training families of the built-in world")
    hidden: Whole = option(0, "units of a hidden layer; 0 for a linear fusion")
    blocks: Whole = option(
        0, "blocks of cross-attention over the text's tokens and the reference's frames; 0 for none"
    )
    iterate: Literal["families", "targets", "triplets"] = option(
        "families",
        "what a step draws: families, of which it asks all queries; or triplets, all of them in turn, or only one for "
        "each of distinct targets, as CoVR does (default: families of the world, targets of a dataset)",
    )
    steps: Count = option(300, "steps")
    batch: Count = option(64, "how many families, targets or triplets per step")
    random_clips: Whole = option(1_000, "further candidates per step, of other families")
    learning_rate: Positive = option(3e-3, "learning rate at the start; decays to 0 along a cosine")
    weight_decay: AnySize = option(0.05, "pulls the correction to zero, and so the fusion to `parts`")
    temperature: Positive = option(0.02, "divides cosines")
    loss: Literal["info_nce", "hn_nce"] = option("info_nce", "loss")
    hn_nce: Literal["as_published", "as_code"] = option(
        "as_published", "form of hn_nce: of CoVR's paper, though with fixed alpha and temperature, or of its code"
    )
    weigh_frames: bool = option(
        False, "weigh the frames of targets by their similarity to the wanted part, as in CoVR"
    )
    seed: int = option(1, "seed for weights, families and their order")

    def __post_init__(self) -> None:
        """Refuse values that break their rules, and a form of a loss that is not used."""
        check_settings(self, "fusion.")
        if self.hn_nce != "as_published" and self.loss != "hn_nce":
            raise ConfigError(f"The loss is {self.loss}, which has no form {self.hn_nce!r}. Choose the loss hn_nce.")

    @classmethod
    def of(cls, settings: Mapping[str, Any], on_world: bool) -> "FusionConfig":
        """Read the settings `fusion` of a run's config, whose other fields have what is not among OF_RUNS."""
        given = {"iterate": "families" if on_world else "targets"}
        config = read_settings(cls, "fusion", {**given, **settings}, OF_RUNS)
        if (config.iterate == "families") != on_world or (config.weigh_frames and not on_world):
            raise ConfigError(
                "fusion.iterate is families for the built-in world, and targets or triplets for a dataset, whose "
                "frames are not weighed. Leave iterate and weigh_frames out."
            )
        return config
