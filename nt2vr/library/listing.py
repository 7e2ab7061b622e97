"""Files of a library's folder, manifest or dataset, listed without reading their contents."""

import os
import shlex
from collections.abc import Iterable, Iterator

from nt2vr.datasets.load import ManifestVideo, load_dataset, videos_of
from nt2vr.errors import GalleryError
from nt2vr.files import AnyPath
from nt2vr.library.folder_captions import with_folder_captions
from nt2vr.library.folder_files import OUTSIDE, walk_folder
from nt2vr.library.library_file import NOTE, LibraryFile, describe_file, is_inside
from nt2vr.library.source import Source
from nt2vr.progress import Progress, silent


def is_available(source: Source) -> bool:
    """Whether the files can be listed: an empty folder may be where a drive was mounted."""
    path = source.path
    try:
        if path.resolve() != path:
            return False
        if not path.is_dir():
            return path.is_file()
        with os.scandir(path) as entries:
            is_empty = next(entries, None) is None
        return source.kind == "uploads" or not is_empty
    except (OSError, RuntimeError):
        # Python raises a RuntimeError for a loop of links.
        return False


def move_command(name: str, path: str = "FOLDER") -> str:
    """Return the command that tells where a library's files are now."""
    return f"nt2vr library move {shlex.quote(name)} {path}"


def list_files(source: Source, progress: Progress = silent) -> Iterator[LibraryFile]:
    """List a library's files, sorted; one that cannot be used has a reason."""
    if not is_available(source):
        raise GalleryError(_unavailable_text(source))

    if source.kind == "uploads":
        yield from walk_folder(source.path, every_suffix=True)
    elif source.kind == "folder":
        files = walk_folder(source.path, every_suffix=False)
        yield from with_folder_captions(files, source.path, progress)
    elif source.kind == "manifest":
        yield from _described(videos_of(source.path, progress), source)
    else:
        yield from _dataset_files(source, progress)


def _unavailable_text(source: Source) -> str:
    state = "is empty now" if source.path.is_dir() else "is not there"
    text = f"{source.path} {state}: is its drive mounted?"
    if source.kind != "uploads":
        text += f" If it was moved: {move_command(source.name)}."
    return f"{text} What was indexed of {source.name} stays searchable."


def _dataset_files(source: Source, progress: Progress) -> Iterator[LibraryFile]:
    path: AnyPath = source.path
    if source.loader:
        path = f"{source.loader}:{source.path}"
    dataset = load_dataset(path, source.split, progress=progress)
    if dataset.remarks:
        yield LibraryFile(
            id=source.path.name,
            path=str(source.path),
            reason=" ".join(dataset.remarks),
            kind=NOTE,
        )
    yield from _described(map(ManifestVideo, dataset.videos), source)


def _described(videos: Iterable[ManifestVideo], source: Source) -> Iterator[LibraryFile]:
    for video, reason in videos:
        path = str(video.path)
        if not reason and source.within and not is_inside(path, source.within):
            reason = OUTSIDE
        yield describe_file(video.video_id, path, video.captions, reason)
