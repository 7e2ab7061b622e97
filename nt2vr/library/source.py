"""Settings of a library, and its summary for lists."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import FiniteFloat

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError
from nt2vr.registry import pick

Kind = Literal["folder", "uploads", "manifest", "dataset"]


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
    within: Path | None = (
        None  # folder that every file must lie in after links are followed; None is anywhere
    )
    loader: str = ""  # kind of dataset, as in "KIND:PATH"; empty infers it

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
        """The folder that paths of its files are stored relative to, so that they hold wherever it is moved."""
        return self.path.parent if self.kind == "manifest" else self.path

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
        source = {
            name: getattr(self.source, name)
            for name in ("id", "name", "kind", "path", "split", "window_s")
        }
        counts = {name: value for name, value in vars(self).items() if name != "source"}
        return {**source, "path": str(self.source.path), **counts}


@dataclass(frozen=True)
class Skipped:
    """A file or window that is not in the gallery."""

    id: str
    reason: str
    duplicate_of: str = ""  # id of an earlier file with the same content, where that is the reason
