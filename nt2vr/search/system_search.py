"""What each system searches for: a query's parts as its model embeds them, and what its strategy makes of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nt2vr.errors import ConfigError, QueryError
from nt2vr.negation.parse.query import Query
from nt2vr.search.embed_query import embed_query, texts_of, with_words
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import Exclusion, scores_of
from nt2vr.search.live import LoadedModel
from nt2vr.search.plan import SearchPlan
from nt2vr.search.strategies import EmbeddedParts, System, Vector, vector_and_exclusion

# A vector is searched for as it is.
QueryOrVector = Query | Vector


class SystemSearch(NamedTuple):
    """What one system searches for, and where.

    Attributes:
        gallery: as the model embeds it.
        vector: (D,); None if the strategy leaves nothing to search for.
    """

    system: System
    model: LoadedModel
    gallery: EmbeddedGallery
    parts: EmbeddedParts
    vector: Vector | None
    exclusion: Exclusion | None

    def score(self, clip: Vector, video_id: str) -> float | None:
        """Score a clip (D,) of the gallery, or a picture, which has no id."""
        if self.vector is None:
            return None
        # A query that weighs frames pools those of the clip in its own way.
        if video_id and self.exclusion is not None and self.exclusion.focus is not None:
            row = self.gallery.row_of[video_id]
            clip = self.gallery.clips(self.exclusion, [row])[0]
        return round(float(scores_of(clip, self.vector, self.exclusion)), 4)


def system_searches(query: QueryOrVector, plan: SearchPlan) -> Iterator[SystemSearch]:
    """Yield what each system searches for."""
    for system, parts in zip(plan.systems, embed_for_systems(query, plan), strict=True):
        gallery = plan.gallery_of(system.model)
        vector, exclusion = vector_and_exclusion(system.strategy, parts, gallery.embeddings)
        yield SystemSearch(
            system=system,
            model=plan.loaded[system.model],
            gallery=gallery,
            parts=parts,
            vector=vector,
            exclusion=exclusion,
        )


def embed_for_systems(query: QueryOrVector, plan: SearchPlan) -> list[EmbeddedParts]:
    """Embed a query for each system, with the strength of its strategy."""
    if not isinstance(query, Query):
        _check_vector(query, plan)
        no_unwanted = np.zeros((0, len(query)), np.float32)
        vector_parts = EmbeddedParts(query, wanted=None, unwanted=no_unwanted, strength=0.0)
        return [vector_parts] * len(plan.systems)

    # All systems of a model share the embeddings.
    parts_by_model = {
        model: _embed_for_model(model, query=query, replacements=replacements, plan=plan)
        for model, replacements in plan.replacements_by_model(query).items()
    }
    parts_by_system = []
    for system in plan.systems:
        card = plan.loaded[system.model].encoder.card
        strength = system.strength_for(card, plan.strengths)
        parts_by_system.append(replace(parts_by_model[system.model], strength=strength))
    return parts_by_system


def _embed_for_model(
    model: str, query: Query, replacements: Mapping[str, str], plan: SearchPlan
) -> EmbeddedParts:
    model_query = with_words(query, replacements)
    read_query = model_query
    if not plan.reads_parts(model):
        read_query = replace(model_query, wanted=(), unwanted=())
    parts = embed_query(
        plan.loaded[model].encoder,
        query=read_query,
        references=plan.references,
        gallery=plan.gallery_of(model),
    )
    return replace(parts, query=model_query, replacements=replacements)


def prepare_texts(queries: Sequence[Query], plan: SearchPlan) -> None:
    """Let each model encode the texts of all queries together."""
    texts_by_model = defaultdict[str, list[str]](list)
    for query in queries:
        for model, replacements in plan.replacements_by_model(query).items():
            texts_by_model[model] += texts_of(with_words(query, replacements))
    for model, texts in texts_by_model.items():
        if texts:
            plan.encoders[model].prepare_texts(texts)


def _check_vector(query: Vector, plan: SearchPlan) -> None:
    """Raise an error unless every system can search for a vector."""
    for system in plan.systems:
        if system.strategy != "plain":
            raise ConfigError(
                f"A query vector has no parts: search with {system.model}, not with {system.name}."
            )
        dim = plan.loaded[system.model].encoder.embed_dim
        if len(query) != dim:
            raise QueryError(
                f"The vector has {len(query):,} numbers, but {system.model} has {dim:,}."
            )
