"""Embed the clips of a gallery by one model, and open those that are stored, with their index.

Each batch is stored as soon as it is embedded. Equal content is embedded once.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress, groupby, islice
from pathlib import Path

import numpy as np

from nt2vr.errors import (
    CheckpointError,
    ConfigError,
    MediaError,
    NotIndexedError,
    counted,
    reason_of,
)
from nt2vr.files import hash_text, is_disk_full
from nt2vr.media.clip_frames import Reasons, decode_files, hash_files, missing_of
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.limits import LIMITS, evict, mark_used
from nt2vr.media.rows import CHUNK, Rows
from nt2vr.media.store import Cache
from nt2vr.models.card import Card, StoredNames
from nt2vr.models.encoder import Encoder, Frames, Vectors
from nt2vr.progress import Progress, duration_text, silent, tracked
from nt2vr.search.embedded_gallery import EmbeddedGallery, Numbers
from nt2vr.search.index import ExactIndex, Milvus
from nt2vr.search.index_gallery import with_index
from nt2vr.search.shipped_embeddings import shipped_embeddings, tower_of

logger = logging.getLogger(__name__)
# Folder of galleries without a key.
SHARED = "shared"

EmbeddingRows = Rows[np.float32]
# Clips, and their embeddings (B, F, D).
Batch = tuple[Sequence[Video], Vectors]
# Embeds clips, a batch at a time. It writes the ids of clips that fail, with the reasons, to the
# dictionary, and calls the function now and then, which stops the work as `Progress` does.
Encode = Callable[[Sequence[Video], Reasons, Callable[[], None]], Iterator[Batch]]
_seconds_per_clip: dict[str, float] = {}  # by `Card.visual_key`


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower.

    Models that pool differently share it.
    """
    return cache.galleries / (gallery.key or SHARED) / hash_text(tower_of(card), 8)


def _subfolders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.is_dir()]


def drop_unused(gallery: Gallery, cache: Cache) -> None:
    """Drop the embeddings of clips that the gallery no longer has, under every visual tower.

    An OSError drops none.
    """
    unreadable: Reasons = {}
    keys = [clip.key for clip in hash_files(gallery.videos, cache, unreadable)]
    # Galleries without a key share rows, and the clips of unreadable files may still be used.
    if not gallery.key or unreadable:
        return
    for tower in _subfolders(cache.galleries / gallery.key):
        for folder in (tower, *_subfolders(tower)):
            Rows(folder, np.float32).retain(keys)


def embed_gallery(
    gallery: Gallery,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
    in_memory: bool = True,
    milvus: Milvus | None = None,
    encode: Encode | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> EmbeddedGallery:
    """Embed the clips that have no stored embeddings, and open all.

    A CheckpointError refuses embeddings that are not finite.

    Args:
        in_memory: whether to go on if embeddings cannot be stored, which otherwise is a
            ConfigError.
        milvus: indexes a library.
        encode: decodes and embeds the clips elsewhere; None does it here.
        announce: gets what a slow model will cost, before it embeds any.
    """
    if encoder.given_videos is not None:
        return _open_given(gallery, encoder, encoder.given_videos)
    rows = _open_rows(gallery, encoder, cache)
    skipped: Reasons = {}
    hashed = hash_files(gallery.videos, cache, skipped)
    clips = list(tracked(hashed, len(gallery.videos), "checking files", progress))
    missing = missing_of(clips, rows)
    if missing and encoder.capabilities.is_slow:
        announce(
            f"{encoder.name} has {cost_text(encoder, len(missing))}. "
            "Stopped, it goes on from there next time."
        )

    failed: Reasons = {}
    report = _Report(
        progress, clips=clips, missing=missing, num_skipped=len(skipped), failed=failed
    )
    report()
    encode = encode or partial(_encode, bool(gallery.key), rows, encoder, decoder, cache)
    for batch, embeddings in _batches(
        missing, card=encoder.card, encode=encode, failed=failed, report=report
    ):
        _store_batch(batch, embeddings, rows=rows, encoder=encoder, in_memory=in_memory)
        report.add(batch)
    evict(_subfolders(rows.folder.parent), LIMITS["towers"])
    skipped |= _with_equal_clips(failed, clips)
    return _open_stored(
        gallery,
        encoder=encoder,
        rows=rows,
        clips=clips,
        skipped=skipped,
        milvus=milvus,
        progress=progress,
    )


class _Report:
    """Reports how many clips of a gallery are embedded, with all clips of the same content."""

    def __init__(
        self,
        progress: Progress,
        clips: Sequence[Video],
        missing: Sequence[Video],
        num_skipped: int,
        failed: Reasons,
    ) -> None:
        self._progress = progress
        self._total = len(clips) + num_skipped
        self._failed = failed
        self._num_copies = Counter(clip.key for clip in clips)
        self._num_done = self._total - self._count(missing)

    def _count(self, batch: Sequence[Video]) -> int:
        return sum(self._num_copies[clip.key] for clip in batch)

    def add(self, batch: Sequence[Video]) -> None:
        """Count a batch that is embedded."""
        self._num_done += self._count(batch)
        self(f"reading clips: {batch[-1].video_id}")

    def __call__(self, doing: str = "reading clips") -> None:
        self._progress(self._num_done + len(self._failed), self._total, doing)


def _store_batch(
    batch: Sequence[Video],
    embeddings: Vectors,
    rows: EmbeddingRows,
    encoder: Encoder,
    in_memory: bool,
) -> None:
    """Store the embeddings of a batch of clips, or hold them in memory if that is allowed."""
    if not np.isfinite(embeddings).all():
        raise CheckpointError(
            f"The embeddings of {encoder.name} are not finite. Choose another checkpoint."
        )
    failure = _store_or_hold(rows, [clip.key for clip in batch], embeddings)
    if failure is not None:
        _refuse_or_warn(failure, rows.folder, in_memory)


def _batches(
    missing: Sequence[Video],
    card: Card,
    encode: Encode,
    failed: Reasons,
    report: Callable[[], None],
) -> Iterator[Batch]:
    """Yield the embeddings of clips: those that are shipped, then those that are computed."""
    shipped = shipped_embeddings(card)
    known_clips = [clip for clip in missing if clip.key in shipped]
    if known_clips:
        yield known_clips, np.stack([shipped[clip.key] for clip in known_clips])
    unknown_clips = [clip for clip in missing if clip.key not in shipped]
    yield from encode(unknown_clips, failed, report)


def _refuse_or_warn(error: OSError, folder: Path, in_memory: bool) -> None:
    """Say that embeddings cannot be stored; a ConfigError unless they may stay in memory."""
    reason = error.strerror or reason_of(error)
    if is_disk_full(error):
        reason = "the disk is full"
    message = f"Embeddings cannot be stored in {folder} ({reason})."
    if not in_memory:
        message += " Those stored so far are kept; free some space and start again."
        raise ConfigError(message) from error
    logger.warning("%s They are computed again next time.", message)


def _with_equal_clips(failed: Reasons, clips: Sequence[Video]) -> Reasons:
    """Return why clips failed, by id, also for the clips of the same content."""
    reason_of_content = {
        clip.key: failed[clip.video_id] for clip in clips if clip.video_id in failed
    }
    return {
        clip.video_id: reason_of_content[clip.key]
        for clip in clips
        if clip.key in reason_of_content
    }


def _open_rows(gallery: Gallery, encoder: Encoder, cache: Cache) -> EmbeddingRows:
    encoder.card.check_frames()
    folder = tower_folder(gallery, encoder.card, cache)
    mark_used(folder)
    return Rows(folder, np.float32, encoder.stored_shape)


def _encode(
    by_file: bool,
    rows: EmbeddingRows,
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    missing: Sequence[Video],
    failed: Reasons,
    report: Callable[[], None],
) -> Iterator[Batch]:
    """Decode and embed files here, except for those that another process has embedded meanwhile.

    In libraries (`by_file`), a batch has clips of one file only, so that a kill loses no more than
    that.
    """
    with cache.frames(encoder.num_frames, encoder.framing) as store:
        decoded = decode_files(
            missing,
            num_frames=encoder.num_frames,
            framing=encoder.framing,
            decoder=decoder,
            failed=failed,
            store=store,
        )
        for batch in _decoded_batches(decoded, encoder.batch_size, by_file):
            clips, frames = zip(*batch, strict=True)
            rows.refresh()
            stored_rows = rows.find(clip.key for clip in clips)
            if (stored_rows >= 0).all():
                yield clips, rows.rows()[stored_rows]
                continue
            yield clips, embeddings_of(clips, frames, encoder, decoder)


DecodedClip = tuple[Video, Frames]


def _decoded_batches(
    decoded: Iterable[DecodedClip], size: int, by_file: bool
) -> Iterator[list[DecodedClip]]:
    if not by_file:
        yield from _batched(decoded, size)
        return
    for _, clips_of_file in groupby(decoded, lambda decoded_clip: decoded_clip[0].path):
        yield from _batched(clips_of_file, size)


def _batched(decoded: Iterable[DecodedClip], size: int) -> Iterator[list[DecodedClip]]:
    remaining = iter(decoded)
    while batch := list(islice(remaining, size)):
        yield batch


def embeddings_of(
    clips: Sequence[Video], frames: Sequence[Frames], encoder: Encoder, decoder: Decoder
) -> Vectors:
    """Encode the (F, H, W, 3) frames of B clips as they are stored: (B, R, W)."""
    stacked = np.stack(frames)
    if not encoder.capabilities.reads_seconds:
        return encoder.encode_video(stacked)

    lengths_s = [_length_s(clip, decoder) for clip in clips]
    middles = (np.arange(encoder.num_frames) + 0.5) / encoder.num_frames
    seconds = np.outer(lengths_s, middles).astype(np.float32)
    return encoder.encode_video(stacked, seconds)


def _length_s(clip: Video, decoder: Decoder) -> float:
    if clip.end is not None:
        return clip.end - clip.start
    try:
        probed = decoder.probe(clip.path, clip.root, hashes=False).result()
    # The file, which has just been decoded, is gone.
    except MediaError:
        return 0.0
    return float(probed.seconds - clip.start)


def _store_or_hold(rows: EmbeddingRows, keys: Sequence[str], values: Vectors) -> OSError | None:
    """Store rows; where that fails, hold them in memory and return the first failure."""
    failure = None
    if not rows.held:
        try:
            rows.append(keys, values)
            return None
        except OSError as error:
            failure = error
    rows.hold(keys, values)
    return failure


def open_gallery(
    gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None
) -> EmbeddedGallery:
    """Open the clips with stored embeddings, and list the others as skipped.

    Nothing is decoded or encoded.
    """
    if encoder.given_videos is not None:
        return _open_given(gallery, encoder, encoder.given_videos)
    rows = _open_rows(gallery, encoder, cache)
    skipped: Reasons = {}
    clips = list(hash_files(gallery.videos, cache, skipped))
    return _open_stored(
        gallery,
        encoder=encoder,
        rows=rows,
        clips=clips,
        skipped=skipped,
        milvus=milvus,
        progress=None,
    )


def open_indexed(
    gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None
) -> EmbeddedGallery:
    """Open the indexed part of a library without decoding or encoding.

    A NotIndexedError says that it is empty.
    """
    opened = open_gallery(gallery, encoder, cache, milvus)
    num_clips = len(gallery.videos)
    if not num_clips:
        raise NotIndexedError(
            f"{gallery.name} has no clips yet. Update it in the Library tab.", encoder.name
        )
    if not opened.gallery.videos:
        cost = cost_text(encoder, num_clips)
        raise NotIndexedError(
            f"{gallery.name} is not indexed by {encoder.name} yet: {cost}.",
            encoder.name,
            tower=encoder.card.visual_key,
        )
    return opened


def cost_text(encoder: Encoder, num_clips: int) -> str:
    """Say what it takes to embed so many clips, and of a slow model what one takes."""
    seconds_per_clip = _time_of_one_clip(encoder)
    clips = counted(num_clips, "clip")
    duration = duration_text(num_clips * seconds_per_clip)
    text = f"{clips}, about {duration} of computing on this machine"
    if not encoder.capabilities.is_slow:
        return text
    memory = f"{max(1, encoder.num_bytes / 1e6):,.0f} MB of memory for its weights"
    return f"{text} ({seconds_per_clip:.2g} s for one, as measured now, and {memory})"


def _time_of_one_clip(encoder: Encoder) -> float:
    """Return the seconds that one clip takes, measured once per process."""
    key = encoder.card.visual_key
    if key not in _seconds_per_clip:
        clip = np.zeros((1, encoder.num_frames, *encoder.framing.shape, 3), np.uint8)
        started = time.perf_counter()
        encoder.encode_video(clip)
        _seconds_per_clip[key] = time.perf_counter() - started
    return _seconds_per_clip[key]


def _open_stored(
    gallery: Gallery,
    encoder: Encoder,
    rows: EmbeddingRows,
    clips: Sequence[Video],
    skipped: Reasons,
    milvus: Milvus | None,
    progress: Progress | None,
) -> EmbeddedGallery:
    """Put the stored embeddings in the order of the gallery, pooled, and index them.

    Args:
        progress: as for `with_index`.
    """
    stored_rows = rows.find(clip.key for clip in clips)
    is_stored = stored_rows >= 0
    frame_rows = stored_rows[is_stored]
    embedded_clips = list(compress(clips, is_stored))
    frames = rows.rows()
    keys = [clip.key for clip in embedded_clips]
    pooled = _pool_stored(
        encoder, folder=rows.folder, keys=keys, frames=frames, frame_rows=frame_rows
    )
    embedded = _embedded_gallery(
        gallery,
        encoder,
        videos=embedded_clips,
        embeddings=pooled,
        frames=frames,
        frame_rows=frame_rows,
        skipped=skipped,
        default_reason="Not embedded yet.",
    )
    return with_index(
        embedded,
        encoder=encoder,
        folder=rows.folder,
        milvus=milvus,
        progress=progress,
    )


def _pool_stored(
    encoder: Encoder, folder: Path, keys: Sequence[str], frames: Vectors, frame_rows: Numbers
) -> Vectors:
    """Return pooled embeddings (V, D), and store those that are missing.

    They are memory-mapped if they are stored in this order.
    """
    name = StoredNames.of(encoder.card.visual_key).pooling
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot be the name of a folder.")
    mark_used(folder / name)
    stored = Rows(folder / name, np.float32, (encoder.embed_dim,))
    missing = np.flatnonzero(stored.find(keys) < 0)
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        # A name for the frames would keep them in memory while the next ones are read.
        pooled_chunk = encoder.pool(frames[frame_rows[chunk]])
        _store_or_hold(stored, [keys[row] for row in chunk], pooled_chunk)
    if len(missing):
        evict(_subfolders(folder), LIMITS["pooled"])

    rows = stored.find(keys)
    pooled = stored.rows()
    are_consecutive = (np.diff(rows) == 1).all()
    if len(rows) and are_consecutive:
        # A slice is not copied.
        return pooled[rows[0] : rows[-1] + 1]
    return pooled[rows]


def _embedded_gallery(
    gallery: Gallery,
    encoder: Encoder,
    videos: Sequence[Video],
    embeddings: Vectors,
    frames: Vectors,
    frame_rows: Numbers,
    skipped: Reasons,
    default_reason: str,
) -> EmbeddedGallery:
    """Put an embedded gallery together.

    Args:
        videos: the clips that are embedded, in the order of `embeddings` and `frame_rows`.
        skipped: reasons by id; a clip without one has the default reason.
    """
    embedded_ids = {video.video_id for video in videos}
    reasons = []
    for video in gallery.videos:
        if video.video_id not in embedded_ids:
            reason = skipped.get(video.video_id, default_reason)
            reasons.append((video.video_id, reason))
    embeddings.flags.writeable = False
    index = ExactIndex(encoder.embed_dim)
    index.add(np.arange(len(videos)), embeddings)
    return EmbeddedGallery(
        gallery=replace(gallery, videos=tuple(videos)),
        embeddings=embeddings,
        index=index,
        skipped=tuple(reasons),
        all_frames=frames,
        frame_rows=frame_rows,
        project_frames=encoder.frame_reader,
    )


def _open_given(
    gallery: Gallery, encoder: Encoder, given_videos: Mapping[str, Vectors]
) -> EmbeddedGallery:
    """Open the clips whose embeddings were given with the model, as from a file.

    A ConfigError says that there are none.
    """
    videos = [video for video in gallery.videos if video.video_id in given_videos]
    if not videos:
        num_videos = len(gallery.videos)
        raise ConfigError(
            f"{encoder.name} has no embedding of any of the {num_videos} videos of {gallery.name}."
        )

    embeddings = np.stack([given_videos[video.video_id] for video in videos])
    return _embedded_gallery(
        gallery,
        encoder=encoder,
        videos=videos,
        embeddings=embeddings,
        frames=embeddings[:, None],
        frame_rows=np.arange(len(videos)),
        skipped={},
        default_reason=f"{encoder.name} has no embedding of it.",
    )
