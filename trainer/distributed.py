"""Several processes that train one model as one process would: `torchrun --nproc_per_node N -m trainer RUN_FOLDER`.

Each encodes its share of a batch, receives the embeddings of all and computes the whole loss; gradients are averaged.
A process on its own is a group of one, for which nothing here costs anything.
"""

import atexit
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from nt2vr.errors import ConfigError

logger = logging.getLogger(__name__)
TIMEOUT = timedelta(days=1)  # the others wait while the leader draws clips and validates


def join() -> None:
    """Join the group, where torchrun has started this process; returns when all have.

    Raises:
        ConfigError: if there are more processes than GPUs, where there are any.
    """
    if dist.is_initialized() or not dist.is_torchelastic_launched():
        return
    gpus, number = torch.cuda.device_count(), dist.get_node_local_rank()
    if gpus:
        if number >= gpus:
            raise ConfigError(f"There are more processes than GPUs ({gpus}). Give torchrun --nproc_per_node {gpus}.")
        torch.cuda.set_device(number)
    dist.init_process_group("nccl" if gpus else "gloo", timeout=TIMEOUT)
    atexit.register(dist.destroy_process_group)


def rank() -> int:
    """Which process this is; 0 leads: it alone writes, validates and logs."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


def share(count: int) -> slice:
    """Which of `count` rows are this process's."""
    size = count // world_size()
    return slice(rank() * size, (rank() + 1) * size)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        parts = [torch.empty_like(rows, memory_format=torch.contiguous_format) for _ in range(world_size())]
        dist.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        # The loss is the same everywhere, so these rows' gradient is known here; its like in the other processes is
        # that of other rows. An average over processes would make it too small by their number.
        (gradient,) = gradients
        return gradient[share(len(gradient))] * world_size()


def gather(rows: Tensor) -> Tensor:
    """Put the shares of all processes together: (b, …) to (B, …); `average_gradients` must follow on `backward`."""
    if world_size() == 1 or not len(rows):
        return rows
    gathered: Tensor = _Gather.apply(rows)
    return gathered


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Make each gradient the mean over the processes, in one message."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if world_size() == 1 or not gradients:
        return
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    flat /= world_size()
    means = torch.split(flat, [gradient.numel() for gradient in gradients])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view(gradient.shape))


def agree(flag: bool) -> bool:
    """Whether any process says so."""
    if world_size() == 1:
        return flag
    votes = torch.tensor(int(flag), device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(votes, dist.ReduceOp.MAX)
    return bool(votes)


@contextmanager
def in_turn() -> Iterator[None]:
    """Let the leader go first: what it leaves on disk, the others find."""
    if rank() > 0:
        dist.barrier()
    try:
        yield
    finally:
        if rank() == 0 and world_size() > 1:
            dist.barrier()


def joined_norms(tower: nn.Module) -> nn.Module:
    """Let BatchNorm see the batch of all processes, as it would in one; torch can do so on GPUs only."""
    if world_size() == 1 or not any(isinstance(module, _BatchNorm) for module in tower.modules()):
        return tower
    if torch.cuda.is_available():
        synchronised: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(tower)  # type: ignore[no-untyped-call]
        return synchronised
    logger.warning(
        "BatchNorm sees one process's share of a batch, not all %d: this is not what one process would learn.",
        world_size(),
    )
    return tower
