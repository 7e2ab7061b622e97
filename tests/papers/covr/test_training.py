"""Training of a fusion: it learns, it repeats itself, what is right for a triplet, and what a step draws."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from nt2vr.errors import DatasetError
from nt2vr.evaluation.queries import row_array
from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.composer import PictureQuery
from nt2vr.papers.covr.compositions import CompositionWeights
from nt2vr.papers.covr.dataset_triplets import triplets_of
from nt2vr.papers.covr.datasets import CovrSample, CovrSet, load_covr
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries
from nt2vr.papers.covr.fusion import Fusion
from nt2vr.papers.covr.fusion_data import FusionData, batches
from nt2vr.papers.covr.losses import LOSSES, hn_nce
from nt2vr.papers.covr.queries import CovrQuery
from nt2vr.papers.covr.settings import FusionSettings
from nt2vr.papers.covr.training import FusionLearner, add_fusion
from nt2vr.papers.covr.world_triplets import load_families
from tests.support.tiny_models import write_tiny
from tests.support.triplet_files import write_triplets
from trainer.config import TrainConfig

DIM = 12
FAMILIES = 40
EDITS = 3
WEIGHTS = CompositionWeights(wanted=1, unwanted=1)
# reference, target, reference's caption, target's caption; clips c and e show the same
TRIPLETS = [
    ("a", "b", "a dog", "a cat"),
    ("a", "c", "a dog", "a cow"),
    ("d", "e", "a dog", "a cow"),
    ("b", "c", "a cat", "a cow"),
    ("e", "b", "a cow", "a cat"),
]
CLIPS = "abcde"


def config_of(steps: int = 60, settings: Any = None, **changes: Any) -> TrainConfig:
    """Return the config of a run with one epoch of `steps` steps."""
    common = {
        "num_clips": FAMILIES,
        "batch_size": 10,
        "learning_rate": 0.01,
        "data": "world",
        "seed": 1,
        **changes,
    }
    passes = steps // (common["num_clips"] // common["batch_size"])
    fusion = {"temperature": 0.1, "random_clips": 20, **(settings or {})}
    fixed: dict[str, Any] = {
        "base": "base",
        "train": "fusion",
        "losses": {},
        "monitor": "fusion/R@1",
    }
    return TrainConfig(
        **fixed,
        fusion=fusion,
        epochs=1,
        passes=passes,
        warmup_steps=0,
        max_grad_norm=100.0,
        **common,
    )


def trained(data: FusionData, config: TrainConfig) -> tuple[Fusion, list[float]]:
    """Train a fusion; return it with the loss of every step."""
    learner = FusionLearner(config, data, WEIGHTS)
    learner.start_epoch()
    losses: list[float] = []
    for batch in learner.draw(1):
        losses += learner.step([batch]).values()
    return learner.fusion, losses


def toy_data(seed: int = 0) -> FusionData:
    """Families whose targets lie where a fixed matrix takes the wanted part: `parts` cannot know it."""
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(DIM, DIM, generator=torch.Generator().manual_seed(99))
    pictures = normalize(torch.randn(FAMILIES, DIM, generator=generator), dim=-1)
    wanted = normalize(torch.randn(FAMILIES * EDITS, 1, DIM, generator=generator), dim=-1)
    owners = torch.arange(FAMILIES).repeat_interleave(EDITS)
    edited = normalize(pictures[owners] + wanted[:, 0] @ hidden, dim=-1)
    rows = [[row] for row in range(FAMILIES * EDITS)]
    families = torch.cat([owners, torch.arange(FAMILIES)])
    targets = torch.arange(FAMILIES * EDITS)
    clips = torch.cat([edited, pictures])
    return FusionData(
        pictures, wanted, torch.zeros_like(wanted), owners, targets, clips, families, rows
    )


def recall(fusion: Fusion, data: FusionData) -> float:
    vectors = fusion(data.pictures[data.references], data.wanted[:, 0], data.unwanted[:, 0])
    return recall_of(vectors, data)


def recall_of(vectors: torch.Tensor, data: FusionData) -> float:
    best = (vectors @ data.clips.T).argmax(dim=1)
    return float(best.eq(data.targets).float().mean())


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [0, 32], ids=["linear", "one hidden layer"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_fusion_learns_what_parts_cannot_know(loss: str, hidden: int) -> None:
    fusion, losses = trained(toy_data(), config_of(152, {"loss": loss, "hidden": hidden}))
    untrained = Fusion(DIM, 1, 1)
    assert losses[-1] < losses[0] / 2
    assert recall(fusion, toy_data()) > recall(untrained, toy_data()) + 0.3


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_targets_weighted_by_frame_are_what_it_learns(loss: str) -> None:
    data = toy_data()
    settings = {"loss": loss, "weigh_frames": True}
    one = data.clips[: len(data.targets), None]
    plain, _ = trained(data, config_of(4, {"loss": loss}))
    alone, _ = trained(replace(data, frames=one), config_of(4, settings))
    # The second frame is what the text asks for.
    two = torch.cat([one, data.wanted], dim=1)
    weighted, _ = trained(replace(data, frames=two), config_of(4, settings))

    expected = plain.get_parameter("layers.0.weight")
    torch.testing.assert_close(alone.get_parameter("layers.0.weight"), expected, rtol=0, atol=1e-3)
    change = weighted.get_parameter("layers.0.weight") - expected
    assert change.abs().max() > 1e-2


def test_cross_attention_has_no_effect_before_it_is_trained() -> None:
    parts = normalize(torch.randn(3, 5, DIM), dim=-1)
    tokens = normalize(torch.randn(5, 4, DIM), dim=-1)
    frames = normalize(torch.randn(5, 2, DIM), dim=-1)
    torch.manual_seed(0)
    plain = Fusion(DIM, 1, 1)
    torch.manual_seed(0)
    attending = Fusion(DIM, 1, 1, blocks=2)
    torch.testing.assert_close(attending(*parts, tokens, frames), plain(*parts))


@pytest.mark.slow
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_cross_attention_learns_what_only_the_tokens_tell(loss: str) -> None:
    """The target lies at the picture plus the second token, where the wanted part says nothing."""
    data = toy_data()
    generator = torch.Generator().manual_seed(5)
    tokens = normalize(torch.randn(len(data.targets), 3, DIM, generator=generator), dim=-1)
    pictures = data.pictures[data.references]
    clips = data.clips.clone()
    clips[data.targets] = normalize(pictures + 2 * tokens[:, 1], dim=-1)
    # By this, the second token can be told from the others.
    tokens[:, 1, 0] += 3
    data = replace(
        data,
        clips=clips,
        wanted=torch.zeros_like(data.wanted),
        tokens=tokens.half(),
        token_rows=torch.arange(len(tokens))[:, None],
    )
    attending, losses = trained(
        data, config_of(200, {"loss": loss, "blocks": 2}, learning_rate=3e-3)
    )
    assert losses[-1] < losses[0] / 2
    assert attending.cross
    linear, _ = trained(data, config_of(200, {"loss": loss}, learning_rate=3e-3))

    vectors = attending(
        pictures, data.wanted[:, 0], data.unwanted[:, 0], tokens.half().float(), pictures[:, None]
    )
    assert recall_of(vectors, data) > recall(linear, data) + 0.3


def test_it_starts_at_parts() -> None:
    picture, wanted, unwanted = normalize(torch.randn(3, 5, DIM), dim=-1)
    parts = normalize(picture + 2 * wanted - 3 * unwanted, dim=-1)
    torch.testing.assert_close(Fusion(DIM, 2, 3)(picture, wanted, unwanted), parts)


def test_a_checkpoint_with_an_added_fusion_is_read_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_tiny(folder)
    fusion = Fusion(16, 2, 1).rounded()
    weights = CompositionWeights(sum=0.4, wanted=2, unwanted=1)
    add_fusion(folder, fusion, weights, FusionSettings(), {}, "toys")
    card = read_card(folder)
    encoder = read_checkpoint(folder, verify=True)
    assert card.composition == {"sum": 0.4, "wanted": 2, "unwanted": 1}
    assert card.composers.entries["fusion"]["fingerprint"] == fusion.fingerprint
    # A matrix for five inputs, and a bias.
    assert card.composers.entries["fusion"]["weights"] == 5 * 16 * 16 + 16
    read_fusion = encoder.composers["fusion"]
    assert isinstance(read_fusion, Fusion)
    assert read_fusion.fingerprint == fusion.fingerprint


@pytest.mark.slow
def test_families_are_embedded_with_every_triplet_among_its_right_clips(tmp_path: Path) -> None:
    write_tiny(tmp_path / "model")
    encoder = read_checkpoint(tmp_path / "model")
    config = config_of(num_clips=3, batch_size=3)
    data = load_families(encoder, config, tmp_path)
    assert len(data.pictures) == 3
    # Twins, and the references.
    assert len(data.clips) == len(data.families) == len(data.targets) + 3 + 3
    for target, right in zip(data.targets.tolist(), data.right, strict=True):
        assert target in right
    assert (data.families[data.targets] == data.references).all()
    assert data.frames is None
    weighed = load_families(encoder, config.replace(fusion={"weigh_frames": True}), tmp_path)
    frames = weighed.frames
    assert frames is not None
    torch.testing.assert_close(weighed.clips, data.clips, atol=1e-6, rtol=0)
    torch.testing.assert_close(frames.norm(dim=-1), torch.ones(frames.shape[:2]))
    torch.testing.assert_close(
        normalize(frames.mean(dim=1), dim=-1), data.clips[: len(frames)], atol=1e-4, rtol=0
    )


def data_of(triplets: list[tuple[str, str, str, str]] = TRIPLETS, missing: str = "") -> FusionData:
    rng = np.random.default_rng(0)
    clips = rng.normal(size=(len(CLIPS), 8)).astype(np.float32)
    clips /= np.linalg.norm(clips, axis=1, keepdims=True)
    for clip in missing:
        clips[CLIPS.index(clip)] = 0
    samples = []
    queries = []
    for number, (reference, target, before, after) in enumerate(triplets):
        samples.append(
            CovrSample(
                reference, "x", (target,), "triplets", str(number), caption=after, before=before
            )
        )
        right = row_array((CLIPS.index(target),))
        queries.append(CovrQuery("triplets", "x", right, reference=CLIPS.index(reference)))
    wanted, unwanted = rng.normal(size=(2, len(triplets), 8)).astype(np.float32)
    pictures = clips[[query.reference for query in queries]]
    embedded = EmbeddedQueries(
        tuple(queries), PictureQuery(pictures, wanted, wanted, unwanted), wanted, clips
    )
    return triplets_of(CovrSet("toy", tuple(samples), {}, {}), embedded)


def test_neither_video_of_a_training_triplet_is_held_out(tmp_path: Path) -> None:
    write_triplets(tmp_path / "data")
    training = load_covr(tmp_path / "data", "train").samples
    held_out = load_covr(tmp_path / "data", "val").samples
    targets = {sample.targets[0] for sample in held_out}
    # A tenth is held out.
    assert len(targets) == 4
    assert len(held_out) == 8
    for sample in training:
        assert targets.isdisjoint([sample.reference, *sample.targets])
    first = training[0]
    assert (first.reference, first.targets, first.before) == ("v0", ("v1",), "a 0")
    assert load_covr(tmp_path / "data", "test").samples == held_out


def test_triplets_without_a_text_are_refused(tmp_path: Path) -> None:
    write_triplets(tmp_path / "data")
    (tmp_path / "data" / "my-triplets.jsonl").write_text('{"reference": "v0", "target": "v1"}')
    with pytest.raises(DatasetError, match="reference, target, text"):
        load_covr(tmp_path / "data", "val")


def test_right_clips_share_the_caption_and_hard_ones_the_reference() -> None:
    data = data_of()
    assert [list(rows) for rows in data.right] == [[1], [2, 4], [2, 4], [2, 4], [1]]
    assert data.sources is not None
    assert data.sources.tolist() == [0, 0, 0, 1, 2]
    assert data.targets.tolist() == [1, 2, 4, 2, 1]


def test_triplets_of_missing_clips_are_left_out() -> None:
    # Two triplets lead to c.
    assert len(data_of(missing="c").targets) == 3


def test_one_triplet_is_too_few() -> None:
    with pytest.raises(DatasetError, match=r"toy .*1 "):
        data_of(TRIPLETS[:1])


def test_the_loss_is_that_of_the_papers_sets() -> None:
    data = data_of()
    settings = FusionSettings(loss="hn_nce", iterate="triplets", temperature=0.1)
    model = Fusion(8, 1, 1)
    rows = torch.arange(5)
    noisy, hard = torch.zeros(2, 5, 5, dtype=torch.bool)
    for row, (_, _, before, after) in enumerate(TRIPLETS):
        for column, (_, _, column_before, column_after) in enumerate(TRIPLETS):
            noisy[row, column] = row != column and after == column_after
            hard[row, column] = before == column_before and after != column_after
    queries = model(data.pictures, data.wanted[:, 0], data.unwanted[:, 0])
    expected = hn_nce(queries @ data.clips[data.targets].T, hard, noisy, 0.1) / 10
    torch.testing.assert_close(LOSSES["hn_nce"](model, data, rows, settings), expected)


def test_a_step_draws_one_triplet_of_each_distinct_target() -> None:
    data = data_of()
    steps = list(batches(data, FusionSettings(iterate="targets"), 3, 40, 1))
    assert len(steps) == 40
    for rows in steps:
        assert sorted(data.targets[rows].tolist()) == [1, 2, 4]
    assert set(torch.cat(steps).tolist()) == set(range(5))


def test_a_step_draws_triplets_and_none_twice_before_all() -> None:
    steps = list(batches(data_of(), FusionSettings(iterate="triplets"), 2, 40, 1))
    assert len(steps) == 40
    assert {len(rows) for rows in steps} == {2}
    for first, second in zip(steps[::2], steps[1::2], strict=True):
        assert len({*first.tolist(), *second.tolist()}) == 4


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_triplets_are_learnt(loss: str) -> None:
    sizes = {"num_clips": 3, "batch_size": 3, "data": "triplets", "learning_rate": 0.02}
    data = data_of()
    fusion, losses = trained(data, config_of(200, {"loss": loss, "iterate": "targets"}, **sizes))
    assert losses[-1] < losses[0] / 2
    scores = fusion(data.pictures, data.wanted[:, 0], data.unwanted[:, 0]) @ data.clips.T
    for best, right in zip(scores.argmax(dim=1).tolist(), data.right, strict=True):
        assert best in right
