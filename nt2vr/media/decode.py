"""Video decoding: uniformly sampled frames, and child processes for untrusted files.

It caches nothing (`cache` does) and knows no model. The children import PyAV only where they need it.
"""

import ctypes
import multiprocessing
import os
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray
from pebble import ProcessExpired, ProcessFuture, ProcessPool

from nt2vr.errors import MediaError
from nt2vr.media import refused
from nt2vr.media.confined import confined
from nt2vr.media.picture import LARGE, MAX_PIXELS, PICTURE_SUFFIXES, fit, read_picture
from nt2vr.models.framing import CENTRES, Framing, frame_positions
from nt2vr.models.spawn import WithoutMain, limit_memory

T = TypeVar("T")
SEEK_GAP = 250  # frames between samples above which seeking (to a key frame, then on) beats decoding everything
MAX_WORKERS = 32  # children take 70 MB each
MAX_BYTES = 2 << 30  # of a child: an 8K film in H.264 took 0.5 GB
READ_BYTES_S = 10e6  # of a slow disk
PACE = 3.0  # seconds to decode a second of film, at most: 4K at 60 frames per second takes 0.6, 8K at 30 takes 2.7
CLOSED = "was not decoded: the decoder is closed."  # how the reason ends for files that nobody has tried
M_MMAP_THRESHOLD = -3  # of glibc's mallopt


def sample_frames(path: Path, num_frames: int, framing: Framing | None = None) -> NDArray[np.uint8]:
    """Decode `num_frames` evenly spaced frames, in this process; for untrusted files use `Decoder`.

    The frame count in the file's header may be wrong and is only a first guess. Long videos are not decoded in
    full. A picture, recognised by its suffix, is one frame that repeats.

    Args:
        framing: which frames, and what `fit` makes of each; None leaves them unchanged.

    Returns:
        (F, H, W, 3) RGB, or (F, S, S, 3) with `framing`.
    """
    if _is_picture(path):
        picture = _picture(path, framing)
        assert picture is not None, "no limit is set"
        return np.repeat(picture[None], num_frames, axis=0)
    length, seek = -1, True
    try:
        while True:
            with _opened(path) as capture:
                if length < 0:
                    length = max(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)))  # 0: unknown
                wanted = frame_positions(length, num_frames, framing.positions if framing else CENTRES)
                seek = seek and length > num_frames * SEEK_GAP  # after reading in order, the length is exact
                frames, readable = (_read_by_seeking if seek else _read_in_order)(capture, wanted, length, framing)
            if readable == length > 0:
                return np.stack([frames[position] for position in wanted])
            if readable == 0:
                raise refused.without_frames(path)
            length = readable
    except (cv2.error, MemoryError) as error:
        raise refused.undecodable(path) from error


@contextmanager
def _opened(path: Path) -> Iterator[cv2.VideoCapture]:
    if not os.path.isfile(path):  # unlike Path's, never a PermissionError
        raise MediaError(f"{path.name} does not exist. Add it again.")
    if path.stat().st_size == 0:
        raise refused.empty(path)
    # One thread: for a short clip, starting threads costs more than it saves (3.4 ms compared with 2.7).
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    try:
        if not capture.isOpened():
            raise refused.unreadable(path)
        if capture.get(cv2.CAP_PROP_FRAME_WIDTH) * capture.get(cv2.CAP_PROP_FRAME_HEIGHT) > MAX_PIXELS:
            raise refused.too_large(path)
        yield capture
    finally:
        capture.release()


def _read_in_order(
    capture: cv2.VideoCapture, wanted: list[int], length: int, framing: Framing | None
) -> tuple[dict[int, NDArray[np.uint8]], int]:
    """Return the wanted frames by position, and the number of frames."""
    frames: dict[int, NDArray[np.uint8]] = {}
    position = 0
    while capture.grab():
        if position in wanted:
            frames[position] = _retrieve(capture, framing)
        position += 1
    return frames, position


def _read_by_seeking(
    capture: cv2.VideoCapture, wanted: list[int], length: int, framing: Framing | None
) -> tuple[dict[int, NDArray[np.uint8]], int]:
    """Return the wanted frames by position, and `length`, or the first position that cannot be read."""
    frames: dict[int, NDArray[np.uint8]] = {}
    for position in wanted:
        if not (capture.set(cv2.CAP_PROP_POS_FRAMES, position) and capture.grab()):
            return frames, position
        frames[position] = _retrieve(capture, framing)
    return frames, length


def _retrieve(capture: cv2.VideoCapture, framing: Framing | None) -> NDArray[np.uint8]:
    _, frame = capture.retrieve()
    rgb = np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB), np.uint8)
    return rgb if framing is None else fit(rgb, framing)


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURE_SUFFIXES


def _picture(path: Path, framing: Framing | None, largest: int | None = None) -> NDArray[np.uint8] | None:
    """Read a picture; None for one of more than `largest` pixels."""
    picture = read_picture(path, largest)
    return picture if picture is None or framing is None else fit(picture, framing)


@dataclass(frozen=True)
class Decoding:
    path: Path
    future: ProcessFuture[Any]
    is_picture: bool = False

    def result(self) -> Any:
        """Wait for the frames, or the picture; a MediaError says why there are none."""
        name = self.path.name
        slow, fatal = (
            ("Make it smaller", "Save it as JPEG or PNG")
            if self.is_picture
            else ("Convert it to a short MP4 or WebM clip", "Convert it to MP4 or WebM")
        )
        try:
            return self.future.result()
        except TimeoutError:
            raise MediaError(f"{name} takes too long to decode. {slow}.") from None
        except MemoryError:
            raise MediaError(f"{name} takes too much memory to decode. {slow}.") from None
        except (ProcessExpired, BrokenProcessPool):
            raise MediaError(f"{name} crashed the decoder. {fatal} and try again.") from None
        except CancelledError:
            raise MediaError(f"{name} {CLOSED}") from None


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

    The children start with the first file and end with `close`, or with this process, however it ends. A `root` is a
    folder that a file must lie in, at the moment it is opened and after links are followed; None is anywhere.

    Args:
        num_workers: number of children; default one per core, but at most MAX_WORKERS.
    """

    def __init__(self, num_workers: int | None = None, timeout_s: float = 30.0) -> None:
        self.num_workers = num_workers or min(MAX_WORKERS, os.cpu_count() or 1)
        self._timeout_s = timeout_s
        self._lock, self._one_large = threading.Lock(), threading.Lock()
        self._pool: ProcessPool | None = None
        self._pending: set[ProcessFuture[Any]] = set()

    def frames(self, path: Path, num_frames: int, framing: Framing | None, root: Path | None = None) -> Decoding:
        """Schedule `sample_frames` in a child."""
        return self._start(path, sample_frames, path, num_frames, framing, is_picture=_is_picture(path), root=root)

    def probe(self, path: Path, root: Path | None = None) -> Decoding:
        """Schedule `sampling.probe` in a child; hashing a large file may take longer than decoding a frame."""
        with suppress(OSError):
            timeout_s = self._timeout_s + path.stat().st_size / READ_BYTES_S
            return self._start(path, _call, path, "sampling:probe", timeout_s=timeout_s, root=root)
        return self._start(path, _call, path, "sampling:probe", root=root)

    def windows(
        self,
        path: Path,
        windows: Sequence[tuple[float, float]],
        num_frames: int,
        framing: Framing | None,
        root: Path | None = None,
    ) -> Decoding:
        """Schedule `sampling.sample_windows` in a child; each window has a time limit, longer for a longer one."""
        limits_s = [self._timeout_s + PACE * (end - start) for start, end in windows]
        timeout_s = self._timeout_s + sum(limits_s)  # for a child that hangs
        asked = "sampling:sample_windows", windows, num_frames, framing, limits_s
        return self._start(path, _call, path, *asked, timeout_s=timeout_s, root=root)

    def preview(
        self, path: Path, start: float, end: float | None, poster: Path, preview: Path, root: Path | None = None
    ) -> Decoding:
        """Schedule `preview.write_preview` in a child."""
        asked = "preview:write_preview", start, end, poster, preview
        return self._start(path, _call, path, *asked, timeout_s=2 * self._timeout_s, root=root)

    def picture(self, path: Path, framing: Framing | None = None) -> NDArray[np.uint8]:
        """Read a picture as (H, W, 3) RGB, or `fit` to `framing`; large ones are read one at a time."""
        small: NDArray[np.uint8] | None = self._start(path, _picture, path, framing, LARGE, is_picture=True).result()
        if small is not None:
            return small
        if not self._one_large.acquire(timeout=self._timeout_s):
            raise MediaError(f"Other large pictures are being read. Send {path.name} again, or make it smaller.")
        try:
            large: NDArray[np.uint8] = self._start(path, _picture, path, framing, is_picture=True).result()
            return large
        finally:
            self._one_large.release()

    def reference(self, path: Path) -> tuple[NDArray[np.uint8], ...]:
        """Read a picture, or evenly spaced frames of a short video, as (H, W, 3) RGB each."""
        if not _is_picture(path):
            try:
                return tuple(self._start(path, _call, path, "sampling:sample_short_video").result())
            except MediaError as error:
                with suppress(MediaError):  # a picture of another name, such as photo.jfif
                    return (self.picture(path),)
                raise error
        return (self.picture(path),)

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
        root: Path | None = None,
    ) -> Decoding:
        if root is not None:
            function, args = _confined, (root, function, *args)
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or device would occupy a child
            future: ProcessFuture[Any] = ProcessFuture()
            kind = "picture" if is_picture else "video"
            future.set_exception(MediaError(f"{path.name} is not a {kind}, but a folder, pipe or device."))
            return Decoding(path, future, is_picture)
        with self._lock:
            if self._pool is None or not self._pool.active:  # a pool stops if an idle child is killed
                self._stop_pool()
                self._folder = TemporaryDirectory()  # of children, which leave theirs behind when killed
                setup: dict[str, Any] = {"initializer": _set_up_child, "initargs": (self._folder.name,)}
                self._pool = ProcessPool(self.num_workers, **setup, context=WithoutMain())
            future = self._pool.schedule(function, args=args, timeout=timeout_s or self._timeout_s)
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


def _call(path: Path, name: str, *args: Any) -> Any:
    """Call "module:function", of a module that imports PyAV, which takes 0.1 s: in the children only."""
    return resolve_name(f"nt2vr.media.{name}")(path, *args)


def _set_up_child(folder: str) -> None:
    """Silence FFmpeg, keep it to the given file, ignore Ctrl+C (the parent handles it), and end with the parent."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = f"format_whitelist;{refused.FORMATS}"
    os.environ["OPENCV_FFMPEG_LOGLEVEL"] = "-8"
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    _return_memory()
    limit_memory(MAX_BYTES)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _return_memory() -> None:
    """Return freed blocks of a megabyte and more to the system; glibc would hold on to those of pictures."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)


def _end_with_parent() -> None:
    """Exit with the parent, which pebble notices only between files, not while one hangs."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
