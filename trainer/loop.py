"""The training loop: epochs, reports, validation and saves. Knows nothing about single steps or data sources."""

import logging
import math
import os
import random
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from nt2vr.errors import CheckpointError, ConfigError, counted, reason_of
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.metric_names import (
    AUC,
    HARD_PAIRS,
    KS,
    MIR,
    TEXT_IDIOMS,
    TEXT_KEPT,
    TEXT_ORDER,
    TEXT_ORDER_IF_KEPT,
    TEXT_TARGET,
    delta,
    recall,
)
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.pooling import Mean
from nt2vr.negation.generate.denials import CaptionDenials, Denial
from nt2vr.progress import Progress, ShouldStop, hides_bars, silent, stoppable, tracked
from nt2vr.search.strategies import System
from trainer.config import METRICS
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.digests import digests_of
from trainer.data.sentences import WorldSentences
from trainer.distributed import agree, in_turn, rank, world_size
from trainer.inputs import Parts, Preparation, given
from trainer.inputs.denied import draw_sentence
from trainer.inputs.frozen_texts import TextEncoder
from trainer.inputs.parts import Teacher
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss
from trainer.optimizer import Steps
from trainer.runs.resume import Change, Losses, Saved, Saver, read_saved, rewind
from trainer.runs.run_folder import MetricsWriter, RunFolder, RunStatus, State

logger = logging.getLogger(__name__)
AHEAD = 2  # batches drawn in advance while a GPU computes
# of captions, and of denying sentences; enough to follow a run
TRACKED_OF_CAPTIONS = tuple(f"original/{recall(k)}" for k in KS)
TRACKED = tuple(f"/{name}" for name in (MIR, delta(MIR), HARD_PAIRS, AUC))
CONTROLS = {
    "base": "plain",
    "drop": "drop",
    "boolean": "boolean",
}  # metric prefix -> search strategy
KEPT = 0.985  # text/kept above which retrieval by affirmative captions stays as it is
IDIOMS = 256  # captions that idioms are made of


def train(
    learner: Learner,
    run: RunFolder,
    clips: Clips,
    validation: Clips,
    should_stop: ShouldStop = lambda: False,
    progress: Progress = silent,
    cache: Path | None = None,
) -> State:
    """Train to the end of the learner's config, with a checkpoint per epoch; resume from the saved state, if any.

    It is saved and stops once `should_stop`, polled after each step, returns True. Only the leading
    process writes. Embeddings that the preparation computes are stored in `cache`, if one is given.
    """
    prepare_inputs(learner, clips, stoppable(progress, should_stop))
    inputs = learner.losses.inputs
    saved = read_saved(run, learner.config, digests_of(clips, validation, inputs))
    if saved.position.finished:
        return "finished"
    if not saved.asks_as_evaluation:
        validation = replace(validation, queries=with_former_queries(validation))
    prepare(learner, clips, should_stop, progress, cache)
    card_fields = dict(
        chain.from_iterable(loss_input.card_fields().items() for loss_input in inputs)
    )
    validator = partial(Validator, learner, validation, progress, card_fields, saved.changes)
    draw = partial(epoch_batches, clips, learner.config, inputs=inputs)
    return go_on(learner, run, saved, validator, draw, should_stop)


class Validates(Protocol):
    """Measures what a run trains, and writes its checkpoints."""

    controls: dict[str, float]  # measures of what it is compared with
    held_out: str  # what it measures on, such as "1 held-out clip"

    def measure(self) -> dict[str, float]: ...

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None: ...


Draw = Callable[[int, int], Generator[Any]]  # batches of an epoch, after the first `done`


def go_on(
    learner: Steps,
    run: RunFolder,
    saved: Saved,
    validator: Callable[[], Validates],
    draw: Draw,
    should_stop: ShouldStop,
) -> State:
    """Take the steps that a run still lacks; return "finished" or "stopped"."""
    if saved.learner:
        try:
            learner.load_state_dict(saved.learner)
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"{run.resume} was saved by another version of nT2VR ({reason_of(error)}). "
                "The run's curves and checkpoints stay; start a new run."
            ) from error
        if not learner.is_finite:
            raise CheckpointError(
                f"{run.resume} has weights that are not finite, as an earlier version of nT2VR saved them. "
                "The run's curves and checkpoints stay; start a new run with a lower learning_rate."
            )
        logger.info("Resuming after step %d.", learner.steps)
    with closing(Books(run, learner, saved, validator)) if rank() == 0 else nullcontext() as books:
        if saved.learner:
            learner.load_random_state(
                saved.learner
            )  # the books have built the base, for its controls
        return take_steps(learner, draw, saved.position.epoch, books, should_stop)


def take_steps(
    learner: Steps, draw: Draw, first_epoch: int, books: "Books | None", should_stop: ShouldStop
) -> State:
    """Take all steps from `first_epoch` on, except those of it that the learner has already taken."""
    config = learner.config
    for epoch in range(first_epoch, config.batches.epochs + 1):
        learner.start_epoch()
        done = (learner.steps - (epoch - 1) * config.steps_per_epoch) * config.batches.accumulate
        drawn = draw(epoch, done)
        with closing(prefetched(drawn) if learner.device == "cuda" else drawn) as batches:
            while learner.steps < epoch * config.steps_per_epoch:
                losses = learner.step(islice(batches, config.batches.accumulate))
                if books:
                    books.step(epoch, losses)
                if agree(should_stop()):
                    if books:
                        books.save()
                    return "stopped"
        if agree(books is not None and books.finish_epoch(epoch)):
            break
    return "finished"


def prefetched(batches: Iterator[Batch], pins: bool = True) -> Generator[Batch]:
    """Yield the same batches in the same order, the next ones being drawn meanwhile; closing it ends the thread."""

    def take() -> Batch | None:
        batch = next(batches, None)
        if batch is None or batch.frames is None or not pins:
            return batch
        return replace(batch, frames=torch.from_numpy(batch.frames).pin_memory().numpy())

    with ThreadPoolExecutor(1, "batches") as thread:
        pending = deque(thread.submit(take) for _ in range(AHEAD))
        while (batch := pending.popleft().result()) is not None:
            pending.append(thread.submit(take))
            yield batch


def prepare_inputs(learner: Learner, clips: Clips, progress: Progress = silent) -> None:
    """Let the losses' inputs compute what they draw from."""
    for loss_input in learner.losses.inputs:
        loss_input.prepare(clips, learner.config, progress)


def prepare(
    learner: Learner,
    clips: Clips,
    should_stop: ShouldStop,
    progress: Progress = silent,
    cache: Path | None = None,
) -> None:
    """Set up token rows, the embeddings of a frozen visual tower, and the models of the losses' inputs."""
    preparation = Preparation(clips, learner.config, learner.device, progress, cache)
    learner.prepare_tokens(own_texts(learner, preparation))

    with in_turn():
        if clips.has_videos and not learner.config.encoder.trains_visual:
            videos = store_embeddings(learner, clips, stoppable(progress, should_stop))
            preparation = replace(preparation, videos=videos)
        for loss_input in learner.losses.inputs:
            loss_input.load(preparation)


def own_texts(learner: Learner, preparation: Preparation) -> list[str]:
    """Draw this process's stripe of the captions, with texts like those that the losses' inputs will draw."""
    clips = preparation.clips
    rows = range(rank(), len(clips), world_size())
    texts: list[str] = []
    for row in tracked(rows, len(rows), "drawing captions", preparation.progress):
        caption = clips.sentences.draw(row, random.Random(f"{preparation.key} {row}"))
        texts.append(caption.text)
        for loss_input in learner.losses.inputs:
            texts += loss_input.example_texts(row, caption, preparation)
    if learner.config.dataset.num_captions:
        texts += clips.all_captions(rows)
    return texts


def store_embeddings(learner: Learner, clips: Clips, progress: Progress) -> NDArray[np.float32]:
    """Set the embeddings that the learner looks up; return those of clips, or means of their frames: (N, D)."""
    encoder, frames = learner.frozen_encoder(), None
    reads_frames = any(loss_input.reads_frames for loss_input in learner.losses.inputs)
    if reads_frames and learner.head is not learner.pooling:
        frames = clips.embedded_once(encoder.unpooled(), progress)
    videos = clips.embedded_once(encoder, progress) if frames is None else encoder.pool(frames)
    learner.use_videos(videos, frames)
    return Mean()(torch.from_numpy(videos)).numpy() if videos.ndim > 2 else videos


class Books:
    """Everything the leading process writes: metrics, checkpoints, and the state to resume from."""

    def __init__(
        self, run: RunFolder, learner: Steps, saved: Saved, validator: Callable[[], Validates]
    ) -> None:
        config = learner.config
        self._run = run
        self._learner = learner
        self._position = saved.position
        rewind(run, saved.metrics_bytes)
        self._metrics = MetricsWriter(run, config, learner.steps)
        self._validator = validator()
        if config.encoder.base_folder and not saved.learner:
            self._metrics.append({"epoch": 0, "step": 0, **self._validator.controls})
        self._saver = Saver(run, learner, saved)
        self._recent = Losses(saved.recent)  # of the steps since the last line of metrics
        self._total = config.total_steps
        self._first = learner.steps
        self._reported = -1  # the step of the status; none yet
        self._bar = tqdm(
            desc="training",
            total=self._total,
            initial=self._first,
            unit="step",
            disable=hides_bars(),
        )
        self._started = time.monotonic()

    def step(self, epoch: int, losses: dict[str, float]) -> None:
        """Report a step in the progress bar, every `log_every` steps in the run folder, and save the run if due."""
        learner = self._learner
        self._bar.update()
        self._recent.append(losses)
        due = learner.steps % learner.config.run.log_every == 0
        if due:
            means = {
                name: sum(step[name] for step in self._recent) / len(self._recent)
                for name in losses
            }
            self._recent.clear()
            self._bar.set_postfix(means, epoch=epoch)
            self._metrics.append({"epoch": epoch, "step": learner.steps, **means, **learner.state})
        is_first = learner.steps == self._first + 1  # the preparation is over
        if due or is_first or learner.steps == self._total:
            self._write_status()
        if self._saver.due:
            self.save()

    def save(self) -> None:
        """Save the state to resume from, unless it is not finite: a DivergedError then leaves the last one."""
        self._learner.check_finite()
        self._saver.save(self._position, self._recent)

    def close(self) -> None:
        """Write the very step at which the run ends, whatever ends it."""
        self._bar.close()
        self._metrics.close()
        if self._reported != self._learner.steps:
            self._write_status()

    def _write_status(self) -> None:
        learner = self._learner
        left_s = None
        if taken := learner.steps - self._first:
            step_s = (time.monotonic() - self._started) / taken
            left_s = round((self._total - learner.steps) * step_s)
        status = RunStatus(
            "running", os.getpid(), learner.epoch, learner.steps, left_s, total=self._total
        )
        self._run.write_status(status)
        self._reported = learner.steps

    def finish_epoch(self, epoch: int) -> bool:
        """Validate, write the checkpoint, and return whether the run has ended."""
        self._learner.check_finite()
        config, controls, measured = (
            self._learner.config,
            self._validator.controls,
            self._validator.measure(),
        )
        self._metrics.append({"epoch": epoch, "step": self._learner.steps, **measured})
        shown = ", ".join(f"{name} {value:.3f}" for name, value in measured.items())
        logger.info(
            "epoch %d of %d: %s (%s)", epoch, config.batches.epochs, shown, self._validator.held_out
        )
        if not (
            folder := self._run.checkpoint(epoch)
        ).exists():  # otherwise killed before saving; it would be equal
            metrics = {
                f"validation/{name}": value for name, value in {**measured, **controls}.items()
            }
            self._validator.write(epoch, folder, metrics)
        monitored = measured.get(config.validation.monitor, math.nan)
        self._position = position = self._position.after_epoch(monitored, config)
        self._run.keep_checkpoints(epoch, position.best_epoch, config.validation.keep_checkpoints)
        if position.finished and epoch < config.batches.epochs:
            logger.info(
                "%s has not improved for %d epochs; it was best after epoch %d (%.4f). The run stops early.",
                *(
                    config.validation.monitor,
                    config.validation.patience,
                    position.best_epoch,
                    position.best,
                ),
            )
        self.save()
        return position.finished


class Validator:
    """Measures the model and writes its checkpoints, see `Validates`; the base and its controls are measured once."""

    def __init__(
        self,
        learner: Learner,
        clips: Clips,
        progress: Progress,
        card_fields: Mapping[str, Any],
        changes: Sequence[Change] = (),
    ) -> None:
        """Measure the base, if any, and its controls, on clips of the validation split; the rest is for the card."""
        self._learner = learner
        self._clips = clips
        self._card_fields = card_fields
        self._changes = tuple(changes)
        config, has_videos = learner.config, clips.has_videos
        self.held_out = counted(len(clips), f"held-out {clips.unit.removesuffix('s')}")
        self._videos: NDArray[np.float32] | None = None
        self._text: TextMeasures | None = None
        self.controls: dict[str, float] = {}
        if has_videos and not config.encoder.trains_visual:
            self._videos = clips.embedded_once(learner.frozen_encoder().as_scored(), progress)
        if Parts in learner.losses.inputs and not (has_videos and config.dataset.is_world):
            self._text = TextMeasures(learner, clips)
            self.controls |= self._text.controls
        if config.encoder.base_folder and has_videos and config.video_input is None:
            self.controls |= control_metrics(
                config.encoder.base_folder, clips, learner.device, progress
            )
        if config.validation.patience and not (
            has_videos and config.validation.monitor.startswith("original/")
        ):
            self._refuse_unmeasured(config.validation.monitor)

    def _refuse_unmeasured(self, monitor: str) -> None:
        if monitor not in (measured := self.measure()):
            others, unit = ", ".join(name for name in measured if name in METRICS), self._clips.unit
            raise ConfigError(
                f"{monitor} cannot be measured on these {unit}. Set monitor to {others}."
            )

    def measure(self) -> dict[str, float]:
        encoder, videos = self._learner.encoder(), self._videos
        if videos is not None and self._learner.head is self._learner.pooling:
            videos = encoder.pool(self._learner.as_frames(videos))
        measured = validate(encoder, self._clips, videos) if self._clips.has_videos else {}
        return measured | (self._text(encoder) if self._text else {})

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        learner, config = self._learner, self._learner.config
        losses = config.objective.losses
        base = learner.base.name if learner.base and config.video_input is None else ""
        frames = config.frames.num_frames
        if learner.base and not self._clips.has_videos:
            frames = learner.base.framing.frames
        data = f"{self._clips.name}, {config.dataset.num_clips} {self._clips.unit}"
        card = Card(
            config.encoder.name,
            objective=" + ".join(losses),
            base=base,
            frames=frames,
            pooling=learner.card.pooling.name,
            positions=learner.card.framing.positions,
            losses=losses,
            data=data,
            epoch=epoch,
            metrics=metrics,
            changes=self._changes,
            **config.card_video_input,
        )
        card = card.replace(**self._card_fields)
        parts = {
            "tokenizer": learner.tokenizer,
            "pooling": learner.pooling,
            "text_side": learner.text_side,
        }
        configs = config.encoder.model_cfg, learner.preprocess
        write_checkpoint(
            folder, learner.model, *configs, card, base=config.encoder.base_folder, **parts
        )


def validate(
    encoder: Encoder, clips: Clips, videos: NDArray[np.float32] | None = None
) -> dict[str, float]:
    """Search the clips with captions and with denying sentences; return measures of `summarise`.

    These are every "original/" one, and for denying sentences those TRACKED; for datasets those of
    negated and composed queries. `videos` are as of `EmbeddedVideos.vectors`, and computed if None.
    """
    videos = clips.embeddings(encoder.as_scored()) if videos is None else videos
    return _measured(encoder, clips, videos, ["plain"])[0]


def control_metrics(
    base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent
) -> dict[str, float]:
    """Measure the starting model as it is ("base/") and with the control strategies "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    videos = clips.embedded_once(encoder.as_scored(), progress)
    measured = _measured(encoder, clips, videos, list(CONTROLS.values()), progress)
    return {
        f"{control}/{name}": value
        for control, metrics in zip(CONTROLS, measured, strict=True)
        for name, value in metrics.items()
        if control == "base"
        or not name.startswith("original/")  # captions score the same under every strategy
    }


def _measured(
    encoder: Encoder,
    clips: Clips,
    videos: NDArray[np.float32],
    strategies: Sequence[str],
    progress: Progress = silent,
) -> list[dict[str, float]]:
    queries, names = _queries(clips), tuple(map(str, range(len(clips))))
    embedded = EmbeddedVideos(videos)
    benchmark = TextBenchmark(clips.name or "clips", names, queries, lambda *_: embedded, {})
    systems = [System(encoder.name, strategy) for strategy in strategies]
    results = benchmark.measure(encoder, systems, progress=progress)
    found = [summarise(queries, result.measured) for result in results]
    # ranks, and the recalls and first pages of denying sentences, are for the evaluation
    return [
        {
            name: value
            for name, value in each.items()
            if name in TRACKED_OF_CAPTIONS or name.endswith(TRACKED)
        }
        for each in found
    ]


@lru_cache(maxsize=1)  # a run validates on the same clips after every epoch
def _queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    queries = clips.queries or clips.sentences.queries()
    if queries and not any(query.kind != "original" for query in queries):
        logger.warning(
            "No validation caption can be negated, so negation is not measured after each epoch."
        )
    return queries


def with_former_queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    """Return the queries of a dataset's clips for a run until 0.2.0: its own, and the composed ones that it lacked.

    What it has measured so far, on which its best epoch depends, goes on as it was.
    """
    if isinstance(clips.sentences, WorldSentences):
        return ()
    composed = (query for query in clips.queries if query.kind == "composed")
    return (*clips.sentences.queries(), *composed)


class TextMeasures:
    """Compares a text tower with its targets, on held-out captions and one denying sentence per caption.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them; 1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to "WANTED and UNWANTED"
        text/idioms   mean cosine between sentences that deny nothing, in wordings never trained on, and their
                      affirmative paraphrases as the base embeds them
        text/order_if_kept   text/order while text/kept is at least KEPT, otherwise how many percent it is below that,
                             as a negative number: so patience, which watches this, sees a run
                             recover

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is
    the unwanted part of the next sentence. A tower that treats "not" like any other word scores
    near 0. One that merely drops the unwanted part is near 50: among the `controls` it is
    "drop/text/order", beside the frozen base's measures.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        teacher = learner.losses.inputs.of(Parts).storing_teacher
        _, loss = learner.losses.terms["distill"]
        assert isinstance(loss, DistillLoss), "distill and its teacher define the targets"
        self.sentences = [
            draw_sentence(clips, learner.config, row, f"validation {row}")
            for row in range(len(clips))
        ]
        self._captions = clips.captions("validation")
        parts = teacher.parts(self.sentences, self._captions)
        self._denies = np.array([bool(sentence.unwanted) for sentence in self.sentences])
        denying = list(compress(self.sentences, self._denies))
        if not denying:
            raise ConfigError(
                "No sentence made of these captions denies anything. Give other kinds a share, or more."
            )
        unwanted = [sentence.unwanted for sentence in denying]
        both = _joined(teacher, denying, unwanted)
        other = _joined(teacher, denying, [*unwanted[1:], *unwanted[:1]])
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._captions_before = given(parts.caption).cpu().numpy()  # (N, D)
        self._nearer = (other - both).cpu().numpy()  # (N, D) without idioms
        self._idioms = unseen_idioms(self._captions)
        self._paraphrases = teacher.embed([idiom.wanted for idiom in self._idioms]).cpu().numpy()
        self.controls = {f"base/{name}": value for name, value in self(teacher.encoder).items()}
        wanted, wants = (some.cpu().numpy()[self._denies] for some in (parts.wanted, ~parts.pure))
        if wants.any():
            self.controls[f"drop/{TEXT_ORDER}"] = _share_above(wanted[wants], self._nearer[wants])

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        kept = float((captions * self._captions_before).sum(axis=1).mean())
        order = _share_above(texts[self._denies], self._nearer)
        if_kept = order if kept >= KEPT else 100 * (kept - KEPT)
        measured = {
            TEXT_TARGET: float((texts * self._target).sum(axis=1).mean()),
            TEXT_KEPT: kept,
        }
        measured |= {TEXT_ORDER: order, TEXT_ORDER_IF_KEPT: if_kept}
        if self._idioms:
            idioms = encoder.encode_text([idiom.text for idiom in self._idioms])
            measured[TEXT_IDIOMS] = float((idioms * self._paraphrases).sum(axis=1).mean())
        return measured


def unseen_idioms(captions: Sequence[str]) -> list[Denial]:
    """Draw a sentence that denies nothing for each of the first captions that allow one, in unseen wordings."""
    denials = CaptionDenials(captions[:IDIOMS])
    drawn = (
        denials.draw(row, "idiom", random.Random(f"idiom {row}"), "unseen")
        for row in range(len(denials))
    )
    return [idiom for idiom in drawn if idiom]


def _joined(teacher: Teacher, sentences: Sequence[Denial], phrases: Sequence[str]) -> Tensor:
    """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
    pairs = zip(sentences, phrases, strict=True)
    return teacher.embed(
        [f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs]
    )


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return the percentage of texts with a positive dot product with their own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
