"""Clips of a file: the file itself, or windows of a long video."""

from pathlib import Path
from typing import Any

from nt2vr.library.info import Source
from nt2vr.library.inventory import LibraryFile
from nt2vr.media.gallery import Video

WHOLE = 1.5  # windows; a video up to this long stays whole
MAX_WINDOWS = 20_000  # per film: two days in windows of 10 s

Window = tuple[float, float]  # start and end in seconds


def windows(seconds: float, num_frames: int, window_s: float) -> list[Window]:
    """Cut a video into windows; a tail shorter than half a window joins the one before it.

    Args:
        num_frames: its frames; windows grow until there are no more windows than frames.
        window_s: seconds per window; 0 keeps the video whole.
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
    captions, path = file.texts, Path(file.path)
    known: dict[str, Any] = {"content": file.content, "root": source.root}
    spans = windows(file.seconds, file.num_frames, source.window_s)
    if file.kind == "picture" or (len(spans) == 1 and source.kind in ("manifest", "dataset")):
        return [Video(file.id, path, captions, **known)]  # sampled by frame numbers, as in the papers
    if len(spans) == 1:
        return [Video(file.id, path, captions, end=file.seconds, **known)]
    return [Video(window_id(file.id, span), path, captions, None, *span, film=file.id, **known) for span in spans]
