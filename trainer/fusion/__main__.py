"""`python -m trainer.fusion FOLDER`: train a fusion over the frozen towers of a checkpoint folder, and add it."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from statistics import fmean
from typing import get_args, get_type_hints

from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.covr import ALL, choose_weights, embed_queries, measure, summarise, vectors_of
from nt2vr.evaluation.covr_data import covr_world
from nt2vr.models.card import read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion, save_fusion
from nt2vr.progress import Progress, progress_bar, silent
from nt2vr.search.references import TRAINING_FREE, Weights
from nt2vr.settings import prepare_environment
from nt2vr.world import WORLD
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import load
from trainer.fusion.train import train_fusion
from trainer.options import help_of


def add_fusion(
    folder: Path,
    fusion: Fusion,
    weights: Weights,
    config: FusionConfig,
    metrics: Mapping[str, float],
    data: str,
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    entry = {
        "hidden": fusion.hidden,
        "blocks": fusion.blocks,
        "weights": fusion.num_weights,
        "data": data,
        "training": asdict(config),
        "metrics": {name: round(value, 4) for name, value in metrics.items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, replace(read_card(folder), composition=asdict(weights), fusion=entry))


def fuse(
    folder: Path, config: FusionConfig, cache: Path, data: str = WORLD, progress: Progress = silent
) -> dict[str, float]:
    """Choose weights on validation queries, train a fusion on data (see `load`), measure it, and add it to a folder.

    Return the card's metrics, such as "validation/fusion/R@1", or of the world also "test/fusion/remove actor/R@1".
    """
    encoder = read_checkpoint(folder)
    training, validation, name = load(encoder, data, config, cache, progress=progress)
    weights = choose_weights(validation)
    fusion, _ = train_fusion(training, weights, config, progress)
    splits = {"validation": validation}
    if data == WORLD:
        splits["test"] = embed_queries(covr_world(cache, "test"), encoder, progress, deep=config.blocks > 0)
    metrics: dict[str, float] = {}
    for split, asked in splits.items():
        for system in (*TRAINING_FREE, "fusion"):
            table = summarise(asked.queries, measure(vectors_of(asked, system, weights, fusion), asked))
            found = _of_world(table) if data == WORLD else table[ALL]
            metrics |= {f"{split}/{system}/{name}": value for name, value in found.items()}
    add_fusion(folder, fusion, weights, config, metrics, name)
    return metrics


def _of_world(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return R@1 by kind, and the mean violations of the removals."""
    removals = [values["violations@5"] for row, values in table.items() if row.startswith("remove")]
    return {f"{row}/R@1": values["R@1"] for row, values in table.items()} | {"remove/violations@5": fmean(removals)}


def main() -> None:
    """Add a fusion to a checkpoint folder from the command line."""
    parser = argparse.ArgumentParser(prog="python -m trainer.fusion", description="Train a fusion.")
    parser.add_argument("folder", type=Path, help="checkpoint folder, which gets the fusion")
    parser.add_argument(
        "--data",
        default=WORLD,
        help=f"{WORLD}, or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ, or *triplets*.jsonl "
        "of `nt2vr queries triplets` next to the videos (default: %(default)s)",
    )
    hints, helps = get_type_hints(FusionConfig), help_of(FusionConfig)
    for field in fields(FusionConfig):
        flag, default, text = f"--{field.name.replace('_', '-')}", field.default, helps[field.name]
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_true", help=text)
        else:
            choices = get_args(hints[field.name]) or None
            parser.add_argument(flag, type=type(default), choices=choices, default=default, help=text)
    parser.set_defaults(iterate=None)  # until the data is known
    parser.add_argument("--cache", type=Path, help="folder for embeddings (default: FOLDER/../.frames)")
    options = parser.parse_args()
    prepare_environment()
    cache = options.cache or options.folder.resolve().parent / ".frames"
    in_world = options.data == WORLD
    options.iterate = options.iterate or ("families" if in_world else "targets")
    if not in_world and (options.iterate == "families" or options.weigh_frames):
        parser.error("families and weighed frames are the world's: leave them out for a dataset.")
    try:
        config = FusionConfig(**{field.name: getattr(options, field.name) for field in fields(FusionConfig)})
        with progress_bar() as progress:
            metrics = fuse(options.folder, config, cache, options.data, progress)
    except Nt2vrError as error:
        parser.error(str(error))
    sys.stdout.writelines(f"{name}: {value:.1f}\n" for name, value in metrics.items())


if __name__ == "__main__":
    main()
