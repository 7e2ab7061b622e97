"""Clips of a file: the whole video, or the windows of a long one."""

from functools import partial
from itertools import pairwise
from pathlib import Path

from nt2vr.files import parse_json
from nt2vr.library.library_file import LibraryFile
from nt2vr.library.source import Source
from nt2vr.media.gallery import Video
from nt2vr.media.video import Window

# A video that is up to this many windows long stays whole.
WHOLE = 1.5
# Of one video: two days in windows of 10 s.
MAX_WINDOWS = 20_000


def windows(seconds: float, num_frames: int, window_s: float) -> list[tuple[float, float]]:
    """Cut a video into windows, (start, end) in seconds.

    A tail shorter than half of a window joins the one before it. Windows grow until there are no
    more of them than frames; 0 seconds per window keep the video whole.
    """
    if window_s <= 0 or seconds <= WHOLE * window_s:
        return [(0.0, seconds)]

    max_windows = max(1, min(num_frames, MAX_WINDOWS))
    window_s = max(window_s, seconds / max_windows)
    num_windows = max(1, int(seconds / window_s + 0.5))
    starts = [number * window_s for number in range(num_windows)]
    return list(pairwise([*starts, seconds]))


def window_id(file_id: str, window: Window) -> str:
    start, end = window
    return f"{file_id}@{start:.7g}-{end:.7g}"


def clips_of(file: LibraryFile, source: Source) -> list[Video]:
    """Return the clips of a file; none for a copy, or a file that cannot be used."""
    if file.state != "ready" or file.duplicate_of:
        return []

    clip = partial(Video, path=Path(file.path), content=file.content, root=source.root)
    captions = tuple(parse_json(file.captions))
    if file.kind == "picture":
        return [clip(file.id, captions=captions)]

    file_windows = windows(file.seconds, file.num_frames, source.window_s)
    if len(file_windows) == 1:
        # Frames of manifests and datasets are sampled from the whole file, as in the papers.
        is_dataset = source.kind in ("manifest", "dataset")
        end = None if is_dataset else file.seconds
        return [clip(file.id, captions=captions, end=end)]

    # In a folder, captions describe the whole video, and would give windows wrong verdicts.
    if source.kind == "folder":
        captions = ()
    window_clip = partial(clip, captions=captions, long_video=file.id)
    return [
        window_clip(window_id(file.id, (start, end)), start=start, end=end)
        for start, end in file_windows
    ]
