"""Covr triplets and their file: reference, target, and a text for the difference."""

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from nt2vr.progress import Progress, silent
from nt2vr.querygen.query_sets import CaptionedVideos
from nt2vr.querygen.triplets.mining import Embed, NearCaptions, VideoPair, mine


class WritesTexts(Protocol):
    """Writes modification texts, by rules or by a language model."""

    def write(self, pair: NearCaptions, rng: random.Random) -> str:
        """Write the difference of a video of `pair.other` from one of `pair.one`; empty if no text fits."""


@dataclass(frozen=True)
class Triplet:
    """A reference video, a text, and the target video that it asks for."""

    reference: str
    target: str
    text: str
    captions: tuple[str, str]


def mine_pairs(videos: CaptionedVideos, embed: Embed, limit: int, seed: int) -> list[VideoPair]:
    """Mine pairs of videos whose captions are one word apart; beyond the limit, a random choice of them."""
    captions = [(video_id, caption) for video_id, texts in videos.captions.items() for caption in texts]
    pairs = mine(captions, embed)
    return random.Random(seed).sample(pairs, limit) if len(pairs) > limit else pairs


def triplets(pairs: list[VideoPair], writer: WritesTexts, seed: int, progress: Progress = silent) -> Iterator[Triplet]:
    """Yield the triplets of pairs; those without a text are left out."""
    rng = random.Random(seed)
    for done, pair in enumerate(pairs):
        progress(done, len(pairs), "writing texts")
        if text := writer.write(pair.captions, rng):
            captions = (" ".join(pair.captions.one), " ".join(pair.captions.other))
            yield Triplet(pair.reference, pair.target, text, captions)
    progress(len(pairs), len(pairs), "writing texts")


def write_triplets(
    pairs: list[VideoPair], writer: WritesTexts, seed: int, path: Path, progress: Progress = silent
) -> int:
    """Write triplets as JSON lines and return their number; finished lines stay if the writer fails."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for triplet in triplets(pairs, writer, seed, progress):
            count += 1
            file.write(f"{json.dumps(asdict(triplet), ensure_ascii=False)}\n")
            file.flush()
    return count
