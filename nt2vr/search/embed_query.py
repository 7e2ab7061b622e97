"""From a query to its parts: replaces unknown words, and embeds texts and references.

A model that knows a word gets it as typed. Models that do not know it all get the same substitute.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain

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
from nt2vr.search.strategies import EmbeddedParts, Vector, anchor_of, tau_of

# From a word to the words to read it as.
Synonyms = Mapping[str, str]
Knows = Callable[[str], bool]
VectorById = Mapping[str, Vector]
_WITH_ARTICLE = re.compile(rf"(?:\b([Aa])n? )?({WORD.pattern})")
# Words that may stay in a substitute such as "boy or girl", even if a model does not know them.
_JOINING = frozenset({"or"})


def substitutes(
    query: Query, models: Mapping[str, Encoder], synonyms: Synonyms, literal: Collection[str] = ()
) -> dict[str, dict[str, str]]:
    """Return, per model, the words that it has never seen, and what to search for instead.

    Words that have no known substitute are left out, and so are `literal` ones.
    """
    unseen_by_model = {name: unseen_words(query, model) for name, model in models.items()}
    unseen = set(chain.from_iterable(unseen_by_model.values()))
    substitute_of = {}
    for word in unseen.difference(map(str.lower, literal)):
        unknowing = [models[name] for name, words in unseen_by_model.items() if word in words]
        substitute = known_substitute(word, _known_by_all(unknowing), synonyms)
        if substitute:
            substitute_of[word] = substitute

    substitutes_by_model = {}
    for name, words in unseen_by_model.items():
        substitutes_by_model[name] = {
            word: substitute_of[word] for word in words if word in substitute_of
        }
    return substitutes_by_model


def _known_by_all(models: Sequence[Encoder]) -> Knows:
    """Return a function that says whether all of some models know all words of a text."""

    @cache
    def knows(text: str) -> bool:
        return not any(model.unseen_words(text) for model in models)

    return knows


def unseen_words(query: Query, model: Encoder) -> tuple[str, ...]:
    """List the words of a query's parts that never occurred in a model's training."""
    emoji = [character for character in query.text if character in NO_EMOJI]
    return model.unseen_words(" ".join([*query.wanted, *query.unwanted, *emoji]))


def known_substitute(word: str, knows: Knows, synonyms: Synonyms) -> str | None:
    """Return a known form of the same word, otherwise its synonym with each word in a known form.

    None without one.
    """
    form = _known_form(word, knows)
    if form is not None:
        return form
    for variant in (word, *forms_of(word)):
        synonym = synonyms.get(variant, "").split()
        forms = [_known_form(synonym_word, knows) for synonym_word in synonym]
        if forms and None not in forms:
            return " ".join(filter(None, forms))
    return None


def _known_form(word: str, knows: Knows) -> str | None:
    for form in (word, *forms_of(word)):
        if form in _JOINING or knows(form):
            return form
    return None


def with_words(query: Query, replacements: Mapping[str, str]) -> Query:
    """Replace words of a query and of its parts; "a" and "an" follow.

    Cues and scopes are dropped, since they are positions in the text.
    """
    return replace(
        query,
        text=_replace_words(query.text, replacements),
        wanted=tuple(_replace_words(text, replacements) for text in query.wanted),
        unwanted=tuple(_replace_words(text, replacements) for text in query.unwanted),
        cues=(),
        scopes=(),
    )


def _replace_words(text: str, replacements: Mapping[str, str]) -> str:
    # As for most queries.
    if not replacements:
        return text
    emoji = "".join(word for word in replacements if re.fullmatch(EMOJI, word))
    if emoji:
        text = " ".join(re.sub(rf"([{emoji}])\ufe0f?", r" \1 ", text).split())

    def replace_word(match: re.Match[str]) -> str:
        article = match[1]
        word = replacements.get(match[2].lower())
        if word is None:
            return match[0]
        if article is None:
            return word
        if word[0] in "aeiou":
            return f"{article}n {word}"
        return f"{article} {word}"

    return _WITH_ARTICLE.sub(replace_word, text)


def texts_of(query: Query) -> list[str]:
    """List the texts to embed: the sentence, the wanted part, and each unwanted part."""
    texts = [query.text, " ".join(query.wanted)]
    return [*(text for text in texts if text.strip()), *query.unwanted]


def parts_of(
    encoder: Encoder, query: Query, embeddings: VectorById, anchor: Vector | None
) -> EmbeddedParts:
    """Return the parts of a query from the embeddings of its texts; the caller sets their strength.

    A sentence or wanted part without an embedding is blank.

    Args:
        embeddings: (D,), by text.
        anchor: see `anchor_of`.
    """
    unwanted = np.zeros((0, encoder.embed_dim), np.float32)
    if query.unwanted:
        unwanted = np.stack([embeddings[text] for text in query.unwanted])
    parts = EmbeddedParts(
        sentence=embeddings.get(query.text),
        wanted=embeddings.get(" ".join(query.wanted)),
        unwanted=unwanted,
        strength=0.0,
        anchor=anchor,
        tau=tau_of(encoder.card),
    )
    if encoder.capabilities.weighs_frames:
        return replace(parts, sentence_text=parts.sentence, wanted_text=parts.wanted)
    return parts


@on_gpu
def embed_texts(encoder: Encoder, texts: Sequence[str]) -> Vector:
    """Embed texts: (N, D), L2-normalised."""
    return encoder.encode_text(texts)


def embed_reference(encoder: Encoder, reference: Reference, gallery: EmbeddedGallery) -> Vector:
    """Embed a reference by itself, or look its clip up in the gallery: (D,), L2-normalised."""
    if not reference.video_id:
        return _lent_pooled(encoder, reference)
    row = _row(reference.video_id, gallery, encoder)
    return np.asarray(gallery.embeddings[row], np.float32)


def _row(video_id: str, gallery: EmbeddedGallery, encoder: Encoder) -> int:
    row = gallery.row_of.get(video_id)
    if row is None:
        raise ConfigError(
            f"The clip {quoted(video_id)} is not indexed by {encoder.name} here. Choose another."
        )
    return row


def embed_query(
    encoder: Encoder, query: Query, references: Sequence[Reference], gallery: EmbeddedGallery
) -> EmbeddedParts:
    """Embed a query for all strategies; the caller sets their strength.

    Texts are encoded in one batch.
    """
    clips = {}
    frames = {}
    for reference in references:
        video_id = reference.video_id
        if not video_id:
            continue
        row = _row(video_id, gallery, encoder)
        clips[video_id] = np.asarray(gallery.embeddings[row], np.float32)
        if reads_tokens(encoder):
            frames[video_id] = gallery.frame_embeddings(row)
    return _embed(encoder, query, references, clips, frames)


# Its arguments are pickled, so the gallery stays out.
@on_gpu
def _embed(
    encoder: Encoder,
    query: Query,
    references: Sequence[Reference],
    clips: VectorById,
    frames: VectorById,
) -> EmbeddedParts:
    """Embed texts and pictures.

    Wanted references become part of the sentence and of the wanted part. Strategies search away
    from the other references.

    Args:
        clips: embeddings (D,) of the references that are clips.
        frames: embeddings (F, D) of their frames, if the model reads them.
    """
    if encoder.capabilities.given_queries_only:
        query = replace(query, wanted=(), unwanted=())
    texts = texts_of(query)
    embeddings = {}
    if texts:
        embeddings = dict(zip(texts, encoder.encode_text(texts), strict=True))
    parts = parts_of(encoder, query, embeddings, anchor_of(encoder))

    vectors = []
    for reference in references:
        if reference.video_id:
            vectors.append(clips[reference.video_id])
        else:
            vectors.append(_pooled(encoder, reference))
    picture, away = merge_references(vectors, references)
    parts = replace(parts, away=away)
    if picture is None:
        return parts
    wanted = [reference for reference in references if reference.wanted]
    picture_query = _picture_query(
        parts, encoder=encoder, query=query, picture=picture, wanted=wanted, frames=frames
    )
    join = partial(_join_picture, encoder, wanted, picture)
    return replace(
        parts,
        sentence=join(query.text, parts.sentence),
        wanted=join(" ".join(query.wanted), parts.wanted),
        combined=partial(
            combine,
            query=picture_query,
            weights=Weights.of(encoder.card.composition),
            composers=encoder.composers,
        ),
    )


def _picture_query(
    parts: EmbeddedParts,
    encoder: Encoder,
    query: Query,
    picture: Vector,
    wanted: Sequence[Reference],
    frames: VectorById,
) -> PictureQuery:
    """Return what composers read: of models with tokens, also those of the sentence, and frames."""
    nothing = np.zeros_like(picture)
    picture_query = PictureQuery(
        picture,
        sentence=nothing if parts.sentence is None else parts.sentence,
        wanted=nothing if parts.wanted is None else parts.wanted,
        unwanted=np.asarray(parts.unwanted.sum(axis=0)),
    )
    if not reads_tokens(encoder):
        return picture_query

    tokens = encoder.encode_tokens([query.text] if query.text.strip() else [])
    wanted_frames = []
    for reference in wanted:
        if reference.video_id:
            wanted_frames.append(frames[reference.video_id])
        else:
            stored = _encoded(encoder, reference)  # (F, W)
            wanted_frames.append(encoder.pool(stored[:, None]))
    return replace(
        picture_query,
        tokens=tokens.reshape(-1, encoder.embed_dim),
        frames=np.concatenate(wanted_frames),
    )


def _join_picture(
    encoder: Encoder,
    wanted: Sequence[Reference],
    picture: Vector,
    text: str,
    embedding: Vector | None,
) -> Vector:
    """Join the picture of the wanted references and a text, which may be empty.

    A model that composes one picture and a text does so; others get the weighted mean.
    """
    is_one_picture = len(wanted) == 1 and len(wanted[0].frames) == 1
    if encoder.capabilities.composes and text.strip() and is_one_picture:
        return encoder.composed(fit(wanted[0].frames[0], encoder.framing), text)
    if embedding is None:
        return picture
    share = max(reference.weight for reference in wanted)
    mean = (1 - share) * embedding + share * picture
    length = max(float(np.linalg.norm(mean)), 1e-6)
    return np.asarray(mean / length, np.float32)


def _pooled(encoder: Encoder, reference: Reference) -> Vector:
    return encoder.pool(_encoded(encoder, reference))


# For a reference by itself.
_lent_pooled = on_gpu(_pooled)


def _encoded(encoder: Encoder, reference: Reference) -> Vector:
    """Encode the frames of a reference as a clip is stored: (R, W)."""
    frames = list(reference.frames)
    is_picture = len(frames) == 1
    if not encoder.capabilities.scores_frames:
        frames = [frames[position] for position in frame_positions(len(frames), encoder.num_frames)]
    clip = np.stack([fit(frame, encoder.framing) for frame in frames])
    # The times of a video's frames are not known.
    seconds = None
    if is_picture:
        seconds = np.zeros((1, len(frames)), np.float32)
    stored: Vector = encoder.encode_video(clip[None], seconds)[0]
    return stored
