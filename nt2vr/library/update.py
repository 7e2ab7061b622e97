"""Update of a library: scan, probe, embed, then posters and previews."""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nt2vr.errors import MediaError, counted
from nt2vr.library.changes import Changes, changes_of, compared
from nt2vr.library.inventory import Inventory
from nt2vr.library.libraries import Libraries
from nt2vr.library.library_file import LibraryFile
from nt2vr.library.listing import list_files
from nt2vr.library.move import Moved
from nt2vr.library.source import Source
from nt2vr.library.windows import windows
from nt2vr.media.decode import CLOSED, Decoder, ahead
from nt2vr.media.store import Cache
from nt2vr.media.video import Probe
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, silent
from nt2vr.search.embed_clips import Encode, drop_unused, embed_gallery
from nt2vr.search.index import Milvus

PROBES_PER_CHILD = 8  # files under way
COMMIT_S = 1.0  # what is read is stored at least so often


@dataclass(frozen=True)
class Updated:
    """Outcome of an update."""

    changes: Changes
    num_clips: int
    num_embedded: int  # clips with an embedding under the encoder
    num_skipped: int
    notice: str = ""  # why they are not in the index that was asked for


IndexJob = Job[Updated | Moved]  # of a library; a move names no model


def update_library(
    libraries: Libraries,
    library_id: str,
    encoder: Encoder | None,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
    previews: bool = True,
    milvus: Milvus | None = None,
    encode: Encode | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Updated:
    """Bring a library's inventory, embeddings, posters and previews up to date with its files.

    Unchanged files are not read again. What was done is kept when the update is stopped or killed.
    A second update of the same library, also in another process, waits for the first. A
    GalleryError says that its folder is not there.

    Args:
        encoder: embeds the clips; None only scans and makes previews.
        progress: gets files or clips done, their number, and the step with the current file:
            "reading files: a.mp4".
        milvus: indexes the embeddings; `encode` and `announce` are as for `embed_gallery`.
    """
    with libraries.updating(library_id, progress) as source:
        inventory = libraries.inventory(source)
        changes = _scan(source, inventory, decoder, progress)
        gallery = libraries.gallery(source.id)
        embedded, notice = 0, ""
        if encoder is not None and gallery.videos:
            view = embed_gallery(
                gallery, encoder, decoder, cache, progress, False, milvus, encode, announce
            )
            embedded, notice = len(view.gallery.videos), view.notice
            if any(reason.endswith(CLOSED) for _, reason in view.skipped):
                raise InterruptedError
            if encoder.given_videos is None:  # otherwise clips are missing for other reasons
                films = {video.video_id: video.film or video.video_id for video in gallery.videos}
                inventory.skip_clips((clip, films[clip], reason) for clip, reason in view.skipped)
                changes = _with_skipped(changes, {films[clip] for clip, _ in view.skipped})
            gallery = libraries.gallery(source.id)
        made = libraries.previews(source.id, decoder)
        if previews:
            made.make(gallery.videos, progress)
        made.retain(gallery.videos)
        with suppress(OSError):  # a full disk: the next update tries again
            drop_unused(gallery, cache)
        return Updated(
            changes, len(gallery.videos), embedded, inventory.counts()["num_skipped"], notice
        )


def _with_skipped(changes: Changes, unread: Collection[str]) -> Changes:
    """Add to the skipped files those in which clips could not be read after all."""
    skipped = {*changes.skipped, *unread}
    return replace(changes, skipped=tuple(name for name in changes.new if name in skipped))


def _scan(source: Source, inventory: Inventory, decoder: Decoder, progress: Progress) -> Changes:
    """List the files, forget those that are gone, and probe those that are new or changed."""
    progress(0, 0, "looking for files")
    found = list(list_files(source, progress))
    known = inventory.files()
    pending, captioned, gone = compared(known, found)
    inventory.make_relative()
    inventory.apply(pending, captioned, [file.id for file in gone])
    to_read = [file for file in pending if not file.reason]
    progress(
        0,
        len(to_read),
        f"reading files: starting {counted(decoder.num_workers, 'process', 'processes')}",
    )
    _probe(to_read, source, inventory, decoder, progress)
    if source.kind in ("folder", "uploads"):  # a dataset's videos keep their own captions
        inventory.mark_duplicates()
    now = inventory.files()
    changes = changes_of(known, [now[file.id] for file in pending], gone, lambda file: file.content)
    copies = tuple(name for name in changes.new if now[name].duplicate_of)
    return replace(
        changes,
        copies=copies,
        skipped=tuple(name for name in changes.new if now[name].state == "skipped"),
    )


def _probe(
    files: Sequence[LibraryFile],
    source: Source,
    inventory: Inventory,
    decoder: Decoder,
    progress: Progress,
) -> None:
    """Read what files contain in the decoder's children, several at a time, and store it once a second."""
    results: dict[str, tuple[Probe, int] | str] = {}
    stored_s = time.monotonic()
    try:
        probes = ((file, decoder.probe(Path(file.path), source.root)) for file in files)
        for done, (file, probing) in enumerate(
            ahead(probes, PROBES_PER_CHILD * decoder.num_workers)
        ):
            progress(done, len(files), f"reading files: {file.id}")
            try:
                found: Probe = probing.result()
                results[file.id] = (
                    found,
                    len(windows(found.seconds, found.num_frames, source.window_s)),
                )
            except MediaError as error:
                if str(error).endswith(CLOSED):
                    raise InterruptedError from None
                results[file.id] = str(error)
            if time.monotonic() - stored_s > COMMIT_S:
                inventory.put_probes(results)
                results.clear()
                stored_s = time.monotonic()
    finally:
        inventory.put_probes(results)
    progress(len(files), len(files), "reading files")
