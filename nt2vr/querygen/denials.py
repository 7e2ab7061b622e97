"""Sentences that deny something, made of any captions: what is wanted, what is not. It knows no video and no truth.

Five kinds: a caption with one thing denied (nT2VR's negated queries), "A and not B" (its composed queries), "A without
N" (a thing), "not B" alone, and "fragment", a caption and a few words of another one joined freely, so that a model
learns the words of denying and not the grammar of one generator.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Literal, NamedTuple

from nt2vr.language.inflect import inflect, inflect_phrase, verb_of
from nt2vr.language.phrases import Phrases
from nt2vr.language.query import Span, split_query
from nt2vr.language.subjects import Subject, also_called, is_plural_noun
from nt2vr.language.tagger import FINITE_TAGS, VERB_TAGS
from nt2vr.language.wordlists import ACTORS, ROLES
from nt2vr.querygen.actions import actions
from nt2vr.querygen.affirmer import affirmed
from nt2vr.querygen.composer import composed
from nt2vr.querygen.negator import caption_tagger, denials
from nt2vr.querygen.things import Thing, things
from nt2vr.querygen.usage import Key, Usage, agrees
from nt2vr.querygen.verb_phrases import VerbPhrase

DenialKind = Literal["negated", "composed", "without", "not", "fragment"]

WITHOUT = ("{A} without {N}", "{A} without {N}", "{A} and no {n}", "{A} with no {n}")
_FREE_WITHOUT = (  # no grammar of test queries has the last four
    *(*WITHOUT, "{A} but no {n}", "{A}, no {n}"),
    *("{A}, and there is no {n}", "{A}, and there isn't {N}"),
)
NO_THING = ("no {n}", "without {N}", "there is no {n}")
NO_DEED = ("not {B_ing}", "nobody is {B_ing}", "nobody {B_s}", "no one is {B_ing}")
DEED_SHARE = 0.6  # of "not B": the others deny a thing
SAME_SUBJECT_SHARE = 0.5  # of "A and not B": a B that captions say of the same subject
WHOLE_SHARE = 0.5  # of "A without N": A is all of the caption
JOINED_SHARE = 0.5  # of "A and not B": not by nT2VR's templates, but freely, as fragments are
TRIES = 12  # captions looked at for something that the own one does not say
MOST_WORDS = 25  # of a caption that something is added to: texts are cut off after 77 tokens, in small models earlier
LONGEST_FRAGMENT = 4  # words

# How a fragment is denied: whatever it is, if a deed, if a thing
_JOINTS = ("{A} but not {F}", "{A} and not {F}", "{A}, not {F}", "{A} rather than {F}")
_DEED_JOINTS = (*_JOINTS, "{A} without {F}", "{A} instead of {F}", "{A} and never {F}", "not {F} but {A}")
_THING_JOINTS = (
    *(*_JOINTS, "{A} without {F}", "{A} instead of {F}", "{A} except {F}", "{A}, without {F}"),
    *("{A}, no {f}", "{A} and no {f}", "{A} with no {f}", "no {f}, {A}"),
)
_OPENS_THING = frozenset({"DET", "NUM", "ADJ", "NOUN"})
_CONTENT = frozenset({"NOUN", "ADJ", "VB", "VBZ", "VBP", "VBD", "VBG", "VBN"})
_HELPING = frozenset({"be", "have", "do"})
_NOT_FIRST = frozenset({"CONJ", "PUNCT", "POS", "WH", "MD"})
_BREAKS = frozenset({"PUNCT", "NEG", "OTHER"})
_NOT_LAST = _NOT_FIRST | {"DET", "NUM", "ADP", "TO", "PRON"}
# What "this is a clip of …" and "… is shown" leave when denied
_SAYS_LITTLE = frozenset({"this", "it", "that", "shown", "played", "filmed", "displayed"})
# What a place begins with that goes with a thing: "without a flag | in his hand", "without trees | in the background"
_OWN = frozenset({"his", "her", "its", "their", "background", "foreground"})


@dataclass(frozen=True)
class Denial:
    """A sentence that denies something.

    Attributes:
        kind: which of the five.
        text: all of it.
        wanted: the part to be seen, a phrase; empty for "not B".
        unwanted: the part not to be seen, an affirmative phrase.
    """

    kind: DenialKind
    text: str
    wanted: str
    unwanted: str


class _Deed(NamedTuple):
    """What somebody does; `text` has the verb as its lemma, `content` the lemmas that say something."""

    subject: Subject
    text: str
    content: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What one caption gives.

    Attributes:
        text: without the full stop at its end.
        words: all of them, in lower case.
        tags: theirs.
        lemmas: theirs.
        names: their lemmas as a set, and what else its nouns are called.
        things: that it names.
        denied: each of them denied, and each of its verbs.
        deeds: that it tells of.
    """

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    names: frozenset[str]
    things: tuple[Thing, ...]
    denied: tuple[Denial, ...]
    deeds: tuple[_Deed, ...] = ()


class CaptionDenials:
    """Draws denying sentences for captions, whatever these are about; a caption that denies something gives none."""

    def __init__(self, captions: Iterable[str]) -> None:
        """Parse the captions, about 700 a second on one core."""
        usage = Usage()
        parsed: list[_Parsed | None] = []
        said: list[dict[tuple[Subject, Key], VerbPhrase]] = []
        for number, caption in enumerate(captions):
            text = " ".join(caption.split()).rstrip(" .,;:!?")
            phrases = Phrases(caption_tagger().tag(text))
            found = actions(phrases)
            for action in found:
                usage.add(str(number), action)
            said.append({(action.subject, action.phrase.key): action.phrase for action in found})
            parsed.append(_parsed(text, phrases))
        self._captions = [
            replace(caption, deeds=tuple(_deeds(phrases, usage))) if caption else None
            for caption, phrases in zip(parsed, said, strict=True)
        ]
        self._sources = [caption for caption in self._captions if caption]
        self._naming = [caption for caption in self._sources if caption.things]
        self._doing = [caption for caption in self._sources if caption.deeds]
        self._done_by: dict[Subject, list[_Deed]] = defaultdict(list)
        for deed in (deed for caption in self._doing for deed in caption.deeds):
            self._done_by[deed.subject].append(deed)

    def __len__(self) -> int:
        """How many captions."""
        return len(self._captions)

    def draw(self, caption_index: int, kind: DenialKind, rng: random.Random) -> Denial | None:
        """Make a sentence of a caption; None if it gives none of this kind.

        What is unwanted comes from other captions and is not said by this one; only a "negated" one denies its own.
        """
        caption = self._captions[caption_index]
        if caption is None:
            return None
        match kind:
            case "negated":
                return rng.choice(caption.denied) if caption.denied else None
            case "composed":
                return self._composed(caption, rng)
            case "without":
                return self._without(caption, rng)
            case "not":
                return self._not(caption, rng)
            case "fragment":
                return self._fragment(caption, rng)

    def _composed(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """A and not B, by nT2VR's templates, or joined freely."""
        if not caption.deeds:
            return None
        wanted = rng.choice(caption.deeds)
        near = self._done_by[wanted.subject] if rng.random() < SAME_SUBJECT_SHARE else []
        for attempt in range(TRIES):
            unwanted = rng.choice(near if near and attempt < TRIES // 2 else rng.choice(self._doing).deeds)
            is_part = wanted.content <= unwanted.content  # runs and does not run on the beach
            if agrees(wanted.subject, unwanted.text) and _is_new(unwanted, caption) and not is_part:
                text, with_a, _ = composed(wanted.subject, wanted.text, unwanted.text, rng)
                doing = inflect_phrase(unwanted.text, "VBG")
                if rng.random() < JOINED_SHARE:
                    with_a = _clause(wanted, rng, finite=False)
                    text = rng.choice(_DEED_JOINTS).format(A=with_a, F=doing)
                return Denial("composed", text, with_a, doing)
        return None

    def _without(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """A without N, A being all of the caption or what somebody does in it."""
        wanted = caption.text if len(caption.words) <= MOST_WORDS else ""
        if caption.deeds and (not wanted or rng.random() >= WHOLE_SHARE):
            wanted = _clause(rng.choice(caption.deeds), rng)
        thing = self._thing(caption, rng)
        if not (wanted and thing):
            return None
        template = _numbered(rng.choice(_FREE_WITHOUT), thing)
        return Denial("without", template.format(A=wanted, N=thing.text, n=thing.bare), wanted, thing.text)

    def _not(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Not B, of something done or of a thing; "nobody" only of what people do."""
        if self._doing and rng.random() < DEED_SHARE:
            for _ in range(TRIES):
                deed = rng.choice(rng.choice(self._doing).deeds)
                if _is_new(deed, caption):
                    doing, does = inflect_phrase(deed.text, "VBG"), inflect_phrase(deed.text, "VBZ")
                    template = rng.choice(NO_DEED) if deed.subject.is_human else NO_DEED[0]
                    return Denial("not", template.format(B_ing=doing, B_s=does), "", doing)
        thing = self._thing(caption, rng)
        if thing is None:
            return None
        template = _numbered(rng.choice(NO_THING), thing)
        return Denial("not", template.format(N=thing.text, n=thing.bare), "", thing.text)

    def _fragment(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """A caption and some words of another, joined freely."""
        if len(caption.words) > MOST_WORDS:
            return None
        for _ in range(TRIES):
            other = rng.choice(self._sources)
            start, size = rng.randrange(len(other.words)), rng.randint(1, LONGEST_FRAGMENT)
            words = _trimmed(other, start, min(start + size, len(other.words)))
            tags = [other.tags[i] for i in words]
            content = {other.lemmas[i] for i in words if other.tags[i] in _CONTENT} - _HELPING
            is_new = any(not also_called(lemma) & caption.names for lemma in content)
            if is_new and not _BREAKS.intersection(tags):
                fragment = " ".join(other.words[i] for i in words).replace(" '", "'")
                bare = re.sub(r"^(an?|the) ", "", fragment)
                text = rng.choice(_joints(tags)).format(A=caption.text, F=fragment, f=bare)
                return Denial("fragment", text, caption.text, fragment)
        return None

    def _thing(self, caption: _Parsed, rng: random.Random) -> Thing | None:
        """Draw a thing that the caption does not name."""
        for _ in range(TRIES if self._naming else 0):
            thing = rng.choice(rng.choice(self._naming).things)
            if not thing.names & caption.names:
                return thing
        return None


def _is_new(deed: _Deed, caption: _Parsed) -> bool:
    return not deed.content <= caption.names


def _numbered(template: str, thing: Thing) -> str:
    """Say "there are no dogs"."""
    return template.replace("there is", "there are") if thing.is_plural else template


def _clause(deed: _Deed, rng: random.Random, finite: bool = True) -> str:
    """Say what somebody does, in one of three forms, or two: "a man sings but not dancing" is none."""
    subject, text = deed.subject, deed.text
    does = text if subject.is_plural else inflect_phrase(text, "VBZ")
    doing = inflect_phrase(text, "VBG")
    be = "are" if subject.is_plural else "is"
    forms = (f"{be} {doing}", doing, does) if finite else (f"{be} {doing}", doing)
    return f"{subject.text} {rng.choice(forms)}"


def _parsed(text: str, phrases: Phrases) -> _Parsed | None:
    """Read a caption; None if it is empty, or denies something itself."""
    if not phrases.tokens or affirmed(text, phrases) is not None:
        return None
    found = tuple(things(phrases))
    lemmas = tuple(intern(token.lemma) for token in phrases.tokens)
    verbs = {verb_of(phrases.word(i)) for i, token in enumerate(phrases.tokens) if token.tag in VERB_TAGS}
    return _Parsed(
        text,
        words=tuple(map(intern, phrases.words)),
        tags=tuple(token.tag for token in phrases.tokens),
        lemmas=lemmas,
        names=frozenset(lemmas).union(verbs, *(also_called(lemma) for lemma in lemmas)),
        things=found,
        denied=tuple(_denied(text, phrases)),
    )


def _denied(text: str, phrases: Phrases) -> Iterator[Denial]:
    """Deny each thing of a caption, and read what that wants and does not, as of a typed query."""
    for texts, words in denials(text, phrases):
        query = split_query(texts[0], words)
        wanted = " ".join(query.wanted)
        says_little = {wanted.lower().partition(" ")[0], *query.unwanted} & _SAYS_LITTLE
        if not query.scopes or says_little or _may_go_on(words, query.scopes[-1]):
            continue
        parts = [_participle(*part, words) for part in zip(query.unwanted, query.scopes, strict=True)]
        wanted = wanted.replace(_beyond(texts[0], words, query.scopes[-1]), "")
        yield from (Denial("negated", denied, wanted, " and ".join(parts)) for denied in texts)


def _may_go_on(phrases: Phrases, scope: Span) -> bool:
    """Whether more, or less, may be denied: "(does not toss a child) in camouflage into the air". Precision counts."""
    inside = [i for i, token in enumerate(phrases.tokens) if scope.start <= token.start < scope.end]
    first, after = inside[0], inside[-1] + 1
    place, noun = phrases.place_phrase(after), phrases.noun_phrase(after + 1)
    described = place and place.object and (colour := phrases.noun_phrase(place.object)) and colour.head
    is_thing, last = phrases.tag(first) not in VERB_TAGS, phrases.lemma(after - 1)
    may_act = phrases.tag(first) == "NOUN" or last in ACTORS | ROLES or is_plural_noun(phrases.word(after - 1), last)
    return bool(
        any(phrases.tag(i) in FINITE_TAGS or phrases.word(i) in {"as", "while"} for i in inside[1:])  # a clause
        or (place and phrases.place_phrase(place.end))
        or (described and phrases.tag(described) == "ADJ")  # a player | in blue
        or phrases.word(after) == "of"
        or (place and phrases.tag(first) == "VBN")  # covered | in cake
        or phrases.tag(after) in {"WH", "ADJ", "VBN"}
        or (phrases.tag(after) == "VBG" and may_act)  # without dogs | following
        or (phrases.word(after) in {"and", "or"} and noun and (is_thing or phrases.tag(noun.end) not in VERB_TAGS))
    )


def _beyond(text: str, phrases: Phrases, scope: Span) -> str:
    """Return the place that goes with the thing in a scope: "without (trees) | in the background"."""
    after = sum(token.end <= scope.end for token in phrases.tokens)
    place = phrases.place_phrase(after)
    if not (place and place.object and {phrases.word(place.object), phrases.lemma(place.object + 1)} & _OWN):
        return "\n"  # which no caption has
    return text[phrases.tokens[after - 1].end : phrases.tokens[place.end - 1].end]


def _participle(unwanted: str, scope: Span, phrases: Phrases) -> str:
    """Say "riding a bike" for the "ride a bike" that stands in a scope of the sentence."""
    verb = next(token for token in phrases.tokens if token.start == scope.start)
    if verb.tag not in FINITE_TAGS | {"VB"} or not unwanted.startswith(verb.text):
        return unwanted
    return f"{inflect(verb.lemma, 'VBG')}{unwanted[len(verb.text) :]}"


def _deeds(phrases: Mapping[tuple[Subject, Key], VerbPhrase], usage: Usage) -> Iterator[_Deed]:
    """Yield what a caption tells of that can be said alone."""
    for (subject, key), phrase in phrases.items():
        if text := usage.text(subject, key):
            yield _Deed(subject, text, phrase.content)


def _trimmed(caption: _Parsed, start: int, end: int) -> range:
    """Leave out words at both ends of a fragment that lead nowhere: "riding a", or "is riding a big" of a horse."""
    tags, lemmas = caption.tags, caption.lemmas
    while start < end and (tags[start] in _NOT_FIRST or lemmas[start] == "be"):
        start += 1
    while start < end and (
        tags[end - 1] in _NOT_LAST
        or lemmas[end - 1] == "be"
        or (tags[end - 1] == "ADJ" and tags[end : end + 1] in (("ADJ",), ("NOUN",)))
    ):
        end -= 1
    return range(start, end)


def _joints(tags: Sequence[str]) -> tuple[str, ...]:
    """Return how a fragment with such tags can be denied."""
    if tags[0] == "VBG":
        return _DEED_JOINTS
    is_thing = tags[0] in _OPENS_THING and "NOUN" in tags and not FINITE_TAGS.intersection(tags)
    return _THING_JOINTS if is_thing else _JOINTS
