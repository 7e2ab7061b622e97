"""Shipped embeddings of training and validation clips. With them a text tower learns at once.

They are by the visual tower that the built-in models share. Drawing and embedding 4,096 clips would take 95 s of a
processor. `python -m nt2vr.world.drawn.shipped` writes the file again, which it needs if clips are drawn differently.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.files import atomic_write
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent
from nt2vr.settings import ASSETS
from nt2vr.world.drawn import clips
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.splits import sample_scenes

FILE = ASSETS / "world" / "embeddings.npz"
BASE = ASSETS / "models" / "clip"
SHIPPED: dict[SceneSplit, int] = {"train": 4096, "validation": 1000}  # the first scenes of seed 0
Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class UndrawnClips:
    """Clips of which only the embeddings are needed; they are drawn if they are indexed as an array of frames.

    A single one, indexed by its row, is drawn alone.
    """

    file: ClipFile

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, F, S, S, 3)."""
        size = self.file.framing.size
        return len(self), self.file.num_frames, size, size, 3

    def __len__(self) -> int:
        return len(self.file.scenes)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        file = self.file
        if isinstance(index, int) and not file.path.is_file():
            return render(file.scenes[index], file.framing.size, file.num_frames)
        read: NDArray[np.uint8] = file.frames()[index]
        return read

    def embeddings(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Return the embeddings: (N, D), L2-normalised. Clips are drawn only if theirs do not ship."""
        found = _shipped(self.file, encoder)
        if found is None:
            return self.file.embeddings(encoder, progress)
        if missing := [scene for scene, row in zip(self.file.scenes, found, strict=True) if np.isnan(row[0])]:
            file = self.file
            rest = ClipFile.of("train", missing, file.num_frames, file.framing, file.path.parent)
            found[np.isnan(found[:, 0])] = rest.embeddings(encoder, progress)
        return found


def _shipped(file: ClipFile, encoder: Encoder) -> NDArray[np.float32] | None:
    """Return the embeddings that ship, NaN for others: (N, D); None if none do for this encoder."""
    model, known, embeddings = _read(FILE)
    if model != _model_key(encoder):
        return None
    found = np.full((len(file.scenes), encoder.embed_dim), np.nan, np.float32)
    row_of = {key: row for row, key in enumerate(known.tolist())}
    rows = np.array([row_of.get(key, -1) for key in _keys(file.scenes, file.num_frames, file.framing).tolist()])
    of_known = embeddings[rows[rows >= 0]].astype(np.float32)
    found[rows >= 0] = of_known / np.linalg.norm(of_known, axis=1, keepdims=True)
    return found


@lru_cache(1)
def _read(path: Path) -> tuple[str, Keys, NDArray[np.float16]]:
    try:
        with np.load(path, allow_pickle=False) as data:
            return str(data["model"]), data["keys"], data["embeddings"]
    except (OSError, ValueError, KeyError):
        return "", np.empty(0, np.uint64), np.empty((0, 1), np.float16)


def _model_key(encoder: Encoder) -> str:
    """Identify what embeds, whatever its precision."""
    return f"{replace(encoder.card, precision='').visual_key} {encoder.card.pooling_key}"


def _keys(scenes: Sequence[Scene], num_frames: int, framing: Framing) -> Keys:
    """Identify what each scene's frames look like."""
    contents = ([clips.LOOK, num_frames, framing.key, scene.to_dict()] for scene in scenes)
    digests = b"".join(blake2b(json.dumps(each).encode(), digest_size=8).digest() for each in contents)
    return np.frombuffer(digests, np.uint64)


def main() -> None:
    encoder = read_checkpoint(BASE)
    scenes = [scene for split, count in SHIPPED.items() for scene in sample_scenes(split, count, 0)]
    with TemporaryDirectory() as folder:
        drawn = ClipFile.of("train", scenes, encoder.num_frames, encoder.card.framing, Path(folder))
        embeddings = drawn.embeddings(encoder).astype(np.float16)
    FILE.parent.mkdir(exist_ok=True)
    keys = _keys(scenes, encoder.num_frames, encoder.card.framing)
    with atomic_write(FILE) as partial, partial.open("wb") as file:
        np.savez(file, model=_model_key(encoder), keys=keys, embeddings=embeddings)


if __name__ == "__main__":
    main()
