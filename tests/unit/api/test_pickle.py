"""What the Python API returns can be pickled, copied, and sent to other processes."""

import copy
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nt2vr
from nt2vr.errors import NotIndexedError, Nt2vrError
from nt2vr.search.answers import Answer
from tests.support.colour_model import ColourModel

QUERY = "red and not green"
SYSTEMS: list[Any] = ["Colours", "Colours boolean α 1", "Colours rectified", "Colours drop"]


@pytest.fixture(scope="module")
def searcher(colours: Path) -> Iterator[nt2vr.GallerySearcher]:
    with nt2vr.open_searcher(colours, library="Colours") as opened:
        opened.search("red", ColourModel())
        yield opened


@pytest.fixture(scope="module")
def answer(searcher: nt2vr.GallerySearcher) -> Answer:
    answer = searcher.search(QUERY, SYSTEMS, k=2)
    assert isinstance(answer, Answer)
    return answer


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def best_clip(answer: Answer) -> str:
    """Run in another process."""
    return answer.rankings[0].hits[0].video_id


def test_an_answer_is_the_same_after_pickling(answer: Answer) -> None:
    loaded = pickled(answer)
    assert loaded == answer
    assert loaded.as_dict() == answer.as_dict()
    assert loaded.sentence == QUERY
    assert [ranking.recall for ranking in loaded.rankings] == [
        ranking.recall for ranking in answer.rankings
    ]
    for hit in answer.rankings[0].hits:
        assert loaded.clip_scores(hit.video_id) == answer.clip_scores(hit.video_id)
        assert loaded.verdict(hit.video_id) == answer.verdict(hit.video_id)


def test_a_pickled_answer_is_pickled_again(answer: Answer) -> None:
    assert pickled(pickled(answer)).as_dict() == answer.as_dict()


def test_a_pickled_answer_is_explained_by_an_open_gallery(
    searcher: nt2vr.GallerySearcher, answer: Answer
) -> None:
    clip = best_clip(answer)
    assert searcher.explain(pickled(answer), clip) == searcher.explain(answer, clip)


def test_a_pickled_answer_of_another_gallery_is_explained_without_parts(
    searcher: nt2vr.GallerySearcher, answer: Answer
) -> None:
    loaded = copy.copy(pickled(answer))
    object.__setattr__(loaded, "gallery", "another")
    explained = searcher.explain(loaded, best_clip(answer))
    assert [why.score for why in explained] == [
        why.score for why in searcher.explain(answer, best_clip(answer))
    ]
    assert not any(why.parts for why in explained)
    assert all(why.notice for why in explained)


def hit_ids(answer: Answer) -> set[str]:
    """Return the videos among the hits of any system."""
    video_ids = set()
    for ranking in answer.rankings:
        video_ids |= {hit.video_id for hit in ranking.hits}
    return video_ids


def test_a_pickle_has_the_embeddings_of_the_hits_alone(answer: Answer) -> None:
    for before, after in zip(answer.rankings, pickled(answer).rankings, strict=True):
        assert before.gallery is not None
        assert after.gallery is not None
        video_ids = {video.video_id for video in after.gallery.gallery.videos}
        assert video_ids == hit_ids(answer)
        assert video_ids != set(before.gallery.row_of)
        for hit in before.hits:
            row_before = before.gallery.row_of[hit.video_id]
            row_after = after.gallery.row_of[hit.video_id]
            np.testing.assert_array_equal(
                after.gallery.embeddings[row_after], before.gallery.embeddings[row_before]
            )
            np.testing.assert_array_equal(
                after.gallery.frame_embeddings(row_after),
                before.gallery.frame_embeddings(row_before),
            )


def test_a_copy_shows_pictures_and_shares_the_embeddings(answer: Answer) -> None:
    for copied in (copy.copy(answer), copy.deepcopy(answer)):
        assert copied == answer
        assert copied._repr_html_() == answer._repr_html_()
        for before, after in zip(answer.rankings, copied.rankings, strict=True):
            assert after.gallery is before.gallery
    (ranking, *_) = answer.rankings
    assert copy.copy(ranking) == copy.deepcopy(ranking) == ranking
    assert copy.deepcopy(ranking).ranks is not ranking.ranks


def test_a_pickled_answer_is_shown_in_a_notebook(answer: Answer) -> None:
    assert "Colours" in pickled(answer)._repr_html_()


@pytest.mark.slow
def test_answers_travel_to_a_process_pool_and_back(answer: Answer) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(best_clip, answer).result() == best_clip(answer)
        assert pool.submit(copy.copy, answer).result() == answer


def test_all_else_that_is_returned_can_be_pickled(
    searcher: nt2vr.GallerySearcher, answer: Answer
) -> None:
    clip = best_clip(answer)
    match = searcher.match(clip, ["red", "blue"], ["Colours"])
    query = nt2vr.understand("a dog and not a cat")
    video = searcher.video(clip)
    values = [
        *answer.rankings,
        *answer.rankings[0].hits,
        *answer.clip_scores(clip),
        *searcher.explain(answer, clip),
    ]
    values += [
        match,
        match.as_dict(),
        query,
        video,
        nt2vr.System("Colours", "drop"),
        nt2vr.Data("world"),
    ]
    for value in values:
        assert pickled(value) == value
        assert copy.deepcopy(value) == value
    scores = searcher.scores(["red", "blue"], ["Colours"])
    np.testing.assert_array_equal(pickled(scores)["Colours"], scores["Colours"])


def test_errors_of_bad_queries_can_be_pickled(searcher: nt2vr.GallerySearcher) -> None:
    (error,) = searcher.search([""], ["Colours"])
    assert isinstance(error, Nt2vrError)
    assert type(pickled(error)) is type(error)
    assert str(pickled(error)) == str(error)
    refused = pickled(NotIndexedError("Not indexed.", "CLIP", "CLIP-neg", tower="abc"))
    assert str(refused) == "Not indexed."
    assert refused.models == ("CLIP", "CLIP-neg")
    assert refused.tower == "abc"
