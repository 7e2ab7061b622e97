"""Frames of many video files, decoded once and stored."""

import logging
import os
from collections.abc import Sequence
from hashlib import blake2b

from nt2vr.errors import DatasetError
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.frame_store import StoredClips
from nt2vr.media.gallery import Video
from nt2vr.media.video_files import decode_files, hash_files
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)


def decode_videos(
    videos: Sequence[Video],
    num_frames: int,
    framing: Framing,
    cache: Cache,
    progress: Progress = silent,
    decodes: bool = True,
) -> tuple[list[Video], StoredClips, str]:
    """Decode videos in child processes, as far as their frames are not stored yet.

    Args:
        videos: those that cannot be decoded are skipped with a warning, and tried again next time.
        cache: where frames are stored, whatever its limit.
        decodes: whether those without stored frames are decoded, or skipped.

    Returns:
        The videos that could be decoded, their frames (N, F, S, S, 3), and a name of these contents in this order.

    Raises:
        InterruptedError: if stopped; what was decoded is stored.
        OSError: if frames cannot be stored.
    """
    skipped: dict[str, str] = {}
    files = list(hash_files(tracked(videos, len(videos), "checking videos", progress), cache, skipped))
    keys = {file.key: file for file in files}
    with cache.frames(num_frames, framing, required=True) as store:
        missing = [file for key, file in keys.items() if store.find([key])[0] < 0]
        if missing and decodes:
            store.check_free(len(missing))
            with Decoder(os.cpu_count() or 1) as decoder:
                decoded = decode_files(missing, num_frames, framing, decoder, skipped, store)
                for _ in tracked(decoded, len(missing), "decoding videos", progress):
                    pass
    rows = store.find(file.key for file in files)
    readable = [file for file, row in zip(files, rows, strict=True) if row >= 0]
    for video_id, reason in skipped.items():
        logger.warning("Skipped %s: %s", video_id, reason)
    if not readable:
        raise DatasetError(f"None of the {len(videos)} videos can be decoded. The log gives a reason for each.")
    if len(readable) < len(videos):
        logger.warning("%d of %d videos could not be decoded.", len(videos) - len(readable), len(videos))
    contents = blake2b(" ".join(file.key for file in readable).encode(), digest_size=8).hexdigest()
    name = f"{store.name}-{contents}"
    return [file.video for file in readable], StoredClips(store.rows(), rows[rows >= 0]), name
