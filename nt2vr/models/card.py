"""The model card, nt2vr.json: the metadata of a checkpoint."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError
from nt2vr.files import with_schema, without_schema, write_json

CARD = "nt2vr.json"


@dataclass(frozen=True)
class Card:
    """Metadata of a model, stored in nt2vr.json.

    Attributes:
        name: display name.
        objective: training objective, in words.
        base: name of the model that training started from; empty for random weights.
        frames: frames sampled per video.
        image_size: side of a frame in pixels; stored, so that frames can be decoded before torch is imported.
        pooling: name in `POOLINGS`: how frame embeddings become a video's embedding.
        losses: loss name to weight and hyperparameters.
        data: training data, in words.
        epoch: epochs trained.
        metrics: measured values, such as "validation/original/MIR" to 0.7.
        exclusion: settings of search strategies: "lambda" and "t", chosen on validation clips, and "anchor", a list of
            neutral texts; see `nt2vr.search.strategies`.
        notes: remarks on the metrics for people: where the model falls short, compared with which.
        created: ISO 8601, UTC.
        visual_fingerprint: hash of the visual tower's weights.
        text_fingerprint: hash of the text tower's weights.
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
    exclusion: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""
    created: str = ""
    visual_fingerprint: str = ""
    text_fingerprint: str = ""

    @property
    def video_key(self) -> str:
        """Everything that the embedding of a video depends on: models with equal keys share video embeddings."""
        return f"{self.visual_fingerprint} {self.frames} {self.pooling}"


def write_card(folder: Path, card: Card) -> None:
    """Replace the card of a checkpoint folder, atomically."""
    write_json(folder / CARD, with_schema(asdict(card)), indent=2)


def read_card(folder: Path) -> Card:
    """Read the card of a checkpoint folder; unknown keys are ignored.

    Raises:
        CheckpointError: if it is missing, invalid or written by a newer nT2VR.
    """
    try:
        data = without_schema(json.loads((folder / CARD).read_text(encoding="utf-8")), folder / CARD, CheckpointError)
        card = Card(**{key: value for key, value in data.items() if key in {f.name for f in fields(Card)}})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{folder} has no readable {CARD} ({error}). Choose a checkpoint folder.") from error
    if not (isinstance(card.name, str) and card.name and isinstance(card.frames, int) and card.frames > 0):
        raise CheckpointError(f"{folder / CARD} lacks a name or a number of frames. Choose another checkpoint.")
    if not is_exclusion(card.exclusion):
        raise CheckpointError(f"{folder / CARD} has an invalid “exclusion”. Correct it, or remove it.")
    return card


def is_exclusion(exclusion: Any) -> bool:
    """Return whether a value read from a card can be its `exclusion`: finite numbers, and a list of texts."""
    return isinstance(exclusion, Mapping) and all(
        isinstance(value, list) and all(isinstance(text, str) and text.isprintable() for text in value)
        if name == "anchor"
        else type(value) in (int, float) and math.isfinite(value)
        for name, value in exclusion.items()
    )
