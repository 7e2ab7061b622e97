"""Maps of embeddings, by hand and against NumPy's SVD."""

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.search.embedding_map import MOST_ROWS, place_of, plane_of


def never() -> NDArray[np.float32]:
    raise AssertionError("the query lies among the clips")


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


# wide along the first axis, narrow along the second, and all alike in the third
CROSS = np.array([[2, 0, 5], [-2, 0, 5], [0, 1, 5], [0, -1, 5]], np.float32)
NEAR = (CROSS / np.float32(5)).astype(np.float32)


def test_the_axes_are_the_directions_in_which_clips_differ_most() -> None:
    plane = plane_of(CROSS)
    np.testing.assert_allclose(plane.mean, [0, 0, 5])
    np.testing.assert_allclose(plane.axes, [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(plane.positions, [[2, 0], [-2, 0], [0, 1], [0, -1]], atol=1e-6)
    assert plane.explained == pytest.approx(1)


def test_two_axes_explain_only_a_part_of_what_varies_in_three() -> None:
    plane = plane_of(np.concatenate([CROSS - [0, 0, 5], [[0, 0, 1], [0, 0, -1]]]).astype(np.float32))
    assert plane.explained == pytest.approx((8 + 2) / (8 + 2 + 2))  # squares along each direction


def test_positions_and_variance_match_a_full_svd() -> None:
    clips = unit(np.random.default_rng(0).standard_normal((300, 20)) * np.linspace(3, 0.2, 20) + 1)
    centred = clips - clips.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    plane = plane_of(clips)
    slow = centred @ axes[:2].T
    np.testing.assert_allclose(np.abs(plane.positions), np.abs(slow), atol=1e-4)
    assert plane.explained == pytest.approx(float((sizes[:2] ** 2).sum() / (sizes**2).sum()), abs=1e-4)


def test_a_map_is_the_same_every_time_and_not_mirrored() -> None:
    clips = unit(np.random.default_rng(1).standard_normal((50, 8)))
    np.testing.assert_array_equal(plane_of(clips).positions, plane_of(clips.copy()).positions)
    assert all(axis[np.abs(axis).argmax()] > 0 for axis in plane_of(clips).axes)


def test_a_query_among_the_clips_is_where_its_vector_is() -> None:
    plane = plane_of(NEAR)
    assert place_of(plane, np.array([0.2, 0.1, 1], np.float32), never).position == pytest.approx(
        (0.2 / np.sqrt(1.05), 0.1 / np.sqrt(1.05))
    )


def test_the_length_of_a_query_vector_does_not_count() -> None:
    plane = plane_of(NEAR)
    query = np.array([0.2, 0.1, 1], np.float32)
    assert place_of(plane, 7 * query, never).position == pytest.approx(place_of(plane, query, never).position)


def test_a_query_across_the_modality_gap_is_placed_relative_to_the_mean_text() -> None:
    plane = plane_of(NEAR)  # the clips reach to 0.4 on the first axis
    mean_text = np.array([0.8, 0, 0], np.float32)
    place = place_of(plane, np.array([1, 0, 0], np.float32), lambda: mean_text)
    assert place.position == pytest.approx((0.2, 0))
    assert place.gap == pytest.approx(0)  # (0.8, 0, 0) and (0, 0, 1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_clips_or_equal_ones_have_a_map_too(count: int) -> None:
    plane = plane_of(np.tile(unit(np.ones((1, 4))), (count, 1)))
    np.testing.assert_allclose(plane.positions, np.zeros((count, 2)), atol=1e-6)
    assert np.isfinite(plane.explained)
    assert np.isfinite(place_of(plane, np.zeros(4, np.float32), lambda: np.ones(4, np.float32)).position).all()


def test_a_large_gallery_takes_a_moment_and_all_of_it_is_placed() -> None:
    rng = np.random.default_rng(2)
    clips = rng.standard_normal((2 * MOST_ROWS + 1, 64), np.float32)
    clips[:, :2] *= [4, 2]
    began = time.perf_counter()
    plane = plane_of(clips)
    assert plane.positions.shape == (len(clips), 2)
    assert time.perf_counter() - began < 5
    for axis in range(2):
        assert np.corrcoef(plane.positions[:, axis], clips[:, axis])[0, 1] > 0.99
