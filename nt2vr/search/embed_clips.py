"""Embed the clips of a gallery by one model, and open those that are stored, with their index.

The built-in gallery ships with the embeddings of the visual tower that the built-in models share,
so that the first start embeds nothing. After a change of the gallery or of that tower, `python -m
nt2vr.world.embeddings` writes them.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache as cached
from functools import partial
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import (
    CheckpointError,
    ConfigError,
    MediaError,
    NotIndexedError,
    counted,
    reason_of,
)
from nt2vr.files import is_disk_full, parse_json, write_json
from nt2vr.media.clip_frames import decode_files, hash_files, missing_of
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.limits import LIMITS, evict, mark_used
from nt2vr.media.rows import CHUNK, Rows, digest
from nt2vr.media.store import SAMPLING, Cache, read_cached
from nt2vr.models.card import Card, StoredNames
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.cues import forms
from nt2vr.progress import Progress, duration_text, silent, tracked
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex, FaissIndex, Milvus, MilvusIndex
from nt2vr.search.index.milvus import ClipRow
from nt2vr.settings import ASSETS

logger = logging.getLogger(__name__)
SHARED = "shared"  # folder of galleries without a key
SHIPPED = ASSETS / "gallery" / "embeddings.npz"
APPROXIMATE_FROM = 200_000  # clips; of fewer, exact search takes less than 20 ms
MIN_RECALL = 0.95  # an approximate index that finds less is not used
SAMPLE = 200  # captions with which the recall is measured
Embeddings = NDArray[np.float32]
Numbers = NDArray[np.int64]
Some = tuple[Sequence[Video], Embeddings]  # clips, and their embeddings (B, F, D)
# embeds clips elsewhere, some at a time; the dictionary gets ids and reasons of those that fail;
# the function is called now and then, and stops the work as `Progress` does
Encode = Callable[[Sequence[Video], dict[str, str], Callable[[], None]], Iterator[Some]]
Sample = Callable[[], Embeddings]  # returns queries (Q, D) to measure the recall with
_seconds_per_clip: dict[str, float] = {}  # by `Card.visual_key`


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower; models that pool differently share it."""
    names = StoredNames.of(card.visual_key)
    tower = blake2b(f"{SAMPLING} {names.of_frames}".encode(), digest_size=8)
    return cache.galleries / (gallery.key or SHARED) / tower.hexdigest()


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def drop_unused(gallery: Gallery, cache: Cache) -> None:
    """Drop the embeddings of clips that the gallery has no longer, under every visual tower; an OSError drops none."""
    unreadable: dict[str, str] = {}
    keys = [clip.key for clip in hash_files(gallery.videos, cache, unreadable)]
    if (
        gallery.key and not unreadable
    ):  # otherwise others use the rows, or it is not known which are unused
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
    announce: Callable[[str], None] = lambda _: None,
) -> EmbeddedGallery:
    """Embed the clips that have no stored embeddings, and open all; each batch is stored as soon as it is embedded.

    Equal content is embedded once. A CheckpointError refuses embeddings that are not finite.

    Args:
        in_memory: whether to go on if embeddings cannot be stored, which otherwise is a
            ConfigError.
        milvus: indexes a library.
        encode: decodes and embeds the clips elsewhere; None does it here.
        announce: gets what a slow model will cost, before it embeds any.
    """
    if encoder.given_videos is not None:
        return _looked_up(gallery, encoder, encoder.given_videos)
    rows, card = _rows(gallery, encoder, cache), encoder.card
    skipped, failed = dict[str, str](), dict[str, str]()
    hashed = hash_files(gallery.videos, cache, skipped)
    clips = list(tracked(hashed, len(gallery.videos), "checking files", progress))
    missing, copies = missing_of(clips, rows), Counter(clip.key for clip in clips)
    done = len(clips) - sum(copies[clip.key] for clip in missing)

    def report(current: str = "") -> None:
        doing = f"reading clips: {current}".removesuffix(": ")
        progress(done + len(failed) + len(skipped), len(gallery.videos), doing)

    report()
    if missing and encoder.capabilities.is_slow:
        announce(
            f"{encoder.name} has {cost_text(encoder, len(missing))}. Stopped, it goes on from there next time."
        )
    encode = encode or partial(_encode, bool(gallery.key), rows, encoder, decoder, cache)
    shipped = shipped_embeddings(card)
    known = [clip for clip in missing if clip.key in shipped]
    others = encode([clip for clip in missing if clip.key not in shipped], failed, report)
    taken = [(known, np.stack([shipped[clip.key] for clip in known]))] if known else []
    for some, embeddings in (part for parts in (taken, others) for part in parts):
        if not np.isfinite(embeddings).all():
            raise CheckpointError(
                f"The embeddings of {card.name} are not finite. Choose another checkpoint."
            )
        keys = [clip.key for clip in some]
        if error := _add(rows, keys, embeddings):
            reason = (
                "the disk is full" if is_disk_full(error) else error.strerror or reason_of(error)
            )
            message = f"Embeddings cannot be stored in {rows.folder} ({reason})."
            if not in_memory:
                message += " Those stored so far are kept; free some space and start again."
                raise ConfigError(message) from error
            logger.warning("%s They are computed again next time.", message)
        done += sum(copies[key] for key in keys)
        report(some[-1].video_id)
    evict(_folders(rows.folder.parent), LIMITS["towers"])
    by_content = {clip.key: failed[clip.video_id] for clip in clips if clip.video_id in failed}
    skipped |= {
        clip.video_id: by_content[clip.key] for clip in clips if clip.key in by_content
    }  # copies, too
    return _opened(gallery, encoder, rows, clips, skipped, milvus, True, progress)


def _rows(gallery: Gallery, encoder: Encoder, cache: Cache) -> Rows[np.float32]:
    encoder.card.check_frames()
    folder = tower_folder(gallery, encoder.card, cache)
    mark_used(folder)
    return Rows(folder, np.float32, encoder.stored_shape)


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
    """Decode and embed files here, except for those that another process has embedded in the meantime."""
    # In libraries (`by_file`), a batch has clips of one file only, so that a kill loses no more
    # than that.
    with cache.frames(encoder.num_frames, encoder.framing) as store:
        decoded = decode_files(missing, encoder.num_frames, encoder.framing, decoder, failed, store)
        for _, some in (
            groupby(decoded, lambda item: item[0].path) if by_file else [(None, decoded)]
        ):
            while batch := list(islice(some, encoder.batch_size)):
                clips = [clip for clip, _ in batch]
                rows.refresh()
                known = rows.find(clip.key for clip in clips)
                if (known >= 0).all():
                    yield clips, rows.rows()[known]
                else:
                    yield (
                        clips,
                        embeddings_of(clips, [frames for _, frames in batch], encoder, decoder),
                    )


def embeddings_of(
    clips: Sequence[Video], frames: Sequence[NDArray[np.uint8]], encoder: Encoder, decoder: Decoder
) -> Embeddings:
    """Encode the (F, H, W, 3) frames of B clips as they are stored: (B, R, W)."""
    stacked = np.stack(frames)
    if not encoder.capabilities.reads_seconds:
        return encoder.encode_video(stacked)

    lengths_s = []
    for clip in clips:
        try:
            end = clip.end
            if end is None:
                end = decoder.probe(clip.path, clip.root, hashes=False).result().seconds
            lengths_s.append(end - clip.start)
        except MediaError:  # of what has just been decoded: it is gone
            lengths_s.append(0.0)
    middles = (np.arange(encoder.num_frames) + 0.5) / encoder.num_frames
    seconds = np.outer(lengths_s, middles).astype(np.float32)
    return encoder.encode_video(stacked, seconds)


def _add(rows: Rows[np.float32], keys: Sequence[str], values: Embeddings) -> OSError | None:
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
    """Open the clips with stored embeddings, and list the others as skipped; nothing is decoded or encoded."""
    if encoder.given_videos is not None:
        return _looked_up(gallery, encoder, encoder.given_videos)
    rows, skipped = _rows(gallery, encoder, cache), dict[str, str]()
    clips = list(hash_files(gallery.videos, cache, skipped))
    return _opened(gallery, encoder, rows, clips, skipped, milvus, False, silent)


def open_indexed(
    gallery: Gallery, encoder: Encoder, cache: Cache, milvus: Milvus | None = None
) -> EmbeddedGallery:
    """Open the indexed part of a library without decoding or encoding; a NotIndexedError if it is empty."""
    opened, num_clips = open_gallery(gallery, encoder, cache, milvus), len(gallery.videos)
    if not num_clips:
        raise NotIndexedError(
            f"{gallery.name} has no clips yet. Update it in the Library tab.", encoder.name
        )
    if not opened.gallery.videos:
        text = (
            f"{gallery.name} is not indexed by {encoder.name} yet: {cost_text(encoder, num_clips)}."
        )
        raise NotIndexedError(text, encoder.name, tower=encoder.card.visual_key)
    return opened


def cost_text(encoder: Encoder, num_clips: int) -> str:
    """Say what it takes to embed so many clips, and of a slow model what one takes."""
    if (key := encoder.card.visual_key) not in _seconds_per_clip:
        clip = np.zeros((1, encoder.num_frames, *encoder.framing.shape, 3), np.uint8)
        began = time.perf_counter()
        encoder.encode_video(clip)
        _seconds_per_clip[key] = time.perf_counter() - began
    each = _seconds_per_clip[key]
    text = f"{counted(num_clips, 'clip')}, about {duration_text(num_clips * each)} of computing on this machine"
    if not encoder.capabilities.is_slow:
        return text
    memory = f"{max(1, encoder.num_bytes / 1e6):,.0f} MB of memory for its weights"
    return f"{text} ({each:.2g} s for one, as measured now, and {memory})"


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
    """Put the stored embeddings in the order of the gallery, pooled, and index them; only an update `may_build`."""
    places = rows.find(clip.key for clip in clips)
    clips = [clip for clip, place in zip(clips, places.tolist(), strict=True) if place >= 0]
    frames, places, folder = rows.rows(), places[places >= 0], rows.folder
    pooled = _pooled(encoder, folder, [clip.key for clip in clips], frames, places)
    embedded = _assembled(
        gallery, encoder, clips, pooled, frames, places, skipped, "Not embedded yet."
    )
    pooling = StoredNames.of(encoder.card.visual_key).pooling

    def sample() -> Embeddings:
        captions = (caption for video in clips for caption in video.captions[:1])
        return encoder.encode_text(
            list(islice(captions, SAMPLE)) or [form.example for form in forms()]
        )

    measured = sample if may_build else None
    if (
        milvus is not None and gallery.key and clips
    ):  # of other galleries, nobody would delete the rows
        return _in_milvus(embedded, folder / pooling, milvus, measured, progress)
    if len(clips) < APPROXIMATE_FROM:
        return embedded
    contents = np.array([content_id(clip.key) for clip in clips], np.int64)
    index = _approximate(folder / f"{pooling}.faiss", contents, pooled, measured)
    evict(folder.glob("*.faiss"), LIMITS["pooled"])
    return embedded if index is None else replace(embedded, index=index, contents=contents)


def _pooled(
    encoder: Encoder, folder: Path, keys: Sequence[str], frames: Embeddings, places: Numbers
) -> Embeddings:
    """Return pooled embeddings (V, D), memory-mapped if they are stored in this order; the missing ones are added."""
    name = StoredNames.of(encoder.card.visual_key).pooling
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
    embeddings: Embeddings,
    frames: Embeddings,
    places: Numbers,
    skipped: Mapping[str, str],
    otherwise: str,
) -> EmbeddedGallery:
    there = {video.video_id for video in videos}
    others = (video.video_id for video in gallery.videos if video.video_id not in there)
    reasons = tuple((video_id, skipped.get(video_id, otherwise)) for video_id in others)
    embeddings.flags.writeable = False
    index = ExactIndex(encoder.embed_dim)
    index.add(np.arange(len(videos)), embeddings)
    shown = replace(gallery, videos=tuple(videos))
    return EmbeddedGallery(shown, embeddings, index, reasons, frames, places, encoder.frame_reader)


def _looked_up(
    gallery: Gallery, encoder: Encoder, given_videos: Mapping[str, Embeddings]
) -> EmbeddedGallery:
    """Open the clips of which a model has embeddings from elsewhere; a ConfigError says if there are none."""
    videos = [video for video in gallery.videos if video.video_id in given_videos]
    if not videos:
        num_videos = len(gallery.videos)
        raise ConfigError(
            f"{encoder.name} has no embedding of any of the {num_videos} videos of {gallery.name}."
        )

    embeddings = np.stack([given_videos[video.video_id] for video in videos])
    reason = f"{encoder.name} has no embedding of it."
    places = np.arange(len(videos))
    return _assembled(gallery, encoder, videos, embeddings, embeddings[:, None], places, {}, reason)


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(digest(key)[:8]) >> 1


def _fingerprint(ids: Numbers) -> str:
    return blake2b(ids.tobytes(), digest_size=16).hexdigest()


def _approximate(
    path: Path, contents: Numbers, embeddings: Embeddings, sample: Sample | None
) -> FaissIndex | None:
    """Open the stored index, or build it in minutes if there is a `sample`; None if exact search serves better."""
    # Clips of equal content share an id, of those in `contents` (V,), by which the index answers.
    ids, places = np.unique(contents, return_index=True)
    index = FaissIndex.load(path, _fingerprint(ids))
    if index is None and sample is not None:
        index = FaissIndex(embeddings.shape[1], sample())
        index.add(ids, embeddings[places])
        try:
            index.save(path, _fingerprint(ids))
        except OSError as error:
            logger.warning(
                "The index %s cannot be stored (%s). Searches will be exact.",
                path,
                reason_of(error),
            )
    return index if index is not None and index.recall >= MIN_RECALL else None


def _in_milvus(
    embedded: EmbeddedGallery,
    folder: Path,
    milvus: Milvus,
    sample: Sample | None,
    progress: Progress,
) -> EmbeddedGallery:
    """Bring a library's index in Milvus up to date, or, without a `sample`, open it as the last update left it."""
    library, clips, embeddings = embedded.gallery.key, embedded.gallery.videos, embedded.embeddings
    contents = np.array(
        [content_id(f"{library} {clip.key}") for clip in clips], np.int64
    )  # others are there, too
    ids, places = np.unique(contents, return_index=True)
    local = ExactIndex(embeddings.shape[1])
    is_unique = len(ids) == len(contents)  # then nothing is copied
    local.add(contents if is_unique else ids, embeddings if is_unique else embeddings[places])
    read = [ClipRow(clip.content, clip.start, clip.end or 0.0) for clip in clips] if sample else []
    rows = dict(zip(contents.tolist(), read, strict=False))
    index = MilvusIndex(milvus, f"{folder.parent.name}_{folder.name}", library, local, rows)
    path = folder.with_suffix(".milvus.json")  # what the last update measured
    state, refused = {"index": milvus.address, "ids": _fingerprint(ids)}, ""
    if sample is None:
        facts = (
            read_cached(path, lambda path: dict(parse_json(path.read_text(encoding="utf-8")))) or {}
        )
        index.recall = float(facts.get("recall", 0))
        if facts | state != facts:
            refused = "The vector database has other clips, so every clip was compared here. Update the library."
    else:
        try:
            known = index.ids()
            new = ~np.isin(ids, known)
            index.remove(np.setdiff1d(known, ids))
            index.add(ids[new], embeddings[places[new]], progress)
            index.measure(sample())
            refused = index.notice  # of the measuring
        except ConnectionError:  # logged; the next update goes on from here
            refused = "The vector database does not answer, so it is not up to date. Update the library again later."
        if not refused:
            write_json(path, {**state, "recall": index.recall})
    if not refused and index.recall < MIN_RECALL:
        found = f"{100 * index.recall:.1f} % of the ten best clips"
        refused = f"The vector database finds only {found}, so every clip was compared here. Choose another index."
    return (
        replace(embedded, refused=refused)
        if refused
        else replace(embedded, index=index, contents=contents)
    )


def shipped_embeddings(card: Card) -> Mapping[str, Embeddings]:
    """Return the embeddings (F, D) of clips by content, as the model's visual tower gives them; none of another."""
    tower, known = _read_shipped()
    return known if tower == tower_of(card) else {}


def tower_of(card: Card) -> str:
    """Identify what embeds, whatever its precision."""
    names = StoredNames.of(card.in_any_precision.visual_key)
    return f"{SAMPLING} {names.of_frames}"


@cached
def _read_shipped() -> tuple[str, dict[str, Embeddings]]:
    try:
        with np.load(SHIPPED, allow_pickle=False) as data:
            embeddings = data["embeddings"].astype(np.float32)
            return str(data["tower"]), dict(zip(data["contents"].tolist(), embeddings, strict=True))
    except (OSError, ValueError, KeyError):
        return "", {}
