"""Explanation of a clip's score under a system: by frame, part of the query, word left out, and backwards.

The parts of a system that searches with parts add up to the score exactly; frames and words do not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.embed_query import embed_texts, parts_of, texts_of, with_words
from nt2vr.search.embedded_gallery import Excerpt
from nt2vr.search.exclusion import Exclusion, focused, scores_of
from nt2vr.search.strategies import STRATEGIES, Parts, Role, System, Vector, searched

MAX_WORDS = 40  # of a query that are left out one by one
SAME = 1e-3  # largest difference between two computations of one vector, or poolings of one clip
WHOLE_QUERIES = "This system knows whole queries only, so words and parts cannot be taken apart."
NOT_BY_TEXT = "Words and parts are not taken apart: the search used a picture, or the model has been replaced since."
EXCERPT = "Words and parts are not taken apart: the answer is from another gallery. Open that one."
NO_FRAMES = "This model takes whole clips, so it has no scores of single frames."
NOT_SEARCHED = "This system has no score for this clip."


@dataclass(frozen=True)
class Part:
    """One part of the query."""

    role: Role  # "anchor" is the mean of the model's neutral texts
    text: str
    similarity: float  # the part's score alone, in cosine units
    weight: float | None = (
        None  # factor of the part in the score; None if the system does not use it
    )
    above: float = 0.0  # similarity from which it counts

    @property
    def contribution(self) -> float | None:
        return None if self.weight is None else self.weight * (self.similarity - self.above)


@dataclass(frozen=True)
class Word:
    """One word of a part."""

    role: Role
    place: int  # number of the unwanted part, otherwise 0
    text: str
    share: (
        float | None
    )  # the score minus the score without the word; None if nothing is left to search for


@dataclass(frozen=True)
class Why:
    """One clip's score under one system."""

    system: System
    score: float | None
    # (F,), the scores of its frames. Their mean is not the score: the mean of the frames'
    # embeddings is scaled to length 1, and may be weighted, or pooled in their order.
    frames: tuple[float, ...] = ()
    parts: tuple[Part, ...] = ()  # those with a weight add up to the score
    words: tuple[
        Word, ...
    ] = ()  # in the order of the texts; they act together, so that their shares do not add up
    num_left: int = 0  # words that were not left out
    notice: str = ""


def explain(
    answer: Answer,
    video_id: str,
    encoder_of: Callable[[str], Encoder],
    columns: Iterable[int] | None = None,
) -> tuple[Why, ...]:
    """Explain a clip's scores in an answer: those in the columns of these numbers, by default in all."""
    chosen = range(len(answer.rankings)) if columns is None else columns
    rankings = [answer.rankings[column] for column in chosen]
    return tuple(
        _explain(ranking, answer.query, video_id, encoder_of(ranking.system.model))
        for ranking in rankings
    )


def _explain(ranking: Ranking, query: Query, video_id: str, encoder: Encoder) -> Why:
    gallery, vector = ranking.gallery, ranking.vector
    row = gallery.row_of.get(video_id) if gallery else None
    if gallery is None or vector is None or row is None:
        return Why(ranking.system, None, notice=NOT_SEARCHED)
    clip = gallery.clips(ranking.exclusion, [row])[0]
    frames = scores_of(gallery.frame_embeddings(row), vector, ranking.exclusion)
    score = float(scores_of(clip, vector, ranking.exclusion))
    notice = "" if encoder.capabilities.scores_frames else NO_FRAMES
    why = Why(
        ranking.system, score, tuple(frames.tolist()) if len(frames) > 1 else (), notice=notice
    )
    if encoder.capabilities.given_queries_only:
        return replace(why, notice=WHOLE_QUERIES)
    if encoder.embed_dim != len(vector):
        return replace(why, notice=NOT_BY_TEXT)
    # What counts as similar depends on all clips of the gallery.
    if isinstance(gallery, Excerpt):
        return replace(why, notice=EXCERPT)
    strategy = ranking.system.strategy
    asked = with_words(query, ranking.read_as) if ranking.read_as else query
    variants = list(_variants(asked, STRATEGIES[strategy].uses))
    queries = [asked, *(rest for *_, rest in variants[:MAX_WORDS])]
    texts = list(dict.fromkeys(text for each in queries for text in texts_of(each)))
    known = dict(zip(texts, embed_texts(encoder, texts), strict=True))  # in one batch
    whole, *others = (
        replace(parts_of(encoder, each, known), strength=ranking.strength) for each in queries
    )
    found, exclusion = searched(strategy, whole, gallery.embeddings)
    again, before = (
        ([] if found is None else _rows(found, exclusion)),
        _rows(vector, ranking.exclusion),
    )
    if (
        found is None
        or len(again) != len(before)
        or not np.allclose(again, before, rtol=0, atol=SAME)
    ):
        return replace(why, notice=NOT_BY_TEXT)
    words = []
    for (role, place, text, _), parts in zip(variants, others, strict=False):
        without, taken = searched(strategy, parts, gallery.embeddings)
        left = (
            None
            if without is None
            else float(scores_of(gallery.clips(taken, [row])[0], without, taken))
        )
        words.append(Word(role, place, text, None if left is None else score - left))
    shown = tuple(_parts(asked, whole, strategy, found, exclusion, clip))
    return replace(why, parts=shown, words=tuple(words), num_left=len(variants) - len(words))


def _variants(asked: Query, roles: Sequence[Role]) -> Iterator[tuple[Role, int, str, Query]]:
    """Leave out each word of the texts with these roles: role, place, word, and the query without it."""
    texts: list[tuple[Role, int, str]] = [
        ("sentence", 0, asked.text),
        ("wanted", 0, " ".join(asked.wanted)),
    ]
    texts += [("unwanted", place, text) for place, text in enumerate(asked.unwanted)]
    for role, place, text in texts:
        words = text.split() if role in roles else []
        for number, word in enumerate(words):
            rest = " ".join(words[:number] + words[number + 1 :])
            if role == "sentence":
                yield role, place, word, replace(asked, text=rest)
            elif role == "wanted":
                yield role, place, word, replace(asked, wanted=(rest,))
            else:
                others = (
                    *asked.unwanted[:place],
                    *filter(None, (rest,)),
                    *asked.unwanted[place + 1 :],
                )
                yield role, place, word, replace(asked, unwanted=others)


def _rows(vector: Vector, exclusion: Exclusion | None) -> list[Vector]:
    """List the vectors that clips are compared with."""
    if exclusion is None:
        return [vector]
    return [vector, *exclusion.unwanted, *(() if exclusion.focus is None else (exclusion.focus,))]


def _parts(
    asked: Query,
    embedded: Parts,
    strategy: str,
    whole: Vector,
    exclusion: Exclusion | None,
    clip: Vector,
) -> Iterator[Part]:
    """Return the parts' similarities, and the weights with which the system's parts make up its score.

    Of an exclusion, the wanted part has 1, the unwanted part that exceeds tau most -alpha, and the
    others 0.
    """
    named: list[tuple[Role, str, Vector | None]] = [
        ("sentence", asked.text, embedded.sentence),
        ("wanted", " ".join(asked.wanted), embedded.wanted),
        *(
            ("unwanted", text, vector)
            for text, vector in zip(asked.unwanted, embedded.unwanted, strict=True)
        ),
        ("anchor", "", embedded.anchor if asked.unwanted else None),
    ]
    parts = [(role, text, vector) for role, text, vector in named if vector is not None]
    weights, above = dict[int, float](), dict[int, float]()
    if exclusion is not None and len(exclusion.unwanted):
        excess = exclusion.excess(clip @ exclusion.unwanted.T)
        unwanted = [place for place, (role, *_) in enumerate(parts) if role == "unwanted"]
        above = dict(
            zip(
                unwanted,
                np.broadcast_to(np.asarray(exclusion.tau), excess.shape).tolist(),
                strict=True,
            )
        )
        weights = {
            place: float(role == "wanted")
            for place, (role, *_) in enumerate(parts)
            if "wanted" in role
        }
        if excess.any():
            weights[unwanted[int(excess.argmax())]] = -exclusion.weight
    else:
        used = [
            place for place, (role, *_) in enumerate(parts) if role in STRATEGIES[strategy].uses
        ]
        basis = np.stack([parts[place][2] for place in used]).astype(np.float64)
        shares = np.linalg.lstsq(basis.T, whole.astype(np.float64), rcond=None)[0]
        weights = dict(zip(used, shares.tolist(), strict=True))
    for place, (role, text, vector) in enumerate(parts):
        if role != "anchor" or place in weights:
            yield Part(role, text, float(clip @ vector), weights.get(place), above.get(place, 0.0))


def scored_backwards(
    answer: Answer, video_id: str, encoder_of: Callable[[str], Encoder]
) -> tuple[float | None, ...]:
    """Score a clip with its frames in reverse order; None without a score, or if the model has been replaced since."""

    def scored(ranking: Ranking) -> float | None:
        gallery, vector, exclusion = ranking.gallery, ranking.vector, ranking.exclusion
        row = gallery.row_of.get(video_id) if gallery else None
        if gallery is None or vector is None or row is None:
            return None
        frames = gallery.all_frames[gallery.places[[row]]]  # (1, F, D)
        backwards = np.ascontiguousarray(frames[:, ::-1])
        if exclusion is not None and exclusion.focus is not None:
            return round(
                float(scores_of(focused(backwards, exclusion.focus)[0], vector, exclusion)), 4
            )
        encoder = encoder_of(ranking.system.model)
        lengths = encoder.embed_dim, encoder.stored_shape[-1]
        if lengths != (len(vector), frames.shape[-1]):
            return None
        if not np.allclose(encoder.pool(frames)[0], gallery.embeddings[row], atol=SAME):
            return None
        return round(float(scores_of(encoder.pool(backwards)[0], vector, exclusion)), 4)

    return tuple(map(scored, answer.rankings))
