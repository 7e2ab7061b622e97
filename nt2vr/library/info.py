"""Settings and contents of a library as data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import FiniteFloat

from nt2vr.datasets.base import Split

Kind = Literal["folder", "uploads", "manifest", "dataset"]
KINDS: tuple[Kind, ...] = ("folder", "uploads", "manifest", "dataset")
WINDOW_S = 10.0  # seconds of a window by default, for folders and uploads; manifests and datasets stay whole
MIN_WINDOW_S, MAX_WINDOW_S = 1.0, 3600.0


@dataclass(frozen=True)
class Source:
    """Settings of a library, stored as library.json."""

    id: str
    name: str  # display name, unique among libraries
    kind: Kind
    path: Path  # a folder, a file of captions, or a dataset that `load_dataset` reads; absolute and resolved
    split: Split = "all"
    window_s: FiniteFloat = 0.0  # seconds per window of a long video; 0 keeps videos whole
    within: Path | None = None  # folder that every file must lie in after links are followed; None is anywhere
    loader: str = ""  # kind of dataset, as in "KIND:PATH"; empty infers it

    @property
    def key(self) -> str:
        """The `key` of its gallery."""
        return f"library-{self.id}"

    @property
    def root(self) -> Path | None:
        """The folder that its files must lie in after links are followed; None is anywhere."""
        if self.kind in ("folder", "uploads"):
            return self.path
        return self.path.parent if self.kind == "manifest" else self.within


@dataclass(frozen=True)
class LibraryInfo:
    """Summary of a library for listing."""

    source: Source
    num_files: int = 0  # usable files; duplicates in folders count once
    num_clips: int = 0
    num_skipped: int = 0  # files and windows that cannot be used, without duplicates
    seconds: float = 0.0
    available: bool = True  # whether its folder or file is there now; what was indexed stays searchable without it
    has_captions: bool = False
    num_copies: int = 0  # files with the same content as another

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def name(self) -> str:
        return self.source.name

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for the page and for JSON."""
        source = {name: getattr(self.source, name) for name in ("id", "name", "kind", "path", "split", "window_s")}
        counts = {name: value for name, value in vars(self).items() if name != "source"}
        return {**source, "path": str(self.source.path), **counts}


@dataclass(frozen=True)
class Skipped:
    """A file or window that is not in the gallery."""

    id: str
    reason: str
    duplicate_of: str = ""  # id of an earlier file with the same content, where that is the reason


@dataclass(frozen=True)
class Changes:
    """Ids of the files that differ from the inventory."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # files of another size or modification time
    renamed: dict[str, str] = field(default_factory=dict)  # old id to new id
    removed: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()  # those of the new that have the same content as another, once they have been read

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """The files by what became of them, in words to put after their number."""
        found = {
            f"new{copies_text(len(self.copies))}": self.new,
            "changed": self.changed,
            "renamed": tuple(f"{old} → {new}" for old, new in self.renamed.items()),
            "removed": self.removed,
        }
        return {words: files for words, files in found.items() if files}

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.renamed or self.removed)


def copies_text(copies: int) -> str:
    """Say how many of some files are copies, to put after their number; empty if none is."""
    return f", {copies:,} of them {'a copy' if copies == 1 else 'copies'}" if copies else ""
