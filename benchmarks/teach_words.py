"""Teach a real sentence encoder negation, and measure it on videos in words: `python -m benchmarks.teach_words`.

    python -m benchmarks.teach_words --data FOLDER --out FOLDER [--steps N] RUN…

A RUN is a comma-separated list of settings, "alpha=0.8,seed=1"; "base" measures the baselines.
FOLDER holds flickr8k_captions.txt, msrvtt_captions_2k.csv and msrvtt1k_captions.jsonl, which are
not part of this project. MiniLM learns from the first two with the preset teach-text, or with
world=1 from captions of the built-in world alone. The 1,000 videos of the third are split in half
by the hashes of their ids: choices are made on the validation half, and the other is reported. The
gallery is embedded by the untaught encoder, as a frozen visual tower would. Results go to
OUT/results.jsonl, one line per run and half. Models are kept in OUT/RUN.pt: a run that is asked for
again is not trained again, only measured.
"""

import csv
import json
import logging
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.harness import arguments
from benchmarks.minilm import MODEL_CFG, MiniLM, MiniLMEncoder, load_minilm
from nt2vr.datasets import splits
from nt2vr.datasets.splits import sample_ids
from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.caption_benchmark import key_of, words_benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos, Vectors
from nt2vr.evaluation.measures import (
    Measured,
    summarise,
)
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import atomic_write
from nt2vr.models.card import Card
from nt2vr.models.pooling import Mean
from nt2vr.negation.generate.denial import Denial
from nt2vr.negation.generate.query_sets import CaptionedVideos, read_captioned_videos
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import words
from nt2vr.presets import PRESETS
from nt2vr.progress import silent
from nt2vr.search.strategies import System
from nt2vr.world import WORLD
from trainer.config import TrainConfig, load_config
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clip_loader import ClipLoader, Reading
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences
from trainer.inputs.denied import Denied, draw_sentence
from trainer.inputs.frozen_texts import FrozenTexts
from trainer.inputs.parts import SAMPLE, Parts, Teacher
from trainer.learner import Learner
from trainer.losses import losses_of
from trainer.start import PREPROCESS, Start
from trainer.text_measures import TextMeasures

CONTENT = VERB_TAGS - {"MD"} | {"NOUN", "ADJ"}
VAGUE = words(
    "be do have person people man woman boy girl someone somebody thing something other one"
)
EPOCH_STEPS = 80  # steps between two validations; the first such epoch may be of "not B" alone
MEASURED_EVERY = 4  # epochs; nothing is stopped early here
SEED = 7
ALPHAS = (0.25, 0.5, 0.65, 0.8, 1.0, 1.25)
HELD_OUT = words(  # concepts that a run with hold_out=1 never denies: common nouns and verbs of both datasets
    "dog ball water car guitar horse bike beach snow hat tree grass street table food game dress phone boat field "
    "camera stage road pool rock fence bench shirt book piano "
    "sing dance run jump ride cook swim climb eat throw drive laugh kick sleep cry fight draw walk cut paint"
)
SETTINGS = (
    "alpha",
    "rate",
    "batch",
    "idiom",
    "keep",
    "not",
    "hold_out",
    "steps",
    "seed",
    "world",
    "added_layers",
)  # of a run
logger = logging.getLogger(__name__)
Run = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Half:
    """Half of the videos.

    Attributes:
        name: of the half.
        benchmark: its queries.
        videos: the untaught encoder's embeddings.
        control: what `drop` measures with that encoder.
    """

    name: str
    benchmark: TextBenchmark
    videos: Vectors
    control: Measured


@dataclass(frozen=True, eq=False)
class NeverDenied(CaptionSentences):
    """Captions whose denying sentences never deny a held-out concept."""

    def denial(self, row: int, shares: Mapping[str, float], rng: random.Random) -> Denial:
        """Draw until it does not."""
        while denies_held_out((denial := super().denial(row, shares, rng)).unwanted):
            pass
        return denial


def denies_held_out(unwanted: str) -> bool:
    """Return whether a phrase has a held-out concept in any form."""
    forms = (
        *unwanted.split(),
        *concepts_of(unwanted),
    )  # "ran" has the lemma "run"; "dancers" begins as "dance" does
    return any(form.startswith(concept.removesuffix("e")) for form in forms for concept in HELD_OUT)


def write_means(path: Path) -> None:
    """Print mean and standard deviation over seeds of every measure, by half and by baseline or run."""
    lines = pd.read_json(path, lines=True)
    runs = lines.run.str.replace(r",?seed=\d+", "", regex=True)
    metrics = pd.json_normalize(lines.pop("metrics").tolist())
    keys = [lines.half, runs.where(runs != "base", lines.system).rename("run")]
    sys.stdout.write(
        pd.concat([metrics, lines.select_dtypes("number")], axis=1)
        .groupby(keys)
        .agg(["mean", "std"])
        .T.to_string()
    )


def main() -> None:
    """Run all runs in turn, each appending its results."""
    parser = arguments("teach_words", __doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=480)
    parser.add_argument("--captions", type=int, default=50_000, help="most captions to learn from")
    parser.add_argument(
        "--means",
        action="store_true",
        help="print means over seeds of what OUT has, and run nothing",
    )
    parser.add_argument("runs", nargs="*", default=["base"])
    options = parser.parse_args()
    if options.means:
        write_means(options.out / "results.jsonl")
        return
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    halves = list(halves_of(options.data, options.out))
    clips: dict[str, tuple[Clips, Clips]] = {}  # by data
    for name in options.runs:
        encoder = MiniLMEncoder(*load_minilm())
        found: dict[str, float] = {}
        denied: set[str] | None = None
        if name != "base":
            kept = options.out / f"{name}.pt"
            if not kept.exists():
                run = settings_of(name)
                config = config_of(run, write_captions(options.data, options.out), options.steps)
                if config.dataset.data not in clips:
                    clips[config.dataset.data] = clips_of(config, options.captions)
                model, found, denied = teach(
                    config,
                    *clips[config.dataset.data],
                    hold_out=bool(run.get("hold_out")),
                    added_layers=int(run.get("added_layers", 0)),
                )
                with atomic_write(kept) as file:
                    torch.save(
                        {"model": model.state_dict(), "found": found, "denied": sorted(denied)},
                        file,
                    )
            taught = torch.load(kept)
            model, tokenizer = load_minilm(int(settings_of(name).get("added_layers", 0)))
            model.load_state_dict(taught["model"])
            found, denied = taught["found"], set(taught["denied"])
            encoder = MiniLMEncoder(model, tokenizer, f"MiniLM-neg {name}", "MiniLM")
        with (options.out / "results.jsonl").open("a", encoding="utf-8") as file:
            for line in measured(encoder, halves, denied):
                file.write(json.dumps({"run": name, **line, **found}) + "\n")
                file.flush()


def settings_of(name: str) -> Run:
    """Read a run's settings off its name.

    Raises:
        ConfigError: if one is unknown.
    """
    run = {key: float(value) for key, value in (pair.split("=") for pair in name.split(","))}
    for key in run:
        if key not in SETTINGS:
            raise ConfigError(
                f"A run has no setting {quoted(key)}. Name some of {', '.join(SETTINGS)}."
            )
    return run


def halves_of(data: Path, out: Path) -> Iterator[Half]:
    """Build the benchmark of each half of the videos, with the gallery of the untaught encoder."""
    encoder = MiniLMEncoder(*load_minilm())
    everything = read_captioned_videos(data / "msrvtt1k_captions.jsonl")
    validation = set(sample_ids(everything.captions, len(everything.captions) // 2))
    for name in ("validation", "report"):
        captions = {
            v: some
            for v, some in everything.captions.items()
            if (v in validation) == (name == "validation")
        }
        queries = tuple(query for query in everything.queries if query.video_id in captions)
        videos = CaptionedVideos(captions, queries)
        benchmark = words_benchmark(f"MSR-VTT1k {name}", videos, SEED, out / "queries")
        stored = out / f"gallery-{name}-{benchmark.digest}.npy"
        if not stored.exists():
            np.save(stored, benchmark.embed(encoder, silent).vectors)
        videos = np.load(stored)
        (control,) = benchmark.measure(
            encoder, [System(encoder.name, "drop")], EmbeddedVideos(videos)
        )
        yield Half(name, benchmark, videos, control.measured)


def write_captions(data: Path, out: Path) -> Path:
    """Write the training captions to one file, without those of the test videos."""
    path = out / "captions.txt"
    if not path.exists():
        videos = read_captioned_videos(data / "msrvtt1k_captions.jsonl").captions.values()
        tested = {key_of(text) for some in videos for text in some}
        lines = (data / "flickr8k_captions.txt").read_text(encoding="utf-8").splitlines()
        with (data / "msrvtt_captions_2k.csv").open(encoding="utf-8", newline="") as file:
            lines += [f"{row['video_id']}#0\t{row['sentence']}" for row in csv.DictReader(file)]
        path.write_text(
            "".join(f"{line}\n" for line in lines if key_of(line.split("\t")[1]) not in tested),
            encoding="utf-8",
        )
    return path


def config_of(run: Run, captions: Path, steps: int) -> TrainConfig:
    """Return the preset with a run's settings, in epochs of EPOCH_STEPS."""
    preset = load_config(PRESETS / "teach-text.json")
    distill = preset.objective.losses["distill"]
    shares = {
        **preset.negation.sentences,
        "idiom": run.get("idiom", preset.negation.sentences["idiom"]),
    }
    return preset.replace(
        base="MiniLM",
        model=MODEL_CFG,
        positions="centres",
        pooling="mean",
        keep_tokens=False,  # `teach` freezes the whole table, which saves its gradient
        data=WORLD if run.get("world") else str(captions),
        losses={
            "distill": {**distill, **{key: run[key] for key in ("alpha", "keep") if key in run}}
        },
        sentences={kind: share for kind, share in shares.items() if share},
        not_epochs=int(run.get("not", preset.negation.not_epochs)),
        learning_rate=run.get("rate", preset.rate.learning_rate),
        seed=int(run.get("seed", 0)),
        batch_size=(batch := int(run.get("batch", preset.batches.batch_size))),
        num_clips=EPOCH_STEPS * batch,
        epochs=-(-int(run.get("steps", steps)) // EPOCH_STEPS),
        validation_clips=500,
        add_world=False,
    )


def clips_of(config: TrainConfig, most: int) -> tuple[Clips, Clips]:
    """Read the training captions, and the held-out captions that text measures are taken on."""
    # All that is measured; a run of the product would hold out a tenth.
    splits.HELD_OUT = config.validation.validation_clips
    loader = ClipLoader(config, Path(), Reading(videos=False))
    return replace(loader, config=config.replace(num_clips=most)).load("train"), loader.load(
        "validation"
    )


def teach(
    config: TrainConfig,
    clips: Clips,
    validation: Clips,
    hold_out: bool = False,
    added_layers: int = 0,
) -> tuple[MiniLM, dict[str, float], set[str]]:
    """Train; return the model, its text measures with the time taken, and all phrases that were denied."""
    started = time.monotonic()
    logger.info("%d captions to learn from", len(clips))
    if hold_out:
        assert isinstance(clips.sentences, CaptionSentences)
        clips = replace(
            clips,
            sentences=NeverDenied(
                clips.sentences.captions, clips.sentences.denials, has_videos=False
            ),
        )
    torch.manual_seed(config.run.seed)  # draws the weights of added layers
    model, tokenizer = load_minilm(added_layers)
    model.token_embedding.requires_grad_(False)
    base = FrozenTexts(deepcopy(model), tokenizer, "cpu")
    learner = Learner(
        config,
        Start(losses_of(config), "cpu", model, tokenizer, PREPROCESS, Card("MiniLM"), Mean()),
    )
    rows = range(0, len(clips), max(1, len(clips) // SAMPLE))
    sentences = [
        draw_sentence(clips, config, row, f"{config.run.seed} tokens {row}") for row in rows
    ]
    sampled = MiniLMEncoder(load_minilm()[0], tokenizer).encode_text(
        clips.captions("sample")[:SAMPLE]
    )
    parts = learner.losses.inputs.of(Parts)
    parts.teacher = Teacher(base, sentences, sampled, "cpu")
    parts.storing_teacher = parts.teacher
    measures = TextMeasures(learner, validation)
    logger.info("%s", {name: round(value, 3) for name, value in measures.controls.items()})
    found: dict[str, float] = {}
    denied: set[str] = set()
    for epoch in range(1, config.batches.epochs + 1):
        learner.start_epoch()
        batches = _noted(epoch_batches(clips, config, epoch, 0, learner.losses.inputs), denied)
        while learner.steps < epoch * config.steps_per_epoch:
            losses = learner.step(islice(batches, 1))
            if learner.steps in (1, 10, 100):
                logger.info(
                    "step %d, %.0f s, %s", learner.steps, time.monotonic() - started, losses
                )
        if epoch % MEASURED_EVERY == 0 or epoch == config.batches.epochs:
            found = measures(FrozenTexts(model, tokenizer, "cpu"))
            logger.info("step %d, %.0f s: %s", learner.steps, time.monotonic() - started, found)
    return (
        model,
        {**found, "steps": learner.steps, "seconds": round(time.monotonic() - started)},
        denied,
    )


def _noted(batches: Iterable[Batch], denied: set[str]) -> Iterator[Batch]:
    """Yield the batches, and add the phrases that their sentences deny."""
    for batch in batches:
        denied.update(sentence.unwanted for sentence in batch.of(Denied) if sentence.unwanted)
        yield batch


def measured(
    encoder: MiniLMEncoder, halves: Sequence[Half], denied: set[str] | None
) -> Iterator[dict[str, Any]]:
    """Yield the metrics of both halves: of an encoder that was taught with denied phrases, or of every baseline."""
    systems = [System(encoder.name)]
    if denied is None:
        systems += [System(encoder.name, name) for name in ("drop", "anchored", "spherical")]
        systems += [System(encoder.name, "boolean", alpha) for alpha in ALPHAS]
    for half in halves:
        found = [
            result.measured
            for result in half.benchmark.measure(encoder, systems, EmbeddedVideos(half.videos))
        ]
        queries = half.benchmark.queries
        held_out = [
            "yes" if denies_held_out(" ".join(query.unwanted)) else "no" for query in queries
        ]
        further: dict[str, float] = {}
        if denied is not None:
            new = novelties(queries, denied)
            control = ordered_by(new, queries, half.control)
            for name, pairs in ordered_by(new, queries, found[0]).items():
                further[f"new/{name}"], further[f"new/{name}, drop"] = (
                    percent(pairs),
                    percent(control[name]),
                )
                further[f"new/{name}, queries"] = len(pairs)
        for system, values in zip(systems, found, strict=True):
            by_concept = ordered_by(held_out, queries, values)
            of_concepts = {
                f"held_out/hard_pairs {name}": percent(pairs) for name, pairs in by_concept.items()
            }
            yield {
                "half": half.name,
                "system": system.name,
                "metrics": {**summarise(queries, values), **of_concepts, **further},
            }


def novelties(queries: Sequence[JudgedQuery], denied: set[str]) -> list[str]:
    """Return how new to training what each query denies is: "phrase denied", "phrase", "a word" or "all words"."""
    known = {concept for phrase in denied for concept in concepts_of(phrase)}
    found = []
    for query in queries:
        new = [concept not in known for phrase in query.unwanted for concept in concepts_of(phrase)]
        if denied.issuperset(query.unwanted):
            found.append("phrase denied")
        else:
            found.append("all words" if new and all(new) else "a word" if any(new) else "phrase")
    return found


@cache
def concepts_of(phrase: str) -> tuple[str, ...]:
    """Return the lemmas of a phrase's content words."""
    return tuple(
        sorted({token.lemma for token in load_tagger().tag(phrase) if token.tag in CONTENT} - VAGUE)
    )


def ordered_by(
    groups: Sequence[str], queries: Sequence[JudgedQuery], values: Measured
) -> dict[str, list[float]]:
    """Return each "A and not B" query's share of ordered hard pairs, by group; there is one group name per query."""
    shares: dict[str, list[float]] = defaultdict(list)
    for group, query, ordered in zip(groups, queries, values.ordered, strict=True):
        if query.kind == "composed" and not np.isnan(ordered):
            shares[group].append(float(ordered))
    return shares


def percent(shares: Sequence[float]) -> float:
    """Return the mean in percent."""
    return 100 * mean(shares)


if __name__ == "__main__":
    main()
