"""The embeddings of the built-in gallery that are shipped, so that the first start embeds nothing.

They are of the visual tower that the built-in models share. After a change of the gallery or of
that tower, `python -m benchmarks.gallery_embeddings` writes them.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from nt2vr.media.store import SAMPLING
from nt2vr.models.card import Card, StoredNames
from nt2vr.models.encoder import Vectors
from nt2vr.settings import ASSETS

SHIPPED = ASSETS / "gallery" / "embeddings.npz"


def shipped_embeddings(card: Card) -> Mapping[str, Vectors]:
    """Return the embeddings (F, D) of clips by content, as the model's visual tower gives them.

    There are none of another tower.
    """
    tower, embeddings = _read_shipped()
    if tower == tower_of(card.in_any_precision):
        return embeddings
    return {}


def tower_of(card: Card) -> str:
    """Identify the visual tower, which models that pool differently may share."""
    names = StoredNames.of(card.visual_key)
    return f"{SAMPLING} {names.of_frames}"


@cache
def _read_shipped() -> tuple[str, dict[str, Vectors]]:
    try:
        with np.load(SHIPPED, allow_pickle=False) as arrays:
            embeddings = arrays["embeddings"].astype(np.float32)
            contents = arrays["contents"].tolist()
            return str(arrays["tower"]), dict(zip(contents, embeddings, strict=True))
    except (OSError, ValueError, KeyError):
        return "", {}
