"""Families: twins, edits, texts, and the truth over a gallery against a plain loop and a plain reading of texts."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from nt2vr.negation.generate.wordings import wordings_in
from nt2vr.papers.covr.change import CHANGE_KINDS, ChangeKind
from nt2vr.papers.covr.change_wording import ask_for
from nt2vr.papers.covr.draw_changes import changes_of
from nt2vr.papers.covr.edits import (
    COPIES,
    EDIT_KINDS,
    Family,
    RequirementTable,
    choose_families,
    gallery_of,
    training_families,
)
from nt2vr.world.claims import Claim
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit

SCENES = sample_scenes("train", 80, seed=6)


@cache
def families(split: SceneSplit = "validation") -> list[Family]:
    return choose_families(split, per_kind=4, seed=2)


@pytest.mark.slow
def test_every_kind_has_as_many_queries_as_requested() -> None:
    kinds = Counter(edit.kind for family in families() for edit in family.edits)
    assert kinds == dict.fromkeys(EDIT_KINDS, 4)
    for family in families():
        assert family.reference.split == "validation"
        assert {edit.scene.split for edit in family.edits} == {"validation"}


def test_only_test_texts_have_unseen_wordings() -> None:
    unseen = [edit.unseen for family in families() for edit in family.edits]
    assert 0.25 < sum(unseen) / len(unseen) < 0.75
    assert not any(edit.unseen for family in training_families(20, 1) for edit in family.edits)


def test_no_wording_is_both_seen_and_unseen() -> None:
    wordings = wordings_in("modifications.json")
    seen = wordings["seen"]
    unseen = wordings["unseen"]
    assert seen.keys() == unseen.keys() == set(CHANGE_KINDS)
    for kind in CHANGE_KINDS:
        seen_texts = {wording[0] for wording in seen[kind]}
        assert seen_texts.isdisjoint(wording[0] for wording in unseen[kind])


def test_right_clips_match_a_plain_reading_of_the_text() -> None:
    clips = gallery_of(families(), 2)
    descriptions = [told_of(clip) for clip in clips]
    table = RequirementTable(clips)
    num_read = 0
    for family in families():
        for edit in family.edits:
            right = table.right(edit.requirements)
            assert len(right) >= 2
            wanted = claims_of(edit.modification.wanted)
            unwanted = claims_of(edit.modification.unwanted)
            if wanted is None or unwanted is None:
                # The reader knows less than people do.
                continue
            expected = []
            for row, clip in enumerate(clips):
                is_alike = descriptions[row] == told_of(edit.scene)
                shows_wanted = all(claim.holds(clip) for claim in wanted)
                shows_unwanted = any(claim.holds(clip) for claim in unwanted)
                if is_alike and shows_wanted and not shows_unwanted:
                    expected.append(row)
            assert right == expected, edit.modification
            num_read += 1
    assert num_read > 35
    assert len(clips) > 2 * COPIES


def test_queries_have_a_plain_loop_s_clips_and_twins() -> None:
    clips = gallery_of(families())
    contents = Counter(clip.content for clip in clips)
    table = RequirementTable(clips)
    for family in families():
        assert contents[family.reference.content] >= COPIES
        assert family.reference not in clips
        for edit in family.edits:
            right = table.right(edit.requirements)
            assert right == [row for row, clip in enumerate(clips) if edit.requirements.holds(clip)]
            assert len(right) >= COPIES


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("kind", CHANGE_KINDS)
def test_the_parts_of_a_text_say_what_the_change_does(kind: ChangeKind, unseen: bool) -> None:
    rng = random.Random(kind)
    read = list[bool]()
    for scene in SCENES:
        change = next(changes_of(scene, kind, rng), None)
        if change is None:
            continue
        text = ask_for((change,), rng, unseen)
        after = change.applied(scene)
        for part, is_wanted in (
            *((part, True) for part in text.wanted),
            *((part, False) for part in text.unwanted),
        ):
            claim = claim_of(part)
            assert claim is None or claim.holds(after) == is_wanted, text
            read.append(claim is not None)
        assert bool(text.wanted) or bool(text.unwanted)
    assert sum(read) > 0.8 * len(read) > 4


def claim_of(part: str) -> Claim | None:
    """Read a part, without words that only texts of changes have; "letting a kite fly" is not understood."""
    words = part.replace("anybody ", "a person ").replace("the one ", "").replace("who is ", "")
    words = words.replace(" has ", " with ").replace(" on", "", 1) if " has " in part else words
    return read_claim(words.replace(" now", ""))


def told_of(scene: Scene) -> list[object]:
    """Tell place, time of day and actors with their actions in turn, from the scene as plain data."""
    data = scene.to_dict()
    actors = []
    for figure, drawn in zip(data["figures"], scene.figures, strict=True):
        done = [action for action in figure["actions"] if action["verb"] not in MOODS_AND_CLOTHES]
        turns = [
            (action["start"], action["verb"], object_in(data, action["object"])) for action in done
        ]
        if drawn.is_actor:
            comes = figure["enters"] > 0
            goes = figure["leaves"] < 1
            actors.append(
                (
                    figure["thing"],
                    figure["count"],
                    [turn[1:] for turn in sorted(turns)],
                    comes,
                    goes,
                )
            )
    return [data["place"], data["night"], sorted(actors)]


def object_in(data: dict[str, Any], name: int | str | None) -> str:
    return str(data["figures"][name]["thing"] if isinstance(name, int) else name)


MOODS_AND_CLOTHES = (
    *(
        "wear",
        "smile",
        "laugh",
        "cry",
        "be angry",
        "be surprised",
        "be scared",
        "yawn",
        "be sick",
        "tongue",
    ),
)


def claims_of(parts: Sequence[str]) -> list[Claim] | None:
    """Read the parts of a text; None if one of them has words that the world's captions have not."""
    claims = [claim_of(part) for part in parts]
    return None if None in claims else [claim for claim in claims if claim]
