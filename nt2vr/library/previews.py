"""Posters and previews of a library's clips, in one folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nt2vr.errors import MediaError
from nt2vr.files import hash_text
from nt2vr.media.decode import Decoder, Decoding, ahead
from nt2vr.media.gallery import Video
from nt2vr.media.preview import DISK_FULL
from nt2vr.progress import Progress, silent

# How posters and previews are made: a higher number makes all of them again.
PREVIEW_VERSION = 1
POSTER = ".jpg"
PREVIEW = ".webm"
AHEAD_PER_CHILD = 3


class Previews:
    """JPEG posters and muted VP9 previews, made in the decoder's children.

    A MediaError says why a clip has none.
    """

    def __init__(self, folder: Path, decoder: Decoder) -> None:
        self.folder = folder
        self._decoder = decoder

    def poster(self, video: Video) -> Path:
        """Return a clip's JPEG, 224 pixels on its short side; it is made if missing."""
        return self.preview(video, POSTER)

    def preview(self, video: Video, suffix: str = PREVIEW) -> Path:
        """Return a clip's WebM, 224 pixels on its short side, at most 10 s; made if missing."""
        path = self._path(video, suffix)
        if not path.is_file():
            self._start(video).result()
        return path

    def has(self, video: Video) -> bool:
        """Whether a clip has a poster and a preview."""
        return all(path.is_file() for path in self._paths(video))

    def make(self, videos: Sequence[Video], progress: Progress = silent) -> None:
        """Make what is missing, several at a time; clips that cannot be decoded have none."""
        numbered = enumerate(videos, start=1)
        missing = ((done, video) for done, video in numbered if not self.has(video))
        started = ((done, video, self._start(video)) for done, video in missing)
        for done, video, decoding in ahead(started, AHEAD_PER_CHILD * self._decoder.num_workers):
            try:
                decoding.result()
            except MediaError as error:
                if str(error) == DISK_FULL:
                    raise
            progress(done, len(videos), f"making previews: {video.video_id}")
        progress(len(videos), len(videos), "making previews")

    def retain(self, videos: Iterable[Video]) -> None:
        """Delete the posters and previews of all other clips."""
        retained = set[Path]()
        for video in videos:
            retained.update(self._paths(video))

        for path in self.folder.glob("??/*"):
            if path not in retained and not path.name.startswith("."):
                path.unlink(missing_ok=True)

    def _start(self, video: Video) -> Decoding:
        poster, preview = self._paths(video)
        return self._decoder.preview(
            video.path, video.start, video.end, poster, preview, video.root
        )

    def _paths(self, video: Video) -> tuple[Path, Path]:
        return self._path(video, POSTER), self._path(video, PREVIEW)

    def _path(self, video: Video, suffix: str) -> Path:
        name = hash_text(f"{PREVIEW_VERSION} {video.key}")
        return self.folder / name[:2] / f"{name}{suffix}"
