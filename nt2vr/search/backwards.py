"""A clip's scores with its frames in reverse order, pooled anew: only poolings that know the order change them."""

from collections.abc import Callable

import numpy as np

from nt2vr.models.encoder import Encoder
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.exclusion import focused, scores_of

SAME = 1e-3  # largest difference between two poolings of the same frames by the same model


def scored_backwards(answer: Answer, video_id: str, encoder_of: Callable[[str], Encoder]) -> tuple[float | None, ...]:
    """Score a clip backwards under each system of an answer.

    Returns:
        Scores in cosine units, as `Seen.score` has them; None if the system has none for this clip, or its model has
        been replaced since it answered.
    """
    return tuple(_scored(ranking, video_id, encoder_of) for ranking in answer.rankings)


def _scored(ranking: Ranking, video_id: str, encoder_of: Callable[[str], Encoder]) -> float | None:
    gallery, vector, exclusion = ranking.gallery, ranking.vector, ranking.exclusion
    row = gallery.row_of.get(video_id) if gallery else None
    if gallery is None or vector is None or row is None:
        return None
    frames = gallery.all_frames[gallery.places[[row]]]  # (1, F, D)
    backwards = np.ascontiguousarray(frames[:, ::-1])
    if exclusion is not None and exclusion.focus is not None:
        clip = focused(backwards, exclusion.focus)[0]
    else:
        pool = encoder_of(ranking.system.model).pool
        if not np.allclose(pool(frames)[0], gallery.embeddings[row], atol=SAME):
            return None
        clip = pool(backwards)[0]
    return round(float(scores_of(clip, vector, exclusion)), 4)
