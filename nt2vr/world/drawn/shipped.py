"""Shipped embeddings of training and validation clips.

They are by the visual tower that the built-in models share. Drawing and embedding 4,096 clips
would take 95 s. `python -m nt2vr.world.drawn.shipped` writes them as drawn now.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.models.card import StoredNames
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.settings import ASSETS
from nt2vr.world.drawn import clips
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit

FILE = ASSETS / "world" / "embeddings.npz"
BASE = ASSETS / "models" / "clip"
# The first scenes of seed 0.
SHIPPED: dict[SceneSplit, int] = {"train": 4096, "validation": 1000}


class _Shipped(NamedTuple):
    """Which model embedded the clips, and their unit vectors by key."""

    model: str
    vectors: Mapping[int, NDArray[np.float32]]


def embed_undrawn(
    file: ClipFile, encoder: Encoder, progress: Progress = silent
) -> NDArray[np.float32]:
    """Return the embeddings of clips: (N, D), L2-normalised.

    Clips are drawn only if their embeddings do not ship.
    """
    shipped = _read(FILE)
    keys = _keys(file)
    if not keys or shipped.model != _model_key(encoder):
        return file.embeddings(encoder, progress)

    missing = []
    for scene, key in zip(file.scenes, keys, strict=True):
        if key not in shipped.vectors:
            missing.append(scene)
    drawn: Iterator[NDArray[np.float32]] = iter(())
    if missing:
        rest = ClipFile.of(
            "train",
            scenes=missing,
            num_frames=file.num_frames,
            framing=file.framing,
            cache=file.path.parent,
        )
        drawn = iter(rest.embeddings(encoder, progress))

    embeddings = []
    for key in keys:
        if key in shipped.vectors:
            embeddings.append(shipped.vectors[key])
        else:
            embeddings.append(next(drawn))
    return np.stack(embeddings)


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


def _model_key(encoder: Encoder) -> str:
    """Identify what embeds, whatever its precision."""
    return StoredNames.of(encoder.card.in_any_precision.visual_key).of_given_frames


def _keys(file: ClipFile) -> list[int]:
    """Identify what each scene's frames look like."""
    digests = bytearray()
    for scene in file.scenes:
        look = [clips.LOOK, file.num_frames, file.framing.key, scene.key_data]
        digests += blake2b(json.dumps(look).encode(), digest_size=8).digest()
    return [int(key) for key in np.frombuffer(digests, np.uint64)]


def main() -> None:
    encoder = read_checkpoint(BASE)
    scenes: list[Scene] = []
    for split, count in SHIPPED.items():
        scenes += sample_scenes(split, count, 0)
    with TemporaryDirectory() as folder:
        drawn = ClipFile.of(
            "train", scenes, encoder.num_frames, encoder.framing, cache=Path(folder)
        )
        embeddings = drawn.embeddings(encoder).astype(np.float16)
    FILE.parent.mkdir(exist_ok=True)
    with atomic_write(FILE) as partial, partial.open("wb") as file:
        keys = np.array(_keys(drawn), np.uint64)
        np.savez(file, model=_model_key(encoder), keys=keys, embeddings=embeddings)


if __name__ == "__main__":
    main()
