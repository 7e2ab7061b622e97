"""Reading of phrases: the meanings of their words, from left to right, make a claim."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.claims import MANY, Act, Claim, Order, Who
from nt2vr.world.lexicon import Meaning, ambiguous, emojis, lexicon, longest, tokens_of, verbs
from nt2vr.world.scenes import Scene
from nt2vr.world.things import Names, all_nouns, deeds, places, things
from nt2vr.world.wording import meanings, persons

_JOINTS = frozenset("in on with at near by beside next under who that which".split())


def _coloured(names: Names) -> bool:
    """Return whether the colour of some things can be told: not that of a skin, nor of what has many colours."""
    return all((things()[name].tint or things()[name].look) and things()[name].role != "person" for name in names)


def _able(names: Names, adjectives: Who) -> bool:
    """Return whether one of some things can be in the moods that the adjectives say."""
    return not adjectives.acts or any(
        all(name in deeds()[verb].who for act in adjectives.acts for verb in act.verbs) for name in names
    )


def _looks(names: Names, colour: str) -> Names:
    return frozenset(name for name in names if colour in things()[name].look)


class Reader:
    """Collects the meanings of a phrase, from left to right."""

    def __init__(self, behind: bool) -> None:
        self._behind = behind  # "with a crown in the background" is not worn
        self._whos: list[Who] = []
        self._places: Names = frozenset()
        self._night: bool | None = None
        self._orders: list[Order] = []
        self._next = Who()  # adjectives of the next noun
        self._awaits = False  # an object
        self._need_not = False  # have one
        self._moody = False  # after "smiling", which may belong to the next noun
        self._joint = ""  # relation in time of the last verb to the next one
        self._last: tuple[int, int] | None = None  # the last verb
        self._or = False  # the next noun may be there instead of the last one
        self._after_with = False
        self._aside = False  # the last noun came after "with"
        self._in = False  # after "in" or "with": clothes are worn
        self._after_by = False
        self._passive = False  # after "a ball is thrown", until "by a boy"

    @property
    def claim(self) -> Claim | None:
        """What was read; None if words are left over."""
        if self._next.colour:
            self._shirt()
        self._predicate()
        claim = Claim(tuple(self._whos), self._places, self._night, tuple(self._orders))
        if any(
            act.verbs <= {"start", "stop"} and who.names & persons()
            for who in self._whos
            for act in who.acts
            if act.verbs
        ):
            return None  # what does "a woman stops" stop?
        is_open = self._or or self._next != Who() or (self._awaits and not self._need_not) or self._joint
        return None if claim == Claim() or is_open else claim

    def read(self, meaning: Meaning, words: tuple[str, ...]) -> bool:
        """Add a meaning; return whether it makes sense there."""
        if self._next.colour and meaning.kind in ("verb", "place", "night") and not self._shirt():
            return False
        if meaning.kind in ("place", "night", "time") or words[0] in _JOINTS:
            self._predicate()
        if self._need_not and meaning.kind in ("verb", "place", "night", "time"):
            self._awaits = self._need_not = False  # "a man is eating | at the beach"
        match meaning.kind:
            case "time":
                return self._time(meaning.value)
            case "colour":
                self._next = replace(self._next, colour=meaning.value)
            case "size":
                self._next = replace(self._next, size=meaning.value)
            case "mood":
                self._next = replace(self._next, acts=(Act(meaning.names),))
            case "number":
                self._next = replace(self._next, least=int(meaning.value), most=int(meaning.value))
            case "total":
                least, most = map(int, meaning.value.split())
                self._next = replace(self._next, least=least, most=most, total=(least, most) != (1, MANY))
            case "place":
                self._places = self._places & meaning.names if self._places else meaning.names
                if not self._places:
                    return False  # "in the park on the beach"
            case "night":
                self._night = meaning.value == "night"
            case "verb":
                if self._aside:
                    return False  # "a man with a ball looking sleepy"
                self._verb(meaning)
            case "or":
                self._or = True
                return self._next == Who() and not self._awaits
            case "noun" if self._or:
                return self._instead(meaning)
            case "noun":
                return self._noun(meaning)
            case "pronoun":
                return self._pronoun(meaning.names)
            case "passive":
                return self._done_to(meaning.names)
            case "filler" if words[0] in ("shirt", "top"):
                return self._shirt()
            case "filler" if self._in and self._next.colour and not self._shirt():  # "in green | with a couch"
                return False
        self._moody = meaning.kind == "verb" and all(deeds()[verb].layer == "mood" for verb in meaning.names)
        if meaning.kind not in ("colour", "size", "mood", "number", "total"):
            self._after_with, self._after_by = words[0] == "with", words[0] == "by"
            self._in = words[0] == "in" or (words[0] == "with" and not self._behind)
        return True

    def _verb(self, meaning: Meaning) -> None:
        if not self._whos:
            self._whos.append(Who())
        self._whos[-1] = replace(self._whos[-1], acts=(*self._whos[-1].acts, Act(meaning.names)))
        self._awaits, self._need_not = meaning.takes_object, meaning.takes_object and meaning.alone
        self._related()

    def _related(self) -> None:
        """Note the last act, and its relation in time to the one before."""
        new = len(self._whos) - 1, len(self._whos[-1].acts) - 1
        if self._last and self._joint:
            first, second = (new, self._last) if self._joint == "after" else (self._last, new)
            self._orders.append(Order(first, second, "while" if self._joint == "while" else "before"))
        self._last, self._joint = new, ""

    def _time(self, value: str) -> bool:
        """Read when the last deed is done; return whether there is one."""
        if not self._last or self._joint or self._awaits or (self._orders and value not in ("start", "end")):
            return False  # "a man walks after eating while | a girl sings": which of the two?
        if value not in ("start", "end"):
            self._joint = value
            return True
        number, place = self._last
        acts = list(self._whos[number].acts)
        acts[place] = replace(acts[place], part=value)  # type: ignore[arg-type]  # checked
        self._whos[number] = replace(self._whos[number], acts=tuple(acts))
        return True

    def _noun(self, meaning: Meaning) -> bool:
        adjectives, self._next = self._next, Who()
        is_agent, self._passive = self._passive, False
        if is_agent and not self._after_by:
            return False  # "a dog chased | a cat"
        if self._moody and self._whos[-1].names:
            return False  # "a man sings and a smiling | girl", or "a man is smiling, a | girl"
        people = {things()[name].role for name in meaning.names} == {"person"}
        if people and self._after_by and not (is_agent or self._whos):
            return False  # "eaten by a girl, but not | by a boy"
        if (adjectives.colour and not _coloured(meaning.names)) or not _able(meaning.names, adjectives):
            return False
        adjectives = replace(adjectives, looks=_looks(meaning.names, adjectives.colour))
        if self._in and self._whos and any(things()[name].role == "worn" for name in meaning.names):
            self._verb(Meaning("verb", takes_object=True))
        if self._need_not and not self._may_be_object(meaning.names):
            self._awaits = self._need_not = False  # "a bird is flying near | a kite"
        if not self._awaits:
            least = max(adjectives.least, 2 if meaning.plural and not adjectives.total else 1)
            self._aside = self._after_with and bool(self._whos)  # "with a girl | dancing" is about her
            acts = (*adjectives.acts, meaning.act) if meaning.act else adjectives.acts
            goes_on = is_agent or not (self._orders or self._joint)
            if self._whos and not self._whos[-1].names and goes_on:  # "a smiling | girl", "a ball thrown by a | girl"
                acts = (*self._whos[-1].acts, *acts)
                self._whos[-1] = replace(adjectives, names=meaning.names, least=least, acts=acts)
                return True
            self._whos.append(replace(adjectives, names=meaning.names, least=least, acts=acts))
            return True
        if meaning.act or adjectives.acts or adjectives.least > 1 or adjectives.total:
            return False  # "eating a drummer", "photographing a singer", "holding two balls"
        *others, act = self._whos[-1].acts
        targets = any(deeds()[verb].targets for verb in act.verbs)
        held = any(not deeds()[verb].targets for verb in act.verbs)
        if targets and held:
            return False
        act = replace(act, targets=meaning.names) if targets else replace(act, objects=meaning.names)
        act = replace(act, colour=adjectives.colour, looks=adjectives.looks)
        self._whos[-1] = replace(self._whos[-1], acts=(*others, act))
        self._awaits = self._need_not = False
        return not (targets and adjectives.colour) and not adjectives.size

    def _instead(self, meaning: Meaning) -> bool:
        """Read the second noun of "a cat or a dog", "eating pizza or pasta": either will do."""
        who, self._or = self._whos[-1] if self._whos else Who(), False
        if self._next != Who() or meaning.act or self._aside:
            return False
        if who == Who(who.names, least=who.least) and who.names:
            self._whos[-1] = replace(who, names=who.names | meaning.names)
            return True
        act = who.acts[-1] if who.acts else Act()
        if not act.objects or act != Act(act.verbs, act.objects):
            return False
        self._whos[-1] = replace(who, acts=(*who.acts[:-1], replace(act, objects=act.objects | meaning.names)))
        return True

    def _predicate(self) -> None:
        """Take adjectives that no noun follows for those of the last one: "the girl is happy"."""
        quality, who = self._next, self._whos[-1] if self._whos else Who()
        counted = quality.least > 1 or quality.most < MANY or quality.total
        told = who.names and _able(who.names, quality) and (not quality.colour or _coloured(who.names))
        if quality == Who() or self._awaits or counted or not told:
            return
        if quality.colour:
            who = replace(who, colour=quality.colour, looks=_looks(who.names, quality.colour))
        who = replace(who, size=quality.size or who.size)
        self._whos[-1], self._next = replace(who, acts=(*who.acts, *quality.acts)), Who()

    def _pronoun(self, names: Names) -> bool:
        """Read a "he" or "she": the last one, or somebody new of that sex; of animals it cannot be told."""
        last = self._whos[-1].names if self._whos else frozenset()
        if self._awaits or self._passive or self._next != Who():
            return False
        if last & names:
            return True
        self._whos.append(Who(names))
        return last <= lexicon()[("he",)].names | lexicon()[("she",)].names

    def _done_to(self, done: Names) -> bool:
        """Read what is done to the last one, by somebody who may be named after "by"; return whether it can be."""
        who = self._whos.pop() if self._whos else Who()
        able = [deeds()[verb] for verb in done if who.names & deeds()[verb].objects]
        targets = {deed.targets for deed in able}
        if self._awaits or self._aside or len(targets) != 1 or who != Who(who.names, colour=who.colour):
            return False
        is_target = targets == {True}
        act = Act(frozenset(deed.verb for deed in able), colour=who.colour)
        act = replace(act, targets=who.names) if is_target else replace(act, objects=who.names)
        self._whos.append(Who(acts=(act,)))
        self._related()
        self._passive = True
        return not (is_target and who.colour)

    def _may_be_object(self, names: Names) -> bool:
        """Return whether the last one can do the last verb to one of some things."""
        who = self._whos[-1]
        kinds = [deeds()[verb] for verb in who.acts[-1].verbs]
        return any(names & kind.objects and (not who.names or who.names & kind.who) for kind in kinds)

    def _shirt(self) -> bool:
        """Take the colour that was read for that of a person's clothes; return whether there is such a person."""
        colour, who = self._next.colour, self._whos[-1] if self._whos else Who()
        if any((len(self._whos) - 1, len(who.acts) - 1) in order for order in self._orders) and self._awaits:
            return False  # "dances, then wears a red | shirt": clothes are worn all the time
        if not (colour and who.names and {things()[name].role for name in who.names} == {"person"}):
            return False
        if self._awaits:  # "wearing a red | shirt"
            if not who.acts[-1].verbs <= {"wear"}:
                return False
            who, self._last = replace(who, acts=who.acts[:-1]), None  # no deed to be "before" or "while"
        self._whos[-1], self._next, self._awaits = replace(who, colour=colour), Who(), False
        return True


_NOBODY = frozenset({"anyone", "anybody", "anything"})
MAX_READ = 4096  # phrases remembered: a search judges many clips by the same ones


@lru_cache(MAX_READ)
def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has unknown words, no content, or says what the world cannot tell."""
    tokens = _without_first(tokens_of(phrase))
    if "before" in tokens and not _NOBODY.isdisjoint(tokens):
        return None  # "flies away before anyone catches it": nobody does
    if any(map(_is_young, pairwise(phrase.lower().split()))):
        return None  # "baby animals" are drawn like others
    reader = Reader(behind="background" in tokens)
    named: Names = frozenset()
    for meaning, words in _meanings(tokens):
        if words[0] in emojis() and meaning and meaning.names <= named:
            continue  # "a rocket 🚀"
        if meaning is None or not reader.read(meaning, words):
            return None
        named |= meaning.names if meaning.kind == "noun" else frozenset()
    return reader.claim


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words in a row name a young animal that has no name of its own, as "baby chicken" has."""
    meaning = lexicon().get(words[1:]) if words[0] == "baby" and words not in lexicon() else None
    return meaning is not None and meaning.kind == "noun" and meaning.names <= meanings()["animal"]


def _meanings(tokens: tuple[str, ...]) -> Iterator[tuple[Meaning | None, tuple[str, ...]]]:
    """Yield the longest words that have a meaning, from left to right; None for a word without one."""
    position, before = 0, Meaning("filler")
    while position < len(tokens):
        for length in range(min(longest(), len(tokens) - position), 0, -1):
            if meaning := lexicon().get(tokens[position : position + length]):
                break
        else:
            length, meaning = 1, None
        words, position = tokens[position : position + length], position + length
        if words[-1] == "orange" and _is_colour(tokens, position):
            meaning = Meaning("colour", value="orange")
        if before.kind == "noun" and words[-1] in ambiguous():
            third_person = words[-1].endswith("s") and not before.plural
            meaning = verbs().get(words) if third_person else None  # "a chef cooks"; not: "boys fish"
        yield meaning, words
        before = meaning or Meaning("filler")


def read_asked(phrase: str) -> Claim | None:
    """Parse a part of a query: who asks for "dogs" is content with one, and "no dogs" excludes a single one, too."""
    claim = read_claim(phrase)
    if claim is None:
        return None
    some = (replace(who, least=1) if who.most == MANY and not who.total else who for who in claim.whos)
    return replace(claim, whos=tuple(some))


def read_parts(query: Query) -> tuple[list[Claim | None], list[Claim | None]]:
    """Parse the wanted and the unwanted parts; a mere quality is one of a wanted thing: "a car that is not | red".

    What else there may not be is unwanted, too: all "animals" but dogs in "a dog and no other animals".
    """
    wanted = [read_asked(part) for part in query.wanted]
    others = [part for part in query.unwanted if part.startswith("other ")]  # a dog, no people or other animals
    unwanted = [read_asked(part) or _quality_of(query.wanted, part) for part in query.unwanted if part not in others]
    return wanted, unwanted + [_others(kind, wanted) for kind in (*others, *query.others)]


def _others(kind: str, wanted: Sequence[Claim | None]) -> Claim | None:
    """Claim something of a kind that what is wanted does not name; None if that cannot be told."""
    claim = read_asked(kind)
    if claim is None or len(claim.whos) != 1 or None in wanted:
        return None
    whos = [who for each in wanted if each for who in each.whos]
    named = [names for who in whos for names in (who.names, *(act.objects | act.targets for act in who.acts))]
    left = claim.whos[0].names.difference(*named)
    return replace(claim, whos=(replace(claim.whos[0], names=left),)) if left else None


@lru_cache(MAX_READ)
def _quality_of(wanted: tuple[str, ...], quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    found = (each for part in wanted for each in _meanings(tokens_of(part)))
    nouns = dict.fromkeys(" ".join(words) for meaning, words in found if meaning and meaning.kind == "noun")
    read = (read_asked(f"{quality} {noun}") or read_asked(f"{noun} {quality}") for noun in nouns)
    claims = [claim for claim in read if claim]
    return claims[0] if len(claims) == 1 else None


def _without_first(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the "first" that says no more than the "then" after it."""
    if "first" in tokens and "then" in tokens[tokens.index("first") :]:
        number = tokens.index("first")
        return tokens[: number - (tokens[number - 1 : number] == ("at",))] + tokens[number + 1 :]
    return tokens


def _is_colour(tokens: tuple[str, ...], after: int) -> bool:
    """Return whether the "orange" before a token is a colour: "in orange", "an orange cat"."""
    following = (lexicon().get(tokens[after : after + length]) for length in range(1, 4))
    return tokens[after - 2 : after - 1] == ("in",) or any(
        each and each.kind in ("noun", "filler") for each in following
    )


def judge(query: Query, scene: Scene) -> Verdict | None:
    """Judge a clip: "right", "violation" (shows an unwanted part) or "miss" (lacks a wanted one).

    None if the query has unknown words, unless what it excludes is seen.
    """
    wanted, unwanted = read_parts(query)
    if any(claim is not None and claim.holds(scene) for claim in unwanted):
        return "violation"
    if None in wanted or None in unwanted or not wanted + unwanted:
        return None
    return "right" if all(claim is not None and claim.holds(scene) for claim in wanted) else "miss"


class Label(NamedTuple):
    """A claim in the ways that it may be worded, the shortest first: "drum", "a drum"."""

    texts: tuple[str, ...]
    claim: Claim


@cache
def labels() -> tuple[Label, ...]:
    """Return all labels; no two begin with the same text."""
    return tuple({label.texts[0]: label for label in (*_of_things(), *_of_deeds(), *_of_places())}.values())


def _of_things() -> Iterator[Label]:
    for noun in all_nouns():
        if noun.word in meanings():
            yield Label((noun.word, noun.with_article()), Claim((Who(meanings()[noun.word]),)))


def _of_deeds() -> Iterator[Label]:
    """Yield deeds, also with each object, and words for who does them: "eating", "eating a pizza", "eater"."""
    for deed in deeds().values():
        for phrase in deed.phrases:
            doing = inflect_phrase(phrase, "VBG")
            yield from _read(doing.replace(" {o}", ""), "somebody {}")
        for name in sorted(deed.objects) if not deed.targets else ():
            doing = inflect_phrase(deed.phrases[0], "VBG").format(o=things()[name].nouns[0].with_article())
            yield from _read(doing, "somebody {}")
        for doer, _ in deed.doers if deed.layer == "main" else ():
            yield from _read(doer, "a {}")


def _read(text: str, longer: str) -> Iterator[Label]:
    """Yield a label of what the words mean, if they are understood alone."""
    if claim := read_claim(text):
        yield Label((text, longer.format(text)), claim)


def _of_places() -> Iterator[Label]:
    for place in places().values():
        yield from (Label((phrase,), Claim(places=frozenset((place.name,)))) for phrase in place.phrases)
