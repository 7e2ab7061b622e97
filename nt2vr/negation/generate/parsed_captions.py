"""Captions and what negated sentences are drawn from: their words, things, actions and denials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import NamedTuple

from nt2vr.negation.generate.actions import CaptionAction, actions
from nt2vr.negation.generate.affirming import affirm
from nt2vr.negation.generate.content import Usage
from nt2vr.negation.generate.denial import Sentence
from nt2vr.negation.generate.denied_versions import denied_versions
from nt2vr.negation.generate.subjects import Subject, also_called
from nt2vr.negation.generate.things import NamedThing, things
from nt2vr.negation.parse.inflect import inflect_phrase, verb_of
from nt2vr.negation.parse.phrases import phrases_of


class UsualAction(NamedTuple):
    """An action in its usual wording: `text` with the verb as a lemma, `content` lemmas."""

    subject: Subject
    text: str
    content: frozenset[str]

    @property
    def doing(self) -> str:
        """The wording with a participle: "playing the guitar"."""
        return inflect_phrase(self.text, "VBG")


@dataclass(frozen=True, slots=True)
class SourceCaption:
    """A caption and what is drawn from it.

    Attributes:
        text: without a final full stop.
        words: in lower case.
        tags: of the words.
        lemmas: of the words.
        names: lemmas, and hypernyms of its nouns.
        things: those that it names.
        denied: its versions with one thing or verb denied.
        actions: its actions.
    """

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    names: frozenset[str]
    things: tuple[NamedThing, ...]
    denied: tuple[Sentence, ...]
    actions: tuple[UsualAction, ...] = ()


class ParsedCaption(NamedTuple):
    """What sentences are drawn from; None for a caption that is empty, or negated itself."""

    caption: SourceCaption | None
    actions: list[CaptionAction]


def parse_caption(caption: str) -> ParsedCaption:
    """Parse what sentences are drawn from."""
    text = " ".join(caption.split()).rstrip(" .,;:!?")
    phrases = phrases_of(text)
    caption_actions = actions(phrases)
    if not phrases.tokens or affirm(text, phrases) is not None:
        return ParsedCaption(None, caption_actions)

    lemmas = tuple(intern(token.lemma) for token in phrases.tokens)
    names = set(lemmas)
    for i, lemma in enumerate(lemmas):
        names |= also_called(lemma)
        if phrases.is_verb(i):
            names.add(verb_of(phrases.word(i)))
    parsed = SourceCaption(
        text,
        words=tuple(map(intern, phrases.words)),
        tags=tuple(phrases.tags),
        lemmas=lemmas,
        names=frozenset(names),
        things=tuple(things(phrases)),
        denied=tuple(denied_versions(text, phrases)),
    )
    return ParsedCaption(parsed, caption_actions)


def usual_actions(caption_actions: Sequence[CaptionAction], usage: Usage) -> Iterator[UsualAction]:
    """Yield the actions of a caption in the usual wordings."""
    content = {(subject, phrase.key): phrase.content for subject, phrase in caption_actions}
    for (subject, key), lemmas in content.items():
        text = usage.text(subject, key)
        if text:
            yield UsualAction(subject, text, lemmas)
