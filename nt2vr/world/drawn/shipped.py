"""Shipped embeddings of training and validation clips, by the visual tower that the built-in models share.

Drawing and embedding 4,096 clips would take 95 s. `python -m nt2vr.world.drawn.shipped` writes them
as drawn now.
"""

import json
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

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
from nt2vr.world.scenes import SceneSplit

FILE = ASSETS / "world" / "embeddings.npz"
BASE = ASSETS / "models" / "clip"
SHIPPED: dict[SceneSplit, int] = {"train": 4096, "validation": 1000}  # the first scenes of seed 0


def embed_undrawn(
    file: ClipFile, encoder: Encoder, progress: Progress = silent
) -> NDArray[np.float32]:
    """Return the embeddings of clips: (N, D), L2-normalised. They are drawn only if theirs do not ship."""
    (model, known), keys = _read(FILE), _keys(file)
    if not keys or model != _model_key(encoder):
        return file.embeddings(encoder, progress)
    missing = [scene for scene, key in zip(file.scenes, keys, strict=True) if key not in known]
    rest = ClipFile.of("train", missing, file.num_frames, file.framing, file.path.parent)
    drawn = iter(rest.embeddings(encoder, progress) if missing else ())
    return np.stack([known[key] if key in known else next(drawn) for key in keys])


@lru_cache(1)
def _read(path: Path) -> tuple[str, dict[int, NDArray[np.float32]]]:
    """Return which model embedded the clips, and their unit vectors by key; nothing if there is no such file."""
    try:
        with np.load(path, allow_pickle=False) as data:
            vectors = data["embeddings"].astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            return str(data["model"]), dict(zip(data["keys"].tolist(), vectors, strict=True))
    except (OSError, ValueError, KeyError):
        return "", {}


def _model_key(encoder: Encoder) -> str:
    """Identify what embeds, whatever its precision."""
    return StoredNames.of(encoder.card.in_any_precision.visual_key).of_given_frames


def _keys(file: ClipFile) -> list[int]:
    """Identify what each scene's frames look like."""
    contents = (
        [clips.LOOK, file.num_frames, file.framing.key, scene.to_dict()] for scene in file.scenes
    )
    digests = b"".join(
        blake2b(json.dumps(each).encode(), digest_size=8).digest() for each in contents
    )
    return [*map(int, np.frombuffer(digests, np.uint64))]


def main() -> None:
    encoder = read_checkpoint(BASE)
    scenes = [scene for split, count in SHIPPED.items() for scene in sample_scenes(split, count, 0)]
    with TemporaryDirectory() as folder:
        drawn = ClipFile.of("train", scenes, encoder.num_frames, encoder.framing, Path(folder))
        embeddings = drawn.embeddings(encoder).astype(np.float16)
    FILE.parent.mkdir(exist_ok=True)
    with atomic_write(FILE) as partial, partial.open("wb") as file:
        keys = np.array(_keys(drawn), np.uint64)
        np.savez(file, model=_model_key(encoder), keys=keys, embeddings=embeddings)


if __name__ == "__main__":
    main()
