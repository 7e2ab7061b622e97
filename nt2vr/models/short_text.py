"""Sentences encoded without their padding, since most are far shorter than the model allows.

Measured on one core, built-in model, 256 sentences of 16 tokens on average, forward and backward: 0.88 s with padding,
0.50 s without, 0.31 s with plain attention besides.
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import normalize

CHUNK = 64  # sentences of about the same length that are encoded together


def encode_short(model: Any, tokens: Tensor) -> Tensor:
    """Return what open_clip's `encode_text(tokens, normalize=True)` does: (N, D).

    Its attention is causal and its embedding is taken where the text ends, so nothing depends on what follows. A model
    of another kind is left to open_clip.
    """
    if not (hasattr(model, "transformer") and model.attn_mask is not None and model.text_pool_type == "argmax"):
        encoded: Tensor = model.encode_text(tokens, normalize=True)
        return encoded
    ends = tokens.argmax(dim=1)  # the end-of-text token is the highest
    order = ends.argsort()
    longest = int(ends.max()) + 1
    embedded = model.token_embedding(tokens[:, :longest]) + model.positional_embedding[:longest]  # (N, L, W)
    parts = []
    # on a CPU, the backward pass of the fused attention takes longer than all the rest; the choice is the process's,
    # so searches, which run in many threads, leave it alone
    plain = tokens.device.type == "cpu" and torch.is_grad_enabled()
    with sdpa_kernel(SDPBackend.MATH) if plain else nullcontext():
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            length = int(ends[rows].max()) + 1
            states = model.transformer(embedded[rows, :length], attn_mask=model.attn_mask[:length, :length])
            parts.append(model.ln_final(states[torch.arange(len(rows), device=rows.device), ends[rows]]))
    pooled = torch.cat(parts)[order.argsort()]  # (N, W)
    projection = model.text_projection
    return normalize(projection(pooled) if isinstance(projection, torch.nn.Module) else pooled @ projection, dim=-1)
