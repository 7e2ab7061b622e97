"""Weights of a text tower with added layers, which embeds as the base does at first."""

import math
import re
from collections.abc import Mapping

import torch
from torch import Tensor

LAYER = re.compile(
    r"((?:text\.)?transformer\.resblocks\.)(\d+)(\..+)"
)  # parameter names in open_clip's text towers
OUTPUTS = (".attn.out_proj.", ".mlp.c_proj.")  # the last weights of both residual branches


def deepened(base: Mapping[str, Tensor], deeper: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights of a deeper model, given random ones, that embeds all texts as the base does.

    The base's layers stay in order, with the new ones spread evenly among them and the last one at
    the end. A new layer adds zero to its input: its weights are random except for the output
    projections, which are zeroed. These learn first, the others through them.
    """
    layers, total = _count(base), _count(deeper)
    added = total - layers
    new = {math.ceil(layers * number / added) + number - 1 for number in range(1, added + 1)}
    old = dict(
        zip((place for place in range(total) if place not in new), range(layers), strict=True)
    )
    found = {}
    for name, random in deeper.items():
        layer = LAYER.fullmatch(name)
        if layer and int(layer[2]) in new:
            found[name] = (
                torch.zeros_like(random) if any(part in name for part in OUTPUTS) else random
            )
        else:
            found[name] = base[f"{layer[1]}{old[int(layer[2])]}{layer[3]}" if layer else name]
    return found


def _count(weights: Mapping[str, Tensor]) -> int:
    return len({layer[2] for name in weights if (layer := LAYER.fullmatch(name))})
