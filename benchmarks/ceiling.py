"""Upper bound for one vector per sentence: `python -m benchmarks.ceiling [FOLDER] [--config FILE]`.

A text tower maps each sentence to one vector, against a frozen visual tower. This script skips the text tower: it fits
the vectors of about 700 sentences to the 32,000 training clips directly, by linear probes and by the loss `composed`,
and searches 1,000 validation clips with them. FOLDER caches the clips (for example a run folder's `.frames`).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.evaluation.measures import measure_block, summarise
from nt2vr.evaluation.protocol import parse_query
from nt2vr.evaluation.scoring import ask_systems
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.systems import System
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.claims import Claim
from nt2vr.world.splits import sample_scenes
from nt2vr.world.table import SceneTable
from nt2vr.world.truth import read_claim
from trainer.config_file import load_config
from trainer.data.clips import ClipLoader
from trainer.data.videos import embed_once
from trainer.losses.composed import ComposedLoss
from trainer.losses.embedded import Denied, EmbeddedBatch, EmbeddedTruth

CONFIG = Path("trainer/configs/clip-neg.json")
COLUMNS = (
    "composed/MIR",
    "composed/hard_pairs",
    "composed/violations@10",
    "without/MIR",
    "without/hard_pairs",
    "not/auc",
)
HARD_WEIGHTS = (0.0, 0.5, 1.0, 1.5)
RIDGE = 1e-5  # compared with variances of 1e-5 to 1e-2
STEPS, POOL, RATE, SCALE = 150, 4_096, 0.01, 40.0  # SCALE is close to what the built-in models learn
Mask = NDArray[np.bool_]


def main() -> None:
    """Print one table row per way to find the vectors."""
    parser = arguments("ceiling", __doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="caches the clips (default: the app's cache)")
    parser.add_argument("--config", type=Path, default=CONFIG, help="of the clips (default: %(default)s)")
    options = parser.parse_args()
    prepare_environment()
    cache = options.folder or Settings.read().data_dir / "cache"
    config = load_config(options.config)
    assert config.base_folder
    base = read_checkpoint(config.base_folder, "cpu")
    training, validation = (
        ClipLoader(config, cache, needs=frozenset()).load(split) for split in ("train", "validation")
    )
    seen, videos = embed_once(base, training), embed_once(base, validation)
    hard = [query for query in validation.sentences.queries() if len(query.hard)][::4]  # fitting takes time
    claims = {query: read for query in hard if (read := claims_of(query))}
    queries, table = list(claims), SceneTable(sample_scenes("train", config.num_clips, config.seed))
    wanted, unwanted = holding(table, list(claims.values()))

    write_head("", *COLUMNS)
    systems = [System("CLIP", "drop"), System("CLIP", "boolean", 0.5)]
    for system, asked in zip(systems, ask_systems(base, systems, queries, parse_query), strict=True):
        write(system.name, asked.vectors, videos, queries)
    probes = {alpha: probed(seen, wanted, unwanted, alpha) for alpha in (0.5, 0.8)}
    for alpha, vectors in probes.items():
        write(f"linear probes, wanted - {alpha} · unwanted", vectors, videos, queries)
    for weight in HARD_WEIGHTS:
        vectors = fitted(probes[0.5], seen, wanted, unwanted, weight)
        write(f"fitted, hard_weight {weight}", vectors, videos, queries)


def claims_of(query: JudgedQuery) -> tuple[Claim, Claim] | None:
    """Return what a query wants and what not; None for the few whose words say more than can be read."""
    wanted, unwanted = read_claim(query.wanted) if query.wanted else Claim(), read_claim(query.unwanted[0])
    return (wanted, unwanted) if wanted and unwanted else None


def holding(table: SceneTable, claims: Sequence[tuple[Claim, Claim]]) -> tuple[Mask, Mask]:
    """Return which scenes show the wanted part of each query, and which the unwanted part: (Q, N) each."""
    wanted, unwanted = (np.stack([table.holding(claim) for claim in some]) for some in zip(*claims, strict=True))
    return wanted, unwanted


def probed(seen: Vectors, wanted: Mask, unwanted: Mask, alpha: float) -> Vectors:
    """Return linear discriminants (LDA) of wanted minus alpha times unwanted parts: (Q, D), L2-normalised."""
    centred = seen - seen.mean(axis=0)
    precision = np.linalg.inv(centred.T @ centred / len(seen) + RIDGE * np.eye(seen.shape[1]))

    def probe(shown: Mask) -> torch.Tensor:
        means = shown @ centred / np.maximum(shown.sum(axis=1, keepdims=True), 1)
        found = torch.from_numpy(means @ precision).float()
        return normalize(found, dim=-1)  # 0 for what all clips show

    return normalize(probe(wanted) - alpha * probe(unwanted), dim=-1).numpy()


def fitted(start: Vectors, seen: Vectors, wanted: Mask, unwanted: Mask, hard_weight: float) -> Vectors:
    """Minimise `composed` over the vectors, with a new pool of clips per step: (Q, D), L2-normalised."""
    torch.manual_seed(0)
    loss = ComposedLoss(hard_weight)
    vectors = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = torch.optim.Adam([vectors], RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    clips, has, lacks = torch.from_numpy(seen), torch.from_numpy(wanted), torch.from_numpy(~unwanted)
    for _ in range(STEPS):
        pool = torch.randperm(len(clips))[:POOL]
        truth = EmbeddedTruth(clips[pool], has[:, pool] & lacks[:, pool], has[:, pool] & ~lacks[:, pool])
        text = normalize(vectors, dim=-1)
        optimizer.zero_grad()
        loss(EmbeddedBatch(None, text, torch.tensor(SCALE), denied=Denied(text, truth))).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return normalize(vectors, dim=-1).detach().numpy()


def write(name: str, vectors: Vectors, videos: Vectors, queries: Sequence[JudgedQuery]) -> None:
    """Search the validation clips and print a table row."""
    metrics = summarise(queries, measure_block(vectors, videos, queries))
    write_row(name, *(f"{metrics[key]:.3f}" for key in COLUMNS))


if __name__ == "__main__":
    main()
