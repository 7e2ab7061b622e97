"""Teaching negation from captions alone: reading and rejecting data, and complete runs."""

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import open_clip
import pytest
import torch

from nt2vr.errors import ConfigError, DatasetError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.negation.generate.denials import Denial
from nt2vr.negation.generate.query_sets import read_any_captions
from tests.tiny import TINY, write_tiny
from tests.training import run_training
from trainer import loop
from trainer import text_measures as text_measures_module
from trainer.config import SENTENCES, TrainConfig
from trainer.config_file import load_config
from trainer.data import clips as clips_module
from trainer.data.batches import epoch_batches
from trainer.data.captions import captions_file, read_split
from trainer.data.clips import ClipLoader, Clips
from trainer.data.sentences import WorldSentences
from trainer.learner import Learner
from trainer.loop import prepare, train
from trainer.losses.distill import DistillLoss
from trainer.presets import PRESETS
from trainer.runs.run_folder import RunFolder
from trainer.text_measures import KEPT, TextMeasures, early_warning, unseen_idioms

WHO = ("a man", "a woman", "a boy", "a dog", "two girls")
WHERE = ("on a stage", "in a park", "near a red car", "at home")
DOING = ("singing", "playing the guitar", "eating an apple", "running", "throwing a ball", "riding a horse", "dancing")
CAPTIONS = [f"{who} {doing} {where}" for who in WHO for doing in DOING for where in WHERE]  # 140
CONFIG = TrainConfig(
    name="Tiny text",
    base="base",
    train="text",
    model=TINY,
    losses={"distill": {"alpha": 0.65}},
    num_clips=100,
    batch_size=20,
    validation_clips=12,
    epochs=3,
    warmup_steps=0,
    log_every=1,
    learning_rate=5e-3,
    sentences={"composed": 0.3, "without": 0.2, "not": 0.1, "negated": 0.15, "fragment": 0.25},
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    write_tiny(folder, "Tiny base")
    return folder


@pytest.fixture
def config(base: Path, tmp_path: Path) -> TrainConfig:
    (tmp_path / "captions.txt").write_text("\n".join(CAPTIONS))
    return replace(CONFIG, base=str(base), data=str(tmp_path / "captions.txt"))


def loaded(learner: Learner, cache: Path) -> list[Clips]:
    return [
        ClipLoader(learner.config, cache, needs=learner.losses.needs).load(split) for split in ("train", "validation")
    ]


def lines_of(run: RunFolder) -> list[dict[str, float]]:
    return [json.loads(line) for line in run.metrics.read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.txt", "a man sings\n\n  a #1 fan runs \n", {"a 1": ("a man sings",), "a 3": ("a #1 fan runs",)}),
        ("a.txt", "1.jpg#0\ta man sings\n1.jpg#1\tsomeone sings", {"1.jpg": ("a man sings", "someone sings")}),
        ("a.txt", "v7#enc#0 a man sings\nv8#enc#0 a dog", {"v7": ("a man sings",), "v8": ("a dog",)}),
        ("a.jsonl", '{"video_id": "v7", "captions": ["a man", "a boy"]}', {"v7": ("a man", "a boy")}),
    ],
    ids=["plain text", "Flickr", "nT2VR", "JSON lines"],
)
def test_captions_are_read_from_files_of_every_form(
    tmp_path: Path, name: str, text: str, expected: dict[str, Any]
) -> None:
    (tmp_path / name).write_text(text)
    assert captions_file(tmp_path / name)
    assert dict(read_any_captions(tmp_path / name)) == expected


def test_a_dataset_s_own_files_and_folders_are_no_captions_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("video_id,caption\na,a man")
    (tmp_path / "a.jsonl").write_text('\n{"video_id": "a", "path": "a.mp4", "captions": ["a man"]}')
    for path in (tmp_path, tmp_path / "a.csv", tmp_path / "a.jsonl", tmp_path / "gone.txt"):
        assert not captions_file(path)


def test_a_tenth_of_the_videos_is_held_out_and_no_caption_of_theirs_is_trained_on(
    tmp_path: Path, config: TrainConfig
) -> None:
    lines = [f"v{n // 2}#enc#{n % 2} {caption}" for n, caption in enumerate([*CAPTIONS, *CAPTIONS[:30]])]
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    many = replace(config, num_clips=1000, validation_clips=1000)
    name, captions = read_split(many, "train")
    _, held_out = read_split(many, "validation")
    assert name == "captions.txt"
    assert set(captions) | set(held_out) == set(CAPTIONS) and not set(captions) & set(held_out)
    assert 4 <= len(held_out) <= 16 and len(captions) == len(set(captions))
    few = read_split(config, "train")[1]
    assert few == captions[:100]  # always the same
    fewer = read_split(replace(config, validation_clips=3), "validation")[1]  # from three videos with two each
    assert len(fewer) == 3 and set(fewer) <= set(held_out)
    assert read_split(replace(many, validation_clips=3), "train")[1] == captions  # the same, however few are read


def test_captions_of_a_dataset_are_read_without_its_videos(tmp_path: Path, config: TrainConfig) -> None:
    rows = [f"v{n},{caption},{'val' if n % 10 == 0 else 'train'}" for n, caption in enumerate(CAPTIONS)]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "captions.csv").write_text("\n".join(["video_id,caption,split", *rows]))
    name, captions = read_split(replace(config, data=str(tmp_path / "mine"), num_clips=500), "train")
    assert name == "mine"
    assert set(captions) == {caption for n, caption in enumerate(CAPTIONS) if n % 10}


@pytest.mark.parametrize(
    ("captions", "change", "error", "message"),
    [
        (CAPTIONS, {"batch_size": 100, "num_clips": 500, "validation_clips": 60}, None, ""),
        (CAPTIONS[:15], {}, ConfigError, r"has 14 captions to train on, too few for a batch_size of 20"),
        (["a man sings"] * 40, {}, DatasetError, "no captions that could be held out"),
        ([], {}, ConfigError, "holds no captions"),
    ],
)
def test_too_few_captions_are_refused(
    tmp_path: Path, config: TrainConfig, captions: list[str], change: dict[str, Any], error: Any, message: str
) -> None:
    (tmp_path / "captions.txt").write_text("\n".join(captions))
    needs = frozenset({"denied", "parts"})
    if error is None:
        assert len(ClipLoader(replace(config, **change), tmp_path, needs=needs).load("train")) == 126
        return
    with pytest.raises(error, match=message):
        ClipLoader(replace(config, **change), tmp_path, needs=needs).load("train")


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ({"distill": {}, "contrastive": {}}, "captions.txt has captions but no videos, which contrastive cannot do"),
        ({"distill": {}, "composed": {}}, "composed must know which clips a sentence is right for"),
    ],
)
def test_losses_that_captions_cannot_serve_are_refused_in_one_sentence_before_anything_is_made(
    tmp_path: Path, config: TrainConfig, losses: dict[str, Any], message: str
) -> None:
    failed = run_training(replace(config, losses=losses), tmp_path / "runs" / "a", "failed").status()
    assert failed is not None and failed.error is not None
    assert failed.error.startswith(message)
    assert not (tmp_path / "runs" / ".frames").exists()


def test_a_run_on_captions_alone_comes_nearer_to_its_targets_and_leaves_the_visual_tower_as_it_is(
    tmp_path: Path, config: TrainConfig, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("decode_videos", "world_clips"):
        monkeypatch.setattr(clips_module, name, lambda *_: pytest.fail("looked at videos"))
    finished = run_training(replace(config, epochs=8, patience=8, monitor="text/target"), tmp_path / "runs" / "a")
    lines = lines_of(finished)
    losses = [line["distill"] for line in lines if "distill" in line]
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])
    controls, epochs = lines[0], [line for line in lines if "text/target" in line]
    measured = {f"base/text/{name}" for name in ("target", "kept", "order", "order_if_kept", "idioms")}
    assert controls.keys() == {"epoch", "step", "drop/text/order", *measured}
    assert controls["base/text/kept"] == pytest.approx(1, abs=1e-5)
    assert epochs[-1]["text/target"] > controls["base/text/target"] + 0.05
    assert epochs[-1]["text/order"] > controls["base/text/order"] + 10
    assert epochs[-1]["text/kept"] > 0.8
    card, before = read_checkpoint(finished.checkpoint(8), verify=True).card, read_checkpoint(base).card
    assert card.visual_fingerprint == before.visual_fingerprint and card.text_fingerprint != before.text_fingerprint
    assert (card.data, card.frames, card.base) == ("captions.txt, 100 captions", before.frames, "Tiny base")
    assert card.metrics["validation/text/target"] == epochs[-1]["text/target"]
    assert card.metrics["validation/base/text/target"] == controls["base/text/target"]


def test_a_metric_that_captions_do_not_give_is_refused_as_monitor(tmp_path: Path, config: TrainConfig) -> None:
    status = run_training(replace(config, patience=1), tmp_path / "runs" / "a", "failed").status()
    assert status is not None and status.error is not None
    assert status.error.startswith("original/MIR cannot be measured on these captions. Set monitor to text/target")


def test_what_is_measured_on_text_is_that_of_a_plain_loop(tmp_path: Path, config: TrainConfig, base: Path) -> None:
    learner = Learner(replace(config, sentences={"composed": 1, "without": 1, "not": 1}))
    encoder = read_checkpoint(base)
    clips, held_out = loaded(learner, tmp_path)
    prepare(learner, clips, lambda: False)
    teacher = learner.teacher
    assert teacher is not None and not clips.has_videos
    np.testing.assert_allclose(  # without videos, the mean of captions
        teacher.parts([], None).video_mean, encoder.encode_text(clips.captions("0 tokens")).mean(axis=0), atol=1e-6
    )
    measures = TextMeasures(learner, held_out)
    idioms = unseen_idioms(held_out.captions("x"))
    write_tiny(tmp_path / "other", seed=1)
    other = read_checkpoint(tmp_path / "other")
    sentences = measures.sentences
    assert len(sentences) == 12 and not {sentence.wanted for sentence in sentences} & set(clips.captions("x"))
    target, ordered, preserved, dropped = [], [], [], []
    mean = teacher.parts([], None).unwanted_mean.numpy()
    others = [*sentences[1:], sentences[0]]
    for sentence, caption, other_one in zip(sentences, held_out.captions("x"), others, strict=True):
        own = other.encode_text([sentence.text])[0]
        unwanted = encoder.encode_text([sentence.unwanted])[0]
        wanted = encoder.encode_text([sentence.wanted])[0] - 0.65 * (unwanted - mean)
        if not sentence.wanted:
            wanted = teacher.parts([], None).video_mean.numpy() - unwanted
        target.append(float(own @ wanted / np.linalg.norm(wanted)))
        start = f"{sentence.wanted} and " if sentence.wanted else ""
        both, with_other = encoder.encode_text([f"{start}{one.unwanted}" for one in (sentence, other_one)])
        ordered.append(own @ with_other > own @ both)
        if sentence.wanted:
            dropped.append(encoder.encode_text([sentence.wanted])[0] @ (with_other - both) > 0)
        preserved.append(float(other.encode_text([caption])[0] @ encoder.encode_text([caption])[0]))
    assert 0 < sum(ordered) < 12 and len(idioms) == 12
    pairs = [(other.encode_text([idiom.text])[0], encoder.encode_text([idiom.wanted])[0]) for idiom in idioms]
    expected = {
        "text/target": np.mean(target),
        "text/kept": np.mean(preserved),
        "text/order": 100 * np.mean(ordered),
        "text/order_if_kept": 100 * (np.mean(preserved) - KEPT),
        "text/idioms": np.mean([text @ meaning for text, meaning in pairs]),
    }
    assert np.mean(preserved) < KEPT and measures(other) == pytest.approx(expected, abs=1e-4)
    assert measures(encoder)["text/order_if_kept"] == measures(encoder)["text/order"] > 0
    assert 0 < len(dropped) < 12
    assert measures.controls["drop/text/order"] == pytest.approx(100 * np.mean(dropped), abs=1e-4)
    assert measures.controls["base/text/order"] == pytest.approx(measures(encoder)["text/order"], abs=1e-4)


def test_an_idiom_s_target_is_its_paraphrase_and_it_is_not_among_the_ordered(
    tmp_path: Path, config: TrainConfig, base: Path
) -> None:
    learner = Learner(replace(config, sentences={"idiom": 1, "not": 1}))
    clips, held_out = loaded(learner, tmp_path)
    prepare(learner, clips, lambda: False)
    teacher, (_, distill) = learner.teacher, learner.losses.terms["distill"]
    assert teacher is not None and isinstance(distill, DistillLoss)
    idioms = [Denial("idiom", "a man can't stop singing", "a man keeps singing", "")]
    expected = read_checkpoint(base).encode_text(["a man keeps singing"])
    np.testing.assert_allclose(distill.target(teacher.parts(idioms, None)), expected, atol=1e-6)
    measures = TextMeasures(learner, held_out)
    kinds = [sentence.kind for sentence in measures.sentences]
    assert {"idiom", "not"} == set(kinds)
    ordered = measures(read_checkpoint(base))["text/order"] / 100 * kinds.count("not")
    assert ordered == pytest.approx(round(ordered))


def test_of_idioms_alone_nothing_is_distilled(
    tmp_path: Path, config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="distill needs sentences that deny something"):
        replace(config, sentences={"idiom": 1, "not": 0})
    idiom = Denial("idiom", "a man can't stop singing", "a man keeps singing", "")
    for module in (loop, text_measures_module):  # as captions of which no other kind can be made
        monkeypatch.setattr(module, "draw_sentence", lambda *_: idiom)
    learner = Learner(config)
    clips, held_out = loaded(learner, tmp_path)
    prepare(learner, clips, lambda: False)
    assert learner.teacher is not None and learner.teacher.parts([idiom], None).unwanted.isfinite().all()
    with pytest.raises(ConfigError, match="No sentence made of these captions denies anything"):
        TextMeasures(learner, held_out)


def test_the_world_draws_its_kinds_in_the_order_of_their_shares_and_no_fragments() -> None:
    """Another order would give other sentences, and other models, from the same config."""
    grammar: Any = SimpleNamespace(draw=lambda row, kind, rng: kind)
    world = WorldSentences([], grammar=grammar)
    for seed in range(50):
        shares = {"idiom": 0.3, **SENTENCES}
        expected = random.Random(seed).choices(list(shares), list(shares.values()))[0]
        drawn: Any = world.denial(0, {**shares, "fragment": 0.5}, random.Random(seed))
        assert drawn == expected


def test_a_share_of_the_captions_is_held_in_place(tmp_path: Path, config: TrainConfig) -> None:
    quarter = Learner(replace(config, keep_share=0.25))
    clips, _ = loaded(quarter, tmp_path)
    whole, part = (
        next(epoch_batches(clips, replace(config, keep_share=share), 1, 0, quarter.losses.needs))
        for share in (1, 0.25)
    )
    assert part.captions == whole.captions[:5] and len(whole.captions) == 20
    assert whole.denied is not None and part.denied is not None
    assert part.denied == whole.denied
    prepare(quarter, clips, lambda: False)
    assert quarter.step([part])["distill"] > 0
    with pytest.raises(ConfigError, match="keep_share is for distill and composed"):
        replace(config, keep_share=0.5, losses={"distill": {}, "contrastive": {}})


def test_a_run_that_learns_nothing_says_so_early(
    tmp_path: Path, config: TrainConfig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "EARLY_STEPS", 4)
    learner = Learner(replace(config, learning_rate=1e-9, epochs=1))
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    clips, held_out = loaded(learner, tmp_path)
    train(learner, folder, clips, held_out)
    (warning,) = (r.getMessage() for r in caplog.records if "has not moved" in r.getMessage())
    assert warning.endswith("raise the learning rate (1e-09).")


@pytest.mark.parametrize(
    ("order", "kept", "said"),
    [(8, 1, "text/order has not moved"), (8, 0.9, "text/kept has fallen to 0.900"), (30, 0.9, "lower"), (30, 1, "")],
)
def test_the_first_steps_say_whether_to_raise_or_lower_the_learning_rate(order: float, kept: float, said: str) -> None:
    warning = early_warning({"text/order": order, "text/kept": kept}, {"base/text/order": 5}, 1e-4)
    assert said in warning and bool(warning) == bool(said)


def test_a_text_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path, config: TrainConfig) -> None:
    weights = []
    for name, stops in (("uninterrupted", []), ("stopped", [4, 9])):
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        for stop in [*stops, 10**6]:
            learner = Learner(config)
            clips, held_out = loaded(learner, tmp_path)
            train(learner, folder, clips, held_out, lambda: learner.steps >= stop)  # noqa: B023
        weights.append((learner.model.state_dict(), lines_of(folder)))
    (one, lines), (other, again) = weights
    assert lines == again
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_denying_sentences_of_captions_train_beside_the_videos_of_a_dataset(
    tmp_path: Path, config: TrainConfig, write_video: Any
) -> None:
    rows = []
    for number in range(12):
        write_video(f"mine/{number}.avi", [20 * number, 20 * number + 10], side=48)
        texts = random.Random(number).sample(CAPTIONS, 3)
        rows.append({"video_id": f"v{number}", "path": f"{number}.avi", "captions": texts})
    (tmp_path / "mine" / "captions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    losses: dict[str, Any] = {"contrastive": {}, "distill": {}}
    both = replace(config, data=str(tmp_path / "mine"), losses=losses, batch_size=5, num_frames=2, epochs=1)
    finished = run_training(both, tmp_path / "runs" / "a")
    last = lines_of(finished)[-1]
    assert {"original/MIR", "text/target", "text/order"} <= last.keys()
    assert all(line["contrastive"] > 0 and line["distill"] > 0 for line in lines_of(finished) if "distill" in line)


@pytest.mark.slow
def test_the_preset_teaches_a_vit_b_32(tmp_path: Path) -> None:
    """The base has random weights, since no real CLIP is available; every step of the run is the same as for one."""
    model, model_cfg = open_clip.create_model("ViT-B-32"), open_clip.get_model_config("ViT-B-32")
    before = write_checkpoint(tmp_path / "vit", model, model_cfg, {}, Card("ViT-B-32"))
    (tmp_path / "captions.txt").write_text("\n".join([*CAPTIONS, *(f"{caption} again" for caption in CAPTIONS[:60])]))
    changes = {
        "base": str(tmp_path / "vit"),
        "data": str(tmp_path / "captions.txt"),
        "epochs": 1,
        "num_clips": 48,
        "batch_size": 16,
        "validation_clips": 8,
        "patience": 0,
        "log_every": 1,
    }
    finished = run_training(load_config(PRESETS / "teach-text.json", changes), tmp_path / "runs" / "a")
    status = finished.status()
    assert status is not None and status.step == 3
    after = read_checkpoint(finished.checkpoint(1)).card
    assert before.visual_fingerprint == after.visual_fingerprint
    assert before.text_fingerprint != after.text_fingerprint
    assert after.frames == before.frames == 8
