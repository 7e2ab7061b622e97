"""Exclusions as people type them: consistent parts, which the parser reads back."""

import random
import re
from collections.abc import Sequence

from nt2vr.negation.generate.denial import Denial
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.sentences import SceneDenials

SAYS_LITTLE = set("a an the is are and who in on with of to at by his her".split())


def content(*phrases: str) -> set[str]:
    return {
        word[:4]
        for phrase in phrases
        for word in re.findall(r"\w+", phrase.lower())
        if word not in SAYS_LITTLE
    }


def read_back(denials: Sequence[Denial]) -> float:
    """Return the share of sentences whose unwanted words are excluded and whose other wanted words are wanted."""
    right = 0
    for denial in denials:
        query = understand(denial.text, load_tagger())
        wanted = content(denial.wanted)
        unwanted = content(denial.unwanted)
        words = content(*query.wanted)
        excluded = content(*query.unwanted)
        right += (
            wanted - unwanted <= words and unwanted <= excluded and not (unwanted - wanted) & words
        )
    return right / len(denials)


def test_the_parser_reads_typed_sentences_back() -> None:
    scenes = sample_scenes("train", 200, seed=5)
    of_scenes = SceneDenials(scenes)
    assert (
        read_back([of_scenes.draw(row, "typed", random.Random(row)) for row in range(200)]) >= 0.95
    )
    of_captions = CaptionDenials(
        [describe(scene, random.Random(row)).text for row, scene in enumerate(scenes)]
    )
    drawn = [
        denial
        for row in range(200)
        if (denial := of_captions.draw(row, "typed", random.Random(row)))
    ]
    assert read_back(drawn) >= 0.93
    plain_requests = [denial for denial in drawn if not denial.unwanted]
    assert 0.05 < len(plain_requests) / len(drawn) < 0.2
    assert all(denial.wanted for denial in plain_requests)


def test_the_parser_reads_typed_refusals_back() -> None:
    captions = [
        describe(scene, random.Random(row)).text
        for row, scene in enumerate(sample_scenes("train", 200, 5))
    ]
    denials = CaptionDenials(captions)
    typed = [
        denial
        for row in range(200)
        if (denial := denials.draw(row, "typed not", random.Random(row)))
    ]
    plain = [
        denial for row in range(200) if (denial := denials.draw(row, "not", random.Random(row)))
    ]
    assert len(typed) > 150
    assert not any(denial.wanted for denial in typed)
    things = [denial for denial in typed if not re.search(r"ing\b", denial.unwanted)]
    assert read_back(things) >= 0.95
    # The parser keeps the place of an action as wanted: "not walking | in the desert"
    assert read_back(typed) >= read_back(plain) - 0.05
