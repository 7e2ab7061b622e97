"""What losses need in a batch besides captions, one class per need."""

from collections.abc import Iterable
from typing import Any

from trainer.inputs.base import (
    Drawing,
    EmbeddedBatch,
    Input,
    InputFactory,
    Inputs,
    Preparation,
    Towers,
    given,
)
from trainer.inputs.denied import Denied, Truth
from trainer.inputs.labels import Labels
from trainer.inputs.negated import Negated
from trainer.inputs.order import Order
from trainer.inputs.parts import Parts
from trainer.inputs.video import Video

__all__ = [
    "BUILT_IN",
    "Denied",
    "Drawing",
    "EmbeddedBatch",
    "Input",
    "InputFactory",
    "Inputs",
    "Labels",
    "Negated",
    "Order",
    "Parts",
    "Preparation",
    "Towers",
    "Truth",
    "Video",
    "given",
    "inputs_of",
]

# In the order in which texts are embedded, on which the last bits of their embeddings depend.
# Inputs of one's own come after them.
BUILT_IN: tuple[type[Input[Any, Any]], ...] = (
    Video,
    Negated,
    Denied,
    Truth,
    Parts,
    Labels,
    Order,
)


def inputs_of(named: Iterable[InputFactory]) -> Inputs:
    """Build what some losses name, and what that uses; objects of one class are joined."""
    joined: dict[type[Input[Any, Any]], Input[Any, Any]] = {}

    def add(factory: InputFactory) -> None:
        built = factory()
        for used in built.uses:
            add(used)
        known = joined.setdefault(type(built), built)
        if known is not built:
            known.join(built)

    for factory in named:
        add(factory)
    own = [kind for kind in joined if kind not in BUILT_IN]
    return Inputs(joined[kind] for kind in (*BUILT_IN, *own) if kind in joined)
