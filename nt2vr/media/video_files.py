"""Many video files: content hashes, and frames decoded ahead of use or stored. A bad file fails alone."""

import logging
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import DatasetError, MediaError
from nt2vr.media.decode import Decoder, Decoding
from nt2vr.media.gallery import Video
from nt2vr.media.picture import write_jpeg
from nt2vr.media.store import Cache, Frames, Rows, StoredClips
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)
IN_FLIGHT = 16  # videos decoded ahead: two children stay busy while the encoder works, 20 MB at most
IN_FLIGHT_PER_CHILD = 4
WINDOWS_PER_JOB = 6  # a minute of film: long enough to open the file seldom, short enough for all children to have one


class VideoFile(NamedTuple):
    """A video and the hash of its file's content."""

    video: Video
    content: str

    @property
    def key(self) -> str:
        """Name what is decoded: the content, and the seconds where it is a window."""
        start, end = self.video.start, self.video.end
        return self.content if not start and end is None else f"{self.content} {start:.3f}-{end or 0:.3f}"


def hash_files(videos: Iterable[Video], cache: Cache, failed: dict[str, str]) -> Iterator[VideoFile]:
    """Yield the videos whose files can be opened; `failed` gets the others' ids and reasons."""
    for video in videos:
        try:
            yield VideoFile(video, video.content or cache.content_hash(video.path))
        except MediaError as error:
            failed[video.video_id] = str(error)


def missing_of(files: Sequence[VideoFile], rows: Rows[Any]) -> list[VideoFile]:
    """List the files that have no row, one of each content."""
    found = {file.key: file for file in reversed(files)}
    keys = list(found)[::-1]
    return [found[key] for key, row in zip(keys, rows.find(keys).tolist(), strict=True) if row < 0]


def decode_files(
    files: Iterable[VideoFile],
    num_frames: int,
    framing: Framing,
    decoder: Decoder,
    failed: dict[str, str],
    store: Frames | None = None,
) -> Iterator[tuple[VideoFile, NDArray[np.uint8]]]:
    """Yield (F, S, S, 3) frames in the order of the files, decoded ahead by the decoder's children.

    Args:
        failed: gets the ids of videos that cannot be decoded, with reasons.
        store: where frames are looked up and stored, if given; it writes the last ones when it is left.
    """
    jobs = _jobs(files)
    most = max(IN_FLIGHT, IN_FLIGHT_PER_CHILD * decoder.num_workers)
    ahead: deque[_Job] = deque()
    while True:
        while sum(len(job.files) for job in ahead) < most and (some := next(jobs, None)):
            ahead.append(_started(some, num_frames, framing, decoder, store))
        if not ahead:
            return
        job = ahead.popleft()
        for file, frames in zip(job.files, job.result(), strict=True):
            if isinstance(frames, str):
                failed[file.video.video_id] = frames
                continue
            if store is not None and isinstance(job.frames, Decoding):
                store.add(file.key, frames)
            yield file, frames


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
        The videos that could be decoded, their frames (N, F, S, S, 3), and a name of these contents in this order.
    """
    skipped: dict[str, str] = {}
    files = list(hash_files(tracked(videos, len(videos), "checking videos", progress), cache, skipped))
    with cache.frames(num_frames, framing, required=True) as store:
        missing = missing_of(files, store)
        if missing and decodes:
            store.check_free(len(missing))
            with Decoder(os.cpu_count() or 1) as decoder:
                decoded = decode_files(missing, num_frames, framing, decoder, skipped, store)
                for _ in tracked(decoded, len(missing), "decoding videos", progress):
                    pass
    rows = store.find(file.key for file in files)
    readable = [file for file, row in zip(files, rows, strict=True) if row >= 0]
    _warn(skipped, len(readable), len(videos))
    contents = blake2b(" ".join(file.key for file in readable).encode(), digest_size=8).hexdigest()
    name = f"{store.folder.name}-{contents}"
    return [file.video for file in readable], StoredClips(store.rows(), rows[rows >= 0]), name


def _warn(skipped: Mapping[str, str], num_readable: int, num_videos: int) -> None:
    for video_id, reason in skipped.items():
        logger.warning("Skipped %s: %s", video_id, reason)
    if not num_readable:
        raise DatasetError(f"None of the {num_videos} videos can be decoded. The log gives a reason for each.")
    if num_readable < num_videos:
        logger.warning("%d of %d videos could not be decoded.", num_videos - num_readable, num_videos)


def still(decoder: Decoder, video: Video, number: int, count: int, side: int) -> bytes:
    """Return one of a clip's `count` evenly spaced frames as a square JPEG; a MediaError if there is none."""
    failed: dict[str, str] = {}
    for _, frames in decode_files([VideoFile(video, video.content)], count, Framing(side), decoder, failed):
        jpeg = BytesIO()
        write_jpeg(frames[number], jpeg)
        return jpeg.getvalue()
    raise MediaError(failed[video.video_id])


class _Job(NamedTuple):
    """Clips of one file, and their frames: stored, or on their way."""

    files: list[VideoFile]
    frames: Decoding | list[NDArray[np.uint8]]

    def result(self) -> Sequence[NDArray[np.uint8] | str]:
        """Wait for the frames of each clip, or the reason why there are none."""
        if not isinstance(self.frames, Decoding):
            return self.frames
        try:
            result: NDArray[np.uint8] | list[NDArray[np.uint8] | str] = self.frames.result()
        except MediaError as error:
            return [str(error)] * len(self.files)
        return result if isinstance(result, list) else [result]


def _started(
    files: list[VideoFile], num_frames: int, framing: Framing, decoder: Decoder, store: Frames | None
) -> _Job:
    stored = [store.get(file.key) if store is not None else None for file in files]
    known = [frames for frames in stored if frames is not None]
    video = files[0].video
    if len(known) == len(files):
        return _Job(files, known)
    if video.end is None:
        return _Job(files, decoder.frames(video.path, num_frames, framing, video.root))
    windows = [(file.video.start, file.video.end) for file in files]
    return _Job(files, decoder.windows(video.path, windows, num_frames, framing, video.root))


def _jobs(files: Iterable[VideoFile]) -> Iterator[list[VideoFile]]:
    """Group successive windows of a file, so that it is opened once for several; every other file is on its own."""
    job: list[VideoFile] = []
    for file in files:
        last, video = job[-1].video if job else file.video, file.video
        follows = last.path == video.path and None not in (last.end, video.end) and last.start <= video.start
        if job and not (follows and len(job) < WINDOWS_PER_JOB):
            yield job
            job = []
        job.append(file)
    if job:
        yield job
