"""Text encoding without padding. Most sentences are far shorter than the context length.

Measured on one core, built-in model, 256 sentences of 16 tokens on average, forward and backward:
0.88 s with padding, 0.50 s without, 0.31 s with plain attention in addition.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import normalize

# Sentences of similar length encoded together.
CHUNK = 64
# Pooling types that take the state at the end of the text.
POOLED_AT_END = ("argmax", "eos")


def encode_short(model: Any, tokens: Tensor) -> Tensor:
    """Embed texts as open_clip's `encode_text(tokens, normalize=True)` does: (N, D).

    CLIP's attention is causal and its embedding is taken at the end of the text, by the highest
    token ("argmax") or by the end token ("eos"), so the padding that follows has no effect. Models
    of other kinds fall back to open_clip's method.
    """
    if not _is_causal(model):
        encoded: Tensor = model.encode_text(tokens, normalize=True)
        return encoded

    ends = _ends(model, tokens)  # (N,)
    longest = int(ends.max()) + 1
    embedded = _embedded(model, tokens, longest)  # (N, L, W)
    order = ends.argsort()
    pooled = []
    with _attention(model, tokens.device):
        for rows in torch.split(order, CHUNK):
            chunk_ends = ends[rows]  # (n,)
            length = int(chunk_ends.max()) + 1
            states = _transformed(model, embedded[rows, :length])  # (n, L, W)
            at_ends = states[torch.arange(len(rows), device=rows.device), chunk_ends]  # (n, W)
            pooled.append(model.ln_final(at_ends))
    in_order = torch.cat(pooled)[order.argsort()]
    return _projected(model, in_order)


def _attention(model: Any, device: torch.device) -> AbstractContextManager[None]:
    """Return a context of plain attention in training on a CPU, and of fused attention otherwise.

    On a CPU, the backward pass of fused attention takes longer than everything else. The setting is
    global to the process, so inference, which runs in many threads, does not touch it; and it would
    not hold in a backward pass that computes activations again.
    """
    is_training = torch.is_grad_enabled() and not model.transformer.grad_checkpointing
    if is_training and device.type == "cpu":
        return sdpa_kernel(SDPBackend.MATH)
    return nullcontext()


def encode_tokens(model: Any, tokens: Tensor, most: int) -> Tensor:
    """Embed the first `most` tokens of texts as `encode_short` does their last: (N, T, D), zeros after a text's end.

    A tower that is not pooled at the end gives the text's embedding as its one token.
    """
    if not _is_causal(model):
        return encode_short(model, tokens)[:, None]

    ends = _ends(model, tokens)
    length = min(most, int(ends.max()) + 1)
    embedded = _embedded(model, tokens, length)
    states = model.ln_final(_transformed(model, embedded))
    positions = torch.arange(length, device=ends.device)
    is_text = positions <= ends[:, None]
    return _projected(model, states) * is_text[..., None]


def _is_causal(model: Any) -> bool:
    return (
        hasattr(model, "transformer")
        and model.attn_mask is not None
        and model.text_pool_type in POOLED_AT_END
    )


def _ends(model: Any, tokens: Tensor) -> Tensor:
    """Return the position of each text's end: (N,)."""
    marks = tokens == model.text_eos_id if model.text_pool_type == "eos" else tokens
    return marks.int().argmax(dim=1)


def _embedded(model: Any, tokens: Tensor, length: int) -> Tensor:
    """Return the first tokens of texts as the transformer takes them: (N, L, W)."""
    embedded: Tensor = model.token_embedding(tokens[:, :length])
    positions: Tensor = model.positional_embedding[:length]
    return embedded + positions


def _transformed(model: Any, embedded: Tensor) -> Tensor:
    length = embedded.shape[1]
    states: Tensor = model.transformer(embedded, attn_mask=model.attn_mask[:length, :length])
    return states


def _projected(model: Any, states: Tensor) -> Tensor:
    projection = model.text_projection
    if isinstance(projection, torch.nn.Module):
        return normalize(projection(states), dim=-1)
    return normalize(states @ projection, dim=-1)
