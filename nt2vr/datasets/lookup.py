"""Looks up the videos and pictures of a folder by names as people write them.

A name is a path, an address or an id. It is tried as a path from the folder of the file that names
it and from the dataset's folder, then by its longest matching tail, then by its last part alone.
Letter case, Unicode form and slashes do not matter; a suffix may be missing or another. A name that
fits several files equally well is unclear.
"""

import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from nt2vr.errors import listed
from nt2vr.media.picture import PICTURE_SUFFIXES

VIDEO_SUFFIXES = frozenset(
    ".3g2 .3gp .3gpp .asf .avi .divx .f4v .flv .gif .m2t .m2ts .m4v .mk3d .mkv .mov .mp4 .mpe .mpeg .mpg .mts .ogm "
    ".ogv .qt .ts .vob .webm .wmv".split()
)
MEDIA_SUFFIXES = VIDEO_SUFFIXES | PICTURE_SUFFIXES
# What Label Studio adds to the names of uploaded files: "0a1b2c3d-red.png", formerly
# "red_ZoqW18z.png".
UPLOADED = re.compile(r"[0-9a-f]{8}-(?P<new>.+)|(?P<old>.+)_[A-Za-z0-9]{7}(?P<suffix>\.\w+)")
# Files that are named in a reason.
NAMED_CANDIDATES = 3


class MediaName(NamedTuple):
    """How annotations name a file.

    Attributes:
        folder: of the annotations, relative to the dataset's folder; its files come first.
        alias: a second name that the file may have.
    """

    name: str
    folder: str = ""
    alias: str = ""


class FileMatch(NamedTuple):
    """The files that fit a name best: none, one, or several that fit equally well.

    Attributes:
        is_complete: whether every part of the name fits, its folders and its suffix included.
    """

    files: tuple[str, ...] = ()
    is_complete: bool = False


class Located(NamedTuple):
    """The files of videos.

    Attributes:
        files: paths relative to the folder, with "/", by video id.
        unclear: why other videos have no file although some fit their names, by video id.
    """

    files: dict[str, str]
    unclear: dict[str, str]


class MediaLookup:
    """The videos and pictures of a folder, by path, by name, and by name without suffix."""

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        """Index paths relative to the folder, with "/"; those of other files are left out."""
        self.folder = folder
        self._root = f"{folder.as_posix()}/"
        self.files: list[str] = []
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            suffix = suffix_of(path)
            if suffix in MEDIA_SUFFIXES:
                name = fold(path.rpartition("/")[2])
                self.files.append(path)
                self._by_name[name].append(path)
                self._by_stem[name.removesuffix(suffix)].append(path)
        self._paths = frozenset(self.files)

    @property
    def stems(self) -> list[str]:
        """The names of all files without folders and suffix, each once."""
        return list(dict.fromkeys(map(stem, self.files)))

    def find(self, name: str, folder: str = "") -> FileMatch:
        """Return the files that fit a name best, and of equals those in or below a folder."""
        # By far the most frequent case.
        if not folder and name in self._paths:
            return FileMatch((name,), is_complete=True)
        relative = "/".join(self._parts(name))
        for path in (f"{folder}/{relative}", relative):
            if path in self._paths:
                return FileMatch((path,), is_complete=True)

        last_part = relative.rpartition("/")[2]
        file_name = fold(last_part)
        short_name = stem(file_name)
        candidates = self._by_name.get(file_name) or self._by_stem.get(short_name)
        if candidates:
            suffix_fits = file_name in self._by_name or file_name == short_name
            return self._best(candidates, relative, folder, suffix_fits)

        uploaded = UPLOADED.fullmatch(last_part)
        if uploaded:
            original = uploaded["new"] or uploaded["old"] + uploaded["suffix"]
            return self.find(original, folder)._replace(is_complete=False)
        return FileMatch()

    def locate(self, names: Mapping[str, MediaName]) -> Located:
        """Find the file of each video.

        A file that fits several names only in part belongs to none of them.
        """
        matches = {video_id: self._first_match(name) for video_id, name in names.items()}
        # The folded names that claim a file.
        claims = defaultdict(set)
        for video_id, match in matches.items():
            if len(match.files) == 1:
                claims[match.files[0]].add(fold(names[video_id].name))

        located = Located({}, {})
        for video_id, (files, is_complete) in matches.items():
            if not files:
                continue
            file = files[0]
            if len(files) > 1:
                located.unclear[video_id] = f"it may be {_alternatives(files)}"
            elif is_complete or len(claims[file]) == 1:
                located.files[video_id] = file
            else:
                located.unclear[video_id] = f"{file} fits another name, too"
        return located

    def _parts(self, name: str) -> list[str]:
        """Split a path, perhaps one of another machine, or an address into its parts."""
        if "://" in name or "/?d=" in name:
            name = _path_of_address(name)
        path = name.replace("\\", "/").removeprefix(self._root)
        return [part for part in path.split("/") if part not in ("", ".")]

    def _first_match(self, media_name: MediaName) -> FileMatch:
        """Return the files that fit a name, or else its alias."""
        match = self.find(media_name.name, media_name.folder)
        if not match.files and media_name.alias:
            match = self.find(media_name.alias, media_name.folder)
        return match

    def _best(
        self, candidates: Sequence[str], relative: str, folder: str, suffix_fits: bool
    ) -> FileMatch:
        """Keep the candidates whose folders fit best, and of equals the preferred ones."""
        folders = fold(relative).split("/")[:-1]
        by_length = defaultdict(list)
        for path in candidates:
            by_length[_common_tail(path, folders)].append(path)
        longest = max(by_length)
        best = by_length[longest]
        if len(best) > 1:
            best = _preferred(best, lambda path: _has_tail(path, relative))
            best = _preferred(best, lambda path: path.startswith(f"{folder}/"))
            best = _preferred(best, lambda path: suffix_of(path) in VIDEO_SUFFIXES)
            best = self._without_links(best)
        return FileMatch(tuple(best), is_complete=suffix_fits and longest == len(folders))

    def _without_links(self, paths: Sequence[str]) -> list[str]:
        """Keep one of several links to the same file."""
        by_target: dict[str, str] = {}
        for path in paths:
            by_target.setdefault(os.path.realpath(self.folder / path), path)
        return list(by_target.values())


def relative_files(folder: Path) -> list[str]:
    """List the visible files in and below a folder, shallowest first; links are followed."""
    paths = []
    for subfolder, names in _walk(folder):
        relative = os.path.relpath(subfolder, folder).replace(os.sep, "/")
        prefix = f"{relative}/".removeprefix("./")
        for name in names:
            paths.append(prefix + name)
    return sorted(paths, key=lambda path: (path.count("/"), path))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the visible files in and below a folder; links are followed, cycles of them once."""
    for subfolder, names in _walk(folder):
        for name in names:
            yield Path(subfolder, name)


def _walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each visible folder with the names of its visible files."""
    visited = set()
    for subfolder, folders, names in os.walk(folder, followlinks=True):
        real_path = os.path.realpath(subfolder)
        # A cycle of links leads to a folder again.
        if real_path in visited:
            folders.clear()
            continue
        visited.add(real_path)
        folders[:] = sorted(filterfalse(_is_hidden, folders))
        yield subfolder, list(filterfalse(_is_hidden, names))


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name in lower case, with its dot; "" without one."""
    before, dot, suffix = name.rpartition(".")
    # A name such as .png is hidden, and has no suffix.
    is_hidden = not before or before.endswith("/")
    if not dot or is_hidden or "/" in suffix:
        return ""
    return f".{suffix.lower()}"


def stem(name: str) -> str:
    """Drop the folders of a file's name, and its suffix if it is that of a video or a picture."""
    last_part = name.rpartition("/")[2]
    suffix = suffix_of(last_part)
    if suffix in MEDIA_SUFFIXES:
        return last_part[: -len(suffix)]
    return last_part


def fold(name: str) -> str:
    """Return a name as it is compared, in lower case and one Unicode form."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", name).casefold()


def _path_of_address(name: str) -> str:
    """Return the path in an address of the web or of a file.

    Label Studio's are `/data/local-files/?d=folder/a.png`.
    """
    try:
        address = urlsplit(name)
    except ValueError:
        # Such as "http://[a".
        return name
    local_files = parse_qs(address.query).get("d")
    if local_files:
        return local_files[0]
    return unquote(address.path)


def _common_tail(path: str, folders: list[str]) -> int:
    """Count how many folders, from the last one back, are those of a path."""
    if not folders:
        return 0
    path_folders = fold(path).split("/")[:-1]
    backwards = [path_folders[::-1], folders[::-1]]
    return len(os.path.commonprefix(backwards))  # noqa: RUF071  of folders, not of characters


def _has_tail(path: str, tail: str) -> bool:
    """Whether a path, with or without its suffix, ends in a tail letter by letter."""
    suffix = os.path.splitext(path)[1]
    return f"/{path}".endswith((f"/{tail}", f"/{tail}{suffix}"))


def _preferred(paths: list[str], is_preferred: Callable[[str], bool]) -> list[str]:
    """Keep the preferred paths, or all if none is."""
    return list(filter(is_preferred, paths)) or paths


def _alternatives(paths: Sequence[str]) -> str:
    if len(paths) <= NAMED_CANDIDATES:
        return listed(*paths, joint="or")
    names = ", ".join(paths[:NAMED_CANDIDATES])
    num_others = len(paths) - NAMED_CANDIDATES
    return f"{names} or {num_others:,} others"


def unique_ids(names: Iterable[str]) -> dict[str, str]:
    """Return the id of each name: without folders and suffix, or all of it if not unique."""
    stems = {name: stem(name) for name in names}
    counts = Counter(stems.values())
    ids = {}
    for name, short_name in stems.items():
        # The stem of a.jpg.png is the id of a.jpg if there is an a.png, too.
        is_unique = counts[short_name] == 1 and short_name not in stems
        ids[name] = short_name if is_unique else name
    return ids
