"""Many clips: content hashes, and frames decoded ahead of use or stored. A bad file fails alone."""

import logging
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from io import BytesIO
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import DatasetError, MediaError
from nt2vr.media.decode import Decoder, Decoding, ahead
from nt2vr.media.frames import Frames, StoredClips
from nt2vr.media.gallery import Video
from nt2vr.media.picture import write_jpeg
from nt2vr.media.rows import Rows
from nt2vr.media.store import Cache
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)
# files, or minutes of film, decoded ahead: two children stay busy while the encoder works; 60 MB at
# most
IN_FLIGHT = 8
IN_FLIGHT_PER_CHILD = 2
WINDOWS_PER_JOB = 6  # a minute of film: long enough to open the file seldom, short enough for all children to have one


def hash_files(videos: Iterable[Video], cache: Cache, failed: dict[str, str]) -> Iterator[Video]:
    """Yield the clips whose files can be opened, with their contents; `failed` gets the others' ids and reasons."""
    for video in videos:
        try:
            yield video if video.content else replace(video, content=cache.content_hash(video.path))
        except MediaError as error:
            failed[video.video_id] = str(error)


def missing_of(clips: Sequence[Video], rows: Rows[Any]) -> list[Video]:
    """List the clips that have no row, one of each content."""
    found = {clip.key: clip for clip in reversed(clips)}
    keys = list(found)[::-1]
    return [found[key] for key, row in zip(keys, rows.find(keys).tolist(), strict=True) if row < 0]


def decode_files(
    clips: Iterable[Video],
    num_frames: int,
    framing: Framing,
    decoder: Decoder,
    failed: dict[str, str],
    store: Frames | None = None,
) -> Iterator[tuple[Video, NDArray[np.uint8]]]:
    """Yield (F, S, S, 3) frames in the order of the clips, decoded ahead by the decoder's children.

    Args:
        failed: gets the ids of videos that cannot be decoded, with reasons.
        store: where frames are looked up and stored, if given; it writes the last ones when it is
            left.
    """
    started = (_started(some, num_frames, framing, decoder, store) for some in _jobs(clips))
    for job in ahead(started, max(IN_FLIGHT, IN_FLIGHT_PER_CHILD * decoder.num_workers)):
        for clip, frames in zip(job.clips, job.result(), strict=True):
            if isinstance(frames, str):
                failed[clip.video_id] = frames
                continue
            if store is not None and isinstance(job.frames, Decoding):
                store.add(clip.key, frames)
            yield clip, frames


def decode_videos(
    videos: Sequence[Video],
    num_frames: int,
    framing: Framing,
    cache: Cache,
    progress: Progress = silent,
    decodes: bool = True,
) -> tuple[list[Video], StoredClips, str]:
    """Decode videos in child processes, as far as their frames are not stored yet; a stop loses none of them.

    Args:
        videos: those that cannot be decoded are skipped with a warning, and tried again next time.
        cache: where frames are stored, whatever its limit; an OSError is raised if that fails.
        decodes: whether those without stored frames are decoded, or skipped.

    Returns:
        The videos that could be decoded, their frames (N, F, S, S, 3), and a name of these contents
        in this order.
    """
    skipped: dict[str, str] = {}
    clips = list(
        hash_files(tracked(videos, len(videos), "checking videos", progress), cache, skipped)
    )
    with cache.frames(num_frames, framing, required=True) as store:
        missing = missing_of(clips, store)
        if missing and decodes:
            store.check_free(len(missing))
            with Decoder(os.cpu_count() or 1) as decoder:
                decoded = decode_files(missing, num_frames, framing, decoder, skipped, store)
                deque(tracked(decoded, len(missing), "decoding videos", progress), maxlen=0)
    rows = store.find(clip.key for clip in clips)
    readable = list(compress(clips, rows >= 0))
    for video_id, reason in skipped.items():
        logger.warning("Skipped %s: %s", video_id, reason)
    if not readable:
        raise DatasetError(
            f"None of the {len(videos)} videos can be decoded. The log gives a reason for each."
        )
    if len(readable) < len(videos):
        logger.warning(
            "%d of %d videos could not be decoded.", len(videos) - len(readable), len(videos)
        )
    contents = blake2b(" ".join(clip.key for clip in readable).encode(), digest_size=8).hexdigest()
    name = f"{store.folder.name}-{contents}"
    return readable, StoredClips(store.rows(), rows[rows >= 0]), name


def still(decoder: Decoder, video: Video, number: int, count: int, side: int) -> bytes:
    """Return one of a clip's `count` evenly spaced frames as a square JPEG; a MediaError if there is none."""
    failed: dict[str, str] = {}
    for _, frames in decode_files([video], count, Framing(side), decoder, failed):
        jpeg = BytesIO()
        write_jpeg(frames[number], jpeg)
        return jpeg.getvalue()
    raise MediaError(failed[video.video_id])


class _Job(NamedTuple):
    """Clips of one file, and their frames: stored, or on their way."""

    clips: list[Video]
    frames: Decoding | list[NDArray[np.uint8]]

    def result(self) -> Sequence[NDArray[np.uint8] | str]:
        """Wait for the frames of each clip, or the reason why there are none."""
        try:
            result = self.frames.result() if isinstance(self.frames, Decoding) else self.frames
        except MediaError as error:
            return [str(error)] * len(self.clips)
        return result if isinstance(result, list) else [result]


def _started(
    clips: list[Video], num_frames: int, framing: Framing, decoder: Decoder, store: Frames | None
) -> _Job:
    first, stored = (
        clips[0],
        [store.get(clip.key) for clip in clips] if store is not None else [None],
    )
    known = [frames for frames in stored if frames is not None]
    if len(known) == len(clips):
        return _Job(clips, known)
    if first.end is None:
        return _Job(clips, decoder.frames(first.path, num_frames, framing, first.root))
    windows = [(clip.start, clip.end) for clip in clips]
    return _Job(clips, decoder.windows(first.path, windows, num_frames, framing, first.root))


def _jobs(clips: Iterable[Video]) -> Iterator[list[Video]]:
    """Group successive windows of a file, so that it is opened once for several; every other one is on its own."""
    job: list[Video] = []
    for clip in clips:
        last = job[-1] if job else clip
        follows = (
            last.path == clip.path and None not in (last.end, clip.end) and last.start <= clip.start
        )
        if job and not (follows and len(job) < WINDOWS_PER_JOB):
            yield job
            job = []
        job.append(clip)
    if job:
        yield job
