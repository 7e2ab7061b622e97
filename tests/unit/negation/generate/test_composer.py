"""Composed queries from small hand-made captions, and from real ones if available."""

import json
import re

import pytest

from nt2vr.negation.generate.build import read_content
from nt2vr.negation.generate.composer import ComposedQuery, QueryComposer
from nt2vr.negation.generate.related import derived_from, related
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from tests.support.paths import SHARED

MSRVTT = SHARED / "data" / "msrvtt1k_captions.jsonl"
VIDEOS = {
    "both": ["a man plays the guitar", "a man sits on a stool"],
    "guitar": ["a guy is playing a guitar"],
    "guitar, and a stool": ["a man playing the guitar", "there is a stool"],
    "guitar, and a seat": ["a man playing the guitar", "he is seated"],
    "a woman": ["a woman plays the guitar"],
    "stool": ["a woman sits on a stool"],
}


def compose(videos: dict[str, list[str]], seed: int = 0) -> list[ComposedQuery]:
    return list(
        QueryComposer({name: read_content(captions) for name, captions in videos.items()}).compose(
            seed
        )
    )


def test_relevant_videos_mention_no_word_of_the_unwanted() -> None:
    (query,) = compose(VIDEOS)
    # Not the stool, nor what tells of sitting, nor another subject.
    assert query.video_ids == ("guitar",)
    assert query.hard_ids == query.violating_ids == ("both",)
    assert query.wanted.startswith("a man ")
    assert query.wanted.endswith(" the guitar")
    assert query.unwanted in {"sit on a stool", "sitting on a stool"}


def test_who_does_the_unwanted_is_of_the_same_sex() -> None:
    """A sentence on "a man" is paired with what "a person" does in the same video, so that video shows both."""
    videos = {
        "both": ["a man sings a song", "a person rides a bike"],
        "song": ["a man sings a song"],
        "bike": ["a guy rides a bike"],
        "someone else": ["a man sings a song", "a woman rides a bike"],
    }
    of_a_man = [query for query in compose(videos) if query.wanted.startswith("a man")]
    (query,) = [query for query in of_a_man if "bik" in query.unwanted]
    assert query.video_ids == ("song",)
    assert query.hard_ids == ("both",)
    assert set(query.violating_ids) == {"both", "bike"}


@pytest.mark.parametrize(
    ("actor", "sentences"),
    [
        (
            "man",
            {
                "a man rides a horse and he doesn't sing",
                "a man doesn't sing and he rides a horse",
                "a man riding a horse and not singing",
                "a man not singing and he is riding a horse",
                "a man is riding a horse and not singing",
                "a man isn't singing and he is riding a horse",
            },
        ),
        (
            "dog",
            {
                "a dog rides a horse and doesn't sing",
                "a dog doesn't sing while riding a horse",
                "a dog riding a horse and not singing",
                "a dog not singing while riding a horse",
                "a dog is riding a horse and not singing",
                "a dog isn't singing while riding a horse",
            },
        ),
    ],
)
def test_all_templates_agree_with_the_subject(actor: str, sentences: set[str]) -> None:
    """Appendix A.1 of the paper, two corrected, with "don't" for "do not"."""
    videos = {
        "both": [f"a {actor} riding a horse", f"a {actor} singing"],
        "horse": [f"a {actor} riding a horse"],
        "song": ["people singing"],
    }
    composer = QueryComposer({name: read_content(captions) for name, captions in videos.items()})
    contracted = set()
    for seed in range(200):
        for query in composer.compose(seed):
            if "sing" in query.unwanted:
                contracted.add(_contracted(query.caption))
    assert contracted == sentences


def _contracted(caption: str) -> str:
    return re.sub(r"\b(does|do|is|are) not\b", r"\1n't", caption)


def test_related_words_are_found_by_meaning_and_by_form() -> None:
    assert {"song", "singer"} <= related("sing")
    assert related("zebra") == {"zebra"}
    assert derived_from("wrestle", {"wrestler", "wrestling", "wrest", "dog"}) == {
        "wrestler",
        "wrestling",
    }
    # It is too short to tell.
    assert derived_from("car", {"car", "card"}) == {"car"}


@pytest.mark.skipif(not MSRVTT.exists(), reason="MSR-VTT's captions are not there")
def test_composed_queries_of_captions_are_split_as_composed() -> None:
    lines = MSRVTT.read_text(encoding="utf-8").splitlines()[::20]
    videos = {fields["video_id"]: fields["captions"] for fields in map(json.loads, lines)}
    queries = compose(videos)
    wrong = []
    for query in queries:
        parts = understand(query.caption, load_tagger())
        if parts.wanted != (query.wanted,) or parts.unwanted != (query.unwanted,):
            wrong.append(query.caption)
    assert len(queries) > 20
    assert len(wrong) <= 0.05 * len(queries), wrong
    for query in queries:
        assert query.hard_ids, f"the video that {query.caption!r} comes from shows both parts"
        assert set(query.hard_ids) <= set(query.violating_ids)
        assert not set(query.video_ids) & set(query.violating_ids)
