"""Upper bound for one vector per sentence, and for two: `python -m benchmarks.ceiling [FOLDER] [--config FILE]`.

A text tower maps each sentence to one vector, against a frozen visual tower. This script skips the text tower: it fits
the vectors of about 700 sentences to the 32,000 training clips directly, by linear probes and by the loss `composed`,
and searches 1,000 validation clips with them. Two vectors, wanted and unwanted, score a clip as `rectified` scores the
parts of a query; α and τ are fitted for each sentence. FOLDER caches the clips (for example a run folder's `.frames`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize, relu

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.evaluation.measures import Exclusions, measure_block, summarise
from nt2vr.evaluation.protocol import parse_query
from nt2vr.evaluation.scoring import ask_systems
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.systems import System
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.claims import Claim, SceneTable
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes
from trainer.config_file import load_config
from trainer.data.clips import ClipLoader
from trainer.losses.composed import ComposedLoss
from trainer.losses.embedded import EmbeddedTruth

CONFIG = Path("trainer/configs/clip-neg.json")
TRAINED = Path("assets/models/clip-neg")  # with the config's visual tower
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
    seen, videos = training.embedded_once(base), validation.embedded_once(base)
    hard = [query for query in validation.sentences.queries() if len(query.hard)][::4]  # fitting takes time
    claims = {query: read for query in hard if (read := claims_of(query))}
    queries, table = list(claims), SceneTable(sample_scenes("train", config.num_clips, config.seed))
    wanted, unwanted = holding(table, list(claims.values()))

    write_head("", *COLUMNS)
    systems = [System("CLIP", "drop"), System("CLIP", "boolean", 0.5)]
    for system, asked in zip(systems, ask_systems(base, systems, queries, parse_query), strict=True):
        write(system.name, asked.vectors, videos, queries)
    trained = read_checkpoint(TRAINED, "cpu")
    write(trained.name, trained.encode_text([query.text for query in queries]), videos, queries)
    sought, avoided = probes(seen, wanted), probes(seen, unwanted)
    starts = {alpha: normalize(sought - alpha * avoided, dim=-1) for alpha in (0.5, 0.8)}
    for alpha, start in starts.items():
        write(f"linear probes, wanted - {alpha} · unwanted", start.numpy(), videos, queries)
    for weight in HARD_WEIGHTS:
        vectors = fitted(starts[0.5], seen, wanted, unwanted, weight)
        write(f"fitted, hard_weight {weight}", vectors, videos, queries)
        vectors, exclusions = fitted_pairs(sought, avoided, seen, wanted, unwanted, weight)
        write(f"two fitted, hard_weight {weight}", vectors, videos, queries, exclusions)


def claims_of(query: JudgedQuery) -> tuple[Claim, Claim] | None:
    """Return what a query wants and what not; None for the few whose words say more than can be read."""
    wanted, unwanted = read_claim(query.wanted) if query.wanted else Claim(), read_claim(query.unwanted[0])
    return (wanted, unwanted) if wanted and unwanted else None


def holding(table: SceneTable, claims: Sequence[tuple[Claim, Claim]]) -> tuple[Mask, Mask]:
    """Return which scenes show the wanted part of each query, and which the unwanted part: (Q, N) each."""
    wanted, unwanted = (np.stack([table.holding(claim) for claim in some]) for some in zip(*claims, strict=True))
    return wanted, unwanted


def probes(seen: Vectors, shown: Mask) -> torch.Tensor:
    """Return linear discriminants (LDA) of (Q, N) `shown`: (Q, D), L2-normalised; 0 for what all clips show."""
    centred = seen - seen.mean(axis=0)
    precision = np.linalg.inv(centred.T @ centred / len(seen) + RIDGE * np.eye(seen.shape[1]))
    means = shown @ centred / np.maximum(shown.sum(axis=1, keepdims=True), 1)
    return normalize(torch.from_numpy(means @ precision).float(), dim=-1)


def fitted(start: torch.Tensor, seen: Vectors, wanted: Mask, unwanted: Mask, hard_weight: float) -> Vectors:
    """Minimise `composed` over the vectors, with a new pool of clips per step: (Q, D), L2-normalised."""
    vectors = torch.nn.Parameter(start.clone())
    minimise([vectors], lambda clips: normalize(vectors, dim=-1) @ clips.T, seen, wanted, unwanted, hard_weight)
    return normalize(vectors, dim=-1).detach().numpy()


def fitted_pairs(
    sought: torch.Tensor, avoided: torch.Tensor, seen: Vectors, wanted: Mask, unwanted: Mask, hard_weight: float
) -> tuple[Vectors, list[Exclusion]]:
    """Likewise fit two vectors, α and τ of each sentence; one that wants nothing starts from its opposite."""
    start = torch.where(torch.from_numpy(wanted.all(axis=1))[:, None], -avoided, sought)
    usual = avoided @ torch.from_numpy(seen.mean(axis=0))
    pair = [torch.nn.Parameter(each.clone()) for each in (start, avoided, torch.ones(len(wanted)), usual)]

    def scores(clips: torch.Tensor) -> torch.Tensor:
        first, second, alpha, tau = pair
        excess = relu(normalize(second, dim=-1) @ clips.T - tau[:, None])
        return normalize(first, dim=-1) @ clips.T - alpha[:, None] * excess

    minimise(pair, scores, seen, wanted, unwanted, hard_weight)
    first, second, alpha, tau = (each.detach() for each in pair)
    rows = zip(normalize(second, dim=-1).numpy(), alpha.tolist(), tau.tolist(), strict=True)
    return normalize(first, dim=-1).numpy(), [Exclusion(row[None], *strength) for row, *strength in rows]


def minimise(
    fitting: Sequence[torch.nn.Parameter],
    scores: Callable[[torch.Tensor], torch.Tensor],
    seen: Vectors,
    wanted: Mask,
    unwanted: Mask,
    hard_weight: float,
) -> None:
    """Minimise `composed` of the scores (Q, P) of P clips, drawn anew in each step."""
    torch.manual_seed(0)
    loss, scale = ComposedLoss(hard_weight), torch.tensor(SCALE)
    optimizer = torch.optim.Adam(fitting, RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    clips, has, lacks = torch.from_numpy(seen), torch.from_numpy(wanted), torch.from_numpy(~unwanted)
    for _ in range(STEPS):
        pool = torch.randperm(len(clips))[:POOL]
        truth = EmbeddedTruth(clips[pool], has[:, pool] & lacks[:, pool], has[:, pool] & ~lacks[:, pool])
        optimizer.zero_grad()
        loss.of_scores(scale * scores(truth.pool), truth, scale).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()


def write(
    name: str, vectors: Vectors, videos: Vectors, queries: Sequence[JudgedQuery], exclusions: Exclusions = ()
) -> None:
    """Search the validation clips and print a table row."""
    metrics = summarise(queries, measure_block(vectors, videos, queries, exclusions=exclusions))
    write_row(name, *(f"{metrics[key]:.3f}" for key in COLUMNS))


if __name__ == "__main__":
    main()
