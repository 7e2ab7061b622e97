"""Weights of a text tower with added layers, which embeds as the base does at first."""

import math
import re

import torch

from nt2vr.models.weights import StateDict, Weights

# Parameter names in open_clip's text towers.
LAYER = re.compile(r"((?:text\.)?transformer\.resblocks\.)(\d+)(\..+)")
# The last weights of both residual branches.
OUTPUTS = (".attn.out_proj.", ".mlp.c_proj.")


def deepened(base: Weights, deeper: Weights) -> StateDict:
    """Return weights of a deeper model, given random ones, that embeds all texts as the base does.

    The base's layers stay in order, with the new ones spread evenly among them and the last one at
    the end. A new layer adds zero to its input: its weights are random except for the output
    projections, which are zeroed. These learn first, the others through them.
    """
    base_layers = _base_layers(_num_layers(base), _num_layers(deeper))
    weights = {}
    for name, random_weight in deeper.items():
        match = LAYER.fullmatch(name)
        if match is None:
            weights[name] = base[name]
            continue

        prefix, layer, parameter = match.groups()
        base_layer = base_layers.get(int(layer))
        if base_layer is not None:
            weights[name] = base[f"{prefix}{base_layer}{parameter}"]
        elif parameter.startswith(OUTPUTS):
            weights[name] = torch.zeros_like(random_weight)
        else:
            weights[name] = random_weight
    return weights


def _base_layers(num_base: int, num_deeper: int) -> dict[int, int]:
    """Map the layers of a deeper model to those of its base; new ones are left out."""
    num_added = num_deeper - num_base
    new_layers = set()
    for number in range(num_added):
        num_before = math.ceil(num_base * (number + 1) / num_added)
        new_layers.add(num_before + number)

    base_layers: dict[int, int] = {}
    for layer in range(num_deeper):
        if layer not in new_layers:
            base_layers[layer] = len(base_layers)
    return base_layers


def _num_layers(weights: Weights) -> int:
    matches = filter(None, map(LAYER.fullmatch, weights))
    return len({match[2] for match in matches})
