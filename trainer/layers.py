"""Extra layers for a base's text transformer. They have no effect until trained."""

import math
import re
from collections.abc import Mapping

import torch
from torch import Tensor

LAYER = re.compile(r"((?:text\.)?transformer\.resblocks\.)(\d+)(\..+)")  # parameter names in open_clip's text towers
OUTPUTS = (".attn.out_proj.", ".mlp.c_proj.")  # the last weights of both residual branches


def deepened(base: Mapping[str, Tensor], deeper: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights of a deeper model that embeds all texts as the base does.

    The base's layers stay in order, with the new ones spread evenly among them and the last one at the end. A new
    layer adds zero to its input: its weights are random except for the output projections, which are zeroed. These
    learn first, the others through them.

    Args:
        deeper: state dict of the same architecture with more layers and random weights.
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
