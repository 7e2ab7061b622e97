"""The built-in world's queries, compared with the truth of each scene, and the oracle."""

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.built_in import captions_of, gallery_benchmark, oracle_metrics, world_queries
from nt2vr.evaluation.queries import JudgedQueries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.papers.covr.edits import COPIES, EDIT_KINDS
from nt2vr.papers.covr.world_benchmark import covr_world
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import Claim, SubjectClaim
from nt2vr.world.negated_captions import negate
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.sentences import SceneDenials

DOG = SceneCaption("a dog", Claim((SubjectClaim(frozenset({"dog"})),)))
DOG_IN_PARK = SceneCaption(
    "a dog in the park", Claim((SubjectClaim(frozenset({"dog"})),), frozenset({"park"}))
)
RUNS = (Action("run"),)
THREE = [
    Scene("park", False, (Figure("dog", "brown", actions=RUNS),)),
    Scene("beach", False, (Figure("dog", "brown", actions=RUNS),)),
    Scene("park", False, (Figure("cat", "brown", actions=RUNS),)),
]


@cache
def scenes() -> list[Scene]:
    return sample_scenes("validation", 80, seed=0)


@cache
def judged() -> tuple[list[Scene], SceneDenials, JudgedQueries]:
    many = sample_scenes("train", 200, seed=1)
    sentences = SceneDenials(many)
    return (
        many,
        sentences,
        world_queries([caption.text for caption in captions_of(many)], sentences),
    )


@cache
def queries() -> JudgedQueries:
    return world_queries(
        [caption.text for caption in captions_of(scenes())], SceneDenials(scenes())
    )


def test_scenes_have_an_original_query_and_perhaps_a_negated_one() -> None:
    negated = {query.original: query for query in queries() if query.kind == "negated"}
    for row, original in enumerate(queries()[:80]):
        caption = describe(scenes()[row], random.Random(f"validation {row}"))
        assert original.kind == "original"
        assert original.text == caption.text
        assert original.relevant.tolist() == [row]
        denials = {denial.text for denial in negate(caption)}
        assert bool(denials) == (row in negated)
        if denials:
            denied = negated[row]
            assert denied.text in denials
            assert denied.relevant.tolist() == [row]
            assert denied.cue in {"not", "n't", "without"}
    assert len(negated) > 70
    assert len(negated) == [query.kind for query in queries()].count("negated")


@pytest.mark.parametrize("kind", ["composed", "without", "not"])
def test_judgements_match_the_truth_of_each_scene(kind: str) -> None:
    many, sentences, everything = judged()
    drawn = {}
    for row in range(200):
        generator = random.Random(f"validation {row}")
        sentence = sentences.draw(row, kind, generator)  # type: ignore[arg-type]
        drawn[sentence.text] = sentence
    queries = [query for query in everything if query.kind == kind]
    assert len(queries) > 20
    # For all of them, the plain loops would take seconds.
    for query in queries[::3]:
        sentence = drawn[query.text]
        wanted = {row for row, scene in enumerate(many) if sentence.wanted_claim.holds(scene)}
        unwanted = set()
        for row, scene in enumerate(many):
            if any(claim.holds(scene) for claim in sentence.unwanted_claims):
                unwanted.add(row)
        assert wanted - unwanted
        assert wanted & unwanted
        assert set(query.relevant.tolist()) == wanted - unwanted
        assert set(query.hard.tolist()) == wanted & unwanted
        assert set(query.violating.tolist()) == unwanted
        assert (query.wanted, query.unwanted) == (sentence.wanted, (sentence.unwanted,))


def test_the_oracle_guesses_among_matching_clips() -> None:
    metrics = oracle_metrics(THREE, [DOG, DOG_IN_PARK])
    # 1 of 2, and 1 of 1.
    assert metrics["original/R@1"] == pytest.approx(75)
    assert metrics["original/R@5"] == 100
    assert metrics["original/MIR"] == pytest.approx(((1 + 1 / 2) / 2 + 1) / 2)


def test_a_gallery_is_searched_for_its_known_scenes(
    tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder
) -> None:
    names = [
        Video(f"v{row}", write_video(f"{row}.avi", [row]), (), scene.to_dict())
        for row, scene in enumerate(scenes())
    ]
    gallery = Gallery("mixed", (Video("own", tmp_path / "own.avi"), *names))
    with Cache(tmp_path / "cache") as cache:
        benchmark = gallery_benchmark(gallery, decoder, cache)
        assert benchmark.video_ids[0] == "v0"
        assert len(benchmark.video_ids) == 80
        for mine, theirs in zip(benchmark.queries, queries(), strict=True):
            assert (mine.text, mine.relevant.tolist()) == (theirs.text, theirs.relevant.tolist())
        with pytest.raises(ConfigError):
            gallery_benchmark(Gallery("own", gallery.videos[:1]), decoder, cache)
        write_video("0.avi", [200])
        assert gallery_benchmark(gallery, decoder, cache).digest != benchmark.digest


def test_a_picture_plus_a_text_is_asked_of_the_world(tmp_path: Path) -> None:
    benchmark = covr_world(tmp_path, "validation", per_kind=1)
    assert (benchmark.name, benchmark.source["data"]) == ("world, validation", "built-in world")
    assert sorted(query.kind for query in benchmark.queries) == sorted(EDIT_KINDS)
    for query in benchmark.queries:
        assert Scene.from_dict(query.picture["scene"]).split == "validation"
        assert len(query.relevant) >= COPIES
        assert set(query.relevant).isdisjoint(query.violating)
        assert (len(query.violating) > 0) == query.kind.startswith("remove")
        assert query.caption
