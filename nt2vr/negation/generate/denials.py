"""Negated sentences from arbitrary captions, with their wanted and unwanted parts. Knows no videos.

Kinds:
    negated     a caption with one thing denied
    composed    A and not B
    without     A without a thing N
    absent      the same in other words, such as "lacking"; A may be a single thing
    not         not B alone
    fragment    a caption joined with a few words of another one, which teaches the words of negation rather than one
                generator's grammar
    typed       "A and not B" or "A without N" in the words of people who search
    typed not   "not B" in their words
    idiom       a sentence that denies nothing
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Literal, NamedTuple

from nt2vr.negation.generate.actions import Action, Subject, actions, also_called, is_plural_noun
from nt2vr.negation.generate.composer import fill_template
from nt2vr.negation.generate.content import Thing, Usage, agrees, things
from nt2vr.negation.generate.negator import affirm, denials
from nt2vr.negation.generate.wordings import (
    Wordings,
    ask,
    bare,
    draw_idiom,
    mistyped,
    refuse,
    word,
    wordings_in,
)
from nt2vr.negation.parse.inflect import inflect, inflect_phrase, verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import Span, split_query
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import listed

DenialKind = Literal[
    "negated", "composed", "without", "not", "fragment", "typed", "idiom", "typed not", "absent"
]

DEED_SHARE = 0.6  # of "not B", typed or not: B is an action, otherwise a thing
SAME_SUBJECT_SHARE = 0.5  # of "A and not B": B is drawn from captions of the same subject
FULL_CAPTION_SHARE = 0.5  # of "A without N": A is the full caption
NAMED_SHARE = 0.35  # of "absent": A is a thing
ASKED_SHARE = 0.1  # of "typed": a request that excludes nothing
JOINED_SHARE = 0.5  # of "A and not B": joined freely as fragments are, not by nT2VR's templates
TRIES = 12  # captions drawn to find something the current one does not say
MOST_WORDS = (
    25  # longer captions are not extended: models truncate texts to 77 tokens, small ones to fewer
)
LONGEST_FRAGMENT = 4  # words

_OPENS_THING = frozenset({"DET", "NUM", "ADJ", "NOUN"})
_CONTENT = frozenset({"NOUN", "ADJ", "VB", "VBZ", "VBP", "VBD", "VBG", "VBN"})
_HELPING = frozenset({"be", "have", "do"})
_NOT_FIRST = frozenset({"CONJ", "PUNCT", "POS", "WH", "MD"})
_BREAKS = frozenset({"PUNCT", "NEG", "OTHER"})
_NOT_LAST = _NOT_FIRST | {"DET", "NUM", "ADP", "TO", "PRON"}
# Left over when "this is a clip of …" or "… is shown" is denied
_SAYS_LITTLE = frozenset({"this", "it", "that", "shown", "played", "filmed", "displayed"})
# Words of a place that belongs to a thing: "without a flag | in his hand", "without trees | in the background"
_OWN = frozenset({"his", "her", "its", "their", "background", "foreground"})


@dataclass(frozen=True)
class Denial:
    """A negated sentence."""

    kind: DenialKind
    text: str
    wanted: str  # phrase the video should show; empty for "not B", an affirmative paraphrase for an idiom
    unwanted: (
        str  # affirmative phrase it should not show; empty for an idiom, and for a mere request
    )


class _Deed(NamedTuple):
    """An action: `text` with the verb as a lemma, `content` lemmas to compare."""

    subject: Subject
    text: str
    content: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Parsed:
    text: str  # without a final full stop
    words: tuple[str, ...]  # in lower case
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    names: frozenset[str]  # lemmas, and hypernyms of its nouns
    things: tuple[Thing, ...]
    denied: tuple[Denial, ...]  # its versions with one thing or verb denied
    deeds: tuple[_Deed, ...] = ()


class CaptionDenials:
    """Draws negated sentences for captions of any domain; captions that are negated themselves give none."""

    def __init__(
        self, captions: Iterable[str] = (), parsed: Iterable["ParsedCaption"] | None = None
    ) -> None:
        """Parse the captions, about 700 per second on one core, unless they are given as `parse_caption` does."""
        usage = Usage()
        parsed = list(map(parse_caption, captions) if parsed is None else parsed)
        for number, (_, found) in enumerate(parsed):
            for action in found:
                usage.add(str(number), action)
        self._captions = [
            caption and replace(caption, deeds=tuple(_deeds(found, usage)))
            for caption, found in parsed
        ]
        self._sources = list(filter(None, self._captions))
        self._naming = [caption for caption in self._sources if caption.things]
        self._doing = [caption for caption in self._sources if caption.deeds]
        self._done_by: dict[Subject, list[_Deed]] = defaultdict(list)
        for caption in self._doing:
            for deed in caption.deeds:
                self._done_by[deed.subject].append(deed)

    def __len__(self) -> int:
        return len(self._captions)

    def draw(
        self,
        caption_index: int,
        kind: DenialKind,
        rng: random.Random,
        wordings: Wordings = "trained",
    ) -> Denial | None:
        """Draw a sentence for a caption, an idiom in `wordings`; None if the caption allows none of this kind.

        The unwanted part comes from other captions and is absent from this one, except for
        "negated" sentences.
        """
        draws: dict[DenialKind, Callable[[_Parsed, random.Random], Denial | None]] = {
            "negated": lambda caption, rng: rng.choice(caption.denied) if caption.denied else None,
            "composed": self._composed,
            "without": self._without,
            "not": self._not,
            "fragment": self._fragment,
            "typed": self._typed,
            "idiom": lambda caption, rng: _idiom(caption, rng, wordings),
            "typed not": self._typed_not,
            "absent": self._absent,
        }
        caption = self._captions[caption_index]
        return draws[kind](caption, rng) if caption else None

    def _composed(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A and not B", by nT2VR's templates or joined freely."""
        if not caption.deeds:
            return None
        wanted = rng.choice(caption.deeds)
        near = self._done_by[wanted.subject] if rng.random() < SAME_SUBJECT_SHARE else []
        for attempt in range(TRIES):
            unwanted = rng.choice(
                near if near and attempt < TRIES // 2 else rng.choice(self._doing).deeds
            )
            is_part = wanted.content <= unwanted.content  # runs and does not run on the beach
            if (
                agrees(wanted.subject, unwanted.text)
                and not unwanted.content <= caption.names
                and not is_part
            ):
                text, with_a, _ = fill_template(wanted.subject, wanted.text, unwanted.text, rng)
                doing = inflect_phrase(unwanted.text, "VBG")
                if rng.random() < JOINED_SHARE:
                    with_a = _clause(wanted, rng, finite=False)
                    text = rng.choice(templates_for("joint of a deed")).format(A=with_a, F=doing)
                return Denial("composed", text, with_a, doing)
        return None

    def _without(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A without N", partly in forms of no test grammar; A is the full caption or one of its actions."""
        wanted = self._wanted(caption, rng)
        thing = self._thing(caption, rng)
        if not (wanted and thing):
            return None
        return Denial("without", lacking("freely without", thing, rng, wanted), wanted, thing.text)

    def _absent(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A without N" in words such as "lacking"; A may be a thing that the caption names."""
        if caption.things and rng.random() < NAMED_SHARE:
            wanted = rng.choice(caption.things).text
        else:
            wanted = self._wanted(caption, rng)
        thing = self._thing(caption, rng)
        if not (wanted and thing):
            return None
        text = mistyped(lacking("absent", thing, rng, wanted), rng)
        return Denial("absent", text, wanted, thing.text)

    def _wanted(self, caption: _Parsed, rng: random.Random) -> str:
        """Return the full caption or one of its actions; "" if it is too long and has none."""
        wanted = caption.text if len(caption.words) <= MOST_WORDS else ""
        if caption.deeds and (not wanted or rng.random() >= FULL_CAPTION_SHARE):
            wanted = _clause(rng.choice(caption.deeds), rng)
        return wanted

    def _not(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "not B" for an action or a thing; "nobody" only for actions of people."""
        if deed := self._other_deed(caption, rng):
            doing = inflect_phrase(deed.text, "VBG")
            templates = templates_for("no deed")
            template = rng.choice(templates) if deed.subject.is_human else templates[0]
            text = template.format(B_ing=doing, B_s=inflect_phrase(deed.text, "VBZ"))
            return Denial("not", text, "", doing)
        if thing := self._thing(caption, rng):
            return Denial("not", lacking("no thing", thing, rng), "", thing.text)
        return None

    def _typed_not(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Word "not B" as people type it."""
        if deed := self._other_deed(caption, rng):
            doing = inflect_phrase(deed.text, "VBG")
            use = "of a person" if deed.subject.is_human else "of an animal"
            return Denial("typed not", refuse(doing, use, rng), "", doing)
        if thing := self._thing(caption, rng):
            return Denial("typed not", refuse(thing.text, "of a thing", rng), "", thing.text)
        return None

    def _other_deed(self, caption: _Parsed, rng: random.Random) -> _Deed | None:
        """Draw an action that the caption does not tell of; None if a thing is to be denied instead."""
        if not self._doing or rng.random() >= DEED_SHARE:
            return None
        for _ in range(TRIES):
            deed = rng.choice(rng.choice(self._doing).deeds)
            if not deed.content <= caption.names:
                return deed
        return None

    def _fragment(self, caption: _Parsed, rng: random.Random) -> Denial | None:
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
                text = rng.choice(_joints(tags)).format(
                    A=caption.text, F=fragment, f=bare(fragment)
                )
                return Denial("fragment", text, caption.text, fragment)
        return None

    def _typed(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Word "A and not B" or "A without N" as people type it, or merely ask for A."""
        is_deed = rng.random() < DEED_SHARE
        draw = self._composed if is_deed else self._without
        if (denial := draw(caption, rng)) is None:
            return None
        wanted, unwanted = denial.wanted, denial.unwanted
        if rng.random() < ASKED_SHARE:
            return Denial("typed", ask(wanted, rng), wanted, "")
        more = draw(caption, rng)
        other = more.unwanted if more and more.unwanted != unwanted else ""
        text, with_other = word(wanted, unwanted, other, is_deed, rng)
        return Denial("typed", text, wanted, f"{unwanted} and {other}" if with_other else unwanted)

    def _thing(self, caption: _Parsed, rng: random.Random) -> Thing | None:
        for _ in range(TRIES if self._naming else 0):
            thing = rng.choice(rng.choice(self._naming).things)
            if not thing.names & caption.names:
                return thing
        return None


def _idiom(caption: _Parsed, rng: random.Random, wordings: Wordings) -> Denial | None:
    if len(caption.words) > MOST_WORDS:
        return None
    deeds = [(deed.subject, deed.text) for deed in caption.deeds]
    found = draw_idiom(caption.text, deeds, caption.things, rng, wordings)
    return Denial("idiom", found.text, found.meaning, "") if found else None


def templates_for(use: str) -> list[str]:
    """Return the templates of `assets/wordings/denials.json` for one use; one given twice is twice as likely.

    {A} is wanted; {N} is a thing, {B_ing} and {B_s} a deed, {F} a fragment; {n} and {f} lack the
    article.
    """
    found: list[str] = wordings_in("denials.json")[use]
    return found


def lacking(use: str, thing: Thing, rng: random.Random, wanted: str = "") -> str:
    """Fill a random template for a thing that is not there; "there is" agrees with it."""
    template = rng.choice(templates_for(use))
    template = template.replace("there is", "there are") if thing.is_plural else template
    return template.format(A=wanted, N=thing.text, n=thing.bare)


def _clause(deed: _Deed, rng: random.Random, finite: bool = True) -> str:
    """Phrase an action as "is singing", "singing" or, if `finite`, "sings"."""
    subject, text = deed.subject, deed.text
    does = text if subject.is_plural else inflect_phrase(text, "VBZ")
    doing = inflect_phrase(text, "VBG")
    be = "are" if subject.is_plural else "is"
    forms = (f"{be} {doing}", doing, does) if finite else (f"{be} {doing}", doing)
    return f"{subject.text} {rng.choice(forms)}"


class ParsedCaption(NamedTuple):
    """What sentences are drawn from; None for a caption that is empty, or negated itself."""

    caption: _Parsed | None
    actions: list[Action]


def parse_caption(caption: str) -> ParsedCaption:
    text = " ".join(caption.split()).rstrip(" .,;:!?")
    phrases = Phrases(load_tagger().tag(text))
    found = actions(phrases)
    if not phrases.tokens or affirm(text, phrases) is not None:
        return ParsedCaption(None, found)
    lemmas = tuple(intern(token.lemma) for token in phrases.tokens)
    verbs = {
        verb_of(word)
        for word, token in zip(phrases.words, phrases.tokens, strict=True)
        if token.tag in VERB_TAGS
    }
    parsed = _Parsed(
        text,
        words=tuple(map(intern, phrases.words)),
        tags=tuple(token.tag for token in phrases.tokens),
        lemmas=lemmas,
        names=frozenset(lemmas).union(verbs, *map(also_called, lemmas)),
        things=tuple(things(phrases)),
        denied=tuple(_denied(text, phrases)),
    )
    return ParsedCaption(parsed, found)


def _denied(text: str, phrases: Phrases) -> Iterator[Denial]:
    for texts, words in denials(text, phrases):
        query = split_query(texts[0], words)
        wanted = " ".join(query.wanted)
        says_little = {
            (wanted or texts[0]).lower().partition(" ")[0],
            *query.unwanted,
        } & _SAYS_LITTLE
        if not query.scopes or says_little or _may_go_on(words, query.scopes[-1]):
            continue
        parts = [
            _participle(*part, words) for part in zip(query.unwanted, query.scopes, strict=True)
        ]
        wanted = wanted.replace(_beyond(texts[0], words, query.scopes[-1]), "")
        yield from (Denial("negated", denied, wanted, " and ".join(parts)) for denied in texts)


def _may_go_on(phrases: Phrases, scope: Span) -> bool:
    """Return whether a scope may be wrong, as in "(does not toss a child) in camouflage into the air"."""
    inside = [i for i, token in enumerate(phrases.tokens) if scope.start <= token.start < scope.end]
    first, after = inside[0], inside[-1] + 1
    has_clause = any(
        phrases.tag(i) in FINITE_TAGS or phrases.word(i) in {"as", "while"} for i in inside[1:]
    )
    acts = _may_act(phrases, first, after - 1)
    goes_on = phrases.word(after) == "of" or phrases.tag(after) in {"WH", "ADJ", "VBN"}
    ambiguous = _place_is_ambiguous(phrases, first, after) or _list_is_ambiguous(
        phrases, first, after
    )
    return has_clause or acts or goes_on or ambiguous


def _place_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether the place at word `after` may belong to the scope that starts with word `first`."""
    place = phrases.place_phrase(after)
    if place is None:
        return False
    noun = phrases.noun_phrase(place.object) if place.object else None
    is_colour = noun is not None and phrases.tag(noun.head) == "ADJ"  # a player | in blue
    return bool(
        is_colour or phrases.tag(first) == "VBN" or phrases.place_phrase(place.end)
    )  # covered | in cake


def _may_act(phrases: Phrases, first: int, last: int) -> bool:
    lemma = phrases.lemma(last)
    acts = lemma in listed("actors", "roles") or is_plural_noun(phrases.word(last), lemma)
    return phrases.tag(last + 1) == "VBG" and (acts or phrases.tag(first) == "NOUN")


def _list_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether "and" or "or" at word `after` may add to the scope that starts with word `first`."""
    noun = phrases.noun_phrase(after + 1)
    if phrases.word(after) not in {"and", "or"} or noun is None:
        return False
    return phrases.tag(first) not in VERB_TAGS or phrases.tag(noun.end) not in VERB_TAGS


def _beyond(text: str, phrases: Phrases, scope: Span) -> str:
    """Return the place that belongs to the thing in a scope: "without (trees) | in the background"."""
    after = sum(token.end <= scope.end for token in phrases.tokens)
    place = phrases.place_phrase(after)
    if not (
        place
        and place.object
        and {phrases.word(place.object), phrases.lemma(place.object + 1)} & _OWN
    ):
        return "\n"  # not in any caption
    return text[phrases.tokens[after - 1].end : phrases.tokens[place.end - 1].end]


def _participle(unwanted: str, scope: Span, phrases: Phrases) -> str:
    """Turn the "ride a bike" of a scope into "riding a bike"."""
    verb = next(token for token in phrases.tokens if token.start == scope.start)
    if verb.tag not in FINITE_TAGS | {"VB"} or not unwanted.startswith(verb.text):
        return unwanted
    return f"{inflect(verb.lemma, 'VBG')}{unwanted[len(verb.text) :]}"


def _deeds(found: Sequence[Action], usage: Usage) -> Iterator[_Deed]:
    content = {(action.subject, action.phrase.key): action.phrase.content for action in found}
    for (subject, key), lemmas in content.items():
        if text := usage.text(subject, key):
            yield _Deed(subject, text, lemmas)


def _trimmed(caption: _Parsed, start: int, end: int) -> range:
    """Drop dangling words at both ends of a fragment: "riding a", or "is riding a big" of a horse."""
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


def _joints(tags: Sequence[str]) -> list[str]:
    if tags[0] == "VBG":
        return templates_for("joint of a deed")
    is_thing = tags[0] in _OPENS_THING and "NOUN" in tags and not FINITE_TAGS.intersection(tags)
    return templates_for("joint of a thing" if is_thing else "joint")
