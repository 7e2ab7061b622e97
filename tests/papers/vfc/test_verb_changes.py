"""Captions with another verb by rules, on a small corpus."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nt2vr.cli import main
from nt2vr.errors import ConfigError
from nt2vr.papers.vfc.verb_changes import VerbChanges
from nt2vr.papers.vfc.verb_file import read_verbs, write_verbs
from nt2vr.papers.vfc.verb_uses import verb_uses_of

CORPUS = [
    ["a man is cutting a cake"],
    ["a woman is eating a cake", "a woman tastes a cake"],
    ["a boy eats a cake"],
    ["a girl decorates the cake"],
    ["a man is decorating a cake"],
    ["a man slices a cake"],
    ["a woman slices the cake"],
    ["a man is holding a cake"],
    ["a boy holds a cake"],
    ["a man burns a cake"],
    ["a car crashes"],
    ["a car is crashing"],
    ["a man is singing"],
    ["a woman is singing"],
    ["a car is turning"],
]


def drawn(caption: str, corpus: Sequence[Sequence[str]] = CORPUS, rule: Any = "rules") -> set[str]:
    changes = VerbChanges([[caption], *corpus])
    return {changed.text for changed in changes.change(0, caption, rule, random.Random(0))}


@pytest.mark.parametrize(
    ("caption", "verb_phrases"),
    [
        ("a man is playing the guitar on a stage", ["playing guitar"]),
        ("a boy jumps into a pool", ["jumping into pool"]),
        ("people cut a cake in a kitchen", ["cutting cake"]),
        # The first verb only introduces.
        ("a man starts singing", ["singing"]),
        ("a person is rolling a small ball slowly", ["rolling small ball"]),
        ("a man is being chased", []),
        ("a crowd of people watching wrestling matches", []),
        # Few other verbs say where it goes.
        ("a group of men push a car out of a room", []),
        ("a girl looks down at her cast", []),
        ("cartoons are floating around in space", ["floating around"]),
    ],
)
def test_verb_phrases_are_written_as_in_vfc(caption: str, verb_phrases: list[str]) -> None:
    assert [use.phrase for use in verb_uses_of(caption)][: len(verb_phrases) or 9] == verb_phrases


def test_a_new_verb_keeps_form_and_fits_its_object() -> None:
    # slice is a synonym of cut, hold often true as well, taste and burn occur once
    assert drawn("a man is cutting a cake") == {
        "a man is decorating a cake",
        "a man is eating a cake",
    }
    assert drawn("a man cuts a cake") == {"a man decorates a cake", "a man eats a cake"}
    assert drawn("a man cuts a tree") == set()


def test_a_verb_of_the_same_video_is_no_negative() -> None:
    changes = VerbChanges([["a man cuts a cake", "a man is eating"], *CORPUS])
    texts = [
        changed.text
        for changed in changes.change(0, "a man cuts a cake", "rules", random.Random(0))
    ]
    assert texts == ["a man decorates a cake"]


def test_who_acts_must_have_been_seen_to_do_so() -> None:
    assert drawn("a car is standing") == {"a car is crashing"}
    assert drawn("a man is jumping") == {"a man is singing"}


def test_keys_are_lemmas_of_verb_and_noun() -> None:
    (cut,), (eat,) = map(
        verb_uses_of, ("people cut two cakes in a kitchen", "a man is eating a bowl of hot rice")
    )
    assert (cut.key, eat.key) == ("cut cake", "eat rice")
    caption = "a man cuts a cake and a woman is singing"
    changes = VerbChanges([[caption], *CORPUS])
    changed_captions = changes.change(0, caption, "rules", random.Random(1))
    assert len(changed_captions) > 1
    for changed in changed_captions:
        assert changed.keys == tuple(use.key for use in verb_uses_of(changed.text)), changed


def test_controls_take_antonyms_or_any_verb() -> None:
    assert drawn("a man opens a door", rule="antonym") == {"a man closes a door"}
    anything = drawn("a man opens a door", rule="random")
    assert {"a man sings a door", "a man crashes a door"} < anything
    assert len(anything) <= 10


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    changes = VerbChanges(CORPUS)
    lines = [line for row in range(len(changes)) for line in changes.captions(row, "rules", 0)]
    useful = {line.caption: line for line in lines if line.phrases}
    assert write_verbs(tmp_path / "verbs.jsonl", lines) == len(useful) > 10
    assert read_verbs(tmp_path / "verbs.jsonl") == useful


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "[]",
        "{}",
        '{"caption": 3}',
        '{"caption": "a", "changed": "b"}',
        '{"caption": "a", "phrases": [1]}',
    ],
)
def test_other_files_are_refused_in_a_sentence(line: str, tmp_path: Path) -> None:
    (tmp_path / "verbs.jsonl").write_text(f"{line}\n")
    with pytest.raises(ConfigError, match=r"1 .*verbs.jsonl"):
        read_verbs(tmp_path / "verbs.jsonl")


def test_the_command_writes_a_file_for_a_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    for row, texts in enumerate(CORPUS):
        lines += [f"v{row}#enc#{number} {text}" for number, text in enumerate(texts)]
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    flags = [
        "queries",
        "verbs",
        "--captions",
        str(tmp_path / "captions.txt"),
        "--out",
        str(tmp_path / "verbs.jsonl"),
    ]
    assert main(flags) == 0
    summary = json.loads(capsys.readouterr().out)
    verbs = read_verbs(tmp_path / "verbs.jsonl")
    assert summary == {
        "captions": 16,
        "written": len(verbs),
        "changed": sum(len(line.changed) for line in verbs.values()),
    }
    assert {changed.text for changed in verbs["a man is cutting a cake"].changed} == {
        "a man is decorating a cake",
        "a man is eating a cake",
    }
