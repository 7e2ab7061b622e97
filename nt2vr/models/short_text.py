"""Text encoding without padding. Most sentences are far shorter than the context length.

Measured on one core, built-in model, 256 sentences of 16 tokens on average, forward and backward:
0.88 s with padding, 0.50 s without, 0.31 s with plain attention in addition.
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

    CLIP's attention is causal and its embedding is taken at the end of the text, by the highest
    token ("argmax") or by the end token ("eos"), so the padding that follows has no effect. Models
    of other kinds fall back to open_clip's method.
    """
    if not _is_causal(model):
        encoded: Tensor = model.encode_text(tokens, normalize=True)
        return encoded
    ends = _ends(model, tokens)
    order = ends.argsort()
    longest = int(ends.max()) + 1
    embedded = (
        model.token_embedding(tokens[:, :longest]) + model.positional_embedding[:longest]
    )  # (N, L, W)
    parts = []
    # On a CPU, the backward pass of fused attention takes longer than everything else. The setting
    # is global to the process, so inference, which runs in many threads, does not touch it; and it
    # would not hold in a backward pass that computes activations again.
    plain = (
        tokens.device.type == "cpu"
        and torch.is_grad_enabled()
        and not model.transformer.grad_checkpointing
    )
    with sdpa_kernel(SDPBackend.MATH) if plain else nullcontext():
        for start in range(0, len(order), CHUNK):
            rows = order[start : start + CHUNK]
            length = int(ends[rows].max()) + 1
            states = model.transformer(
                embedded[rows, :length], attn_mask=model.attn_mask[:length, :length]
            )
            parts.append(
                model.ln_final(states[torch.arange(len(rows), device=rows.device), ends[rows]])
            )
    pooled = torch.cat(parts)[order.argsort()]  # (N, W)
    return _projected(model, pooled)


def encode_tokens(model: Any, tokens: Tensor, most: int) -> Tensor:
    """Embed the first `most` tokens of texts as `encode_short` does their last: (N, T, D), zeros after a text's end.

    A tower that is not pooled at the end gives the text's embedding as its one token.
    """
    if not _is_causal(model):
        return encode_short(model, tokens)[:, None]
    ends = _ends(model, tokens)
    length = min(most, int(ends.max()) + 1)
    embedded = model.token_embedding(tokens[:, :length]) + model.positional_embedding[:length]
    states = model.ln_final(
        model.transformer(embedded, attn_mask=model.attn_mask[:length, :length])
    )
    is_text = torch.arange(length, device=ends.device) <= ends[:, None]
    return _projected(model, states) * is_text[..., None]


def _is_causal(model: Any) -> bool:
    return (
        hasattr(model, "transformer")
        and model.attn_mask is not None
        and model.text_pool_type in POOLED_AT_END
    )


def _ends(model: Any, tokens: Tensor) -> Tensor:
    """Return the place of each text's end: (N,)."""
    is_end = tokens == model.text_eos_id if model.text_pool_type == "eos" else tokens
    return is_end.int().argmax(dim=1)


def _projected(model: Any, states: Tensor) -> Tensor:
    projection = model.text_projection
    return normalize(
        projection(states) if isinstance(projection, torch.nn.Module) else states @ projection,
        dim=-1,
    )
