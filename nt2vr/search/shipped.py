"""Shipped frame embeddings of the built-in gallery, so that the first start embeds nothing.

They are by the visual tower that the built-in models share; another tower's are computed. After a change of the
gallery or of that tower, `python -m nt2vr.search.shipped` writes the file again.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write, hash_file
from nt2vr.media.gallery import load_gallery
from nt2vr.media.store import SAMPLING
from nt2vr.media.video import sample_frames
from nt2vr.models.card import Card
from nt2vr.settings import ASSETS

GALLERY = ASSETS / "gallery"
FILE = GALLERY / "embeddings.npz"


def shipped_embeddings(card: Card) -> Mapping[str, NDArray[np.float32]]:
    """Return the embeddings (F, D) of clips by content, as the model's visual tower gives them; none of another."""
    tower, known = _read(FILE)
    return known if tower == _tower(card) else {}


def _tower(card: Card) -> str:
    """Identify what embeds, whatever its precision."""
    return f"{SAMPLING} {replace(card, precision='').visual_key} {card.frames}"


@cache
def _read(path: Path) -> tuple[str, dict[str, NDArray[np.float32]]]:
    try:
        with np.load(path, allow_pickle=False) as data:
            embeddings = data["embeddings"].astype(np.float32)
            return str(data["tower"]), dict(zip(data["contents"].tolist(), embeddings, strict=True))
    except (OSError, ValueError, KeyError):
        return "", {}


def main() -> None:
    from nt2vr.models.checkpoint import read_checkpoint  # noqa: PLC0415  # imports torch

    encoder = read_checkpoint(ASSETS / "models" / "clip")
    paths = [video.path for video in load_gallery(GALLERY / "gallery.jsonl").videos]
    frames = (sample_frames(path, encoder.num_frames, encoder.card.framing) for path in paths)
    embeddings = np.stack([encoder.encode_frames(each) for each in frames]).astype(np.float16)
    with atomic_write(FILE) as partial, partial.open("wb") as file:
        contents = np.array([hash_file(path) for path in paths])
        np.savez(file, tower=_tower(encoder.card), contents=contents, embeddings=embeddings)


if __name__ == "__main__":
    main()
