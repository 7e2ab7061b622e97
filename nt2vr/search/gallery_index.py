"""Approximate index of a large gallery: a file of FAISS stored with its embeddings, or Milvus."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.files import parse_json, write_json
from nt2vr.media.store import LIMITS, delete, digest, evict, read_cached
from nt2vr.media.video_files import VideoFile
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.cues import forms
from nt2vr.progress import Progress, silent
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex, FaissIndex, Milvus, MilvusIndex
from nt2vr.search.index.milvus import Row

logger = logging.getLogger(__name__)

APPROXIMATE_FROM = 200_000  # clips; of fewer, exact search takes less than 20 ms
MILVUS_FACTS = ".milvus.json"  # after the name of the pooling
MIN_RECALL = 0.95  # an approximate index that finds less is not used
MAX_ADDED = 0.1  # share of new clips up to which a stored index is brought up to date when it is opened
SAMPLE = 200  # captions with which the recall is measured


def content_id(key: str) -> int:
    """Return a number for a clip key, of 63 bits: a million have a chance of one in 20 million to share one."""
    return int.from_bytes(digest(key)[:8]) >> 1


def with_index(
    embedded: EmbeddedGallery,
    folder: Path,
    encoder: Encoder,
    files: Sequence[VideoFile],
    milvus: Milvus | None,
    may_build: bool,
    progress: Progress,
) -> EmbeddedGallery:
    """Replace the exact index of a large gallery by an approximate one, or of any by Milvus, if there is one.

    Args:
        folder: of the embeddings.
        files: of all clips.
        may_build: whether the index may be built, changed and measured.
    """
    gallery, card = embedded.gallery, encoder.card
    if len(gallery.videos) < (1 if milvus else APPROXIMATE_FROM):
        return embedded
    within = f"{gallery.key} " if milvus else ""  # a collection has the clips of all libraries
    ids = {file.video.video_id: content_id(f"{within}{file.key}") for file in files}
    contents = np.array([ids[video.video_id] for video in gallery.videos], np.int64)

    def sample() -> NDArray[np.float32]:
        captions = (caption for video in gallery.videos for caption in video.captions[:1])
        texts = list(islice(captions, SAMPLE)) or [form.example for form in forms()]
        return encoder.encode_text(texts)

    measured = sample if may_build else None
    if milvus is None:
        path = folder / f"{card.pooling_key}.faiss"
        index = open_approximate(path, contents, embedded.embeddings, measured)
        evict(folder.glob("*.faiss"), LIMITS["pooled"])
        return embedded if index is None else replace(embedded, index=index, contents=contents)
    clips = ((file.video, file.content) for file in files if may_build)
    rows = {ids[video.video_id]: Row(content, video.start, video.end or 0.0) for video, content in clips}
    served, refused = open_served(
        milvus, folder, card, gallery.key, contents, embedded.embeddings, rows, measured, progress
    )
    if served is None:
        return replace(embedded, refused=refused)
    return replace(embedded, index=served, contents=contents)


def open_approximate(
    path: Path,
    contents: NDArray[np.int64],
    embeddings: NDArray[np.float32],
    sample: Callable[[], NDArray[np.float32]] | None = None,
) -> FaissIndex | None:
    """Open the stored index and bring it up to date, or build it; None if exact search serves better.

    Args:
        contents: (V,) ids of the clips' contents, which become the index's; clips of equal content share one.
        sample: returns (Q, D) queries to measure the recall with, if the index may be built and stored; None only
            opens it, as building takes minutes.
    """
    index = FaissIndex.load(path)
    ids, rows = np.unique(contents, return_index=True)
    known = np.empty(0, np.int64) if index is None else index.ids()
    gone, new = np.setdiff1d(known, ids), ~np.isin(ids, known)
    if sample is None and (index is None or new.sum() > MAX_ADDED * len(ids)):
        return None
    if len(gone) or new.any():
        index = index or FaissIndex(embeddings.shape[1], sample() if sample else None)
        index.remove(gone)
        index.add(ids[new], embeddings[rows[new]])
        try:
            if sample is not None:
                index.save(path)
        except OSError as error:
            logger.warning("The index %s cannot be stored (%s). Searches will be exact.", path, reason_of(error))
    return index if index is not None and index.recall >= MIN_RECALL else None


def served_recalls(folder: Path) -> dict[str, float]:
    """Return the recall of a gallery's indexes in Milvus by model, given the folder of its embeddings."""
    facts = (read_cached(path, _facts) for path in sorted(folder.glob(f"*/*{MILVUS_FACTS}")))
    return {str(each["model"]): float(each["recall"]) for each in facts if each}


def _facts(path: Path) -> dict[str, Any]:
    facts = dict(parse_json(path.read_text(encoding="utf-8")))
    float(facts["recall"]), facts["model"]  # or it is damaged
    return facts


def _forget_replaced(milvus: Milvus, library: str, path: Path, model: str) -> None:
    """Delete the rows of a library that a model's former heads have pooled, given the facts of its present one."""
    for former in path.parent.glob(f"*{MILVUS_FACTS}"):
        facts = read_cached(former, _facts) if former != path else None
        if facts and facts["model"] == model:
            with suppress(ConnectionError):  # logged; the next update tries again
                milvus.forget(library, f"{path.parent.name}_{former.name.removesuffix(MILVUS_FACTS)}")
                delete(former)


def open_served(
    milvus: Milvus,
    folder: Path,
    card: Card,
    library: str,
    contents: NDArray[np.int64],
    embeddings: NDArray[np.float32],
    rows: Mapping[int, Row],
    sample: Callable[[], NDArray[np.float32]] | None = None,
    progress: Progress = silent,
) -> tuple[MilvusIndex | None, str]:
    """Bring a library's index in Milvus up to date, or open it as the last update left it.

    Args:
        folder: of the embeddings; it also has what the last update measured.
        contents: (V,) ids of the clips in the index, as for `open_approximate`.
        rows: by id, if the index may be changed.
        sample: as for `open_approximate`; None changes and asks nothing.

    Returns:
        The index, or None and why exact search serves better.
    """
    ids, places = np.unique(contents, return_index=True)
    every = len(ids) == len(contents)  # then nothing is copied
    local = ExactIndex(embeddings.shape[1])
    local.add(contents if every else ids, embeddings if every else embeddings[places])
    path = folder / f"{card.pooling_key}{MILVUS_FACTS}"
    index = MilvusIndex(milvus, f"{folder.name}_{card.pooling_key}", library, local, rows)
    state = {"index": index.place, "ids": blake2b(ids.tobytes(), digest_size=16).hexdigest()}
    if sample is None:
        facts = read_cached(path, _facts) or {}
        if any(facts.get(name) != value for name, value in state.items()):
            return None, "The vector database has other clips, so every clip was compared here. Update the library."
        index.recall = float(facts["recall"])
    else:
        try:
            known = index.ids()
            new = ~np.isin(ids, known)
            index.remove(np.setdiff1d(known, ids))
            index.add(ids[new], embeddings[places[new]], progress)
            index.measure(sample())
        except ConnectionError:  # logged; the next update goes on from here
            return (
                None,
                "The vector database does not answer, so it is not up to date. Update the library again later.",
            )
        if index.notice:  # of the measuring
            return None, index.notice
        write_json(path, {**state, "model": card.name, "recall": index.recall})
        _forget_replaced(milvus, library, path, card.name)
    if index.recall < MIN_RECALL:
        found = f"{100 * index.recall:.1f} % of the ten best clips"
        return None, f"The vector database finds only {found}, so every clip was compared here. Choose another index."
    return index, ""
