"""A gallery's embeddings on a plane: their first two principal components."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
MOST_ROWS = 5_000  # from which the directions are computed, evenly spaced; all clips are placed
MARGIN = 0.1  # of the map's width and height, by which a query may lie outside the clips


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane of a map."""

    mean: NDArray[np.float64]  # (D,), the clips' mean
    axes: NDArray[np.float64]  # (2, D), orthonormal; each one's largest entry is positive
    positions: Matrix  # (V, 2), of the clips, in cosine units; their mean is at the origin
    explained: float  # share of the clips' variance along the two axes


@dataclass(frozen=True)
class Place:
    """A query on a map."""

    position: tuple[float, float]  # as those of clips
    gap: float | None = None  # cosine of the mean text and clip, if both were centred; None if it lies among the clips


def plane_of(embeddings: Matrix) -> Plane:
    """Find the plane of V unit vectors (V, D) through the eigenvectors of their covariance (D, D)."""
    sample = embeddings[:: -(-len(embeddings) // MOST_ROWS) or 1]
    mean = sample.mean(axis=0, dtype=np.float64)
    centred = sample - mean.astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64)
    variances, vectors = np.linalg.eigh(covariance)  # ascending
    axes = vectors[:, ::-1][:, :2].T
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    total = float(variances.sum())
    explained = float(variances[-2:].sum()) / total if total > 0 else 1.0
    positions = embeddings @ axes.T.astype(np.float32) - (axes @ mean).astype(np.float32)
    return Plane(mean, axes, positions, explained)


def place_of(plane: Plane, vector: Matrix, mean_text: Callable[[], Matrix]) -> Place:
    """Place a query vector, as a unit vector, on a map.

    Texts and clips lie apart in the space of a CLIP (the modality gap), so a query often lands outside all clips. Then
    it is placed relative to the mean text, as the clips are relative to theirs: only its direction counts. The mean
    embedding (D,) of texts like the query is asked for only if it is needed.
    """
    unit = vector.astype(np.float64) / max(float(np.linalg.norm(vector)), 1e-12)
    position = plane.axes @ (unit - plane.mean)
    low, high = plane.positions.min(axis=0), plane.positions.max(axis=0)
    slack = MARGIN * (high - low)
    if ((position >= low - slack) & (position <= high + slack)).all():
        return Place((float(position[0]), float(position[1])))
    mean = mean_text().astype(np.float64)
    position = plane.axes @ (unit - mean)
    lengths = float(np.linalg.norm(mean) * np.linalg.norm(plane.mean))
    gap = float(mean @ plane.mean) / max(lengths, 1e-12)
    return Place((float(position[0]), float(position[1])), gap)
