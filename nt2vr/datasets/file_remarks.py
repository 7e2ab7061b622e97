"""Remarks on likely mistakes in a dataset, and the refusal of one without files."""

import os
from collections.abc import Iterable, Sequence

from nt2vr.datasets.base import first_few, such_as
from nt2vr.datasets.described import DescribedVideos
from nt2vr.datasets.files import Files
from nt2vr.datasets.lookup import Located
from nt2vr.errors import DatasetError

# Videos whose reason is in a remark.
NAMED_UNCLEAR = 3


def check_has_files(name: str, described: DescribedVideos, located: Located, files: Files) -> None:
    """Refuse annotations of which no video has a file."""
    if located.files:
        return
    if located.unclear:
        video_id, reason = next(iter(located.unclear.items()))
        raise DatasetError(
            f"No video that {name} describes can be tied to one file ({video_id}: {reason}). "
            "Write the files' folders and suffixes, too."
        )
    file_names = such_as(_names(files.media.files)) or "none"
    raise DatasetError(
        f"None of the {len(described)} videos that {name} describes ({such_as(list(described))}) "
        f"has a file under {files.folder}; the files there: {file_names}. "
        "Put the videos there, named by their ids."
    )


def missing_remarks(described: DescribedVideos, located: Located, files: Files) -> list[str]:
    """Report captions without a file, and those that may be of several."""
    remarks = []
    matched = {*located.files, *located.unclear}
    missing = [video_id for video_id in described if video_id not in matched]
    if missing:
        count = f"{len(missing)} of {len(described)} described videos"
        remarks.append(_left_out(f"{count} have no file under {files.folder}", missing))
    return remarks + unclear_remark(located, len(described), "described videos")


def unclear_remark(located: Located, count: int, noun: str) -> list[str]:
    """Report the names that cannot be tied to one file; return nothing if there are none."""
    if not located.unclear:
        return []
    reasons = [f"{name}: {reason}" for name, reason in located.unclear.items()]
    text = first_few(reasons, NAMED_UNCLEAR, separator="; ")
    return [
        f"{len(reasons)} of {count} {noun} cannot be tied to one file ({text}); they are left out."
    ]


def further_remarks(described: DescribedVideos, located: Located, files: Files) -> list[str]:
    """Report videos without captions, and files that nothing describes."""
    remarks = []
    uncaptioned = [video_id for video_id, video in described.items() if not any(video.texts())]
    if uncaptioned:
        count = f"{len(uncaptioned)} of {len(described)} videos have no caption"
        remarks.append(_left_out(count, uncaptioned))

    used = {located.files[video_id] for video_id in described}
    undescribed = _undescribed_files(files, used)
    if undescribed:
        count = f"{len(undescribed)} files under {files.folder} are not described"
        remarks.append(_left_out(count, _names(undescribed)))
    return remarks


def _undescribed_files(files: Files, used: set[str]) -> list[str]:
    """List the files that nothing describes, with a suffix of those that are described."""
    suffixes = {os.path.splitext(path)[1] for path in used}
    undescribed = []
    for path in files.media.files:
        if path not in used and os.path.splitext(path)[1] in suffixes:
            undescribed.append(path)
    if not undescribed:
        return []

    links = [files.folder / path for path in used if os.path.islink(files.folder / path)]
    targets = set(map(os.path.realpath, links))
    return [path for path in undescribed if os.path.realpath(files.folder / path) not in targets]


def _names(paths: Iterable[str]) -> list[str]:
    return [path.rpartition("/")[2] for path in paths]


def _left_out(count: str, names: Sequence[str]) -> str:
    return f"{count} ({such_as(names)}); they are left out."
