"""Write the embeddings of the gallery that ship: `python -m benchmarks.gallery_embeddings`."""

import numpy as np

from benchmarks.harness import arguments
from nt2vr.files import atomic_write, hash_file
from nt2vr.media.gallery import load_gallery
from nt2vr.media.video import sample_frames
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.shipped_embeddings import SHIPPED, tower_of
from nt2vr.settings import ASSETS


def main() -> None:
    """Write the file."""
    arguments("gallery_embeddings", __doc__).parse_args()
    encoder = read_checkpoint(ASSETS / "models" / "clip")
    paths = [video.path for video in load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos]
    embeddings = []
    for path in paths:
        frames = sample_frames(path, encoder.num_frames, encoder.framing)
        embeddings.append(encoder.encode_video(frames[None])[0])
    with atomic_write(SHIPPED) as partial, partial.open("wb") as file:
        contents = np.array([hash_file(path) for path in paths])
        np.savez(
            file,
            tower=tower_of(encoder.card.in_any_precision),
            contents=contents,
            embeddings=np.stack(embeddings).astype(np.float16),
        )


if __name__ == "__main__":
    main()
