"""Training of a fusion: it learns, it repeats itself, and its file joins a checkpoint folder."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import normalize

from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion
from nt2vr.search.references import Weights, fusion_of
from tests.tiny import write_tiny
from trainer.fusion.__main__ import add_fusion
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import FusionData, load_families
from trainer.fusion.train import LOSSES, train_fusion

DIM, FAMILIES, EDITS = 12, 40, 3
CONFIG = FusionConfig(families=FAMILIES, steps=60, batch=10, random_clips=20, learning_rate=0.01, temperature=0.1)
WEIGHTS = Weights(wanted=1, unwanted=1)


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
    targets, clips = torch.arange(FAMILIES * EDITS), torch.cat([edited, pictures])
    return FusionData(pictures, wanted, torch.zeros_like(wanted), owners, targets, clips, families, rows)


def recall(fusion: Fusion, data: FusionData) -> float:
    vectors = fusion(data.pictures[data.references], data.wanted[:, 0], data.unwanted[:, 0])
    return float((vectors @ data.clips.T).argmax(dim=1).eq(data.targets).float().mean())


@pytest.mark.parametrize("hidden", [0, 32], ids=["linear", "one hidden layer"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_fusion_learns_what_parts_cannot_know(loss: str, hidden: int) -> None:
    config = replace(CONFIG, loss=loss, hidden=hidden, steps=150)  # type: ignore[arg-type]
    fusion, losses = train_fusion(toy_data(), WEIGHTS, config)
    untrained = Fusion(DIM, 1, 1)
    assert losses[-1] < losses[0] / 2
    assert recall(fusion, toy_data()) > recall(untrained, toy_data()) + 0.3


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_targets_weighted_by_frame_are_what_it_learns(loss: str) -> None:
    data, config = toy_data(), replace(CONFIG, loss=loss, steps=5)  # type: ignore[arg-type]
    one = data.clips[: len(data.targets), None]
    plain, _ = train_fusion(data, WEIGHTS, config)
    alone, _ = train_fusion(replace(data, frames=one), WEIGHTS, replace(config, weigh_frames=True))
    two = torch.cat([one, data.wanted], dim=1)  # the second frame is what the text asks for
    weighted, _ = train_fusion(replace(data, frames=two), WEIGHTS, replace(config, weigh_frames=True))
    own, other, expected = (each.get_parameter("layers.0.weight") for each in (alone, weighted, plain))
    torch.testing.assert_close(own, expected, rtol=0, atol=1e-3)
    assert (other - expected).abs().max() > 1e-2


def test_equal_seeds_give_equal_fusions() -> None:
    config = replace(CONFIG, steps=5)
    prints = [train_fusion(toy_data(), WEIGHTS, replace(config, seed=seed))[0].fingerprint for seed in (1, 1, 2)]
    assert prints[0] == prints[1] != prints[2]


def test_cross_attention_has_no_effect_before_it_is_trained() -> None:
    parts, tokens, frames = (normalize(torch.randn(*shape, DIM), dim=-1) for shape in ((3, 5), (5, 4), (5, 2)))
    torch.manual_seed(0)
    plain = Fusion(DIM, 1, 1)
    torch.manual_seed(0)
    torch.testing.assert_close(Fusion(DIM, 1, 1, blocks=2)(*parts, tokens, frames), plain(*parts))


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_cross_attention_learns_what_only_the_tokens_tell(loss: str) -> None:
    """The target lies at the picture plus the second token, where the wanted part says nothing."""
    data = toy_data()
    tokens = normalize(torch.randn(len(data.targets), 3, DIM, generator=torch.Generator().manual_seed(5)), dim=-1)
    clips = data.clips.clone()
    clips[data.targets] = normalize(data.pictures[data.references] + 2 * tokens[:, 1], dim=-1)
    spelled, nothing = torch.arange(len(tokens))[:, None], torch.zeros_like(data.wanted)
    data = replace(data, clips=clips, wanted=nothing, tokens=tokens.half(), spelled=spelled)
    data.tokens[:, 1, 0] += 3  # type: ignore[index]  # by which it can be told from the others
    config = replace(CONFIG, loss=loss, blocks=2, steps=200, learning_rate=3e-3)  # type: ignore[arg-type]
    fusion, losses = train_fusion(data, WEIGHTS, config)
    assert losses[-1] < losses[0] / 2
    assert fusion.cross and data.tokens is not None
    given = data.pictures[data.references], data.wanted[:, 0], data.unwanted[:, 0], data.tokens.float()
    frames = data.pictures[data.references, None]
    found = fusion(*given, frames)
    right = (found @ data.clips.T).argmax(dim=1).eq(data.targets).float().mean()
    linear, _ = train_fusion(data, WEIGHTS, replace(config, blocks=0))
    assert right > recall(linear, data) + 0.3


def test_it_starts_at_parts() -> None:
    picture, wanted, unwanted = normalize(torch.randn(3, 5, DIM), dim=-1)
    parts = normalize(picture + 2 * wanted - 3 * unwanted, dim=-1)
    torch.testing.assert_close(Fusion(DIM, 2, 3)(picture, wanted, unwanted), parts)


def test_a_checkpoint_with_an_added_fusion_is_read_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_tiny(folder)
    fusion = Fusion(16, 2, 1).rounded()
    add_fusion(folder, fusion, Weights(sum=0.4, wanted=2, unwanted=1), CONFIG, {}, "toys")
    card, encoder = read_card(folder), read_checkpoint(folder, verify=True)
    assert card.composition == {"sum": 0.4, "wanted": 2, "unwanted": 1}
    assert card.fusion["fingerprint"] == fusion.fingerprint
    assert card.fusion["weights"] == 5 * 16 * 16 + 16
    found = fusion_of(encoder)
    assert found is not None
    assert found.fingerprint == fusion.fingerprint


def test_families_are_embedded_with_every_triplet_among_its_right_clips(tmp_path: Path) -> None:
    write_tiny(tmp_path / "model")
    encoder, config = read_checkpoint(tmp_path / "model"), FusionConfig(families=3)
    data = load_families(encoder, config, tmp_path)
    assert len(data.pictures) == 3
    assert len(data.clips) == len(data.families) == len(data.targets) + 3 + 3  # twins, and the references
    assert all(target in right for target, right in zip(data.targets.tolist(), data.right, strict=True))
    assert (data.families[data.targets] == data.references).all()
    assert data.frames is None
    weighed = load_families(encoder, replace(config, weigh_frames=True), tmp_path)
    frames = weighed.frames
    assert frames is not None
    torch.testing.assert_close(weighed.clips, data.clips, atol=1e-6, rtol=0)
    torch.testing.assert_close(frames.norm(dim=-1), torch.ones(frames.shape[:2]))
    torch.testing.assert_close(normalize(frames.mean(dim=1), dim=-1), data.clips[: len(frames)], atol=1e-4, rtol=0)
    missing = load_families(encoder, config, tmp_path, without={"man", "woman", "boy", "girl"})
    assert 0 < len(missing.targets) < len(data.targets)
