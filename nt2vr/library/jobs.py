"""Background updates for the app: one at a time, in the order in which they were asked for."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder

State = Literal["waiting", "running", "stopping", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class IndexJob:
    """Immutable snapshot of an update.

    Attributes:
        number: counts updates since the app started.
        library_id: the library.
        library: its name.
        model: the encoder's name; empty for an update without embeddings.
        state: current state.
        doing: current step, in words.
        current: the file at hand, if known.
        done: finished units of this step.
        total: all units of this step; 0 if unknown.
        per_second: rate of this step; 0 if unknown.
        remaining_s: estimate for this step; None if unknown.
        error: reason of a failure, for the page.
        updated: what it did, once finished.
    """

    number: int
    library_id: str
    library: str
    model: str
    state: State = "waiting"
    doing: str = ""
    current: str = ""
    done: int = 0
    total: int = 0
    per_second: float = 0.0
    remaining_s: float | None = None
    error: str = ""
    updated: Updated | None = None

    @property
    def is_under_way(self) -> bool:
        """Return whether it waits or runs."""
        return self.state in ("waiting", "running", "stopping")


class IndexJobs:
    """Runs updates of libraries in one thread.

    Args:
        libraries: all libraries.
        load: loads an encoder by the name of its model.
        decoder: decodes files.
        cache: stores frames.
    """

    def __init__(self, libraries: Libraries, load: Callable[[str], Encoder], decoder: Decoder, cache: Cache) -> None:
        """Prepare without starting anything."""
        raise NotImplementedError

    @property
    def jobs(self) -> list[IndexJob]:
        """All under way, the running one first, then the latest that ended per library."""
        raise NotImplementedError

    def of(self, library_id: str) -> IndexJob | None:
        """Return the library's latest update."""
        raise NotImplementedError

    def start(self, library_id: str, model: str) -> Future[IndexJob]:
        """Queue an update of a library under a model ("": no embeddings); a queued equal one is returned instead.

        Raises:
            ConfigError: if there is no such library.
        """
        raise NotImplementedError

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        raise NotImplementedError
