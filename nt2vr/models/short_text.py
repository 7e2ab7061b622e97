"""Text encoding without padding. Most sentences are far shorter than the context length.

Measured on one core, built-in model, 256 sentences of 16 tokens on average, forward and backward: 0.88 s with padding,
0.50 s without, 0.31 s with plain attention in addition.
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import normalize

CHUNK = 64  # sentences of similar length encoded together
POOLED_AT_END = ("argmax", "eos")  # pooling types that take the state at the end of the text


def encode_short(model: Any, tokens: Tensor) -> Tensor:
    """Embed texts as open_clip's `encode_text(tokens, normalize=True)` does: (N, D).

    CLIP's attention is causal and its embedding is taken at the end of the text, by the highest token ("argmax") or by
    the end token ("eos"), so the padding that follows has no effect. Models of other kinds fall back to open_clip's
    method.
    """
    if not (hasattr(model, "transformer") and model.attn_mask is not None and model.text_pool_type in POOLED_AT_END):
        encoded: Tensor = model.encode_text(tokens, normalize=True)
        return encoded
    is_end = tokens == model.text_eos_id if model.text_pool_type == "eos" else tokens
    ends = is_end.int().argmax(dim=1)
    order = ends.argsort()
    longest = int(ends.max()) + 1
    embedded = model.token_embedding(tokens[:, :longest]) + model.positional_embedding[:longest]  # (N, L, W)
    parts = []
    # On a CPU, the backward pass of fused attention takes longer than everything else. The setting is global to the
    # process, so inference, which runs in many threads, does not touch it; and it would not hold in a backward pass
    # that computes activations again.
    plain = tokens.device.type == "cpu" and torch.is_grad_enabled() and not model.transformer.grad_checkpointing
    with sdpa_kernel(SDPBackend.MATH) if plain else nullcontext():
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            length = int(ends[rows].max()) + 1
            states = model.transformer(embedded[rows, :length], attn_mask=model.attn_mask[:length, :length])
            parts.append(model.ln_final(states[torch.arange(len(rows), device=rows.device), ends[rows]]))
    pooled = torch.cat(parts)[order.argsort()]  # (N, W)
    projection = model.text_projection
    return normalize(projection(pooled) if isinstance(projection, torch.nn.Module) else pooled @ projection, dim=-1)
