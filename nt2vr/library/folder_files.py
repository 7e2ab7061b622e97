"""The files of a library's folder, without those that the system keeps there for itself."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nt2vr.datasets.lookup import VIDEO_SUFFIXES, suffix_of
from nt2vr.errors import counted
from nt2vr.library.library_file import (
    CLOSED_FOLDER,
    NOTE,
    LibraryFile,
    describe_file,
    escaped,
    is_inside,
)
from nt2vr.media.picture import PICTURE_SUFFIXES

# The last one is that of a phone's moving picture.
SUFFIXES = VIDEO_SUFFIXES | PICTURE_SUFFIXES | {".mp"}
# Pictures and videos in formats that are not read.
UNREAD = frozenset(
    ".3fr .264 .265 .arw .bpg .cr2 .cr3 .dng .dv .erf .exr .fits .h264 .h265 .hdr .heics .hevc .insp .insv .j2k .jp2 "
    ".jpf .jxl .livp .m2v .mjpeg .mjpg .mxf .nef .nrw .nut .orf .pef .pic .psd .raf .raw .rm .rmvb .rw2 .sr2 .srw "
    ".svg .tga .wtv .x3f .xcf .y4m".split()
)
# Thumbnails and deleted files of NAS systems and computers.
SYSTEM_FOLDERS = frozenset(
    "@eadir @recycle @recently-snapshot @sharebin #recycle #snapshot $recycle.bin lost+found recycler".split()
) | {"system volume information"}
HIDDEN_SYSTEM_FOLDERS = (".trash", ".thumbnails")
OUTSIDE = "It is a link that leads out of the library's folder. Copy the file into the folder."
BROKEN = "It is a broken link: the file that it names is not there."


def walk_folder(root: Path, every_suffix: bool) -> Iterator[LibraryFile]:
    """List the files of a folder, then notes on what is left out.

    Links to folders are not followed, and hidden names are left out.

    Args:
        every_suffix: whether all files are listed, or only those with the suffixes of media.
    """
    return _Walk(root, every_suffix).files()


class _Walk:
    """One walk through a folder, which counts the files that it leaves out."""

    def __init__(self, root: Path, every_suffix: bool) -> None:
        self._root = root
        self._every_suffix = every_suffix
        # Counts by the name of a system's folder, or by the pattern of a format that is not read.
        self._left_out = Counter[str]()

    def files(self) -> Iterator[LibraryFile]:
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                entries = _visible_entries(self._root / folder)
            except OSError as error:
                yield LibraryFile(
                    id=escaped(folder),
                    path=str(self._root / folder),
                    reason=f"It cannot be opened ({error.strerror}).",
                    kind=CLOSED_FOLDER,
                )
                continue

            subfolders = []
            for entry in entries:
                name = f"{folder}/{entry.name}".lstrip("/")
                if entry.is_symlink():
                    yield from self._link(name, entry)
                elif not entry.is_dir():
                    yield from self._file(name, entry)
                elif entry.name.lower() in SYSTEM_FOLDERS or _is_hidden_system_folder(entry.name):
                    self._left_out[entry.name] += sum(
                        len(files) for _, _, files in os.walk(entry.path)
                    )
                else:
                    subfolders.append(name)
            pending += reversed(subfolders)
        yield from self._notes()

    def _notes(self) -> Iterator[LibraryFile]:
        """Yield an entry for each of the system's folders, and for each format that is not read."""
        for name, count in sorted(self._left_out.items()):
            files = counted(count, "file")
            reason = (
                f"A folder of the system's own, for thumbnails or deleted files: {files} left out."
            )
            if name.startswith("*"):
                them = "it" if count == 1 else "them"
                reason = (
                    f"{files} in a format that is not read. Convert {them} to JPEG, PNG or MP4."
                )
            yield LibraryFile(
                id=escaped(name),
                path=escaped(str(self._root / name)),
                reason=reason,
                kind=NOTE,
            )

    def _file(self, name: str, entry: "os.DirEntry[str]") -> Iterator[LibraryFile]:
        if self._is_media(entry):
            yield describe_file(name, entry.path)
        elif suffix_of(entry.name) in UNREAD:
            self._left_out[f"*{suffix_of(entry.name)}"] += 1

    def _link(self, name: str, entry: "os.DirEntry[str]") -> Iterator[LibraryFile]:
        path = entry.path
        try:
            leads_to_folder = entry.is_dir()
        except OSError as error:
            # A loop, a name that is too long, or a folder that may not be read.
            reason = f"It is a link that cannot be followed ({error.strerror})."
            yield describe_file(name, path, reason=reason)
            return

        is_media = self._is_media(entry)
        if not os.path.exists(path):
            if is_media:
                yield describe_file(name, path, reason=BROKEN)
        elif not is_inside(path, self._root):
            if is_media or leads_to_folder:
                yield describe_file(name, path, reason=OUTSIDE)
        elif is_media and not leads_to_folder:
            # A folder within the library is walked through without its links.
            yield describe_file(name, path)

    def _is_media(self, entry: "os.DirEntry[str]") -> bool:
        return self._every_suffix or suffix_of(entry.name) in SUFFIXES


def _visible_entries(folder: Path) -> list["os.DirEntry[str]"]:
    """Return the entries of a folder by name, without hidden ones that are not the system's."""
    visible = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or _is_hidden_system_folder(entry.name):
                visible.append(entry)
    return sorted(visible, key=lambda entry: entry.name)


def _is_hidden_system_folder(name: str) -> bool:
    return name.lower().startswith(HIDDEN_SYSTEM_FOLDERS)
