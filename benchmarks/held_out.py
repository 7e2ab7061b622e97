"""Generalisation of exclusion to concepts never denied in training: `python -m benchmarks.held_out FOLDER`.

One of LOTS, six activities and two things, is never denied in training, although captions mention it. Trains
`clip-neg.json` or another config that way in FOLDER/lot-N (almost an hour), or reuses the run there. Then measures the
queries of 1,000 validation scenes, separately for those that deny a held-out concept. The shipped CLIP-neg, trained
with all denials, serves for comparison.
"""

import random
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.evaluation.measures import measure_block, summarise
from nt2vr.evaluation.protocol import parse_query
from nt2vr.evaluation.scoring import ask_systems
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.search.systems import System
from nt2vr.settings import prepare_environment
from nt2vr.world.negation import SceneDenial, SceneDenialKind
from nt2vr.world.scenes import Scene, sample_scenes
from nt2vr.world.sentences import SceneDenials
from nt2vr.world.truth import Claim, read_claim
from trainer.config import TrainConfig
from trainer.config_file import load_config, save_config
from trainer.data.clips import ClipLoader, Clips, free_denials
from trainer.data.sentences import WorldSentences
from trainer.data.videos import embed_once
from trainer.learner import Learner
from trainer.loop import train
from trainer.runs.run_folder import RunFolder

LOTS = (  # drawn at random
    frozenset({"archery", "horse", "paint", "row", "ski", "trumpet", "dog", "gift"}),
    frozenset({"basketball", "burger", "violin", "lift", "dance", "icecream", "duck", "suitcase"}),
    frozenset({"guitar", "swim", "drive", "pizza", "snowboard", "cartwheel", "teddy", "basket"}),
)
TRIES = 8  # draws before falling back to "not B", which every scene allows
CONFIG, SEEN = Path("trainer/configs/clip-neg.json"), Path("assets/models/clip-neg")
COLUMNS = ("composed/MIR", "composed/hard_pairs", "without/MIR", "without/hard_pairs", "not/auc")


def main() -> None:
    """Train if necessary, and print one table row per system and subset of the queries."""
    parser = arguments("held_out", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", type=Path, default=CONFIG, help="default: %(default)s")
    parser.add_argument("--lot", type=int, choices=range(len(LOTS)), default=0, help="default: %(default)s")
    options = parser.parse_args()
    held_out = LOTS[options.lot]
    prepare_environment()
    run = RunFolder(options.folder / f"lot-{options.lot}")
    cache = run.path.resolve().parent / ".frames"
    if not run.config.exists():
        run.path.mkdir(parents=True, exist_ok=True)
        save_config(load_config(options.config), run.config)
    config = load_config(run.config)
    validation = ClipLoader(config, cache).load("validation")
    with run.training():
        train(Learner(config), run, clips_without(held_out, config, cache), validation)

    assert config.base_folder
    base = read_checkpoint(config.base_folder, "cpu")
    videos = embed_once(base, validation)
    last = read_checkpoint(run.checkpoint(config.epochs), "cpu")
    seen = read_checkpoint(SEEN, "cpu")
    queries = [query for query in validation.sentences.queries() if len(query.hard)]
    write_head("", "queries", *COLUMNS)
    for name, encoder, strategy in (
        ("CLIP", base, "plain"),
        ("CLIP", base, "drop"),
        ("CLIP", base, "boolean"),
        (config.name, last, "plain"),
        (f"{seen.name}, all denied", seen, "plain"),
    ):
        write_measured(System(name, strategy), encoder, queries, videos, held_out)


class Undenied(SceneDenials):
    """Negated sentences that never deny certain concepts."""

    def __init__(self, scenes: Sequence[Scene], held_out: Set[str]) -> None:
        """Draw sentences for `scenes` without denying `held_out`."""
        super().__init__(scenes)
        self._held_out = held_out

    def draw(self, row: int, kind: SceneDenialKind, rng: random.Random) -> SceneDenial:
        """Draw until no held-out concept is denied; fall back to "not B"."""
        for _ in range(TRIES):
            if not names_any(self._held_out, (sentence := super().draw(row, kind, rng)).unwanted_claim):
                return sentence
        while names_any(self._held_out, (sentence := super().draw(row, "not", rng)).unwanted_claim):
            pass
        return sentence


def names_any(concepts: Set[str], claim: Claim | None) -> bool:
    """Return whether a claim names any of the concepts; False for None."""
    if claim is None:
        return False
    names = [name for who in claim.actors for name in (*who.subjects, *who.activities, *who.wearing)]
    return not concepts.isdisjoint([*names, *(name for prop in claim.props for name in prop)])


def shows_any(concepts: Set[str], scene: Scene) -> bool:
    """Return whether captions of a scene may name any of the concepts."""
    return not concepts.isdisjoint([*scene.props, *(name for a in scene.actors for name in (a.subject, a.activity))])


def clips_without(held_out: Set[str], config: TrainConfig, cache: Path) -> Clips:
    """Return the training clips, with sentences that deny none of `held_out`; `free` ones are made of other clips."""
    scenes = sample_scenes("train", config.num_clips, config.seed)
    others = [scene for scene in scenes if not shows_any(held_out, scene)]
    denials = free_denials(others, config.seed) if config.free else None
    clips = ClipLoader(replace(config, free=0.0), cache).load("train")
    return replace(clips, sentences=WorldSentences(scenes, config.free, denials, Undenied(scenes, held_out)))


def write_measured(
    system: System, encoder: Encoder, queries: list[JudgedQuery], videos: Vectors, held_out: Set[str]
) -> None:
    """Print two table rows: queries that deny a held-out concept, and all others."""
    (asked,) = ask_systems(encoder, [system], queries, parse_query)
    held = np.array([names_any(held_out, read_claim(query.unwanted[0])) for query in queries])
    for label, chosen in (("held out", held), ("others", ~held)):
        rows = np.flatnonzero(chosen)
        some, taken = [queries[row] for row in rows], [asked.exclusions[int(row)] for row in rows]
        metrics = summarise(some, measure_block(asked.vectors[rows], videos, some, exclusions=taken))
        write_row(system.name, label, *(f"{metrics[key]:.3f}" for key in COLUMNS))


if __name__ == "__main__":
    main()
