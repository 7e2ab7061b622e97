"""Posters and previews of a library's clips, in one folder."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from nt2vr.errors import (
    MediaError,
)
from nt2vr.media.decode import Decoder, Decoding, ahead
from nt2vr.media.gallery import Video
from nt2vr.media.preview import DISK_FULL
from nt2vr.progress import Progress, silent

PREVIEW_VERSION = 1  # of how posters and previews are made: raise it to make all again


POSTER, PREVIEW = ".jpg", ".webm"


AHEAD_PER_CHILD = 3


class Previews:
    """JPEG posters and muted VP9 previews in one folder, made in the decoder's children; a MediaError says why not."""

    def __init__(self, folder: Path, decoder: Decoder) -> None:
        self.folder, self._decoder = folder, decoder

    def poster(self, video: Video) -> Path:
        """Return the JPEG of a clip's middle frame, at most 224 pixels on its short side; made if it is missing."""
        return self.preview(video, POSTER)

    def preview(self, video: Video, suffix: str = PREVIEW) -> Path:
        """Return a WebM of a clip, 224 pixels on its short side, at most 10 s, muted; made if it is missing."""
        path = self._path(video, suffix)
        if not path.is_file():
            self._start(video).result()
        return path

    def has(self, video: Video) -> bool:
        """Whether both are there already."""
        return all(self._path(video, suffix).is_file() for suffix in (POSTER, PREVIEW))

    def make(self, videos: Sequence[Video], progress: Progress = silent) -> None:
        """Make what is missing, several at a time; clips that cannot be decoded have none."""
        missing = (
            (done, video, self._start(video))
            for done, video in enumerate(videos, 1)
            if not self.has(video)
        )
        for done, video, decoding in ahead(missing, AHEAD_PER_CHILD * self._decoder.num_workers):
            try:
                decoding.result()
            except MediaError as error:
                if str(error) == DISK_FULL:
                    raise
            progress(done, len(videos), f"making previews: {video.video_id}")
        progress(len(videos), len(videos), "making previews")

    def retain(self, videos: Iterable[Video]) -> None:
        """Delete the posters and previews of all other clips."""
        kept = {self._path(video, suffix) for video in videos for suffix in (POSTER, PREVIEW)}
        for path in self.folder.glob("??/*"):
            if path not in kept and not path.name.startswith("."):
                path.unlink(missing_ok=True)

    def _start(self, video: Video) -> Decoding:
        poster, preview = (self._path(video, suffix) for suffix in (POSTER, PREVIEW))
        return self._decoder.preview(
            video.path, video.start, video.end, poster, preview, video.root
        )

    def _path(self, video: Video, suffix: str) -> Path:
        name = blake2b(f"{PREVIEW_VERSION} {video.key}".encode(), digest_size=12).hexdigest()
        return self.folder / name[:2] / f"{name}{suffix}"
