"""Wordings: noun phrases for figures and things, verbs of actions, and what they claim."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Literal, NamedTuple

from nt2vr.negation.parse.inflect import do_or_does, finite, inflect_phrase, is_or_are, with_not
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import Noun, Thing, persons, things, words_of_kind

# Of mentions: by the usual name, by another name; the rest by a kind.
USUAL_SHARE = 0.6
OTHER_SHARE = 0.26
# Of mentions of several: "dogs" instead of "two dogs".
BARE_PLURAL_SHARE = 0.25
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
SIZES = {"big": ("big", "large", "huge"), "small": ("small", "little", "tiny")}
SHIRTS = ("in a {} shirt", "in {}", "wearing a {} shirt", "in a {} top", "dressed in {}")


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase in a sentence and what it claims."""

    text: str
    subject: SubjectClaim
    plural: bool = False
    pronoun: Literal["he", "she", "it", "they"] = "it"

    @property
    def claim(self) -> Claim:
        """The claim that there is such a figure."""
        return Claim((self.subject,))

    def claim_of(self, act: Act) -> Claim:
        """Claim that such a figure does something."""
        return Claim((replace(self.subject, acts=(act,)),))


@cache
def _nouns_for(thing: Thing, countable: bool) -> list[list[Noun]]:
    """Return the words for a thing: its usual name, its other names, and those of its kinds.

    `countable` leaves out "coffee" and "scissors".
    """
    usual, *unusual = thing.nouns
    general: list[Noun] = []
    for kind in sorted(thing.kinds):
        general += words_of_kind(kind)
    choices = [[usual], unusual, general]
    if countable:
        return list(map(_countable, choices))
    return choices


def _countable(nouns: Sequence[Noun]) -> list[Noun]:
    return [noun for noun in nouns if noun.is_countable]


def draw_noun(thing: Thing, rng: Random, countable: bool = False) -> Noun:
    """Draw a word for a thing."""
    usual, unusual, general = _nouns_for(thing, countable)
    draw = rng.random()
    if draw < USUAL_SHARE or not (unusual or general):
        return (usual or unusual or general)[0]
    if draw < USUAL_SHARE + OTHER_SHARE:
        return rng.choice(unusual or general)
    return rng.choice(general or unusual)


def draw_phrase(figure: Figure, rng: Random, detail: float = 0.0, mood: str = "") -> NounPhrase:
    """Name a figure; size and colour are said with probability `detail`.

    `mood` is one more adjective.
    """
    thing = figure.kind
    is_group = figure.count > 1
    noun = draw_noun(thing, rng, is_group)
    subject = SubjectClaim(noun.names)
    adjectives = [mood] if mood else []
    if figure.size and rng.random() < detail:
        adjectives.insert(0, rng.choice(SIZES[figure.size]))
        subject = replace(subject, size=figure.size)

    shirt = ""
    if figure.colour and rng.random() < detail:
        subject = replace(subject, colour=figure.colour)
        if thing.role == "person":
            shirt = _draw_shirt(figure.colour, rng)
        else:
            adjectives.append(figure.colour)

    if is_group:
        return _group_phrase(
            figure, noun=noun, subject=subject, adjectives=adjectives, shirt=shirt, rng=rng
        )
    text = noun.with_article(" ".join(adjectives)) + shirt
    if noun.number == "many":
        return _several(text, subject)
    return NounPhrase(text, subject, pronoun=thing.pronoun)


def _draw_shirt(colour: str, rng: Random) -> str:
    """Word the colour of somebody's clothes: " in a red shirt"."""
    shirt = rng.choice(SHIRTS).format(colour)
    shirt = shirt.replace("a orange", "an orange")
    return f" {shirt}"


def _group_phrase(
    figure: Figure,
    noun: Noun,
    subject: SubjectClaim,
    adjectives: list[str],
    shirt: str,
    rng: Random,
) -> NounPhrase:
    """Name several: "two big dogs", "dogs"."""
    if rng.random() < BARE_PLURAL_SHARE:
        subject = replace(subject, least=2)
    else:
        adjectives = [NUMBERS[figure.count], *adjectives]
        subject = replace(subject, least=figure.count, most=figure.count)
    # Several do not wear "a red shirt".
    if " a" in shirt:
        shirt = f" in {figure.colour} shirts"
    text = " ".join((*adjectives, noun.plural)) + shirt
    return _several(text, subject)


def _several(text: str, subject: SubjectClaim) -> NounPhrase:
    return NounPhrase(text, subject, plural=True, pronoun="they")


FORMS = ("is {ing}", "is {ing}", "{ing}", "{s}", "{s}")
SEQUENCES = ("before", "after", "and then", ", then", "and afterwards")
# Of things held, worn or ridden whose colour is said.
OBJECT_COLOUR_SHARE = 0.35


class Done(NamedTuple):
    """What somebody does: a phrase, with the verb as a lemma, and the act that it claims."""

    phrase: str
    act: Act

    @property
    def doing(self) -> str:
        return inflect_phrase(self.phrase, "VBG")


@dataclass(frozen=True)
class Verb:
    """A verb of a caption.

    Attributes:
        phrase: the verb, as a lemma, with its object.
        form: "is {ing}", "{ing}" or "{s}".
        plural: whether several do it.
    """

    phrase: str
    form: str
    plural: bool = False

    @property
    def text(self) -> str:
        return conjugate(self.phrase, self.form, self.plural)

    @property
    def doing(self) -> str:
        return conjugate(self.phrase, "{ing}")

    @property
    def denied(self) -> tuple[str, ...]:
        """The ways to deny it: "does not run", "doesn't run"."""
        if self.form == "{ing}":
            return (f"not {self.text}",)
        if self.form == "{s}":
            return with_not(do_or_does(self.plural), self.phrase)
        return with_not(is_or_are(self.plural), self.doing)


def conjugate(phrase: str, form: str, plural: bool = False) -> str:
    """Put the verb that begins a phrase into "is {ing}", "{ing}" or "{s}"."""
    if form == "{s}":
        return finite(phrase, plural)
    doing = inflect_phrase(phrase, "VBG")
    if form == "{ing}":
        return doing
    return f"{is_or_are(plural)} {doing}"


def in_turn(subject: str, first: str, second: str, joint: str) -> str:
    """Say that somebody does one thing, then another, joined by one of SEQUENCES."""
    predicate = join_in_turn(Verb(first, "{s}"), Verb(second, "{s}"), joint)
    text = " ".join((subject, *predicate))
    # a woman sings, then dances
    return text.replace(" ,", ",")


def join_in_turn(first: Verb, second: Verb, joint: str) -> list[str]:
    """Return the words for one verb and then another, joined by one of SEQUENCES."""
    if joint == "before":
        return [first.text, joint, second.doing]
    if joint == "after":
        return [second.text, joint, first.doing]
    return [first.text, joint, second.text]


def draw_object(action: Action, rng: Random) -> tuple[str, Act]:
    """Name the thing that somebody holds, wears or rides; the act leaves the verb open."""
    noun = draw_noun(things()[action.thing], rng)
    colour = ""
    if action.colour and rng.random() < OBJECT_COLOUR_SHARE:
        colour = action.colour
    text = noun.with_article(colour)
    # play the guitar
    is_played = action.verb == "play" and "instrument" not in noun.word
    if is_played and not colour:
        text = f"the {noun.word}"
    return text, Act(objects=noun.names, colour=colour)


def draw_action(action: Action, scene: Scene, rng: Random, was_named: bool = False) -> Done:
    """Word an action of a scene.

    Targets that were named before are "the dog".
    """
    phrase = rng.choice(action.kind.phrases)
    verbs = frozenset((action.verb,))
    if action.thing:
        text, act = draw_object(action, rng)
        return Done(phrase.format(o=text), replace(act, verbs=verbs))

    if action.target is None:
        return Done(phrase, Act(verbs))

    target = scene.figures[action.target]
    is_group = target.count > 1
    noun = draw_noun(target.kind, rng, is_group)
    if is_group:
        determiner = rng.choice(("the", "some", NUMBERS[target.count]))
        text = f"{determiner} {noun.plural}"
    elif was_named:
        text = f"the {noun.word}"
    else:
        text = noun.with_article()
    return Done(phrase.format(o=text), Act(verbs, targets=noun.names))


def name_doer(count: int, word: str, act: Act, adjective: str) -> NounPhrase:
    """Name a person by what it does and the object it needs: "a drummer", by the drum."""
    subject = SubjectClaim(persons(), (act,))
    noun = Noun(word, plural=f"{word}s")
    if count == 1:
        return NounPhrase(noun.with_article(adjective), subject)
    text = f"{NUMBERS[count]} {adjective} {noun.plural}"
    return _several(text, replace(subject, least=count, most=count))
