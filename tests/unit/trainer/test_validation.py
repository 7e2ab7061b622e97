"""Validation with an oracle encoder, one that ignores negation, and clips of unknown truth."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.evaluation.built_in import captions_of, world_queries
from nt2vr.models.card import Card
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenials
from tests.support.text_encoder import TextEncoder
from tests.support.tiny_models import write_tiny
from trainer.data import sentences as sentences_module
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences, WorldSentences
from trainer.validator import control_metrics, validate

NO_FRAMES = np.zeros((60, 1, 2, 2, 3), np.uint8)
VIDEOS = np.eye(60, dtype=np.float32)


@cache
def scenes() -> list[Scene]:
    return sample_scenes("validation", 60, seed=0)


@cache
def world() -> Clips:
    return Clips(NO_FRAMES, WorldSentences(scenes()))


class Truth(TextEncoder):
    """Oracle encoder that knows each sentence's correct clips, with an adjustable score for clips with both parts."""

    card = Card("truth", objective="none")
    embed_dim = 60

    def __init__(self, right: float, both: float) -> None:
        self.known: dict[str, NDArray[np.float32]] = {}
        captions = [caption.text for caption in captions_of(scenes())]
        for query in world_queries(captions, SceneDenials(scenes())):
            scores = np.zeros(60, np.float32)
            scores[query.relevant] = right if query.kind != "negated" else both - 1
            scores[query.hard] = both
            self.known[query.text] = scores

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.known[text] for text in texts])


def measured(right: float, both: float) -> dict[str, float]:
    encoder = Truth(right, both)
    return validate(encoder, world(), VIDEOS)


def test_knowing_the_truth_is_perfect_and_ignoring_denials_not() -> None:
    perfect = measured(1, 0)
    for name in ("original/R@1", "composed/hard_pairs", "without/hard_pairs"):
        assert perfect[name] == 100
    assert perfect["composed/MIR"] == 1
    assert perfect["without/MIR"] == 1
    assert perfect["not/auc"] == 1
    # The caption's own clip ranks last.
    assert perfect["negated/delta_MIR"] == pytest.approx(1 - 1 / 60)
    deaf = measured(1, 1)
    assert deaf["composed/hard_pairs"] == 0
    assert deaf["without/hard_pairs"] == 0
    assert deaf["not/auc"] == 0.5
    assert deaf["composed/MIR"] < 0.6
    reverse = measured(0, 1)
    assert (reverse["composed/hard_pairs"], reverse["not/auc"]) == (0, 0)


def test_clips_without_truth_are_measured_by_captions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Marked(TextEncoder):
        """Encoder of captions that are numbers; it knows that "not 3" is not clip 3 and ignores other negations."""

        embed_dim = 60
        card = Card("marked", objective="none")

        def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.stack(
                [(-1 if text == "not 3" else 1) * VIDEOS[int(text.split()[-1])] for text in texts]
            )

    encoder = Marked()
    clips = Clips(NO_FRAMES, CaptionSentences([[str(row)] for row in range(60)]))
    monkeypatch.setattr(sentences_module, "negations", lambda caption: ())
    recalls = dict.fromkeys(("original/R@1", "original/R@5", "original/R@10"), 100)
    assert validate(encoder, clips, VIDEOS) == {**recalls, "original/MIR": 1}
    monkeypatch.setattr(
        sentences_module, "negations", lambda text: [f"not {text}"] if text in ("3", "7") else ()
    )
    metrics = validate(encoder, replace(clips), VIDEOS)
    assert list(metrics)[4:] == ["negated/delta_MIR"]
    assert metrics["negated/delta_MIR"] == pytest.approx((1 - 1 / 60) / 2)


def test_all_captions_are_searched_with_where_the_epochs_take_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sentences_module, "negations", lambda text: [f"not {text}"] if "2" in text else ()
    )
    captions = [["a0", "a1", "a2"], ["b0"], ["c0", "c2"]]
    one, every = (
        CaptionSentences(captions, queries_all=queries_all).queries()
        for queries_all in (False, True)
    )
    assert [query.kind for query in one].count("original") == 3
    assert [(query.text, query.relevant.tolist(), query.original) for query in every] == [
        ("a0", [0], None),
        ("a1", [0], None),
        ("a2", [0], None),
        ("b0", [1], None),
        ("c0", [2], None),
        ("c2", [2], None),
        ("not a2", [0], 2),
        ("not c2", [2], 5),
    ]


def test_controls_are_measured_beside_the_base(
    tmp_path: Path,
) -> None:
    write_tiny(tmp_path / "tiny")
    frames = np.random.default_rng(0).integers(0, 255, (60, 1, 64, 64, 3), np.uint8)
    clips = Clips(frames, world().sentences)
    metrics = control_metrics(tmp_path / "tiny", clips)
    assert 0 < metrics["base/original/MIR"] < 1
    assert "drop/original/MIR" not in metrics
    # No wanted part is left to search for.
    assert metrics["drop/not/auc"] == 0.5
    assert (
        metrics["boolean/composed/MIR"]
        != metrics["drop/composed/MIR"]
        != metrics["base/composed/MIR"]
    )
