"""Update of a library: scan, probe, embed, then posters and previews."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nt2vr.errors import MediaError, counted
from nt2vr.library.changes import Changes, changes_of, compare_files
from nt2vr.library.inventory import Inventory, ProbeOutcome
from nt2vr.library.libraries import Libraries
from nt2vr.library.library_file import FilesById, LibraryFile
from nt2vr.library.listing import list_files
from nt2vr.library.move import Moved
from nt2vr.library.source import Source
from nt2vr.library.windows import windows
from nt2vr.media.decode import CLOSED, Decoder, Decoding, ahead
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.media.video import Probe
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, silent
from nt2vr.search.embed_clips import Encode, drop_unused, embed_gallery
from nt2vr.search.index import Milvus

# Files under way.
PROBES_PER_CHILD = 8
# Seconds after which what is read is stored.
COMMIT_S = 1.0


@dataclass(frozen=True)
class Updated:
    """Outcome of an update.

    Attributes:
        num_embedded: clips with an embedding under the encoder.
        notice: why the clips are not in the index that somebody chose.
    """

    changes: Changes
    num_clips: int
    num_embedded: int
    num_skipped: int
    notice: str = ""


# A job of a library; a move names no model.
IndexJob = Job[Updated | Moved]


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

    Unchanged files are not read again. Finished work is stored when the update is stopped or
    killed. A second update of the same library, also in another process, waits for the first. A
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
        num_embedded = 0
        notice = ""
        if encoder is not None and gallery.videos:
            embedded = embed_gallery(
                gallery,
                encoder,
                decoder,
                cache,
                progress,
                in_memory=False,
                milvus=milvus,
                encode=encode,
                announce=announce,
            )
            num_embedded = len(embedded.gallery.videos)
            notice = embedded.notice
            if any(reason.endswith(CLOSED) for _, reason in embedded.skipped):
                raise InterruptedError
            # A model with given embeddings lacks clips for other reasons.
            if encoder.given_videos is None:
                changes = _store_skipped(embedded.skipped, gallery, inventory, changes)
            gallery = libraries.gallery(source.id)

        gallery_previews = libraries.previews(source.id, decoder)
        if previews:
            gallery_previews.make(gallery.videos, progress)
        gallery_previews.retain(gallery.videos)
        # If the disk is full, the next update tries again.
        with suppress(OSError):
            drop_unused(gallery, cache)
        return Updated(
            changes,
            num_clips=len(gallery.videos),
            num_embedded=num_embedded,
            num_skipped=inventory.counts()["num_skipped"],
            notice=notice,
        )


def _store_skipped(
    skipped: Sequence[tuple[str, str]], gallery: Gallery, inventory: Inventory, changes: Changes
) -> Changes:
    """Store the clips that could not be read after all, and add their files to the skipped ones."""
    file_ids = {clip.video_id: clip.long_video or clip.video_id for clip in gallery.videos}
    inventory.skip_clips((clip_id, file_ids[clip_id], reason) for clip_id, reason in skipped)

    skipped_files = {*changes.skipped, *(file_ids[clip_id] for clip_id, _ in skipped)}
    new_skipped = tuple(file_id for file_id in changes.new if file_id in skipped_files)
    return replace(changes, skipped=new_skipped)


def _scan(source: Source, inventory: Inventory, decoder: Decoder, progress: Progress) -> Changes:
    """List the files, forget those that are gone, and probe those that are new or changed."""
    progress(0, 0, "looking for files")
    files = list(list_files(source, progress))
    stored = inventory.files()
    pending, captioned, gone = compare_files(stored, files)
    inventory.make_relative()
    inventory.apply(pending, captioned, [file.id for file in gone])

    usable = [file for file in pending if not file.reason]
    _probe(usable, source, inventory, decoder, progress)
    # Videos of a manifest or dataset each have captions of their own, also if they are equal.
    if source.kind in ("folder", "uploads"):
        inventory.mark_duplicates()

    updated = inventory.files()
    read = [updated[file.id] for file in pending]
    changes = changes_of(stored, pending=read, gone=gone, mark=lambda file: file.content)
    return _with_outcomes(changes, updated)


def _with_outcomes(changes: Changes, files: FilesById) -> Changes:
    """Add which of the new files are copies, and which cannot be read."""
    return replace(
        changes,
        copies=tuple(file_id for file_id in changes.new if files[file_id].duplicate_of),
        skipped=tuple(file_id for file_id in changes.new if files[file_id].state == "skipped"),
    )


def _probe(
    files: Sequence[LibraryFile],
    source: Source,
    inventory: Inventory,
    decoder: Decoder,
    progress: Progress,
) -> None:
    """Read what files contain, several at a time, and store it once a second."""
    processes = counted(decoder.num_workers, "process", "processes")
    progress(0, len(files), f"reading files: starting {processes}")
    outcomes: dict[str, ProbeOutcome] = {}
    stored_s = time.monotonic()
    try:
        started = ((file, decoder.probe(Path(file.path), source.root)) for file in files)
        probing = ahead(started, PROBES_PER_CHILD * decoder.num_workers)
        for done, (file, decoding) in enumerate(probing):
            progress(done, len(files), f"reading files: {file.id}")
            outcomes[file.id] = _probe_outcome(decoding, source.window_s)
            if time.monotonic() - stored_s > COMMIT_S:
                inventory.put_probes(outcomes)
                outcomes.clear()
                stored_s = time.monotonic()
    finally:
        inventory.put_probes(outcomes)
    progress(len(files), len(files), "reading files")


def _probe_outcome(decoding: Decoding, window_s: float) -> ProbeOutcome:
    try:
        probe: Probe = decoding.result()
    except MediaError as error:
        if str(error).endswith(CLOSED):
            raise InterruptedError from None
        return {"state": "skipped", "reason": str(error)}
    num_clips = len(windows(probe.seconds, probe.num_frames, window_s))
    return {"state": "ready", **vars(probe), "num_clips": num_clips}
