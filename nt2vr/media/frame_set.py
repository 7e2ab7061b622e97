"""Video files decoded once, into a file of frames."""

import json
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.errors import DatasetError, MediaError
from nt2vr.files import atomic_write
from nt2vr.media.cache import SAMPLING, Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.frame_file import write_frames
from nt2vr.media.gallery import Video

logger = logging.getLogger(__name__)
IN_FLIGHT = 4  # videos for each child that decodes: none waits for the next


def decode_videos(
    videos: Sequence[Video],
    num_frames: int,
    size: int,
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Video], NDArray[np.uint8], Path]:
    """Decode videos in child processes as the app does, or read what was decoded of the same files before.

    Args:
        videos: whatever cannot be decoded of them is skipped, and logged.
        num_frames: frames of each, uniformly sampled.
        size: side of the square they are fitted to.
        cache: folder where the frames are kept.
        should_stop: asked after each video.

    Returns:
        The videos that could be decoded, their frames (N, F, S, S, 3) on disk, and where these are.

    Raises:
        DatasetError: if none can be decoded.
        InterruptedError: if `should_stop` said so.
    """
    readable, hashes = _hashed(videos, cache / "content", should_stop)
    key = blake2b(json.dumps([SAMPLING, num_frames, size, hashes]).encode(), digest_size=8).hexdigest()
    path = cache / f"videos-{key}.npy"
    record = path.with_suffix(".json")  # written last, with the rows that failed
    if not (record.is_file() and path.is_file()):
        failed: dict[int, str] = {}
        with Decoder(num_workers := os.cpu_count() or 1) as decoder:
            clips = _decoded(readable, num_frames, size, decoder, num_workers * IN_FLIGHT, failed)
            bar = tqdm(clips, "decoding", len(readable), unit="video", disable=None)
            write_frames(path, (len(readable), num_frames, size, size, 3), bar, should_stop)
        with atomic_write(record) as partial:
            partial.write_text(json.dumps(failed), encoding="utf-8")
    skipped = {int(row): reason for row, reason in json.loads(record.read_text(encoding="utf-8")).items()}
    for row, reason in skipped.items():
        logger.warning("Skipped %s: %s", readable[row].video_id, reason)
    kept = [video for row, video in enumerate(readable) if row not in skipped]
    if not kept:
        raise DatasetError(f"None of the {len(videos)} videos can be decoded. The log says why, for each of them.")
    if len(kept) < len(videos):
        logger.warning("%d of %d videos could not be decoded.", len(videos) - len(kept), len(videos))
    return kept, np.load(path, mmap_mode="r"), path


def _hashed(videos: Sequence[Video], folder: Path, should_stop: Callable[[], bool]) -> tuple[list[Video], list[str]]:
    """Return the videos whose files can be opened, and the hashes of their contents."""
    readable, hashes = [], []
    with Cache(folder) as cache:  # which knows the hash of a file that has not changed
        for video in tqdm(videos, "looking at files", unit="video", disable=None):
            if should_stop():
                raise InterruptedError
            try:
                hashes.append(cache.content_hash(video.path))
                readable.append(video)
            except MediaError as error:
                logger.warning("Skipped %s: %s", video.video_id, error)
    return readable, hashes


def _decoded(
    videos: Sequence[Video], num_frames: int, size: int, decoder: Decoder, in_flight: int, failed: dict[int, str]
) -> Iterator[NDArray[np.uint8] | None]:
    """Yield the frames of each video; None for one that cannot be decoded, whose row and reason go into `failed`."""
    remaining = ((row, decoder.frames(video.path, num_frames, size)) for row, video in enumerate(videos))
    ahead = deque(islice(remaining, in_flight))
    while ahead:
        row, decoding = ahead.popleft()
        try:
            frames: NDArray[np.uint8] | None = decoding.result()
        except MediaError as error:
            frames, failed[row] = None, str(error)
        ahead.extend(islice(remaining, 1))
        yield frames
