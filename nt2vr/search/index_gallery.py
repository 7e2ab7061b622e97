"""The index of an embedded gallery: exact for small ones, FAISS for large ones, or Milvus.

An index that does not exist yet is built only by an update, which can sample queries to measure
how many of the best clips the index finds.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.errors import reason_of
from nt2vr.files import stored_json, write_json
from nt2vr.media.gallery import Video
from nt2vr.media.limits import LIMITS, evict
from nt2vr.media.rows import digest
from nt2vr.media.store import read_cached
from nt2vr.models.card import StoredNames
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.negation.parse.cues import forms
from nt2vr.progress import Progress
from nt2vr.search.embedded_gallery import EmbeddedGallery, Numbers
from nt2vr.search.index import ExactIndex, FaissIndex, Milvus, MilvusIndex
from nt2vr.search.index.milvus import ClipRow

logger = logging.getLogger(__name__)

# Of fewer clips, exact search takes less than 20 ms.
APPROXIMATE_FROM = 200_000
# An approximate index that finds less is not used.
MIN_RECALL = 0.95
# Captions with which the recall is measured.
NUM_SAMPLES = 200
OTHER_CLIPS = (
    "The vector database has other clips, so every clip was compared here. Update the library."
)
NO_ANSWER = (
    "The vector database does not answer, so it is not up to date. Update the library again later."
)

# Returns queries (Q, D) to measure the recall with.
Sample = Callable[[], Vectors]


def with_index(
    embedded: EmbeddedGallery,
    encoder: Encoder,
    folder: Path,
    milvus: Milvus | None,
    progress: Progress | None,
) -> EmbeddedGallery:
    """Return a gallery with the index that serves it best.

    Args:
        folder: of the gallery's embeddings under the encoder's visual tower.
        milvus: indexes libraries.
        progress: of an update, which builds and changes indexes; None only opens them.
    """
    sample = partial(_sample_queries, embedded, encoder)
    pooling = StoredNames.of(encoder.card.visual_key).pooling
    clips = embedded.gallery.videos
    # Only libraries use Milvus: nobody would delete the rows of other galleries.
    if milvus is not None and embedded.gallery.key and clips:
        return _with_milvus(
            embedded, folder=folder / pooling, milvus=milvus, sample=sample, progress=progress
        )
    if len(clips) < APPROXIMATE_FROM:
        return embedded

    contents = np.array([content_id(clip.key) for clip in clips], np.int64)
    index = _faiss_index(
        folder / f"{pooling}.faiss",
        contents,
        embedded.embeddings,
        sample=None if progress is None else sample,
    )
    evict(folder.glob("*.faiss"), LIMITS["pooled"])
    if index is None:
        return embedded
    return replace(embedded, index=index, contents=contents)


def _sample_queries(embedded: EmbeddedGallery, encoder: Encoder) -> Vectors:
    """Embed some captions of the clips, or sentences with negations if there are no captions."""
    first_captions = (clip.captions[0] for clip in embedded.gallery.videos if clip.captions)
    texts = list(islice(first_captions, NUM_SAMPLES))
    if not texts:
        texts = [form.example for form in forms()]
    return encoder.encode_text(texts)


def content_id(key: str) -> int:
    """Return a number of 63 bits for a clip key.

    Of a million clips, two share one with a chance of one in 20 million.
    """
    return int.from_bytes(digest(key)[:8]) >> 1


def _fingerprint(ids: Numbers) -> str:
    return blake2b(ids.tobytes(), digest_size=16).hexdigest()


def _faiss_index(
    path: Path, contents: Numbers, embeddings: Vectors, sample: Sample | None
) -> FaissIndex | None:
    """Open the stored index, or build it in minutes if there is a `sample`.

    None says that exact search serves better. Clips of equal content share an id of those in
    `contents`, (V,), by which the index answers.
    """
    ids, rows = np.unique(contents, return_index=True)
    index = FaissIndex.load(path, _fingerprint(ids))
    if index is None and sample is not None:
        index = FaissIndex(embeddings.shape[1], sample())
        index.add(ids, embeddings[rows])
        try:
            index.save(path, _fingerprint(ids))
        except OSError as error:
            logger.warning(
                "The index %s cannot be stored (%s). Searches will be exact.",
                path,
                reason_of(error),
            )
    if index is None or index.recall < MIN_RECALL:
        return None
    return index


def _with_milvus(
    embedded: EmbeddedGallery,
    folder: Path,
    milvus: Milvus,
    sample: Sample,
    progress: Progress | None,
) -> EmbeddedGallery:
    """Bring a library's index in Milvus up to date; without `progress`, open it as the last update left it."""
    library = embedded.gallery.key
    clips = embedded.gallery.videos
    # Libraries share a collection, so an id depends on the library, too.
    contents = np.array([content_id(f"{library} {clip.key}") for clip in clips], np.int64)
    ids, rows = np.unique(contents, return_index=True)

    index = MilvusIndex(
        milvus=milvus,
        tower=f"{folder.parent.name}_{folder.name}",
        library=library,
        local=_local_index(embedded.embeddings, contents, ids, rows),
        rows=_clip_rows(contents, clips) if progress is not None else {},
    )

    # What the last update measured.
    state_file = folder.with_suffix(".milvus.json")
    state = {"index": milvus.address, "ids": _fingerprint(ids)}
    if progress is None:
        notice = _open_milvus(index, state_file, state)
    else:
        notice = _update_milvus(
            index, ids, embeddings=embedded.embeddings[rows], sample=sample, progress=progress
        )
        if not notice:
            write_json(state_file, {**state, "recall": index.recall})
    if not notice and index.recall < MIN_RECALL:
        notice = (
            f"The vector database finds only {100 * index.recall:.1f} % of the ten best clips, "
            "so every clip was compared here. Choose another index."
        )
    if notice:
        return replace(embedded, refused=notice)
    return replace(embedded, index=index, contents=contents)


def _local_index(embeddings: Vectors, contents: Numbers, ids: Numbers, rows: Numbers) -> ExactIndex:
    """Return an exact index of the same contents, each once: those of `rows`, by `ids`."""
    # Otherwise nothing is copied.
    if len(ids) < len(contents):
        contents = ids
        embeddings = embeddings[rows]
    local = ExactIndex(embeddings.shape[1])
    local.add(contents, embeddings)
    return local


def _clip_rows(contents: Numbers, clips: Sequence[Video]) -> dict[int, ClipRow]:
    """Return what Milvus stores of each content besides its embedding."""
    return {
        number: ClipRow(clip.content, clip.start, clip.end or 0.0)
        for number, clip in zip(contents.tolist(), clips, strict=True)
    }


def _open_milvus(index: MilvusIndex, state_file: Path, state: Mapping[str, Any]) -> str:
    """Read the recall that the last update measured; return why the index cannot be used, or ""."""
    stored = read_cached(state_file, lambda path: dict(stored_json(path))) or {}
    index.recall = float(stored.get("recall", 0))
    is_up_to_date = all(stored.get(name) == value for name, value in state.items())
    return "" if is_up_to_date else OTHER_CLIPS


def _update_milvus(
    index: MilvusIndex, ids: Numbers, embeddings: Vectors, sample: Sample, progress: Progress
) -> str:
    """Bring the index up to date, and measure it; return why it cannot be used, or ""."""
    try:
        stored_ids = index.ids()
        is_new = ~np.isin(ids, stored_ids)
        index.remove(np.setdiff1d(stored_ids, ids))
        index.add(ids[is_new], embeddings[is_new], progress)
        index.measure(sample())
    # It is logged; the next update goes on from here.
    except ConnectionError:
        return NO_ANSWER
    # Measuring may have failed.
    return index.notice
