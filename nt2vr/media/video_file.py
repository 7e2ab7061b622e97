"""A video file: its frames and packets with their times, which go on where recordings were joined."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import av

from nt2vr.errors import MediaError
from nt2vr.files import stamp
from nt2vr.media.animation import Frame
from nt2vr.media.frame_rgb import _reader
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.picture_file import MAX_PIXELS, unreadable_picture

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


CLOCK_JUMP_S = (
    5.0  # time without a frame above which it is a jump, where the format has the time of a clock
)


JUMP_S = 60.0  # … and elsewhere, where a frame may be on screen for long, as in a slide show,


REGULAR = 10  # unless fewer frames than this come per such gap


MARK_S = 2.0  # between places that can be sought, in such a format


TIE_S = 2e-3  # WebM rounds the timestamps of frames, and so a film's end, to milliseconds


MAX_MISSES = 1_000  # packets in a row without a frame


COUNTED = 5_000  # packets by which the one with most frames is chosen of several video streams


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


class VideoFile:
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


def _unreadable(path: Path) -> MediaError:
    if path.suffix.lower() in PICTURE_SUFFIXES:
        return unreadable_picture(path)
    if path.suffix.lower() in OTHER_SUFFIXES:
        return MediaError(f"{path.name} is neither a video nor a picture. Leave it out.")
    return MediaError(
        f"{path.name} is not a readable video, or it is truncated. Export it as MP4 (H.264) or WebM."
    )
