"""Remarks on likely mistakes in a dataset, and the refusal of one without files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nt2vr.datasets.base import such_as
from nt2vr.datasets.described import (
    Described,
    _texts,
)
from nt2vr.datasets.files import Files
from nt2vr.datasets.lookup import Located
from nt2vr.errors import DatasetError

NAMED_UNCLEAR = 3  # videos whose reason is told


def _check_found(
    name: str, described: Mapping[str, Described], located: Located, files: Files
) -> None:
    """Refuse annotations of which no video has a file."""
    if located.files:
        return
    if located.unclear:
        reason = next(f"{video_id}: {reason}" for video_id, reason in located.unclear.items())
        advice = "Write the files' folders and suffixes, too."
        raise DatasetError(
            f"No video that {name} describes can be tied to one file ({reason}). {advice}"
        )
    there = such_as([path.rpartition("/")[2] for path in files.media.files]) or "none"
    lacking = (
        f"None of the {len(described)} videos that {name} describes "
        f"({such_as(list(described))}) has a file under"
    )
    advice = "Put the videos there, named by their ids."
    raise DatasetError(f"{lacking} {files.folder}; the files there: {there}. {advice}")


def _missing_remarks(
    described: Mapping[str, Described], located: Located, files: Files
) -> list[str]:
    """Report captions without a file, and those that may be of several."""
    remarks = []
    with_file = located.files | located.unclear
    missing = [video_id for video_id in described if video_id not in with_file]
    if missing:
        absent = (
            f"{len(missing)} of {len(described)} described videos have no file under {files.folder}"
        )
        remarks.append(_left_out(absent, missing))
    return remarks + unclear_remark(located, len(described), "described videos")


def unclear_remark(located: Located, count: int, what: str) -> list[str]:
    """Report names that fit several files, or a file that fits another name, too; nothing if there are none."""
    if not located.unclear:
        return []
    reasons = [f"{name}: {reason}" for name, reason in located.unclear.items()]
    more = f"; and {len(reasons) - NAMED_UNCLEAR:,} more" if len(reasons) > NAMED_UNCLEAR else ""
    shown = "; ".join(reasons[:NAMED_UNCLEAR])
    return [
        f"{len(reasons)} of {count} {what} cannot be tied to one file ({shown}{more}); they are left out."
    ]


def _further_remarks(
    described: Mapping[str, Described], located: Located, files: Files
) -> list[str]:
    """Report videos without captions, and files that nothing describes."""
    remarks = []
    silent_videos = [video_id for video_id, entry in described.items() if not any(_texts(entry))]
    if silent_videos:
        count = f"{len(silent_videos)} of {len(described)} videos have no caption"
        remarks.append(_left_out(count, silent_videos))
    used = {located.files[video_id] for video_id in described}
    suffixes = {os.path.splitext(path)[1] for path in used}
    others = [
        path
        for path in files.media.files
        if path not in used and os.path.splitext(path)[1] in suffixes
    ]
    if others:
        targets = _targets_of_links(files.folder, used)
        others = [path for path in others if os.path.realpath(files.folder / path) not in targets]
    if others:
        count = f"{len(others)} files under {files.folder} are not described"
        remarks.append(_left_out(count, [path.rpartition("/")[2] for path in others]))
    return remarks


def _targets_of_links(folder: Path, paths: Iterable[str]) -> set[str]:
    return {os.path.realpath(folder / path) for path in paths if os.path.islink(folder / path)}


def _left_out(count: str, names: Sequence[str]) -> str:
    return f"{count} ({such_as(names)}); they are left out."
