"""Speed of embedding clips from files: `python -m benchmarks.encoding [MODEL]`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import app_models, arguments, built_in_gallery, timed, write_head, write_row
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.models.encoder import Encoder
from nt2vr.search.embed_clips import embed_gallery
from nt2vr.settings import prepare_environment


def decoded(gallery: Gallery, encoder: Encoder, decoder: Decoder) -> list[NDArray[np.uint8]]:
    """Decode all videos and sample their frames."""
    running = [decoder.frames(video.path, encoder.num_frames, encoder.card.framing) for video in gallery.videos]
    return [frames.result() for frames in running]


def measure(gallery: Gallery, encoder: Encoder, decoder: Decoder, cache: Cache) -> Sequence[tuple[str, float]]:
    """Time decoding, encoding, and both as the app combines them, with an empty cache."""
    first = Gallery(gallery.name, gallery.videos[:2])
    encoder.encode_frames(np.concatenate(decoded(first, encoder, decoder)))  # start the decoders, warm up torch
    frames = np.concatenate(decoded(gallery, encoder, decoder))
    parts: dict[str, Callable[[], object]] = {
        "decoding alone": lambda: decoded(gallery, encoder, decoder),
        "encoding alone": lambda: encoder.encode_frames(frames),
        "decoding and encoding": lambda: embed_gallery(gallery, encoder, decoder, cache),
    }
    return [(name, len(gallery.videos) / timed(work)[0]) for name, work in parts.items()]


def main() -> None:
    """Print one table row per part."""
    parser = arguments("encoding", __doc__)
    parser.add_argument("model", nargs="?", default="CLIP")
    name = parser.parse_args().model
    prepare_environment()
    models, gallery = app_models(), built_in_gallery()
    encoder = models.read(models.find(name).folders[0])
    with TemporaryDirectory() as folder, Cache(Path(folder)) as cache, Decoder() as decoder:
        rows = measure(gallery, encoder, decoder, cache)
    write_head(f"{name}, {encoder.num_frames} frames of {encoder.image_size} px", "clips/s")
    for part, rate in rows:
        write_row(part, f"{rate:.0f}")


if __name__ == "__main__":
    main()
