"""Embed the clips of a gallery by one model, and open those that are stored, with their index."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import CheckpointError, ConfigError, NotIndexedError, counted, reason_of
from nt2vr.files import is_disk_full
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import CHUNK, LIMITS, SAMPLING, Cache, Rows, evict, mark_used
from nt2vr.media.video_files import decode_files, hash_files, missing_of
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.progress import Progress, duration_text, silent, tracked
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import unit
from nt2vr.search.gallery_index import with_index
from nt2vr.search.index import ExactIndex, Milvus
from nt2vr.search.shipped import shipped_embeddings

logger = logging.getLogger(__name__)

BATCH_FRAMES = 64  # frames in one forward pass of the encoder
SHARED = "shared"  # folder of galleries without a key
Some = tuple[Sequence[Video], NDArray[np.float32]]  # clips, and their embeddings (B, F, D)
# embeds clips elsewhere, some at a time; the dictionary gets ids and reasons of those that fail; the function is
# called now and then, and stops the work as `Progress` does
Encode = Callable[[Sequence[Video], dict[str, str], Callable[[], None]], Iterator[Some]]
_seconds_per_clip: dict[str, float] = {}  # by `Card.video_key`


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower; models that pool differently share it."""
    tower = blake2b(f"{SAMPLING} {card.visual_key} {card.frames}".encode(), digest_size=8)
    return cache.galleries / (gallery.key or SHARED) / tower.hexdigest()


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def drop_unused(gallery: Gallery, cache: Cache) -> None:
    """Drop the embeddings of clips that the gallery has no longer, under every visual tower; an OSError drops none."""
    unreadable: dict[str, str] = {}
    keys = [clip.key for clip in hash_files(gallery.videos, cache, unreadable)]
    if gallery.key and not unreadable:  # otherwise others use the rows, or it is not known which are unused
        for tower in _folders(cache.galleries / gallery.key):
            for folder in (tower, *_folders(tower)):
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
) -> EmbeddedGallery:
    """Embed the clips that have no stored embeddings, and open all; each batch is stored as soon as it is embedded.

    Args:
        gallery: the clips; equal content is embedded once.
        in_memory: whether to go on without storing embeddings if their folder cannot be written to.
        milvus: indexes a library.
        encode: decodes and embeds the clips elsewhere; None does it here.

    Raises:
        CheckpointError: if embeddings are not finite.
        ConfigError: if embeddings cannot be stored, unless `in_memory`, or the model sees no frames.
    """
    if isinstance(encoder, PrecomputedEncoder):
        return _looked_up(gallery, encoder)
    rows = _rows(gallery, encoder, cache)
    skipped: dict[str, str] = {}
    hashed = hash_files(gallery.videos, cache, skipped)
    clips = list(tracked(hashed, len(gallery.videos), "checking files", progress))
    missing = missing_of(clips, rows)
    copies = Counter(clip.key for clip in clips)
    done = len(clips) - sum(copies[clip.key] for clip in missing)
    failed: dict[str, str] = {}

    def report(current: str = "") -> None:
        progress(
            done + len(failed) + len(skipped), len(gallery.videos), f"reading clips: {current}".removesuffix(": ")
        )

    report()
    if encode is None:
        encode = partial(_encode, bool(gallery.key), rows, encoder, decoder, cache)
    for some, embeddings in _embedded(missing, encoder.card, encode, failed, report):
        if not np.isfinite(embeddings).all():
            raise CheckpointError(f"The embeddings of {encoder.card.name} are not finite. Choose another checkpoint.")
        keys = [clip.key for clip in some]
        if error := _add(rows, keys, embeddings):
            _check(error, rows.folder, in_memory)
        done += sum(copies[key] for key in keys)
        report(some[-1].video_id)
    evict(_folders(rows.folder.parent), LIMITS["towers"])
    skipped |= _reasons(clips, failed)
    return _opened(gallery, encoder, rows, clips, skipped, milvus, True, progress)


def _reasons(clips: Sequence[Video], failed: Mapping[str, str]) -> dict[str, str]:
    """Return why clips cannot be decoded, also of those with the same content, which are not tried."""
    by_content = {clip.key: failed[clip.video_id] for clip in clips if clip.video_id in failed}
    return {clip.video_id: by_content[clip.key] for clip in clips if clip.key in by_content}


def _rows(gallery: Gallery, encoder: Encoder, cache: Cache) -> Rows[np.float32]:
    encoder.card.check_frames()
    folder = tower_folder(gallery, encoder.card, cache)
    mark_used(folder)
    width = getattr(encoder, "frame_dim", encoder.embed_dim)  # of frames; not every `Encoder` tells it apart
    return Rows(folder, np.float32, (encoder.num_frames, width))


def _embedded(
    missing: Sequence[Video], card: Card, encode: Encode, failed: dict[str, str], report: Callable[[], None]
) -> Iterator[Some]:
    shipped = shipped_embeddings(card)
    if known := [clip for clip in missing if clip.key in shipped]:
        yield known, np.stack([shipped[clip.key] for clip in known])
    yield from encode([clip for clip in missing if clip.key not in shipped], failed, report)


def _encode(
    by_file: bool,
    rows: Rows[np.float32],
    encoder: Encoder,
    decoder: Decoder,
    cache: Cache,
    missing: Sequence[Video],
    failed: dict[str, str],
    report: Callable[[], None],
) -> Iterator[Some]:
    """Decode and embed files here, except for those that another process has embedded in the meantime.

    Args:
        by_file: whether a batch has clips of one file only, as in libraries, so that a kill loses no more than that.
    """
    size = max(1, BATCH_FRAMES // encoder.num_frames)
    with cache.frames(encoder.num_frames, encoder.card.framing) as store:
        decoded = decode_files(missing, encoder.num_frames, encoder.card.framing, decoder, failed, store)
        for _, some in groupby(decoded, lambda item: item[0].path) if by_file else [(None, decoded)]:
            while batch := list(islice(some, size)):
                clips = [clip for clip, _ in batch]
                rows.refresh()
                known = rows.find(clip.key for clip in clips)
                if (known >= 0).all():
                    yield clips, rows.rows()[known]
                else:
                    yield clips, embeddings_of([frames for _, frames in batch], encoder)


def embeddings_of(clips: Sequence[NDArray[np.uint8]], encoder: Encoder) -> NDArray[np.float32]:
    """Encode the (F, S, S, 3) frames of B clips: (B, F, D)."""
    return encoder.encode_frames(np.concatenate(clips)).reshape(len(clips), encoder.num_frames, -1)


def _add(rows: Rows[np.float32], keys: Sequence[str], values: NDArray[np.float32]) -> OSError | None:
    """Store rows; where that fails, hold them in memory and return the first failure."""
    failure = None
    if not rows.is_held:
        try:
            rows.append(keys, values)
            return None
        except OSError as error:
            failure = error
    rows.hold(keys, values)
    return failure


def _check(error: OSError, folder: Path, in_memory: bool) -> None:
    """Warn that embeddings cannot be stored, or raise that."""
    reason = "the disk is full" if is_disk_full(error) else error.strerror or reason_of(error)
    message = f"Embeddings cannot be stored in {folder} ({reason})."
    if not in_memory:
        raise ConfigError(f"{message} Those stored so far are kept; free some space and start again.") from error
    logger.warning("%s They are computed again next time.", message)


def open_gallery(gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None) -> EmbeddedGallery:
    """Open the clips whose embeddings are stored; no file is decoded, and none is read whose content is known.

    The others are listed in `skipped`. A model that sees no frames is a ConfigError.
    """
    if isinstance(encoder, PrecomputedEncoder):
        return _looked_up(gallery, encoder)
    rows = _rows(gallery, encoder, cache)
    skipped: dict[str, str] = {}
    clips = list(hash_files(gallery.videos, cache, skipped))
    return _opened(gallery, encoder, rows, clips, skipped, milvus, False, silent)


def open_indexed(gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None) -> EmbeddedGallery:
    """Open the indexed part of a library without decoding or encoding; a NotIndexedError if it is empty."""
    opened, num_clips = open_gallery(gallery, encoder, cache, milvus), len(gallery.videos)
    if not num_clips:
        raise NotIndexedError(f"{gallery.name} has no clips yet. Update it in the Library tab.", encoder.name)
    if not opened.gallery.videos:
        takes = f"about {duration_text(num_clips * seconds_per_clip(encoder))}"
        work = f"{counted(num_clips, 'clip')}, {takes} of computing on this machine"
        text = f"{gallery.name} is not indexed by {encoder.name} yet: {work}."
        raise NotIndexedError(text, encoder.name, tower=encoder.card.video_key)
    return opened


def seconds_per_clip(encoder: Encoder) -> float:
    """Measure once per visual tower how long encoding a clip's frames takes, the largest part of indexing."""
    if (key := encoder.card.video_key) not in _seconds_per_clip:
        side = encoder.image_size
        frames = np.zeros((encoder.num_frames, side, side, 3), np.uint8)
        began = time.perf_counter()
        encoder.encode_frames(frames)
        _seconds_per_clip[key] = time.perf_counter() - began
    return _seconds_per_clip[key]


def _opened(
    gallery: Gallery,
    encoder: Encoder,
    rows: Rows[np.float32],
    clips: Sequence[Video],
    skipped: Mapping[str, str],
    milvus: Milvus | None,
    may_build: bool,
    progress: Progress,
) -> EmbeddedGallery:
    """Put the stored embeddings in the order of the gallery, pooled, and index them."""
    places = rows.find(clip.key for clip in clips)
    clips = [clip for clip, place in zip(clips, places.tolist(), strict=True) if place >= 0]
    frames, places = rows.rows(), places[places >= 0]
    pooled = _pooled(encoder, rows.folder, [clip.key for clip in clips], frames, places)
    embedded = _assembled(gallery, encoder, clips, pooled, frames, places, skipped, "Not embedded yet.")
    milvus = milvus if gallery.key else None  # of the others, nobody would delete the rows
    return with_index(embedded, rows.folder, encoder, clips, milvus, may_build, progress)


def _pooled(
    encoder: Encoder, folder: Path, keys: Sequence[str], frames: NDArray[np.float32], places: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return pooled embeddings (V, D), memory-mapped if they are stored in this order; the missing ones are added."""
    name = encoder.card.pooling_key
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot be the name of a folder.")
    mark_used(folder / name)
    stored = Rows(folder / name, np.float32, (encoder.embed_dim,))
    missing = np.flatnonzero(stored.find(keys) < 0)
    for start in range(0, len(missing), CHUNK):
        some = missing[start : start + CHUNK]
        _add(stored, [keys[row] for row in some], encoder.pool(frames[places[some]]))
    if len(missing):
        evict(_folders(folder), LIMITS["pooled"])
    found, pooled = stored.find(keys), stored.rows()
    if len(found) and np.array_equal(found, np.arange(found[0], found[0] + len(found))):
        return pooled[found[0] : found[0] + len(found)]  # not copied
    return pooled[found]


def _assembled(
    gallery: Gallery,
    encoder: Encoder,
    videos: Sequence[Video],
    embeddings: NDArray[np.float32],
    frames: NDArray[np.float32],
    places: NDArray[np.int64],
    skipped: Mapping[str, str],
    otherwise: str,
) -> EmbeddedGallery:
    there = {video.video_id for video in videos}
    others = (video.video_id for video in gallery.videos if video.video_id not in there)
    reasons = tuple((video_id, skipped.get(video_id, otherwise)) for video_id in others)
    embeddings.flags.writeable = False
    index = ExactIndex(encoder.embed_dim)
    index.add(np.arange(len(videos)), embeddings)
    each = None if encoder.card.normalises_frames else unit
    if encoder.card.words:
        each = partial(_each_pooled, encoder)
    return EmbeddedGallery(replace(gallery, videos=tuple(videos)), embeddings, index, reasons, frames, places, each)


def _each_pooled(encoder: Encoder, frames: NDArray[np.float32]) -> NDArray[np.float32]:
    return encoder.pool(frames[:, None])


def _looked_up(gallery: Gallery, encoder: PrecomputedEncoder) -> EmbeddedGallery:
    found = [(video, encoder.video(video.video_id)) for video in gallery.videos]
    known = [(video, embedding) for video, embedding in found if embedding is not None]
    if not known:
        raise ConfigError(f"{encoder.name} has no embedding of any of the {len(found)} videos of {gallery.name}.")
    videos, embeddings = [video for video, _ in known], np.stack([embedding for _, embedding in known])
    reason = f"{encoder.name} has no embedding of it."
    places = np.arange(len(known))
    return _assembled(gallery, encoder, videos, embeddings, embeddings[:, None], places, {}, reason)
