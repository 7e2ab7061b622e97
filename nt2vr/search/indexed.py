"""The indexed part of a library, and the cost of indexing it."""

import time
from weakref import WeakKeyDictionary

import numpy as np

from nt2vr.errors import NotIndexedError, counted
from nt2vr.media.cache import Cache
from nt2vr.media.gallery import Gallery
from nt2vr.models.encoder import Encoder
from nt2vr.progress import duration_text
from nt2vr.search.embed_clips import open_gallery
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.index import Milvus


def open_indexed(gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None) -> EmbeddedGallery:
    """Open the indexed part of a library without decoding or encoding; a NotIndexedError if it is empty."""
    opened = open_gallery(gallery, encoder, cache, milvus)
    if not opened.gallery.videos:
        raise not_indexed(gallery.name, encoder, len(gallery.videos))
    return opened


_seconds_per_clip: WeakKeyDictionary[Encoder, float] = WeakKeyDictionary()


def seconds_per_clip(encoder: Encoder) -> float:
    """Measure once per model how long encoding a clip's frames takes, the largest part of indexing."""
    if encoder not in _seconds_per_clip:
        side = encoder.image_size
        frames = np.zeros((encoder.num_frames, side, side, 3), np.uint8)
        began = time.perf_counter()
        encoder.encode_frames(frames)
        _seconds_per_clip[encoder] = time.perf_counter() - began
    return _seconds_per_clip[encoder]


def not_indexed(name: str, encoder: Encoder, num_clips: int) -> NotIndexedError:
    """Return an error with an estimate of how long indexing takes."""
    if not num_clips:
        return NotIndexedError(f"{name} has no clips yet. Update it in the Library tab.", encoder.name)
    takes = f"about {duration_text(num_clips * seconds_per_clip(encoder))}"
    work = f"{counted(num_clips, 'clip')}, {takes} of computing on this machine"
    text = f"{name} is not indexed by {encoder.name} yet: {work}."
    return NotIndexedError(text, encoder.name, tower=encoder.card.video_key)
