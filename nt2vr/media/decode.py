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

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from nt2vr.errors import MediaError
from nt2vr.media.picture import PICTURE_SUFFIXES, read_picture
from nt2vr.media.preview import write_moment, write_preview
from nt2vr.media.resize import Pixels
from nt2vr.media.video import Window, probe, sample_frames, sample_short_video, sample_windows
from nt2vr.models.framing import Framing
from nt2vr.models.spawn import WithoutMain, limit_memory

T = TypeVar("T")
# Children take 70 MB each.
MAX_WORKERS = 32
# Of a child: an 8K video in H.264 took 0.5 GB.
MAX_BYTES = 2 << 30
# Of a slow disk.
READ_BYTES_S = 10e6
# Seconds to decode a second of video, at most: 4K at 60 frames per second takes 0.6, 8K at 30
# takes 2.7.
PACE = 3.0
# How the reason ends for files that nobody has tried.
CLOSED = "was not decoded: the decoder is closed."
# The threshold of glibc's mallopt above which memory is given back.
M_MMAP_THRESHOLD = -3
OUTSIDE = "is a link that leads out of the library's folder. Copy the file into the folder."


@dataclass(frozen=True)
class Decoding:
    """A file that a child decodes."""

    path: Path
    future: ProcessFuture[Any]
    is_picture: bool = False

    def result(self) -> Any:
        """Wait for the frames, or the picture; a MediaError says why there are none."""
        advice = "Make it smaller" if self.is_picture else "Convert it to a short MP4 or WebM clip"
        try:
            return self.future.result()
        except TimeoutError:
            problem = f"takes too long to decode. {advice}."
        except MemoryError:
            problem = f"takes too much memory to decode. {advice}."
        except (ProcessExpired, BrokenProcessPool):
            advice = "Save it as JPEG or PNG" if self.is_picture else "Convert it to MP4 or WebM"
            problem = f"crashed the decoder. {advice} and try again."
        except CancelledError:
            problem = CLOSED
        raise MediaError(f"{self.path.name} {problem}")


def ahead(jobs: Iterable[T], count: int) -> Iterator[T]:
    """Yield jobs in their order, each after the `count` next ones have been started, too."""
    started: deque[T] = deque()
    for job in jobs:
        started.append(job)
        if len(started) > count:
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
        return self._start(
            path,
            sample_frames,
            path,
            num_frames,
            framing,
            is_picture=path.suffix.lower() in PICTURE_SUFFIXES,
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
        """Schedule `sample_windows` in a child; a longer window has a longer time limit."""
        limits_s = [self._timeout_s + PACE * ((end or start) - start) for start, end in windows]
        return self._start(
            path,
            sample_windows,
            path,
            windows,
            num_frames,
            framing,
            limits_s,
            # For a child that hangs.
            timeout_s=self._timeout_s + sum(limits_s),
            reads=True,
            root=root,
        )

    def preview(
        self,
        path: Path,
        start: float,
        end: float | None,
        poster: Path,
        preview: Path,
        root: Path | None = None,
    ) -> Decoding:
        return self._start(
            path,
            write_preview,
            path,
            start,
            end,
            poster,
            preview,
            timeout_s=2 * self._timeout_s,
            reads=True,
            root=root,
        )

    def moment(
        self, video: Path, start: float, end: float, moment: Path, root: Path | None = None
    ) -> Decoding:
        return self._start(
            video,
            write_moment,
            video,
            start,
            end,
            moment,
            timeout_s=4 * self._timeout_s,
            reads=True,
            root=root,
        )

    def picture(self, path: Path) -> Pixels:
        """Read a picture as (H, W, 3) RGB."""
        picture: Pixels = self._start(path, read_picture, path, is_picture=True).result()
        return picture

    def reference(self, path: Path) -> tuple[Pixels, ...]:
        """Read a picture, or evenly spaced frames of a short video, as (H, W, 3) RGB each."""
        if path.suffix.lower() in PICTURE_SUFFIXES:
            return (self.picture(path),)
        try:
            return tuple(self._start(path, sample_short_video, path).result())
        except MediaError as error:
            # It may be a picture with another suffix, such as photo.jfif.
            with suppress(MediaError):
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
        """Schedule a function in a child.

        Args:
            reads: whether it reads all of the file, so that a large one gets more time.
        """
        # A pipe or device would occupy a child.
        if os.path.exists(path) and not os.path.isfile(path):
            kind = "picture" if is_picture else "video"
            future: ProcessFuture[Any] = ProcessFuture()
            future.set_exception(
                MediaError(f"{path.name} is not a {kind}, but a folder, pipe or device.")
            )
            return Decoding(path, future, is_picture)

        timeout_s = timeout_s or self._timeout_s
        if reads:
            with suppress(OSError):
                timeout_s += os.path.getsize(path) / READ_BYTES_S
        if root is not None:
            args = (root, function, *args)
            function = _confined
        with self._lock:
            future = self._running_pool().schedule(function, args=args, timeout=timeout_s)
            self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return Decoding(path, future, is_picture)

    def _running_pool(self) -> ProcessPool:
        # A pool stops if an idle child is killed.
        if self._pool is not None and self._pool.active:
            return self._pool
        self._stop_pool()
        # Of the children, which leave their temporary files behind when they are killed.
        self._folder = TemporaryDirectory()
        self._pool = ProcessPool(
            self.num_workers,
            initializer=_set_up_child,
            initargs=(self._folder.name,),
            context=WithoutMain(),
        )
        return self._pool

    def _stop_pool(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None
            self._folder.cleanup()


def _confined(root: Path, function: Callable[..., Any], path: Path, *args: Any) -> Any:
    with confined(path, root) as confined_path:
        return function(confined_path, *args)


@contextmanager
def confined(path: Path, root: Path) -> Iterator[Path]:
    """Yield a path of the same name to the file that a path leads to, within the root.

    A MediaError refuses a file outside the root. Links within the root, which is absolute and
    resolved, are followed. On Linux, the path yielded names the open file, so whatever is replaced
    by a link meanwhile does not count; elsewhere it is the path that links lead to.
    """
    real_path = Path(os.path.realpath(path))
    if not real_path.is_relative_to(root):
        raise MediaError(f"{path.name} {OUTSIDE}")
    if sys.platform != "linux":
        yield real_path
        return

    try:
        file = _open_without_links(real_path, root)
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


def _open_without_links(path: Path, root: Path) -> int:
    """Open a file in the root, of whose path no part may be a link, on Linux."""
    *folders, name = path.relative_to(root).parts
    folder_flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
    file = os.open(root, folder_flags)
    for folder in folders:
        file = _open_in(file, folder, folder_flags)
    # Without O_NONBLOCK, a pipe would block.
    return _open_in(file, name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _open_in(folder: int, name: str, flags: int) -> int:
    """Open an entry of an open folder, and close the folder."""
    try:
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _set_up_child(folder: str) -> None:
    """Silence FFmpeg, keep it to the given file, and ignore Ctrl+C, which the parent handles."""
    import av  # noqa: PLC0415  17 MB that only children need

    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    av.logging.set_level(None)
    # Otherwise glibc keeps the freed memory of pictures.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)
    limit_memory(MAX_BYTES)
