"""The indexed part of a library, and the cost of indexing it."""

import time

import numpy as np

from nt2vr.errors import NotIndexedError, counted
from nt2vr.media.cache import Cache
from nt2vr.media.gallery import Gallery
from nt2vr.models.encoder import Encoder
from nt2vr.progress import duration_text
from nt2vr.search.embed_clips import open_gallery
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.index import Milvus

_seconds_per_clip: dict[str, float] = {}  # by `Card.video_key`


def open_indexed(gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None) -> EmbeddedGallery:
    """Open the indexed part of a library without decoding or encoding; a NotIndexedError if it is empty."""
    opened, num_clips = open_gallery(gallery, encoder, cache, milvus), len(gallery.videos)
    if not num_clips:
        raise NotIndexedError(f"{gallery.name} has no clips yet. Update it in the Library tab.", encoder.name)
    if not opened.gallery.videos:
        takes = f"about {duration_text(num_clips * seconds_per_clip(encoder))}"
        work = f"{counted(num_clips, 'clip')}, {takes} of computing on this machine"
        text = f"{gallery.name} is not indexed by {encoder.name} yet: {work}."
        raise NotIndexedError(text, encoder.name, tower=encoder.card.video_key)
    return opened


def seconds_per_clip(encoder: Encoder) -> float:
    """Measure once per visual tower how long encoding a clip's frames takes, the largest part of indexing."""
    if (key := encoder.card.video_key) not in _seconds_per_clip:
        side = encoder.image_size
        frames = np.zeros((encoder.num_frames, side, side, 3), np.uint8)
        began = time.perf_counter()
        encoder.encode_frames(frames)
        _seconds_per_clip[key] = time.perf_counter() - began
    return _seconds_per_clip[key]
