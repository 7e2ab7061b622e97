"""Child processes in which untrusted files are decoded, and opened only where they may lie."""

import ctypes
import os
import signal
import stat
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import av
import numpy as np
from numpy.typing import NDArray
from pebble import ProcessExpired, ProcessFuture, ProcessPool

from nt2vr.errors import MediaError
from nt2vr.media.picture import PICTURE_SUFFIXES, read_picture
from nt2vr.media.preview import write_moment, write_preview
from nt2vr.media.resize import fit
from nt2vr.media.video import Window, probe, sample_frames, sample_short_video, sample_windows
from nt2vr.models.framing import Framing
from nt2vr.models.spawn import WithoutMain, limit_memory

T = TypeVar("T")
MAX_WORKERS = 32  # children take 70 MB each
MAX_BYTES = 2 << 30  # of a child: an 8K film in H.264 took 0.5 GB
READ_BYTES_S = 10e6  # of a slow disk
PACE = 3.0  # seconds to decode a second of film, at most: 4K at 60 frames per second takes 0.6, 8K at 30 takes 2.7
CLOSED = (
    "was not decoded: the decoder is closed."  # how the reason ends for files that nobody has tried
)
M_MMAP_THRESHOLD = -3  # of glibc's mallopt
FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
FILE = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
)  # a pipe would block
OUTSIDE = "is a link that leads out of the library's folder. Copy the file into the folder."


def _picture(path: Path, framing: Framing | None) -> NDArray[np.uint8]:
    picture = read_picture(path)
    return picture if framing is None else fit(picture, framing)


@dataclass(frozen=True)
class Decoding:
    path: Path
    future: ProcessFuture[Any]
    is_picture: bool = False

    def result(self) -> Any:
        """Wait for the frames, or the picture; a MediaError says why there are none."""
        slow = "Make it smaller" if self.is_picture else "Convert it to a short MP4 or WebM clip"
        try:
            return self.future.result()
        except TimeoutError:
            problem = f"takes too long to decode. {slow}."
        except MemoryError:
            problem = f"takes too much memory to decode. {slow}."
        except (ProcessExpired, BrokenProcessPool):
            kind = "Save it as JPEG or PNG" if self.is_picture else "Convert it to MP4 or WebM"
            problem = f"crashed the decoder. {kind} and try again."
        except CancelledError:
            problem = CLOSED
        raise MediaError(f"{self.path.name} {problem}")


def ahead(jobs: Iterable[T], most: int) -> Iterator[T]:
    """Yield jobs in their order, each once the `most` next ones are started, too."""
    started: deque[T] = deque()
    for job in jobs:
        started.append(job)
        if len(started) > most:
            yield started.popleft()
    yield from started


class Decoder(AbstractContextManager["Decoder"]):
    """Decodes files in child processes: one that hangs, crashes or is not a video stops no other.

    The children start with the first file and end with `close`, or with this process, however it
    ends. A `root` is a folder that a file must lie in, at the moment it is opened and after links
    are followed; None is anywhere.

    Args:
        num_workers: number of children; default one per core, but at most MAX_WORKERS.
    """

    def __init__(self, num_workers: int | None = None, timeout_s: float = 30.0) -> None:
        self.num_workers = num_workers or min(MAX_WORKERS, os.cpu_count() or 1)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._pending: set[ProcessFuture[Any]] = set()

    def frames(
        self, path: Path, num_frames: int, framing: Framing | None, root: Path | None = None
    ) -> Decoding:
        is_picture = path.suffix.lower() in PICTURE_SUFFIXES
        return self._start(
            path,
            sample_frames,
            path,
            num_frames,
            framing,
            is_picture=is_picture,
            reads=True,
            root=root,
        )

    def probe(self, path: Path, root: Path | None = None, hashes: bool = True) -> Decoding:
        return self._start(path, probe, path, hashes, reads=True, root=root)

    def windows(
        self,
        path: Path,
        windows: Sequence[Window],
        num_frames: int,
        framing: Framing | None,
        root: Path | None = None,
    ) -> Decoding:
        """Schedule `sample_windows` in a child; each window has a time limit, longer for a longer one."""
        limits_s = [self._timeout_s + PACE * ((end or start) - start) for start, end in windows]
        timeout_s = self._timeout_s + sum(limits_s)  # for a child that hangs
        asked = path, windows, num_frames, framing, limits_s
        return self._start(path, sample_windows, *asked, timeout_s=timeout_s, reads=True, root=root)

    def preview(
        self,
        path: Path,
        start: float,
        end: float | None,
        poster: Path,
        preview: Path,
        root: Path | None = None,
    ) -> Decoding:
        asked = path, start, end, poster, preview
        return self._start(
            path, write_preview, *asked, timeout_s=2 * self._timeout_s, reads=True, root=root
        )

    def moment(
        self, video: Path, start: float, end: float, moment: Path, root: Path | None = None
    ) -> Decoding:
        asked = video, start, end, moment
        return self._start(
            video, write_moment, *asked, timeout_s=4 * self._timeout_s, reads=True, root=root
        )

    def picture(self, path: Path, framing: Framing | None = None) -> NDArray[np.uint8]:
        """Read a picture as (H, W, 3) RGB, or `fit` to `framing`."""
        picture: NDArray[np.uint8] = self._start(
            path, _picture, path, framing, is_picture=True
        ).result()
        return picture

    def reference(self, path: Path) -> tuple[NDArray[np.uint8], ...]:
        """Read a picture, or evenly spaced frames of a short video, as (H, W, 3) RGB each."""
        if path.suffix.lower() in PICTURE_SUFFIXES:
            return (self.picture(path),)
        try:
            return tuple(self._start(path, sample_short_video, path).result())
        except MediaError as error:
            with suppress(MediaError):  # a picture of another name, such as photo.jfif
                return (self.picture(path),)
            raise error

    def close(self) -> None:
        """End the children; unfinished files raise MediaError."""
        with self._lock:
            for future in tuple(self._pending):
                future.cancel()  # type: ignore[no-untyped-call]
            self._stop_pool()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(
        self,
        path: Path,
        function: Callable[..., Any],
        *args: Any,
        is_picture: bool = False,
        timeout_s: float | None = None,
        reads: bool = False,
        root: Path | None = None,
    ) -> Decoding:
        """Schedule a function in a child, with more time for one that `reads` all of a large file."""
        timeout_s = timeout_s or self._timeout_s
        if reads:
            with suppress(OSError):
                timeout_s += os.path.getsize(path) / READ_BYTES_S
        if root is not None:
            function, args = _confined, (root, function, *args)
        if os.path.exists(path) and not os.path.isfile(
            path
        ):  # a pipe or device would occupy a child
            future: ProcessFuture[Any] = ProcessFuture()
            kind = "picture" if is_picture else "video"
            future.set_exception(
                MediaError(f"{path.name} is not a {kind}, but a folder, pipe or device.")
            )
            return Decoding(path, future, is_picture)
        with self._lock:
            if (
                self._pool is None or not self._pool.active
            ):  # a pool stops if an idle child is killed
                self._stop_pool()
                self._folder = (
                    TemporaryDirectory()
                )  # of children, which leave theirs behind when killed
                setup: dict[str, Any] = {
                    "initializer": _set_up_child,
                    "initargs": (self._folder.name,),
                }
                self._pool = ProcessPool(self.num_workers, **setup, context=WithoutMain())
            future = self._pool.schedule(function, args=args, timeout=timeout_s)
            self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return Decoding(path, future, is_picture)

    def _stop_pool(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None
            self._folder.cleanup()


def _confined(root: Path, function: Callable[..., Any], path: Path, *args: Any) -> Any:
    with confined(path, root) as opened:
        return function(opened, *args)


@contextmanager
def confined(path: Path, root: Path) -> Iterator[Path]:
    """Yield a path, of the same name, to the file that a path leads to; a MediaError refuses one outside the root.

    Links within the root, which is absolute and resolved, are followed. On Linux, the path yielded
    names the open file, so whatever is replaced by a link meanwhile does not count; elsewhere it is
    the path that links lead to.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        raise MediaError(f"{path.name} {OUTSIDE}")
    if sys.platform != "linux":
        yield real
        return
    *folders, name = real.relative_to(root).parts
    try:
        file = os.open(root, FOLDER)
        for part, flags in [
            *((each, FOLDER) for each in folders),
            (name, FILE),
        ]:  # none of them a link
            try:
                inner = os.open(part, flags, dir_fd=file)
            finally:
                os.close(file)
            file = inner
    except OSError as error:
        raise MediaError(f"{path.name} cannot be read ({error.strerror}).") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise MediaError(f"{path.name} is not a file, but a folder, pipe or device.")
        with TemporaryDirectory() as folder:
            link = Path(folder) / path.name
            link.symlink_to(f"/proc/{os.getpid()}/fd/{file}")
            yield link
    finally:
        os.close(file)


def _set_up_child(folder: str) -> None:
    """Silence FFmpeg, keep it to the given file, and ignore Ctrl+C, which the parent handles."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    av.logging.set_level(None)
    with suppress(
        AttributeError, OSError, TypeError
    ):  # glibc would hold on to the freed memory of pictures
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)
    limit_memory(MAX_BYTES)
