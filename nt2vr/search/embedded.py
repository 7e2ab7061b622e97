"""Galleries: which videos there are, and their embeddings, computed once and kept. It ranks nothing: `search` does."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder, Decoding
from nt2vr.media.gallery import Gallery, Video
from nt2vr.models.encoder import Encoder
from nt2vr.registry import pick
from nt2vr.search.index import INDEXES, Index

BATCH_FRAMES = 64  # frames in one pass of the encoder
IN_FLIGHT = 16  # videos decoded ahead of the encoder: keeps two children busy, 20 MB at most


@dataclass(frozen=True)
class EmbeddedGallery:
    """What a search needs; never changed, only replaced.

    Attributes:
        gallery: the videos that could be read; row i of the arrays belongs to `gallery.videos[i]`.
        frame_embeddings: (V, F, D), each L2-normalised.
        embeddings: (V, D), the same pooled by the encoder.
        index: over `embeddings`.
        skipped: (video_id, reason) of the others.
    """

    gallery: Gallery
    frame_embeddings: NDArray[np.float32]
    embeddings: NDArray[np.float32]
    index: Index
    skipped: tuple[tuple[str, str], ...]


def embed_gallery(
    gallery: Gallery,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    index: str = "exact",
) -> EmbeddedGallery:
    """Embed what is not in the cache, and index all; each video is kept as soon as it is embedded.

    Args:
        gallery: the videos.
        encoder: embeds the frames.
        decoder: decodes in its children, ahead of the encoder.
        cache: what was done before, and where the new goes.
        progress: called with (videos done, videos in all).
        should_stop: asked again and again; after a True the remaining videos are skipped, and listed so.
        index: a name in `INDEXES`.
    """
    index_class = pick("index", index, INDEXES)
    num_frames, fingerprint = encoder.num_frames, encoder.visual_fingerprint
    embedded: dict[str, NDArray[np.float32]] = {}
    skipped: dict[str, str] = {}
    missing: list[_Content] = []

    def report() -> None:
        if progress is not None:
            progress(len(embedded) + len(skipped), len(gallery.videos))

    for content in _contents(gallery, cache, skipped, should_stop):
        embeddings = cache.get_embeddings(content.hash, fingerprint, num_frames)
        if embeddings is None:
            missing.append(content)
        else:
            embedded[content.video.video_id] = embeddings
    report()

    decoded = _decoded(missing, num_frames, encoder.image_size, decoder, cache, skipped, should_stop)
    while batch := list(islice(decoded, max(1, BATCH_FRAMES // num_frames))):
        frames = np.concatenate([frames for _, frames in batch])  # (B * F, S, S, 3)
        batch_embeddings = encoder.encode_frames(frames).reshape(len(batch), num_frames, -1)  # (B, F, D)
        for (content, _), embeddings in zip(batch, batch_embeddings, strict=True):
            cache.put_embeddings(content.hash, fingerprint, num_frames, embeddings)
            embedded[content.video.video_id] = embeddings
        report()

    videos = tuple(video for video in gallery.videos if video.video_id in embedded)
    frame_embeddings = np.empty((len(videos), num_frames, encoder.embed_dim), np.float32)
    for row, video in enumerate(videos):
        frame_embeddings[row] = embedded[video.video_id]
    built = index_class(encoder.embed_dim)
    pooled = encoder.pool(frame_embeddings)
    built.add(pooled)
    return EmbeddedGallery(
        Gallery(gallery.name, videos),
        frame_embeddings,
        pooled,
        built,
        tuple(
            (video.video_id, skipped.get(video.video_id, "Not embedded: stopped before its turn."))
            for video in gallery.videos
            if video.video_id not in embedded
        ),
    )


def prefetch_frames(
    gallery: Gallery,
    num_frames: int,
    size: int,
    decoder: Decoder,
    cache: Cache,
    visual_fingerprint: str,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Decode into the cache what `embed_gallery` will need, while the encoder is still being loaded."""
    skipped: dict[str, str] = {}  # embed_gallery meets the bad ones again, and reports them
    missing = (
        content
        for content in _contents(gallery, cache, skipped, should_stop)
        if cache.get_embeddings(content.hash, visual_fingerprint, num_frames) is None
    )
    for _ in _decoded(missing, num_frames, size, decoder, cache, skipped, should_stop):
        pass


class _Content(NamedTuple):
    video: Video
    hash: str


def _contents(
    gallery: Gallery, cache: Cache, skipped: dict[str, str], should_stop: Callable[[], bool] | None
) -> Iterator[_Content]:
    """Yield the videos with their content hashes; those that cannot be opened go into `skipped`."""
    for video in gallery.videos:
        if should_stop is not None and should_stop():
            return
        try:
            yield _Content(video, cache.content_hash(video.path))
        except MediaError as error:
            skipped[video.video_id] = str(error)


def _decoded(
    contents: Iterable[_Content],
    num_frames: int,
    size: int,
    decoder: Decoder,
    cache: Cache,
    skipped: dict[str, str],
    should_stop: Callable[[], bool] | None,
) -> Iterator[tuple[_Content, NDArray[np.uint8]]]:
    """Yield the frames in order, cached or decoded ahead by the children; those that fail go into `skipped`."""
    remaining = iter(contents)
    ahead: deque[tuple[_Content, NDArray[np.uint8] | Decoding]] = deque()
    while should_stop is None or not should_stop():
        for content in islice(remaining, IN_FLIGHT - len(ahead)):
            kept = cache.get_frames(content.hash, num_frames, size)
            ahead.append((content, decoder.frames(content.video.path, num_frames, size) if kept is None else kept))
        if not ahead:
            return
        content, frames = ahead.popleft()
        if isinstance(frames, Decoding):
            try:
                frames = frames.result()
            except MediaError as error:
                skipped[content.video.video_id] = str(error)
                continue
            cache.put_frames(content.hash, num_frames, size, frames)
        yield content, frames
