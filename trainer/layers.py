"""New layers in a base's text transformer: room for what the base has not learnt, without any effect at first."""

import math
import re
from collections.abc import Mapping

import torch
from torch import Tensor

LAYER = re.compile(r"((?:text\.)?transformer\.resblocks\.)(\d+)(\..+)")  # of open_clip's text towers
OUTPUTS = (".attn.out_proj.", ".mlp.c_proj.")  # what a residual layer adds to its input comes from these


def deepened(base: Mapping[str, Tensor], deeper: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights of a deeper model that embeds all texts as the base does.

    The base's layers keep their order, the new ones stand evenly among them, the last at the end. A new one adds zero
    to its input: of its random weights, those of its outputs are zeroed. These learn first, the others through them.

    Args:
        base: state dict of the base, an open_clip model.
        deeper: state dict of the same architecture with more layers, of random weights.
    """
    layers, total = _count(base), _count(deeper)
    added = total - layers
    after = [math.ceil(layers * number / added) for number in range(1, added + 1)]
    new = {count + number for number, count in enumerate(after)}
    old = dict(zip((place for place in range(total) if place not in new), range(layers), strict=True))
    weights = {}
    for name, random in deeper.items():
        layer = LAYER.fullmatch(name)
        if layer is None:
            weights[name] = base[name]
        elif (place := int(layer[2])) in old:
            weights[name] = base[f"{layer[1]}{old[place]}{layer[3]}"]
        else:
            weights[name] = torch.zeros_like(random) if any(part in name for part in OUTPUTS) else random
    return weights


def _count(weights: Mapping[str, Tensor]) -> int:
    return len({layer[2] for name in weights if (layer := LAYER.fullmatch(name))})
