"""Files of a library's folder, manifest or dataset, listed without reading their contents."""

import json
import os
import shlex
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from nt2vr.datasets.load import ManifestVideo, load_dataset, videos_of
from nt2vr.datasets.lookup import VIDEO_SUFFIXES
from nt2vr.errors import GalleryError, counted, reason_of
from nt2vr.library.folder_captions import with_folder_captions
from nt2vr.library.library_file import CLOSED_FOLDER, NOTE, LibraryFile, mtime_of
from nt2vr.library.source import Source
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.progress import Progress, silent

SUFFIXES = VIDEO_SUFFIXES | PICTURE_SUFFIXES | {".mp"}  # of a phone's moving picture
OUTSIDE = "It is a link that leads out of the library's folder. Copy the file into the folder."
BROKEN = "It is a broken link: the file that it names is not there."
SYSTEM_FOLDERS = {
    "system volume information"
} | set(  # of NAS systems and computers: thumbnails, what was deleted
    "@eadir @recycle @recently-snapshot @sharebin #recycle #snapshot $recycle.bin lost+found recycler".split()
)
UNREAD = frozenset(  # pictures and videos in formats that are not read
    ".3fr .264 .265 .arw .bpg .cr2 .cr3 .dng .dv .erf .exr .fits .h264 .h265 .hdr .heics .hevc .insp .insv .j2k .jp2 "
    ".jpf .jxl .livp .m2v .mjpeg .mjpg .mxf .nef .nrw .nut .orf .pef .pic .psd .raf .raw .rm .rmvb .rw2 .sr2 .srw "
    ".svg .tga .wtv .x3f .xcf .y4m".split()
)
NOT_A_FILE = "It is not a file, but a folder, pipe or device."


def is_available(source: Source) -> bool:
    """Whether the source is there: an empty folder may be where a drive was mounted."""
    try:
        if source.path.resolve() != source.path:
            return False
        if source.path.is_dir():
            with os.scandir(source.path) as entries:
                return next(entries, None) is not None or source.kind == "uploads"
        return source.path.is_file()
    except (OSError, RuntimeError):  # a loop of links
        return False


def move_command(name: str, path: str = "FOLDER") -> str:
    """Return the command that tells where a library's files are now."""
    return f"nt2vr library move {shlex.quote(name)} {path}"


def list_files(source: Source, progress: Progress = silent) -> Iterator[LibraryFile]:
    """List a library's files, sorted; one that cannot be used has a reason."""
    if not is_available(source):
        state = "is empty now" if source.path.is_dir() else "is not there"
        stays = f"What was indexed of {source.name} stays searchable."
        moved = (
            "" if source.kind == "uploads" else f" If it was moved: {move_command(source.name)}."
        )
        raise GalleryError(f"{source.path} {state}: is its drive mounted?{moved} {stays}")
    if source.kind == "uploads":
        yield from _in_folder(source.path, every_suffix=True)
        return
    if source.kind == "folder":
        yield from with_folder_captions(
            _in_folder(source.path, every_suffix=False), source.path, progress
        )
        return
    videos: Iterable[ManifestVideo]
    if source.kind == "manifest":
        videos = videos_of(source.path, progress)
    else:
        named = f"{source.loader}:{source.path}" if source.loader else source.path
        dataset = load_dataset(named, source.split, progress=progress)
        videos = map(ManifestVideo, dataset.videos)
        if dataset.remarks:
            about = source.path.name
            yield LibraryFile(about, str(source.path), reason=" ".join(dataset.remarks), kind=NOTE)
    for video, reason in videos:
        path = str(video.path)
        if source.within and not _is_inside(path, source.within):
            reason = reason or OUTSIDE
        yield _checked(video.video_id, path, video.captions, reason)


def _in_folder(root: Path, every_suffix: bool) -> Iterator[LibraryFile]:
    """Walk through a folder; links to folders are not followed, and hidden names are left out."""
    # A system's own folders, and formats that are not read, are one entry each that counts the
    # files left out.
    waiting, left_out = [""], Counter[str]()  # by name of a system's folder, or pattern of files
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as scanned:
                shown = (
                    entry
                    for entry in scanned
                    if not entry.name.startswith(".") or _is_trash(entry.name)
                )
                entries = sorted(shown, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"It cannot be opened ({error.strerror})."
            yield LibraryFile(
                _printable(folder), str(root / folder), reason=reason, kind=CLOSED_FOLDER
            )
            continue
        below = []
        for entry in entries:
            name, suffix = (
                f"{folder}/{entry.name}".lstrip("/"),
                os.path.splitext(entry.name)[1].lower(),
            )
            is_media = every_suffix or suffix in SUFFIXES
            if entry.is_symlink():
                yield from _link(root, name, entry, is_media)
            elif is_media and not entry.is_dir():
                yield _checked(name, entry.path)
            elif not entry.is_dir():
                left_out[f"*{suffix}"] += suffix in UNREAD
            elif entry.name.lower() in SYSTEM_FOLDERS or _is_trash(entry.name):
                left_out[entry.name] += sum(len(files) for _, _, files in os.walk(entry.path))
            else:
                below.append(name)
        waiting += reversed(below)
    yield from (
        _note(root, name, count)
        for name, count in sorted(left_out.items())
        if name[0] != "*" or count
    )


def _is_trash(name: str) -> bool:
    """Whether a hidden folder has deleted files, or thumbnails."""
    return name.lower().startswith((".trash", ".thumbnails"))


def _note(root: Path, name: str, count: int) -> LibraryFile:
    reason = f"A folder of the system's own, for thumbnails or deleted files: {counted(count, 'file')} left out."
    if name.startswith("*"):
        them = "it" if count == 1 else "them"
        reason = f"{counted(count, 'file')} in a format that is not read. Convert {them} to JPEG, PNG or MP4."
    return LibraryFile(_printable(name), _printable(str(root / name)), reason=reason, kind=NOTE)


def _link(
    root: Path, name: str, entry: "os.DirEntry[str]", is_media: bool
) -> Iterator[LibraryFile]:
    """Describe a link to a file; one to a folder within the library is left out, since the folder is found itself."""
    reason, is_dir = "", False
    try:
        is_dir = entry.is_dir()
        if not os.path.exists(entry.path):
            reason = BROKEN
        elif not _is_inside(entry.path, root):
            reason, is_media = OUTSIDE, is_media or is_dir
    except OSError as error:  # a loop, a name that is too long, a folder that may not be read
        reason, is_media = f"It is a link that cannot be followed ({error.strerror}).", True
    if is_media and (reason or not is_dir):
        yield _checked(name, entry.path, reason=reason)


def _checked(name: str, path: str, captions: tuple[str, ...] = (), reason: str = "") -> LibraryFile:
    """Describe a file with the one call of `stat` that its change is noticed by."""
    texts = json.dumps(captions, ensure_ascii=False)
    if reason or _printable(name + path) != name + path:
        reason = reason or "Its name is not valid Unicode. Rename it."
        return LibraryFile(_printable(name), _printable(path), texts, reason=reason)
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        return LibraryFile(name, path, texts, reason=f"It cannot be opened ({reason_of(error)}).")
    reason = "" if stat.S_ISREG(status.st_mode) else NOT_A_FILE
    return LibraryFile(name, path, texts, status.st_size, mtime_of(status), reason=reason)


def _is_inside(path: str, folder: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(folder)
    except (OSError, ValueError):
        return False


def _printable(name: str) -> str:
    """Escape what is not valid Unicode in a file name."""
    return name.encode("utf-8", "backslashreplace").decode()
