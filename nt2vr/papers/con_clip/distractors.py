"""Distractors: videos that show what a negated caption describes, mined by the starting model."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.content import things
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import split_query
from nt2vr.negation.parse.tagger import load_tagger
from trainer import distributed
from trainer.config import TrainConfig
from trainer.inputs import Drawing, EmbeddedBatch, Input, Negated, Preparation, Towers
from trainer.inputs.frozen_texts import FrozenTexts, TextEncoder, embed_once

CACHED = 100_000  # negated captions, whose parsing takes about 2 ms


class DistractorRequest(NamedTuple):
    """What to mine for this process's share of a batch, of b captions."""

    subjects: list[str]  # b texts; empty for captions that have no distractor
    objects: list[str]  # b texts that the negations deny; likewise
    has_distractor: NDArray[np.bool_]  # (b,)
    caption_clips: NDArray[
        np.int64
    ]  # (b,) the captions' own clips, which are never their distractors
    candidates: NDArray[np.int64]  # (P,) rows of the clips to choose among


class EmbeddedDistractors(NamedTuple):
    video: Tensor  # (B, D), L2-normalised distractors of the captions; meaningless where `has_distractor` is False
    has_distractor: Tensor  # (B,) bool


class Distractors(Input[DistractorRequest, EmbeddedDistractors]):
    """A video per caption that shows what its negation describes.

    Captions that cannot be negated have none, nor have those whose subject or denied object is not
    clear.
    """

    uses = (Negated,)
    needs_frozen_videos = True

    def check(self, config: TrainConfig, loss: str) -> None:
        """Refuse what leaves the starting model no clips to choose among."""
        super().check(config, loss)
        video_input = config.video_input
        if video_input is not None:
            raise ConfigError(
                f"{loss} needs videos as the base sees them. Leave it out, or leave {video_input.kind} out."
            )

    def load(self, preparation: Preparation) -> None:
        """Load the starting model's text tower, and take over all clips."""
        assert preparation.videos is not None, "the visual tower is frozen, and the loss has videos"
        base = FrozenTexts.of_base(preparation.config, preparation.device)
        self.miner = Miner(base, preparation.videos, preparation.device)

    def draw(self, drawing: Drawing) -> DistractorRequest:
        """Draw the clips to choose among, and parse the negated captions."""
        negated = drawing.of(Negated)
        parts: list[tuple[str, str] | None] = []
        for caption, text, is_negatable in zip(
            drawing.captions, negated.texts, negated.negatable, strict=True
        ):
            parts.append(subject_and_object(caption.text, text) if is_negatable else None)

        clips = np.random.default_rng(drawing.seed(2)).permutation(len(drawing.clips))
        candidates = clips[: drawing.config.negation.pool_clips or None]
        return DistractorRequest(
            subjects=[part[0] if part else "" for part in parts],
            objects=[part[1] if part else "" for part in parts],
            has_distractor=np.array([part is not None for part in parts]),
            caption_clips=drawing.rows[drawing.share],
            candidates=np.sort(candidates),
        )

    def embed(
        self, drawn: DistractorRequest, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedDistractors:
        """Choose the distractors, and look up their embeddings."""
        video = towers.stored_videos(self.miner.mine(drawn))
        has_distractor = torch.from_numpy(drawn.has_distractor).to(towers.device)
        return EmbeddedDistractors(distributed.gather(video), distributed.gather(has_distractor))


class Miner:
    """Finds distractors among all training clips, (N, D), L2-normalised."""

    def __init__(self, encoder: TextEncoder, videos: NDArray[np.float32], device: str) -> None:
        self._encoder = encoder
        self._device = device
        self._videos = torch.from_numpy(videos).to(device)

    def mine(self, request: DistractorRequest) -> Tensor:
        """Return one clip per caption, by its row: (b,)."""
        texts = [*request.subjects, *request.objects]  # in one call, on which the last bits depend
        subjects, objects = embed_once(self._encoder, texts, self._device).chunk(2)  # (b, D) each
        candidates = torch.from_numpy(request.candidates).to(self._device)
        caption_clips = torch.from_numpy(request.caption_clips).to(self._device)
        is_own_clip = candidates == caption_clips[:, None]  # (b, P)
        return candidates[
            choose_distractors(self._videos[candidates], subjects, objects, is_own_clip)
        ]


def choose_distractors(
    videos: Tensor, subjects: Tensor, objects: Tensor, is_own_clip: Tensor
) -> Tensor:
    """Choose the clip that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Of (P, D) videos, (b, D) subjects and objects, all L2-normalised, and (b, P) whether a video is
    the caption's own, return (b,) rows of videos; of equal ones, the first.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    scores = (subjects - objects) @ videos.T  # (b, P)
    return scores.masked_fill(is_own_clip, -torch.inf).argmax(dim=1)


@lru_cache(maxsize=CACHED)
def subject_and_object(caption: str, negated: str) -> tuple[str, str] | None:
    """Return who acts in a caption, or what it names first, and what its negation denies; None if either is unclear.

    "a guy flies a kite on the beach", "a guy does not fly a kite on the beach": "a man", "fly a
    kite".
    """
    phrases = Phrases(load_tagger().tag(caption))
    named = [
        *(acting.subject.text for acting in actions(phrases)),
        *(thing.text for thing in things(phrases)),
    ]
    query = split_query(negated, Phrases(load_tagger().tag(negated)))
    return (named[0], query.unwanted[0]) if named and query.unwanted else None
