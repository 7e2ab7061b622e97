"""Embeddings of a benchmark's videos: of their files, stored by content, or of features from elsewhere."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from nt2vr.datasets.features import Features
from nt2vr.errors import DatasetError, MediaError, quoted
from nt2vr.evaluation.benchmark import Embed, Vectors
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.card import QUERY_SCORED
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent, tracked
from nt2vr.search.embed_clips import embed_gallery


def embed_files(
    videos: Sequence[Video],
    decoder: Decoder,
    cache: Cache,
    key: str = "",
    of_frames: bool = False,
    unreadable: dict[str, str] | None = None,
) -> Embed:
    """Return a function computing the videos' embeddings under a model, zeros for unreadable files; see `Benchmark`.

    It raises a DatasetError if no file is readable, since the result would say nothing about the model.

    Args:
        cache: of frames; names the folder of the embeddings.
        key: `Gallery.key` of the gallery that they are from.
        of_frames: whether to return those of all frames, (V, F, D), as the encoder returns them.
        unreadable: gets the ids of unreadable videos, with the reasons.
    """
    rows = {video.video_id: row for row, video in enumerate(videos)}

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        def report(done: int, total: int, doing: str) -> None:
            progress(done, total, f"{doing}, {encoder.name}")

        gallery = Gallery("evaluation", tuple(videos), key)
        embedded = embed_gallery(gallery, encoder, decoder, cache, report)
        if unreadable is not None:
            unreadable.update(embedded.skipped)
        if not embedded.gallery.videos:
            raise DatasetError(f"None of the {len(videos)} videos can be read. The first: {embedded.skipped[0][1]}")
        found = embedded.embeddings
        if of_frames or encoder.card.pooling == QUERY_SCORED:
            found = embedded.all_frames[embedded.places]
        embeddings = np.zeros((len(videos), *found.shape[1:]), np.float32)
        embeddings[[rows[video.video_id] for video in embedded.gallery.videos]] = found
        return embeddings

    return embed


def embed_features(videos: Sequence[Video], known: Mapping[str, Features], otherwise: Embed) -> Embed:
    """Return a function projecting the videos' features under a model that reads these, zeros where there are none.

    Other models embed the videos by `otherwise`.
    """

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        if not encoder.card.features:
            return otherwise(encoder, progress)
        features, width = known[encoder.card.features], getattr(encoder, "frame_dim", 0)
        if features.size != width:
            raise DatasetError(
                f"{encoder.name} was trained on features {quoted(features.name)} of {width} numbers, but here they "
                f"have {features.size}. Name a dataset with the same features."
            )
        there = [row for row, video in enumerate(videos) if video.video_id in features.of_video]
        embeddings = np.zeros((len(videos), encoder.embed_dim), np.float32)
        rows = np.stack([features.of_video[videos[row].video_id] for row in there])
        embeddings[there] = encoder.pool(rows[:, None])
        return embeddings

    return embed


def content_of(videos: Sequence[Video], cache: Cache, progress: Progress = silent) -> str:
    """Return a hash of the contents of all files; unreadable ones count as empty."""
    content = blake2b(digest_size=12)
    for video in tracked(videos, len(videos), "checking files", progress):
        try:
            content.update(cache.content_hash(video.path).encode())
        except MediaError:
            content.update(b"-")
    return content.hexdigest()
