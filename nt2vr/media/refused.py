"""Formats that may be decoded, and errors for files that cannot be."""

from pathlib import Path

from nt2vr.errors import MediaError

FORMATS = "asf,avi,flv,gif,matroska,mov,mpeg,mpegts,ogg"  # self-contained ones: a playlist would read other files


def empty(path: Path) -> MediaError:
    """A file without contents."""
    return MediaError(f"{path.name} is empty (0 bytes). Copy or export it again.")


def unreadable(path: Path) -> MediaError:
    """A file that is no video, or of a format that is not read."""
    return MediaError(f"{path.name} is not a readable video, or it is truncated. Export it as MP4 (H.264) or WebM.")


def too_large(path: Path) -> MediaError:
    """A video with more than `MAX_PIXELS` a frame."""
    return MediaError(f"The frames of {path.name} are too large. Export it at 1920x1080 or less.")


def without_frames(path: Path) -> MediaError:
    """A video of which no frame can be decoded."""
    return MediaError(f"{path.name} has no decodable frame: it is truncated or damaged. Export it again.")


def undecodable(path: Path) -> MediaError:
    """A file at which a library failed."""
    return MediaError(f"{path.name} cannot be decoded. Convert it to MP4 (H.264) or WebM and try again.")
