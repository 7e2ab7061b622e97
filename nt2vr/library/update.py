"""Bringing a library up to date: scan, probe, embed, then posters and previews."""

from dataclasses import dataclass

from nt2vr.library.info import Changes
from nt2vr.library.libraries import Libraries
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop, never, silent


@dataclass(frozen=True)
class Updated:
    """What an update did.

    Attributes:
        changes: of the files.
        num_clips: clips in the gallery now.
        num_embedded: clips with an embedding under the encoder.
        num_skipped: files and windows that cannot be used.
    """

    changes: Changes
    num_clips: int
    num_embedded: int
    num_skipped: int


def update_library(
    libraries: Libraries,
    library_id: str,
    encoder: Encoder | None,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
    previews: bool = True,
) -> Updated:
    """Bring a library's inventory, embeddings, posters and previews up to date with its files.

    Unchanged files are not read again. What was done is kept when the update is stopped or killed. A second update of
    the same library, also in another process, waits for the first.

    Args:
        libraries: the library's home.
        library_id: the library.
        encoder: embeds the clips; None only scans and makes previews.
        decoder: reads the files in its children.
        cache: of frames.
        progress: gets files or clips done, their number, and the step with the current file: "embedding: a.mp4".
        should_stop: polled before each file.
        previews: whether to make posters and previews.

    Raises:
        GalleryError: if the library's folder is not there; what is indexed stays.
        InterruptedError: if stopped.
    """
    raise NotImplementedError
