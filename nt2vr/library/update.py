"""Update of a library: scan, probe, embed, then posters and previews.

Processes or machines may share the embedding out by content hash, each with a `Shard` of its own.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from nt2vr.datasets.base import Split
from nt2vr.errors import ConfigError, MediaError, quoted
from nt2vr.library.info import Changes, Kind, Source
from nt2vr.library.inventory import Inventory, LibraryFile, compared
from nt2vr.library.libraries import Libraries
from nt2vr.library.sources import list_files
from nt2vr.library.windows import windows
from nt2vr.media.cache import Cache
from nt2vr.media.decode import CLOSED, Decoder, ahead
from nt2vr.media.gallery import Gallery
from nt2vr.media.video import Probe
from nt2vr.models.encoder import Encoder
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.progress import Job, Progress, silent
from nt2vr.search.embed_clips import Encode, embed_gallery
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.embedding_folders import drop_unused
from nt2vr.search.index import Milvus

PROBES_PER_CHILD = 8  # files under way
COMMIT_S = 1.0  # what is read is stored at least so often
MOST_SHARDS = 10_000  # that share the work out


@dataclass(frozen=True)
class Updated:
    """Outcome of an update."""

    changes: Changes
    num_clips: int
    num_embedded: int  # clips with an embedding under the encoder
    num_skipped: int
    notice: str = ""  # why they are not in the index that was asked for


IndexJob = Job[Updated]


@dataclass(frozen=True)
class Shard:
    """Share `number` of `count`, from 1."""

    number: int
    count: int

    @classmethod
    def named(cls, text: str) -> "Shard":
        """Read "2/8"."""
        number, slash, count = text.partition("/")
        if slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count) <= MOST_SHARDS:
            return cls(int(number), int(count))
        raise ConfigError(
            f"{quoted(text)} is no share of the work. Write 1/4 to 4/4 for the shares of four processes."
        )

    def has(self, content: str) -> bool:
        """Whether a file with this hash, in hexadecimal digits, is of this share."""
        return int(content[:8], 16) % self.count == self.number - 1


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
) -> Updated:
    """Bring a library's inventory, embeddings, posters and previews up to date with its files.

    Unchanged files are not read again. What was done is kept when the update is stopped or killed. A second update of
    the same library, also in another process, waits for the first.

    Args:
        encoder: embeds the clips; None only scans and makes previews.
        milvus: indexes the embeddings.
        encode: as for `embed_gallery`.
        progress: gets files or clips done, their number, and the step with the current file: "reading files: a.mp4".

    Raises:
        GalleryError: if the library's folder is not there; what is indexed stays.
    """
    with libraries.updating(library_id, progress) as source:
        inventory = libraries.inventory(source.id)
        changes = _scan(source, inventory, decoder, progress)
        gallery = libraries.gallery(source.id)
        embedded, notice = 0, ""
        if encoder is not None and gallery.videos:
            view = _embed(gallery, inventory, encoder, decoder, cache, progress, milvus, encode=encode)
            embedded, notice = len(view.gallery.videos), view.notice
            gallery = libraries.gallery(source.id)
        made = libraries.previews(source.id, decoder)
        if previews:
            made.make(gallery.videos, progress)
        made.retain(gallery.videos)
        with suppress(OSError):  # a full disk: the next update tries again
            drop_unused(gallery, cache)
        return Updated(changes, len(gallery.videos), embedded, inventory.counts().num_skipped, notice)


def shared_library(
    libraries: Libraries, name: str, kind: Kind, path: str, split: Split, window_s: float | None
) -> str:
    """Return the id of the library that several processes add: the first does, and the others find it.

    A ConfigError refuses the name of a library of another place.
    """
    libraries.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(libraries.folder / ".adding.lock"):
        known = next((info for info in libraries.infos() if info.name.casefold() == name.strip().casefold()), None)
        if known is None or known.source.path != Path(path).expanduser().resolve():
            return libraries.add(name, kind, path, split, window_s).id  # or says that the name is taken
    return known.id


def update_shard(
    libraries: Libraries,
    library_id: str,
    shard: Shard,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
) -> Updated:
    """Read all new files, one process at a time, then embed those of a share; it can be killed and started again.

    Previews, an approximate index and the embeddings of files that are gone are left to a later `update_library`.
    """
    with libraries.updating(library_id, progress) as source:
        inventory = libraries.inventory(source.id)
        changes = _scan(source, inventory, decoder, progress)
    gallery = libraries.gallery(source.id)
    own = replace(gallery, videos=tuple(video for video in gallery.videos if shard.has(video.content)))
    embedded = _embed(own, inventory, encoder, decoder, cache, progress, is_part=True).gallery
    return Updated(changes, len(own.videos), len(embedded.videos), inventory.counts().num_skipped)


def _scan(source: Source, inventory: Inventory, decoder: Decoder, progress: Progress) -> Changes:
    """List the files, forget those that are gone, and probe those that are new or changed."""
    progress(0, 0, "looking for files")
    found = list(list_files(source))
    known = inventory.files()
    changes, pending, captioned = compared(known, found)
    gone = sorted([*changes.renamed, *changes.removed])
    inventory.apply(pending, captioned, gone)
    _probe([file for file in pending if not file.reason], source, inventory, decoder, progress)
    if source.kind in ("folder", "uploads"):  # a dataset's videos keep their own captions
        inventory.mark_duplicates()
    now = inventory.files()
    contents = {known[name].content: name for name in gone if known[name].content}
    new = [*changes.new, *changes.renamed.values()]
    renamed = {contents.pop(now[name].content): name for name in new if now[name].content in contents}
    new = [name for name in new if name not in renamed.values()]
    return replace(
        changes,
        new=tuple(new),
        copies=tuple(name for name in new if now[name].duplicate_of),
        renamed=renamed,
        removed=tuple(name for name in gone if name not in renamed),
    )


def _probe(
    files: Sequence[LibraryFile], source: Source, inventory: Inventory, decoder: Decoder, progress: Progress
) -> None:
    """Read what files contain in the decoder's children, several at a time, and store it once a second."""
    results: dict[str, tuple[Probe, int] | str] = {}
    stored_s = time.monotonic()
    try:
        probes = ((file, decoder.probe(Path(file.path), source.root)) for file in files)
        for done, (file, probing) in enumerate(ahead(probes, PROBES_PER_CHILD * decoder.num_workers)):
            progress(done, len(files), f"reading files: {file.id}")
            try:
                found: Probe = probing.result()
            except MediaError as error:
                if str(error).endswith(CLOSED):
                    raise InterruptedError from None
                results[file.id] = str(error)
            else:
                results[file.id] = found, len(windows(found.seconds, found.num_frames, source.window_s))
            if time.monotonic() - stored_s > COMMIT_S:
                inventory.put_probes(results)
                results.clear()
                stored_s = time.monotonic()
    finally:
        inventory.put_probes(results)
    progress(len(files), len(files), "reading files")


def _embed(
    gallery: Gallery,
    inventory: Inventory,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    milvus: Milvus | None = None,
    is_part: bool = False,
    encode: Encode | None = None,
) -> EmbeddedGallery:
    """Embed the clips, and note those that cannot be decoded; the last two arguments are as for `embed_gallery`."""
    embedded = embed_gallery(gallery, encoder, decoder, cache, progress, False, milvus, is_part, encode)
    if isinstance(encoder, PrecomputedEncoder):
        return embedded  # it lacks clips for other reasons
    if any(reason.endswith(CLOSED) for _, reason in embedded.skipped):
        raise InterruptedError
    videos = {video.video_id: video for video in gallery.videos}
    inventory.skip_clips((name, videos[name].film or name, reason) for name, reason in embedded.skipped)
    return embedded
