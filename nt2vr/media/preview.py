"""Poster and preview of a clip, a JPEG and a short silent VP9 WebM, which every browser plays; or a clip cut out."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import dropwhile
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.files import atomic_write, is_disk_full
from nt2vr.media.picture import write_jpeg
from nt2vr.media.resize import Limits
from nt2vr.media.video import Screen
from nt2vr.media.video_file import VideoFile, is_dated_by_decoding

LIMITS = (224, 640)  # pixels of the short and the long side
FPS = 12
MAX_SECONDS = 10.0
DISK_FULL = "The disk is full. Free some space, and update the library again."  # and so is it for all others
REORDERED_S = 1.0  # frames that are shown earlier come at most this much later
MOMENT_LIMITS, MOMENT_FPS, MOMENT_S = (720, 1280), 25, 60.0  # of a moment that is encoded anew
OPTIONS = {"crf": "40", "b": "0", "deadline": "realtime", "cpu-used": "8"}
MOMENT_OPTIONS = OPTIONS | {"crf": "30"}


def write_preview(path: Path, start: float, end: float | None, poster: Path, preview: Path) -> None:
    """Write the preview of a clip, a single frame for a picture, and the poster, of the preview's middle.

    An `end` of None is that of the file.
    """
    frames = _frames(path, start, end, LIMITS, FPS, MAX_SECONDS)
    try:
        poster.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(poster) as partial:
            write_jpeg(frames[len(frames) // 2], partial)
        with atomic_write(preview) as partial:
            write_webm(frames, partial, FPS, OPTIONS)
    except OSError as error:  # PyAV's errors are among them
        if is_disk_full(error):
            raise MediaError(DISK_FULL) from None
        raise MediaError(
            f"No preview of {path.name} can be written ({os.strerror(error.errno or 0)})."
        ) from error


def write_moment(path: Path, start: float, end: float, moment: Path) -> None:
    """Cut a clip out, with its sound, from the keyframe before `start` on, by copying its packets.

    Where that fails (an AVI's may have wrong times), it is encoded as a silent WebM.
    """
    try:
        try:
            _copy_packets(path, start, end, moment)
        except (av.FFmpegError, ValueError):
            frames = _frames(path, start, end, MOMENT_LIMITS, MOMENT_FPS, MOMENT_S)
            write_webm(frames, moment, MOMENT_FPS, MOMENT_OPTIONS)
    except OSError as error:
        raise MediaError(
            f"No moment of {path.name} can be cut out ({os.strerror(error.errno or 0)})."
        ) from error


def _copy_packets(path: Path, start: float, end: float, moment: Path) -> None:
    with VideoFile(path).opened() as (source, film), av.open(str(moment), "w") as cut:
        if is_dated_by_decoding(source, film):
            raise ValueError
        streams = [film, *source.streams.audio[:1]]
        copies = {each.index: cut.add_stream_from_template(each) for each in streams}
        begins = (source.start_time or 0) / av.time_base
        source.seek(int((start + begins) * av.time_base))
        first_s = None
        dated = (
            each for each in source.demux(streams) if each.dts is not None and each.pts is not None
        )
        for packet in dropwhile(lambda each: not (each.stream is film and each.is_keyframe), dated):
            at_s = float(packet.pts * packet.time_base)
            first_s = at_s if first_s is None else first_s
            if at_s < first_s:
                continue
            if at_s >= end + begins:  # of frames, some that are shown earlier may still come
                if (
                    packet.stream is film and packet.is_keyframe
                ) or at_s > end + begins + REORDERED_S:
                    break
                continue
            shift = int(first_s / packet.time_base)
            packet.pts, packet.dts, packet.stream = (
                packet.pts - shift,
                packet.dts - shift,
                copies[packet.stream.index],
            )
            cut.mux(packet)
        if first_s is None:
            raise ValueError


def _frames(
    path: Path, start: float, end: float | None, limits: Limits, fps: int, longest_s: float
) -> list[NDArray[np.uint8]]:
    screen = Screen(path, limits=limits)
    last = min(start + longest_s, screen.length() if end is None else end)
    count = max(1, round((last - start) * fps))
    return [screen.at(start + number / fps) for number in range(count)]


def write_webm(
    frames: Sequence[NDArray[np.uint8]] | NDArray[np.uint8],
    path: Path,
    fps: int,
    options: Mapping[str, str],
) -> None:
    """Write (F, H, W, 3) RGB frames as VP9, which all browsers play; the same frames give the same bytes."""
    with av.open(
        str(path), "w", format="webm", options={"fflags": "bitexact"}
    ) as container:  # no random id
        stream = container.add_stream("libvpx-vp9", rate=Fraction(fps))
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.options = dict(options)
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
