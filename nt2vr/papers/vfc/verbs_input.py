"""Changed captions and verb phrases, from the captions of a training to what the loss `vfc` reads.

    VerbChanges     changes the verbs of captions, by rules (verb_changes.py)
      ↓ or a file   read_verbs (verb_file.py)
    CaptionVerbs    one caption with its verb phrases and changed captions
      ↓ calibrated  (calibration.py)
    VerbTexts       those of all captions of a training, from which each step draws
      ↓
    DrawnVerbs      the texts of one batch
      ↓ embedded by the model in training
    EmbeddedVerbs   what the loss reads

`Verbs` is the input (trainer/inputs/base.py) that takes a training from one to the next.
"""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nt2vr.papers.vfc.calibration import Keys, calibrated, imbalances, round_robin
from nt2vr.papers.vfc.settings import VerbSettings
from nt2vr.papers.vfc.verb_changes import CaptionVerbs, VerbChanges
from nt2vr.papers.vfc.verb_file import read_verbs
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.settings import resolve_path
from trainer import distributed
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import MAX_PARSED, SentenceSource, fixed_key
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers

# A training shows what is logged below "trainer".
logger = logging.getLogger("trainer.vfc")

# Verb phrases on a card, those that captions have most often.
MAX_SHIFTS = 500

# Texts of captions, by the row of a clip and the caption.
TextsByCaption = dict[tuple[int, str], list[str]]


class GeneratedCaption(NamedTuple):
    """A changed caption, with the clip and the caption that it belongs to."""

    row: int
    caption: str
    text: str
    keys: Keys


@dataclass(frozen=True)
class VerbTexts:
    """Changed captions and verb phrases of a training's captions, by clip and caption.

    Attributes:
        changed: changed captions, those that calibration keeps.
        phrases: verb phrases of each caption; an empty list for those that have none.
        shifts: R / (B - 1) of the most frequent verb phrases (see calibration.py), for the card.
    """

    changed: TextsByCaption
    phrases: TextsByCaption
    shifts: Mapping[str, float]

    @classmethod
    def of(
        cls, source: SentenceSource, config: TrainConfig, progress: Progress = silent
    ) -> "VerbTexts":
        """Parse and change the captions of a training; log how many changed ones calibration keeps."""
        captions = _captions_of_clips(source, config.run.seed)
        verbs_of_clips = _verbs_of_clips(captions, config, progress)
        originals = [verbs.keys for verbs in chain.from_iterable(verbs_of_clips)]
        accepted = _calibrated(originals, _generated(verbs_of_clips), config)
        changed: TextsByCaption = defaultdict(list)
        for row, caption, text, _ in accepted:
            changed[row, caption].append(text)
        return cls(
            changed=changed,
            phrases=_phrases_by_caption(captions, verbs_of_clips),
            shifts=_shifts(originals, accepted, config.batches.batch_size),
        )

    def draw(self, row: int, caption: str, max_changed: int, rng: Random) -> tuple[list[str], str]:
        """Draw up to `max_changed` changed captions, and one verb phrase; "" if the caption has none."""
        changed = self.changed.get((row, caption), [])
        phrases = self.phrases.get((row, caption), [])
        drawn_changed = rng.sample(changed, min(max_changed, len(changed)))
        drawn_phrase = rng.choice(phrases) if phrases else ""
        return drawn_changed, drawn_phrase

    def by_clip(self) -> dict[int, list[str]]:
        """Return everything that `draw` may return for each clip, and the captions that it belongs to."""
        texts_of_clip: dict[int, list[str]] = defaultdict(list)
        for texts_of_caption in (self.changed, self.phrases):
            for (row, caption), texts in texts_of_caption.items():
                texts_of_clip[row] += [caption, *texts]
        return texts_of_clip


class DrawnVerbs(NamedTuple):
    """The texts of one batch, of b captions."""

    changed: list[list[str]]  # (b, up to K) changed captions
    phrases: list[str]  # b verb phrases; "" for captions that have none


@dataclass(frozen=True)
class EmbeddedVerbs:
    """Changed captions, up to K of each of B captions, and verb phrases. Embeddings are L2-normalised.

    Attributes:
        changed: (B, K, D) changed captions; meaningless where `is_changed` is False.
        is_changed: (B, K) bool, True for those that exist.
        phrase: (B, D) verb phrases; meaningless where `has_phrase` is False.
        has_phrase: (B,) bool, True for captions that have one.
    """

    changed: Tensor
    is_changed: Tensor
    phrase: Tensor
    has_phrase: Tensor


class Verbs(Input[DrawnVerbs, EmbeddedVerbs]):
    """The changed captions of a batch, and the verb phrases of its captions."""

    fixes_captions = True  # only captions that have been parsed

    def prepare(self, clips: Clips, config: TrainConfig, progress: Progress) -> None:
        """Change the verbs of the captions."""
        with progress_bar(progress) as reporter:
            self._texts = VerbTexts.of(clips.sentences, config, reporter)
        self._texts_of_clip = self._texts.by_clip()

    def known_texts(self, row: int) -> list[str]:
        """Return a clip's changed captions and verb phrases, with the captions that they belong to."""
        return self._texts_of_clip.get(row, [])

    def card_fields(self) -> dict[str, Any]:
        """Return the imbalances that the changed captions leave."""
        return {"shifts": self._texts.shifts}

    def draw(self, drawing: Drawing) -> DrawnVerbs:
        """Draw changed captions of each caption, and a verb phrase."""
        max_changed = drawing.config.section(VerbSettings).verb_negatives
        changed = []
        phrases = []
        for draw, caption in zip(drawing.own_draws, drawing.captions, strict=True):
            rng = drawing.rng(f"{draw.row} verbs")
            changed_texts, phrase = self._texts.draw(
                draw.row, caption.text, max_changed=max_changed, rng=rng
            )
            changed.append(changed_texts)
            phrases.append(phrase)
        return DrawnVerbs(changed, phrases)

    def texts(self, drawn: DrawnVerbs) -> list[str]:
        """Return the changed captions, then the phrases."""
        return [*chain.from_iterable(drawn.changed), *drawn.phrases]

    def embed(
        self, drawn: DrawnVerbs, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedVerbs:
        """Arrange the changed captions in one row per caption, and gather those of all processes."""
        num_changed = len(texts) - len(drawn.phrases)
        changed_texts, phrase = texts.tensor_split([num_changed])  # (n, D), (b, D)

        max_changed = towers.config.section(VerbSettings).verb_negatives
        counts = torch.tensor(list(map(len, drawn.changed)), device=towers.device)  # (b,)
        numbers = torch.arange(max_changed, device=towers.device)  # (K,)
        is_changed = numbers < counts[:, None]  # (b, K)
        empty = texts.new_zeros(*is_changed.shape, texts.shape[-1])  # (b, K, D)
        changed = empty.masked_scatter(is_changed[..., None], changed_texts)

        has_phrase = torch.tensor(list(map(bool, drawn.phrases)), device=towers.device)  # (b,)
        return EmbeddedVerbs(
            changed=distributed.gather(changed),
            is_changed=distributed.gather(is_changed),
            phrase=distributed.gather(phrase),
            has_phrase=distributed.gather(has_phrase),
        )


def _captions_of_clips(source: SentenceSource, seed: int) -> list[list[str]]:
    """Return the captions to parse of each clip, about `MAX_PARSED` in all; one where they are generated."""
    max_captions = math.ceil(MAX_PARSED / max(1, len(source)))
    captions = []
    for row in range(len(source)):
        rng = Random(fixed_key(seed, row))
        num_captions = min(max_captions, source.num_captions(row))
        if num_captions:
            captions.append([source.caption(row, rng, n) for n in range(num_captions)])
        else:
            captions.append([source.caption(row, rng)])
    return captions


def _verbs_of_clips(
    captions: Sequence[Sequence[str]], config: TrainConfig, progress: Progress
) -> list[list[CaptionVerbs]]:
    """Change the captions of each clip, or look them up in the file that the config names."""
    settings = config.section(VerbSettings)
    settings.check_files()
    if not settings.names_files:
        changes = VerbChanges(
            tracked(captions, total=len(captions), doing="parsing verbs", progress=progress)
        )
        source: Any = settings.verb_changes
        return [changes.captions(row, source, config.run.seed) for row in range(len(changes))]

    verbs_of = read_verbs(resolve_path(settings.verb_changes))
    verbs_of_clips = []
    for clip_captions in captions:
        clip_verbs = map(verbs_of.get, dict.fromkeys(clip_captions))
        verbs_of_clips.append(list(filter(None, clip_verbs)))
    return verbs_of_clips


def _generated(verbs_of_clips: Sequence[Sequence[CaptionVerbs]]) -> list[GeneratedCaption]:
    generated = []
    for row, clip_verbs in enumerate(verbs_of_clips):
        for verbs in clip_verbs:
            for text, keys in verbs.changed:
                generated.append(
                    GeneratedCaption(
                        row=row,
                        caption=verbs.caption,
                        text=text,
                        keys=keys,
                    )
                )
    return generated


def _phrases_by_caption(
    captions: Sequence[Sequence[str]], verbs_of_clips: Sequence[Sequence[CaptionVerbs]]
) -> TextsByCaption:
    """Return the verb phrases of all captions, none for those that the file does not have."""
    phrases: TextsByCaption = {}
    for row, clip_captions in enumerate(captions):
        for caption in clip_captions:
            phrases[row, caption] = []
        for verbs in verbs_of_clips[row]:
            phrases[row, verbs.caption] = list(verbs.phrases)
    return phrases


def _calibrated(
    originals: Sequence[Keys], generated: list[GeneratedCaption], config: TrainConfig
) -> list[GeneratedCaption]:
    """Return the changed captions to keep; all without calibration."""
    accepted = generated
    if config.section(VerbSettings).calibrate:
        order = round_robin([caption.row for caption in generated], config.run.seed)
        numbers = calibrated(originals, [caption.keys for caption in generated], order)
        accepted = [generated[number] for number in numbers]
    logger.info(
        "Kept %d of %d captions with another verb, for %d captions.",
        len(accepted),
        len(generated),
        len(originals),
    )
    return accepted


def _shifts(
    originals: Sequence[Keys], accepted: Sequence[GeneratedCaption], batch_size: int
) -> dict[str, float]:
    """Return R / (B - 1) of the verb phrases that captions have most often, the largest first."""
    counts = Counter(chain.from_iterable(originals))
    frequent = dict(counts.most_common(MAX_SHIFTS))
    ratios = imbalances(originals, [caption.keys for caption in accepted], batch_size)
    num_others = max(1, batch_size - 1)
    shifts = {}
    for key, ratio in ratios.items():
        if key in frequent:
            shifts[key] = round(ratio / num_others, 3)
    return shifts
