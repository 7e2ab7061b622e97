"""Hard pairs with freer wording than the world's grammar: `python -m benchmarks.freer_words [CHECKPOINT …]`.

Sentences come from `nt2vr.negation.generate.denials` on captions of 1,000 validation scenes, if the world's vocabulary
knows the truth of both parts. Measures the shipped models and the given checkpoint folders.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.benchmark import JudgedQuery, Vectors, row_array
from nt2vr.evaluation.measures import measure_block, summarise
from nt2vr.evaluation.protocol import parse_query
from nt2vr.evaluation.scoring import ask_systems
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.denials import CaptionDenials, Denial, DenialKind
from nt2vr.search.systems import System
from nt2vr.settings import ASSETS, Settings, prepare_environment
from nt2vr.world.captions import describe
from nt2vr.world.claims import Claim, SceneTable
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.reader import read_asked
from nt2vr.world.sampling import sample_scenes

NUM_CLIPS = 1_000
KINDS: tuple[DenialKind, ...] = get_args(DenialKind)
MODELS = ("CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg")


def main() -> None:
    """Print one table row per system."""
    parser = arguments("freer_words", __doc__)
    parser.add_argument("checkpoints", nargs="*", type=Path)
    checkpoints = parser.parse_args().checkpoints
    prepare_environment()
    settings = Settings.read()
    models = Catalog([ASSETS / "models"], settings.device)
    scenes = sample_scenes("validation", NUM_CLIPS, 0)
    table = SceneTable(scenes)
    captions = [describe(scene, random.Random(f"free {row}")).text for row, scene in enumerate(scenes)]
    queries: dict[DenialKind, list[JudgedQuery]] = defaultdict(list)
    for denial in drawn(captions):
        if query := judged(denial, table):
            queries[denial.kind].append(query)
    base = models.load("CLIP")
    clips = ClipFile.of("validation", scenes, base.num_frames, base.card.framing, settings.data_dir / "cache")
    videos = clips.embeddings(base, keeps_frames=True)  # shared: all models have the same visual tower

    kinds = [kind for kind in KINDS if queries[kind]]  # an idiom excludes nothing
    write_head("hard pairs in order, of “not” the AUC: %", *(f"{kind} ({len(queries[kind])})" for kind in kinds))
    systems = [(base, System("CLIP", strategy, alpha)) for strategy, alpha in (("drop", None), ("boolean", 0.5))]
    systems += [(models.load(name), System(name, "plain")) for name in MODELS]
    systems += [(read_checkpoint(path, settings.device), System(str(path), "plain")) for path in checkpoints]
    for encoder, system in systems:
        write_row(system.name, *(f"{100 * ordered(encoder, system, queries[kind], videos):.1f}" for kind in kinds))


def drawn(captions: Sequence[str]) -> Iterator[Denial]:
    """Draw one sentence of each kind per caption, if possible."""
    denials, rng = CaptionDenials(captions), random.Random(0)
    for kind in KINDS:
        for row in range(len(captions)):
            if denial := denials.draw(row, kind, rng):
                yield denial


def judged(denial: Denial, table: SceneTable) -> JudgedQuery | None:
    """Find the relevant and the hard clips of a sentence; None if unknown, or if either set is empty."""
    wanted, unwanted = read_asked(denial.wanted) if denial.wanted else Claim(), read_asked(denial.unwanted)
    if wanted is None or unwanted is None:
        return None
    has, lacks = table.holding(wanted), ~table.holding(unwanted)
    if not (has & lacks).any() or not (has & ~lacks).any():
        return None
    relevant, hard = row_array(np.flatnonzero(has & lacks)), row_array(np.flatnonzero(has & ~lacks))
    return JudgedQuery(
        "not" if denial.kind == "not" else "composed",
        denial.text,
        relevant,
        hard,
        wanted=denial.wanted,
        unwanted=(denial.unwanted,),
    )


def ordered(encoder: Encoder, system: System, queries: Sequence[JudgedQuery], videos: Vectors) -> float:
    """Return the share of (relevant, hard) pairs that a system orders correctly."""
    (asked,) = ask_systems(encoder, [system], queries, parse_query)
    metrics = summarise(queries, measure_block(asked.vectors, videos, queries, exclusions=asked.exclusions))
    return metrics["not/auc"] if "not/auc" in metrics else metrics["composed/hard_pairs"] / 100


if __name__ == "__main__":
    main()
