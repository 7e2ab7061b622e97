"""Captions files that lie in the folder of a library: their captions go to the files that they name."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nt2vr.datasets.load import videos_of
from nt2vr.errors import Nt2vrError, reason_of
from nt2vr.library.library_file import NOTE, LibraryFile
from nt2vr.progress import Progress, silent

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
MAX_BYTES = 200_000_000  # of one file: a million captions take 100 MB
NAMED = "caption"  # in the name of a file that is certainly meant to have captions


@dataclass
class FolderCaptions:
    """What the captions files of a folder say, and why some cannot be used."""

    of_file: dict[str, dict[str, None]] = field(default_factory=dict)  # captions by path, each once
    problems: dict[Path, str] = field(default_factory=dict)


def with_folder_captions(
    files: Iterable[LibraryFile], folder: Path, progress: Progress = silent
) -> Iterator[LibraryFile]:
    """Yield files with their captions from the captions files at the top of their folder, then what is wrong there."""
    captions = _read_folder(folder, progress)
    for file in files:
        texts = list(captions.of_file.get(file.path, ()))
        if texts and not file.reason:
            file = file._replace(captions=json.dumps(texts, ensure_ascii=False))
        yield file
    for path, reason in captions.problems.items():
        yield LibraryFile(path.name, str(path), reason=reason, kind=NOTE)


def _read_folder(folder: Path, progress: Progress) -> FolderCaptions:
    captions = FolderCaptions()
    for path in sorted(folder.iterdir()):
        is_visible = not path.name.startswith(".")
        is_table = path.suffix.lower() in SUFFIXES and path.is_file()
        # As of videos, links that lead out of the folder are not followed.
        if is_visible and is_table and path.resolve().is_relative_to(folder):
            _read_file(path, captions, progress)
    return captions


def _read_file(path: Path, captions: FolderCaptions, progress: Progress) -> None:
    """Add a file's captions; other tables and JSON files, which folders of videos have too, are left alone."""
    reason = ""
    described = {}
    try:
        if path.stat().st_size > MAX_BYTES:
            reason = "It is too large to be read with a folder; use --kind manifest."
        else:
            videos = [each.video for each in videos_of(path, progress)]
            described = {str(video.path): video.captions for video in videos if video.captions}
            if not any(Path(name).is_file() for name in described):
                reason = "It describes no file of this folder, so its captions are not used."
    except (Nt2vrError, OSError) as error:
        reason = f"Its captions cannot be used: {reason_of(error)}"

    if not reason:
        for name, texts in described.items():
            captions.of_file.setdefault(name, {}).update(dict.fromkeys(texts))
    elif NAMED in path.name.lower():
        captions.problems[path] = reason
