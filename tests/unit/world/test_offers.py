"""Queries offered instead of one that hardly any clip fits."""

import pytest

from nt2vr.language.query import Query, understand
from nt2vr.language.tagger import HantaTagger
from nt2vr.media.gallery import load_gallery
from nt2vr.settings import ASSETS
from nt2vr.world.offers import FEW, fitting, offers
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import judge

BOY = Scene("park", (Actor("boy", "guitar"),), (), 0)
BALL = Scene("park", (Actor("boy", "soccer"),), (), 0)
MAN = Scene("beach", (Actor("man", "cook"),), (), 0)
SCENES = (BOY, BOY, BOY, BALL, BALL, MAN, MAN)


def asked(wanted: str, *unwanted: str) -> Query:
    return Query("", (wanted,) if wanted else (), unwanted)


@pytest.fixture(scope="module")
def gallery() -> list[Scene]:
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    return [Scene.from_dict(video.scene) for video in videos if video.scene]


def test_a_vague_deed_becomes_what_clips_show_and_the_exclusion_stays() -> None:
    assert offers(asked("boy or girl playing", "with a ball"), SCENES) == ["a boy playing the guitar but no ball"]


def test_a_rare_subject_gives_way_to_others_who_do_the_same() -> None:
    assert offers(asked("a woman cooking"), SCENES) == ["a man cooking"]


def test_an_exclusion_of_all_that_is_wanted_is_left_out() -> None:
    assert offers(asked("cooks", "cooking"), SCENES) == ["a man cooking"]


@pytest.mark.parametrize("query", [asked("rain"), asked("people"), asked(""), asked("", "a ball"), asked("x" * 900)])
def test_nothing_is_offered_where_no_subject_and_no_deed_is_known(query: Query) -> None:
    assert offers(query, SCENES) == []


def test_without_scenes_nothing_is_offered() -> None:
    assert offers(asked("a boy playing"), ()) == []


@pytest.mark.parametrize(
    "query", [asked("a boy"), asked("a boy", "a ball"), asked("", "a ball"), asked("a boy", "rain"), asked("a zebra")]
)
def test_fitting_counts_what_the_judge_calls_right(query: Query) -> None:
    assert fitting(query, SCENES) == sum(judge(query, scene.to_dict()) == "right" for scene in SCENES)


@pytest.mark.parametrize(
    "text",
    [
        "a girl playing but not with a ball",
        "a woman cooking, no pizza",
        "a dog wearing a hat",
        "a beach with a cow but not horses or pigs",
        "instead of playing soccer the boy plays chess",
    ],
)
def test_offers_are_understood_as_meant_and_fit_several_clips(gallery: list[Scene], text: str) -> None:
    tagger = HantaTagger()
    query = understand(text, tagger)
    assert fitting(query, gallery) <= FEW
    found = offers(query, gallery)
    assert found
    for offer in found:
        read = understand(offer, tagger)
        assert fitting(read, gallery) > FEW
        assert bool(read.unwanted) == (" but no " in offer or " and not " in offer)
