"""Captions files in the folder of a library, whose captions go to the files that they name."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
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


def with_folder_captions(
    files: Iterable[LibraryFile], folder: Path, progress: Progress
) -> Iterator[LibraryFile]:
    """Add the captions in the captions files at the top of a folder to its files.

    Captions files that cannot be used follow as notes.
    """
    # The keys of a dictionary, so that each caption is there once.
    captions = defaultdict[str, dict[str, None]](dict)
    notes = []
    for path in _captions_files(folder):
        texts_by_path = _read_file(path, progress)
        if not isinstance(texts_by_path, str):
            for name, texts in texts_by_path.items():
                captions[name].update(dict.fromkeys(texts))
        # Folders of videos also have other tables and JSON files, which are left alone.
        elif CAPTIONS_WORD in path.name.lower():
            note = LibraryFile(path.name, str(path), reason=texts_by_path, kind=NOTE)
            notes.append(note)

    for file in files:
        texts = tuple(captions.get(file.path, ()))
        if texts and not file.reason:
            file = file._replace(captions=json.dumps(texts, ensure_ascii=False))
        yield file
    yield from notes


def _captions_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        is_visible = not path.name.startswith(".")
        is_table = path.suffix.lower() in CAPTIONS_SUFFIXES and path.is_file()
        # As of videos, links that lead out of the folder are not followed.
        if is_visible and is_table and path.resolve().is_relative_to(folder):
            yield path


def _read_file(path: Path, progress: Progress) -> dict[str, tuple[str, ...]] | str:
    """Return the captions in a file by the paths that they describe, or why it has none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return "It is too large to be read with a folder; use --kind manifest."
        videos = (video for video, _ in videos_of(path, progress))
        texts = {str(video.path): video.captions for video in videos if video.captions}
        if any(Path(name).is_file() for name in texts):
            return texts
    except (Nt2vrError, OSError) as error:
        return f"Its captions cannot be used: {reason_of(error)}"
    return "It describes no file of this folder, so its captions are not used."
