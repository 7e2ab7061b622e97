"""Training on the large built-in world: its clips, captions, denying sentences and their truth."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.worlds import BY_DATA, LARGE
from nt2vr.models.framing import Framing
from nt2vr.world.negation import SceneDenialKind
from nt2vr.world.captions import describe
from nt2vr.world.drawn.render import render
from nt2vr.world.negation import SceneDenialKind as LargeDenialKind
from nt2vr.world.splits import sample_scenes
from tests.tiny import write_tiny
from tests.training import run_training
from trainer.config import WORLDS, TrainConfig
from trainer.config_file import anchored
from trainer.data.clips import check_data, world_clips
from trainer.data.sentences import WorldSentences

KINDS = dict.fromkeys(("composed", "without", "list", "not", "except", "place", "typed", "idiom"), 1.0)


def test_each_world_has_its_data_name_and_the_kinds_of_its_grammar() -> None:
    assert BY_DATA.keys() == WORLDS.keys()
    assert {"world": get_args(SceneDenialKind), "world-large": get_args(LargeDenialKind)} == WORLDS


def test_rows_hold_the_frames_and_tell_the_captions_of_their_scenes(tmp_path: Path) -> None:
    clips, scenes = world_clips("train", 3, 2, Framing(48), 5, tmp_path, world=LARGE), sample_scenes("train", 3, 5)
    for row, scene in enumerate(scenes):
        np.testing.assert_array_equal(clips.frames[row], render(scene, 48, 2))
        assert clips.sentences.caption(row, random.Random(1)) == describe(scene, random.Random(1)).text
    former = world_clips("train", 3, 2, Framing(48), 5, tmp_path, draws=False)
    assert former.path != clips.path and clips.name == "large built-in world"


def test_denying_sentences_are_right_for_their_own_scene_and_wrong_for_hard_ones() -> None:
    scenes = sample_scenes("train", 60, 0)
    sentences, found = WorldSentences(scenes, world=LARGE), set()
    for row in range(len(scenes)):
        denial = sentences.denial(row, {**KINDS, "fragment": 9.0}, random.Random(row))
        truth = sentences.truth(denial)
        assert truth is not None and truth.fitting[row] and not (truth.fitting & truth.both).any()
        found.add(denial.kind)
    assert found == {*KINDS}


def test_pairs_are_the_captions_and_some_cannot_be_negated() -> None:
    sentences = WorldSentences(sample_scenes("train", 100, 0), world=LARGE)
    pairs = [sentences.pair(row, random.Random(row)) for row in range(100)]
    assert [pair.caption for pair in pairs] == [sentences.caption(row, random.Random(row)) for row in range(100)]
    assert 0 < sum(pair.negated is None for pair in pairs) < 20
    originals = {query.text for query in sentences.queries() if query.kind == "original"}
    kinds = [query.kind for query in sentences.queries()]
    assert len(originals) > 95 and {*kinds} == {"original", "negated", "composed", "without", "not"}


def test_a_text_tower_trains_on_the_large_world(tmp_path: Path) -> None:
    write_tiny(tmp_path / "base")
    config = TrainConfig(
        name="Tiny",
        base=str(tmp_path / "base"),
        train="text",
        losses={"contrastive": {}, "composed": {"hard_weight": 1.0}, "distill": {}},
        sentences=KINDS,
        data="world-large",
        num_clips=8,
        num_frames=2,
        validation_clips=10,
        batch_size=4,
        pool_clips=4,
        epochs=1,
        log_every=1,
    )
    run = run_training(config, tmp_path / "run")
    lines = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    steps = [line for line in lines if "contrastive" in line]
    assert len(steps) == 2 and all(np.isfinite([line["composed"], line["distill"]]).all() for line in steps)
    assert {"original/R@1", "original/MIR", "negated/delta_MIR", "not/auc"} <= lines[-1].keys()
    assert json.loads((run.checkpoint(1) / "nt2vr.json").read_text())["data"] == "large built-in world, 8 clips"


def test_the_name_is_no_path_and_other_names_are_refused_in_a_sentence() -> None:
    config = TrainConfig(data="world-large")
    assert anchored(config).data == "world-large"
    check_data(config, {})
    with pytest.raises(ConfigError, match=r"is not there\. Did you mean.*world-large.* Name world, a captions file"):
        check_data(replace(config, data="world-larg"), {})
    with pytest.raises(ConfigError, match="grammar makes only negated, composed"):
        replace(config, sentences={"fragment": 1.0})
    with pytest.raises(ConfigError, match="num_captions is for datasets"):
        replace(config, num_captions=200)
