"""The sentences of `benchmarks.wordings` are about clips that the gallery has."""

from collections import Counter

import pytest

from benchmarks.harness import built_in_gallery
from benchmarks.wordings import WORDINGS, sentences
from nt2vr.language.query import Query
from nt2vr.world.truth import judge, read_asked

LEAST = 4  # clips that fit, and that show the unwanted part next to the wanted one


@pytest.mark.parametrize("wording", WORDINGS)
def test_every_sentence_has_clips_that_fit_and_clips_that_show_both(wording: str) -> None:
    scenes = [video.scene or {} for video in built_in_gallery().videos]
    for query in sentences()[wording]:
        counts = Counter(judge(query, scene) for scene in scenes)
        both = [scene for scene in scenes if judge(Query("", (*query.wanted, *query.unwanted[:1])), scene) == "right"]
        assert all(map(read_asked, (*query.wanted, *query.unwanted)))
        assert counts["right"] >= LEAST, query.text
        assert not query.unwanted or len(both) >= LEAST, query.text
