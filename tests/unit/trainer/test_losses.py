"""Losses by hand, beside slow twins, and what a config may ask of them."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import ConfigError
from trainer.losses import LOSSES, build_losses
from trainer.losses.contrastive import ContrastiveLoss
from trainer.losses.embedded import EmbeddedBatch


def random_batch(size: int = 5, scale: float = 7.0) -> EmbeddedBatch:
    generator = torch.Generator().manual_seed(0)
    video, caption = (normalize(torch.randn(size, 8, generator=generator), dim=-1) for _ in range(2))
    return EmbeddedBatch(video.requires_grad_(), caption.requires_grad_(), torch.tensor(scale))


def test_two_pairs_by_hand() -> None:
    # cosines: own 1, other 0; so each of the four softmaxes gives log(1 + e^-2)
    loss = ContrastiveLoss()(EmbeddedBatch(torch.eye(2), torch.eye(2), torch.tensor(2.0)))
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-2)))


def test_contrastive_is_the_mean_of_both_directions() -> None:
    batch = random_batch()
    score = (7.0 * batch.video @ batch.caption.T).tolist()

    def lost(own: float, all_scores: list[float]) -> float:
        return math.log(sum(math.exp(s) for s in all_scores)) - own

    total = sum(lost(score[i][i], score[i]) + lost(score[i][i], [row[i] for row in score]) for i in range(5))
    assert ContrastiveLoss()(batch).item() == pytest.approx(total / 10, rel=1e-5)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_every_loss_is_a_finite_scalar_with_gradients_for_both_towers(name: str) -> None:
    batch = random_batch()
    loss: Tensor = LOSSES[name]()(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    for embeddings in (batch.video, batch.caption):
        assert embeddings.grad is not None
        assert embeddings.grad.isfinite().all()
        assert embeddings.grad.any()
    assert loss.shape == ()


def test_losses_add_up_by_their_weights_and_are_told_without() -> None:
    batch = random_batch()
    total, values = build_losses({"contrastive": {"weight": 0.25}})(batch)
    assert values == {"contrastive": pytest.approx(ContrastiveLoss()(batch).item())}
    assert total.item() == pytest.approx(0.25 * values["contrastive"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contrastiv": {}}, "Unknown loss 'contrastiv'. Choose one of: contrastive."),
        ({"contrastive": {"margin": 0.2}}, "has no field margin"),
        ({"contrastive": {"weight": -1}}, "must be a number from 0 up, not -1"),
        ({"contrastive": {"weight": "1"}}, "must be a number from 0 up, not '1'"),
        ({"contrastive": 1.0}, "must be like"),
        ({"contrastive": {"weight": 0}}, "no loss to minimise"),
        ({}, "no loss to minimise"),
    ],
)
def test_losses_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_losses(settings)
