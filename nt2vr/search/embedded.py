"""A gallery as one model sees it: cached embeddings of its videos, and their index. Ranking is `searcher`'s."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.video_files import VideoFile, decode_files, hash_files
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.progress import Progress, ShouldStop, never, silent, tracked
from nt2vr.registry import pick
from nt2vr.search.index import INDEXES, Index

BATCH_FRAMES = 64  # frames in one forward pass of the encoder


@dataclass(frozen=True)
class EmbeddedGallery:
    """A gallery with its embeddings; immutable.

    Attributes:
        gallery: the videos that could be read; row i of the arrays belongs to `gallery.videos[i]`.
        frame_embeddings: (V, F, D), each L2-normalised.
        embeddings: (V, D), the same pooled by the encoder.
        index: over `embeddings`.
        skipped: (video_id, reason) of the other videos.
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
    progress: Progress = silent,
    should_stop: ShouldStop = never,
    index: str = "exact",
) -> EmbeddedGallery:
    """Embed the videos that are not cached, and index all; each video is cached as soon as it is embedded.

    Args:
        gallery: the videos.
        encoder: embeds the frames.
        decoder: decodes in its children, ahead of the encoder.
        cache: of frames and frame embeddings.
        progress: gets the number of videos.
        should_stop: once it returns True, the remaining videos are skipped, and listed as such.
        index: a name in `INDEXES`.
    """
    index_class = pick("index", index, INDEXES)
    if isinstance(encoder, PrecomputedEncoder):
        return _looked_up(gallery, encoder, index_class)
    num_frames, model = encoder.num_frames, _frames_key(encoder.card)
    embedded: dict[str, NDArray[np.float32]] = {}
    skipped: dict[str, str] = {}
    missing: list[VideoFile] = []

    def report() -> None:
        progress(len(embedded) + len(skipped), len(gallery.videos), "reading clips")

    files = hash_files(gallery.videos, cache, skipped, should_stop)
    for file in tracked(files, len(gallery.videos), "checking files", progress):
        embeddings = cache.get_embeddings(file.content, model)
        if embeddings is None:
            missing.append(file)
        else:
            embedded[file.video.video_id] = embeddings
    report()

    decoded = decode_files(missing, num_frames, encoder.card.framing, decoder, skipped, cache, should_stop)
    while batch := list(islice(decoded, max(1, BATCH_FRAMES // num_frames))):
        frames = np.concatenate([frames for _, frames in batch])  # (B * F, S, S, 3)
        batch_embeddings = encoder.encode_frames(frames).reshape(len(batch), num_frames, -1)  # (B, F, D)
        for (file, _), embeddings in zip(batch, batch_embeddings, strict=True):
            cache.put_embeddings(file.content, model, embeddings)
            embedded[file.video.video_id] = embeddings
        report()
    return _indexed(gallery, embedded, skipped, encoder, index_class)


def _looked_up(gallery: Gallery, encoder: PrecomputedEncoder, index_class: type[Index]) -> EmbeddedGallery:
    found = {video.video_id: encoder.video(video.video_id) for video in gallery.videos}
    embedded = {video_id: embedding[None] for video_id, embedding in found.items() if embedding is not None}
    skipped = {video_id: f"{encoder.name} has no embedding of it." for video_id in found if video_id not in embedded}
    if not embedded:
        raise ConfigError(f"{encoder.name} has no embedding of any of the {len(found)} videos of {gallery.name}.")
    return _indexed(gallery, embedded, skipped, encoder, index_class)


def _frames_key(card: Card) -> str:
    """Name what the frame embeddings of a video depend on; models that pool differently share them."""
    return f"{card.visual_key} {card.frames}"


def _indexed(
    gallery: Gallery,
    embedded: dict[str, NDArray[np.float32]],
    skipped: dict[str, str],
    encoder: Encoder,
    index_class: type[Index],
) -> EmbeddedGallery:
    videos = tuple(video for video in gallery.videos if video.video_id in embedded)
    frame_embeddings = np.empty((len(videos), encoder.num_frames, encoder.embed_dim), np.float32)
    for row, video in enumerate(videos):
        frame_embeddings[row] = embedded[video.video_id]
    pooled = encoder.pool(frame_embeddings)
    if not encoder.card.normalises_frames:
        frame_embeddings /= np.linalg.norm(frame_embeddings, axis=-1, keepdims=True)
    index = index_class(encoder.embed_dim)
    index.add(pooled)
    others = (video.video_id for video in gallery.videos if video.video_id not in embedded)
    reasons = tuple((name, skipped.get(name, "Not embedded: stopped before its turn.")) for name in others)
    return EmbeddedGallery(Gallery(gallery.name, videos), frame_embeddings, pooled, index, reasons)


def prefetch_frames(
    gallery: Gallery, card: Card, decoder: Decoder, cache: Cache, should_stop: ShouldStop = never
) -> None:
    """Decode into the cache the frames that `embed_gallery` will need, while a model is still loading."""
    failed: dict[str, str] = {}  # embed_gallery will fail on the same files, and report them
    model = _frames_key(card)
    missing = (
        file
        for file in hash_files(gallery.videos, cache, failed, should_stop)
        if cache.get_embeddings(file.content, model) is None
    )
    for _ in decode_files(missing, card.frames, card.framing, decoder, failed, cache, should_stop):
        pass
