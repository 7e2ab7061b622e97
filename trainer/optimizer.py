"""Optimizer steps: gradients, clipping, learning rate, and the state to resume from."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nt2vr.errors import ConfigError, DivergedError
from nt2vr.evaluation.metric_names import Metrics
from nt2vr.models.open_clip_encoder import token_embeddings
from trainer.config import TrainConfig
from trainer.distributed import agree, average_gradients


class Trainable:
    """What a run trains, one step at a time; saved states name the `modules`, which learn."""

    device = "cpu"

    def __init__(
        self,
        config: TrainConfig,
        modules: Mapping[str, nn.Module],
        optimizer: torch.optim.Optimizer,
    ) -> None:
        self.config = config
        self.modules = modules
        self.optimizer = optimizer
        self.steps = 0
        self.parameters: list[nn.Parameter] = []
        for module in modules.values():
            self.parameters += module.parameters()
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: rate_at(step, config)
        )

    def loss(self, batch: Any) -> tuple[Tensor, Metrics]:
        """Return the loss of a batch, a scalar, and the values to report."""
        raise NotImplementedError

    @property
    def plotted_values(self) -> Metrics:
        """Values that the metrics have in addition to the losses."""
        return {"learning_rate": float(self.schedule.get_last_lr()[0])}

    def start_epoch(self) -> None:
        for module in self.modules.values():
            module.train()

    @property
    def epoch(self) -> int:
        """The epoch of the last step, counted from 1."""
        return max(1, math.ceil(self.steps / self.config.steps_per_epoch))

    def step(self, batches: Iterable[Any]) -> Metrics:
        """Take one optimizer step on `accumulate` batches; return the mean of each unweighted loss.

        Raises:
            ConfigError: if no loss trains the chosen towers.
            DivergedError: in all processes, if a loss or the gradients are not finite in any; no
                weight changes then.
        """
        self.optimizer.zero_grad()
        reports = []
        has_finite_losses = True
        for batch in batches:
            loss, values = self.loss(batch)
            self._check_trains(loss)
            # The weighted sum may overflow although no single loss does.
            if not all(map(math.isfinite, [loss.item(), *values.values()])):
                has_finite_losses = False
            self._add_gradients(loss)
            reports.append(values)

        average_gradients(self.parameters)
        has_finite_gradients = self._clip_gradients()
        self.steps += 1
        # If another process diverges, this one stops with it.
        has_diverged = not (has_finite_losses and has_finite_gradients)
        if agree(has_diverged):
            if has_finite_losses:
                raise self._diverged("gradient")
            raise self._diverged("loss")

        self._divide_out_loss_scale()
        self.optimizer.step()
        self.schedule.step()
        return mean_values(reports)

    def _check_trains(self, loss: Tensor) -> None:
        """Raise a ConfigError if a loss has no gradient: bnl alone has none for the visual tower."""
        if not loss.requires_grad:
            towers = self.config.encoder.train
            raise ConfigError(
                f"No loss trains the chosen towers ({towers}). Add contrastive or retrieval."
            )

    def _add_gradients(self, loss: Tensor) -> None:
        config = self.config
        scaled = loss * config.optimization.loss_scale / config.batches.accumulate
        scaled.backward()  # type: ignore[no-untyped-call]

    def _clip_gradients(self) -> bool:
        """Clip the gradients, which still have the loss scale; return whether they are finite.

        nT2VR's code clips before it divides the scale out, so its steps are shorter than its
        learning rate suggests: per weight, a norm of max_grad_norm / scale is close to RMSProp's
        epsilon.
        """
        max_norm = self.config.optimization.max_grad_norm
        norm = nn.utils.clip_grad_norm_(self.parameters, max_norm)
        return math.isfinite(norm.item())

    def _divide_out_loss_scale(self) -> None:
        loss_scale = self.config.optimization.loss_scale
        if loss_scale == 1:
            return
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad /= loss_scale

    def check_finite(self) -> None:
        """Raise a DivergedError if a number that training changes is not finite.

        On a GPU, this waits for the last step.
        """
        if not self.is_finite:
            raise self._diverged("weights")

    @property
    def is_finite(self) -> bool:
        """True if the weights that learn, the optimizer's averages and running statistics are."""
        changing: list[Tensor] = [weight for weight in self.parameters if weight.requires_grad]
        for averages in self.optimizer.state.values():
            for average in averages.values():
                if isinstance(average, Tensor):
                    changing.append(average)

        for module in self.modules.values():
            weights = {name for name, _ in module.named_parameters()}
            for name, tensor in module.state_dict().items():
                if name not in weights:
                    changing.append(tensor)
        return all(bool(tensor.isfinite().all()) for tensor in changing)

    def _diverged(self, subject: str) -> DivergedError:
        step = f"at step {self.steps} of epoch {self.epoch}"
        return DivergedError(f"The {subject} became non-finite {step}. Try a lower learning_rate.")

    def state_dict(self) -> dict[str, Any]:
        """Return everything the next steps depend on, as tensors and plain values."""
        random_cuda = None
        if self.device == "cuda":
            random_cuda = torch.cuda.get_rng_state()
        return {
            "steps": self.steps,
            **{name: module.state_dict() for name, module in self.modules.items()},
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": random_cuda,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a `state_dict` of the same config, except for the random numbers.

        Raises:
            ValueError: if it is of other parameters.
        """
        self.steps = state["steps"]
        for name, module in self.modules.items():
            # 0.2.0 stored only what learns.
            module.load_state_dict(state.get(name, {}))

        # A run that diverged goes on at another rate than it was saved with: the config decides.
        rates = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(state["optimizer"])
        self._check_averages()
        self.schedule.load_state_dict(state["schedule"])
        if rates != self.schedule.base_lrs:
            self._use_rates(rates)

    def _check_averages(self) -> None:
        """Raise a ValueError unless the optimizer's averages have the shapes of the weights.

        PyTorch loads them unchecked.
        """
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                for average in self.optimizer.state[parameter].values():
                    if average.ndim and average.shape != parameter.shape:
                        raise ValueError("the optimizer's parameters were in another order")

    def _use_rates(self, rates: Sequence[float]) -> None:
        """Set the peak learning rate of each group; warm-up and decay go on from where they are."""
        factor = rate_at(self.schedule.last_epoch, self.config)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["initial_lr"] = rate
            group["lr"] = rate * factor
        self.schedule.base_lrs = list(rates)
        self.schedule._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def load_random_state(self, state: Mapping[str, Any]) -> None:
        """Go on with the random numbers that followed a `state_dict`.

        This comes last, since building a model draws some.
        """
        torch.set_rng_state(state["random"])
        if self.device == "cuda" and state["random_cuda"] is not None:
            torch.cuda.set_rng_state(state["random_cuda"])


def mean_values(reports: Sequence[Metrics]) -> Metrics:
    """Average the values of several batches or steps, by name."""
    means = {}
    for name in reports[-1]:
        total = sum(values[name] for values in reports)
        means[name] = total / len(reports)
    return means


def build_optimizer(
    model: nn.Module, head: nn.Module, config: TrainConfig
) -> torch.optim.Optimizer:
    """Build AdamW or RMSProp.

    Biases, gains, the temperature and frozen token rows do not decay.
    """
    weight_decay = config.optimization.weight_decay
    learning_rate = config.rate.learning_rate
    frozen_tokens = None
    if config.encoder.keep_tokens:
        frozen_tokens = token_embeddings(model)
    groups = _parameter_groups(model, weight_decay, frozen_tokens)
    if any(parameter.requires_grad for parameter in head.parameters()):
        head_rate = config.rate.head_learning_rate or learning_rate
        groups += _parameter_groups(head, weight_decay, lr=head_rate)
    if config.optimization.optimizer == "rmsprop":
        return torch.optim.RMSprop(groups, lr=learning_rate)
    # Fused, a step over the 9.5 million token weights takes 10 ms instead of 38.
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.98), fused=True)


def _parameter_groups(
    module: nn.Module, weight_decay: float, tokens: Tensor | None = None, **options: float
) -> list[dict[str, Any]]:
    """Group what learns: first matrices but the token rows, which decay, then all else."""
    decayed = []
    undecayed = []
    for parameter in module.parameters():
        if not parameter.requires_grad:
            continue
        if parameter.ndim >= 2 and parameter is not tokens:
            decayed.append(parameter)
        else:
            undecayed.append(parameter)
    return [
        {"params": decayed, "weight_decay": weight_decay, **options},
        {"params": undecayed, "weight_decay": 0.0, **options},
    ]


def rate_at(step: int, config: TrainConfig) -> float:
    """Return the learning-rate factor at a step.

    A linear warm-up is followed by a cosine to 0, or by exponential decay per epoch.
    """
    rate = config.rate
    if step < rate.warmup_steps:
        return (step + 1) / rate.warmup_steps
    if rate.schedule == "exponential":
        epochs_done = step // config.steps_per_epoch
        return float(rate.decay**epochs_done)
    num_steps = max(1, config.total_steps - rate.warmup_steps)
    share_done = min(1.0, (step - rate.warmup_steps) / num_steps)
    return 0.5 * (1 + math.cos(math.pi * share_done))
