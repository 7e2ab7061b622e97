"""Data-parallel training: `torchrun --nproc_per_node N -m trainer RUN_FOLDER`.

Each process encodes its share of a batch, gathers the embeddings of all, computes the full loss,
and averages its gradients with the others'. Without torchrun, a process is alone, for which nothing
here costs anything.
"""

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.nn.functional import all_gather

from nt2vr.errors import ConfigError

# Other processes wait while the leader draws clips and validates.
TIMEOUT = timedelta(days=1)


def join() -> None:
    """Join the group, where torchrun has started this process; returns when all have."""
    if dist.is_initialized() or not dist.is_torchelastic_launched():
        return
    backend = "gloo"
    num_gpus = torch.cuda.device_count()
    if num_gpus:
        backend = "nccl"
        local_rank = dist.get_node_local_rank()
        if local_rank >= num_gpus:
            raise ConfigError(
                f"There are more processes than GPUs ({num_gpus}). "
                f"Give torchrun --nproc_per_node {num_gpus}."
            )
        torch.cuda.set_device(local_rank)
    dist.init_process_group(backend, timeout=TIMEOUT)
    atexit.register(dist.destroy_process_group)


def rank() -> int:
    """Return the number of this process; 0 leads: it alone writes, validates and logs."""
    if dist.is_initialized():
        return dist.get_rank()
    return 0


def world_size() -> int:
    if dist.is_initialized():
        return dist.get_world_size()
    return 1


def share(count: int) -> slice:
    """Return this process's share of `count` rows, a multiple of the number of processes."""
    size = count // world_size()
    return slice(rank() * size, (rank() + 1) * size)


def gather(rows: Tensor) -> Tensor:
    """Concatenate the shares of all processes: (b, …) to (B, …), with gradients added up.

    `average_gradients` follows: their mean is the gradient of one process with all of the batch.
    """
    if world_size() == 1 or not len(rows):
        return rows
    return torch.cat(all_gather(rows.contiguous()))  # type: ignore[no-untyped-call]


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    if world_size() == 1:
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    reductions = [dist.all_reduce(gradient, async_op=True) for gradient in gradients]
    for reduction in reductions:
        reduction.wait()
    for gradient in gradients:
        gradient /= world_size()


def union(flags: Tensor) -> Tensor:
    """Set each flag that is set in any process, in place."""
    if world_size() > 1:
        dist.all_reduce(flags, dist.ReduceOp.MAX)
    return flags


def agree(flag: bool) -> bool:
    """Return True if the flag is set in any process."""
    # A tensor would make a lone process wait for its GPU.
    if world_size() == 1:
        return flag
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return bool(union(torch.tensor(int(flag), device=device)))


@contextmanager
def in_turn() -> Iterator[None]:
    """Let the leader go first, so that other processes find what it leaves on disk."""
    if rank() > 0:
        dist.barrier()
    try:
        yield
    finally:
        if rank() == 0 and world_size() > 1:
            dist.barrier()
