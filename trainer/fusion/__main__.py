"""`python -m trainer.fusion FOLDER`: train a fusion over the frozen towers of a checkpoint folder, and add it."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args, get_type_hints

from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.covr.protocol import ALL, choose_weights, embed_queries, measure, summarise, vectors_of
from nt2vr.evaluation.covr.sources import covr_world
from nt2vr.models.card import read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion, save_fusion
from nt2vr.progress import Progress, progress_bar, silent
from nt2vr.search.references import TRAINING_FREE, Weights
from nt2vr.settings import prepare_environment
from nt2vr.world import NAME, WORLD
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import load_families, load_triplets
from trainer.fusion.train import LOSSES, train_fusion


def add_fusion(
    folder: Path,
    fusion: Fusion,
    weights: Weights,
    config: FusionConfig,
    metrics: Mapping[str, float] | None = None,
    data: str = "",
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    entry = {
        "hidden": fusion.hidden,
        "blocks": fusion.blocks,
        "weights": fusion.num_weights,
        "data": data or f"{NAME}, {config.families} families",
        "training": asdict(config),
        "metrics": {name: round(value, 4) for name, value in (metrics or {}).items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, replace(read_card(folder), composition=asdict(weights), fusion=entry))


def fuse_triplets(
    folder: Path, config: FusionConfig, cache: Path, data: Path, progress: Progress = silent
) -> dict[str, float]:
    """Train a fusion on the triplets of a dataset, measure it on its split "val", and add it to the folder.

    Raises:
        DatasetError: if the data has no split "train" and "val" with targets, see `load_covr`.
    """
    encoder = read_checkpoint(folder)
    triplets, validation, name = load_triplets(encoder, data, cache, progress=progress, deep=config.blocks > 0)
    weights = choose_weights(validation)
    fusion, _ = train_fusion(triplets, weights, config, progress)
    metrics: dict[str, float] = {}
    for system in (*TRAINING_FREE, "fusion"):
        table = summarise(validation.queries, measure(vectors_of(validation, system, weights, fusion), validation))
        metrics |= {f"validation/{system}/{name}": value for name, value in table[ALL].items()}
    add_fusion(folder, fusion, weights, config, metrics, name)
    return metrics


def fuse(folder: Path, config: FusionConfig, cache: Path, progress: Progress = silent) -> dict[str, float]:
    """Choose weights on validation scenes, train a fusion, measure it on both splits, and add it to the folder.

    Returns:
        Metrics such as "test/fusion/remove actor/R@1", as in the card.
    """
    encoder = read_checkpoint(folder)
    deep = config.blocks > 0
    validation = embed_queries(covr_world(cache, "validation"), encoder, progress, deep=deep)
    weights = choose_weights(validation)
    data = load_families(
        encoder,
        config.families,
        config.seed,
        cache,
        with_frames=config.weigh_frames,
        progress=progress,
        deep=deep,
    )
    fusion, _ = train_fusion(data, weights, config, progress)
    test = embed_queries(covr_world(cache, "test"), encoder, progress, deep=deep)
    metrics: dict[str, float] = {}
    for split, asked in (("validation", validation), ("test", test)):
        for system in (*TRAINING_FREE, "fusion"):
            table = summarise(asked.queries, measure(vectors_of(asked, system, weights, fusion), asked))
            metrics |= {f"{split}/{system}/{row}/R@1": values["R@1"] for row, values in table.items()}
            removals = [values["violations@5"] for row, values in table.items() if row.startswith("remove")]
            metrics[f"{split}/{system}/remove/violations@5"] = sum(removals) / len(removals)
    add_fusion(folder, fusion, weights, config, metrics)
    return metrics


def main() -> None:
    """Add a fusion to a checkpoint folder from the command line."""
    default = FusionConfig()
    parser = argparse.ArgumentParser(prog="python -m trainer.fusion", description="Train a fusion.")
    parser.add_argument("folder", type=Path, help="checkpoint folder, which gets the fusion")
    parser.add_argument(
        "--data",
        default=WORLD,
        help=f"{WORLD}, or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ, or *triplets*.jsonl "
        "of `nt2vr queries triplets` next to the videos (default: %(default)s)",
    )
    parser.add_argument(
        "--families", type=int, default=default.families, help="training families of the built-in world"
    )
    parser.add_argument(
        "--iterate",
        choices=get_args(get_type_hints(FusionConfig)["iterate"]),
        help="what a step draws (default: families of the world; of a dataset distinct targets, as CoVR)",
    )
    parser.add_argument("--batch", type=int, default=default.batch, help="how many of these")
    parser.add_argument("--learning-rate", type=float, default=default.learning_rate)
    parser.add_argument("--temperature", type=float, default=default.temperature)
    parser.add_argument("--steps", type=int, default=default.steps)
    parser.add_argument("--hidden", type=int, default=default.hidden, help="units of a hidden layer; 0: linear")
    parser.add_argument(
        "--blocks", type=int, default=default.blocks, help="of cross-attention over tokens and frames, as 2; 0: none"
    )
    parser.add_argument("--loss", choices=sorted(LOSSES), default=default.loss)
    parser.add_argument(
        "--hn-nce",
        choices=("as_published", "as_code"),
        default=default.hn_nce,
        help="form of hn_nce: of CoVR's paper with fixed alpha and temperature, or of its code",
    )
    parser.add_argument("--weigh-frames", action="store_true", help="weigh frames of targets by the text")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--cache", type=Path, help="folder for embeddings (default: FOLDER/../.frames)")
    options = parser.parse_args()
    prepare_environment()
    cache = options.cache or options.folder.resolve().parent / ".frames"
    names = ("families", "steps", "batch", "learning_rate", "temperature")
    others = ("hidden", "blocks", "loss", "hn_nce", "weigh_frames", "seed")
    in_world = options.data == WORLD
    options.iterate = options.iterate or ("families" if in_world else "targets")
    if not in_world and (options.iterate == "families" or options.weigh_frames):
        parser.error("families and weighed frames are the world's: leave them out for a dataset.")
    try:
        config = FusionConfig(**{name: getattr(options, name) for name in ("iterate", *names, *others)})
        with progress_bar() as progress:
            if in_world:
                metrics = fuse(options.folder, config, cache, progress)
            else:
                metrics = fuse_triplets(options.folder, config, cache, Path(options.data), progress)
    except Nt2vrError as error:
        parser.error(str(error))
    sys.stdout.writelines(f"{name}: {value:.1f}\n" for name, value in metrics.items())


if __name__ == "__main__":
    main()
