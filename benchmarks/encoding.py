"""Speed of embedding clips from files: `python -m benchmarks.encoding [MODEL]`."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, load_gallery
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.search.embedded import embed_gallery
from nt2vr.settings import Settings, prepare_environment


def decoded(gallery: Gallery, encoder: Encoder, decoder: Decoder) -> list[NDArray[np.uint8]]:
    """Decode all videos and sample their frames."""
    running = [decoder.frames(video.path, encoder.num_frames, encoder.card.framing) for video in gallery.videos]
    return [frames.result() for frames in running]


def clips_per_s(work: Callable[[], object], num_clips: int) -> float:
    """Return the clips per second of `work`."""
    start_s = time.perf_counter()
    work()
    return num_clips / (time.perf_counter() - start_s)


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
    return [(name, clips_per_s(work, len(gallery.videos))) for name, work in parts.items()]


def main() -> None:
    """Print one table row per part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="CLIP")
    name = parser.parse_args().model
    prepare_environment()
    settings = Settings.read()
    models = Catalog([settings.assets / "models", settings.data_dir / "models"], settings.device)
    encoder = models.read(models.find(name).folders[0])
    gallery = load_gallery(settings.assets / "gallery" / "gallery.jsonl")
    with TemporaryDirectory() as folder, Cache(Path(folder)) as cache, Decoder() as decoder:
        rows = measure(gallery, encoder, decoder, cache)
    sys.stdout.write(f"| {name}, {encoder.num_frames} frames of {encoder.image_size} px | clips/s |\n|---|--:|\n")
    sys.stdout.writelines(f"| {part} | {rate:.0f} |\n" for part, rate in rows)


if __name__ == "__main__":
    main()
