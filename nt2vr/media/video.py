"""Frames of videos and pictures by timestamp. Untrusted files are read in the decoder's children (`decode`).

Timestamps are right at variable frame rates, and trust no count in a header. Where recordings were
joined, time goes on from the last frame's end.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import Any, Literal, NamedTuple

import av
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.files import hash_file, stamp
from nt2vr.media.picture import (
    MAX_PIXELS,
    PICTURE_SUFFIXES,
    Limits,
    fit,
    is_picture,
    opened_picture,
    shrunk,
    shrunk_size,
    to_rgb,
    unreadable_picture,
)
from nt2vr.models.framing import CENTRES, ENDS, Framing

FORMATS = "asf,avi,flv,gif,matroska,mov,mpeg,mpegts,ogg"  # self-contained ones: a playlist would read other files
JOINED = (
    "flv",
    "mpeg",
    "mpegts",
)  # formats with the time of a clock, which jumps where recordings are joined
DATED_BY_DECODING = (
    "h264",
    "hevc",
)  # codecs whose frames AVI dates in the order in which they are decoded
OTHER_SUFFIXES = set(
    ".csv .doc .docx .htm .html .json .md .nfo .pdf .srt .txt .vtt .xls .xlsx .xml .zip".split()
)
COVER = av.stream.Disposition.attached_pic  # of a song
SEEK_S = 10.0  # gap before a wanted moment above which seeking beats decoding
LATE_S = 0.5  # a first frame this long after the wanted moment means that the file's index is wrong
CLOCK_JUMP_S = (
    5.0  # time without a frame above which it is a jump, where the format has the time of a clock
)
JUMP_S = 60.0  # … and elsewhere, where a frame may be on screen for long, as in a slide show,
REGULAR = 10  # unless fewer frames than this come per such gap
MARK_S = 2.0  # between places that can be sought, in such a format
TIE_S = 2e-3  # WebM rounds the timestamps of frames, and so a film's end, to milliseconds
MAX_RATE = 2_000  # frames decoded per second of a window, and a second's more
MAX_MISSES = 1_000  # packets in a row without a frame
COUNTED = 5_000  # packets by which the one with most frames is chosen of several video streams
ANIMATED = ("AVIF", "PNG", "WEBP")  # formats of pictures that can move, which FFmpeg does not read
MAX_FRAMES = 5_000  # of an animated picture
FRAME_S = 0.1  # browsers show a frame that names no duration this long
SHORT_FRAMES, SHORT_S, SHORT_TIMEOUT_S = 8, 60, 20.0  # of a reference
SHORT_LIMITS = (384, 700)  # of its frames' short and long side, in pixels: no model looks at more
MAX_ASPECT = 8  # of a pixel; another one is not believed

PQ, HLG = 16, 18  # transfer characteristics of HDR, as in ITU-T H.273
HDR_LIMITS = (1080, 3840)  # of an HDR frame, in pixels: a larger one takes a second
WHITE = 203.0  # cd/m² of paper in HDR, ITU-R BT.2408
KNEE = 0.6  # share of paper white from which highlights are compressed
TO_BT709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)  # linear RGB from BT.2020, ITU-R BT.2087
LUMA = np.array([0.2627, 0.6780, 0.0593], np.float32)  # of BT.2020

Read = Callable[
    [Limits | None], NDArray[np.uint8]
]  # (H, W, 3) RGB, shrunk to the limits if there are any
Frame = tuple[float, Read]  # when it appears, in seconds
Window = tuple[float, float | None]  # start and end in seconds; None is the file's end


@dataclass(frozen=True)
class Probe:
    """Content of a media file, by its frames and not its header."""

    kind: Literal["video", "picture"]  # a picture is one frame, whatever the file's format
    seconds: float  # duration by the timestamps of the frames; 0 for a picture
    num_frames: int
    content: str  # hash of its bytes, as `Cache.content_hash` computes it


def probe(path: Path, hashes: bool = True) -> Probe:
    """Read a file's timestamps, and decode its first frame; unless it `hashes` all of it, `content` is empty."""
    _check(path)
    with _reading(path):
        content, film = hash_file(path) if hashes else "", _opened(path)
        _, read = next(film.frames())
        read(None)
        seconds, num_frames = film.length()
    return (
        Probe("video", seconds, num_frames, content)
        if num_frames > 1
        else Probe("picture", 0.0, 1, content)
    )


def sample_frames(path: Path, num_frames: int, framing: Framing | None = None) -> NDArray[np.uint8]:
    """Sample evenly spaced moments of a whole file: (F, H, W, 3) RGB, or (F, S, S, 3) with `framing`."""
    (frames,) = sample_windows(path, [(0.0, None)], num_frames, framing)
    if isinstance(frames, str):
        raise MediaError(frames)
    return frames


def sample_windows(
    path: Path,
    windows: Sequence[Window],
    num_frames: int,
    framing: Framing | None,
    timeouts_s: Sequence[float] | None = None,
) -> list[NDArray[np.uint8] | str]:
    """Sample evenly spaced moments of windows in one pass: per window (F, S, S, 3), or the reason why there is none.

    Args:
        windows: in order.
        framing: which moments, and what `fit` makes of each; None leaves frames unchanged.
    """
    sampled: list[NDArray[np.uint8] | str] = []
    with _reading(path):
        screen = Screen(path, framing)
        positions = framing.positions if framing else CENTRES
        for (start, end), timeout_s in zip(
            windows, timeouts_s or repeat(float("inf")), strict=timeouts_s is not None
        ):
            end = screen.length() if end is None else end
            screen.limit(timeout_s, end - start)
            moments = _moments(start, end, num_frames, positions, screen.rate)
            try:
                sampled.append(np.stack([screen.at(moment) for moment in moments]))
            except MediaError as error:
                sampled.append(str(error))
    return sampled


def sample_short_video(path: Path) -> list[NDArray[np.uint8]]:
    """Decode evenly spaced frames of a reference, a video or an animation, as (H, W, 3) RGB each."""
    with _reading(path):
        screen = Screen(path, limits=SHORT_LIMITS)
        seconds = screen.length()
        if seconds > SHORT_S:
            raise MediaError(
                f"{path.name} lasts {seconds:,.0f} s: a reference may last {SHORT_S} s. Cut it, or add a picture."
            )
        screen.limit(SHORT_TIMEOUT_S, seconds)
        return [
            screen.at(moment)
            for moment in _moments(0.0, seconds, SHORT_FRAMES, CENTRES, screen.rate)
        ]


def _moments(start: float, end: float, count: int, positions: str, rate: float) -> list[float]:
    """Choose moments as `frame_positions` chooses frames."""
    if positions == ENDS:
        last = max(start, end - 1 / rate)
        return [start + i * (last - start) / max(count - 1, 1) for i in range(count)]
    return [start + (2 * i + 1) * (end - start) / (2 * count) for i in range(count)]


class Screen:
    """The picture on screen at increasing moments of a film.

    Args:
        framing: what `fit` makes of each frame; None leaves them unchanged.
        limits: what frames are shrunk to, without a framing.
    """

    def __init__(
        self, path: Path, framing: Framing | None = None, limits: Limits | None = None
    ) -> None:
        _check(path)
        self._path, self._framing, self._limits = path, framing, limits
        self._film = _opened(path)
        self.rate = self._film.rate
        self._frames: Iterator[Frame] | None = None
        self._can_seek = True
        self._now: Frame | None = None
        self._next: Frame | None = None
        self._shown: tuple[float, NDArray[np.uint8]] | None = None
        self.limit(float("inf"), float("inf"))

    def limit(self, timeout_s: float, seconds: float) -> None:
        """Limit the time, and the frames to decode for so many seconds, from now on."""
        self._deadline_s, self._left = time.monotonic() + timeout_s, MAX_RATE * (1 + seconds)

    def length(self) -> float:
        return self._film.length()[0]

    def at(self, moment: float) -> NDArray[np.uint8]:
        """Return the frame that is on screen at a moment; the first if there is none yet, the last after the end."""
        is_far = self._can_seek and self._next is not None and moment > self._next[0] + SEEK_S
        if self._frames is None or is_far:
            self._seek(moment)
        while self._next and self._next[0] <= moment + TIE_S:
            self._advance()
        if (now := self._now or self._next) is None:
            raise MediaError(
                f"{self._path.name} has no decodable frame at {moment:.0f} s: it is truncated or damaged there."
            )
        if self._shown is None or self._shown[0] != now[0]:
            picture = now[1](self._limits)
            self._shown = now[0], picture if self._framing is None else fit(picture, self._framing)
        return self._shown[1]

    def _seek(self, moment: float) -> None:
        seek = self._can_seek and moment > SEEK_S
        self._now = self._next = self._shown = None
        self._frames = self._film.frames(moment if seek else 0.0)
        self._advance()
        if seek and (self._next is None or self._next[0] > moment + LATE_S):
            self._can_seek = False
            self._seek(moment)

    def _advance(self) -> None:
        assert self._frames is not None, "at() seeks first"
        self._left -= 1
        if time.monotonic() > self._deadline_s or self._left < 0:
            self._frames = None  # the next window starts with a seek
            raise MediaError(
                f"{self._path.name} takes too long to decode. Convert it to MP4 (H.264) or WebM."
            )
        self._now, self._next = self._next, next(self._frames, None)


class _Pictures:
    """A picture, which is on screen all the time, or the frames of an animated one."""

    rate = 1 / FRAME_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield all frames."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            for number in range(self._count(image)):
                seconds += _duration_s(image) if number else 0.0  # of the frame before
                image.seek(number)
                yield seconds, partial(shrunk, to_rgb(image))

    def length(self) -> tuple[float, int]:
        with opened_picture(self._path) as image:
            seconds, count = 0.0, self._count(image)
            for number in range(
                count if count > 1 else 0
            ):  # a still has no duration, and need not be decoded
                image.seek(number)
                image.load()
                seconds += _duration_s(image)
            return seconds, count

    def _count(self, image: Any) -> int:
        count = int(getattr(image, "n_frames", 1)) if image.format in ANIMATED else 1  # TIFF: pages
        if count > MAX_FRAMES:
            raise MediaError(
                f"{self._path.name} has {count} frames; the limit for a picture is {MAX_FRAMES}."
            )
        return count


def _duration_s(image: Any) -> float:
    return float(image.info.get("duration") or 1000 * FRAME_S) / 1000


class _Mark(NamedTuple):  # a key frame
    seconds: float
    byte: int  # in the file
    zero: float  # of the clock at that time, in its seconds


class _Clock:
    """The time of a clock that may jump: then it goes on from the last frame's end."""

    def __init__(self, jump_s: float, zero: float, end: float = 0.0) -> None:
        self._jump_s = jump_s
        self.zero, self.end = zero, end  # in seconds of the clock, and of the film

    def seconds(self, clock: float, lasts: float, jumps: bool) -> float:
        """Return when a frame appears that the clock dates, or the decoder found before others (`jumps`)."""
        if jumps or not -self._jump_s <= clock - self.zero - self.end <= self._jump_s:
            self.zero = clock - self.end
        seconds = clock - self.zero
        self.end = max(self.end, seconds + lasts)
        return seconds


class _Scan(NamedTuple):  # timestamps of a film's packets: nothing is decoded
    seconds: float  # when the last frame ends
    num_frames: int
    marks: Sequence[_Mark] | None  # None where time does not jump


_scans: dict[
    tuple[object, ...], _Scan | None
] = {}  # of the file that was opened last; None if none was needed


class Film:
    """A video file, and the stream of it that has most frames."""

    def __init__(self, path: Path) -> None:
        self._path, self._number, self._stamp = path, -1, stamp(path)
        with self.opened() as (container, stream):
            rate = float(stream.average_rate or stream.guessed_rate or 25)
            self.rate = rate if 0.1 < rate < 1000 else 25.0
            self._zero = float((stream.start_time or 0) * stream.time_base)
            self._has_clock = container.format.name in JOINED
            self._jump_s = CLOCK_JUMP_S if self._has_clock else JUMP_S
            may_jump = self._stamp not in _scans and (
                self._has_clock or _has_gaps(container, stream)
            )
        if self._stamp not in _scans:
            _scans.clear()  # the next windows are most often of the same film
            _scans[self._stamp] = self._scanned() if may_jump else None
        self._scan = _scans[self._stamp]

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield the frames in order, from a key frame before `moment` on; damaged ones are left out."""
        with self.opened() as (container, stream):
            clock = self._sought(container, stream, moment)
            last, lasts = -1 / self.rate, 1 / self.rate
            by_decoding = is_dated_by_decoding(container, stream)
            delay = None  # of the decoder, which starts with a key frame
            for frame in _decoded(container, stream):
                date = frame.pts
                if by_decoding and None not in (frame.pts, frame.dts):
                    delay = frame.dts - frame.pts if delay is None else delay
                    date = frame.dts - delay
                if date is None:
                    last += lasts
                elif clock is None:
                    last = float(date * stream.time_base) - self._zero
                else:
                    dated = float(date * stream.time_base)
                    last = clock.seconds(
                        dated, lasts, self._has_clock and dated - clock.zero < last - TIE_S
                    )
                yield last, _reader(frame, stream.sample_aspect_ratio)

    def _sought(self, container: Any, stream: Any, moment: float) -> _Clock | None:
        """Go to a key frame before a moment, and return the clock from there on, if time jumps."""
        if self._scan is None or self._scan.marks is None:
            if moment:
                container.seek(int((moment + self._zero) / stream.time_base), stream=stream)
            return None
        mark = next(
            (mark for mark in reversed(self._scan.marks) if moment and mark.seconds <= moment), None
        )
        if mark is None:
            return _Clock(self._jump_s, self._zero)
        if self._has_clock:  # so a place in the file is the only sure one
            container.seek(mark.byte, stream=stream, unsupported_byte_offset=True)
        else:
            container.seek(int((mark.seconds + mark.zero) / stream.time_base), stream=stream)
        return _Clock(self._jump_s, mark.zero, mark.seconds)

    def length(self) -> tuple[float, int]:
        """Return when the last frame ends, and their number, by the packets' timestamps."""
        self._scan = _scans[self._stamp] = self._scan or self._scanned()
        return self._scan.seconds, self._scan.num_frames

    def _scanned(self) -> _Scan:
        packets = list(self._timed())
        gaps = sum(abs(now[1] - before[1]) > self._jump_s for before, now in pairwise(packets))
        if not self._has_clock and not 0 < gaps * REGULAR <= len(packets):
            end = max((shown - self._zero + lasts for shown, _, lasts, _ in packets), default=0.0)
            return _Scan(max(0.0, end), len(packets), None)
        clock, marks = _Clock(self._jump_s, self._zero), list[_Mark]()
        before, marked = -float("inf"), -float("inf")
        for shown, decoded, lasts, byte in packets:
            lasts = (
                lasts if lasts <= self._jump_s else 1 / self.rate
            )  # of the last frame before a jump
            seconds = clock.seconds(shown, lasts, self._has_clock and decoded < before)
            before = decoded
            if byte is not None and seconds > marked + MARK_S:
                marked = seconds
                marks.append(_Mark(seconds, byte, clock.zero))
        return _Scan(clock.end, len(packets), marks)

    def _timed(self) -> Iterator[tuple[float, float, float, int | None]]:
        """Yield when frames are shown and decoded, how long they last, all by the clock, and bytes of key frames."""
        count = 0
        with self.opened() as (container, stream):
            for packet in _packets(container, stream):
                if packet.size:
                    dated = packet.dts if packet.pts is None else packet.pts
                    shown = (
                        count / self.rate + self._zero
                        if dated is None
                        else float(dated * stream.time_base)
                    )
                    decoded = shown if packet.dts is None else float(packet.dts * stream.time_base)
                    lasts = float((packet.duration or 0) * stream.time_base) or 1 / self.rate
                    yield shown, decoded, lasts, packet.pos if packet.is_keyframe else None
                    count += 1

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, Any]]:
        options = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
        try:
            container = av.open(str(self._path), options=options, metadata_errors="replace")
        except av.FFmpegError as error:
            raise _unreadable(self._path) from error
        with container:
            films = [stream for stream in container.streams.video if not stream.disposition & COVER]
            if not films and container.streams.audio:
                raise MediaError(f"{self._path.name} has sound but no pictures.")
            films = [
                stream for stream in films if stream.codec_context is not None
            ]  # None: of an unknown format
            if not films:
                raise _unreadable(self._path)
            if self._number < 0:
                self._number = _most_frames(container, films)
            film = films[self._number]
            codec = film.codec_context
            if codec.width * codec.height > MAX_PIXELS:
                raise MediaError(
                    f"The frames of {self._path.name} are too large. Export it at 1920x1080 or less."
                )
            codec.options = {"max_pixels": str(MAX_PIXELS)}  # frames may grow within the file
            codec.thread_count = 1  # each child has a file of its own
            yield container, film


def is_dated_by_decoding(container: Any, film: Any) -> bool:
    """Whether a film's packets have the times at which they are decoded, not shown."""
    return container.format.name == "avi" and film.codec_context.name in DATED_BY_DECODING


def _has_gaps(container: Any, film: Any) -> bool:
    """Whether time may jump, as far as the index tells, which is read with the header or at the first seek."""
    last = container.duration or 0  # in microseconds, like all here
    with suppress(av.FFmpegError):
        container.seek(last)
    times = [int(entry.timestamp * film.time_base * av.time_base) for entry in film.index_entries]
    return any(
        later - earlier > JUMP_S * av.time_base for earlier, later in pairwise([0, *times, last])
    )


def _most_frames(container: Any, films: Sequence[Any]) -> int:
    """Choose a stream, since stills may be streams, too; the packets are counted where the header does not."""
    counts = Counter({film.index: film.frames for film in films})
    if len(films) > 1 and not all(counts.values()):
        counts = Counter(
            each.stream_index for each in islice(_packets(container), COUNTED) if each.size
        )
    return max(range(len(films)), key=lambda number: counts[films[number].index])


def _packets(container: Any, *streams: Any) -> Iterator[Any]:
    """Yield packets up to the first that cannot be read, or an empty one that flushes the decoder."""
    try:
        yield from container.demux(*streams)
    except av.FFmpegError:
        return


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    """Yield the frames that can be decoded, unless too many packets in a row have none."""
    misses = 0
    for packet in _packets(container, stream):
        frames = []
        with suppress(av.FFmpegError):
            frames = list(packet.decode())
        misses = 0 if frames else misses + 1
        if misses > MAX_MISSES:
            return
        yield from frames


def _reader(frame: Any, aspect: Any) -> Read:
    """Return what makes RGB of a frame: at the size and in the orientation in which it is to be shown."""
    aspect = float(aspect or 1)

    def read(limits: Limits | None) -> NDArray[np.uint8]:
        is_hdr = frame.color_trc in (PQ, HLG)
        height, width = frame.height, frame.width
        if 1 / MAX_ASPECT <= aspect <= MAX_ASPECT and height * width * aspect <= MAX_PIXELS:
            width = max(1, round(width * aspect))
        if limits := limits or (HDR_LIMITS if is_hdr else None):
            height, width = shrunk_size(height, width, limits)
        size = {"height": height, "width": width, "threads": 1}
        size["interpolation"] = "AREA" if width * height < frame.width * frame.height else "BICUBIC"
        rgb = frame.to_ndarray(format="rgb48le" if is_hdr else "rgb24", **size)
        return _upright(_tone_mapped(rgb, frame.color_trc) if is_hdr else rgb, frame)

    return read


def _upright(rgb: NDArray[np.uint8], frame: Any) -> NDArray[np.uint8]:
    """Turn and mirror a picture as the matrix of its header says, to the nearest quarter turn."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is not None:
        a, b, _, c, d = np.frombuffer(bytes(matrix)[:20], np.int32).tolist()
        if abs(a) + abs(d) < abs(b) + abs(c):
            rgb, a, d = rgb.transpose(1, 0, 2), c, b
        rgb = rgb[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]
    return np.ascontiguousarray(rgb)


def _tone_mapped(rgb: NDArray[np.uint16], transfer: int) -> NDArray[np.uint8]:
    """Make an SDR picture of (H, W, 3) HDR: highlights above KNEE are compressed, hues kept."""
    signal = np.arange(1 << 16) / ((1 << 16) - 1)
    if transfer == PQ:  # SMPTE ST 2084: light in units of WHITE
        root = signal ** (1 / 78.84375)
        light = (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (
            1 / 0.1593017578125
        )
        light *= 10_000 / WHITE
    else:  # ARIB STD-B67: that of the scene's brightest
        light = np.where(
            signal <= 0.5,
            signal**2 / 3,
            (np.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12,
        )
    table: NDArray[np.float32] = light.astype(np.float32)
    picture = np.empty(rgb.shape, np.uint8)
    for top in range(0, len(rgb), 256):  # all of a large frame would take a gigabyte
        linear = table[rgb[top : top + 256]]
        if transfer == HLG:  # from the scene to a screen of 1,000 cd/m²
            linear *= 1000 / WHITE * np.maximum(linear @ LUMA, 1e-6)[..., None] ** 0.2
        brightest = np.maximum(linear.max(axis=-1, keepdims=True), 1e-6)
        over = np.maximum(brightest - KNEE, 0)
        linear *= (np.minimum(brightest, KNEE) + (1 - KNEE) * over / (over + 1 - KNEE)) / brightest
        linear = (linear @ TO_BT709.T).clip(0, 1)
        picture[top : top + 256] = (255 * linear ** (1 / 2.4)).round()
    return picture


def _opened(path: Path) -> _Pictures | Film:
    return _Pictures(path) if is_picture(path) else Film(path)


def _check(path: Path) -> None:
    if not os.path.isfile(path):  # unlike Path's, never a PermissionError
        raise MediaError(f"{path.name} does not exist. Add it again.")
    if os.path.getsize(path) == 0:
        raise MediaError(f"{path.name} is empty (0 bytes). Copy or export it again.")


def _unreadable(path: Path) -> MediaError:
    if path.suffix.lower() in PICTURE_SUFFIXES:
        return unreadable_picture(path)
    if path.suffix.lower() in OTHER_SUFFIXES:
        return MediaError(f"{path.name} is neither a video nor a picture. Leave it out.")
    return MediaError(
        f"{path.name} is not a readable video, or it is truncated. Export it as MP4 (H.264) or WebM."
    )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of libraries on damaged files into one sentence."""
    try:
        yield
    except StopIteration:
        raise MediaError(
            f"{path.name} has no decodable frame: it is truncated or damaged. Export it again."
        ) from None
    except (av.FFmpegError, MemoryError, ValueError, EOFError, OverflowError, OSError) as error:
        raise MediaError(
            f"{path.name} cannot be decoded. Convert it to MP4 (H.264) or WebM and try again."
        ) from error
