"""Settings of a library, and its summary for lists."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import FiniteFloat

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError
from nt2vr.registry import pick

Kind = Literal["folder", "uploads", "manifest", "dataset"]
# Seconds per window of long videos in folders and uploads, unless somebody chooses another number.
WINDOW_S = 10.0
MIN_WINDOW_S = 1.0
MAX_WINDOW_S = 3600.0


@dataclass(frozen=True)
class Source:
    """Settings of a library, stored as library.json.

    Attributes:
        name: display name, unique among libraries.
        path: a folder, a file of captions, or a dataset that `load_dataset` reads; absolute and
            resolved.
        window_s: seconds per window of a long video; 0 keeps videos whole.
        within: folder that every file of a manifest or dataset must lie in after links are
            followed; None is anywhere.
        loader: kind of dataset, as in "KIND:PATH"; empty infers it.
    """

    id: str
    name: str
    kind: Kind
    path: Path
    split: Split = "all"
    window_s: FiniteFloat = 0.0
    within: Path | None = None
    loader: str = ""

    def __post_init__(self) -> None:
        pick("kind of library", self.kind, dict.fromkeys(get_args(Kind)))
        if self.window_s and not MIN_WINDOW_S <= self.window_s <= MAX_WINDOW_S:
            choices = f"{MIN_WINDOW_S:g} to {MAX_WINDOW_S:g}"
            raise ConfigError(f"Windows of {self.window_s} s cannot be made. Choose {choices}.")

    @property
    def key(self) -> str:
        """The `key` of its gallery."""
        return f"library-{self.id}"

    @property
    def base(self) -> Path:
        """The folder that stored paths are relative to, so that they hold wherever it is moved."""
        if self.kind == "manifest":
            return self.path.parent
        return self.path

    @property
    def root(self) -> Path | None:
        """The folder that its files must lie in after links are followed; None is anywhere."""
        return self.within if self.kind == "dataset" else self.base


@dataclass(frozen=True)
class LibraryInfo:
    """Summary of a library for lists.

    Attributes:
        num_files: usable files; duplicates in folders count once.
        num_skipped: files and windows that cannot be used, without duplicates.
        available: whether its folder or file exists now; without it, indexed clips stay searchable.
        num_copies: files with the same content as another.
    """

    source: Source
    num_files: int = 0
    num_clips: int = 0
    num_skipped: int = 0
    seconds: float = 0.0
    available: bool = True
    has_captions: bool = False
    num_copies: int = 0

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def name(self) -> str:
        return self.source.name

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for the page and for JSON."""
        source = self.source
        counts = {name: value for name, value in vars(self).items() if name != "source"}
        return {
            "id": source.id,
            "name": source.name,
            "kind": source.kind,
            "path": str(source.path),
            "split": source.split,
            "window_s": source.window_s,
            **counts,
        }


@dataclass(frozen=True)
class Skipped:
    """A file or window that is not in the gallery.

    Attributes:
        duplicate_of: id of an earlier file with the same content, if that is the reason.
    """

    id: str
    reason: str
    duplicate_of: str = ""
