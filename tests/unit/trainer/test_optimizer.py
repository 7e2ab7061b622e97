"""Clipping, before and after a scale of the loss is divided out, compared with a step computed by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.tiny import SMALL_VIT, TINY
from trainer.config import TrainConfig
from trainer.data.batches import Batch
from trainer.learner import Learner

CONFIG = TrainConfig(
    model=TINY,
    num_clips=4,
    batch_size=4,
    num_frames=1,
    precision="fp32",
    losses={"retrieval": {}},
    optimizer="rmsprop",
    learning_rate=1e-3,
    weight_decay=0.0,
    warmup_steps=0,
    max_grad_norm=2.0,
)
BATCH = Batch(
    torch.randint(256, (4, 1, 64, 64, 3), generator=torch.Generator().manual_seed(0)).to(torch.uint8).numpy(),
    ["a red kite", "two dogs", "a man sings", "rain"],
)


def step(config: TrainConfig) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Take one step; return the weights that have gradients before it and after it."""
    learner = Learner(config)
    learner.start_epoch()
    before = {name: p.detach().clone() for name, p in learner.model.named_parameters()}
    learner.step([BATCH])
    after = {name: p.detach() for name, p in learner.model.named_parameters() if p.grad is not None}
    return {name: before[name] for name in after}, after


def gradients() -> dict[str, torch.Tensor]:
    """Return the gradients of the loss itself, neither scaled nor clipped."""
    learner = Learner(replace(CONFIG, max_grad_norm=1e9))
    learner.start_epoch()
    learner.step([BATCH])
    return {name: p.grad for name, p in learner.model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("scale", [1.0, 16.0, 65536.0])
def test_a_step_is_rmsprop_s_on_gradients_that_are_clipped_while_scaled(scale: float) -> None:
    of_loss = gradients()
    norm = torch.stack([gradient.norm() for gradient in of_loss.values()]).norm()
    assert norm > 2 / 16  # clipped at both larger scales
    before, after = step(replace(CONFIG, loss_scale=scale))
    clip = min(1.0, 2.0 / float(scale * norm))
    for name, gradient in of_loss.items():
        clipped = clip * gradient
        expected = -1e-3 * clipped / ((0.01 * clipped**2).sqrt() + 1e-8)  # RMSProp's first step, alpha .99
        torch.testing.assert_close(after[name] - before[name], expected, rtol=1e-3, atol=2e-7, msg=name)


def test_clipping_scaled_gradients_shortens_the_steps_although_rmsprop_divides_by_their_size() -> None:
    def length(**changes: Any) -> float:
        before, after = step(replace(CONFIG, **changes))
        return float(sum((after[name] - before[name]).norm() ** 2 for name in after) ** 0.5)

    assert length(loss_scale=2.0**20) < 0.5 * length(loss_scale=1.0)


def test_activations_computed_again_give_the_same_gradients_from_fewer_stored_ones() -> None:
    """The text tower's attention takes another path on a CPU, which must be the same in both passes."""
    frames = np.random.default_rng(0).integers(256, size=(4, 1, 224, 224, 3)).astype(np.uint8)
    found, stored = [], []
    for again in (False, True):
        sizes: list[int] = []
        learner = Learner(replace(CONFIG, model=SMALL_VIT, max_grad_norm=1e9, gradient_checkpointing=again))
        learner.start_epoch()
        with torch.autograd.graph.saved_tensors_hooks(lambda t, s=sizes: s.append(t.nbytes) or t, lambda t: t):  # type: ignore[misc]
            learner.step([replace(BATCH, frames=frames)])
        found.append({name: p.grad for name, p in learner.model.named_parameters() if p.grad is not None})
        stored.append(sum(sizes))
    assert stored[1] < 0.7 * stored[0]
    for name, gradient in found[0].items():
        torch.testing.assert_close(found[1][name], gradient, rtol=1e-4, atol=1e-6, msg=name)
