"""Validation after each epoch: the evaluation's measures for one model on held-out clips, and its checkpoint."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError, counted
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.negation.generate.denials import CaptionDenials, Denial
from nt2vr.progress import Progress, silent
from nt2vr.search.systems import System
from nt2vr.world import WORLD
from trainer.config import METRICS
from trainer.data.batches import draw_sentence
from trainer.data.clips import Clips
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss
from trainer.losses.embedded import given
from trainer.teacher import Teacher, TextEncoder

TRACKED = ("/MIR", "/delta_MIR", "/hard_pairs", "/auc")  # of denying sentences; enough to follow a run
CONTROLS = {"base": "plain", "drop": "drop", "boolean": "boolean"}  # metric prefix -> search strategy

KEPT = 0.985  # text/kept above which retrieval by affirmative captions stays as it is
IDIOMS = 256  # captions that idioms are made of


class Validator:
    """Measures the model and writes its checkpoints, see `Validates`; the base and its controls are measured once."""

    def __init__(self, learner: Learner, clips: Clips, progress: Progress, shifts: Mapping[str, float]) -> None:
        """Measure the base, if any, and its controls, on clips of the validation split; `shifts` are for the card."""
        self._learner, self._clips, self._shifts = learner, clips, shifts
        config, has_videos = learner.config, clips.has_videos
        self.held_out = counted(len(clips), f"held-out {clips.unit.removesuffix('s')}")
        self._videos: NDArray[np.float32] | None = None
        if has_videos and not config.trains_visual:
            self._videos = clips.embedded_once(as_scored(learner.frozen_encoder()), progress)
        self._text = (
            TextMeasures(learner, clips) if learner.teacher and not (has_videos and config.data == WORLD) else None
        )
        self.controls: dict[str, float] = {**self._text.controls} if self._text else {}
        if config.base_folder and has_videos and not config.features:
            self.controls |= control_metrics(config.base_folder, clips, learner.device, progress)
        if config.patience:
            self._refuse_unmeasured(config.monitor)

    def _refuse_unmeasured(self, monitor: str) -> None:
        if self._clips.has_videos and monitor.startswith("original/"):
            return
        if monitor not in (measured := self.measure()):
            others, unit = ", ".join(name for name in measured if name in METRICS), self._clips.unit
            raise ConfigError(f"{monitor} cannot be measured on these {unit}. Set monitor to {others}.")

    def measure(self) -> dict[str, float]:
        encoder, videos = self._learner.encoder(), self._videos
        if videos is not None and self._learner.head is self._learner.pooling:
            videos = encoder.pool(self._learner.as_frames(videos))
        measured = validate(encoder, self._clips, videos) if self._clips.has_videos else {}
        return measured | (self._text(encoder) if self._text else {})

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        learner, config = self._learner, self._learner.config
        card = Card(
            name=config.name,
            objective=" + ".join(config.losses),
            base=learner.base.name if learner.base and not config.features else "",
            frames=config.num_frames if self._clips.has_videos or not learner.base else learner.base.frames,
            pooling=learner.card.pooling,
            positions=learner.card.positions,
            features=config.features,
            losses=config.losses,
            data=f"{self._clips.name}, {config.num_clips} {self._clips.unit}",
            epoch=epoch,
            metrics=metrics,
            shifts=self._shifts,
        )
        write_checkpoint(
            folder,
            learner.model,
            config.model_cfg,
            learner.preprocess,
            card,
            tokenizer=learner.tokenizer,
            pooling=learner.pooling,
            words=learner.words,
            base=config.base_folder,
        )


def validate(encoder: Encoder, clips: Clips, videos: NDArray[np.float32] | None = None) -> dict[str, float]:
    """Search the clips with one caption per clip and with denying sentences; return measures of `summarise`.

    These are every "original/" one, and for denying sentences those TRACKED; for datasets only "negated/delta_MIR".

    Args:
        videos: (N, D), L2-normalised clip embeddings, or (N, F, D) as for `Benchmark.embed`; computed if None.
    """
    videos = clips.embeddings(as_scored(encoder)) if videos is None else videos
    return _measured(encoder, clips, videos, ["plain"])[0]


def control_metrics(base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent) -> dict[str, float]:
    """Measure the starting model as it is ("base/") and with the control strategies "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    videos = clips.embedded_once(as_scored(encoder), progress)
    measured = _measured(encoder, clips, videos, list(CONTROLS.values()), progress)
    return {
        f"{control}/{name}": value
        for control, metrics in zip(CONTROLS, measured, strict=True)
        for name, value in metrics.items()
        if control == "base" or not name.startswith("original/")  # captions score the same under every strategy
    }


def _measured(
    encoder: Encoder, clips: Clips, videos: NDArray[np.float32], strategies: Sequence[str], progress: Progress = silent
) -> list[dict[str, float]]:
    queries = _queries(clips)
    names = tuple(map(str, range(len(clips))))
    benchmark = Benchmark(clips.name or "clips", names, queries, lambda *_: videos, {})
    measured = ask(encoder, [System(encoder.name, strategy) for strategy in strategies], videos, benchmark, progress)
    return [_tracked(summarise(queries, values)) for values in measured]


def _tracked(metrics: dict[str, float]) -> dict[str, float]:
    """Drop ranks, and the recalls and first-page measures of denying sentences, which only the evaluation reports."""
    return {name: value for name, value in metrics.items() if name.startswith("original/R@") or name.endswith(TRACKED)}


@lru_cache(maxsize=1)  # a run validates on the same clips after every epoch
def _queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    return clips.sentences.queries()


class TextMeasures:
    """Compares a text tower with its targets, on held-out captions and one denying sentence per caption.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them; 1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to "WANTED and UNWANTED"
        text/idioms   mean cosine between sentences that deny nothing, in wordings never trained on, and their
                      affirmative paraphrases as the base embeds them
        text/order_if_kept   text/order while text/kept is at least KEPT, otherwise how many percent it is below that,
                             as a negative number: so patience, which watches this, sees a run recover

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is the unwanted part
    of the next sentence. A tower that treats "not" like any other word scores near 0, one that merely drops the
    unwanted part near 50. `controls` are the measures of the frozen base, "base/…", and of the latter,
    "drop/text/order", over the sentences that have a wanted part.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        """Embed targets, captions and comparison texts once, with the learner's teacher."""
        teacher, (_, loss) = learner.teacher, learner.losses.terms["distill"]
        assert teacher is not None and isinstance(loss, DistillLoss), "distill and its teacher define the targets"
        self.sentences = [draw_sentence(clips, learner.config, row, f"validation {row}") for row in range(len(clips))]
        self._captions = clips.captions("validation")
        parts = teacher.parts(self.sentences, self._captions)
        self._denies = np.array([bool(sentence.unwanted) for sentence in self.sentences])
        denying = list(compress(self.sentences, self._denies))
        if not denying:
            raise ConfigError("No sentence made of these captions denies anything. Give other kinds a share, or more.")
        unwanted = [sentence.unwanted for sentence in denying]
        both = _joined(teacher, denying, unwanted)
        other = _joined(teacher, denying, [*unwanted[1:], *unwanted[:1]])
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._captions_before = given(parts.caption).cpu().numpy()  # (N, D)
        self._nearer = (other - both).cpu().numpy()  # (N, D) without idioms
        self._idioms = unseen_idioms(self._captions)
        self._paraphrases = teacher.embed([idiom.wanted for idiom in self._idioms]).cpu().numpy()
        self.controls = {f"base/{name}": value for name, value in self(teacher.encoder).items()}
        wants = ~parts.pure.cpu().numpy()[self._denies]
        if wants.any():
            wanted = parts.wanted.cpu().numpy()[self._denies]
            self.controls["drop/text/order"] = _share_above(wanted[wants], self._nearer[wants])

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        kept = float((captions * self._captions_before).sum(axis=1).mean())
        order = _share_above(texts[self._denies], self._nearer)
        measured = {
            "text/target": float((texts * self._target).sum(axis=1).mean()),
            "text/kept": kept,
            "text/order": order,
            "text/order_if_kept": order if kept >= KEPT else 100 * (kept - KEPT),
        }
        if self._idioms:
            idioms = encoder.encode_text([idiom.text for idiom in self._idioms])
            measured["text/idioms"] = float((idioms * self._paraphrases).sum(axis=1).mean())
        return measured


def unseen_idioms(captions: Sequence[str]) -> list[Denial]:
    """Draw a sentence that denies nothing for each of the first captions that allow one, in unseen wordings."""
    denials = CaptionDenials(captions[:IDIOMS])
    drawn = (denials.draw(row, "idiom", random.Random(f"idiom {row}"), "unseen") for row in range(len(denials)))
    return [idiom for idiom in drawn if idiom]


def _joined(teacher: Teacher, sentences: Sequence[Denial], phrases: Sequence[str]) -> Tensor:
    """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
    pairs = zip(sentences, phrases, strict=True)
    return teacher.embed([f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs])


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return the percentage of texts with a positive dot product with their own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
