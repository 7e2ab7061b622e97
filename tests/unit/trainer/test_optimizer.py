"""Optimizer steps compared with steps computed by hand: clipping, RMSProp, Adam, the schedule, the temperature."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.tiny_models import SMALL_VIT, TINY
from trainer.config import TrainConfig
from trainer.data.batches import Batch
from trainer.learner import MAX_LOGIT_SCALE, Learner
from trainer.optimizer import Trainable, build_optimizer, rate_at

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
    torch.randint(256, (4, 1, 64, 64, 3), generator=torch.Generator().manual_seed(0))
    .to(torch.uint8)
    .numpy(),
    ["a red kite", "two dogs", "a man sings", "rain"],
)


def step(config: TrainConfig) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Take one step; return the weights that have gradients before it and after it."""
    learner = Learner(config)
    learner.start_epoch()
    parameters = learner.model.named_parameters()
    before = {name: value.detach().clone() for name, value in parameters}
    learner.step([BATCH])
    after = {name: learner.model.get_parameter(name).detach() for name in gradients_of(learner)}
    return {name: before[name] for name in after}, after


def gradients() -> dict[str, torch.Tensor]:
    """Return the gradients of the loss itself, neither scaled nor clipped."""
    learner = Learner(CONFIG.replace(max_grad_norm=1e9))
    learner.start_epoch()
    learner.step([BATCH])
    return gradients_of(learner)


def gradients_of(learner: Learner) -> dict[str, torch.Tensor]:
    parameters = learner.model.named_parameters()
    return {name: value.grad for name, value in parameters if value.grad is not None}


@pytest.mark.parametrize("scale", [1.0, 16.0, 65536.0])
def test_a_step_is_rmsprop_s_on_clipped_gradients(scale: float) -> None:
    of_loss = gradients()
    norm = torch.stack([gradient.norm() for gradient in of_loss.values()]).norm()
    # It is clipped at both larger scales.
    assert norm > 2 / 16
    before, after = step(CONFIG.replace(loss_scale=scale))
    clip = min(1.0, 2.0 / float(scale * norm))
    for name, gradient in of_loss.items():
        clipped = clip * gradient
        # RMSProp's first step, alpha .99.
        expected = -1e-3 * clipped / ((0.01 * clipped**2).sqrt() + 1e-8)
        torch.testing.assert_close(
            after[name] - before[name], expected, rtol=1e-3, atol=2e-7, msg=name
        )


def test_recomputed_activations_give_equal_gradients_and_save_memory() -> None:
    """The text tower's attention takes another path on a CPU, which must be the same in both passes."""
    frames = np.random.default_rng(0).integers(256, size=(4, 1, 224, 224, 3)).astype(np.uint8)
    batch = replace(BATCH, frames=frames)
    stored, saved_bytes = gradients_and_saved_bytes(batch, gradient_checkpointing=False)
    recomputed, fewer_bytes = gradients_and_saved_bytes(batch, gradient_checkpointing=True)
    assert fewer_bytes < 0.7 * saved_bytes
    for name, gradient in stored.items():
        torch.testing.assert_close(recomputed[name], gradient, rtol=1e-4, atol=1e-6, msg=name)


def gradients_and_saved_bytes(
    batch: Batch, gradient_checkpointing: bool
) -> tuple[dict[str, torch.Tensor], int]:
    """Take one step with a small ViT, and count what the forward pass saves for the backward one."""
    config = CONFIG.replace(
        model=SMALL_VIT, max_grad_norm=1e9, gradient_checkpointing=gradient_checkpointing
    )
    sizes: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        sizes.append(tensor.nbytes)
        return tensor

    learner = Learner(config)
    learner.start_epoch()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        learner.step([batch])
    return gradients_of(learner), sum(sizes)


class Line(torch.nn.Module):
    """One matrix and one bias."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.ones(1, 1, dtype=torch.float64))
        self.bias = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))


class LineFit(Trainable):
    def loss(self, batch: Any) -> tuple[torch.Tensor, dict[str, float]]:
        slope, offset = batch
        module = self.modules["line"]
        loss = (slope * module.matrix).sum() + offset * module.bias.sum()  # type: ignore[operator]
        return loss, {"line": loss.item()}


def test_three_adam_steps_decay_matrices_alone() -> None:
    """β₁ .9, β₂ .98 and ε 1e-8, warm-up over two steps, then a cosine over the other two."""
    config = CONFIG.replace(
        optimizer="adamw",
        learning_rate=0.1,
        weight_decay=0.5,
        warmup_steps=2,
        num_clips=16,
        epochs=1,
    )
    line = Line()
    fit = LineFit(config, {"line": line}, build_optimizer(line, torch.nn.ModuleList(), config))
    matrix = AdamByHand(decay=0.5)
    bias = AdamByHand(decay=0.0)
    gradients_and_rates = [(0.3, 0.4, 0.05), (-0.2, 0.1, 0.1), (0.5, 0.25, 0.1)]
    for of_matrix, of_bias, rate in gradients_and_rates:
        assert fit.plotted_values["learning_rate"] == pytest.approx(rate)
        fit.step([(of_matrix, of_bias)])
        assert line.matrix.item() == pytest.approx(matrix.step(of_matrix, rate), abs=1e-9)
        assert line.bias.item() == pytest.approx(bias.step(of_bias, rate), abs=1e-9)
    assert fit.steps == 3


class AdamByHand:
    """One weight, which starts at 1."""

    def __init__(self, decay: float) -> None:
        self._decay = decay
        self._weight = 1.0
        self._first_moment = 0.0
        self._second_moment = 0.0
        self._steps = 0

    def step(self, gradient: float, rate: float) -> float:
        """Take a step and return the weight after it."""
        self._steps += 1
        self._first_moment = 0.9 * self._first_moment + 0.1 * gradient
        self._second_moment = 0.98 * self._second_moment + 0.02 * gradient**2
        mean = self._first_moment / (1 - 0.9**self._steps)
        spread = (self._second_moment / (1 - 0.98**self._steps)) ** 0.5
        self._weight *= 1 - rate * self._decay
        self._weight -= rate * mean / (spread + 1e-8)
        return self._weight


def test_gradients_of_accumulated_batches_are_averaged() -> None:
    config = CONFIG.replace(accumulate=2, num_clips=8, max_grad_norm=1e9)
    line = Line()
    fit = LineFit(config, {"line": line}, build_optimizer(line, torch.nn.ModuleList(), config))
    assert fit.step([(1.0, 0.0), (2.0, 3.0)]) == {"line": (1 + 5) / 2}
    assert line.matrix.grad == (1.0 + 2.0) / 2
    assert line.bias.grad == (0.0 + 3.0) / 2


def test_the_rate_rises_linearly_and_falls_by_its_schedule() -> None:
    # 10 steps.
    cosine = CONFIG.replace(num_clips=40, epochs=1, warmup_steps=2)
    rates = [rate_at(step, cosine) for step in (0, 1, 2, 6, 9, 10, 99)]
    # (1 + cos 7/8 π) / 2.
    assert rates == pytest.approx([0.5, 1, 1, 0.5, 0.03806023, 0, 0], abs=1e-7)
    exponential = cosine.replace(schedule="exponential", decay=0.5, warmup_steps=0, epochs=3)
    assert [rate_at(step, exponential) for step in (0, 9, 10, 29)] == [1, 1, 0.5, 0.25]


def test_the_temperature_stays_between_1_and_100() -> None:
    learner = Learner(CONFIG.replace(losses={"contrastive": {}}))
    for beyond, limit in ((7.0, MAX_LOGIT_SCALE), (-3.0, 0.0)):
        with torch.no_grad():
            learner.model.logit_scale.fill_(beyond)
        learner.step([BATCH])
        assert learner.model.logit_scale.item() == pytest.approx(limit)
    assert learner.plotted_values["logit_scale"] == pytest.approx(1.0)
