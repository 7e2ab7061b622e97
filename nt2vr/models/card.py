"""A model's card, nt2vr.json: what is known of a checkpoint beyond its weights."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError
from nt2vr.files import write_json

CARD = "nt2vr.json"


@dataclass(frozen=True)
class Card:
    """What is known of a model, kept in nt2vr.json.

    Attributes:
        name: what people call it.
        objective: what it was trained for, in words.
        base: what its training started from; empty for random weights.
        frames: how many frames of a video it wants.
        image_size: side of its frames in pixels; here, so that frames can be decoded before torch is imported.
        pooling: how the frames become one embedding.
        losses: loss name to its weight and values.
        data: what it was trained on, in words.
        epoch: epochs trained.
        metrics: measured values, "validation/original/MIR" to 0.7 say.
        notes: what a person should know of them, in words: where the model falls short, beside what.
        created: ISO 8601, UTC.
        visual_fingerprint: of the weights of the visual tower.
        text_fingerprint: of the weights of the text tower.
    """

    name: str
    objective: str = ""
    base: str = ""
    frames: int = 8
    image_size: int = 224
    pooling: str = "mean"
    losses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: str = ""
    epoch: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)
    notes: str = ""
    created: str = ""
    visual_fingerprint: str = ""
    text_fingerprint: str = ""

    @property
    def video_key(self) -> str:
        """Everything that the embedding of a video depends on: models with equal keys share video embeddings."""
        return f"{self.visual_fingerprint} {self.frames} {self.pooling}"


def write_card(folder: Path, card: Card) -> None:
    """Replace the card of a checkpoint folder, whole."""
    write_json(folder / CARD, asdict(card), indent=2)


def read_card(folder: Path) -> Card:
    """Read the card of a checkpoint folder; keys of later versions are passed over.

    Raises:
        CheckpointError: if there is none, or it cannot be used.
    """
    try:
        data = json.loads((folder / CARD).read_text(encoding="utf-8"))
        card = Card(**{key: value for key, value in data.items() if key in {f.name for f in fields(Card)}})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{folder} has no {CARD} that can be read ({error}). Choose a checkpoint folder."
        ) from error
    if not (isinstance(card.name, str) and card.name and isinstance(card.frames, int) and card.frames > 0):
        raise CheckpointError(f"{folder / CARD} lacks a name or a number of frames. Choose another checkpoint.")
    return card
