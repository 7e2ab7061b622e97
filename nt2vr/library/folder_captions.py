"""Captions files in the folder of a library, whose captions go to the files that they name."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nt2vr.datasets.load import videos_of
from nt2vr.errors import Nt2vrError, reason_of
from nt2vr.library.library_file import NOTE, LibraryFile
from nt2vr.progress import Progress

CAPTIONS_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
# Of one file: a million captions take 100 MB.
MAX_BYTES = 200_000_000
# A file with this in its name is certainly meant to have captions.
CAPTIONS_WORD = "caption"


@dataclass
class FolderCaptions:
    """What the captions files of a folder say, and why some cannot be used.

    Attributes:
        of_file: the captions by path; the keys of a dictionary, so that each is there once.
    """

    of_file: dict[str, dict[str, None]] = field(default_factory=dict)
    problems: dict[Path, str] = field(default_factory=dict)


def with_folder_captions(
    files: Iterable[LibraryFile], folder: Path, progress: Progress
) -> Iterator[LibraryFile]:
    """Add the captions in the captions files at the top of a folder to its files.

    Captions files that cannot be used follow as notes.
    """
    captions = _read_folder(folder, progress)
    for file in files:
        texts = list(captions.of_file.get(file.path, ()))
        if texts and not file.reason:
            file = file._replace(captions=json.dumps(texts, ensure_ascii=False))
        yield file
    for path, reason in captions.problems.items():
        yield LibraryFile(
            id=path.name,
            path=str(path),
            reason=reason,
            kind=NOTE,
        )


def _read_folder(folder: Path, progress: Progress) -> FolderCaptions:
    captions = FolderCaptions()
    for path in sorted(folder.iterdir()):
        is_visible = not path.name.startswith(".")
        is_table = path.suffix.lower() in CAPTIONS_SUFFIXES and path.is_file()
        # As of videos, links that lead out of the folder are not followed.
        if is_visible and is_table and path.resolve().is_relative_to(folder):
            _read_file(path, captions, progress)
    return captions


def _read_file(path: Path, captions: FolderCaptions, progress: Progress) -> None:
    """Add a file's captions, or the problem if it is certainly meant to have some.

    Folders of videos also have other tables and JSON files, which are left alone.
    """
    problem = ""
    texts_by_path = {}
    try:
        if path.stat().st_size > MAX_BYTES:
            problem = "It is too large to be read with a folder; use --kind manifest."
        else:
            texts_by_path = _texts_by_path(path, progress)
            if not any(Path(name).is_file() for name in texts_by_path):
                problem = "It describes no file of this folder, so its captions are not used."
    except (Nt2vrError, OSError) as error:
        problem = f"Its captions cannot be used: {reason_of(error)}"

    if not problem:
        for name, texts in texts_by_path.items():
            captions.of_file.setdefault(name, {}).update(dict.fromkeys(texts))
    elif CAPTIONS_WORD in path.name.lower():
        captions.problems[path] = problem


def _texts_by_path(path: Path, progress: Progress) -> dict[str, tuple[str, ...]]:
    """Return the captions in a file by the paths of the videos that they describe."""
    videos = (video for video, _ in videos_of(path, progress))
    return {str(video.path): video.captions for video in videos if video.captions}
