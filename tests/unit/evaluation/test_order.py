"""Ordered pairs: both clips show what they should, in separate drawings, and shuffled frames are the control."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.built_in import order_benchmark, ordered_pairs
from nt2vr.evaluation.measures import measure_block, summarise
from nt2vr.models.card import Card
from nt2vr.progress import silent
from nt2vr.world.claims import Act, Claim, Order, Who
from nt2vr.world.scenes import main_deeds
from tests.pooling import pool_by_mean


def test_each_sentence_is_true_of_its_own_clip_alone() -> None:
    for pair in islice(ordered_pairs("test", 3), 12):
        done = []
        for scene, other in (pair.scenes, pair.scenes[::-1]):
            assert scene.split == "test"
            orders = {
                (figure.thing, *(deed.verb for deed in main_deeds(figure)))
                for figure in scene.figures
                if len(main_deeds(figure)) == 2
            }
            told = {order for order in orders if _holds(order, scene) and not _holds(order, other)}
            done.append({(thing, second, first) for thing, first, second in told})
            assert told
        assert any((thing, second, first) in done[1] for thing, first, second in done[0])
        assert pair.scenes[0].seed != pair.scenes[1].seed  # other looks
        assert pair.texts[0].split()[:2] == pair.texts[1].split()[:2] and pair.texts[0] != pair.texts[1]


def _holds(order: tuple[str, ...], scene: Any) -> bool:
    thing, first, second = order
    acts = Act(frozenset((first,))), Act(frozenset((second,)))
    return Claim((Who(frozenset((thing,)), acts),), orders=(Order((0, 0), (0, 1)),)).holds(scene)


class FirstFrame:
    """Sees the mean colours of frames, and pools by the first frame, or by the mean."""

    name, embed_dim, image_size, num_frames = "first", 3, 16, 4

    def __init__(self, knows_order: bool) -> None:
        self.card = Card("first", frames=4, image_size=16)
        self.knows_order = knows_order

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        colours = frames.mean(axis=(1, 2)) + np.random.default_rng(0).random((len(frames), 3))
        return np.asarray(colours / np.linalg.norm(colours, axis=1, keepdims=True), np.float32)

    def pool(self, frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        return frame_embeddings[..., 0, :] if self.knows_order else pool_by_mean(frame_embeddings)


def test_shuffling_changes_what_an_ordered_pooling_sees_and_nothing_else(tmp_path: Path) -> None:
    benchmark = order_benchmark(tmp_path, 4, 3)
    assert len(benchmark.video_ids) == 16 and len(benchmark.queries) == 16
    for knows_order in (True, False):
        videos = benchmark.embed(FirstFrame(knows_order), silent)  # type: ignore[arg-type]
        assert np.allclose(videos[:8], videos[8:], atol=1e-6) != knows_order


def test_a_system_that_knows_the_order_is_right_as_filmed_and_one_that_does_not_is_never_sure(tmp_path: Path) -> None:
    benchmark = order_benchmark(tmp_path, 5, 3)
    vectors = np.eye(10, 11, dtype=np.float32)
    alike = np.tile(np.eye(1, 11, 10, dtype=np.float32), (10, 1))
    measured = measure_block(np.tile(vectors, (2, 1)), np.concatenate([vectors, alike]), benchmark.queries)
    found = summarise(benchmark.queries, measured)
    assert found["picture/accuracy as filmed"] == 100
    assert found["picture/accuracy shuffled"] == 0  # all tie, which counts against
