"""Shipped embeddings of training and validation clips.

They are by the visual tower that the built-in models share. Drawing and embedding 4,096 clips
would take 95 s. `python -m benchmarks.clip_embeddings` writes them as drawn now.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.card import StoredNames
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.settings import ASSETS
from nt2vr.world.drawn import clips
from nt2vr.world.drawn.clips import ClipFile, Embeddings

FILE = ASSETS / "world" / "embeddings.npz"


class _Shipped(NamedTuple):
    """Which model embedded the clips, and their unit vectors by key."""

    model: str
    vectors: Mapping[int, NDArray[np.float32]]


def embed_undrawn(file: ClipFile, encoder: Encoder, progress: Progress = silent) -> Embeddings:
    """Return the embeddings of clips: (N, D), L2-normalised.

    Clips are drawn only if their embeddings do not ship.
    """
    shipped = _read(FILE)
    keys = keys_of(file)
    if not keys or shipped.model != model_key(encoder):
        return file.embeddings(encoder, progress)

    vectors = dict(shipped.vectors)
    missing = {}
    for scene, key in zip(file.scenes, keys, strict=True):
        if key not in vectors:
            missing[key] = scene
    if missing:
        rest = ClipFile.of(
            "train",
            scenes=list(missing.values()),
            num_frames=file.num_frames,
            framing=file.framing,
            cache=file.path.parent,
        )
        vectors.update(zip(missing, rest.embeddings(encoder, progress), strict=True))
    return np.stack([vectors[key] for key in keys])


@lru_cache(1)
def _read(path: Path) -> _Shipped:
    """Return what ships; nothing if there is no such file."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            vectors = arrays["embeddings"].astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            keys = arrays["keys"].tolist()
            return _Shipped(str(arrays["model"]), dict(zip(keys, vectors, strict=True)))
    except (OSError, ValueError, KeyError):
        return _Shipped("", {})


def model_key(encoder: Encoder) -> str:
    """Identify what embeds, whatever its precision."""
    return StoredNames.of(encoder.card.in_any_precision.visual_key).of_given_frames


def keys_of(file: ClipFile) -> list[int]:
    """Identify what each scene's frames look like."""
    digests = bytearray()
    for scene in file.scenes:
        look = [clips.LOOK, file.num_frames, file.framing.key, scene.key_data]
        digests += blake2b(json.dumps(look).encode(), digest_size=8).digest()
    return [int(key) for key in np.frombuffer(digests, np.uint64)]
