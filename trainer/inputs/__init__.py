"""What losses need in a batch besides captions, one class per need."""

from collections.abc import Iterable

from trainer.inputs.base import (
    AnyInput,
    Drawing,
    EmbeddedBatch,
    Input,
    InputFactories,
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
    "InputFactories",
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

# Texts are embedded in this order, on which the last bits of their embeddings depend. Inputs of
# extensions come after them.
BUILT_IN: tuple[type[AnyInput], ...] = (
    Video,
    Negated,
    Denied,
    Truth,
    Parts,
    Labels,
    Order,
)


def inputs_of(factories: Iterable[InputFactory]) -> Inputs:
    """Build the inputs that some losses name, and those that these use; join those of one class."""
    inputs: dict[type[AnyInput], AnyInput] = {}

    def add(factory: InputFactory) -> None:
        new_input = factory()
        # Those that it uses come before it, since it reads what they draw.
        for used in new_input.uses:
            add(used)
        first_input = inputs.setdefault(type(new_input), new_input)
        if first_input is not new_input:
            first_input.join(new_input)

    for factory in factories:
        add(factory)
    in_order = dict.fromkeys((*BUILT_IN, *inputs))
    return Inputs(inputs[kind] for kind in in_order if kind in inputs)
