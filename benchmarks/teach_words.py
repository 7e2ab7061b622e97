"""Teach a real sentence encoder negation, and measure it on videos in words: `python -m benchmarks.teach_words`.

    python -m benchmarks.teach_words --data FOLDER --out FOLDER [--steps N] RUN…

A RUN is a comma-separated list of settings, "alpha=0.8,seed=1"; "base" measures the baselines.
FOLDER holds flickr8k_captions.txt, msrvtt_captions_2k.csv and msrvtt1k_captions.jsonl, which are
not part of this project. MiniLM learns from the first two with the preset teach-text, or with
world=1 from captions of the built-in world alone. The 1,000 videos of the third are split in half
by the hashes of their ids: choices are made on the validation half, and the other is reported. The
gallery is embedded by the untaught encoder, which stands for a frozen visual tower. Results go to
OUT/results.jsonl, one line per run and half. Models are stored in OUT/RUN.pt: a run that is
named again is not trained again, only measured.
"""

import csv
import json
import logging
import math
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
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import (
    Measured,
    summarise,
)
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import atomic_write
from nt2vr.models.card import Card
from nt2vr.models.encoder import Vectors
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
# Steps between two validations; the first such epoch may be of "not B" alone.
EPOCH_STEPS = 80
# Epochs; nothing is stopped early here.
MEASURED_EVERY = 4
SEED = 7
ALPHAS = (0.25, 0.5, 0.65, 0.8, 1.0, 1.25)
# Concepts that a run with hold_out=1 never denies: common nouns and verbs of both datasets.
HELD_OUT = words(
    "dog ball water car guitar horse bike beach snow hat tree grass street table food game dress phone boat field "
    "camera stage road pool rock fence bench shirt book piano "
    "sing dance run jump ride cook swim climb eat throw drive laugh kick sleep cry fight draw walk cut paint"
)
# Of a run.
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
)
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
        while True:
            denial = super().denial(row, shares, rng)
            if not denies_held_out(denial.unwanted):
                return denial


def denies_held_out(unwanted: str) -> bool:
    """Return whether a phrase has a held-out concept in any form."""
    # "ran" has the lemma "run"; "dancers" begins as "dance" does.
    starts = tuple(concept.removesuffix("e") for concept in HELD_OUT)
    return any(form.startswith(starts) for form in (*unwanted.split(), *concepts_of(unwanted)))


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
    teacher = RunTeacher(options.data, options.out, options.steps, options.captions)
    for name in options.runs:
        run = None if name == "base" else teacher.run(name)
        with (options.out / "results.jsonl").open("a", encoding="utf-8") as file:
            for line in measured(run, halves):
                file.write(json.dumps({"run": name, **line}) + "\n")
                file.flush()


@dataclass(frozen=True, eq=False)
class TaughtRun:
    """A run that has ended.

    Attributes:
        text_measures: of its last epoch, with its steps and seconds.
        denied: all phrases that its sentences denied.
    """

    encoder: MiniLMEncoder
    text_measures: Mapping[str, float]
    denied: set[str]


class RunTeacher:
    """Trains runs, or reads those that have been trained."""

    def __init__(self, data: Path, out: Path, steps: int, num_captions: int) -> None:
        self._data = data
        self._out = out
        self._steps = steps
        self._num_captions = num_captions
        # By the data of a config.
        self._clips: dict[str, tuple[Clips, Clips]] = {}

    def run(self, name: str) -> TaughtRun:
        """Return the run of a name."""
        settings = settings_of(name)
        path = self._out / f"{name}.pt"
        if not path.exists():
            self._train(settings, path)
        stored = torch.load(path)
        model, tokenizer = load_minilm(int(settings.get("added_layers", 0)))
        model.load_state_dict(stored["model"])
        encoder = MiniLMEncoder(model, tokenizer, f"MiniLM-neg {name}", "MiniLM")
        return TaughtRun(encoder, stored["found"], set(stored["denied"]))

    def _train(self, settings: Run, path: Path) -> None:
        captions = write_captions(self._data, self._out)
        config = config_of(settings, captions, self._steps)
        data = config.dataset.data
        if data not in self._clips:
            self._clips[data] = clips_of(config, self._num_captions)
        clips, validation = self._clips[data]
        if settings.get("hold_out"):
            clips = without_held_out(clips)
        model, text_measures, denied = teach(
            config, clips, validation, added_layers=int(settings.get("added_layers", 0))
        )
        stored = {
            "model": model.state_dict(),
            "found": text_measures,
            "denied": sorted(denied),
        }
        with atomic_write(path) as file:
            torch.save(stored, file)


def settings_of(name: str) -> Run:
    """Read a run's settings off its name.

    Raises:
        ConfigError: if one is unknown.
    """
    settings = {}
    for pair in name.split(","):
        key, _, value = pair.partition("=")
        if key not in SETTINGS:
            raise ConfigError(
                f"A run has no setting {quoted(key)}. Name some of {', '.join(SETTINGS)}."
            )
        settings[key] = float(value)
    return settings


def halves_of(data: Path, out: Path) -> Iterator[Half]:
    """Build the benchmark of each half of the videos, with the gallery of the untaught encoder."""
    everything = read_captioned_videos(data / "msrvtt1k_captions.jsonl")
    validation_ids = set(sample_ids(everything.captions, len(everything.captions) // 2))
    report_ids = everything.captions.keys() - validation_ids
    encoder = MiniLMEncoder(*load_minilm())
    for name, ids in {"validation": validation_ids, "report": report_ids}.items():
        captions = {
            video_id: texts for video_id, texts in everything.captions.items() if video_id in ids
        }
        queries = tuple(query for query in everything.queries if query.video_id in captions)
        yield half_of(name, CaptionedVideos(captions, queries), encoder, out)


def half_of(name: str, captioned: CaptionedVideos, encoder: MiniLMEncoder, out: Path) -> Half:
    """Build the benchmark of some videos, and measure the control."""
    benchmark = words_benchmark(f"MSR-VTT1k {name}", captioned, SEED, out / "queries")
    path = out / f"gallery-{name}-{benchmark.digest}.npy"
    if not path.exists():
        np.save(path, benchmark.embed(encoder, silent).vectors)
    videos = np.load(path)
    (control,) = benchmark.measure(encoder, [System(encoder.name, "drop")], EmbeddedVideos(videos))
    return Half(name, benchmark, videos, control.measured)


def write_captions(data: Path, out: Path) -> Path:
    """Write the training captions to one file, without those of the test videos."""
    path = out / "captions.txt"
    if path.exists():
        return path
    tested: set[str] = set()
    for texts in read_captioned_videos(data / "msrvtt1k_captions.jsonl").captions.values():
        tested.update(map(key_of, texts))

    lines = (data / "flickr8k_captions.txt").read_text(encoding="utf-8").splitlines()
    with (data / "msrvtt_captions_2k.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines.append(f"{row['video_id']}#0\t{row['sentence']}")
    untested = [line for line in lines if key_of(line.split("\t")[1]) not in tested]
    path.write_text("".join(f"{line}\n" for line in untested), encoding="utf-8")
    return path


def config_of(run: Run, captions: Path, steps: int) -> TrainConfig:
    """Return the preset with a run's settings, in epochs of EPOCH_STEPS."""
    preset = load_config(PRESETS / "teach-text.json")
    distill = dict(preset.objective.losses["distill"])
    for key in ("alpha", "keep"):
        if key in run:
            distill[key] = run[key]
    shares = dict(preset.negation.sentences)
    shares["idiom"] = run.get("idiom", shares["idiom"])
    batch_size = int(run.get("batch", preset.batches.batch_size))
    return preset.replace(
        base="MiniLM",
        model=MODEL_CFG,
        positions="centres",
        pooling="mean",
        # `teach` freezes the whole table, which saves its gradient.
        keep_tokens=False,
        data=WORLD if run.get("world") else str(captions),
        losses={"distill": distill},
        sentences={kind: share for kind, share in shares.items() if share},
        not_epochs=int(run.get("not", preset.negation.not_epochs)),
        learning_rate=run.get("rate", preset.rate.learning_rate),
        seed=int(run.get("seed", 0)),
        batch_size=batch_size,
        num_clips=EPOCH_STEPS * batch_size,
        epochs=math.ceil(run.get("steps", steps) / EPOCH_STEPS),
        validation_clips=500,
        add_world=False,
    )


def clips_of(config: TrainConfig, num_captions: int) -> tuple[Clips, Clips]:
    """Read the training captions, and the held-out captions that text measures are taken on."""
    # All that is measured; a run of the product would hold out a tenth.
    splits.HELD_OUT = config.validation.validation_clips
    loader = ClipLoader(config, Path(), Reading(videos=False))
    training = replace(loader, config=config.replace(num_clips=num_captions)).load("train")
    return training, loader.load("validation")


def without_held_out(clips: Clips) -> Clips:
    """Let the sentences of captions never deny a held-out concept."""
    sentences = clips.sentences
    assert isinstance(sentences, CaptionSentences)
    never_denied = NeverDenied(sentences.captions, sentences.denials, has_videos=False)
    return replace(clips, sentences=never_denied)


def teach(
    config: TrainConfig, clips: Clips, validation: Clips, added_layers: int = 0
) -> tuple[MiniLM, dict[str, float], set[str]]:
    """Train; return the model, its text measures with the time taken, and all phrases that were denied."""
    started_s = time.monotonic()
    logger.info("%d captions to learn from", len(clips))
    # It draws the weights of added layers.
    torch.manual_seed(config.run.seed)
    model, tokenizer = load_minilm(added_layers)
    model.token_embedding.requires_grad_(False)
    base = FrozenTexts(deepcopy(model), tokenizer, "cpu")
    start = Start(losses_of(config), "cpu", model, tokenizer, PREPROCESS, Card("MiniLM"), Mean())
    learner = Learner(config, start)
    use_teacher(learner, base, clips)
    measures = TextMeasures(learner, validation)
    logger.info("%s", {name: round(value, 3) for name, value in measures.controls.items()})

    text_measures: dict[str, float] = {}
    denied: set[str] = set()
    for epoch in range(1, config.batches.epochs + 1):
        take_epoch(learner, clips, epoch, denied, started_s)
        if epoch % MEASURED_EVERY == 0 or epoch == config.batches.epochs:
            text_measures = measures(FrozenTexts(model, tokenizer, "cpu"))
            seconds = time.monotonic() - started_s
            logger.info("step %d, %.0f s: %s", learner.steps, seconds, text_measures)
    text_measures["steps"] = learner.steps
    text_measures["seconds"] = round(time.monotonic() - started_s)
    return model, text_measures, denied


def use_teacher(learner: Learner, base: FrozenTexts, clips: Clips) -> None:
    """Let the frozen base give the targets of the learner's losses."""
    config = learner.config
    sentences = []
    for row in range(0, len(clips), max(1, len(clips) // SAMPLE)):
        sentences.append(draw_sentence(clips, config, row, f"{config.run.seed} tokens {row}"))
    untaught = MiniLMEncoder(*load_minilm())
    captions = untaught.encode_text(clips.captions("sample")[:SAMPLE])
    parts = learner.losses.inputs.of(Parts)
    parts.teacher = Teacher(base, sentences, captions, "cpu")
    parts.storing_teacher = parts.teacher


def take_epoch(
    learner: Learner, clips: Clips, epoch: int, denied: set[str], started_s: float
) -> None:
    """Take the steps of an epoch, and add the phrases that its sentences deny."""
    config = learner.config
    learner.start_epoch()
    batches = _noted(epoch_batches(clips, config, epoch, 0, learner.losses.inputs), denied)
    while learner.steps < epoch * config.steps_per_epoch:
        losses = learner.step(islice(batches, 1))
        if learner.steps in (1, 10, 100):
            seconds = time.monotonic() - started_s
            logger.info("step %d, %.0f s, %s", learner.steps, seconds, losses)


def _noted(batches: Iterable[Batch], denied: set[str]) -> Iterator[Batch]:
    """Yield the batches, and add the phrases that their sentences deny."""
    for batch in batches:
        denied.update(sentence.unwanted for sentence in batch.drawn[Denied] if sentence.unwanted)
        yield batch


def measured(run: TaughtRun | None, halves: Sequence[Half]) -> Iterator[dict[str, Any]]:
    """Yield the metrics of both halves: of a run, or of every baseline."""
    if run is None:
        encoder = MiniLMEncoder(*load_minilm())
        names = ("plain", "drop", "anchored", "spherical")
        systems = [System(encoder.name, name) for name in names]
        systems += [System(encoder.name, "boolean", alpha) for alpha in ALPHAS]
    else:
        encoder = run.encoder
        systems = [System(encoder.name)]

    for half in halves:
        results = half.benchmark.measure(encoder, systems, EmbeddedVideos(half.videos))
        for result in results:
            metrics = summarise(half.benchmark.queries, result.measured)
            metrics |= by_held_out(half, result.measured)
            line: dict[str, Any] = {"half": half.name, "system": result.system, "metrics": metrics}
            if run is not None:
                metrics |= by_novelty(half, result.measured, run.denied)
                line |= run.text_measures
            yield line


def by_held_out(half: Half, measured: Measured) -> dict[str, float]:
    """Return hard pairs of queries that deny a held-out concept, and of the others."""
    queries = half.benchmark.queries
    groups = ["yes" if denies_held_out(" ".join(query.unwanted)) else "no" for query in queries]
    metrics = {}
    for group, shares in ordered_by(groups, queries, measured).items():
        metrics[f"held_out/hard_pairs {group}"] = percent(shares)
    return metrics


def by_novelty(half: Half, measured: Measured, denied: set[str]) -> dict[str, float]:
    """Return hard pairs by how new to training what a query denies is, next to the control's."""
    queries = half.benchmark.queries
    groups = novelties(queries, denied)
    control = ordered_by(groups, queries, half.control)
    metrics: dict[str, float] = {}
    for group, shares in ordered_by(groups, queries, measured).items():
        metrics[f"new/{group}"] = percent(shares)
        metrics[f"new/{group}, drop"] = percent(control[group])
        metrics[f"new/{group}, queries"] = len(shares)
    return metrics


def novelties(queries: Sequence[JudgedQuery], denied: set[str]) -> list[str]:
    """Return how new to training what each query denies is: "phrase denied", "phrase", "a word" or "all words"."""
    trained_concepts: set[str] = set()
    for phrase in denied:
        trained_concepts.update(concepts_of(phrase))
    return [_novelty(query, denied, trained_concepts) for query in queries]


def _novelty(query: JudgedQuery, denied: set[str], trained_concepts: set[str]) -> str:
    if denied.issuperset(query.unwanted):
        return "phrase denied"
    concepts: set[str] = set()
    for phrase in query.unwanted:
        concepts.update(concepts_of(phrase))
    if concepts <= trained_concepts:
        return "phrase"
    return "all words" if concepts.isdisjoint(trained_concepts) else "a word"


@cache
def concepts_of(phrase: str) -> tuple[str, ...]:
    """Return the lemmas of a phrase's content words."""
    lemmas = {token.lemma for token in load_tagger().tag(phrase) if token.tag in CONTENT}
    return tuple(sorted(lemmas - VAGUE))


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
