"""The frames of many video files, decoded once into one .npy file."""

import json
import logging
import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import DatasetError
from nt2vr.files import write_json
from nt2vr.media.cache import SAMPLING, Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.frame_file import CACHE, write_frames
from nt2vr.media.gallery import Video
from nt2vr.media.video_files import VideoFile, decode_files, hash_files
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, ShouldStop, never, silent, tracked

logger = logging.getLogger(__name__)


def decode_videos(
    videos: Sequence[Video],
    num_frames: int,
    framing: Framing,
    folder: Path,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> tuple[list[Video], NDArray[np.uint8], Path]:
    """Decode videos in child processes, or read the frames stored for the same files.

    Args:
        videos: those that cannot be decoded are skipped with a warning.
        num_frames: frames per video, uniformly sampled.
        framing: what frames are fitted to.
        folder: where frames are stored.
        progress: gets the number of videos.
        should_stop: polled after each video.

    Returns:
        The videos that could be decoded, their memory-mapped frames (N, F, S, S, 3), and the file of these.

    Raises:
        DatasetError: if no video can be decoded.
        InterruptedError: if stopped.
    """
    files = _hashed(videos, folder / CACHE, progress, should_stop)
    contents = [file.content for file in files]
    key = blake2b(json.dumps([SAMPLING, num_frames, framing.key, contents]).encode(), digest_size=8).hexdigest()
    path = folder / f"videos-{key}.npy"
    record = path.with_suffix(".json")  # reasons by row, written last: without it the frames are incomplete
    if not (record.is_file() and path.is_file()):
        failed: dict[str, str] = {}
        with Decoder(os.cpu_count() or 1) as decoder:
            decoded = decode_files(files, num_frames, framing, decoder, failed)
            clips = tracked((frames for _, frames in decoded), len(files), "decoding videos", progress, should_stop)
            write_frames(path, (len(files), num_frames, framing.size, framing.size, 3), clips)
        reasons = {row: failed.get(file.video.video_id) for row, file in enumerate(files)}
        write_json(record, {row: reason for row, reason in reasons.items() if reason})
    skipped = {int(row): reason for row, reason in json.loads(record.read_text(encoding="utf-8")).items()}
    _warn({files[row].video.video_id: reason for row, reason in skipped.items()})
    readable = [file.video for row, file in enumerate(files) if row not in skipped]
    if not readable:
        raise DatasetError(f"None of the {len(videos)} videos can be decoded. The log gives a reason for each.")
    if len(readable) < len(videos):
        logger.warning("%d of %d videos could not be decoded.", len(videos) - len(readable), len(videos))
    return readable, np.load(path, mmap_mode="r"), path


def _hashed(videos: Sequence[Video], folder: Path, progress: Progress, should_stop: ShouldStop) -> list[VideoFile]:
    """Hash the files that can be opened."""
    failed: dict[str, str] = {}
    with Cache(folder) as cache:  # holds the hash of every file that has not changed
        files = list(hash_files(tracked(videos, len(videos), "checking videos", progress, should_stop), cache, failed))
    _warn(failed)
    return files


def _warn(failed: dict[str, str]) -> None:
    for video_id, reason in failed.items():
        logger.warning("Skipped %s: %s", video_id, reason)
