"""Reading of phrases: the meanings of their words, from left to right, make a claim."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.claims import MANY, Act, Claim, Order, Who
from nt2vr.world.lexicon import PARTS, Meaning, ambiguous, emojis, lexicon, longest, tokens_of, verbs
from nt2vr.world.scenes import Scene
from nt2vr.world.things import Names, all_nouns, deeds, places, things
from nt2vr.world.wording import meanings, persons

_JOINTS = frozenset("in on with at near by beside next under who that which".split())
_GAMES = frozenset({"throw", "catch", "bounce", "kick", "play ball", "game"})


def _coloured(names: Names) -> bool:
    """Return whether the colour of some things can be told: not that of a skin, nor of what has many colours."""
    return all((things()[name].tint or things()[name].look) and things()[name].role != "person" for name in names)


def _may_be(names: Names, adjectives: Who) -> bool:
    """Return whether one of some things can be as adjectives say."""
    moods = [deeds()[verb] for act in adjectives.acts for verb in act.verbs]
    is_able = not moods or any(all(name in mood.who for mood in moods) for name in names)
    return is_able and (not adjectives.colour or _coloured(names))


def _looks(names: Names, colour: str) -> Names:
    return frozenset(name for name in names if colour in things()[name].look)


def _verbs_with(names: Names, verbs: Names) -> Names:
    """Return what verbs mean of some things: "playing basketball" is throwing or bouncing it."""
    if verbs != {"play"} or names & deeds()["play"].objects:
        return verbs
    return frozenset(verb for verb in _GAMES if names <= deeds()[verb].objects)


def _is_stopping(who: Who) -> bool:
    """Return whether a person starts or stops: what does "a woman stops" stop?"""
    return bool(who.names & persons()) and any(act.verbs and act.verbs <= {"start", "stop"} for act in who.acts)


class _Reader:
    """Collects the meanings of a phrase, from left to right; each method returns whether that makes sense there."""

    def __init__(self, behind: bool) -> None:
        self._behind = behind  # "with a crown in the background" is not worn
        self._whos: list[Who] = []
        self._places: Names = frozenset()
        self._night: bool | None = None
        self._orders: list[Order] = []
        self._next = Who()  # adjectives of the next noun
        self._object: Literal["", "may", "must"] = ""  # follow
        self._moody = False  # after "smiling", which may belong to the next noun
        self._joint = ""  # relation in time of the last verb to the next one
        self._last: tuple[int, int] | None = None  # the last verb
        self._either = False  # the next noun may be there instead of the last one
        self._after = ""  # this word, nouns and adjectives aside
        self._aside = False  # the last noun came after "with"
        self._passive = False  # after "a ball is thrown", until "by a boy"

    @property
    def _who(self) -> Who:
        """The last one; nobody at first."""
        return self._whos[-1] if self._whos else Who()

    @property
    def _worn(self) -> bool:
        """Whether clothes that follow are worn."""
        return self._after == "in" or (self._after == "with" and not self._behind)

    @property
    def claim(self) -> Claim | None:
        """What was read; None if words are left over."""
        if self._next.colour:
            self._shirt()
        self._predicate()
        is_open = self._either or self._next != Who() or self._object == "must" or self._joint
        claim = Claim(tuple(self._whos), self._places, self._night, tuple(self._orders))
        return None if is_open or claim == Claim() or any(map(_is_stopping, self._whos)) else claim

    def read(self, meaning: Meaning, words: tuple[str, ...]) -> bool:
        """Add a meaning."""
        kind = meaning.kind
        if not self._ends_before(kind, words[0]):
            return False
        makes_sense: bool = getattr(self, f"_read_{kind}")(meaning)
        if kind in ("verb", "place", "night", "filler", "adjective"):
            self._moody = kind == "verb" and all(deeds()[verb].layer == "mood" for verb in meaning.names)
            self._after = self._after if kind == "adjective" else words[0]
        return makes_sense

    def _ends_before(self, kind: str, word: str) -> bool:
        """End what nothing more can be said of, once a word follows."""
        if self._next.colour and kind in ("verb", "place", "night") and not self._shirt():
            return False
        if kind in ("place", "night", "time") or word in _JOINTS:
            self._predicate()
        if self._object == "may" and kind in ("verb", "place", "night", "time"):
            self._object = ""  # "a man is eating | at the beach"
        return True

    def _read_adjective(self, meaning: Meaning) -> bool:
        self._next = replace(self._next, **meaning.adjective)
        return True

    def _read_place(self, meaning: Meaning) -> bool:
        self._places = self._places & meaning.names if self._places else meaning.names
        return bool(self._places)  # not "in the park on the beach"

    def _read_night(self, meaning: Meaning) -> bool:
        self._night = meaning.value == "night"
        return True

    def _read_filler(self, _meaning: Meaning) -> bool:
        return self._shirt() if self._worn and self._next.colour else True  # "in green | with a couch"

    def _read_shirt(self, _meaning: Meaning) -> bool:
        return self._shirt()

    def _read_or(self, _meaning: Meaning) -> bool:
        self._either = True
        return self._next == Who() and not self._object

    def _read_verb(self, meaning: Meaning) -> bool:
        self._verb(meaning.names, "" if not meaning.takes_object else "may" if meaning.alone else "must")
        return not self._aside  # "a man with a ball looking sleepy"

    def _verb(self, names: Names, takes_object: Literal["", "may", "must"]) -> None:
        self._whos = self._whos or [Who()]
        self._whos[-1] = replace(self._who, acts=(*self._who.acts, Act(names)))
        self._object = takes_object
        self._relate()

    def _relate(self) -> None:
        """Note the last act, and its relation in time to the one before."""
        new = len(self._whos) - 1, len(self._who.acts) - 1
        if self._last and self._joint:
            first, second = (new, self._last) if self._joint == "after" else (self._last, new)
            self._orders.append(Order(first, second, "while" if self._joint == "while" else "before"))
        self._last, self._joint = new, ""

    def _read_time(self, meaning: Meaning) -> bool:
        """Read when the last deed is done."""
        is_part = meaning.value in PARTS
        if not self._last or self._joint or self._object or (self._orders and not is_part):
            return False  # "a man walks after eating while | a girl sings": which of the two?
        if not is_part:
            self._joint = meaning.value
            return True
        number, place = self._last
        acts = list(self._whos[number].acts)
        acts[place] = replace(acts[place], part=meaning.value)  # type: ignore[arg-type]  # checked
        self._whos[number] = replace(self._whos[number], acts=tuple(acts))
        return True

    def _read_noun(self, meaning: Meaning) -> bool:
        if self._either:
            return self._instead(meaning)
        adjectives, self._next = self._next, Who()
        is_agent, self._passive = self._passive, False
        if not self._may_follow(meaning.names, is_agent) or not _may_be(meaning.names, adjectives):
            return False
        adjectives = replace(adjectives, looks=_looks(meaning.names, adjectives.colour))
        if self._is_object(meaning.names):
            return self._done_to(meaning, adjectives)
        return self._named(meaning, adjectives, is_agent)

    def _may_follow(self, names: Names, is_agent: bool) -> bool:
        if is_agent:
            return self._after == "by"  # not "a dog chased | a cat"
        if self._after == "by" and not self._whos and names <= persons():
            return False  # "eaten by a girl, but not | by a boy"
        return not (self._moody and self._who.names)  # "a man sings and a smiling | girl"

    def _named(self, meaning: Meaning, adjectives: Who, is_agent: bool) -> bool:
        """Add somebody, or name the one whose deed was read: "a smiling | girl", "a ball thrown by a | girl"."""
        self._aside = self._after == "with" and bool(self._whos)  # "with a girl | dancing" is about her
        acts = (*adjectives.acts, meaning.act) if meaning.act else adjectives.acts
        if self._whos and not self._who.names and (is_agent or not (self._orders or self._joint)):
            acts = (*self._whos.pop().acts, *acts)
        least = max(adjectives.least, 2 if meaning.plural and not adjectives.total else 1)
        self._whos.append(replace(adjectives, names=meaning.names, least=least, acts=acts))
        return True

    def _done_to(self, meaning: Meaning, adjectives: Who) -> bool:
        """Add the object of the last verb."""
        if meaning.act or adjectives.acts or adjectives.least > 1 or adjectives.total:
            return False  # "eating a drummer", "photographing a singer", "holding two balls"
        *others, act = self._who.acts
        verbs = _verbs_with(meaning.names, act.verbs)
        targets = {deeds()[verb].targets for verb in verbs}
        if len(targets) > 1 or bool(verbs) != bool(act.verbs):
            return False  # "playing a pizza"
        act = replace(act, **{"targets" if True in targets else "objects": meaning.names})  # type: ignore[arg-type]
        act = replace(act, verbs=verbs, colour=adjectives.colour, looks=adjectives.looks)
        self._whos[-1] = replace(self._who, acts=(*others, act))
        self._object = ""
        return not (True in targets and adjectives.colour) and not adjectives.size

    def _instead(self, meaning: Meaning) -> bool:
        """Read the second noun of "a cat or a dog", "eating pizza or pasta": either will do."""
        who, self._either = self._who, False
        if self._next != Who() or meaning.act or self._aside:
            return False
        if who.names and who == Who(who.names, least=who.least):
            self._whos[-1] = replace(who, names=who.names | meaning.names)
            return True
        act = who.acts[-1] if who.acts else Act()
        if not act.objects or act != Act(act.verbs, act.objects):
            return False
        self._whos[-1] = replace(who, acts=(*who.acts[:-1], replace(act, objects=act.objects | meaning.names)))
        return True

    def _predicate(self) -> None:
        """Take adjectives that no noun follows for those of the last one: "the girl is happy"."""
        quality, who = self._next, self._who
        is_counted = (quality.least, quality.most, quality.total) != (1, MANY, False)
        if quality == Who() or self._object or is_counted or not who.names or not _may_be(who.names, quality):
            return
        if quality.colour:
            who = replace(who, colour=quality.colour, looks=_looks(who.names, quality.colour))
        who = replace(who, size=quality.size or who.size)
        self._whos[-1], self._next = replace(who, acts=(*who.acts, *quality.acts)), Who()

    def _read_pronoun(self, meaning: Meaning) -> bool:
        """Read a "he" or "she": the last one, or somebody new of that sex; of animals it cannot be told."""
        last = self._who.names
        if self._object or self._passive or self._next != Who():
            return False
        if last & meaning.names:
            return True
        self._whos.append(Who(meaning.names))
        return last <= lexicon()[("he",)].names | lexicon()[("she",)].names

    def _read_passive(self, meaning: Meaning) -> bool:
        """Read what is done to the last one, by somebody who may be named after "by"."""
        who = self._who
        able = frozenset(verb for verb in meaning.names if who.names & deeds()[verb].objects)
        targets = {deeds()[verb].targets for verb in able}
        if len(targets) != 1 or self._object or self._aside or who != Who(who.names, colour=who.colour):
            return False
        is_target = targets == {True}
        act = Act(able, colour=who.colour, **{"targets" if is_target else "objects": who.names})  # type: ignore[arg-type]
        self._whos[-1] = Who(acts=(act,))
        self._relate()
        self._passive = True
        return not (is_target and who.colour)

    def _is_object(self, names: Names) -> bool:
        """Return whether the last verb takes some things for its object; clothes are worn."""
        who = self._who
        if self._worn and self._whos and any(things()[name].role == "worn" for name in names):
            self._verb(frozenset(), "must")
        elif self._object == "may":
            kinds = [deeds()[verb] for verb in who.acts[-1].verbs]
            if not any(names & kind.objects and (not who.names or who.names & kind.who) for kind in kinds):
                self._object = ""  # "a bird is flying near | a kite"
        return bool(self._object)

    def _shirt(self) -> bool:
        """Take the colour that was read for that of a person's clothes."""
        colour, who = self._next.colour, self._who
        if not (colour and who.names and who.names <= persons()):
            return False
        if self._object:  # "wearing a red | shirt"
            act = len(self._whos) - 1, len(who.acts) - 1
            if any(act in order for order in self._orders) or not who.acts[-1].verbs <= {"wear"}:
                return False  # "dances, then wears a red | shirt": clothes are worn all the time
            who, self._last = replace(who, acts=who.acts[:-1]), None  # no deed to be "before" or "while"
        self._whos[-1], self._next, self._object = replace(who, colour=colour), Who(), ""
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
    reader, named = _Reader(behind="background" in tokens), frozenset[str]()
    for meaning, words in _meanings(tokens):
        if meaning is None:
            return None
        if words[0] in emojis() and meaning.names <= named:
            continue  # "a rocket 🚀"
        if not reader.read(meaning, words):
            return None
        if meaning.kind == "noun":
            named |= meaning.names
    return reader.claim


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words in a row name a young animal that has no name of its own, as "baby chicken" has."""
    meaning = lexicon().get(words[1:]) if words[0] == "baby" and words not in lexicon() else None
    return meaning is not None and meaning.kind == "noun" and meaning.names <= meanings()["animal"]


def _meanings(tokens: tuple[str, ...]) -> Iterator[tuple[Meaning | None, tuple[str, ...]]]:
    """Yield the longest words that have a meaning, from left to right; None for a word without one."""
    position, before = 0, Meaning("filler")
    while position < len(tokens):
        words = _longest_known(tokens[position : position + longest()])
        meaning, position = lexicon().get(words), position + len(words)
        if words[-1] == "orange" and _is_colour(tokens, position):
            meaning = Meaning("adjective", adjective={"colour": "orange"})
        if before.kind == "noun" and words[-1] in ambiguous():
            third_person = words[-1].endswith("s") and not before.plural
            meaning = verbs().get(words) if third_person else None  # "a chef cooks"; not: "boys fish"
        yield meaning, words
        before = meaning or Meaning("filler")


def _longest_known(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the longest words at the beginning that have a meaning, or the first one."""
    while len(tokens) > 1 and tokens not in lexicon():
        tokens = tokens[:-1]
    return tokens


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
    left = claim.whos[0].names
    for who in (who for each in wanted if each for who in each.whos):
        left = left.difference(who.names, *(act.objects | act.targets for act in who.acts))
    return replace(claim, whos=(replace(claim.whos[0], names=left),)) if left else None


@lru_cache(MAX_READ)
def _quality_of(wanted: tuple[str, ...], quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    found = (each for part in wanted for each in _meanings(tokens_of(part)))
    nouns = dict.fromkeys(" ".join(words) for meaning, words in found if meaning and meaning.kind == "noun")
    claims = [*filter(None, (read_asked(f"{quality} {noun}") or read_asked(f"{noun} {quality}") for noun in nouns))]
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
        each and each.kind in ("noun", "filler", "shirt") for each in following
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
