"""Clips of a file: the whole video, or the windows of a long one."""

from pathlib import Path
from typing import Any

from nt2vr.files import parse_json
from nt2vr.library.library_file import LibraryFile
from nt2vr.library.source import Source
from nt2vr.media.gallery import Video
from nt2vr.media.video import Window

WHOLE = 1.5  # windows; a video up to this long stays whole


MAX_WINDOWS = 20_000  # per film: two days in windows of 10 s


def windows(seconds: float, num_frames: int, window_s: float) -> list[tuple[float, float]]:
    """Cut a video into windows, (start, end) in seconds; a tail shorter than half of one joins the one before it.

    Windows grow until there are no more of them than frames; 0 seconds per window keep the video
    whole.
    """
    if window_s <= 0 or seconds <= WHOLE * window_s:
        return [(0.0, seconds)]
    window_s = max(window_s, seconds / max(1, min(num_frames, MAX_WINDOWS)))
    count = max(1, int(seconds / window_s + 0.5))
    starts = [number * window_s for number in range(count)]
    return list(zip(starts, [*starts[1:], seconds], strict=True))


def window_id(file_id: str, window: Window) -> str:
    start, end = window
    return f"{file_id}@{start:.7g}-{end:.7g}"


def clips_of(file: LibraryFile, source: Source) -> list[Video]:
    """Return the clips of a file: itself, or its windows; none for a copy, or a file that cannot be used."""
    if file.state != "ready" or file.duplicate_of:
        return []
    captions, path = tuple(parse_json(file.captions)), Path(file.path)
    known: dict[str, Any] = {"content": file.content, "root": source.root}
    spans = windows(file.seconds, file.num_frames, source.window_s)
    if len(spans) > 1 and file.kind != "picture":
        if (
            source.kind == "folder"
        ):  # its captions are of the whole video, and would give windows wrong verdicts
            captions = ()
        return [
            Video(window_id(file.id, span), path, captions, None, *span, film=file.id, **known)
            for span in spans
        ]
    if file.kind == "picture" or source.kind in ("manifest", "dataset"):
        return [Video(file.id, path, captions, **known)]  # sampled as a whole, as in the papers
    return [Video(file.id, path, captions, end=file.seconds, **known)]
