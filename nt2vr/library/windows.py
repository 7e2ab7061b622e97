"""Clips of a file: the file itself, or windows of a long video."""

WHOLE = 1.5  # windows; a video up to this long stays whole
MAX_WINDOWS = 20_000  # per film: two days in windows of 10 s

Window = tuple[float, float]  # start and end in seconds


def windows(seconds: float, num_frames: int, window_s: float) -> list[Window]:
    """Cut a video into windows; a tail shorter than half a window joins the one before it.

    Args:
        seconds: duration of the video.
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
    """Name a window of a file."""
    start, end = window
    return f"{file_id}@{start:.7g}-{end:.7g}"
