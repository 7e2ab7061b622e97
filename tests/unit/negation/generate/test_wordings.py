"""Exclusions as people type them: consistent parts, which the parser reads back."""

import random
import re
from functools import cache

from nt2vr.negation.generate.denials import CaptionDenials, Denial
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import Tagger
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenial, SceneDenials

SAYS_LITTLE = set("a an the is are and who in on with of to at by his her".split())


def content(*phrases: str) -> set[str]:
    return {word[:4] for phrase in phrases for word in re.findall(r"\w+", phrase.lower()) if word not in SAYS_LITTLE}


def read_back(denials: list[Denial]) -> float:
    """Return the share of sentences whose unwanted words are excluded and whose other wanted words are wanted."""
    tagger, right = Tagger(), 0
    for denial in denials:
        query = understand(denial.text, tagger)
        wanted, unwanted = content(denial.wanted), content(denial.unwanted)
        kept, excluded = content(*query.wanted), content(*query.unwanted)
        right += wanted - unwanted <= kept and unwanted <= excluded and not (unwanted - wanted) & kept
    return right / len(denials)


@cache
def scenes() -> list[Scene]:
    return sample_scenes("train", 400, seed=5)


@cache
def drawn_of_scenes() -> list[SceneDenial]:
    denials = SceneDenials(scenes())
    return [denials.draw(row, "typed", random.Random(row)) for row in range(len(scenes()))]


@cache
def drawn_of_captions() -> list[Denial]:
    captions = [describe(scene, random.Random(row)).text for row, scene in enumerate(scenes())]
    denials = CaptionDenials(captions)
    found = [denials.draw(row, "typed", random.Random(row)) for row in range(len(captions))]
    return [denial for denial in found if denial]


def test_the_parser_reads_typed_sentences_of_scenes_back() -> None:
    assert read_back([*drawn_of_scenes()]) >= 0.95


def test_the_parser_reads_typed_sentences_of_captions_back() -> None:
    assert read_back(drawn_of_captions()) >= 0.93


def test_some_typed_sentences_of_captions_exclude_nothing() -> None:
    asked = [denial for denial in drawn_of_captions() if not denial.unwanted]
    assert 0.05 < len(asked) / len(drawn_of_captions()) < 0.2
    assert all(denial.wanted for denial in asked)
