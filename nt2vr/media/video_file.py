"""A video file: its frames and their times, which go on where recordings were joined."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import MediaError
from nt2vr.files import stamp
from nt2vr.media.animation import Frame
from nt2vr.media.frame_rgb import read_frame
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.picture_file import MAX_PIXELS, unreadable_picture

# Self-contained formats: a playlist would read other files.
FORMATS = "asf,avi,flv,gif,matroska,mov,mpeg,mpegts,ogg"
# Formats with the time of a clock, which jumps where recordings are joined.
JOINED = ("flv", "mpeg", "mpegts")
# Codecs whose frames AVI dates in the order in which they are decoded.
DATED_BY_DECODING = ("h264", "hevc")
OTHER_SUFFIXES = set(
    ".csv .doc .docx .htm .html .json .md .nfo .pdf .srt .txt .vtt .xls .xlsx .xml .zip".split()
)
# A longer time without a frame is a jump, in formats with the time of a clock.
CLOCK_JUMP_S = 5.0
# In others, a frame may be on screen for long, as in a slide show. A longer time is a jump there,
# unless fewer frames than REGULAR come per such gap.
JUMP_S = 60.0
REGULAR = 10
# Seconds between marks that can be sought, in a video whose time jumps.
MARK_S = 2.0
# WebM rounds the timestamps of frames, and so a video's end, to milliseconds.
TIE_S = 2e-3
# Packets in a row without a frame.
MAX_MISSES = 1_000
# Of several video streams, the one with most frames among so many packets is read.
COUNTED = 5_000


class _Mark(NamedTuple):
    """A key frame to which a video can be sought.

    Attributes:
        byte: where it is in the file.
        zero_s: seconds of the clock at the start of its recording's time.
    """

    seconds: float
    byte: int
    zero_s: float


class _Clock:
    """Turns the times of a clock into those of a video, which go on where the clock jumps.

    After a jump, a frame appears when the last one ends.

    Attributes:
        zero_s: seconds of the clock when the video's time was 0.
        end_s: when the last frame ends, in seconds of the video.
    """

    def __init__(self, jump_s: float, zero_s: float, end_s: float = 0.0) -> None:
        self.zero_s = zero_s
        self.end_s = end_s
        self._jump_s = jump_s

    def seconds(self, clock_s: float, duration_s: float, has_jumped: bool) -> float:
        """Return when a frame appears.

        Args:
            clock_s: time of the frame by the clock.
            has_jumped: whether the clock is known to have jumped before this frame.
        """
        difference_s = clock_s - self.zero_s - self.end_s
        if has_jumped or not -self._jump_s <= difference_s <= self._jump_s:
            self.zero_s = clock_s - self.end_s
        seconds = clock_s - self.zero_s
        self.end_s = max(self.end_s, seconds + duration_s)
        return seconds


class _Packet(NamedTuple):
    """When a packet's frame is shown and decoded, by the clock.

    Attributes:
        key_byte: where it is in the file if it is a key frame.
    """

    shown_s: float
    decoded_s: float
    duration_s: float
    key_byte: int | None


class _Scan(NamedTuple):
    """What the timestamps of a video's packets say; nothing is decoded for it.

    Attributes:
        seconds: when the last frame ends.
        marks: None if time does not jump.
    """

    seconds: float
    num_frames: int
    marks: Sequence[_Mark] | None


# The scan of the file that was opened last, by its stamp; None if none was needed.
_scans: dict[tuple[object, ...], _Scan | None] = {}


class VideoFile:
    """A video file, and the stream of it that has most frames."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = stamp(path)
        self._stream_number = -1
        is_scanned = self._stamp in _scans
        with self.opened() as (container, stream):
            rate = float(stream.average_rate or stream.guessed_rate or 25)
            self.rate = rate if 0.1 < rate < 1000 else 25.0
            self._zero_s = float((stream.start_time or 0) * stream.time_base)
            self._has_clock = container.format.name in JOINED
            self._jump_s = CLOCK_JUMP_S if self._has_clock else JUMP_S
            may_jump = not is_scanned and (self._has_clock or _has_gaps(container, stream))
        if not is_scanned:
            # The next windows are most often of the same video.
            _scans.clear()
            _scans[self._stamp] = self._scan_packets() if may_jump else None
        self._scan = _scans[self._stamp]

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield the frames in order, from a key frame before `moment` on, without damaged ones."""
        frame_s = 1 / self.rate
        seconds = -frame_s
        with self.opened() as (container, stream):
            clock = self._seek(container, stream, moment)
            for frame, timestamp in _dated_frames(container, stream):
                if timestamp is None:
                    seconds += frame_s
                else:
                    clock_s = float(timestamp * stream.time_base)
                    is_earlier = clock_s - clock.zero_s < seconds - TIE_S
                    seconds = clock.seconds(clock_s, frame_s, self._has_clock and is_earlier)
                # It is None if unknown.
                aspect = float(stream.sample_aspect_ratio or 1)
                yield seconds, partial(read_frame, frame, aspect)

    def _seek(self, container: Any, stream: Any, moment: float) -> _Clock:
        """Go to a key frame before a moment, and return the clock from there on."""
        if self._scan is None or self._scan.marks is None:
            if moment:
                container.seek(int((moment + self._zero_s) / stream.time_base), stream=stream)
            # Time does not jump.
            return _Clock(inf, self._zero_s)

        mark = _mark_before(moment, self._scan.marks)
        if mark is None:
            return _Clock(self._jump_s, self._zero_s)
        if self._has_clock:
            # The same time may be there twice, so only the byte is sure.
            container.seek(mark.byte, stream=stream, unsupported_byte_offset=True)
        else:
            container.seek(int((mark.seconds + mark.zero_s) / stream.time_base), stream=stream)
        return _Clock(self._jump_s, mark.zero_s, mark.seconds)

    def length(self) -> tuple[float, int]:
        """Return when the last frame ends, and the number of frames, by the packets' timestamps."""
        if self._scan is None:
            self._scan = self._scan_packets()
            _scans[self._stamp] = self._scan
        return self._scan.seconds, self._scan.num_frames

    def _scan_packets(self) -> _Scan:
        packets = list(self._packets())
        if self._has_clock or self._has_jumps(packets):
            return self._scan_jumps(packets)
        ends_s = [packet.shown_s - self._zero_s + packet.duration_s for packet in packets]
        return _Scan(max(0.0, max(ends_s, default=0.0)), len(packets), marks=None)

    def _has_jumps(self, packets: Sequence[_Packet]) -> bool:
        # In a slide show, a long gap is the rule; a joint of recordings is an exception.
        num_gaps = 0
        for before, packet in pairwise(packets):
            if abs(packet.decoded_s - before.decoded_s) > self._jump_s:
                num_gaps += 1
        return 0 < num_gaps * REGULAR <= len(packets)

    def _scan_jumps(self, packets: Sequence[_Packet]) -> _Scan:
        """Date packets by a clock that goes on where it jumps, and mark key frames."""
        clock = _Clock(self._jump_s, self._zero_s)
        marks = []
        last_decoded_s = -inf
        last_mark_s = -inf
        for packet in packets:
            duration_s = packet.duration_s
            # The last frame before a jump seems to last until the frame after it.
            if duration_s > self._jump_s:
                duration_s = 1 / self.rate
            is_earlier = packet.decoded_s < last_decoded_s
            seconds = clock.seconds(packet.shown_s, duration_s, self._has_clock and is_earlier)
            last_decoded_s = packet.decoded_s

            if packet.key_byte is not None and seconds > last_mark_s + MARK_S:
                last_mark_s = seconds
                marks.append(_Mark(seconds, packet.key_byte, clock.zero_s))
        return _Scan(clock.end_s, len(packets), marks)

    def _packets(self) -> Iterator[_Packet]:
        num_packets = 0
        with self.opened() as (container, stream):
            for packet in _demuxed(container, stream):
                if not packet.size:
                    continue
                timestamp = packet.dts if packet.pts is None else packet.pts
                if timestamp is None:
                    shown_s = num_packets / self.rate + self._zero_s
                else:
                    shown_s = float(timestamp * stream.time_base)
                decoded_s = shown_s
                if packet.dts is not None:
                    decoded_s = float(packet.dts * stream.time_base)
                yield _Packet(
                    shown_s=shown_s,
                    decoded_s=decoded_s,
                    duration_s=float((packet.duration or 0) * stream.time_base) or 1 / self.rate,
                    key_byte=packet.pos if packet.is_keyframe else None,
                )
                num_packets += 1

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, Any]]:
        """Open the file, and yield PyAV's container and the stream."""
        import av  # noqa: PLC0415  17 MB that only children need

        options = {"format_whitelist": FORMATS, "protocol_whitelist": "file"}
        try:
            container = av.open(str(self._path), options=options, metadata_errors="replace")
        except av.FFmpegError as error:
            raise _unreadable(self._path) from error
        with container:
            stream = self._choose_stream(container)
            codec = stream.codec_context
            if codec.width * codec.height > MAX_PIXELS:
                raise MediaError(
                    f"The frames of {self._path.name} are too large. Export it at 1920x1080 or less."
                )
            # Frames may grow within the file.
            codec.options = {"max_pixels": str(MAX_PIXELS)}
            # Each child has a file of its own.
            codec.thread_count = 1
            yield container, stream

    def _choose_stream(self, container: Any) -> Any:
        import av  # noqa: PLC0415  17 MB that only children need

        # The picture on the cover of a song is no video.
        cover = av.stream.Disposition.attached_pic
        streams = [stream for stream in container.streams.video if not stream.disposition & cover]
        if not streams and container.streams.audio:
            raise MediaError(f"{self._path.name} has sound but no pictures.")
        # A stream of an unknown format has no codec.
        streams = [stream for stream in streams if stream.codec_context is not None]
        if not streams:
            raise _unreadable(self._path)
        if self._stream_number < 0:
            self._stream_number = _most_frames(container, streams)
        return streams[self._stream_number]


def is_dated_by_decoding(container: Any, stream: Any) -> bool:
    """Whether packets have the times at which they are decoded, not shown."""
    return container.format.name == "avi" and stream.codec_context.name in DATED_BY_DECODING


def _has_gaps(container: Any, stream: Any) -> bool:
    """Whether time may jump, by the index, which is read with the header or at the first seek."""
    import av  # noqa: PLC0415  17 MB that only children need

    # PyAV's durations and times to seek to are in microseconds.
    end = container.duration or 0
    with suppress(av.FFmpegError):
        container.seek(end)
    times = [0]
    for entry in stream.index_entries:
        times.append(int(entry.timestamp * stream.time_base * av.time_base))
    times.append(end)
    return any(later - earlier > JUMP_S * av.time_base for earlier, later in pairwise(times))


def _most_frames(container: Any, streams: Sequence[Any]) -> int:
    """Return the number of the stream with most frames, since stills may be streams, too."""
    counts = Counter({stream.index: stream.frames for stream in streams})
    # Without numbers in the header, the packets are counted.
    if len(streams) > 1 and not all(counts.values()):
        packets = islice(_demuxed(container), COUNTED)
        counts = Counter(packet.stream_index for packet in packets if packet.size)
    return max(range(len(streams)), key=lambda number: counts[streams[number].index])


def _mark_before(moment: float, marks: Sequence[_Mark]) -> _Mark | None:
    if not moment:
        return None
    for mark in reversed(marks):
        if mark.seconds <= moment:
            return mark
    return None


def _demuxed(container: Any, *streams: Any) -> Iterator[Any]:
    """Yield packets up to the first that cannot be read; an empty one flushes the decoder."""
    import av  # noqa: PLC0415  17 MB that only children need

    try:
        yield from container.demux(*streams)
    except av.FFmpegError:
        return


def _dated_frames(container: Any, stream: Any) -> Iterator[tuple[Any, int | None]]:
    """Yield frames with their timestamps, in units of the stream; None if there is none."""
    by_decoding = is_dated_by_decoding(container, stream)
    # The decoder starts with a key frame, whose delay is that of all frames.
    delay = None
    for frame in _decoded(container, stream):
        timestamp = frame.pts
        if by_decoding and None not in (frame.pts, frame.dts):
            if delay is None:
                delay = frame.dts - frame.pts
            timestamp = frame.dts - delay
        yield frame, timestamp


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    """Yield the frames that can be decoded, unless too many packets in a row have none."""
    import av  # noqa: PLC0415  17 MB that only children need

    misses = 0
    for packet in _demuxed(container, stream):
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
