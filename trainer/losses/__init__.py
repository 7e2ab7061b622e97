"""The losses by name, and their weighted sum. A new loss is one file and one line here."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.registry import pick
from trainer.config import check_kind
from trainer.losses.bnl import BidirectionalLoss
from trainer.losses.composed import ComposedLoss
from trainer.losses.contrastive import ContrastiveLoss
from trainer.losses.distill import DistillLoss
from trainer.losses.embedded import EmbeddedBatch
from trainer.losses.retrieval import RetrievalLoss
from trainer.losses.snl import SoftNegativeLoss

Loss = Callable[[EmbeddedBatch], Tensor]
LOSSES: dict[str, type[Any]] = {
    "contrastive": ContrastiveLoss,
    "retrieval": RetrievalLoss,
    "snl": SoftNegativeLoss,
    "bnl": BidirectionalLoss,
    "composed": ComposedLoss,
    "distill": DistillLoss,
}


@dataclass(frozen=True)
class WeightedLosses:
    """Several losses added up.

    Attributes:
        terms: name to (weight, loss).
    """

    terms: Mapping[str, tuple[float, Loss]]

    @property
    def needs(self) -> frozenset[str]:
        """What a batch must have beside videos and captions.

        "negated" captions · "denied" sentences · their "parts", "kept" captions: by the frozen starting model
        """
        return frozenset().union(*(getattr(loss, "needs", ()) for _, loss in self.terms.values()))

    def __call__(self, batch: EmbeddedBatch) -> tuple[Tensor, dict[str, float]]:
        """Return the sum to minimise, and the value of each loss before its weight."""
        values = {name: loss(batch) for name, (_, loss) in self.terms.items()}
        total = sum((self.terms[name][0] * value for name, value in values.items()), batch.video.new_zeros(()))
        return total, {name: value.item() for name, value in values.items()}


def build_losses(settings: Mapping[str, Mapping[str, Any]]) -> WeightedLosses:
    """Build the losses of a config: name to {"weight": 1.0, and the loss's own fields}.

    Raises:
        ConfigError: if a loss is unknown, or a field of it, or a value cannot be used.
    """
    terms: dict[str, tuple[float, Loss]] = {}
    for name, setting in settings.items():
        kind = pick("loss", name, LOSSES)
        if not isinstance(setting, Mapping):
            raise ConfigError(f'The loss {name} must be like {{"weight": 1.0}}, not {setting!r}.')
        values = dict(setting)
        weight = values.pop("weight", 1.0)
        unknown = sorted(set(values) - {field.name for field in fields(kind)})
        if unknown:
            raise ConfigError(f"The loss {name} has no field {', '.join(unknown)}. Remove it from the config.")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise ConfigError(f"The weight of the loss {name} must be a number from 0 up, not {weight!r}.")
        for field in fields(kind):
            if field.name in values:
                check_kind(f"{field.name} of the loss {name}", values[field.name], field.default)
        terms[name] = (float(weight), kind(**values))
    if not any(weight for weight, _ in terms.values()):
        raise ConfigError("There is no loss to minimise. Give at least one loss a weight above 0.")
    return WeightedLosses(terms)
