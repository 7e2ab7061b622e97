"""Pooling of a video's frame embeddings into one; shared by training and search.

By the mean, or by weights that learn, whose hash is on the card and in the keys of what is pooled.
"""

import fnmatch
import math
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from nt2vr.errors import CheckpointError, quoted
from nt2vr.models.card import ATTENTION, FIXED, HEAD, INTO_SPACES, SEQUENCE, UNIT_PROJECTED, Card, HeadEntry
from nt2vr.models.quick_import import without_compiler
from nt2vr.models.weights import filled, hash_into, loading, shapes_of, unfilled

with without_compiler():  # here, since every use of a model imports this module first
    from open_clip.transformer import QuickGELU, ResidualAttentionBlock

MAX_LAYERS = 48  # of a head: each layer that a file lists is built before its shapes are compared
EPSILON = 1e-12  # of layer norms, as in CLIP4Clip's code; torch's is 1e-5
MASKED = -1e6  # added to attention scores of frames that only pad, as in that code
NEW_STD = 0.02  # of weights that no text tower gives
ATTENTION_WIDTH = 128
DROPOUT = 0.2  # of projections, as in W2VV++ and SEA


class Mean(nn.Module):
    """Average the frames."""

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., D), L2-normalised."""
        return normalize(frames.mean(dim=-2), dim=-1)


class SequenceTransformer(nn.Module):
    """Pool frames in their order: CLIP4Clip's seqTransf.

        h = transformer(frames + positions)         no causal mask
        pooled = normalised mean of normalised (h + frames)

    Source: Luo et al., "CLIP4Clip: An Empirical Study of CLIP for End to End Video Clip Retrieval", Neurocomputing
    2022. Its paper says that the weights come from the image encoder; its code takes the text encoder's, as here.
    """

    def __init__(self, width: int, max_frames: int, layers: int = 4, heads: int | None = None) -> None:
        """Start as the mean: the blocks' output projections are zero. Without `heads`, one per 64 of the width."""
        super().__init__()
        self.heads = heads or max(1, width // 64)
        positions = torch.empty(max_frames, width)
        if not positions.is_meta:
            positions = NEW_STD * torch.randn(max_frames, width)
        self.positions = nn.Parameter(positions)
        new = partial(ResidualAttentionBlock, act_layer=QuickGELU, norm_layer=partial(nn.LayerNorm, eps=EPSILON))
        self.resblocks = nn.ModuleList(new(width, self.heads) for _ in range(layers))
        for block in self.resblocks:
            for name, parameter in block.named_parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=NEW_STD)
                if "out_proj" in name or "c_proj" in name:
                    nn.init.zeros_(parameter)

    def copy_text_tower(self, positions: Tensor, blocks: Sequence[nn.Module]) -> None:
        """Start from a text tower with CLIP's blocks and positions (L, D), as far as width, length and depth go."""
        if positions.shape[1] != self.positions.shape[1]:
            return
        count = min(len(positions), len(self.positions))
        with torch.no_grad():
            self.positions[:count] = positions[:count]
        for own, block in zip(self.resblocks, blocks, strict=False):
            weights = block.state_dict()
            if shapes_of(weights) == shapes_of(own.state_dict()):
                own.load_state_dict(weights)

    def forward(self, frames: Tensor, is_frame: Tensor | None = None) -> Tensor:
        """Pool frame embeddings (..., F, D) to (..., D), L2-normalised.

        Args:
            frames: in the reference as the tower returns them, not normalised. Of too many, evenly spaced ones count.
            is_frame: (..., F) bool, False for frames that only pad; None for none of these.
        """
        if (most := len(self.positions)) < frames.shape[-2]:
            taken = torch.linspace(0, frames.shape[-2] - 1, most, device=frames.device).long()
            return self.forward(frames[..., taken, :], None if is_frame is None else is_frame[..., taken])
        *shape, count, width = frames.shape
        flat = frames.reshape(-1, count, width)
        real = torch.ones_like(flat[..., 0]) if is_frame is None else is_frame.reshape(-1, count).to(flat)
        added = ((1 - real) * MASKED)[:, None].expand(-1, count, -1).repeat_interleave(self.heads, dim=0)
        x = flat + self.positions[:count]
        for block in self.resblocks:
            x = block(x, attn_mask=added)
        each = normalize(x + flat, dim=-1) * real[..., None]
        return normalize(each.sum(dim=1) / real.sum(dim=1, keepdim=True), dim=-1).reshape(*shape, width)


class AttentionPooling(nn.Module):
    """Pool frames by learnt attention; starts as the mean.

        weights = softmax over frames of w · tanh(V f)
        pooled = normalised Σ weight · f

    nT2VR's footnote 4 names an attention pooling without a formula, and its code has none. This is the usual form, not
    necessarily the paper's.

    Source: Ilse et al., "Attention-based Deep Multiple Instance Learning", ICML 2018, Eq. 7 and 8.
    """

    def __init__(self, width: int, attention: int = ATTENTION_WIDTH) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, attention, bias=False)
        self.score = nn.Linear(attention, 1, bias=False)
        nn.init.xavier_uniform_(self.hidden.weight)
        nn.init.zeros_(self.score.weight)

    def weights(self, frames: Tensor) -> Tensor:
        """Return the weight of each frame: (..., F, D) to (..., F), which sum to 1."""
        scores: Tensor = self.score(torch.tanh(self.hidden(frames)))
        return scores.squeeze(-1).softmax(dim=-1)

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., D), L2-normalised."""
        return normalize((self.weights(frames)[..., None] * frames).sum(dim=-2), dim=-1)


class Space(nn.Linear):
    """Linear layer into a space, then tanh and, in training, dropout; Xavier weights and no bias at first."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__(width, size)
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Project (..., W) to (..., P)."""
        return dropout(torch.tanh(super().forward(x)), DROPOUT, self.training)


def joined(spaces: Sequence[Tensor]) -> Tensor:
    """Join K vectors (..., P) to one of length 1: K times the product of two is the sum of their cosines."""
    return torch.cat([normalize(each, dim=-1) for each in spaces], dim=-1) / math.sqrt(len(spaces))


class Projection(nn.Module):
    """Project the mean of the frames into one or several spaces, which are those of a text side too.

        pooled = joined([S_k(mean f) for each space k])      S: linear, tanh, dropout
        unit_: √D · mean f / |mean f| instead of the mean, for frames of length 1

    Sources: Li et al., "W2VV++", ACM MM 2019; Li et al., "SEA", IEEE Transactions on Multimedia 2021.
    """

    def __init__(self, width: int, size: int, spaces: int = 1, unit: bool = False) -> None:
        """Initialise at random; with `unit`, frames are of length 1."""
        super().__init__()
        self.unit = unit
        self.spaces = nn.ModuleList(Space(width, size) for _ in range(spaces))

    @property
    def width(self) -> int:
        return self.spaces[0].in_features  # type: ignore[return-value]

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., K P), L2-normalised."""
        mean = frames.mean(dim=-2)
        if self.unit:
            mean = normalize(mean, dim=-1) * math.sqrt(mean.shape[-1])
        return joined([space(mean) for space in self.spaces])


def new_pooling(card: Card, model: Any, width: int, size: int = 0, spaces: int = 1) -> nn.Module:
    """Return the pooling that a card names, untrained if it can learn, for embeddings of an open_clip model.

    seqTransf starts from the text tower, as far as its shapes are those of the embeddings, but unit_seqTransf close to
    the mean: next to frames of length 1, what those blocks add is large. `size` is the length of an embedding in each
    of the `spaces` of a text side that reads words.
    """
    if card.pooling.name in FIXED:
        return Mean()
    if card.pooling.name in INTO_SPACES:
        return Projection(width, size, spaces, card.pooling.name == UNIT_PROJECTED)
    if card.pooling.name == ATTENTION:
        return AttentionPooling(width)
    text = getattr(model, "text", model)
    positions, blocks = text.positional_embedding, text.transformer.resblocks
    fits = card.pooling.name == SEQUENCE and positions.shape[1] == width
    pooling = SequenceTransformer(width, card.framing.frames, heads=blocks[0].attn.num_heads if fits else None)
    if fits:
        pooling.copy_text_tower(positions, blocks)
    return pooling


def fixed_pooling(card: Card) -> nn.Module:
    if card.pooling.name not in FIXED:
        raise CheckpointError(f"{card.name} pools frames by {card.pooling.name}, whose weights are missing.")
    return Mean()


def read_pooling(folder: Path, card: Card, width: int) -> nn.Module:
    """Return the pooling of a checkpoint folder with embeddings of this width; features have one of their own."""
    if card.pooling.name in FIXED:
        return Mean()
    path = folder / HEAD
    if not path.is_file():
        raise CheckpointError(
            f"{folder} pools frames by {card.pooling.name}, but has no {HEAD}. Choose a complete checkpoint."
        )
    with loading(path):
        pooling = filled_pooling(card, {name: tensor.float() for name, tensor in load_file(path).items()}, width)
    if head_of(pooling) != card.pooling.head:
        raise CheckpointError(f"{path} holds weights that do not match the card. Write the checkpoint again.")
    return pooling


def head_of(pooling: nn.Module, weights: Mapping[str, Tensor] | None = None) -> HeadEntry | None:
    """Return what a card says of a pooling, its weights as stored: their hash and its heads; None for a fixed one."""
    weights = pooling.state_dict() if weights is None else weights
    if not weights:
        return None
    heads = {"heads": pooling.heads} if isinstance(pooling, SequenceTransformer) else {}
    digest = blake2b(repr(heads).encode(), digest_size=16)
    hash_into(digest, weights)
    return HeadEntry(**heads, fingerprint=digest.hexdigest())


def filled_pooling(card: Card, weights: Mapping[str, Tensor], width: int) -> nn.Module:
    with torch.device("meta"), unfilled():  # random numbers on it would import PyTorch's compiler, 1.4 s and 170 MB
        if card.pooling.name == ATTENTION:
            pooling: nn.Module = AttentionPooling(width, len(weights["hidden.weight"]))
        elif card.pooling.name in INTO_SPACES:
            spaces = min(MAX_LAYERS, len(weights) // 2)
            width = weights["spaces.0.weight"].shape[1] if card.visual.features else width
            pooling = Projection(width, len(weights["spaces.0.weight"]), spaces, card.pooling.name == UNIT_PROJECTED)
        else:
            layers = len({name.split(".")[1] for name in fnmatch.filter(weights, "resblocks.*")})
            heads = card.pooling.head.heads if card.pooling.head else None
            if layers > MAX_LAYERS or heads is None or not 0 < heads <= width or width % heads:
                raise ValueError(f"{layers} layers of {quoted(heads)} attention heads are not supported")
            pooling = SequenceTransformer(width, len(weights["positions"]), layers, heads)
            if len(weights["positions"]) < card.framing.frames:
                raise ValueError(f"it has positions for fewer than {card.framing.frames} frames")
    return filled(pooling, weights, f"embeddings of length {width}")
