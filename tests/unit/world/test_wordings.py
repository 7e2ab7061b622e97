"""The sentences of `python -m benchmarks.wordings` are distinct, and the truth of their parts is known."""

from itertools import chain

from benchmarks.harness import built_in_gallery
from benchmarks.wordings import SCENES, sentences
from nt2vr.world.truth import judge


def test_every_sentence_has_right_clips_and_those_with_an_exclusion_violating_ones() -> None:
    found = sentences()
    assert len({query.text for query in chain(*found.values())}) == 120
    assert {len(queries) for queries in found.values()} == {len(SCENES)} == {10}
    scenes = [video.scene or {} for video in built_in_gallery().videos]
    for wording, queries in found.items():
        for query in queries:
            verdicts = {judge(query, scene) for scene in scenes}
            assert verdicts >= ({"right"} if wording == "denies nothing" else {"right", "violation"}), query.text
            assert None not in verdicts and "{" not in query.text
