"""Clips to train on, with their captions. No other module knows where data comes from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from nt2vr.evaluation.queries import JudgedQueries
from nt2vr.media.frames import StoredClips
from nt2vr.models.encoder import Encoder, Frames, Vectors
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.world.drawn.clips import ClipFile, embed_frames, embedded_once
from nt2vr.world.drawn.shipped import embed_undrawn
from trainer.data.sentences import SentenceSource, captions_of


@dataclass(frozen=True, eq=False)
class Clips:
    """Clips with captions, or captions alone.

    Attributes:
        frames: (N, F, S, S, 3) uint8 RGB, on disk or undrawn; F is 0 for captions alone, and S
            where vectors stand for frames.
        path: identifies the frames, next to the cache of their embeddings; None caches nothing.
        vectors: (N, W), of the input that is read instead of frames; None for clips that are seen.
        ids: N names of clips with what their files contain; none where only captions are read.
        queries: of held-out clips of a dataset; none where `sentences` make them.
    """

    frames: Frames | StoredClips | ClipFile
    sentences: SentenceSource
    path: Path | None = None
    name: str = "unnamed"
    vectors: Vectors | None = None
    ids: Sequence[str] = ()
    queries: JudgedQueries = ()

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def num_captions(self) -> int:
        """Total number of captions; 0 if they are generated as they are drawn."""
        return sum(map(self.sentences.num_captions, range(len(self))))

    @property
    def has_videos(self) -> bool:
        """True unless only captions are read."""
        return bool(self.frames.shape[1])

    @property
    def unit(self) -> str:
        if self.has_videos:
            return "clips"
        return "captions"

    def captions(self, seed: str) -> list[str]:
        """Draw one caption per clip; equal seeds give equal captions."""
        return captions_of(self.sentences, seed)

    def all_captions(self, rows: Iterable[int]) -> list[str]:
        captions = []
        for row in rows:
            for number in range(self.sentences.num_captions(row)):
                captions.append(self.sentences.caption(row, Random(), number))
        return captions

    def embeddings(self, encoder: Encoder, progress: Progress = silent) -> Vectors:
        """Encode and pool all clips; vectors stay as they are.

        Returns:
            (N, D), L2-normalised, or whatever the encoder pools to.
        """
        if self.vectors is not None:
            return self.vectors
        with progress_bar(progress) as report:
            if isinstance(self.frames, ClipFile):
                return embed_undrawn(self.frames, encoder, report)
            clips = (self.frames[row] for row in range(len(self)))
            return embed_frames(
                encoder, tracked(clips, total=len(self), doing="embedding clips", progress=report)
            )

    def embedded_once(self, encoder: Encoder, progress: Progress = silent) -> Vectors:
        """Encode all clips, or read the cached embeddings of this visual tower."""
        if self.path is None:
            return self.embeddings(encoder, progress)
        return embedded_once(
            self.path, encoder, encoder.card, embed=lambda: self.embeddings(encoder, progress)
        )
