"""What a training minimises: losses or a fusion's, and the sentences that they learn from."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.denials import DenialKind
from nt2vr.sections import AnySize, Positive, Section, Share, ShareOrNone, Whole

SentenceKind = Literal[
    DenialKind, "list", "except", "place"
]  # the last three by the built-in world's grammar
SENTENCES: dict[SentenceKind, float] = {
    "composed": 0.4,
    "without": 0.3,
    "not": 0.15,
    "negated": 0.15,
}


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

    def fits(self, is_world: bool) -> bool:
        """Return False if the data, the built-in world or a dataset, cannot be drawn and weighed like this."""
        if is_world:
            return self.iterate == "families"
        return self.iterate != "families" and not self.weigh_frames


class ObjectiveSettings(Section):
    """What is minimised: a weighted sum of losses, or a fusion's loss."""

    fusion: Mapping[str, Any] = Field(
        default={},
        description="settings of a fusion, if train is fusion: loss (hn_nce or info_nce), its temperature, iterate "
        "(targets, where each step draws triplets with distinct targets, or triplets), hidden units (0 for a linear "
        "fusion), blocks of cross-attention over tokens and frames (0 for none), random_clips for info_nce, and "
        "hn_nce (as_published or as_code)",
    )
    losses: Mapping[str, Mapping[str, Any]] = Field(
        default={"contrastive": {"weight": 1.0}},
        description="losses by name, each with its weight and its own settings",
    )
    keep_share: Share = Field(
        default=1.0,
        description="share of captions that distill holds in place, per batch; less is faster",
    )

    @model_validator(mode="after")
    def _check_keep_share(self) -> Self:
        if self.keep_share != 1 and not set(self.losses) <= {"distill", "composed"}:
            raise ConfigError(
                "keep_share is for distill and composed, as other losses need all captions. Set it to 1."
            )
        return self


class NegationSettings(Section):
    """Negated sentences, and the clips that they are compared with."""

    sentences: Mapping[SentenceKind, AnySize] = Field(
        default=SENTENCES,
        description="share of each kind of negated sentence, for losses that need them: composed, without, not, "
        "negated, typed (the first two, as people type them), typed not (not, as people type it), absent "
        "(without, in other words), and idiom, which denies nothing (can't stop running); list, except and place, "
        "which only the built-in world's grammar makes; and fragment, typed not and absent, which only captions give",
    )
    not_epochs: Whole = Field(
        default=0,
        description="first epochs with only the kind not, whose sentences want nothing. They teach within a few "
        "hundred steps that negation reverses a phrase; from mixed kinds, a model may never learn it",
    )
    free: ShareOrNone = Field(
        default=0.0,
        description="share of negated sentences made from captions, rather than by the built-in world's grammar; for "
        "that world only. Which clips fit them is unknown, so the composed loss skips them",
    )
    pool_clips: Whole = Field(
        default=1024,
        description="random clips per step to compare negated sentences with, in addition to the batch's, or to "
        "choose wrong answers from (there, 0 means all clips); used only while the visual tower is frozen",
    )
    hard_clips: Whole = Field(
        default=2,
        description="hard clips per sentence, which show both its wanted and its unwanted part; used only while the "
        "visual tower is frozen",
    )

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        if not sum(self.sentences.values()) > 0:
            raise ConfigError("At least one of the shares of sentences must be above 0.")
        if self.not_epochs and not self.sentences.get("not"):
            raise ConfigError(
                'not_epochs needs sentences of the kind "not". Give them a share, or set it to 0.'
            )
        return self

    @property
    def kinds(self) -> set[SentenceKind]:
        """Kinds of sentences with a share above 0."""
        return {kind for kind, share in self.sentences.items() if share > 0}
