"""The sentences of `benchmarks.wordings` are about clips that the gallery has."""

from itertools import islice

import pytest

from benchmarks.harness import built_in_gallery
from benchmarks.wordings import WORDINGS, sentences
from nt2vr.negation.parse.query import Query
from nt2vr.world.edits import judge_video
from nt2vr.world.reader import read_asked

LEAST = 4  # clips that fit, and that show the unwanted part next to the wanted one


@pytest.mark.parametrize("wording", WORDINGS)
def test_every_sentence_has_clips_that_fit_and_clips_that_show_both(wording: str) -> None:
    videos = built_in_gallery().videos

    def have_enough(query: Query) -> bool:
        right = (video for video in videos if judge_video(query, video) == "right")
        return len(list(islice(right, LEAST))) == LEAST  # without judging the rest

    for query in sentences()[wording]:
        assert all(map(read_asked, (*query.wanted, *query.unwanted)))
        assert have_enough(query), query.text
        assert not query.unwanted or have_enough(Query("", (*query.wanted, *query.unwanted[:1]))), query.text
