"""Embeddings of a benchmark's videos under a model, from their files or from another input."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nt2vr.datasets.base import first_few
from nt2vr.datasets.video_inputs import VideoVectors
from nt2vr.errors import DatasetError, MediaError, quoted
from nt2vr.evaluation.queries import row_numbers
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.progress import Progress, silent, tracked
from nt2vr.search.embed_clips import embed_gallery

# Unreadable videos that a remark names.
MAX_NAMES = 20

InputVectors = Mapping[VideoInputName, VideoVectors]


class EmbeddedVideos(NamedTuple):
    """A benchmark's videos under a model.

    Attributes:
        vectors: (V, D), or those of their frames (V, F, D) if the model's pooling is query-scored;
            zeros for unreadable files.
        unreadable: why the files of some videos cannot be read, by id.
    """

    vectors: Vectors
    unreadable: Mapping[str, str] = MappingProxyType({})


Embed = Callable[[Encoder, Progress], EmbeddedVideos]


def unreadable_remark(
    unreadable: Mapping[str, str], num_videos: int, num_lost: int, num_queries: int
) -> str:
    """Name files that cannot be read, with the reasons, and count the queries that go with them."""
    described = [f"{video_id} ({reason.rstrip('.')})" for video_id, reason in unreadable.items()]
    return (
        f"{len(described):,} of {num_videos:,} videos cannot be read: "
        f"{first_few(described, MAX_NAMES)}. They are left out, "
        f"and {num_lost:,} of {num_queries:,} queries with them."
    )


def embed_files(
    videos: Sequence[Video],
    decoder: Decoder,
    cache: Cache,
    key: str = "",
    of_frames: bool = False,
) -> Embed:
    """Return a function that embeds the videos under a model.

    It raises a DatasetError if no file is readable, since the result would say nothing about the
    model.

    Args:
        key: that of the gallery.
        of_frames: embed all frames, (V, F, D), whatever the model's pooling.
    """
    row_of = row_numbers(video.video_id for video in videos)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
        def report(done: int, total: int, doing: str) -> None:
            progress(done, total, f"{doing}, {encoder.name}")

        embedded = embed_gallery(
            Gallery("evaluation", tuple(videos), key),
            encoder=encoder,
            decoder=decoder,
            cache=cache,
            progress=report,
        )
        if not embedded.gallery.videos:
            raise DatasetError(
                f"None of the {len(videos)} videos can be read. The first: {embedded.skipped[0][1]}"
            )
        readable = embedded.embeddings
        if of_frames or encoder.capabilities.weighs_frames:
            readable = embedded.all_frames[embedded.frame_rows]
        rows = [row_of[video.video_id] for video in embedded.gallery.videos]
        return EmbeddedVideos(_with_zeros(readable, rows, len(videos)), dict(embedded.skipped))

    return embed


def embed_vectors(
    videos: Sequence[Video],
    vectors: InputVectors,
    embed_frames: Embed,
) -> Embed:
    """Return a function that embeds the videos under a model of any of the inputs, or of frames.

    Videos that have no vector in the model's input have embeddings of zeros.
    """

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
        input_name = encoder.capabilities.video_input
        if input_name is None:
            return embed_frames(encoder, progress)
        of_input = vectors[input_name]
        _check_width(encoder, of_input)

        rows = [row for row, video in enumerate(videos) if video.video_id in of_input.of_video]
        inputs = [of_input.of_video[videos[row].video_id] for row in rows]
        pooled = encoder.pool(np.stack(inputs)[:, None])
        return EmbeddedVideos(_with_zeros(pooled, rows, len(videos)))

    return embed


def _with_zeros(embeddings: Vectors, rows: Sequence[int], count: int) -> Vectors:
    """Return so many rows, zeros but for those that have an embedding."""
    padded = np.zeros((count, *embeddings.shape[1:]), np.float32)
    padded[rows] = embeddings
    return padded


def _check_width(encoder: Encoder, vectors: VideoVectors) -> None:
    """Refuse vectors of another length than those that the model was trained on."""
    width = encoder.stored_shape[-1]
    if vectors.width != width:
        kind, name = vectors.name
        raise DatasetError(
            f"{encoder.name} was trained on {kind} {quoted(name)} of {width} numbers, but here they "
            f"have {vectors.width}. Name a dataset with the same {kind}."
        )


def content_of(videos: Sequence[Video], cache: Cache, progress: Progress = silent) -> str:
    """Return a hash of the contents of all files; unreadable ones count as empty."""
    content = blake2b(digest_size=12)
    for video in tracked(videos, total=len(videos), doing="checking files", progress=progress):
        try:
            hashed = replace(video, content=cache.content_hash(video.path))
            content.update(hashed.decoded_content.encode())
        except MediaError:
            content.update(b"-")
    return content.hexdigest()
