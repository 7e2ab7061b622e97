"""Changed captions of a training: calibrated, drawn by clip and caption, or read from a file."""

import json
import random
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.papers.vfc.verb_uses import verb_uses_of
from nt2vr.papers.vfc.verbs_input import VerbTexts
from trainer.config import TrainConfig
from trainer.data.sentences import CaptionSentences

CAPTIONS = [
    ["a man cuts a cake", "a man is cutting a cake"],
    ["a woman eats a cake", "a woman is eating a cake"],
    ["a boy decorates a cake", "a boy is decorating a cake"],
    ["a girl sings", "a girl is singing"],
    ["a man is singing", "a man sings on a stage"],
]


def keys_of(verbs: VerbTexts) -> Counter[str]:
    """Count the verb phrases of all changed captions."""
    changed: list[str] = []
    for row, captions in enumerate(CAPTIONS):
        for caption in captions:
            changed += verbs.draw(row, caption, 10, random.Random(0))[0]
    return Counter(use.key for text in changed for use in verb_uses_of(text))


@pytest.mark.parametrize("rule", ["rules", "random"])
def test_calibration_leaves_no_phrase_more_often_than_captions(rule: str) -> None:
    source = CaptionSentences(CAPTIONS)
    captions = chain.from_iterable(CAPTIONS)
    seen = Counter(use.key for caption in captions for use in verb_uses_of(caption))
    keys = keys_of(VerbTexts.of(source, TrainConfig(verb_changes=rule)))
    assert keys
    assert all(keys[key] <= seen[key] for key in keys)
    everything = keys_of(VerbTexts.of(source, TrainConfig(verb_changes=rule, calibrate=False)))
    assert any(everything[key] > seen[key] for key in everything)


def test_a_file_says_what_captions_become(tmp_path: Path) -> None:
    path = tmp_path / "verbs.jsonl"
    path.write_text(
        '{"caption": "a girl sings", "phrases": ["loud singing"], "changed": ["a girl swims"]}\n'
    )
    source = CaptionSentences(CAPTIONS)
    verbs = VerbTexts.of(source, TrainConfig(verb_changes=str(path), calibrate=False))
    assert verbs.draw(3, "a girl sings", 5, random.Random(0)) == (["a girl swims"], "loud singing")
    assert verbs.draw(3, "a girl is singing", 5, random.Random(0)) == ([], "")
    texts_of = verbs.by_clip()
    assert list(dict.fromkeys(texts_of[3])) == [
        "a girl sings",
        "a girl swims",
        "loud singing",
        "a girl is singing",
    ]
    assert texts_of[0] == CAPTIONS[0]
    # No caption has "swim".
    none = VerbTexts.of(source, TrainConfig(verb_changes=str(path)))
    assert none.draw(3, "a girl sings", 5, random.Random(0)) == ([], "loud singing")
    with pytest.raises(ConfigError, match=r"verb_changes .*rules, antonym, random"):
        VerbTexts.of(source, TrainConfig(verb_changes="rulse"))


def test_shifts_count_negatives_per_positive(tmp_path: Path) -> None:
    path = tmp_path / "verbs.jsonl"
    changes = {
        "a girl sings": ["a girl dances", "a girl dances on a stage"],
        "a boy dances": [],
        "a boy dances twice": [],
    }
    lines = [
        {"caption": caption, "phrases": [], "changed": changed}
        for caption, changed in changes.items()
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    source = CaptionSentences([["a girl sings"], ["a boy dances", "a boy dances twice"]])
    config = TrainConfig(verb_changes=str(path), calibrate=False, batch_size=5)
    shifts = VerbTexts.of(source, config).shifts
    # One change has "dance stage", another phrase.
    assert shifts == {
        "sing": 1,
        "dance": (4 + 1 / 2) / 4,
    }
    calibrated = VerbTexts.of(source, config.replace(calibrate=True))
    # "dance" is kept, as captions have it.
    assert calibrated.shifts == shifts
