"""The queries of a benchmark as a model embeds them, and the query vector of each composition."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.papers.covr.compositions import COMPOSITIONS, CompositionWeights
from nt2vr.papers.covr.presentation import FULL_CAPTION
from nt2vr.papers.covr.queries import CovrQueries, EmbeddedMedia
from nt2vr.search.references import combine, reads_tokens


class EmbeddedQueries(NamedTuple):
    """The queries of a benchmark under a model: the input of every composition.

    Attributes:
        combined: their embeddings, (Q, D) each.
        captions: (Q, D), embeddings of the targets' captions; zeros where unknown.
        clips: (V, D), or (V, F, D), whose frames the wanted part weighs.
        precomputed: (Q, D), vectors of the queries from elsewhere, in place of all compositions.
    """

    queries: CovrQueries
    combined: PictureQuery
    captions: Vectors
    clips: Vectors
    precomputed: Vectors | None = None


class TextVectors:
    """The embeddings of texts, each embedded once; zeros for blank texts."""

    def __init__(self, encoder: Encoder, texts: Iterable[str]) -> None:
        written = list(dict.fromkeys(filter(str.strip, texts)))
        self._zeros = np.zeros(encoder.embed_dim, np.float32)
        self._vectors = dict(zip(written, encoder.encode_text(written), strict=True))

    def of(self, texts: Iterable[str]) -> Vectors:
        """Return the vectors of texts, (T, D)."""
        return np.stack([self._vectors.get(text, self._zeros) for text in texts])

    def sums_of(self, groups: Iterable[Iterable[str]]) -> Vectors:
        """Return the sum of the vectors of each group of texts, (G, D)."""
        # The empty text, of zeros, is for groups without any.
        return np.stack([self.of(["", *texts]).sum(axis=0) for texts in groups])


def embed_queries(
    queries: CovrQueries, media: EmbeddedMedia, encoder: Encoder, deep: bool
) -> EmbeddedQueries:
    """Parse and embed queries, each text once; look embeddings from elsewhere up by query id.

    `deep` also embeds tokens and frames, for a fusion that is to get cross-attention; for one that
    has it, they are embedded anyway.
    """
    if encoder.capabilities.given_queries_only:
        return _given_queries(queries, media, encoder)

    tagger = load_tagger()
    parsed_queries = [understand(query.text, tagger, editing=True) for query in queries]
    wanted = [" ".join(parsed.wanted) for parsed in parsed_queries]
    unwanted = [parsed.unwanted for parsed in parsed_queries]
    sentences = [query.text for query in queries]
    captions = [query.caption for query in queries]
    references = [query.reference for query in queries]

    vectors = TextVectors(encoder, chain(wanted, sentences, captions, *unwanted))
    combined = PictureQuery(
        picture=media.references[references],
        sentence=vectors.of(sentences),
        wanted=vectors.of(wanted),
        unwanted=vectors.sums_of(unwanted),
    )
    if deep or reads_tokens(encoder):
        combined = replace(
            combined,
            tokens=encoder.encode_tokens(sentences),
            frames=_reference_frames(media, encoder)[references],
        )
    return EmbeddedQueries(
        queries=queries,
        combined=combined,
        captions=vectors.of(captions),
        clips=media.clips,
    )


def _given_queries(queries: CovrQueries, media: EmbeddedMedia, encoder: Encoder) -> EmbeddedQueries:
    """Look up the vectors of whole queries, which have no parts to compose."""
    precomputed = encoder.encode_text([query.query_id for query in queries])
    zeros = np.zeros_like(precomputed)
    return EmbeddedQueries(
        queries=queries,
        combined=PictureQuery(picture=zeros, sentence=zeros, wanted=zeros, unwanted=zeros),
        captions=zeros,
        clips=media.clips,
        precomputed=precomputed,
    )


def _reference_frames(media: EmbeddedMedia, encoder: Encoder) -> Vectors:
    """Return the frames of references (R, F, D); pictures are clips of one frame."""
    if media.frames is None:
        return media.references[:, None]
    # Each frame is pooled as a clip.
    return encoder.pool(media.frames()[..., None, :])


def vectors_of(
    embedded: EmbeddedQueries,
    system: str,
    weights: CompositionWeights,
    composers: Mapping[str, Composer] = MappingProxyType({}),
) -> Vectors:
    """Return the query vectors (Q, D) of a composition, of a model's composer, or of FULL_CAPTION."""
    if system == FULL_CAPTION:
        return embedded.captions
    if system in COMPOSITIONS:
        return COMPOSITIONS[system](embedded.combined, weights)
    return combine(system, query=embedded.combined, weights=weights, composers=composers)


def vectors_for(embedded: EmbeddedQueries, system: str, encoder: Encoder) -> Vectors:
    """Return the query vectors (Q, D) of one of a model's systems, with the weights that its card has."""
    if embedded.precomputed is not None:
        return embedded.precomputed
    weights = CompositionWeights.of(encoder.card.composition)
    return vectors_of(embedded, system, weights, composers=encoder.composers)
