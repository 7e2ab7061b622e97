"""A training with CoN-CLIP's loss, and what its distractors are."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nt2vr.models.checkpoint import read_checkpoint, read_model
from nt2vr.papers.con_clip.distractors import Distractors
from nt2vr.presets import preset_files
from tests.support.choice_loss import choice_loss
from tests.support.tiny_models import write_tiny
from tests.support.trainings import run_training
from trainer.config import TrainConfig, load_config
from trainer.data.batches import epoch_batches
from trainer.data.clip_loader import ClipLoader
from trainer.inputs import Negated
from trainer.losses import build_losses, losses_of

CAPTIONS = (
    "a man is playing the guitar",
    "a dog runs on the beach",
    "a woman with a red hat is singing",
    "two girls are riding horses in the park",
    "it rains",
    "a scene from a movie",
    "a red car with a driver",
    "a boy is eating an apple and reading a book",
)


def write_pictures(folder: Path) -> None:
    """Write 48 pictures of random squares with a caption each; some cannot be negated, or have no subject."""
    folder.mkdir()
    # Far apart for the model: of pictures of one colour, the last bits decided which is a distractor.
    squares = np.random.default_rng(0).integers(0, 256, (48, 3, 3, 3), np.uint8)
    rows = ["path,caption"]
    for number in range(48):
        picture = Image.fromarray(squares[number]).resize((48, 48), Image.Resampling.NEAREST)
        picture.save(folder / f"{number}.png")
        rows.append(f"{number}.png,{CAPTIONS[number % len(CAPTIONS)]}")
    (folder / "captions.csv").write_text("\n".join(rows))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    write_tiny(tmp_path / "base")
    write_pictures(tmp_path / "pictures")
    return load_config(
        preset_files()["con-clip"],
        {
            "base": str(tmp_path / "base"),
            "data": str(tmp_path / "pictures"),
            "keep_tokens": False,
            # All but the held-out ones.
            "num_clips": 44,
            "num_frames": 1,
            "batch_size": 8,
            "pool_clips": 20,
            "epochs": 1,
            # Rounding in bf16 may choose other distractors.
            "precision": "fp32",
            "learning_rate": 5e-3,
            "warmup_steps": 0,
            "log_every": 1,
        },
    )


def test_the_first_loss_is_that_of_a_plain_loop(config: TrainConfig, tmp_path: Path) -> None:
    run = run_training(config, tmp_path / "run")
    steps = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    losses = [step["con"] for step in steps if "con" in step]
    assert len(losses) == 5

    clips = ClipLoader(config, tmp_path / "cache").load("train")
    batch = next(epoch_batches(clips, config, 1, inputs=losses_of(config).inputs))
    assert batch.rows is not None
    base = read_checkpoint(tmp_path / "base")
    videos = clips.embeddings(base)
    captions = base.encode_text(batch.captions)
    negated = base.encode_text(batch.drawn[Negated].texts)
    request = batch.drawn[Distractors]
    subjects = base.encode_text(request.subjects)
    objects = base.encode_text(request.objects)

    kept_rows = np.flatnonzero(request.has_distractor)
    distractors = []
    for row in kept_rows:
        candidates = [clip for clip in request.candidates if clip != batch.rows[row]]
        scores = [float(videos[clip] @ (subjects[row] - objects[row])) for clip in candidates]
        distractors.append(videos[candidates[int(np.argmax(scores))]])

    model, _, _ = read_model(tmp_path / "base")
    scale = float(model.logit_scale.detach().exp())
    own_videos = videos[batch.rows]
    terms = [
        choice_loss(scale, own_videos, captions, negated[kept_rows]),
        choice_loss(scale, captions, own_videos, np.array(distractors)),
        choice_loss(scale, np.array(distractors), negated[kept_rows], captions),
    ]
    assert losses[0] == pytest.approx(sum(terms) / 3, rel=1e-4)


def test_unclear_captions_have_no_distractor_though_they_are_negated(
    config: TrainConfig, tmp_path: Path
) -> None:
    inputs = losses_of(config).inputs
    clips = ClipLoader(config, tmp_path / "cache").load("train")
    batches = list(epoch_batches(clips, config, 1, inputs=inputs))
    assert [sum(batch.drawn[Distractors].has_distractor) for batch in batches] == [4, 6, 5, 5, 8]
    for batch in batches:
        negated = batch.drawn[Negated]
        request = batch.drawn[Distractors]
        assert request.caption_clips.tolist() == list(batch.rows if batch.rows is not None else ())
        assert len(request.candidates) == 20
        for row, caption in enumerate(batch.captions):
            unclear = caption in ("it rains", "a scene from a movie")
            assert request.has_distractor[row] != unclear
            assert negated.negatable[row] == (caption != "a scene from a movie")
            assert bool(request.subjects[row]) != unclear
            assert bool(request.objects[row]) != unclear


def test_distractors_come_last_and_only_where_needed() -> None:
    inputs = build_losses({"con": {}, "bnl": {}, "composed": {}}).inputs
    names = [type(loss_input).__name__ for loss_input in inputs]
    assert names == ["Video", "Negated", "Denied", "Truth", "Distractors"]
    pictures_alone = build_losses({"con": {"captions": False, "distractors": False}}).inputs
    assert Distractors not in pictures_alone
