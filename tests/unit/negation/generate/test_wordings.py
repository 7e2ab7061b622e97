"""Exclusions as people type them: consistent parts, which the parser reads back."""

import random
import re
from collections.abc import Sequence

from nt2vr.negation.generate.denial import Denial, DenialKind
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.parse.query import understand
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenials

SAYS_LITTLE = set("a an the is are and who in on with of to at by his her".split())


def content(*phrases: str) -> set[str]:
    """Return how the words of phrases begin, whatever their inflection."""
    words = re.findall(r"\w+", " ".join(phrases).lower())
    return {word[:4] for word in words if word not in SAYS_LITTLE}


def read_back(denials: Sequence[Denial]) -> float:
    """Return the share of sentences whose unwanted words are excluded and whose other wanted words are wanted."""
    right = 0
    for denial in denials:
        query = understand(denial.text)
        wanted = content(denial.wanted)
        unwanted = content(denial.unwanted)
        read_as_wanted = content(*query.wanted)
        right += (
            wanted - unwanted <= read_as_wanted
            and unwanted <= content(*query.unwanted)
            and read_as_wanted.isdisjoint(unwanted - wanted)
        )
    return right / len(denials)


def drawn(scenes: Sequence[Scene], kind: DenialKind) -> list[Denial]:
    """Return a denial for a caption of each scene, where there is one."""
    captions = []
    for row, scene in enumerate(scenes):
        captions.append(describe(scene, random.Random(row)).text)
    denials = CaptionDenials(captions)
    attempts = (denials.draw(row, kind, random.Random(row)) for row in range(len(captions)))
    return [denial for denial in attempts if denial]


def test_the_parser_reads_typed_sentences_back() -> None:
    scenes = sample_scenes("train", 200, seed=5)
    of_scenes = SceneDenials(scenes)
    typed_of_scenes = [of_scenes.draw(row, "typed", random.Random(row)) for row in range(200)]
    assert read_back(typed_of_scenes) >= 0.95

    typed_of_captions = drawn(scenes, "typed")
    assert read_back(typed_of_captions) >= 0.93
    plain_requests = [denial for denial in typed_of_captions if not denial.unwanted]
    assert 0.05 < len(plain_requests) / len(typed_of_captions) < 0.2
    for request in plain_requests:
        assert request.wanted


def test_the_parser_reads_typed_refusals_back() -> None:
    scenes = sample_scenes("train", 200, seed=5)
    typed = drawn(scenes, "typed not")
    plain = drawn(scenes, "not")
    assert len(typed) > 150
    for refusal in typed:
        assert not refusal.wanted
    things = [denial for denial in typed if not re.search(r"ing\b", denial.unwanted)]
    assert read_back(things) >= 0.95
    # The parser keeps the place of an action as wanted: "not walking | in the desert"
    assert read_back(typed) >= read_back(plain) - 0.05
