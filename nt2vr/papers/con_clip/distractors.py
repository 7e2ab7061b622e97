"""Distractors: videos that show what a negated caption describes, mined by the starting model (Eq. 4).

    caption                  a dog runs on the beach
    negated caption          a dog does not run on the beach
    subject, denied object   "a dog", "run", parsed by `subject_and_object`
    distractor               the video most like "a dog" and least like "run"

For each batch, `Distractors` draws a `DistractorRequest` of texts and candidate videos, `Miner` chooses
a distractor per caption, and the loss reads `EmbeddedDistractors`. In shapes, the batch has B captions
in all processes and b in this one; P videos are candidates, and D is the length of an embedding.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.evaluation.queries import Mask
from nt2vr.models.encoder import Vectors
from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.things import things
from nt2vr.negation.parse.phrases import phrases_of
from nt2vr.negation.parse.query import split_query
from trainer import distributed
from trainer.config import TrainConfig
from trainer.inputs import Drawing, EmbeddedBatch, Input, Negated, Preparation, Towers
from trainer.inputs.base import Numbers
from trainer.inputs.frozen_texts import FrozenTexts, TextEncoder, embed_once

# Negated captions, whose parsing takes about 2 ms.
CACHED = 100_000


class DistractorRequest(NamedTuple):
    """What to mine for this process's captions of a batch.

    Attributes:
        subjects: b texts, who acts; empty for captions that have no distractor.
        objects: b texts, what the negation denies; likewise.
        has_distractor: (b,), True for captions whose texts are known.
        caption_clips: (b,) rows of the captions' own videos, which are never their distractors.
        candidates: (P,) rows of the videos to choose among.
    """

    subjects: list[str]
    objects: list[str]
    has_distractor: Mask
    caption_clips: Numbers
    candidates: Numbers


class EmbeddedDistractors(NamedTuple):
    """Distractors of the captions of a batch.

    Attributes:
        video: (B, D), L2-normalised; meaningless where `has_distractor` is False.
        has_distractor: (B,) bool.
    """

    video: Tensor
    has_distractor: Tensor


class Distractors(Input[DistractorRequest, EmbeddedDistractors]):
    """A video per caption that shows what its negation describes.

    Captions that cannot be negated have none, nor have those whose subject or denied object is not
    clear.
    """

    uses = (Negated,)
    needs_frozen_videos = True

    def check(self, config: TrainConfig, loss: str) -> None:
        """Refuse a training on features, whose videos the starting model cannot compare with texts."""
        super().check(config, loss)
        video_input = config.video_input
        if video_input is not None:
            raise ConfigError(
                f"{loss} needs videos as the base sees them. Leave it out, or leave {video_input.kind} out."
            )

    def load(self, preparation: Preparation) -> None:
        """Load the starting model's text tower, and take over the embeddings of all videos."""
        assert preparation.videos is not None, "the visual tower is frozen, and the loss has videos"
        base = FrozenTexts.of_base(preparation.config, preparation.device)
        self.miner = Miner(base, preparation.videos, preparation.device)

    def draw(self, drawing: Drawing) -> DistractorRequest:
        """Parse the negated captions, and draw the candidates."""
        negated = drawing.of(Negated)
        subjects = []
        objects = []
        has_distractor = []
        for caption, text, is_negatable in zip(
            drawing.captions, negated.texts, negated.negatable, strict=True
        ):
            parts = subject_and_object(caption.text, text) if is_negatable else None
            has_distractor.append(parts is not None)
            subject, denied_object = parts or ("", "")
            subjects.append(subject)
            objects.append(denied_object)

        return DistractorRequest(
            subjects=subjects,
            objects=objects,
            has_distractor=np.array(has_distractor),
            caption_clips=drawing.rows[drawing.share],
            candidates=_draw_candidates(drawing),
        )

    def embed(
        self, drawn: DistractorRequest, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedDistractors:
        """Choose the distractors, and look up their embeddings."""
        video = towers.stored_videos(self.miner.mine(drawn))  # (b, D)
        has_distractor = torch.from_numpy(drawn.has_distractor).to(towers.device)  # (b,)
        return EmbeddedDistractors(distributed.gather(video), distributed.gather(has_distractor))


def _draw_candidates(drawing: Drawing) -> Numbers:
    """Draw the rows of the videos to choose among, in ascending order."""
    clips = np.random.default_rng(drawing.seed(2)).permutation(len(drawing.clips))
    # 0 means all.
    num_candidates = drawing.config.negation.pool_clips or len(clips)
    return np.sort(clips[:num_candidates])


class Miner:
    """Chooses distractors among the training videos, given as L2-normalised rows of length D."""

    def __init__(self, encoder: TextEncoder, videos: Vectors, device: str) -> None:
        self._encoder = encoder
        self._device = device
        self._videos = torch.from_numpy(videos).to(device)

    def mine(self, request: DistractorRequest) -> Tensor:
        """Return one training video per caption, by its row: (b,)."""
        # In one call, since the last bits of an embedding depend on the texts beside it.
        texts = [*request.subjects, *request.objects]
        subjects, objects = embed_once(self._encoder, texts, self._device).chunk(2)  # (b, D) each

        candidates = torch.from_numpy(request.candidates).to(self._device)  # (P,)
        caption_clips = torch.from_numpy(request.caption_clips).to(self._device)  # (b,)
        is_own_clip = candidates == caption_clips[:, None]  # (b, P)
        chosen = choose_distractors(
            self._videos[candidates],
            subjects=subjects,
            objects=objects,
            is_own_clip=is_own_clip,
        )  # (b,)
        return candidates[chosen]


def choose_distractors(
    videos: Tensor, subjects: Tensor, objects: Tensor, is_own_clip: Tensor
) -> Tensor:
    """Choose the video that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Args:
        videos: (P, D), L2-normalised, as the two that follow.
        subjects: (b, D), who acts in each caption.
        objects: (b, D), what each negation denies.
        is_own_clip: (b, P), whether a video is the caption's own.

    Returns:
        (b,) rows of `videos`; of equal ones, the first.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    scores = (subjects - objects) @ videos.T  # (b, P)
    return scores.masked_fill(is_own_clip, -torch.inf).argmax(dim=1)


@lru_cache(maxsize=CACHED)
def subject_and_object(caption: str, negated: str) -> tuple[str, str] | None:
    """Return who acts in a caption, or what it names first, and what its negation denies; None if either is unclear.

    "a dog runs on the beach" with "a dog does not run on the beach" gives "a dog" and "run". Who acts
    is called by a common word: a guy is "a man".
    """
    caption_phrases = phrases_of(caption)
    subjects = [action.subject.text for action in actions(caption_phrases)]
    subjects += [thing.text for thing in things(caption_phrases)]

    query = split_query(negated, phrases_of(negated))
    if not subjects or not query.unwanted:
        return None
    return subjects[0], query.unwanted[0]
