"""Poster and preview of a clip, a JPEG and a short silent WebM (VP9), or the clip cut out."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, dropwhile
from pathlib import Path
from typing import Any

from nt2vr.errors import MediaError
from nt2vr.files import atomic_write, is_disk_full
from nt2vr.media.picture import write_jpeg
from nt2vr.media.resize import Limits, Pixels
from nt2vr.media.video import Screen
from nt2vr.media.video_file import VideoFile, is_dated_by_decoding

# Pixels of the short and the long side.
LIMITS = (224, 640)
FPS = 12
MAX_SECONDS = 10.0
# If the disk is full for one preview, it is full for all others.
DISK_FULL = "The disk is full. Free some space, and update the library again."
# Frames that are shown earlier come at most this much later.
REORDERED_S = 1.0
# Of a moment that is encoded again.
MOMENT_LIMITS = (720, 1280)
MOMENT_FPS = 25
MOMENT_S = 60.0
OPTIONS = {"crf": "40", "b": "0", "deadline": "realtime", "cpu-used": "8"}
MOMENT_OPTIONS = OPTIONS | {"crf": "30"}


def write_preview(path: Path, start: float, end: float | None, poster: Path, preview: Path) -> None:
    """Write the preview of a clip, of a picture one frame, and its middle frame as the poster.

    An `end` of None is that of the file.
    """
    frames = _frames(path, start, end, limits=LIMITS, fps=FPS, longest_s=MAX_SECONDS)
    try:
        poster.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(poster) as partial:
            write_jpeg(frames[len(frames) // 2], partial)
        with atomic_write(preview) as partial:
            write_webm(frames, path=partial, fps=FPS, options=OPTIONS)
    except OSError as error:
        # PyAV's errors are among them.
        if is_disk_full(error):
            raise MediaError(DISK_FULL) from None
        raise MediaError(
            f"No preview of {path.name} can be written ({os.strerror(error.errno or 0)})."
        ) from error


def write_moment(path: Path, start: float, end: float, moment: Path) -> None:
    """Cut a clip out, with its sound, from the keyframe before `start` on, by copying its packets.

    If that fails (an AVI's may have wrong times), it is encoded as a silent WebM.
    """
    import av  # noqa: PLC0415  17 MB that only children need

    try:
        try:
            _copy_packets(path, start, end, moment)
        except (av.FFmpegError, ValueError):
            frames = _frames(
                path, start, end, limits=MOMENT_LIMITS, fps=MOMENT_FPS, longest_s=MOMENT_S
            )
            write_webm(frames, path=moment, fps=MOMENT_FPS, options=MOMENT_OPTIONS)
    except OSError as error:
        raise MediaError(
            f"No moment of {path.name} can be cut out ({os.strerror(error.errno or 0)})."
        ) from error


def _copy_packets(path: Path, start: float, end: float, moment: Path) -> None:
    """Copy a clip's packets; a ValueError says that their times are wrong or it has none."""
    import av  # noqa: PLC0415  17 MB that only children need

    with VideoFile(path).opened() as (source, stream), av.open(str(moment), "w") as output:
        if is_dated_by_decoding(source, stream):
            raise ValueError
        streams = [stream, *source.streams.audio[:1]]
        copies = {old.index: output.add_stream_from_template(old) for old in streams}
        file_start_s = (source.start_time or 0) / av.time_base
        source.seek(int((start + file_start_s) * av.time_base))

        packets = _from_keyframe(source.demux(streams), stream)
        first = next(packets, None)
        if first is None:
            raise ValueError
        first_s = _shown_s(first)
        for packet in _until(end + file_start_s, chain([first], packets), stream):
            if _shown_s(packet) < first_s:
                continue
            shift = int(first_s / packet.time_base)
            packet.pts -= shift
            packet.dts -= shift
            packet.stream = copies[packet.stream.index]
            output.mux(packet)


def _from_keyframe(packets: Iterable[Any], stream: Any) -> Iterator[Any]:
    """Return the packets that have times, from a stream's first keyframe on."""
    dated = (packet for packet in packets if None not in (packet.dts, packet.pts))
    return dropwhile(lambda packet: not _is_keyframe(packet, stream), dated)


def _until(end_s: float, packets: Iterable[Any], stream: Any) -> Iterator[Any]:
    """Yield the packets that are shown before a time."""
    for packet in packets:
        shown_s = _shown_s(packet)
        if shown_s < end_s:
            yield packet
        # Frames that are shown earlier may still come, but not after a keyframe.
        elif _is_keyframe(packet, stream) or shown_s > end_s + REORDERED_S:
            return


def _shown_s(packet: Any) -> float:
    return float(packet.pts * packet.time_base)


def _is_keyframe(packet: Any, stream: Any) -> bool:
    return packet.stream is stream and packet.is_keyframe


def _frames(
    path: Path, start: float, end: float | None, limits: Limits, fps: int, longest_s: float
) -> list[Pixels]:
    screen = Screen(path, limits=limits)
    if end is None:
        end = screen.length()
    end = min(start + longest_s, end)
    count = max(1, round((end - start) * fps))
    return [screen.at(start + number / fps) for number in range(count)]


def write_webm(
    frames: Sequence[Pixels] | Pixels,
    path: Path,
    fps: int,
    options: Mapping[str, str],
) -> None:
    """Write (F, H, W, 3) RGB frames as VP9; the same frames give the same bytes."""
    import av  # noqa: PLC0415  17 MB that only children need

    # Otherwise the file has a random id.
    container_options = {"fflags": "bitexact"}
    with av.open(str(path), "w", format="webm", options=container_options) as container:
        stream = container.add_stream("libvpx-vp9", rate=Fraction(fps))
        height, width = frames[0].shape[:2]
        stream.height = height
        stream.width = width
        stream.pix_fmt = "yuv420p"
        stream.options = dict(options)
        for frame in frames:
            video_frame = av.VideoFrame.from_ndarray(frame, format="rgb24")
            container.mux(stream.encode(video_frame))
        container.mux(stream.encode())
