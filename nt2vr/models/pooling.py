"""Pooling of a video's frame embeddings into one; shared by training and search.

By the mean, or by weights that learn, whose hash is on the card and in the keys of what is pooled.
"""

import fnmatch
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError, quoted
from nt2vr.extension import load, poolings
from nt2vr.models.card import ATTENTION, FIXED, HEAD, SEQUENCE, Card, HeadEntry
from nt2vr.models.quick_import import without_compiler
from nt2vr.models.weights import Weights, filled, hash_weights, loading, shapes_of, unfilled

# Here, since every use of a model imports this module first.
with without_compiler():
    from open_clip.transformer import QuickGELU, ResidualAttentionBlock

# Of a head: each layer that a file lists is built before its shapes are compared.
MAX_LAYERS = 48
# Of layer norms, as in CLIP4Clip's code; torch's is 1e-5.
EPSILON = 1e-12
# Standard deviation of weights that no text tower gives.
NEW_STD = 0.02
ATTENTION_WIDTH = 128


class Mean(nn.Module):
    """Average the frames."""

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., D), L2-normalised."""
        return normalize(frames.mean(dim=-2), dim=-1)


class SequenceTransformer(nn.Module):
    """Pool frames in their order: CLIP4Clip's seqTransf.

        h = transformer(frames + positions)         no causal mask
        pooled = normalised mean of normalised (h + frames)

    Source: Luo et al., "CLIP4Clip: An Empirical Study of CLIP for End to End Video Clip Retrieval",
    Neurocomputing 2022. Its paper says that the weights come from the image encoder; its code takes
    the text encoder's, as here.
    """

    def __init__(
        self, width: int, max_frames: int, layers: int = 4, heads: int | None = None
    ) -> None:
        """Start as the mean: the blocks' output projections are zero. Without `heads`, one per 64 of the width."""
        super().__init__()
        self.heads = heads or max(1, width // 64)
        positions = torch.empty(max_frames, width)
        if not positions.is_meta:
            positions = NEW_STD * torch.randn(max_frames, width)
        self.positions = nn.Parameter(positions)
        norm = partial(nn.LayerNorm, eps=EPSILON)
        self.resblocks = nn.ModuleList(
            ResidualAttentionBlock(width, self.heads, act_layer=QuickGELU, norm_layer=norm)
            for _ in range(layers)
        )
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
        length = min(len(positions), len(self.positions))
        with torch.no_grad():
            self.positions[:length] = positions[:length]
        for block, text_block in zip(self.resblocks, blocks, strict=False):
            weights = text_block.state_dict()
            if shapes_of(weights) == shapes_of(block.state_dict()):
                block.load_state_dict(weights)

    def forward(self, frames: Tensor) -> Tensor:
        """Pool frame embeddings (..., F, D) to (..., D), L2-normalised.

        In the reference, they are as the tower returns them, not normalised. Of too many, evenly
        spaced ones count.
        """
        frames = self._spaced(frames)
        num_frames, width = frames.shape[-2:]
        flat = frames.reshape(-1, num_frames, width)  # (N, F, D)

        # Attention without a mask would change the last digits of stored embeddings.
        mask = flat.new_zeros(len(flat) * self.heads, num_frames, num_frames)
        states = flat + self.positions[:num_frames]
        for block in self.resblocks:
            states = block(states, attn_mask=mask)

        unit_states = normalize(states + flat, dim=-1)  # (N, F, D)
        pooled = normalize(unit_states.mean(dim=1), dim=-1)  # (N, D)
        return pooled.reshape(*frames.shape[:-2], width)

    def _spaced(self, frames: Tensor) -> Tensor:
        most = len(self.positions)
        num_frames = frames.shape[-2]
        if num_frames <= most:
            return frames
        spaced = torch.linspace(0, num_frames - 1, most, device=frames.device).long()
        return frames[..., spaced, :]


class AttentionPooling(nn.Module):
    """Pool frames by learnt attention; starts as the mean.

        weights = softmax over frames of w · tanh(V f)
        pooled = normalised Σ weight · f

    nT2VR's footnote 4 names an attention pooling without a formula, and its code has none. This is
    the usual form, not necessarily the paper's.

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
        weighted = self.weights(frames)[..., None] * frames  # (..., F, D)
        return normalize(weighted.sum(dim=-2), dim=-1)


class ExtensionPooling(nn.Module):
    """What a pooling of `Extension.poolings` is: it is called with frames (..., F, W), and returns videos (..., D).

    Attributes:
        reads_mean: True if the mean of frames of length 1 is all that it reads, so that nothing
            else has to be stored.
    """

    reads_mean: ClassVar[bool] = False

    @classmethod
    def for_training(cls, config: Any, width: int) -> Self:
        """Build the one that a `TrainConfig` asks for, untrained, for frames of this width."""
        raise NotImplementedError

    @classmethod
    def read(cls, weights: Weights, width: int | None) -> Self:
        """Build the one that these weights will fill, without memory; without `width`, frames are as wide as they say.

        Raises:
            LookupError, ValueError: if the weights are not those of this pooling.
        """
        raise NotImplementedError

    @property
    def width(self) -> int:
        """Length of a frame's embedding."""
        raise NotImplementedError

    @property
    def embed_dim(self) -> int:
        """Length of a video's embedding, and of those of the texts that it is compared with."""
        raise NotImplementedError


def extension_pooling(name: str) -> type[ExtensionPooling] | None:
    """Return the class of an extension's pooling; None if there is none of that name."""
    if name not in poolings():
        return None
    kind: type[ExtensionPooling] = load(poolings()[name].reference)
    return kind


def new_pooling(card: Card, model: Any, width: int) -> nn.Module:
    """Return the core's pooling that a card names, untrained if it can learn, for embeddings of an open_clip model.

    seqTransf starts from the text tower, as far as its shapes are those of the embeddings, but
    unit_seqTransf close to the mean: next to frames of length 1, what those blocks add is large.
    """
    if card.pooling.name in FIXED:
        return Mean()
    if card.pooling.name == ATTENTION:
        return AttentionPooling(width)
    text = getattr(model, "text", model)
    positions = text.positional_embedding
    blocks = text.transformer.resblocks
    max_frames = card.framing.frames
    if card.pooling.name != SEQUENCE or positions.shape[1] != width:
        return SequenceTransformer(width, max_frames)
    pooling = SequenceTransformer(width, max_frames, heads=blocks[0].attn.num_heads)
    pooling.copy_text_tower(positions, blocks)
    return pooling


def fixed_pooling(card: Card) -> nn.Module:
    if card.pooling.name not in FIXED:
        raise CheckpointError(
            f"{card.name} pools frames by {card.pooling.name}, whose weights are missing."
        )
    return Mean()


def read_pooling(folder: Path, card: Card, width: int) -> nn.Module:
    """Return the pooling of a checkpoint folder with frames of this width; another input has a width of its own."""
    if card.pooling.name in FIXED:
        return Mean()
    path = folder / HEAD
    if not path.is_file():
        raise CheckpointError(
            f"{folder} pools frames by {card.pooling.name}, but has no {HEAD}. Choose a complete checkpoint."
        )
    with loading(path):
        weights = {name: tensor.float() for name, tensor in load_file(path).items()}
        pooling = filled_pooling(card, weights, width)
    if head_of(pooling) != card.pooling.head:
        raise CheckpointError(
            f"{path} holds weights that do not match the card. Write the checkpoint again."
        )
    return pooling


def head_of(pooling: nn.Module, weights: "Weights | None" = None) -> HeadEntry | None:
    """Return what a card says of a pooling, its weights as stored: their hash and its heads; None for a fixed one."""
    weights = weights or pooling.state_dict()
    if not weights:
        return None
    heads = {"heads": pooling.heads} if isinstance(pooling, SequenceTransformer) else {}
    return HeadEntry(**heads, fingerprint=hash_weights(weights, before=repr(heads)))


def filled_pooling(card: Card, weights: Weights, width: int) -> nn.Module:
    """Build the pooling that a card names, of frames of this width, and give it weights.

    Raises:
        LookupError, ValueError, RuntimeError: if the weights are not those of such a pooling.
    """
    kind = extension_pooling(card.pooling.name)
    # Random numbers on this device would import PyTorch's compiler, 1.4 s and 170 MB.
    with torch.device("meta"), unfilled():
        if card.pooling.name == ATTENTION:
            pooling: nn.Module = AttentionPooling(width, len(weights["hidden.weight"]))
        elif kind is not None:
            frame_width = width if card.visual.input is None else None
            of_extension = kind.read(weights, frame_width)
            pooling = of_extension
            width = of_extension.width
        else:
            pooling = _unfilled_sequence(card, weights, width)
    return filled(pooling, weights, f"embeddings of length {width}")


def _unfilled_sequence(card: Card, weights: Weights, width: int) -> nn.Module:
    head = card.pooling.head
    heads = head.heads if head else None
    has_heads = heads is not None and 0 < heads <= width and width % heads == 0
    block_names = fnmatch.filter(weights, "resblocks.*")
    layers = len({name.split(".")[1] for name in block_names})
    if layers > MAX_LAYERS or not has_heads:
        raise ValueError(f"{layers} layers of {quoted(heads)} attention heads are not supported")

    max_frames = len(weights["positions"])
    pooling = SequenceTransformer(width, max_frames, layers, heads)
    if max_frames < card.framing.frames:
        raise ValueError(f"it has positions for fewer than {card.framing.frames} frames")
    return pooling
