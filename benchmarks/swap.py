"""Time from a new checkpoint to the model answering queries: `python -m benchmarks.swap [--repeat 7]`.

It uses the built-in model and gallery in a warm process that serves the newest epoch of a run. The
next epoch appears by a rename, as the trainer writes it. Times include the wait for the next poll.
"""

import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.harness import arguments, built_in_gallery, write_head, write_row
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.card import UNIT_SEQUENCE, read_configs
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_model, write_checkpoint
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.pooling import new_pooling
from nt2vr.search.searcher import Searcher
from nt2vr.settings import ASSETS, Settings, prepare_environment

RUN = "run"
PATIENCE_S = 120
HEAD = "a new head (seqTransf), all clips pooled again"
KINDS: dict[str, Callable[[str], bool]] = {
    "a new text tower": lambda name: not name.startswith("visual."),
    HEAD: lambda name: False,
    "a new visual tower, all clips re-encoded": lambda name: True,
}


def write_epochs(base: Path, parked: Path, num_epochs: int, kind: str) -> list[Path]:
    """Write checkpoints that differ from the base by a few per mille in the tensors that are new, or by a head."""
    model, tokenizer, card = read_model(base)
    if kind == HEAD:
        card = card.replace(pooling=UNIT_SEQUENCE)
    folders = [parked / str(number) for number in range(num_epochs)]
    for number, folder in enumerate(folders):
        weights: dict[str, Any] = model.state_dict()
        for name, tensor in weights.items():
            if tensor.is_floating_point() and KINDS[kind](name):
                weights[name] = tensor * (1 + 0.002 * (number + 1))
        model.load_state_dict(weights)

        pooling = None
        if kind == HEAD:
            # Each has random weights.
            pooling = new_pooling(card, model, embed_dim_of(model))
        write_checkpoint(
            folder,
            model,
            *read_configs(base),
            card.replace(name=str(number)),
            tokenizer=tokenizer,
            pooling=pooling,
            base=base,
        )
    return folders


def swap_s(searcher: Searcher, folder: Path, checkpoints: Path, epoch: int) -> tuple[float, float]:
    """Return the wall-clock time and this process's CPU time of one swap.

    Raises:
        RuntimeError: if the new model is not served within PATIENCE_S.
    """
    start_s = time.perf_counter()
    start_cpu_s = time.process_time()
    folder.rename(checkpoints / f"epoch_{epoch:03d}")
    while searcher.live.get(RUN).epoch != epoch:
        if time.perf_counter() - start_s > PATIENCE_S:
            raise RuntimeError(f"Epoch {epoch} is not served: {searcher.live.get(RUN).notice}")
        time.sleep(0.001)
    return time.perf_counter() - start_s, time.process_time() - start_cpu_s


def measure_swaps(
    gallery: Gallery, settings: Settings, parent: Path, repeat: int
) -> dict[str, NDArray[np.float64]]:
    """Return wall-clock and CPU seconds of each swap, (repeat, 2), by kind of checkpoint."""
    base = ASSETS / "models" / "clip"
    runs = parent / "runs"
    checkpoints = runs / RUN / "checkpoints"
    shutil.copytree(base, checkpoints / "epoch_000")
    times_of: dict[str, NDArray[np.float64]] = {}
    with Decoder() as decoder, Cache(parent / "cache") as cache:
        searcher = Searcher(Catalog([], settings.device, runs), gallery, decoder, cache)
        # Each swap renews what this has embedded.
        searcher.live.get(RUN).gallery_of(searcher)
        epochs = count(1)
        with searcher.watching():
            for kind in KINDS:
                times = []
                for folder in write_epochs(base, parent / kind, repeat + 1, kind):
                    times.append(swap_s(searcher, folder, checkpoints, next(epochs)))
                # The first warms up.
                times_of[kind] = np.array(times[1:])
    return times_of


def main() -> None:
    """Print one table row per kind of checkpoint."""
    parser = arguments("swap", __doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    prepare_environment()
    gallery = built_in_gallery()
    with TemporaryDirectory() as parent:
        times_of = measure_swaps(gallery, Settings.read(), Path(parent), repeat)
    name = f"{len(gallery.videos)} clips, {torch.get_num_threads()} threads, {repeat} swaps each"
    write_head(name, "median s", "least s", "processor s")
    for kind, times in times_of.items():
        wall_s, cpu_s = times.T
        figures = (np.median(wall_s), wall_s.min(), np.median(cpu_s))
        write_row(kind, *(f"{value:.2f}" for value in figures))


if __name__ == "__main__":
    main()
