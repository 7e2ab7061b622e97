"""What a training minimises, and the sentences that it learns from."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.denial import DenialKind
from nt2vr.sections import AnySize, Section, Share, ShareOrNone, Whole

# The last three are made by the built-in world's grammar alone.
SentenceKind = Literal[DenialKind, "list", "except", "place"]
SENTENCES: dict[SentenceKind, float] = {
    "composed": 0.4,
    "without": 0.3,
    "not": 0.15,
    "negated": 0.15,
}


class ObjectiveSettings(Section):
    """What is minimised: a weighted sum of losses."""

    losses: Mapping[str, Mapping[str, Any]] = Field(
        default={"contrastive": {"weight": 1.0}},
        description="losses by name, each with its weight and its own settings",
    )
    keep_share: Share = Field(
        default=1.0,
        description="share of each batch's captions that distill holds in place; a smaller share is faster",
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
        description="share of each kind of negated sentence, for losses that need them: composed, without, not and "
        "negated; typed (the first two as people type them) and typed not (not as people type it); absent (without "
        "in other words); idiom, which denies nothing (can't stop running); list, except, place and fragment. Only "
        "the built-in world's grammar makes list, except and place; only captions give fragment, typed not and absent",
    )
    not_epochs: Whole = Field(
        default=0,
        description="number of epochs, at the start, with only sentences of the kind not, which have no wanted part. "
        "They teach within a few hundred steps that negation reverses a phrase; from mixed kinds, a model may never "
        "learn it",
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
