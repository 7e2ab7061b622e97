"""Embedding of a query: its texts and references."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.media.picture import fit
from nt2vr.models.device import on_gpu
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.references import CovrVectors, Reference, Weights, attends, combine, fusion_of, merge_references
from nt2vr.search.strategies import Parts, Vector, anchor_of, tau_of


def embed_query(
    encoder: Encoder,
    query: Query,
    references: Sequence[Reference],
    gallery: EmbeddedGallery,
) -> Parts:
    """Embed a query for all strategies, whose strength is left to be set; texts are encoded in one batch."""
    shown = [each.video_id for each in references if each.video_id]
    clips = {name: _clip(name, gallery, encoder) for name in shown}
    frames = {name: gallery.frame_embeddings(gallery.row_of[name]) for name in shown if attends(encoder)}
    return _embed(encoder, query, references, clips, frames)


def texts_of(query: Query) -> list[str]:
    """List the texts to embed: the sentence, the wanted part, and each unwanted part."""
    whole = (query.text, " ".join(query.wanted))
    return [*(text for text in whole if text.strip()), *query.unwanted]


def parts_of(encoder: Encoder, query: Query, embeddings: Mapping[str, Vector]) -> Parts:
    """Return the parts of a query from the embeddings of its texts; their strength is left to be set."""
    sentence, wanted = (embeddings[text] if text.strip() else None for text in (query.text, " ".join(query.wanted)))
    unwanted = [embeddings[text] for text in query.unwanted]
    stacked = np.stack(unwanted) if unwanted else np.zeros((0, encoder.embed_dim), np.float32)
    return Parts(sentence, wanted, stacked, 0.0, anchor_of(encoder), tau=tau_of(encoder.card)).by_text(encoder.card)


def embed_reference(encoder: Encoder, reference: Reference, gallery: EmbeddedGallery) -> Vector:
    """Embed a reference by itself, or look its clip up in the gallery: (D,), L2-normalised."""
    if reference.video_id:
        return _clip(reference.video_id, gallery, encoder)
    return _embed_picture(encoder, reference)


@on_gpu
def embed_texts(encoder: Encoder, texts: Sequence[str]) -> Vector:
    """Embed texts: (N, D), L2-normalised."""
    return encoder.encode_text(texts)


def _clip(video_id: str, gallery: EmbeddedGallery, encoder: Encoder) -> Vector:
    row = gallery.row_of.get(video_id)
    if row is None:
        raise ConfigError(f"The clip {quoted(video_id)} is not indexed by {encoder.name} here. Choose another.")
    return np.asarray(gallery.embeddings[row], np.float32)


@on_gpu
def _embed(
    encoder: Encoder,
    query: Query,
    references: Sequence[Reference],
    clips: Mapping[str, Vector],
    frames: Mapping[str, Vector],
) -> Parts:
    """Embed texts in one batch, and pictures; wanted references join the wanted parts, not the unwanted."""
    if encoder.card.queries:  # of whole queries only
        query = replace(query, wanted=(), unwanted=())
    texts = texts_of(query)
    known = dict(zip(texts, encoder.encode_text(texts), strict=True)) if texts else {}
    parts = parts_of(encoder, query, known)
    shown = [clips[each.video_id] if each.video_id else _embed_frames(encoder, each) for each in references]
    picture, away = merge_references(shown, references)
    if picture is None:
        return replace(parts, away=away)
    wanted = [each for each in references if each.wanted]
    covr = _covr(parts, picture)
    if attends(encoder):
        covr = replace(covr, **_attended(encoder, query, wanted, frames))
    weights, fusion = Weights.of(encoder.card.composition), fusion_of(encoder)
    share = max(each.weight for each in wanted)
    return replace(
        parts,
        sentence=_mix(parts.sentence, picture, share),
        wanted=_mix(parts.wanted, picture, share),
        combined=partial(combine, query=covr, weights=weights, fusion=fusion),
        away=away,
    )


def _attended(
    encoder: OpenClipEncoder, query: Query, references: Sequence[Reference], frames: Mapping[str, Vector]
) -> dict[str, Vector]:
    """Return what a fusion with cross-attention reads: the sentence's tokens, and the references' frames."""
    tokens = encoder.encode_tokens([query.text] if query.text.strip() else [])
    seen = [
        frames[each.video_id] if each.video_id else encoder.each_frame(_encode_frames(encoder, each))
        for each in references
    ]
    return {"tokens": tokens.reshape(-1, encoder.embed_dim), "frames": np.concatenate(seen)}


def _covr(parts: Parts, picture: Vector) -> CovrVectors:
    """Return the vectors that combinations are made of; what a query lacks is zero."""
    nothing = np.zeros_like(picture)
    sentence, wanted = (nothing if each is None else each for each in (parts.sentence, parts.wanted))
    return CovrVectors(picture, sentence, wanted, np.asarray(parts.unwanted.sum(axis=0)))


def _embed_frames(encoder: Encoder, reference: Reference) -> Vector:
    return encoder.pool(_encode_frames(encoder, reference))


_embed_picture = on_gpu(_embed_frames)


def _encode_frames(encoder: Encoder, reference: Reference) -> Vector:
    return encoder.encode_frames(np.stack([fit(frame, encoder.card.framing) for frame in reference.frames]))


def _mix(text: Vector | None, picture: Vector, weight: float) -> Vector:
    """Average two unit vectors with weights, and normalise; without a text, return the picture."""
    if text is None:
        return picture
    mean = (1 - weight) * text + weight * picture
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-6), np.float32)
