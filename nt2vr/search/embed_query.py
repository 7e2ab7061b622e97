"""From a query to its parts: words that a model has never seen replaced, texts and references embedded.

A model that knows a word is asked for it as typed. Models that do not know it are all asked for the
same word.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.media.resize import fit
from nt2vr.models.composer import PictureQuery
from nt2vr.models.device import on_gpu
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import frame_positions
from nt2vr.models.open_clip_encoder import WORD
from nt2vr.negation.parse.inflect import forms_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.references import (
    Reference,
    Weights,
    combine,
    merge_references,
    reads_tokens,
)
from nt2vr.search.strategies import Parts, Vector, anchor_of, tau_of

Synonyms = Mapping[str, str]  # word -> words to read it as
Knows = Callable[[str], bool]
ById = Mapping[str, Vector]
_WITH_ARTICLE = re.compile(rf"(?:\b([Aa])n? )?({WORD.pattern})")
_JOINING = frozenset({"or"})  # in "boy or girl"; helps whether or not a model knows it


def substitutes(
    query: Query, models: Mapping[str, Encoder], synonyms: Synonyms, literal: Collection[str] = ()
) -> dict[str, dict[str, str]]:
    """Return by model the words to ask for instead of words it has never seen, as far as it knows any."""
    unseen = {name: unseen_words(query, model) for name, model in models.items()}
    known = dict[str, str]()
    for word in {word for each in unseen.values() for word in each} - {
        word.lower() for word in literal
    }:
        unknowing = [models[name] for name, words in unseen.items() if word in words]
        knows = cache(
            lambda text, some=unknowing: not any(each.unseen_words(text) for each in some)
        )
        if found := known_substitute(word, knows, synonyms):
            known[word] = found
    return {
        name: {word: known[word] for word in words if word in known}
        for name, words in unseen.items()
    }


def unseen_words(query: Query, model: Encoder) -> tuple[str, ...]:
    """List the words of a query's parts that never occurred in a model's training."""
    emoji = (each for each in query.text if each in NO_EMOJI)
    return model.unseen_words(" ".join((*query.wanted, *query.unwanted, *emoji)))


def known_substitute(word: str, knows: Knows, synonyms: Synonyms) -> str | None:
    """Return a known form of the same word, otherwise its synonym with each word in a known form; None without one."""

    def known_form(word: str) -> str | None:
        return next(
            (form for form in (word, *forms_of(word)) if form in _JOINING or knows(form)), None
        )

    if (form := known_form(word)) is not None:
        return form
    for form in (word, *forms_of(word)):
        phrase = [known_form(each) for each in synonyms.get(form, "").split()]
        if phrase and None not in phrase:
            return " ".join(filter(None, phrase))
    return None


def with_words(query: Query, read_as: Mapping[str, str]) -> Query:
    """Replace words of a query and of its parts; "a" and "an" follow. Cues and scopes, positions in the text, go."""
    emoji = "".join(word for word in read_as if re.fullmatch(EMOJI, word))

    def with_article(match: re.Match[str]) -> str:
        word = read_as.get(match[2].lower())
        if word is None or match[1] is None:
            return match[0] if word is None else word
        return f"{match[1]}{'n' if word[0] in 'aeiou' else ''} {word}"

    def replaced(text: str) -> str:
        if emoji:
            text = " ".join(re.sub(rf"([{emoji}])\ufe0f?", r" \1 ", text).split())
        return _WITH_ARTICLE.sub(with_article, text)

    wanted, unwanted = (tuple(map(replaced, parts)) for parts in (query.wanted, query.unwanted))
    return replace(
        query, text=replaced(query.text), wanted=wanted, unwanted=unwanted, cues=(), scopes=()
    )


def texts_of(query: Query) -> list[str]:
    """List the texts to embed: the sentence, the wanted part, and each unwanted part."""
    whole = (query.text, " ".join(query.wanted))
    return [*(text for text in whole if text.strip()), *query.unwanted]


def parts_of(encoder: Encoder, query: Query, embeddings: Mapping[str, Vector]) -> Parts:
    """Return the parts of a query from the embeddings of its texts; their strength is left to be set."""
    sentence, wanted = (
        embeddings[text] if text.strip() else None for text in (query.text, " ".join(query.wanted))
    )
    unwanted = [embeddings[text] for text in query.unwanted]
    stacked = np.stack(unwanted) if unwanted else np.zeros((0, encoder.embed_dim), np.float32)
    return Parts(
        sentence, wanted, stacked, 0.0, anchor_of(encoder), tau=tau_of(encoder.card)
    ).by_text(encoder.card)


@on_gpu
def embed_texts(encoder: Encoder, texts: Sequence[str]) -> Vector:
    """Embed texts: (N, D), L2-normalised."""
    return encoder.encode_text(texts)


def embed_reference(encoder: Encoder, reference: Reference, gallery: EmbeddedGallery) -> Vector:
    """Embed a reference by itself, or look its clip up in the gallery: (D,), L2-normalised."""
    if reference.video_id:
        return np.asarray(
            gallery.embeddings[_row(reference.video_id, gallery, encoder)], np.float32
        )
    return _lent_pooled(encoder, reference)


def _row(video_id: str, gallery: EmbeddedGallery, encoder: Encoder) -> int:
    row = gallery.row_of.get(video_id)
    if row is None:
        raise ConfigError(
            f"The clip {quoted(video_id)} is not indexed by {encoder.name} here. Choose another."
        )
    return row


def embed_query(
    encoder: Encoder, query: Query, references: Sequence[Reference], gallery: EmbeddedGallery
) -> Parts:
    """Embed a query for all strategies, whose strength is left to be set; texts are encoded in one batch."""
    rows = {
        each.video_id: _row(each.video_id, gallery, encoder) for each in references if each.video_id
    }
    clips = {name: np.asarray(gallery.embeddings[row], np.float32) for name, row in rows.items()}
    frames = {}
    if reads_tokens(encoder):
        frames = {name: gallery.frame_embeddings(row) for name, row in rows.items()}
    return _embed(encoder, query, references, clips, frames)


@on_gpu  # its arguments are pickled, so the gallery stays out
def _embed(
    encoder: Encoder, query: Query, references: Sequence[Reference], clips: ById, frames: ById
) -> Parts:
    """Embed texts and pictures; wanted references join the wanted parts, strategies search away from the others."""
    # `clips` are the embeddings of the references that are clips, `frames` those of their frames.
    if encoder.capabilities.given_queries_only:
        query = replace(query, wanted=(), unwanted=())
    texts = texts_of(query)
    known = dict(zip(texts, encoder.encode_text(texts), strict=True)) if texts else {}
    parts = parts_of(encoder, query, known)
    shown = [
        clips[each.video_id] if each.video_id else _pooled(encoder, each) for each in references
    ]
    picture, away = merge_references(shown, references)
    if picture is None:
        return replace(parts, away=away)
    wanted = [each for each in references if each.wanted]
    nothing = np.zeros_like(picture)
    sentence, affirmed = (
        nothing if each is None else each for each in (parts.sentence, parts.wanted)
    )
    picture_query = PictureQuery(
        picture, sentence, affirmed, np.asarray(parts.unwanted.sum(axis=0))
    )
    if reads_tokens(encoder):
        tokens = encoder.encode_tokens([query.text] if query.text.strip() else [])
        seen = []
        for reference in wanted:
            if reference.video_id:
                seen.append(frames[reference.video_id])
            else:
                stored = _encoded(encoder, reference)  # (F, W)
                seen.append(encoder.pool(stored[:, None]))
        picture_query = replace(
            picture_query,
            tokens=tokens.reshape(-1, encoder.embed_dim),
            frames=np.concatenate(seen),
        )
    share = max(each.weight for each in wanted)

    def joined(text: str, embedding: Vector | None) -> Vector:
        """Let a model that composes one picture and a text itself do so; others get the weighted mean."""
        is_one_picture = len(wanted) == 1 and len(wanted[0].frames) == 1
        if encoder.capabilities.composes and text.strip() and is_one_picture:
            return encoder.composed(fit(wanted[0].frames[0], encoder.framing), text)
        if embedding is None:
            return picture
        mean = (1 - share) * embedding + share * picture
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-6), np.float32)

    combined = partial(
        combine,
        query=picture_query,
        weights=Weights.of(encoder.card.composition),
        composers=encoder.composers,
    )
    sentence, affirmed = (
        joined(query.text, parts.sentence),
        joined(" ".join(query.wanted), parts.wanted),
    )
    return replace(parts, sentence=sentence, wanted=affirmed, combined=combined, away=away)


def _pooled(encoder: Encoder, reference: Reference) -> Vector:
    return encoder.pool(_encoded(encoder, reference))


_lent_pooled = on_gpu(_pooled)  # for a reference by itself


def _encoded(encoder: Encoder, reference: Reference) -> Vector:
    """Encode the frames of a reference as a clip is stored: (R, W)."""
    frames = list(reference.frames)
    is_picture = len(frames) == 1
    if not encoder.capabilities.scores_frames:
        frames = [frames[position] for position in frame_positions(len(frames), encoder.num_frames)]
    clip = np.stack([fit(frame, encoder.framing) for frame in frames])
    # When the frames of a video were is not known.
    seconds = np.zeros((1, len(frames)), np.float32) if is_picture else None
    stored: Vector = encoder.encode_video(clip[None], seconds)[0]
    return stored
