"""Covr triplets and their file: reference, target, and a text for the difference."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from nt2vr.negation.generate.query_sets import CaptionedVideos
from nt2vr.negation.generate.triplets.mining import Embed, NearCaptions, VideoPair, mine, words_of
from nt2vr.progress import Progress, silent, tracked

# Writes the difference of a video of `pair.other` from one of `pair.one`; empty if no text fits
WriteText = Callable[[NearCaptions, random.Random], str]


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


def write_triplets(
    pairs: list[VideoPair], write: WriteText, seed: int, path: Path, progress: Progress = silent
) -> dict[str, float]:
    """Write those that get a text as JSON lines, and return their statistics; finished lines stay if `write` fails."""
    rng, found = random.Random(seed), []
    with path.open("w", encoding="utf-8") as file:
        for pair in tracked(pairs, len(pairs), "writing texts", progress):
            if text := write(pair.captions, rng):
                captions = (" ".join(pair.captions.one), " ".join(pair.captions.other))
                found.append(Triplet(pair.reference, pair.target, text, captions))
                file.write(f"{json.dumps(asdict(found[-1]), ensure_ascii=False)}\n")
                file.flush()
    return statistics(found)


def statistics(found: Sequence[Triplet]) -> dict[str, float]:
    """Count triplets as Table 1 of CoVR's paper does, and those that share a target."""
    videos = {video for each in found for video in (each.reference, each.target)}
    targets = {each.target for each in found}
    return {
        "triplets": len(found),
        "videos": len(videos),
        "targets": len(targets),
        "triplets per target": round(len(found) / max(1, len(targets)), 1),
        "unique words": len({word for each in found for word in words_of(each.text)}),
        "mean characters": round(sum(len(each.text) for each in found) / max(1, len(found)), 1),
    }
