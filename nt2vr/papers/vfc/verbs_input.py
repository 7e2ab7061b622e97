"""Captions with another verb, and verb phrases."""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nt2vr.papers.vfc.calibration import Keys, calibrated, imbalances, in_turns
from nt2vr.papers.vfc.settings import VerbSettings
from nt2vr.papers.vfc.verb_changes import VerbChanges, VerbLine
from nt2vr.papers.vfc.verb_file import read_verbs
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.settings import resolve_path
from trainer import distributed
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import MAX_PARSED, SentenceSource, fixed_key
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers

logger = logging.getLogger("trainer.vfc")  # a training shows what is logged below "trainer"

MOST_SHIFTS = 500  # verb phrases on a card, those that captions have most often


@dataclass(frozen=True)
class VerbTexts:
    """Changed captions and verb phrases, by clip and caption; `shifts` as of `shifts` on a card."""

    changed: Mapping[tuple[int, str], list[str]]
    phrases: Mapping[tuple[int, str], list[str]]
    shifts: Mapping[str, float]

    @classmethod
    def of(
        cls, source: SentenceSource, config: TrainConfig, progress: Progress = silent
    ) -> "VerbTexts":
        """Make them of all captions or, where these are drawn, of one per clip; log how many calibration leaves."""
        most, captions = -(-MAX_PARSED // max(1, len(source))), list[list[str]]()
        for row in range(len(source)):
            rng = random.Random(fixed_key(config.run.seed, row))
            every = [source.caption(row, rng, number) for number in range(source.num_captions(row))]
            captions.append(every[:most] or [source.caption(row, rng)])
        lines = [
            (row, line)
            for row, some in enumerate(_lines(config, captions, progress))
            for line in some
        ]
        made, shifts = _calibrated(lines, config)
        changed: dict[tuple[int, str], list[str]] = defaultdict(list)
        for row, caption, text, _ in made:
            changed[row, caption].append(text)
        phrases = {(row, text): list[str]() for row, some in enumerate(captions) for text in some}
        return cls(
            changed,
            phrases | {(row, line.caption): list(line.phrases) for row, line in lines},
            shifts,
        )

    def draw(self, row: int, caption: str, most: int, rng: random.Random) -> tuple[list[str], str]:
        """Draw up to `most` changed captions of a caption, and one of its verb phrases; "" if it has none."""
        changed, phrases = (
            self.changed.get((row, caption), []),
            self.phrases.get((row, caption), []),
        )
        return rng.sample(changed, min(most, len(changed))), rng.choice(phrases) if phrases else ""

    def by_clip(self) -> dict[int, list[str]]:
        """Return everything that `draw` may return for each clip, and the captions that it belongs to."""
        texts_of: dict[int, list[str]] = defaultdict(list)
        for stored in (self.changed, self.phrases):
            for (row, caption), texts in stored.items():
                texts_of[row] += [caption, *texts]
        return texts_of


class VerbBatch(NamedTuple):
    changed: list[list[str]]  # (b, up to K) the same captions with another verb
    phrases: list[str]  # b verb phrases of the captions; empty texts for captions that have none


@dataclass(frozen=True)
class EmbeddedVerbs:
    """Captions with another verb, and verb phrases; row i belongs to caption i."""

    changed: Tensor  # (B, K, D), L2-normalised captions with another verb; meaningless where `is_changed` is False
    is_changed: Tensor  # (B, K) bool
    phrase: Tensor  # (B, D), L2-normalised verb phrases of the captions; meaningless where `has_phrase` is False
    has_phrase: Tensor  # (B,) bool


class Verbs(Input[VerbBatch, EmbeddedVerbs]):
    """The batch's captions with another verb, and their verb phrases."""

    fixes_captions = True  # only those that have been parsed

    def prepare(self, clips: Clips, config: TrainConfig, progress: Progress) -> None:
        """Change the verbs of the captions."""
        with progress_bar(progress) as shown:
            self._verbs = VerbTexts.of(clips.sentences, config, shown)
        self._by_clip = self._verbs.by_clip()

    def known_texts(self, row: int) -> list[str]:
        """Return a clip's changed captions and verb phrases, with the captions that they belong to."""
        return self._by_clip.get(row, [])

    def card_fields(self) -> dict[str, Any]:
        """Return the imbalances that the changed captions leave."""
        return {"shifts": self._verbs.shifts}

    def draw(self, drawing: Drawing) -> VerbBatch:
        """Draw changed captions of each caption, and a phrase."""
        drawn = VerbBatch([], [])
        for draw, caption in zip(drawing.own_draws, drawing.captions, strict=True):
            rng = drawing.rng(f"{draw.row} verbs")
            most = drawing.config.section(VerbSettings).verb_negatives
            changed, phrase = self._verbs.draw(draw.row, caption.text, most, rng)
            drawn.changed.append(changed)
            drawn.phrases.append(phrase)
        return drawn

    def texts(self, drawn: VerbBatch) -> list[str]:
        """Return the changed captions, then the phrases."""
        return [*chain.from_iterable(drawn.changed), *drawn.phrases]

    def embed(
        self, drawn: VerbBatch, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedVerbs:
        """Arrange the changed captions of all captions, one row per caption, and gather them with a phrase of each."""
        changed, phrase = texts.tensor_split([len(texts) - len(drawn.phrases)])
        shape = (len(drawn.changed), towers.config.section(VerbSettings).verb_negatives)
        is_changed = torch.zeros(shape, dtype=torch.bool, device=towers.device)
        for row, captions in enumerate(drawn.changed):
            is_changed[row, : len(captions)] = True
        rows = changed.new_zeros(*shape, changed.shape[-1])
        rows = rows.masked_scatter(is_changed[..., None], changed)
        has_phrase = torch.tensor([bool(text) for text in drawn.phrases], device=towers.device)
        return EmbeddedVerbs(*map(distributed.gather, (rows, is_changed, phrase, has_phrase)))


def _calibrated(
    lines: Sequence[tuple[int, VerbLine]], config: TrainConfig
) -> tuple[list[tuple[int, str, str, Keys]], dict[str, float]]:
    """Return the changed captions to keep, with clip, caption and keys, and the shifts that they leave."""
    made = [(row, line.caption, text, keys) for row, line in lines for text, keys in line.changed]
    originals, generated = [line.keys for _, line in lines], [keys for *_, keys in made]
    kept = list(range(len(made)))
    if config.section(VerbSettings).calibrate:
        kept = calibrated(
            originals, generated, in_turns([row for row, *_ in made], config.run.seed)
        )
    logger.info(
        "Kept %d of %d captions with another verb, for %d captions.",
        len(kept),
        len(made),
        len(lines),
    )
    often = dict(Counter(chain.from_iterable(originals)).most_common(MOST_SHIFTS))
    left = imbalances(originals, [generated[number] for number in kept], config.batches.batch_size)
    others = max(1, config.batches.batch_size - 1)
    shifts = {key: round(value / others, 3) for key, value in left.items() if key in often}
    return list(map(made.__getitem__, kept)), shifts


def _lines(
    config: TrainConfig, captions: Sequence[Sequence[str]], progress: Progress
) -> list[list[VerbLine]]:
    settings = config.section(VerbSettings)
    settings.check_files()
    if settings.names_files:
        known = read_verbs(resolve_path(settings.verb_changes))
        return [
            [known[caption] for caption in dict.fromkeys(some) if caption in known]
            for some in captions
        ]
    changes = VerbChanges(tracked(captions, len(captions), "parsing verbs", progress))
    rule: Any = settings.verb_changes
    return [changes.lines(row, rule, config.run.seed) for row in range(len(changes))]
