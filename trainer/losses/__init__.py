"""Losses by name, and their weighted sum. To add a loss, write its class and add one line here."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Protocol

from pydantic import Field
from torch import Tensor

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.registry import Registry, check_word, pick
from trainer.config import TrainConfig
from trainer.config.checked import AnySize, Section, read_settings
from trainer.losses.contrastive import ConClipLoss, ContrastiveLoss, NegClipLoss, VfcLoss
from trainer.losses.distill import DistillLoss
from trainer.losses.embedded import EmbeddedBatch
from trainer.losses.paper import BidirectionalLoss, RetrievalLoss, SoftNegativeLoss
from trainer.losses.settings import read_loss
from trainer.losses.world import ComposedLoss, LabelsLoss, OrderLoss


class Loss(Protocol):
    @property
    def needs(self) -> frozenset[str]:
        """Required inputs, see `WeightedLosses.needs`."""

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the loss of the batch, a scalar; 0 with a gradient where nothing in it can be used."""


NEEDS = frozenset(  # see `WeightedLosses.needs`
    "video negated denied truth parts kept distractors verbs labels ordered".split()
)
BUILT_IN: dict[str, type[Any]] = {  # frozen dataclasses with `needs` and `__call__`, every field with a default
    "contrastive": ContrastiveLoss,
    "labels": LabelsLoss,
    "retrieval": RetrievalLoss,
    "snl": SoftNegativeLoss,
    "bnl": BidirectionalLoss,
    "composed": ComposedLoss,
    "distill": DistillLoss,
    "con": ConClipLoss,
    "negclip": NegClipLoss,
    "vfc": VfcLoss,
    "order": OrderLoss,
}


def _checked(name: str, loss: Any) -> type[Any]:
    """Refuse a loss from outside that a config could not name, fill with its defaults, or call."""
    check_word("loss", name)
    described = f"The loss {quoted(name)} must be a dataclass with `needs` and `__call__`."
    if not (isinstance(loss, type) and is_dataclass(loss)):
        raise ConfigError(described)
    try:
        built: Any = loss()
        needs = set(built.needs)
    except (TypeError, AttributeError) as error:
        reason = reason_of(error)
        raise ConfigError(f"The loss {quoted(name)} cannot be built ({reason}). Give its fields defaults.") from error
    if not callable(built):
        raise ConfigError(described)
    unknown = sorted(needs - NEEDS)
    if unknown:
        raise ConfigError(f"The loss {quoted(name)} needs {unknown[0]!r}. Choose from: {', '.join(sorted(NEEDS))}.")
    return loss


LOSSES = Registry("loss", BUILT_IN, _checked)


class Weight(Section):
    """What every loss has in addition to its own fields."""

    weight: AnySize = Field(default=1.0, description="factor of this loss in the weighted sum")


@dataclass(frozen=True)
class WeightedLosses:
    terms: Mapping[str, tuple[float, Loss]]  # name to (weight, loss)

    @property
    def needs(self) -> frozenset[str]:
        """Inputs that a batch must have in addition to captions.

        "video" · "negated" captions · "denied" sentences · their "truth", i.e. their correct clips · their "parts"
        and, as "kept", the captions, both embedded by the frozen starting model · "distractors" mined by that model ·
        "verbs", captions with another verb, and verb phrases · "labels", words with the clips that show them ·
        "ordered", clips that follow each other, with sentences
        """
        return frozenset().union(*(loss.needs for _, loss in self.terms.values()))

    @property
    def users(self) -> dict[str, list[str]]:
        """Names of the losses that have each need."""
        return {need: [name for name, (_, loss) in self.terms.items() if need in loss.needs] for need in self.needs}

    def __call__(self, batch: EmbeddedBatch) -> tuple[Tensor, dict[str, float]]:
        """Return the sum to minimise, and the unweighted value of each loss."""
        values = {name: loss(batch) for name, (_, loss) in self.terms.items()}
        total = sum((self.terms[name][0] * value for name, value in values.items()), batch.caption.new_zeros(()))
        return total, {name: value.item() for name, value in values.items()}


def losses_of(config: TrainConfig) -> WeightedLosses:
    """Build a config's losses, and reject those that its choice of towers rules out."""
    losses = build_losses(config.objective.losses)
    frozen = [name for need in ("parts", "distractors") for name in losses.users.get(need, ())]
    if frozen and config.encoder.trains_visual:
        raise ConfigError(f"{frozen[0]} needs a frozen visual tower. Set train to text.")
    if config.encoder.words and (others := losses.users.get("parts", ())):
        raise ConfigError(f"{others[0]} teaches a text tower. Leave it out, or leave words out.")
    if config.frames.features and (others := losses.users.get("distractors", ())):
        raise ConfigError(f"{others[0]} needs videos as the base sees them. Leave it out, or leave features out.")
    return losses


def build_losses(settings: Mapping[str, Mapping[str, Any]]) -> WeightedLosses:
    """Build losses from settings: name to {"weight": 1.0, and the loss's own fields}."""
    terms: dict[str, tuple[float, Loss]] = {}
    for name, setting in settings.items():
        of = f" of the loss {name}"
        weight = read_settings(Weight, {"weight": setting.get("weight", 1.0)}, of).weight
        loss_settings = {key: value for key, value in setting.items() if key != "weight"}
        terms[name] = weight, read_loss(pick("loss", name, LOSSES), loss_settings, of)
    if not any(weight for weight, _ in terms.values()):
        raise ConfigError("There is no loss to minimise. Give at least one loss a weight above 0.")
    return WeightedLosses(terms)
