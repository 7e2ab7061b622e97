"""Approximate index of a large gallery: a file of FAISS stored with its embeddings, or Milvus."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import parse_json, write_json
from nt2vr.media.gallery import Video
from nt2vr.media.store import LIMITS, digest, evict, read_cached
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.cues import forms
from nt2vr.progress import Progress
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex, FaissIndex, Milvus, MilvusIndex
from nt2vr.search.index.milvus import Row

logger = logging.getLogger(__name__)

APPROXIMATE_FROM = 200_000  # clips; of fewer, exact search takes less than 20 ms
MILVUS_FACTS = ".milvus.json"  # after the name of the pooling
MIN_RECALL = 0.95  # an approximate index that finds less is not used
SAMPLE = 200  # captions with which the recall is measured
Sample = Callable[[], NDArray[np.float32]]  # returns queries (Q, D)


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(digest(key)[:8]) >> 1


def with_index(
    embedded: EmbeddedGallery,
    folder: Path,
    encoder: Encoder,
    clips: Sequence[Video],
    milvus: Milvus | None,
    may_build: bool,
    progress: Progress,
) -> EmbeddedGallery:
    """Replace the exact index of a large gallery by an approximate one, or of any by Milvus, if there is one.

    Args:
        folder: of the embeddings.
        clips: those that are embedded.
        may_build: whether the index may be built, changed and measured.
    """
    gallery, pooling = embedded.gallery, encoder.card.pooling_key
    if len(clips) < (1 if milvus else APPROXIMATE_FROM):
        return embedded

    def sample() -> NDArray[np.float32]:
        captions = (caption for video in gallery.videos for caption in video.captions[:1])
        texts = list(islice(captions, SAMPLE)) or [form.example for form in forms()]
        return encoder.encode_text(texts)

    measured = sample if may_build else None
    if milvus is not None:
        return _served(embedded, folder, encoder, clips, milvus, measured, progress)
    contents = np.array([content_id(clip.key) for clip in clips], np.int64)
    index = _approximate(folder / f"{pooling}.faiss", contents, embedded.embeddings, measured)
    evict(folder.glob("*.faiss"), LIMITS["pooled"])
    return embedded if index is None else replace(embedded, index=index, contents=contents)


def _approximate(
    path: Path, contents: NDArray[np.int64], embeddings: NDArray[np.float32], sample: Sample | None
) -> FaissIndex | None:
    """Open the stored index, or build it; None if exact search serves better.

    Args:
        contents: (V,) ids of the clips' contents, which become the index's; clips of equal content share one.
        sample: to measure the recall with, if the index may be built and stored, which takes minutes.
    """
    ids, places = np.unique(contents, return_index=True)
    index = FaissIndex.load(path, _clips(ids))
    if index is None and sample is not None:
        index = FaissIndex(embeddings.shape[1], sample())
        index.add(ids, embeddings[places])
        try:
            index.save(path, _clips(ids))
        except OSError as error:
            logger.warning("The index %s cannot be stored (%s). Searches will be exact.", path, reason_of(error))
    return index if index is not None and index.recall >= MIN_RECALL else None


def _clips(ids: NDArray[np.int64]) -> str:
    return blake2b(ids.tobytes(), digest_size=16).hexdigest()


def _served(
    embedded: EmbeddedGallery,
    folder: Path,
    encoder: Encoder,
    clips: Sequence[Video],
    milvus: Milvus,
    sample: Sample | None,
    progress: Progress,
) -> EmbeddedGallery:
    """Bring a library's index in Milvus up to date, or open it as the last update left it.

    Args:
        sample: as for `_approximate`; None changes and asks nothing.
    """
    library, pooling, embeddings = embedded.gallery.key, encoder.card.pooling_key, embedded.embeddings
    contents = np.array([content_id(f"{library} {clip.key}") for clip in clips], np.int64)  # others are there, too
    ids, places = np.unique(contents, return_index=True)
    local = ExactIndex(embeddings.shape[1])
    if len(ids) == len(contents):  # then nothing is copied
        local.add(contents, embeddings)
    else:
        local.add(ids, embeddings[places])
    rows = {}
    if sample is not None:
        read = [Row(clip.content, clip.start, clip.end or 0.0) for clip in clips]
        rows = dict(zip(contents.tolist(), read, strict=True))
    index = MilvusIndex(milvus, f"{folder.name}_{pooling}", library, local, rows)
    path = folder / f"{pooling}{MILVUS_FACTS}"  # what the last update measured
    state = {"index": index.place, "ids": _clips(ids)}
    if sample is None:
        facts = read_cached(path, lambda path: dict(parse_json(path.read_text(encoding="utf-8")))) or {}
        if facts | state != facts:
            text = "The vector database has other clips, so every clip was compared here. Update the library."
            return replace(embedded, refused=text)
        index.recall = float(facts.get("recall", 0))
    else:
        try:
            known = index.ids()
            new = ~np.isin(ids, known)
            index.remove(np.setdiff1d(known, ids))
            index.add(ids[new], embeddings[places[new]], progress)
            index.measure(sample())
        except ConnectionError:  # logged; the next update goes on from here
            text = "The vector database does not answer, so it is not up to date. Update the library again later."
            return replace(embedded, refused=text)
        if index.notice:  # of the measuring
            return replace(embedded, refused=index.notice)
        write_json(path, {**state, "recall": index.recall})
    if index.recall < MIN_RECALL:
        found = f"{100 * index.recall:.1f} % of the ten best clips"
        text = f"The vector database finds only {found}, so every clip was compared here. Choose another index."
        return replace(embedded, refused=text)
    return replace(embedded, index=index, contents=contents)
