"""Origins of models: what adding a model does differently for each kind of source."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress


class ModelsHere(Protocol):
    """What an origin needs of the catalog, which is passed to the child that builds the model."""

    @property
    def home(self) -> Path:
        """The folder of the models that are added."""

    def names(self) -> list[str]:
        """List the names of the models."""

    def named(self, name: str) -> str | None:
        """Return a model's name as it is listed; None if there is none."""

    def folder(self, name: str) -> Path:
        """Return the checkpoint folder of a model."""


@dataclass(frozen=True)
class Built:
    """A model in its folder, not tried out yet.

    Attributes:
        encoder: the model, to be tried out; None if it knows given queries and videos only.
        remark: how its source was read; empty if there is nothing to say.
        is_guess: whether that was a guess.
    """

    encoder: Encoder | None
    remark: str = ""
    is_guess: bool = False


@dataclass(frozen=True, kw_only=True)
class Origin(ABC):
    """A source of one kind, whose files are known to exist.

    Attributes:
        title: its name in messages.
        doing: the work, as a message names it: "Importing mine.pt".
        disk_bytes: free space that the work needs.
        num_bytes: size of its weights, or of all its files where these are not told apart.
        announcement: a sentence on the size of a download; empty if nothing is downloaded.
    """

    title: str
    doing: str
    disk_bytes: int
    num_bytes: int
    announcement: str = ""

    @abstractmethod
    def default_name(self, hidden: Path) -> str:
        """Return the name of its model if a person gives none; a small file that has it may be downloaded for that."""

    def bring(self, hidden: Path, progress: Progress) -> None:  # noqa: B027  most read their files in place
        """Bring the files of the model, untrusted as they are, into a hidden folder or next to it."""

    def weight_bytes(self, hidden: Path) -> int:
        """Return the size of the weights that are loaded, by which the child's memory and time are limited."""
        return self.num_bytes

    @abstractmethod
    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Make the hidden folder a checkpoint folder of this name; it runs in a child of limited memory and time."""
