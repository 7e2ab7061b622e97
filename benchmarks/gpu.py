"""Training of ViT-B/32 on GPUs: `python -m benchmarks.gpu [--batch 64] [--rounds 5]`, where CUDA is present.

CLIP-bnl's losses, 8 frames per clip, the gallery's clips, random weights. The trainer, which looks frames up and draws
batches ahead, and the plain loop of `benchmarks.training` take turns; each value is the median of the rounds, with its
range. Busy is the share of 50 ms samples in which the driver reports the GPU as working. With several GPUs, the
trainer is timed once more on all of them (NCCL), at the same batch per GPU.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from statistics import median

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn

from benchmarks.training import Step, captions_per_s, gallery_clips, plain_loop, ranged, rows, trainer_loop
from nt2vr.media.gallery import load_gallery
from nt2vr.settings import ASSETS, prepare_environment
from trainer.config import TrainConfig

SAMPLE_S = 0.05
WARM_UP = 3  # steps
STEPS = 20  # per round


@contextmanager
def busy(shares: list[float]) -> Iterator[None]:
    """Append the share of time in which the GPU was busy inside the block; nothing without NVML."""
    samples, done = list[bool](), threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_S):
            samples.append(torch.cuda.utilization() > 0)

    thread = threading.Thread(target=watch)
    try:
        torch.cuda.utilization()
    except (ModuleNotFoundError, RuntimeError):  # the package nvidia-ml-py is missing
        yield
        return
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    shares.append(sum(samples) / len(samples) if samples else 0.0)


def compared(config: TrainConfig, rounds: int) -> Iterator[str]:
    """Yield a table row per loop."""
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    loops = {
        "trainer": trainer_loop(config, gallery_clips(config, videos)),
        "plain loop": plain_loop(config, videos),
    }
    rates: dict[str, list[float]] = {name: [] for name in loops}
    shares: dict[str, list[float]] = {name: [] for name in loops}
    memory: dict[str, float] = {}
    for step in loops.values():
        for _ in range(WARM_UP):
            step()
    for _ in range(rounds):
        for name, step in loops.items():
            torch.cuda.reset_peak_memory_stats()
            with busy(shares[name]):
                rates[name].append(captions_per_s(step, STEPS))
            memory[name] = torch.cuda.max_memory_allocated() / 2**30
    for name in loops:
        share = f"{100 * median(shares[name]):.0f} %" if shares[name] else "–"
        yield f"| {name} | 1 | {ranged(rates[name])} | {share} | {memory[name]:.1f} GB |\n"


def on_all(rank: int, gpus: int, config: TrainConfig, rounds: int) -> None:
    """Time the trainer as one of several processes; the first prints the row of all."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=gpus)
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    step: Step = trainer_loop(config, gallery_clips(config, videos))
    for _ in range(WARM_UP):
        step()
    rates = [captions_per_s(step, STEPS) for _ in range(rounds)]
    if rank == 0:
        sys.stdout.write(f"| trainer | {gpus} | {ranged(rates)} | – | – |\n")
    dist.destroy_process_group()


def main() -> int:
    """Print the table; return 1 where there is no GPU."""
    prepare_environment()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="clips per step and GPU (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds per loop (default: %(default)s)")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.stderr.write("There is no CUDA device here, so nothing was measured.\n")
        return 1
    config = replace(rows()["vit"].config, batch_size=options.batch)
    started = time.strftime("%Y-%m-%d %H:%M")
    sys.stdout.write(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {started}\n\n")
    sys.stdout.write(f"| ViT-B/32, {options.batch} × 8 frames | GPUs | captions/s | busy | memory |\n")
    sys.stdout.write("|:--|--:|--:|--:|--:|\n")
    for row in compared(config, options.rounds):
        sys.stdout.write(row)
    gpus = torch.cuda.device_count()
    if gpus > 1:
        everywhere = replace(config, batch_size=options.batch * gpus)
        spawn(on_all, (gpus, everywhere, options.rounds), nprocs=gpus)  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
