"""Write the embeddings of clips that ship, as the clips are drawn now: `python -m benchmarks.clip_embeddings`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.harness import arguments
from nt2vr.files import atomic_write
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.settings import ASSETS
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.drawn.shipped import FILE, keys_of, model_key
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit

BASE = ASSETS / "models" / "clip"
# The first scenes of seed 0.
SHIPPED: dict[SceneSplit, int] = {"train": 4096, "validation": 1000}


def main() -> None:
    """Write the file."""
    arguments("clip_embeddings", __doc__).parse_args()
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
        keys = np.array(keys_of(drawn), np.uint64)
        np.savez(file, model=model_key(encoder), keys=keys, embeddings=embeddings)


if __name__ == "__main__":
    main()
