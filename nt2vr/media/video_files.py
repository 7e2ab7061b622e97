"""Many video files: their content hashes, and their frames, decoded ahead of the consumer; a bad file fails alone."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder, Decoding
from nt2vr.media.gallery import Video
from nt2vr.models.framing import Framing
from nt2vr.progress import ShouldStop, never

IN_FLIGHT = 16  # videos decoded ahead: two children stay busy while the encoder works, 20 MB at most
IN_FLIGHT_PER_CHILD = 4


class VideoFile(NamedTuple):
    """A video and the hash of its file's content."""

    video: Video
    content: str

    @property
    def key(self) -> str:
        """Name what is decoded: the content, and the seconds where it is a window."""
        start, end = self.video.start, self.video.end
        return self.content if not start and end is None else f"{self.content} {start:.3f}-{end or 0:.3f}"


def hash_files(
    videos: Iterable[Video], cache: Cache, failed: dict[str, str], should_stop: ShouldStop = never
) -> Iterator[VideoFile]:
    """Yield the videos whose files can be opened, until `should_stop`; `failed` gets the others' ids and reasons."""
    for video in videos:
        if should_stop():
            return
        try:
            yield VideoFile(video, video.content or cache.content_hash(video.path))
        except MediaError as error:
            failed[video.video_id] = str(error)


def decode_files(
    files: Iterable[VideoFile],
    num_frames: int,
    framing: Framing,
    decoder: Decoder,
    failed: dict[str, str],
    cache: Cache | None = None,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[VideoFile, NDArray[np.uint8]]]:
    """Yield (F, S, S, 3) frames in the order of the files, decoded ahead by the decoder's children.

    Args:
        files: the videos.
        num_frames: F, per video.
        framing: what frames are fitted to.
        decoder: decodes the files.
        failed: gets the ids of videos that cannot be decoded, with reasons.
        cache: where frames are looked up and stored, if given.
        should_stop: polled before each video.
    """
    remaining = iter(files)
    in_flight = max(IN_FLIGHT, IN_FLIGHT_PER_CHILD * decoder.num_workers)
    ahead: deque[tuple[VideoFile, NDArray[np.uint8] | Decoding]] = deque()
    while not should_stop():
        for file in islice(remaining, in_flight - len(ahead)):
            cached = cache.get_frames(file.key, num_frames, framing) if cache else None
            ahead.append((file, decoder.frames(file.video.path, num_frames, framing) if cached is None else cached))
        if not ahead:
            return
        file, frames = ahead.popleft()
        if isinstance(frames, Decoding):
            try:
                frames = frames.result()
            except MediaError as error:
                failed[file.video.video_id] = str(error)
                continue
            if cache:
                cache.put_frames(file.key, num_frames, framing, frames)
        yield file, frames
