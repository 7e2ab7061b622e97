"""Settings and contents of a library as data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nt2vr.datasets.base import Split

Kind = Literal["folder", "uploads", "manifest", "dataset"]
KINDS: tuple[Kind, ...] = ("folder", "uploads", "manifest", "dataset")


@dataclass(frozen=True)
class Source:
    """What a library is made from; stored as library.json.

    Attributes:
        id: name of its folder; never changes.
        name: display name, unique among libraries.
        kind: what `path` is.
        path: a folder, a JSONL or CSV manifest, or a dataset that `load_dataset` reads; absolute and resolved.
        split: part of a dataset.
        window_s: seconds per window of a long video; 0 keeps videos whole.
        within: folder that every file must lie in after links are followed; None is anywhere.
        loader: kind of dataset, as in "KIND:PATH"; empty infers it.
    """

    id: str
    name: str
    kind: Kind
    path: Path
    split: Split = "all"
    window_s: float = 0.0
    within: Path | None = None
    loader: str = ""

    @property
    def key(self) -> str:
        """The `key` of its gallery."""
        return f"library-{self.id}"


@dataclass(frozen=True)
class LibraryInfo:
    """A library as it is listed.

    Attributes:
        source: what it is made from.
        num_files: usable files; duplicates in folders count once.
        num_clips: clips, including windows.
        num_skipped: files and windows that cannot be used, without duplicates.
        seconds: total duration of its videos.
        available: whether its folder or file is there now; what was indexed stays searchable without it.
        has_captions: whether any clip has a caption.
    """

    source: Source
    num_files: int = 0
    num_clips: int = 0
    num_skipped: int = 0
    seconds: float = 0.0
    available: bool = True
    has_captions: bool = False

    @property
    def id(self) -> str:
        """Name of its folder."""
        return self.source.id

    @property
    def name(self) -> str:
        """Display name."""
        return self.source.name

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for the page and for JSON."""
        source = self.source
        return {
            "id": source.id,
            "name": source.name,
            "kind": source.kind,
            "path": str(source.path),
            "split": source.split,
            "window_s": source.window_s,
            "num_files": self.num_files,
            "num_clips": self.num_clips,
            "num_skipped": self.num_skipped,
            "seconds": self.seconds,
            "available": self.available,
            "has_captions": self.has_captions,
        }


@dataclass(frozen=True)
class Skipped:
    """A file or window that is not in the gallery.

    Attributes:
        id: of the file or window.
        reason: one sentence.
        duplicate_of: id of an earlier file with the same content, where that is the reason.
    """

    id: str
    reason: str
    duplicate_of: str = ""


@dataclass(frozen=True)
class Changes:
    """How files differ from what a library knows; ids of files.

    Attributes:
        new: files it does not know.
        changed: files of another size or modification time.
        renamed: old id to new id.
        removed: files that are gone.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.new or self.changed or self.renamed or self.removed)
