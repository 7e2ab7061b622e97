"""Covr on test scenes, three seeds: `python -m benchmarks.fusion FOLDER`.

FOLDER caches embeddings; drawing 22,000 clips takes minutes. Weights of the training-free systems are chosen on
validation scenes. The linear fusion is compared with one that adds two blocks of cross-attention. For each lot of
`benchmarks.held_out`, a fusion is trained whose texts never mention its concepts, and compared with the first seed's
on the queries that do; --brief leaves these and the variants out, and takes the weights on the model's card.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, write_head, write_row
from benchmarks.held_out import lots
from nt2vr.evaluation.covr.protocol import (
    ALL,
    CEILING,
    EmbeddedQueries,
    choose_weights,
    embed_queries,
    measure,
    summarise,
    vectors_of,
)
from nt2vr.evaluation.covr.sources import SEEN, UNSEEN, covr_world
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion
from nt2vr.search.references import COMBINATIONS, Weights
from nt2vr.settings import ASSETS, prepare_environment
from nt2vr.world.edits import EDIT_KINDS
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import FusionData, load_families
from trainer.fusion.train import train_fusion

SEEDS = (1, 2, 3)
BLOCKS = {"linear": 0, "cross-attention": 2}
VARIANTS: Mapping[str, Mapping[str, object]] = {
    "fusion": {},
    "hidden layer of 512": {"hidden": 512},
    "HN-NCE": {"loss": "hn_nce"},
    "frames of targets weighted by the text": {"weigh_frames": True},
    "the same with HN-NCE": {"loss": "hn_nce", "weigh_frames": True},
}


def main() -> None:
    """Print the table of test scenes, the variants on validation scenes, and the held-out concepts."""
    parser = arguments("fusion", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, default=ASSETS / "models" / "clip", help="default: %(default)s")
    parser.add_argument("--brief", action="store_true", help="only the table of test scenes")
    parser.add_argument("--per-kind", type=int, default=0, help="test queries per kind of change (default: 100)")
    parser.add_argument("--families", type=int, default=FusionConfig().families, help="default: %(default)s")
    options = parser.parse_args()
    prepare_environment()
    encoder = read_checkpoint(options.model)
    test = embed_queries(covr_world(options.folder, "test", options.per_kind), encoder, deep=True)
    weights, config = Weights.of(encoder.card.composition), FusionConfig(families=options.families)
    if not options.brief:
        validation = embed_queries(covr_world(options.folder, "validation"), encoder)
        weights = choose_weights(validation)
    sys.stdout.write(f"{weights}\n\n")
    write_head("test scenes", *EDIT_KINDS, "mean", "seen", "unseen", "violations@5")
    for system in (*COMBINATIONS, CEILING):
        show(system, test, weights, system)
    data = load_families(encoder, replace(config, blocks=2, weigh_frames=not options.brief), options.folder)
    for seed in SEEDS:
        for name, blocks in BLOCKS.items():
            started = time.perf_counter()
            fusion, _ = train_fusion(data, weights, replace(config, seed=seed, blocks=blocks))
            show(f"{name}, seed {seed}, {time.perf_counter() - started:.0f} s", test, weights, "fusion", fusion)
    if options.brief:
        return
    sys.stdout.write("\nValidation scenes, seed 1:\n\n")
    for name, changes in VARIANTS.items():
        fusion, _ = train_fusion(data, weights, replace(config, **changes))  # type: ignore[arg-type]
        show(name, validation, weights, "fusion", fusion)
    without = [load_families(encoder, config, options.folder, without=lot) for lot in lots()]
    show_held_out(data, test, weights, config, without)


def show(name: str, asked: EmbeddedQueries, weights: Weights, system: str, fusion: Fusion | None = None) -> None:
    """Print R@1 by kind, their mean, by wording, and the mean violations of the removals."""
    table = summarise(asked.queries, measure(vectors_of(asked, system, weights, fusion), asked))
    recalls = [f"{table[row]['R@1']:.0f}" for row in EDIT_KINDS]
    means = [f"{table[row]['R@1']:.1f}" for row in (ALL, SEEN, UNSEEN)]
    removals = [table[kind]["violations@5"] for kind in EDIT_KINDS if kind.startswith("remove")]
    write_row(name, *recalls, *means, f"{np.mean(removals):.1f}")


def show_held_out(
    data: FusionData, test: EmbeddedQueries, weights: Weights, config: FusionConfig, fewer: Sequence[FusionData]
) -> None:
    """Print R@1 of test queries that mention a lot's concepts, trained with and without texts that mention them."""
    sys.stdout.write("\n")
    write_head("concepts", "queries", "parts", "trained on all", "never mentioned")
    whole, _ = train_fusion(data, weights, config)
    for number, (lot, without) in enumerate(zip(lots(), fewer, strict=True)):
        fusion, _ = train_fusion(without, weights, config)
        mentions = np.array([not query.names.isdisjoint(lot) for query in test.queries])
        row = []
        for system, each in (("parts", None), ("fusion", whole), ("fusion", fusion)):
            ranks = measure(vectors_of(test, system, weights, each), test).ranks
            row.append(f"{100 * float((ranks[mentions] == 1).mean()):.1f}")
        write_row(f"lot {number}", mentions.sum(), *row)


if __name__ == "__main__":
    main()
