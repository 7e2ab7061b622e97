"""Text sides of extensions, which embed texts instead of an open_clip model's text tower.

A checkpoint folder has one next to open_clip's files, in NAME.safetensors; the text tower there is
the base's, and is not asked.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors import safe_open
from torch import Tensor, nn

from nt2vr.errors import CheckpointError
from nt2vr.extension import load, text_sides
from nt2vr.models.card import Card, extension_file
from nt2vr.models.weights import Weights, hash_weights, loading, unfilled

# Of a text side on a card.
Entry = dict[str, str]


class TextSide(nn.Module):
    """What a text side of `Extension.text_sides` is; it is called with N texts, and returns (N, D) of length 1.

    Attributes:
        name: as in `Extension.text_sides`.
    """

    name: ClassVar[str]

    @classmethod
    def for_training(cls, config: Any, clips: Any) -> Self:
        """Build the one that a `TrainConfig` asks for, to be trained on `trainer.data.clips.Clips`."""
        raise NotImplementedError

    @classmethod
    def read(cls, metadata: Mapping[str, str], weights: Weights) -> Self:
        """Build the one of a file; modules get no random weights meanwhile, and tensors are built without memory."""
        raise NotImplementedError

    @property
    def metadata(self) -> dict[str, str]:
        """Texts in its file, from which it is read together with its weights."""
        raise NotImplementedError

    @property
    def description(self) -> dict[str, str]:
        """What its entry on a card says, besides the hash of its weights."""
        return {}

    @property
    def embed_dim(self) -> int:
        """Length of an embedding."""
        raise NotImplementedError

    @property
    def num_spaces(self) -> int:
        """Number of spaces of equal length that an embedding joins."""
        return 1

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Embed texts: (N, D), each of length 1."""
        raise NotImplementedError

    def reads(self, text: str) -> str:
        """Return the words of a text that it reads, if it skips others; "" if it reads all."""
        raise NotImplementedError

    def knows(self, word: str) -> bool:
        """Return True if a word was seen in training."""
        raise NotImplementedError


def card_fields(side: TextSide | None, weights: "Weights | None" = None) -> dict[str, Entry | None]:
    """Return what a card says of all text sides, of which a model has one or none; `weights` are those as stored."""
    fields: dict[str, Entry | None] = dict.fromkeys(text_sides())
    if side is not None:
        metadata = "".join(side.metadata.values())
        fingerprint = hash_weights(weights or side.state_dict(), before=metadata)
        fields[side.name] = {**side.description, "fingerprint": fingerprint}
    return fields


def read_text_side(folder: Path, card: Card) -> TextSide | None:
    """Return the text side of a checkpoint folder, None if its card has none; a CheckpointError if it is unusable."""
    entry = card.text.side
    if entry is None:
        return None
    path = folder / extension_file(entry.name)
    if not path.is_file():
        raise CheckpointError(
            f"{folder} reads {entry.name}, but has no {path.name}. Choose a complete checkpoint."
        )
    with loading(path):
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118  no mapping
        kind: type[TextSide] = load(text_sides()[entry.name])
        with torch.device("meta"), unfilled():
            side = kind.read(metadata, weights)
    if card_fields(side)[entry.name] != entry.stored:
        raise CheckpointError(
            f"{path} holds weights that do not match the card. Write the checkpoint again."
        )
    return side
