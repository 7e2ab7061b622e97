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
from nt2vr.search.embedded_gallery import Excerpt, SearchedClip
from nt2vr.search.exclusion import Exclusion, focused, scores_of
from nt2vr.search.strategies import (
    STRATEGIES,
    EmbeddedParts,
    Role,
    System,
    Vector,
    anchor_of,
    vector_and_exclusion,
)

# Words of a query that are left out one by one.
MAX_WORDS = 40
# Returns a model by its name.
EncoderOf = Callable[[str], Encoder]
# Largest difference between two computations of one vector, or poolings of one clip.
SAME = 1e-3
WHOLE_QUERIES = (
    "This system knows only whole queries, so its score cannot be split into words and parts."
)
NOT_BY_TEXT = (
    "The score is not split into words and parts: the search used a picture, or the model has been "
    "replaced since."
)
EXCERPT = "The score is not split into words and parts: the answer is from another gallery. Open that gallery."
NO_FRAMES = "This model takes whole clips, so it has no scores of single frames."
NOT_SEARCHED = "This system has no score for this clip."


@dataclass(frozen=True)
class Part:
    """One part of the query.

    Attributes:
        role: "anchor" is the mean of the model's neutral texts.
        similarity: the part's score alone, in cosine units.
        weight: factor of the part in the score; None if the system does not use it.
        above: similarity from which it counts, for unwanted parts.
    """

    role: Role
    text: str
    similarity: float
    weight: float | None = None
    above: float = 0.0

    @property
    def contribution(self) -> float | None:
        """What the part adds to the score; None if the system does not use it."""
        if self.weight is None:
            return None
        return self.weight * (self.similarity - self.above)


@dataclass(frozen=True)
class Word:
    """One word of a part.

    Attributes:
        place: number of the unwanted part, otherwise 0.
        share: the score minus the score without the word; None if nothing is left to search for.
    """

    role: Role
    place: int
    text: str
    share: float | None = None


@dataclass(frozen=True)
class Why:
    """One clip's score under one system.

    Attributes:
        frames: (F,), the scores of its frames. Their mean is not the score: the mean of the frames'
            embeddings is scaled to length 1, and may be weighted, or pooled in their order.
        parts: those with a weight add up to the score.
        words: in the order of the texts. They act together, so their shares do not add up.
        num_untried: further words, which were not left out one by one.
        notice: why something is not explained.
    """

    system: System
    score: float | None
    frames: tuple[float, ...] = ()
    parts: tuple[Part, ...] = ()
    words: tuple[Word, ...] = ()
    num_untried: int = 0
    notice: str = ""


def explain(
    answer: Answer,
    video_id: str,
    encoder_of: EncoderOf,
    columns: Iterable[int] | None = None,
) -> tuple[Why, ...]:
    """Explain a clip's scores in an answer: in the columns of these numbers, by default in all."""
    if columns is None:
        columns = range(len(answer.rankings))
    explained = []
    for column in columns:
        ranking = answer.rankings[column]
        encoder = encoder_of(ranking.system.model)
        explained.append(_explain(ranking, answer.query, video_id, encoder))
    return tuple(explained)


def _explain(ranking: Ranking, query: Query, video_id: str, encoder: Encoder) -> Why:
    clip = ranking.searched_clip(video_id)
    if clip is None:
        return Why(ranking.system, score=None, notice=NOT_SEARCHED)

    # A single frame says no more than the clip.
    frame_scores = clip.frame_scores.tolist()
    if len(frame_scores) < 2:
        frame_scores = []
    why = Why(
        ranking.system,
        score=clip.score,
        frames=tuple(frame_scores),
        notice="" if encoder.capabilities.scores_frames else NO_FRAMES,
    )
    if encoder.capabilities.given_queries_only:
        return replace(why, notice=WHOLE_QUERIES)
    if encoder.embed_dim != len(clip.vector):
        return replace(why, notice=NOT_BY_TEXT)
    # What counts as similar depends on all clips of the gallery.
    if isinstance(clip.gallery, Excerpt):
        return replace(why, notice=EXCERPT)

    model_query = with_words(query, ranking.read_as)
    return _take_apart(
        why, model_query=model_query, clip=clip, encoder=encoder, strength=ranking.strength
    )


def _take_apart(
    why: Why, model_query: Query, clip: SearchedClip, encoder: Encoder, strength: float
) -> Why:
    """Add what each part and each word of a query contributes to a clip's score."""
    strategy = why.system.strategy
    variants = list(_word_variants(model_query, STRATEGIES[strategy].uses))
    tried = variants[:MAX_WORDS]
    queries = [model_query, *(query for _, query in tried)]
    query_parts, *variant_parts = _embed_queries(queries, encoder, strength)
    again = _searched_again(clip, strategy, query_parts)
    if again is None or not _is_same_search(clip, again):
        return replace(why, notice=NOT_BY_TEXT)

    words = [word for word, _ in tried]
    return replace(
        why,
        parts=tuple(_parts(model_query, embedded=query_parts, strategy=strategy, clip=again)),
        words=tuple(_with_shares(words, variant_parts, clip=clip, strategy=strategy)),
        num_untried=len(variants) - len(tried),
    )


def _with_shares(
    words: Sequence[Word], parts_without: Sequence[EmbeddedParts], clip: SearchedClip, strategy: str
) -> Iterator[Word]:
    """Yield words with what the score of a clip owes to each, given the parts without it."""
    score = clip.score
    for word, parts in zip(words, parts_without, strict=True):
        without_word = _searched_again(clip, strategy, parts)
        if without_word is None:
            yield word
        else:
            yield replace(word, share=score - without_word.score)


def _searched_again(clip: SearchedClip, strategy: str, parts: EmbeddedParts) -> SearchedClip | None:
    """Return a clip with what other parts search for; None if they leave nothing."""
    vector, exclusion = vector_and_exclusion(strategy, parts, clip.gallery.embeddings)
    if vector is None:
        return None
    return clip._replace(vector=vector, exclusion=exclusion)


def _embed_queries(
    queries: Sequence[Query], encoder: Encoder, strength: float
) -> list[EmbeddedParts]:
    """Embed the parts of some queries, all texts in one batch."""
    texts = {}
    for query in queries:
        texts.update(dict.fromkeys(texts_of(query)))
    embeddings = dict(zip(texts, embed_texts(encoder, list(texts)), strict=True))
    anchor = anchor_of(encoder)
    query_parts = []
    for query in queries:
        parts = parts_of(encoder, query, embeddings, anchor)
        query_parts.append(replace(parts, strength=strength))
    return query_parts


def _is_same_search(first: SearchedClip, second: SearchedClip) -> bool:
    """Return whether two searches compared a clip with the same vectors."""
    now = _compared_vectors(first)
    before = _compared_vectors(second)
    return len(now) == len(before) and np.allclose(now, before, rtol=0, atol=SAME)


def _compared_vectors(clip: SearchedClip) -> list[Vector]:
    exclusion = clip.exclusion
    if exclusion is None:
        return [clip.vector]
    vectors = [clip.vector, *exclusion.unwanted]
    if exclusion.focus is not None:
        vectors.append(exclusion.focus)
    return vectors


def _word_variants(query: Query, roles: Sequence[Role]) -> Iterator[tuple[Word, Query]]:
    """Yield each word of the texts with these roles, and the query without it."""
    if "sentence" in roles:
        for word, rest in _without_each_word(query.text):
            yield Word("sentence", 0, word), replace(query, text=rest)
    if "wanted" in roles:
        for word, rest in _without_each_word(" ".join(query.wanted)):
            yield Word("wanted", 0, word), replace(query, wanted=(rest,))
    if "unwanted" in roles:
        for place, text in enumerate(query.unwanted):
            for word, rest in _without_each_word(text):
                # A part of no words is dropped.
                parts = filter(None, [*query.unwanted[:place], rest, *query.unwanted[place + 1 :]])
                yield Word("unwanted", place, word), replace(query, unwanted=tuple(parts))


def _without_each_word(text: str) -> Iterator[tuple[str, str]]:
    words = text.split()
    for number, word in enumerate(words):
        yield word, " ".join(words[:number] + words[number + 1 :])


def _parts(
    query: Query, embedded: EmbeddedParts, strategy: str, clip: SearchedClip
) -> Iterator[Part]:
    """Yield the parts' similarities, and the weights with which they make up the score."""
    embedding = clip.embedding
    exclusion = clip.exclusion
    parts = _unweighed_parts(query, embedded)
    if exclusion is not None and len(exclusion.unwanted):
        _weigh_by_exclusion(parts, exclusion, embedding)
    else:
        _weigh_by_vector(parts, STRATEGIES[strategy].uses, clip.vector)

    for part in parts:
        # An anchor is no part of the query, so it is listed only where the system uses it.
        if part.role == "anchor" and part.weight is None:
            continue
        yield Part(
            role=part.role,
            text=part.text,
            similarity=float(embedding @ part.vector),
            weight=part.weight,
            above=part.above,
        )


@dataclass
class _EmbeddedPart:
    """A part of a query and its embedding (D,); further fields are those of `Part`."""

    role: Role
    text: str
    vector: Vector
    weight: float | None = None
    above: float = 0.0


def _unweighed_parts(query: Query, embedded: EmbeddedParts) -> list[_EmbeddedPart]:
    """List the parts of a query that have an embedding."""
    parts = []
    if embedded.sentence is not None:
        parts.append(_EmbeddedPart("sentence", query.text, embedded.sentence))
    if embedded.wanted is not None:
        parts.append(_EmbeddedPart("wanted", " ".join(query.wanted), embedded.wanted))
    for text, vector in zip(query.unwanted, embedded.unwanted, strict=True):
        parts.append(_EmbeddedPart("unwanted", text, vector))
    if query.unwanted and embedded.anchor is not None:
        parts.append(_EmbeddedPart("anchor", "", embedded.anchor))
    return parts


def _weigh_by_exclusion(parts: Sequence[_EmbeddedPart], exclusion: Exclusion, clip: Vector) -> None:
    """Give the wanted part weight 1, the unwanted part that exceeds tau most -alpha, and others 0."""
    unwanted = [part for part in parts if part.role == "unwanted"]
    excess = exclusion.excess(clip @ exclusion.unwanted.T)
    thresholds = np.broadcast_to(np.asarray(exclusion.tau), excess.shape).tolist()
    for part, threshold in zip(unwanted, thresholds, strict=True):
        part.weight = 0.0
        part.above = threshold
    if excess.any():
        unwanted[int(excess.argmax())].weight = -exclusion.weight
    for part in parts:
        if part.role == "wanted":
            part.weight = 1.0


def _weigh_by_vector(parts: Sequence[_EmbeddedPart], roles: Sequence[Role], vector: Vector) -> None:
    """Give the parts of some roles the weights with which they sum up to a vector."""
    used = [part for part in parts if part.role in roles]
    basis = np.stack([part.vector for part in used]).astype(np.float64)
    weights = np.linalg.lstsq(basis.T, vector.astype(np.float64), rcond=None)[0]
    for part, weight in zip(used, weights.tolist(), strict=True):
        part.weight = weight


def scored_backwards(
    answer: Answer, video_id: str, encoder_of: EncoderOf
) -> tuple[float | None, ...]:
    """Score a clip with its frames in reverse order, under each system of an answer.

    There is None where the clip has no score, or the model has been replaced since.
    """
    return tuple(_score_backwards(ranking, video_id, encoder_of) for ranking in answer.rankings)


def _score_backwards(ranking: Ranking, video_id: str, encoder_of: EncoderOf) -> float | None:
    clip = ranking.searched_clip(video_id)
    if clip is None:
        return None
    gallery, row, vector, exclusion = clip
    frames = gallery.all_frames[gallery.frame_rows[[row]]]  # (1, F, D)
    backwards = np.ascontiguousarray(frames[:, ::-1])
    if exclusion is not None and exclusion.focus is not None:
        pooled = focused(backwards, exclusion.focus)
    else:
        encoder = encoder_of(ranking.system.model)
        if encoder.embed_dim != len(vector) or encoder.stored_shape[-1] != frames.shape[-1]:
            return None
        # Otherwise, the model has been replaced since.
        if not np.allclose(encoder.pool(frames)[0], gallery.embeddings[row], atol=SAME):
            return None
        pooled = encoder.pool(backwards)
    return round(float(scores_of(pooled[0], vector, exclusion)), 4)
