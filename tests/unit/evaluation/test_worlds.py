"""Benchmarks of either world are measured by the same code."""

from pathlib import Path

import numpy as np
import pytest

from nt2vr.evaluation.built_in import captions_of, oracle_metrics, world_benchmark
from nt2vr.evaluation.covr.sources import covr_world
from nt2vr.evaluation.worlds import BY_DATA, LARGE, World, world_of
from nt2vr.querygen.families import COPIES, EDIT_KINDS


@pytest.mark.parametrize("world", BY_DATA.values(), ids=BY_DATA)
def test_scenes_of_a_manifest_are_read_by_their_own_world(world: World) -> None:
    for scene in world.sample_scenes("test", 5, 1):
        assert world_of(scene.to_dict()) is world
        assert world.read_scene(scene.to_dict()) == scene


def test_the_oracle_of_the_large_world_guesses_among_matching_clips() -> None:
    scenes = LARGE.sample_scenes("validation", 60, 3)
    captions = captions_of(scenes, LARGE)
    fitting = [sum(caption.claim.holds(scene) for scene in scenes) for caption in captions]
    metrics = oracle_metrics(scenes, captions, LARGE)
    assert metrics["original/R@1"] == pytest.approx(100 * np.mean([1 / count for count in fitting]))


@pytest.mark.parametrize("world", BY_DATA.values(), ids=BY_DATA)
def test_a_picture_plus_a_text_is_asked_of_either_world(tmp_path: Path, world: World) -> None:
    benchmark = covr_world(tmp_path, "validation", per_kind=1, world=world)
    assert (benchmark.name, benchmark.source["data"]) == (f"{world.data}, validation", world.name)
    assert sorted(query.kind for query in benchmark.queries) == sorted(EDIT_KINDS)
    for query in benchmark.queries:
        reference = benchmark.references[query.reference]["scene"]
        assert world_of(reference) is world
        assert len(query.right) >= COPIES and not set(query.right) & set(query.violating)
        assert bool(query.violating) == query.kind.startswith("remove")
        assert query.caption and query.names


def test_a_benchmark_of_the_large_world_names_it(tmp_path: Path) -> None:
    benchmark = world_benchmark(tmp_path, 30, split="validation", world=LARGE)
    assert (benchmark.name, benchmark.source["data"]) == ("world-large, validation", "large built-in world")
    assert {query.kind for query in benchmark.queries} >= {"original", "negated", "composed", "without"}
    assert len(benchmark.video_ids) == 30
