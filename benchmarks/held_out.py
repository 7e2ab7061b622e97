"""Generalisation of exclusion to concepts never denied in training: `python -m benchmarks.held_out FOLDER`.

One of three lots, each an eighth of the world's deeds, things and places, is never denied in training, although
captions mention it; words for more, such as "animal", still are. Trains `clip-neg.json` or another config that way in
FOLDER/lot-N (one to two hours), or reuses the run there. Then measures the queries of 1,000 validation scenes,
separately for those that deny a held-out concept. The shipped CLIP-neg, trained with all denials, serves for
comparison.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
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
from nt2vr.world.claims import Claim, seen_in
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenial, SceneDenialKind, SceneDenials
from nt2vr.world.things import Names, deeds, places, things, those
from trainer.config import TrainConfig
from trainer.config_file import load_config, save_config
from trainer.data.clips import ClipLoader, Clips, free_denials
from trainer.data.sentences import WorldSentences
from trainer.learner import Learner
from trainer.loop import train
from trainer.runs.run_folder import RunFolder

NUM_LOTS, SHARE = 3, 8  # disjoint lots, each one concept in SHARE
TRIES = 8  # draws before falling back to "not B", which every scene allows
CONFIG, SEEN = Path("trainer/configs/clip-neg.json"), Path("assets/models/clip-neg")
COLUMNS = ("composed/MIR", "composed/hard_pairs", "without/MIR", "without/hard_pairs", "not/auc")


def main() -> None:
    """Train if necessary, and print one table row per system and subset of the queries."""
    parser = arguments("held_out", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", type=Path, default=CONFIG, help="default: %(default)s")
    parser.add_argument("--lot", type=int, choices=range(NUM_LOTS), default=0, help="default: %(default)s")
    options = parser.parse_args()
    held_out = lots()[options.lot]
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
    videos = validation.embedded_once(base)
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


@cache
def lots() -> tuple[Names, ...]:
    """Draw the lots; persons are in none, nor is a name of two concepts, such as "fish"."""
    rng, found = random.Random(0), [set[str]() for _ in range(NUM_LOTS)]
    tables = [set(deeds()), {name for name, thing in things().items() if thing.role != "person"}, set(places())]
    for table in tables:
        names = sorted(table.difference(*(other for other in tables if other is not table)))
        rng.shuffle(names)
        size = len(names) // SHARE
        for number, lot in enumerate(found):
            lot.update(names[number * size : (number + 1) * size])
    return tuple(map(frozenset, found))


class Undenied(SceneDenials):
    """Negated sentences that never deny certain concepts."""

    def __init__(self, scenes: Sequence[Scene], held_out: Names) -> None:
        """Draw sentences for `scenes` without denying `held_out`."""
        super().__init__(scenes)
        self._held_out = held_out

    def draw(self, row: int, kind: SceneDenialKind, rng: random.Random) -> SceneDenial:
        """Draw until no held-out concept is denied; fall back to "not B"."""
        for _ in range(TRIES):
            if not self._denies_any(sentence := super().draw(row, kind, rng)):
                return sentence
        while self._denies_any(sentence := super().draw(row, "not", rng)):
            pass
        return sentence

    def _denies_any(self, sentence: SceneDenial) -> bool:
        return any(names_any(self._held_out, claim) for claim in sentence.unwanted_claims)


@cache
def _things_of(concepts: Names) -> Names:
    """Return the things among the concepts and those that are one of them too, as a polar bear is a bear."""
    return frozenset(those(tuple(concepts & things().keys())))


def names_any(concepts: Names, claim: Claim | None) -> bool:
    """Return whether a claim names any of the concepts, and not just things among which they are; False for None."""
    if claim is None:
        return False
    acts = [act for who in claim.whos for act in who.acts]
    named = [*(who.names for who in claim.whos), *(names for act in acts for names in (act.objects, act.targets))]
    return (
        any(names and names <= _things_of(concepts) for names in named)
        or any(not concepts.isdisjoint(act.verbs) for act in acts)
        or not concepts.isdisjoint(claim.places)
    )


def shows_any(concepts: Names, scene: Scene) -> bool:
    """Return whether captions of a scene may name any of the concepts."""
    done = [deed.verb for figure in scene.figures for deed in figure.doings]
    seen = _things_of(concepts).intersection(figure.thing for figure in seen_in(scene))
    return bool(seen) or not concepts.isdisjoint((scene.place, *done))


def clips_without(held_out: Names, config: TrainConfig, cache: Path) -> Clips:
    """Return the training clips, with sentences that deny none of `held_out`; `free` ones are made of other clips."""
    scenes = sample_scenes("train", config.num_clips, config.seed)
    others = [scene for scene in scenes if not shows_any(held_out, scene)]
    denials = free_denials(others, config.seed) if config.free else None
    clips = ClipLoader(replace(config, free=0.0), cache).load("train")
    return replace(clips, sentences=WorldSentences(scenes, config.free, denials, Undenied(scenes, held_out)))


def write_measured(
    system: System, encoder: Encoder, queries: list[JudgedQuery], videos: Vectors, held_out: Names
) -> None:
    """Print two table rows: queries that deny a held-out concept, and all others."""
    (asked,) = ask_systems(encoder, [system], queries, parse_query)
    held = np.array([names_any(held_out, read_claim(query.unwanted[0])) for query in queries])
    for label, chosen in (("held out", held), ("others", ~held)):
        rows = np.flatnonzero(chosen)
        some, taken = [queries[row] for row in rows], [asked.exclusions[int(row)] for row in rows]
        metrics = summarise(some, measure_block(asked.vectors[rows], videos, some, exclusions=taken))
        write_row(system.name, label, *(f"{metrics.get(key, math.nan):.3f}" for key in COLUMNS))


if __name__ == "__main__":
    main()
