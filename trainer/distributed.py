"""Data-parallel training: `torchrun --nproc_per_node N -m trainer RUN_FOLDER`.

Each process encodes its share of a batch, gathers the embeddings of all and computes the full loss. Gradients are
averaged by hand: DistributedDataParallel is no faster and needs more code (trainer/LOG.md). A single process is a
group of one, for which nothing here costs anything.
"""

import atexit
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.nn.functional import all_gather
from torch.nn.functional import pad
from torch.nn.modules.batchnorm import _BatchNorm

from nt2vr.errors import ConfigError

logger = logging.getLogger(__name__)
TIMEOUT = timedelta(days=1)  # the others wait while the leader draws clips and validates


def join() -> None:
    """Join the group, where torchrun has started this process; returns when all have."""
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
    """Return the number of this process; 0 leads: it alone writes, validates and logs."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Return the number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def share(count: int) -> slice:
    """Return this process's share of `count` rows."""
    size = count // world_size()
    return slice(rank() * size, (rank() + 1) * size)


def stripe(count: int) -> range:
    """Return every n-th of `count` rows, n the number of processes; unlike `share`, it leaves none out."""
    return range(rank(), count, world_size())


def gather(rows: Tensor) -> Tensor:
    """Concatenate the shares of all processes: (b, …) to (B, …), with gradients; `average_gradients` must follow.

    The loss is the same in every process, and gradients are summed over processes on the way back: their mean is that
    of one process with all of the batch.
    """
    if world_size() == 1 or not len(rows):
        return rows
    return torch.cat(all_gather(rows.contiguous()))  # type: ignore[no-untyped-call]


def gather_stripes(rows: Tensor, count: int) -> Tensor:
    """Concatenate the `stripe`s of all processes, like `gather`: (b, D), some a row shorter, to (count, D)."""
    if world_size() == 1:
        return rows
    longest = -(-count // world_size())
    stripes = all_gather(pad(rows, (0, 0, 0, longest - len(rows))))  # type: ignore[no-untyped-call]
    return torch.stack(stripes, dim=1).flatten(0, 1)[:count]


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace each gradient by its mean over the processes, in one message."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if world_size() == 1 or not gradients:
        return
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    flat /= world_size()
    means = torch.split(flat, [gradient.numel() for gradient in gradients])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view(gradient.shape))


def union(flags: Tensor) -> Tensor:
    """Return the integer flags set in any process."""
    if world_size() > 1:
        dist.all_reduce(flags, dist.ReduceOp.MAX)
    return flags


def agree(flag: bool) -> bool:
    """Return True if the flag is set in any process."""
    if world_size() == 1:
        return flag
    return bool(union(torch.tensor(int(flag), device="cuda" if torch.cuda.is_available() else "cpu")))


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
