"""How well denying sentences are understood: measures for any way of scoring videos, and controls beside them.

`drop` searches for the wanted part alone: what a system gets that merely ignores what is denied. `boolean` subtracts
the unwanted part's score, told both parts: what the frozen embeddings could give.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.encoder import Encoder
from nt2vr.world.negation import Kind, Sentence
from trainer.clips import ClipSet
from trainer.ranks import retrieval_metrics

ALPHA = 0.5  # of `boolean`
Scores = NDArray[np.float32]  # (Q, V)
Scorer = Callable[[Sequence[Sentence]], Scores]


@dataclass(frozen=True)
class Queries:
    """Sentences of one kind; row i belongs to sentence i.

    Attributes:
        sentences: Q of them.
        fitting: (Q, V) whether a video shows the wanted and not the unwanted.
        both: (Q, V) whether it shows the wanted and the unwanted too.
    """

    sentences: list[Sentence]
    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]


def draw_queries(clips: ClipSet, kind: Kind) -> Queries | None:
    """Draw one sentence a clip, and keep those that some clip fits while another shows both; None if none is left.

    Of "not B" both means B; of negated captions all are kept, since it is their own clip that they are wrong for.
    """
    if clips.sentences is None:
        return None
    # the captions that `ClipSet.captions("validation")` tells are those that are negated
    drawn = [clips.sentences.draw(row, kind, random.Random(f"validation {row}")) for row in range(len(clips))]
    drawn = [sentence for sentence in drawn if sentence.kind == kind]  # a clip without people and animals: no deeds
    found = [
        (sentence, clips.sentences.fitting(sentence), clips.sentences.showing_both(sentence)) for sentence in drawn
    ]
    kept = [(s, fits, both) for s, fits, both in found if kind == "negated" or (fits.any() and both.any())]
    if not kept:
        return None
    sentences, fitting, both = zip(*kept, strict=True)
    return Queries(list(sentences), np.stack(fitting), np.stack(both))


def first_ranks(scores: Scores, fitting: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rank of the best video that fits, 1 is best: videos that do not fit are counted, ties against it."""
    best = np.where(fitting, scores, -np.inf).max(axis=1, keepdims=True)
    ranks: NDArray[np.int64] = 1 + (~fitting & ~(scores < best)).sum(axis=1)
    return ranks


def ordered_share(scores: Scores, right: NDArray[np.bool_], wrong: NDArray[np.bool_], tie: float) -> float:
    """Share of the pairs (right, wrong) of videos that are in order, a mean over the sentences.

    Args:
        scores: (Q, V), higher is better.
        right: (Q, V), at least one in each row.
        wrong: (Q, V), likewise.
        tie: what an equal pair counts.
    """
    shares = []
    for row, rights, wrongs in zip(scores, right, wrong, strict=True):
        gaps = row[rights][:, None] - row[wrongs]
        shares.append(((gaps > 0) + tie * (gaps == 0)).mean())
    return float(np.mean(shares))


def denial_metrics(clips: ClipSet, score: Scorer, captions: Scores) -> dict[str, float]:
    """Measure a way of scoring; what the clips have no sentences for is left out.

    Args:
        clips: what is searched.
        score: gives sentences their scores for each of the clips.
        captions: (V, V) scores of the captions `clips.captions("validation")`.

    Returns:
        "composed/MIR", "without/MIR" (0 to 1, of the first clip that fits), "composed/hard_pairs",
        "without/hard_pairs" (percent of pairs in order; ties are not), "not/auc" (0 to 1; ties are half in order),
        "negated/delta_MIR" (MIR of captions minus that of their negations, for their own clips).
    """
    metrics: dict[str, float] = {}
    kinds: tuple[Kind, ...] = ("composed", "without")
    for kind in kinds:
        if queries := draw_queries(clips, kind):
            scores = score(queries.sentences)
            metrics[f"{kind}/MIR"] = float((1 / first_ranks(scores, queries.fitting)).mean())
            metrics[f"{kind}/hard_pairs"] = 100 * ordered_share(scores, queries.fitting, queries.both, tie=0)
    if queries := draw_queries(clips, "not"):
        metrics["not/auc"] = ordered_share(score(queries.sentences), queries.fitting, queries.both, tie=0.5)
    if queries := draw_queries(clips, "negated"):
        own = np.arange(len(clips))
        before, after = (retrieval_metrics(some, own)["MIR"] for some in (captions, score(queries.sentences)))
        metrics["negated/delta_MIR"] = before - after
    return metrics


def plain(encoder: Encoder, videos: Scores) -> Scorer:
    """Search for the whole sentence."""
    return lambda sentences: encoder.encode_text([sentence.text for sentence in sentences]) @ videos.T


def drop(encoder: Encoder, videos: Scores) -> Scorer:
    """Search for the wanted part alone; for nothing, where there is none."""
    return lambda sentences: _wanted(encoder, videos, sentences)


def boolean(encoder: Encoder, videos: Scores, alpha: float = ALPHA) -> Scorer:
    """Search for the wanted part, and subtract alpha times the score of the unwanted (Wu & Ngo, ACM MM 2020)."""

    def score(sentences: Sequence[Sentence]) -> Scores:
        unwanted = encoder.encode_text([sentence.unwanted for sentence in sentences]) @ videos.T
        return np.asarray(_wanted(encoder, videos, sentences) - alpha * unwanted, np.float32)

    return score


def _wanted(encoder: Encoder, videos: Scores, sentences: Sequence[Sentence]) -> Scores:
    scores = encoder.encode_text([sentence.wanted for sentence in sentences]) @ videos.T
    scores[[not sentence.wanted for sentence in sentences]] = 0
    return scores
