"""Optimizer steps: gradients, clipping, learning rate, and the state to resume from."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nt2vr.errors import ConfigError, DivergedError
from nt2vr.models.open_clip_encoder import token_embeddings
from trainer.config import TrainConfig
from trainer.distributed import agree, average_gradients


class Steps:
    """What a run trains, one step at a time; saved states name the `modules`, which learn."""

    device = "cpu"

    def __init__(
        self,
        config: TrainConfig,
        modules: Mapping[str, nn.Module],
        optimizer: torch.optim.Optimizer,
    ) -> None:
        self.config, self.modules, self.optimizer, self.steps = config, modules, optimizer, 0
        self.parameters = [
            parameter for module in modules.values() for parameter in module.parameters()
        ]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: rate_at(step, config)
        )

    def loss(self, batch: Any) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of a batch, a scalar, and the values to report."""
        raise NotImplementedError

    @property
    def state(self) -> dict[str, float]:
        """Values to plot along with the losses."""
        return {"learning_rate": float(self.schedule.get_last_lr()[0])}

    def start_epoch(self) -> None:
        for module in self.modules.values():
            module.train()

    @property
    def epoch(self) -> int:
        """The epoch of the last step, counted from 1."""
        return max(1, math.ceil(self.steps / self.config.steps_per_epoch))

    def step(self, batches: Iterable[Any]) -> dict[str, float]:
        """Take one optimizer step on `accumulate` batches; return the mean of each unweighted loss.

        Raises:
            ConfigError: if no loss trains the chosen towers.
            DivergedError: in all processes, if a loss or the gradients are not finite in any; no
                weight changes then.
        """
        config = self.config
        reports: list[dict[str, float]] = []
        is_finite = True
        self.optimizer.zero_grad()
        for batch in batches:
            loss, values = self.loss(batch)
            if (
                not loss.requires_grad
            ):  # bnl alone, for example, passes no gradient to the visual tower
                towers = config.encoder.train
                raise ConfigError(
                    f"No loss trains the chosen towers ({towers}). Add contrastive or retrieval."
                )
            # The weighted sum may overflow although no single loss does.
            is_finite = is_finite and all(map(math.isfinite, [loss.item(), *values.values()]))
            (loss * config.optimization.loss_scale / config.batches.accumulate).backward()  # type: ignore[no-untyped-call]
            reports.append(values)
        average_gradients(self.parameters)
        # nT2VR's code clips before it divides the scale out, so its steps are shorter than its
        # learning rate suggests: per weight, a norm of max_grad_norm / scale is close to RMSProp's
        # epsilon
        gradient_norm = nn.utils.clip_grad_norm_(self.parameters, config.optimization.max_grad_norm)

        self.steps += 1
        what = "gradient" if is_finite else "loss"
        if agree(not (is_finite and math.isfinite(gradient_norm.item()))):
            raise self._diverged(what)

        for parameter in self.parameters if config.optimization.loss_scale != 1 else ():
            if parameter.grad is not None:
                parameter.grad /= config.optimization.loss_scale
        self.optimizer.step()
        self.schedule.step()
        return {name: sum(losses[name] for losses in reports) / len(reports) for name in reports[0]}

    def check_finite(self) -> None:
        """Raise a DivergedError if a number that training changes is not finite; on a GPU, wait for the last step."""
        if not self.is_finite:
            raise self._diverged("weights")

    @property
    def is_finite(self) -> bool:
        """True if all weights that learn, the optimizer's averages and the running statistics are finite."""
        changing: list[Tensor] = [
            parameter for parameter in self.parameters if parameter.requires_grad
        ]
        for averages in self.optimizer.state.values():
            changing += [average for average in averages.values() if isinstance(average, Tensor)]
        for module in self.modules.values():
            weights = {name for name, _ in module.named_parameters()}
            changing += [
                tensor for name, tensor in module.state_dict().items() if name not in weights
            ]
        return all(bool(tensor.isfinite().all()) for tensor in changing)

    def _diverged(self, what: str) -> DivergedError:
        where = f"at step {self.steps} of epoch {self.epoch}"
        return DivergedError(f"The {what} became non-finite {where}. Try a lower learning_rate.")

    def state_dict(self) -> dict[str, Any]:
        """Return everything the next steps depend on, as tensors and plain values."""
        return {
            "steps": self.steps,
            **{name: module.state_dict() for name, module in self.modules.items()},
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state() if self.device == "cuda" else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a `state_dict` of the same config, except for the random numbers; a ValueError refuses others."""
        self.steps = state["steps"]
        for name, module in self.modules.items():
            module.load_state_dict(state.get(name, {}))  # 0.2.0 stored only what learns
        # A run that diverged goes on at another rate than it was saved with: the config decides.
        rates = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(state["optimizer"])  # which checks no shapes
        for parameter in (
            each for group in self.optimizer.param_groups for each in group["params"]
        ):
            averages = self.optimizer.state[parameter].values()
            if any(average.ndim and average.shape != parameter.shape for average in averages):
                raise ValueError("the optimizer's parameters were in another order")
        self.schedule.load_state_dict(state["schedule"])
        if rates != self.schedule.base_lrs:
            self._use_rates(rates)

    def _use_rates(self, rates: Sequence[float]) -> None:
        """Set the peak learning rate of each group of parameters; warm-up and decay go on from where they are."""
        factor = rate_at(self.schedule.last_epoch, self.config)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["initial_lr"] = rate
            group["lr"] = rate * factor
        self.schedule.base_lrs = list(rates)
        self.schedule._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def load_random_state(self, state: Mapping[str, Any]) -> None:
        """Go on with the random numbers that followed a `state_dict`; called last, as building a model draws some."""
        torch.set_rng_state(state["random"])
        if self.device == "cuda" and state["random_cuda"] is not None:
            torch.cuda.set_rng_state(state["random_cuda"])


def build_optimizer(
    model: nn.Module, head: nn.Module, config: TrainConfig
) -> torch.optim.Optimizer:
    """Build AdamW or RMSProp without weight decay on biases, gains, the temperature and frozen token rows."""
    weight_decay = config.optimization.weight_decay
    learning_rate = config.rate.learning_rate
    frozen_tokens = token_embeddings(model) if config.encoder.keep_tokens else None
    groups = _groups(model, weight_decay, frozen_tokens)
    if any(parameter.requires_grad for parameter in head.parameters()):
        groups += _groups(head, weight_decay, lr=config.rate.head_learning_rate or learning_rate)
    if config.optimization.optimizer == "rmsprop":
        return torch.optim.RMSprop(groups, lr=learning_rate)
    # fused: 10 instead of 38 ms per step over the 9.5 million token weights
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.98), fused=True)


def _groups(
    module: nn.Module, weight_decay: float, tokens: Tensor | None = None, **options: float
) -> list[dict[str, Any]]:
    """Group what learns: first matrices but the token rows, which decay, then all else."""
    decayed, others = list[nn.Parameter](), list[nn.Parameter]()
    for parameter in module.parameters():
        if parameter.requires_grad:
            (decayed if parameter.ndim >= 2 and parameter is not tokens else others).append(
                parameter
            )
    groups = ((decayed, weight_decay), (others, 0.0))
    return [{"params": some, "weight_decay": decay, **options} for some, decay in groups]


def rate_at(step: int, config: TrainConfig) -> float:
    """Return the learning-rate factor at a step: linear warm-up, then cosine to 0 or exponential decay per epoch."""
    if step < config.rate.warmup_steps:
        return (step + 1) / config.rate.warmup_steps
    if config.rate.schedule == "exponential":
        return float(config.rate.decay ** (step // config.steps_per_epoch))
    total = config.total_steps
    done = (step - config.rate.warmup_steps) / max(1, total - config.rate.warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
