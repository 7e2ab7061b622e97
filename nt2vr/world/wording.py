"""Wordings: noun phrases for figures and things, verbs of deeds in the forms of a sentence, and what they claim."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Literal

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Act, SubjectClaim
from nt2vr.world.scenes import Deed, Figure
from nt2vr.world.things import Names, Noun, Thing, things, those, words_of_kind

USUAL_SHARE, OTHER_SHARE = (
    0.6,
    0.26,
)  # of mentions: by the usual name, by another name; the rest by a kind
BARE_PLURAL_SHARE = 0.25  # of mentions of several: "dogs" instead of "two dogs"
NUMBERS = {2: "two", 3: "three"}
SIZES = {"big": ("big", "large", "huge"), "small": ("small", "little", "tiny")}
SHIRTS = ("in a {} shirt", "in {}", "wearing a {} shirt", "in a {} top", "dressed in {}")


@dataclass(frozen=True)
class Phrase:
    """A noun phrase in a sentence and what it claims."""

    text: str
    who: SubjectClaim
    plural: bool = False
    pronoun: Literal["he", "she", "it", "they"] = "it"


@cache
def meanings() -> dict[str, Names]:
    """Map words, in the singular, to the things they name: "bird" to all birds, "brown bear" to one bear."""
    found: dict[str, set[str]] = {}
    for name, thing in things().items():
        for noun in thing.nouns:
            found.setdefault(noun.word, set()).add(name)
        for kind in thing.kinds:
            for noun in words_of_kind(kind):
                found.setdefault(noun.word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


@cache
def _words(
    thing: Thing, countable: bool
) -> tuple[tuple[Noun, ...], tuple[Noun, ...], tuple[Noun, ...]]:
    """Return the usual name, the others and those of kinds; `countable` leaves out "coffee" and "scissors"."""
    of_kinds = (noun for kind in sorted(thing.kinds) for noun in words_of_kind(kind))
    some = (thing.nouns[:1], thing.nouns[1:], of_kinds)
    usual, others, general = (
        tuple(noun for noun in group if noun.number == "one" or not countable) for group in some
    )
    return usual, others, general


def draw_noun(thing: Thing, rng: Random, countable: bool = False) -> Noun:
    usual, others, general = _words(thing, countable)
    draw = rng.random()
    if draw < USUAL_SHARE or not (others or general):
        return usual[0] if usual else (others or general)[0]
    return rng.choice(
        others if others and (draw < USUAL_SHARE + OTHER_SHARE or not general) else general
    )


def draw_phrase(figure: Figure, rng: Random, detail: float = 0.0, mood: str = "") -> Phrase:
    """Name a figure; size and colour are said with probability `detail`, `mood` is one more adjective."""
    thing, several = figure.kind, figure.count > 1
    noun = draw_noun(thing, rng, several)
    who = SubjectClaim(meanings()[noun.word])
    adjectives, wearing = [*filter(None, [mood])], ""
    if figure.size and rng.random() < detail:
        adjectives.insert(0, rng.choice(SIZES[figure.size]))
        who = replace(who, size=figure.size)
    if figure.colour and rng.random() < detail:
        who = replace(who, colour=figure.colour)
        if thing.role == "person":
            wearing = " " + rng.choice(SHIRTS).format(figure.colour).replace(
                " a orange", " an orange"
            )
        else:
            adjectives.append(figure.colour)
    if several:
        if rng.random() < BARE_PLURAL_SHARE:
            who = replace(who, least=2)
        else:
            adjectives.insert(0, NUMBERS[figure.count])
            who = replace(who, least=figure.count, most=figure.count)
        wearing = f" in {figure.colour} shirts" if " a" in wearing else wearing
        return Phrase(" ".join((*adjectives, noun.plural)) + wearing, who, True, "they")
    many = noun.number == "many"
    text = noun.with_article(" ".join(adjectives)) + wearing
    return Phrase(text, who, many, "they" if many else thing.pronoun)


FORMS = ("is {ing}", "is {ing}", "{ing}", "{s}", "{s}")
SEQUENCES = ("before", "after", "and then", ", then", "and afterwards")
OBJECT_COLOUR_SHARE = 0.35  # of things held, worn or ridden whose colour is said


@dataclass(frozen=True)
class Verb:
    """A verb of a caption: a phrase with the verb as a lemma, and its form: "is {ing}", "{ing}" or "{s}"."""

    phrase: str
    form: str
    plural: bool = False

    @property
    def text(self) -> str:
        return conjugate(self.phrase, self.form, self.plural)

    @property
    def denied(self) -> tuple[str, ...]:
        if self.form == "{ing}":
            return (f"not {self.text}",)
        does, is_ = ("do", "are") if self.plural else ("does", "is")
        verb, rest = (
            (does, self.phrase) if self.form == "{s}" else (is_, inflect_phrase(self.phrase, "VBG"))
        )
        return f"{verb} not {rest}", f"{verb}n't {rest}"


def conjugate(phrase: str, form: str, plural: bool = False) -> str:
    """Put the verb that begins a phrase into "is {ing}", "{ing}" or "{s}", for one or for several."""
    if form == "{s}":
        return phrase if plural else inflect_phrase(phrase, "VBZ")
    doing = inflect_phrase(phrase, "VBG")
    return doing if form == "{ing}" else f"{'are' if plural else 'is'} {doing}"


def in_turn(who: str, first: str, second: str, joint: str) -> str:
    """Say that somebody does one thing, then another, joined by one of SEQUENCES: "a woman sings, then dances"."""
    if joint == "after":
        return f"{who} {conjugate(second, '{s}')} after {conjugate(first, '{ing}')}"
    form, space = "{ing}" if joint == "before" else "{s}", "" if joint.startswith(",") else " "
    return f"{who} {conjugate(first, '{s}')}{space}{joint} {conjugate(second, form)}"


def draw_object(deed: Deed, rng: Random) -> tuple[str, Act]:
    """Name the thing that somebody holds, wears or rides, with its article; the act leaves the verb open."""
    noun = draw_noun(things()[str(deed.object)], rng)
    colour = deed.colour if deed.colour and rng.random() < OBJECT_COLOUR_SHARE else ""
    is_the = deed.verb == "play" and not colour and "instrument" not in noun.word
    words = f"the {noun.word}" if is_the else noun.with_article(colour)
    return words, Act(objects=meanings()[noun.word], colour=colour)


def draw_deed(
    deed: Deed, figures: Sequence[Figure], rng: Random, named: bool = False
) -> tuple[str, Act]:
    """Word a deed, with the verb as a lemma, and claim it; `named` targets were mentioned before: "the dog"."""
    phrase, verbs = rng.choice(deed.kind.phrases), frozenset((deed.verb,))
    if deed.object is None:
        return phrase, Act(verbs)
    if isinstance(deed.object, str):
        words, act = draw_object(deed, rng)
        return phrase.format(o=words), replace(act, verbs=verbs)
    target = figures[deed.object]
    noun = draw_noun(target.kind, rng, target.count > 1)
    if target.count > 1:
        words = f"{rng.choice(('the', 'some', NUMBERS[target.count]))} {noun.plural}"
    else:
        words = f"the {noun.word}" if named else noun.with_article()
    return phrase.format(o=words), Act(verbs, targets=meanings()[noun.word])


@cache
def persons() -> frozenset[str]:
    return frozenset(those(("person",)))


def name_doer(figure: Figure, verb: str, word: str, needed: str, adjective: str) -> Phrase:
    """Name a person by what it does and the object it needs for that: "a drummer", by the drum."""
    who = SubjectClaim(
        persons(), (Act(frozenset((verb,)), frozenset((needed,) if needed else ())),)
    )
    if figure.count > 1:
        text = f"{NUMBERS[figure.count]} {adjective} {word}s"
        return Phrase(text, replace(who, least=figure.count, most=figure.count), True, "they")
    return Phrase(Noun(word, f"{word}s").with_article(adjective), who)
