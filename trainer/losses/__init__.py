"""Losses by name, and their weighted sum. To add a loss, write its class and add one line here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from pydantic import Field
from torch import Tensor

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.registry import Registry, check_word, pick
from nt2vr.sections import AnySize, Section, read_settings
from trainer.config import TrainConfig
from trainer.data.clip_loader import Reading
from trainer.inputs import EmbeddedBatch, Input, InputFactory, Inputs, inputs_of
from trainer.inputs.base import AnyInput
from trainer.loss_settings import read_loss
from trainer.losses.contrastive import ContrastiveLoss
from trainer.losses.distill import DistillLoss
from trainer.losses.paper import BidirectionalLoss, RetrievalLoss, SoftNegativeLoss
from trainer.losses.world import ComposedLoss, LabelsLoss, OrderLoss


class Loss(Protocol):
    @property
    def inputs(self) -> Sequence[InputFactory]:
        """What the batch must have: classes of inputs, or functions without arguments that build one."""

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the loss of the batch, a scalar; 0 with a gradient where nothing in it can be used."""


# Each is a frozen dataclass with `inputs` and `__call__`, in which every field has a default.
BUILT_IN: dict[str, type[Any]] = {
    "contrastive": ContrastiveLoss,
    "labels": LabelsLoss,
    "retrieval": RetrievalLoss,
    "snl": SoftNegativeLoss,
    "bnl": BidirectionalLoss,
    "composed": ComposedLoss,
    "distill": DistillLoss,
    "order": OrderLoss,
}


def _checked(name: str, loss: Any) -> type[Any]:
    """Refuse a loss from outside that a config could not name, fill with its defaults, or call."""
    check_word("loss", name)
    described = f"The loss {quoted(name)} must be a dataclass with `inputs` and `__call__`."
    if not (isinstance(loss, type) and is_dataclass(loss)):
        raise ConfigError(described)
    try:
        built: Any = loss()
    except TypeError as error:
        reason = reason_of(error)
        raise ConfigError(
            f"The loss {quoted(name)} cannot be built ({reason}). Give its fields defaults."
        ) from error
    if not (callable(built) and isinstance(getattr(built, "inputs", None), Sequence)):
        raise ConfigError(described)
    for factory in built.inputs:
        if not (callable(factory) and isinstance(factory(), Input)):
            raise ConfigError(
                f"The loss {quoted(name)} has {factory!r} among its inputs. Name classes that inherit from `Input`."
            )
    return loss


LOSSES = Registry(
    kind="loss",
    built_in=BUILT_IN,
    accept=_checked,
    references=lambda extension: extension.losses,
)


class Weight(Section):
    """What every loss has in addition to its own fields."""

    weight: AnySize = Field(default=1.0, description="factor of this loss in the weighted sum")


@dataclass(frozen=True)
class WeightedLosses:
    """The losses of a run and their weighted sum.

    Attributes:
        terms: the weight and the loss, by name.
    """

    terms: Mapping[str, tuple[float, Loss]]

    @cached_property
    def inputs(self) -> Inputs:
        """What a batch must have for all losses; built once, since some inputs load models and texts."""
        return inputs_of(chain.from_iterable(loss.inputs for _, loss in self.terms.values()))

    def named_inputs(self) -> Iterator[tuple[str, AnyInput]]:
        """Yield the inputs of each loss with its name, to check them."""
        for name, (_, loss) in self.terms.items():
            for loss_input in inputs_of(loss.inputs):
                yield name, loss_input

    @property
    def reading(self) -> Reading:
        """What of the training clips is read."""
        return Reading(
            videos=any(loss_input.reads_videos for loss_input in self.inputs),
            denials=any(loss_input.parses_captions for loss_input in self.inputs),
        )

    def __call__(self, batch: EmbeddedBatch) -> tuple[Tensor, Metrics]:
        """Return the sum to minimise, and the unweighted value of each loss."""
        losses = {name: loss(batch) for name, (_, loss) in self.terms.items()}
        total = batch.caption.new_zeros(())
        values = {}
        for name, loss in losses.items():
            weight, _ = self.terms[name]
            total = total + weight * loss
            values[name] = loss.item()
        return total, values


def losses_of(config: TrainConfig) -> WeightedLosses:
    """Build a config's losses, and reject those that its choice of towers rules out."""
    losses = build_losses(config.objective.losses)
    for name, loss_input in losses.named_inputs():
        loss_input.check(config, name)
    return losses


def build_losses(settings: Mapping[str, Mapping[str, Any]]) -> WeightedLosses:
    """Build losses from settings: name to {"weight": 1.0, and the loss's own fields}."""
    terms = {}
    for name, setting in settings.items():
        of = f" of the loss {name}"
        own_settings = dict(setting)
        weight_settings = {"weight": own_settings.pop("weight", 1.0)}
        weight = read_settings(Weight, weight_settings, of).weight
        kind = pick("loss", name, LOSSES)
        terms[name] = weight, read_loss(kind, own_settings, of)
    if not any(weight for weight, _ in terms.values()):
        raise ConfigError("There is no loss to minimise. Give at least one loss a weight above 0.")
    return WeightedLosses(terms)
