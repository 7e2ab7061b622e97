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
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import LIMITS, SAMPLING, Cache, Embeddings, evict, mark_used
from nt2vr.media.video_files import VideoFile, decode_files, hash_files
from nt2vr.models.card import Card
from nt2vr.models.device import PRECISIONS
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
_Decoded = tuple[VideoFile, NDArray[np.uint8]]  # frames are (F, S, S, 3)
# embeds clips elsewhere: some, and their (B, F, D), at a time; the dictionary gets ids and reasons of those that fail;
# the function is called now and then, and stops the work as `Progress` does
Encode = Callable[
    [Sequence[VideoFile], dict[str, str], Callable[[], None]],
    Iterator[tuple[Sequence[VideoFile], NDArray[np.float32]]],
]
_seconds_per_clip: dict[str, float] = {}  # by `Card.video_key`


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower; models that pool differently share it."""
    tower = blake2b(f"{SAMPLING} {card.visual_key} {card.frames}".encode(), digest_size=8)
    return cache.galleries / (gallery.key or SHARED) / tower.hexdigest()


def towers(folder: Path) -> list[Path]:
    """List the folders of all visual towers of a gallery."""
    return [tower for tower in folder.iterdir() if tower.is_dir()] if folder.is_dir() else []


def drop_unused(gallery: Gallery, cache: Cache) -> None:
    """Drop the embeddings of clips that the gallery has no longer, under every visual tower; an OSError drops none."""
    unreadable: dict[str, str] = {}
    keys = [file.key for file in hash_files(gallery.videos, cache, unreadable)]
    if gallery.key and not unreadable:  # otherwise others use the rows, or it is not known which are unused
        for folder in towers(cache.galleries / gallery.key):
            Embeddings(folder).retain(keys)


def prefetch_frames(gallery: Gallery, card: Card, decoder: Decoder, cache: Cache) -> None:
    """Decode and store the frames that `embed_gallery` will need, while a model is still loading.

    Only the loaded model knows its precision, so clips with embeddings in any precision are left out.
    """
    if gallery.key or card.queries:
        return
    failed: dict[str, str] = {}  # embed_gallery will fail on the same files, and report them
    folders = [tower_folder(gallery, replace(card, precision=precision), cache) for precision in PRECISIONS]
    known, shipped = [Embeddings(folder) for folder in folders], shipped_embeddings(card)
    missing = (
        file
        for file in hash_files(gallery.videos, cache, failed)
        if file.key not in shipped and all(each.find([file.key])[0] < 0 for each in known)
    )
    with cache.frames(card.frames, card.framing) as store:
        for _ in decode_files(missing, card.frames, card.framing, decoder, failed, store):
            pass


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
    encoder.card.check_frames()
    if isinstance(encoder, PrecomputedEncoder):
        return _looked_up(gallery, encoder)
    skipped: dict[str, str] = {}
    hashed = hash_files(gallery.videos, cache, skipped)
    files = list(tracked(hashed, len(gallery.videos), "checking files", progress))
    store = _Store(gallery, encoder, cache, in_memory, milvus)
    missing = store.missing(files)
    copies = Counter(file.key for file in files)
    done = len(files) - sum(copies[file.key] for file in missing)
    failed: dict[str, str] = {}

    def report(current: str = "") -> None:
        doing = f"reading clips: {current}" if current else "reading clips"
        progress(done + len(failed) + len(skipped), len(gallery.videos), doing)

    report()
    for some in store.embedded(missing, decoder, cache, failed, report, encode):
        done += sum(copies[file.key] for file in some)
        report(some[-1].video.video_id)
    reasons = {file.key: failed[file.video.video_id] for file in missing if file.video.video_id in failed}
    skipped |= {file.video.video_id: reasons[file.key] for file in files if file.key in reasons}
    return store.opened(files, skipped, may_build=True, progress=progress)


def _batches(decoded: Iterator[_Decoded], size: int, by_file: bool) -> Iterator[list[_Decoded]]:
    """Yield batches of clips; those of a library have clips of one file, so that a kill loses no more than that."""
    files = groupby(decoded, lambda item: item[0].video.path) if by_file else [(None, decoded)]
    for _, clips in files:
        while batch := list(islice(clips, size)):
            yield batch


def embeddings_of(clips: Sequence[NDArray[np.uint8]], encoder: Encoder) -> NDArray[np.float32]:
    """Encode the (F, S, S, 3) frames of B clips: (B, F, D)."""
    return encoder.encode_frames(np.concatenate(clips)).reshape(len(clips), encoder.num_frames, -1)


def open_gallery(gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None) -> EmbeddedGallery:
    """Open the clips whose embeddings are stored; no file is decoded, and none is read whose content is known.

    The others are listed in `skipped`. A model that sees no frames is a ConfigError.
    """
    encoder.card.check_frames()
    if isinstance(encoder, PrecomputedEncoder):
        return _looked_up(gallery, encoder)
    skipped: dict[str, str] = {}
    files = list(hash_files(gallery.videos, cache, skipped))
    return _Store(gallery, encoder, cache, milvus=milvus).opened(files, skipped)


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


class _Store:
    """A gallery's stored embeddings under one model, and those that could not be stored."""

    def __init__(
        self,
        gallery: Gallery,
        encoder: Encoder,
        cache: Cache,
        in_memory: bool = True,
        milvus: Milvus | None = None,
    ) -> None:
        self._gallery, self._encoder, self._in_memory = gallery, encoder, in_memory
        self._milvus = milvus if gallery.key else None  # of the others, nobody would delete the rows
        self._folder = tower_folder(gallery, encoder.card, cache)
        mark_used(self._folder)
        width = getattr(encoder, "frame_dim", encoder.embed_dim)  # of frames; not every `Encoder` tells it apart
        self._file = Embeddings(self._folder, (encoder.num_frames, width))
        self._pooled = self._pool()
        self._pooled_at = self._file.state
        self._unwritten: dict[str, NDArray[np.float32]] = {}

    def _pool(self) -> NDArray[np.float32]:
        encoder = self._encoder
        return self._file.pooled(encoder.card.pooling_key, encoder.pool, encoder.embed_dim)

    def missing(self, files: Sequence[VideoFile]) -> list[VideoFile]:
        """List the files without embeddings, one per content."""
        missing: dict[str, VideoFile] = {}
        for file, place in zip(files, self._file.find(file.key for file in files), strict=True):
            if place < 0:
                missing.setdefault(file.key, file)
        return list(missing.values())

    def embedded(
        self,
        missing: Sequence[VideoFile],
        decoder: Decoder,
        cache: Cache,
        failed: dict[str, str],
        report: Callable[[], None],
        encode: Encode | None,
    ) -> Iterator[Sequence[VideoFile]]:
        """Embed files and store their embeddings; yield those that are done, some at a time."""
        shipped = shipped_embeddings(self._encoder.card)
        if known := [file for file in missing if file.key in shipped]:
            self._add(known, np.stack([shipped[file.key] for file in known]))
            yield known
            missing = [file for file in missing if file.key not in shipped]
        if encode is not None:
            for some, embeddings in encode(missing, failed, report):
                self._add(some, embeddings)
                yield some
            return
        num_frames, framing = self._encoder.num_frames, self._encoder.card.framing
        with cache.frames(num_frames, framing) as frames:
            decoded = decode_files(missing, num_frames, framing, decoder, failed, frames)
            by_file = bool(self._gallery.key)
            for batch in _batches(decoded, max(1, BATCH_FRAMES // num_frames), by_file):
                self._embed(batch)
                yield [file for file, _ in batch]

    def _embed(self, batch: Sequence[_Decoded]) -> None:
        self._file.refresh()
        known = self._file.find(file.key for file, _ in batch) >= 0  # embedded by another process in the meantime
        batch = [item for item, is_known in zip(batch, known, strict=True) if not is_known]
        if batch:
            self._add([file for file, _ in batch], embeddings_of([frames for _, frames in batch], self._encoder))

    def _add(self, files: Sequence[VideoFile], embeddings: NDArray[np.float32]) -> None:
        if not np.isfinite(embeddings).all():
            name = self._encoder.card.name
            raise CheckpointError(f"The embeddings of {name} are not finite. Choose another checkpoint.")
        if not self._folder.exists():  # a new tower: those opened least recently go
            evict(towers(self._folder.parent), replace(LIMITS["towers"], count=LIMITS["towers"].count - 1))
        keys = [file.key for file in files]
        if not self._unwritten:
            try:
                self._file.append(keys, embeddings)
                return
            except OSError as error:
                self._check(error)
        self._unwritten.update(zip(keys, embeddings, strict=True))

    def _check(self, error: OSError) -> None:
        """Warn that embeddings cannot be stored, or raise that."""
        reason = "the disk is full" if is_disk_full(error) else error.strerror or reason_of(error)
        message = f"Embeddings cannot be stored in {self._folder} ({reason})."
        if not self._in_memory:
            raise ConfigError(f"{message} Those stored so far are kept; free some space and start again.") from error
        logger.warning("%s They are computed again next time.", message)

    def opened(
        self,
        files: Sequence[VideoFile],
        skipped: Mapping[str, str],
        may_build: bool = False,
        progress: Progress = silent,
    ) -> EmbeddedGallery:
        encoder = self._encoder
        if self._file.state != self._pooled_at:  # rows were added, or another process has moved them
            self._pooled = self._pool()
        frames, pooled, places = self._file.rows(), self._pooled, self._file.find(file.key for file in files)
        if self._unwritten:
            added = {key: place for place, key in enumerate(self._unwritten, start=len(frames))}
            places = np.array([added.get(file.key, place) for file, place in zip(files, places, strict=True)])
            new = np.stack(list(self._unwritten.values()))
            frames, pooled = np.concatenate([frames, new]), np.concatenate([pooled, encoder.pool(new)])
        ids = (file.video.video_id for file in files)
        place_of = {video_id: place for video_id, place in zip(ids, places.tolist(), strict=True) if place >= 0}
        embedded = _assembled(self._gallery, encoder, place_of, frames, pooled, skipped, "Not embedded yet.")
        return with_index(embedded, self._folder, encoder, files, self._milvus, may_build, progress)


def _assembled(
    gallery: Gallery,
    encoder: Encoder,
    place_of: Mapping[str, int],
    frames: NDArray[np.float32],
    pooled: NDArray[np.float32],
    skipped: Mapping[str, str],
    otherwise: str,
) -> EmbeddedGallery:
    """Put embeddings (N, F, D) and (N, D) in the order of the gallery; `place_of` has their rows by video_id."""
    videos = tuple(video for video in gallery.videos if video.video_id in place_of)
    places = np.array([place_of[video.video_id] for video in videos], np.int64)
    others = (video.video_id for video in gallery.videos if video.video_id not in place_of)
    reasons = tuple((video_id, skipped.get(video_id, otherwise)) for video_id in others)
    embeddings = _rows(pooled, places)
    index = ExactIndex(encoder.embed_dim)
    index.add(np.arange(len(videos)), embeddings)
    each = None if encoder.card.normalises_frames else unit
    if encoder.card.words:
        each = partial(_each_pooled, encoder)
    return EmbeddedGallery(replace(gallery, videos=videos), embeddings, index, reasons, frames, places, each)


def _each_pooled(encoder: Encoder, frames: NDArray[np.float32]) -> NDArray[np.float32]:
    return encoder.pool(frames[:, None])


def _rows(pooled: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the rows at these places, read-only, and without copying them if they are consecutive."""
    if len(places) and np.array_equal(places, np.arange(places[0], places[0] + len(places))):
        rows = pooled[places[0] : places[0] + len(places)]
    else:
        rows = pooled[places]
    rows.flags.writeable = False
    return rows


def _looked_up(gallery: Gallery, encoder: PrecomputedEncoder) -> EmbeddedGallery:
    found = {video.video_id: encoder.video(video.video_id) for video in gallery.videos}
    embedded = {video_id: embedding for video_id, embedding in found.items() if embedding is not None}
    if not embedded:
        raise ConfigError(f"{encoder.name} has no embedding of any of the {len(found)} videos of {gallery.name}.")
    pooled = np.stack(list(embedded.values()))
    place_of = {video_id: place for place, video_id in enumerate(embedded)}
    reason = f"{encoder.name} has no embedding of it."
    return _assembled(gallery, encoder, place_of, pooled[:, None], pooled, {}, reason)
