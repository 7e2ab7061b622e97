"""Precomputed embeddings: systems outside open_clip, given as an .npz file of videos and queries.

    video_ids (N,) text · videos (N, D) · queries (M,) sentences, or ids of queries · texts (M, D)

It is untrusted: nothing in it is unpickled, and its size is bounded.
"""

import zipfile
from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import CheckpointError, ConfigError, QueryError, quoted, reason_of
from nt2vr.files import atomic_folder
from nt2vr.models.card import IMPORTED, Card, read_card, write_card
from nt2vr.models.encoder import Frames, OneRowEncoder, Vectors

EMBEDDINGS = "embeddings.npz"
# Names of arrays, and those of the embeddings of what they name.
KEYS = (("video_ids", "videos"), ("queries", "texts"))
# Unpacked: two million embeddings of 1,024 dimensions.
MAX_BYTES = 8 << 30
# An import may unpack to the first, and to so many times its size: numbers hardly pack.
SMALL_BYTES = 64 << 20
UNPACKED = 4
# Cosine from which a sentence that is there twice has one embedding: half precision leaves .9999.
SAME = 0.999
Arrays = dict[str, NDArray[Any]]


class PrecomputedEncoder(OneRowEncoder):
    """Looks embeddings up instead of computing them."""

    def __init__(self, folder: Path) -> None:
        arrays = read_embeddings(folder / EMBEDDINGS)
        self.card = read_card(folder)
        self.embed_dim = arrays["videos"].shape[1]
        video_ids = arrays["video_ids"].tolist()
        self.given_videos = dict(zip(video_ids, arrays["videos"], strict=True))
        query_keys = map(_key, arrays["queries"].tolist())
        self._texts = dict(zip(query_keys, arrays["texts"], strict=True))

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        """Look texts up, ignoring the width of spaces: (N, D), L2-normalised."""
        rows = []
        for text in texts:
            row = self._texts.get(_key(text))
            if row is None:
                raise QueryError(
                    f"{self.name} has no embedding of {quoted(text)}, only of the {len(self._texts)} queries of its "
                    "file."
                )
            rows.append(row)
        return np.array(rows, np.float32).reshape(len(texts), self.embed_dim)

    def query_name(self, query_id: str, text: str) -> str:
        """Return by what name the file knows a query: its id, which tells equal sentences apart, or its text."""
        return query_id if _key(query_id) in self._texts else text

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        raise ConfigError(
            f"{self.name} knows only the videos of its file, and no other pictures. Use their gallery."
        )


def write_embeddings(file: Path, folder: Path, name: str) -> Card:
    """Check a file of embeddings and write it as a folder, atomically."""
    size = file.stat().st_size if file.is_file() else 0
    arrays = read_embeddings(file, min(MAX_BYTES, SMALL_BYTES + UNPACKED * size))
    card = Card(
        name,
        objective="embeddings from a file",
        base=f"{IMPORTED}{file.name}",
        frames=1,
        visual_fingerprint=_digest(arrays["video_ids"], arrays["videos"]),
        text_fingerprint=_digest(arrays["queries"], arrays["texts"]),
        queries=len(arrays["queries"]),
    )
    try:
        with atomic_folder(folder) as partial:
            np.savez(partial / EMBEDDINGS, allow_pickle=False, **arrays)
            write_card(partial, card)
    except OSError as error:
        raise CheckpointError(
            f"{folder} cannot be written ({error.strerror}). Free some space."
        ) from error
    return card


def read_embeddings(file: Path, largest: int = MAX_BYTES) -> Arrays:
    """Read and check the four arrays, of so many bytes at most by their headers; rows are normalised."""
    names = list(chain.from_iterable(KEYS))
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(archive.getinfo(f"{name}.npy").file_size for name in names)
        if size > largest:
            raise CheckpointError(
                f"{file.name} unpacks to {size / 1e9:,.1f} GB, which is too much for it."
            )
        with np.load(file, allow_pickle=False) as content:
            arrays = {name: content[name] for name in names}
    except CheckpointError:
        raise
    except KeyError as error:
        raise CheckpointError(
            f"{file.name} lacks an array ({reason_of(error)}). Save it with np.savez."
        ) from error
    # zipfile and NumPy raise a dozen types on damaged files.
    except Exception as error:
        raise CheckpointError(
            f"{file.name} cannot be read as embeddings ({reason_of(error)}). Save texts as np.array(texts, dtype=str)."
        ) from error
    for ids, rows in KEYS:
        try:
            arrays[rows] = _normalised(arrays, ids, rows)
        except ValueError as error:
            raise CheckpointError(f"{file.name} cannot be used: {error}.") from None
    if arrays["videos"].shape[1] != arrays["texts"].shape[1]:
        raise CheckpointError(
            f"In {file.name}, videos and texts have embeddings of different lengths."
        )
    return arrays


def _normalised(arrays: Arrays, ids: str, rows: str) -> Vectors:
    """Return the embeddings in the array `rows` of what the array `ids` names, of length 1.

    A ValueError says why they cannot be used.
    """
    names = arrays[ids]
    if names.ndim != 1 or names.dtype.kind != "U" or len(names) == 0:
        raise ValueError(f"{ids} must be a list of texts")

    embeddings = arrays[rows]
    is_table = embeddings.dtype.kind == "f" and embeddings.ndim == 2 and embeddings.size > 0
    if not is_table or len(embeddings) != len(names):
        raise ValueError(f"{rows} must have one row of floating-point numbers for each of {ids}")

    with np.errstate(over="ignore", invalid="ignore"):
        embeddings = embeddings.astype(np.float32)
        lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    if not lengths.all() or not np.isfinite(lengths).all():
        raise ValueError(f"{rows} has a row of zeros, or a value that is too large or not finite")

    normalised: Vectors = embeddings / lengths
    ambiguous = _ambiguous_name(names.tolist(), normalised)
    if ambiguous is not None:
        raise ValueError(
            f"{ids} has {quoted(ambiguous)} twice, with different {rows}; name queries by their ids"
        )
    return normalised


def _ambiguous_name(names: Sequence[str], embeddings: Vectors) -> str | None:
    """Return a name that is there twice, with different embeddings; None if there is none."""
    first_rows: dict[str, int] = {}
    for row, name in enumerate(names):
        first = first_rows.setdefault(_key(name), row)
        if first != row and not embeddings[first] @ embeddings[row] >= SAME:
            return name
    return None


def _key(text: str) -> str:
    return " ".join(text.split())


def _digest(names: NDArray[Any], rows: Vectors) -> str:
    content = blake2b("\n".join(names.tolist()).encode("utf-8", "replace"), digest_size=16)
    content.update(rows.tobytes())
    return content.hexdigest()
