"""Pooling of a video's frame embeddings into one; shared by training and search.

A pooling that learns is a file of the checkpoint folder, whose hash is on the card and in the keys of what is pooled.
"""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError, quoted
from nt2vr.models.card import ATTENTION, FIXED, HEAD, INTO_SPACES, LEARNT, POOLINGS, SEQUENCE, UNIT_PROJECTED, Card
from nt2vr.models.temporal import AttentionPooling, Projection, SequenceTransformer
from nt2vr.models.weights import filled, hash_into, loading

MAX_LAYERS = 48  # of a head: each layer that a file lists is built before its shapes are compared


class Mean(nn.Module):
    """Average the frames."""

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., D), L2-normalised."""
        return normalize(frames.mean(dim=-2), dim=-1)


def new_pooling(card: Card, model: Any, width: int, size: int = 0, spaces: int = 1) -> nn.Module:
    """Return the pooling that a card names, untrained if it can learn, for embeddings of an open_clip model.

    seqTransf starts from the text tower, as far as its shapes are those of the embeddings, but unit_seqTransf close to
    the mean: next to frames of length 1, what those blocks add is large. `size` is the length of an embedding in each
    of the `spaces` of a text side that reads words.
    """
    _check_name(card)
    if card.pooling in FIXED:
        return Mean()
    if card.pooling in INTO_SPACES:
        return Projection(width, size, spaces, card.pooling == UNIT_PROJECTED)
    text = getattr(model, "text", model)
    if card.pooling == ATTENTION:
        return AttentionPooling(width)
    positions, blocks = text.positional_embedding, text.transformer.resblocks
    fits = card.pooling == SEQUENCE and positions.shape[1] == width
    pooling = SequenceTransformer(width, card.frames, heads=blocks[0].attn.num_heads if fits else None)
    if fits:
        pooling.copy_text_tower(positions, blocks)
    return pooling


def fixed_pooling(card: Card) -> nn.Module:
    """Return the pooling that a card names, if it has nothing to learn."""
    _check_name(card)
    if card.pooling in LEARNT:
        raise CheckpointError(f"{card.name} pools frames by {card.pooling}, whose weights are missing.")
    return Mean()


def read_pooling(folder: Path, card: Card, width: int) -> nn.Module:
    """Return the pooling of a checkpoint folder with embeddings of this width; features have one of their own."""
    _check_name(card)
    if card.pooling in FIXED:
        return Mean()
    path = folder / HEAD
    if not path.is_file():
        raise CheckpointError(
            f"{folder} pools frames by {card.pooling}, but has no {HEAD}. Choose a complete checkpoint."
        )
    with loading(path):
        pooling = filled_pooling(card, {name: tensor.float() for name, tensor in load_file(path).items()}, width)
    if head_of(pooling) != card.head:
        raise CheckpointError(f"{path} holds weights that do not match the card. Write the checkpoint again.")
    return pooling


def head_of(pooling: nn.Module, weights: Mapping[str, Tensor] | None = None) -> dict[str, Any]:
    """Return what a card says of a pooling, its weights as stored: their hash and its heads; empty for a fixed one."""
    weights = pooling.state_dict() if weights is None else weights
    if not weights:
        return {}
    heads = {"heads": pooling.heads} if isinstance(pooling, SequenceTransformer) else {}
    digest = blake2b(repr(heads).encode(), digest_size=16)
    hash_into(digest, weights)
    return {**heads, "fingerprint": digest.hexdigest()}


def _check_name(card: Card) -> None:
    if card.pooling not in POOLINGS:
        raise CheckpointError(
            f"{card.name} pools frames by {quoted(card.pooling)}, but only {', '.join(POOLINGS)} are supported. "
            "Choose another checkpoint."
        )


def filled_pooling(card: Card, weights: Mapping[str, Tensor], width: int) -> nn.Module:
    """Build the pooling with the weights of its file."""
    with torch.device("meta"):
        if card.pooling == ATTENTION:
            pooling: nn.Module = AttentionPooling(width, len(weights["hidden.weight"]))
        elif card.pooling in INTO_SPACES:
            spaces = min(MAX_LAYERS, len(weights) // 2)
            width = weights["spaces.0.weight"].shape[1] if card.features else width
            pooling = Projection(width, len(weights["spaces.0.weight"]), spaces, card.pooling == UNIT_PROJECTED)
        else:
            layers = len({name.split(".")[1] for name in weights if name.startswith("resblocks.")})
            heads = card.head.get("heads")
            if layers > MAX_LAYERS or type(heads) is not int or not 0 < heads <= width or width % heads:
                raise ValueError(f"{layers} layers of {quoted(heads)} attention heads are not supported")
            pooling = SequenceTransformer(width, len(weights["positions"]), layers, heads)
            if len(weights["positions"]) < card.frames:
                raise ValueError(f"it has positions for fewer than {card.frames} frames")
    return filled(pooling, weights, f"embeddings of length {width}")
