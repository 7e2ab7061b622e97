"""Many clips: content hashes, and frames decoded ahead of use or stored. A bad file fails alone."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import compress
from typing import Any

from nt2vr.errors import DatasetError, MediaError
from nt2vr.files import hash_text
from nt2vr.media.decode import Decoder, Decoding, ahead
from nt2vr.media.frames import Frames, StoredClips
from nt2vr.media.gallery import Video
from nt2vr.media.picture import write_jpeg
from nt2vr.media.resize import Pixels
from nt2vr.media.rows import Rows
from nt2vr.media.store import Cache
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)
# Files, or minutes of video, decoded ahead: two children stay busy while the encoder works. The
# frames take 60 MB at most.
IN_FLIGHT = 8
IN_FLIGHT_PER_CHILD = 2
# The frames of some clips of a file: on their way, or stored.
JobFrames = Decoding | list[Pixels]
# Why clips cannot be read, by their ids.
Reasons = dict[str, str]
# A minute of video: the file is opened seldom, and all children have a job.
WINDOWS_PER_JOB = 6


def hash_files(videos: Iterable[Video], cache: Cache, failed: Reasons) -> Iterator[Video]:
    """Yield the clips whose files can be opened, with their contents.

    Args:
        failed: gets the ids of the other clips, with reasons.
    """
    for video in videos:
        if video.content:
            yield video
            continue
        try:
            content = cache.content_hash(video.path)
        except MediaError as error:
            failed[video.video_id] = str(error)
            continue
        yield replace(video, content=content)


def missing_of(clips: Sequence[Video], rows: Rows[Any]) -> list[Video]:
    """List the clips that have no row, one of each content."""
    first_clips: dict[str, Video] = {}
    for clip in clips:
        first_clips.setdefault(clip.key, clip)
    return list(compress(first_clips.values(), rows.find(first_clips) < 0))


def decode_files(
    clips: Iterable[Video],
    num_frames: int,
    framing: Framing,
    decoder: Decoder,
    failed: Reasons,
    store: Frames | None = None,
) -> Iterator[tuple[Video, Pixels]]:
    """Yield (F, S, S, 3) frames in the order of the clips, decoded ahead by the decoder's children.

    Args:
        failed: gets the ids of videos that cannot be decoded, with reasons.
        store: where frames are looked up and stored, if given; it writes the last ones when it is
            left.
    """
    num_ahead = max(IN_FLIGHT, IN_FLIGHT_PER_CHILD * decoder.num_workers)
    started = ((job, _start(job, num_frames, framing, decoder, store)) for job in _jobs(clips))
    for job, job_frames in ahead(started, num_ahead):
        for clip, frames in zip(job, _wait(job, job_frames), strict=True):
            if isinstance(frames, str):
                failed[clip.video_id] = frames
                continue
            if store is not None and isinstance(job_frames, Decoding):
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
    """Decode videos in child processes, as far as their frames are not stored; a stop loses none.

    Args:
        videos: those that cannot be decoded are skipped with a warning, and tried again next time.
        cache: where frames are stored, whatever its limit; an OSError is raised if that fails.
        decodes: whether those without stored frames are decoded, or skipped.

    Returns:
        The videos that could be decoded, their frames (N, F, S, S, 3), and a name of these contents
        in this order.
    """
    skipped: Reasons = {}
    checked = tracked(videos, total=len(videos), doing="checking videos", progress=progress)
    clips = list(hash_files(checked, cache, skipped))
    with cache.frames(num_frames, framing, required=True) as store:
        if decodes:
            _decode_missing(clips, num_frames, framing, store, skipped, progress)

    rows = store.find(clip.key for clip in clips)
    readable = list(compress(clips, rows >= 0))
    _log_skipped(skipped, num_videos=len(videos), num_readable=len(readable))
    contents = hash_text(" ".join(clip.key for clip in readable), 8)
    return (
        readable,
        StoredClips(store.rows(), rows[rows >= 0]),
        f"{store.folder.name}-{contents}",
    )


def _decode_missing(
    clips: Sequence[Video],
    num_frames: int,
    framing: Framing,
    store: Frames,
    failed: Reasons,
    progress: Progress,
) -> None:
    """Store the frames of the clips that have none."""
    missing = missing_of(clips, store)
    if not missing:
        return
    store.check_free(len(missing))
    with Decoder(os.cpu_count() or 1) as decoder:
        decoded = decode_files(missing, num_frames, framing, decoder, failed, store)
        # The frames are read from the store.
        for _ in tracked(decoded, len(missing), "decoding videos", progress):
            pass


def _log_skipped(skipped: Mapping[str, str], num_videos: int, num_readable: int) -> None:
    """Warn of videos that cannot be decoded; raise a DatasetError if none can."""
    for video_id, reason in skipped.items():
        logger.warning("Skipped %s: %s", video_id, reason)
    if not num_readable:
        raise DatasetError(
            f"None of the {num_videos} videos can be decoded. The log gives a reason for each."
        )
    if num_readable < num_videos:
        num_unreadable = num_videos - num_readable
        logger.warning("%d of %d videos could not be decoded.", num_unreadable, num_videos)


def still(decoder: Decoder, video: Video, number: int, count: int, side: int) -> bytes:
    """Return one of a clip's `count` evenly spaced frames as a square JPEG."""
    failed: Reasons = {}
    for _, frames in decode_files(
        [video], num_frames=count, framing=Framing(side), decoder=decoder, failed=failed
    ):
        jpeg = BytesIO()
        write_jpeg(frames[number], jpeg)
        return jpeg.getvalue()
    raise MediaError(failed[video.video_id])


def _start(
    job: list[Video], num_frames: int, framing: Framing, decoder: Decoder, store: Frames | None
) -> JobFrames:
    """Take the frames of a file's clips from the store, or start to decode them."""
    if store is not None:
        stored = [store.get(clip.key) for clip in job]
        stored_frames = [frames for frames in stored if frames is not None]
        if len(stored_frames) == len(job):
            return stored_frames

    first = job[0]
    if first.end is None:
        return decoder.frames(first.path, num_frames, framing, first.root)
    windows = [(clip.start, clip.end) for clip in job]
    return decoder.windows(first.path, windows, num_frames, framing, first.root)


def _wait(job: list[Video], job_frames: JobFrames) -> Sequence[Pixels | str]:
    """Wait for the frames of each clip, or the reason why there are none."""
    if not isinstance(job_frames, Decoding):
        return job_frames
    try:
        frames = job_frames.result()
    except MediaError as error:
        return [str(error)] * len(job)
    # A whole file has an array, and windows have a list.
    return frames if isinstance(frames, list) else [frames]


def _jobs(clips: Iterable[Video]) -> Iterator[list[Video]]:
    """Group successive windows of a file, so that it is opened once; any other clip is alone."""
    job: list[Video] = []
    for clip in clips:
        if job and (len(job) == WINDOWS_PER_JOB or not _follows(clip, job[-1])):
            yield job
            job = []
        job.append(clip)
    if job:
        yield job


def _follows(clip: Video, last: Video) -> bool:
    """Whether a clip is a window that starts after another one of the same file."""
    if last.end is None or clip.end is None:
        return False
    return last.path == clip.path and last.start <= clip.start
