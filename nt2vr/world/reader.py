"""Reading of phrases: the meanings of their words, from left to right, make a claim."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, pairwise, zip_longest
from typing import Literal, NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.wordlists import listed
from nt2vr.world.claims import MANY, Act, Claim, Order, SubjectClaim
from nt2vr.world.lexicon import (
    PARTS,
    TOGETHER,
    Meaning,
    emojis,
    gaps_in,
    lexicon,
    longest,
    tokens_of,
    verbs,
)
from nt2vr.world.things import ACTING, DeedKind, Names, Noun, all_nouns, deeds, places, things
from nt2vr.world.wording import meanings, persons

_JOINTS = frozenset("in on with at near by beside next under who that which".split())
_GAMES = frozenset({"throw", "catch", "bounce", "kick", "play ball", "game"})
# What is drawn of somebody "on" or "in" something; of anything else, the world cannot tell where it
# is.
_PLACED = {"on": ("ride", "sled", "sit on"), "in": ("drive", "row", "sit on"), "under": ("hold",)}
_UNTOLD = frozenset("on in inside under of across through from".split())
_MEDIA = frozenset("movie movies video videos clip clips footage scene scenes".split())
_ANYWHERE = frozenset("indoors outdoors inside outside underwater".split())
_BEFORE_PLACES = frozenset("in on at by under near".split())
_SUBJECTS = frozenset(
    "man men woman women boy boys girl girls person people lady ladies guy guys".split()
)


def _may_be(names: Names, adjectives: SubjectClaim) -> bool:
    """Return whether one of some things can be as adjectives say; the colour of a skin or of many cannot be told."""
    able = names.intersection(*(deeds()[verb].who for act in adjectives.acts for verb in act.verbs))
    some = [things()[name] for name in names] if adjectives.colour else []
    return bool(able) and all(
        (thing.tint or thing.look) and thing.role != "person" for thing in some
    )


def _looks(names: Names, colour: str) -> Names:
    return frozenset(name for name in names if colour in things()[name].look)


def _verbs_with(names: Names, verbs: Names) -> Names:
    """Return what verbs mean of some things, none if nothing: "playing basketball" is throwing or bouncing it."""
    if verbs == {"play"} and not names & deeds()["play"].objects:
        return frozenset(verb for verb in _GAMES if names <= deeds()[verb].objects)
    return verbs if any(names & deeds()[verb].objects for verb in verbs) else frozenset()


def may_do(names: Names, act: Act) -> bool:
    return not act.verbs or any(names & deeds()[verb].who for verb in act.verbs)


def _is_stopping(who: SubjectClaim) -> bool:
    """Return whether a person starts or stops: what does "a woman stops" stop?"""
    return bool(who.names & persons()) and any(
        act.verbs and act.verbs <= {"start", "stop"} for act in who.acts
    )


class _Reader:
    """Collects the meanings of a phrase, from left to right; each method returns whether that makes sense there."""

    def __init__(self, behind: bool, vague: bool) -> None:
        self.vague = vague  # what was read is seen wherever the phrase is true, but not only there
        self._behind = behind  # "with a crown in the background" is not worn
        self._place = ""  # preposition of the next noun
        self._whos: list[SubjectClaim] = []
        self._places: Names = frozenset()
        self._night: bool | None = None
        self._orders: list[Order] = []
        self._next = SubjectClaim()  # adjectives of the next noun
        self._object: Literal["", "may", "must"] = ""  # follow
        self._moody = False  # after "smiling", which may belong to the next noun
        self._joint = ""  # relation in time of the last verb to the next one
        self._last: tuple[int, int] | None = None  # the last verb
        self._either = False  # the next noun may be there instead of the last one
        self._after = ""  # this word, nouns and adjectives aside
        self._aside = False  # the last noun came after "with"
        self._passive = False  # after "a ball is thrown", until "by a boy"

    @property
    def _who(self) -> SubjectClaim:
        """The last one; nobody at first."""
        return self._whos[-1] if self._whos else SubjectClaim()

    @property
    def _worn(self) -> bool:
        """Whether clothes that follow are worn."""
        return self._after == "in" or (self._after == "with" and not self._behind)

    @property
    def claim(self) -> Claim | None:
        """What was read; None if words are left over."""
        if self._next.colour:
            self._read_shirt()
        self._predicate()
        is_open = (
            self._either or self._next != SubjectClaim() or self._object == "must" or self._joint
        )
        claim = Claim(tuple(self._whos), self._places, self._night, tuple(self._orders))
        if is_open or claim == Claim() or any(map(_is_stopping, self._whos)):
            return None
        return replace(claim, vague=self.vague)

    def read(self, word: "Word") -> bool:
        meaning, words, kind = word.meaning, word.text, word.meaning.kind
        if re.search(r"\band\b|[,;.]", word.gap):
            self._place = ""  # "with a hat on and | a dog"
        if words == ("background",) and any(
            things()[name].role in ACTING for name in self._who.names
        ):
            self.vague = True  # nobody is drawn as being "in the background"
        is_next = kind in (
            "verb",
            "place",
            "night",
        )  # nothing more can be said of what was read before
        if self._next.colour and is_next and not self._read_shirt():
            return False
        if kind in ("place", "night", "time") or words[0] in _JOINTS:
            self._predicate()
        if self._object == "may" and (is_next or kind == "time"):
            self._object = ""  # "a man is eating | at the beach"
        makes_sense: bool = getattr(self, f"_read_{kind}")(meaning)
        if kind in ("verb", "place", "night", "filler", "adjective"):
            self._moody = kind == "verb" and all(
                deeds()[verb].layer == "mood" for verb in meaning.names
            )
            self._after = self._after if kind == "adjective" else words[0]
        if kind != "adjective":
            self._place = words[-1] if kind == "filler" and len(words) == 1 else ""
        return makes_sense

    def _read_adjective(self, meaning: Meaning) -> bool:
        self._next = replace(self._next, **meaning.adjective)
        return True

    def _read_place(self, meaning: Meaning) -> bool:
        if self._either:
            self._either, self._places = (
                False,
                self._places | meaning.names if self._places else self._places,
            )
        else:
            self._places = self._places & meaning.names if self._places else meaning.names
        return bool(self._places)  # not "in the park on the beach"

    def _read_night(self, meaning: Meaning) -> bool:
        self._night = meaning.value == "night"
        return True

    def _read_filler(self, meaning: Meaning) -> bool:
        return (
            self._read_shirt() if self._worn and self._next.colour else True
        )  # "in green | with a couch"

    def _read_or(self, _meaning: Meaning) -> bool:
        self._either = True
        return self._next == SubjectClaim() and not self._object

    def _read_verb(self, meaning: Meaning) -> bool:
        self._whos = self._whos or [SubjectClaim()]
        self._whos[-1] = replace(self._who, acts=(*self._who.acts, Act(meaning.names)))
        self._object = "" if not meaning.takes_object else "may" if meaning.alone else "must"
        self._relate()
        return not self._aside  # "a man with a ball looking sleepy"

    def _relate(self) -> None:
        """Note the last act, and its relation in time to the one before."""
        new = len(self._whos) - 1, len(self._who.acts) - 1
        if self._last and self._joint:
            first, second = (new, self._last) if self._joint == "after" else (self._last, new)
            self._orders.append(
                Order(first, second, "while" if self._joint == "while" else "before")
            )
        self._last, self._joint = new, ""

    def _read_time(self, meaning: Meaning) -> bool:
        """Read when the last deed is done."""
        is_part = meaning.value in PARTS
        if not self._last or self._joint or self._object or (self._orders and not is_part):
            return False  # "a man walks after eating while | a girl sings": which of the two?
        if not is_part:
            self._joint = meaning.value
            return True
        who, place = self._whos[self._last[0]], self._last[1]
        act = replace(who.acts[place], part=meaning.value)  # type: ignore[arg-type]  # checked
        self._whos[self._last[0]] = replace(
            who, acts=(*who.acts[:place], act, *who.acts[place + 1 :])
        )
        return True

    def _read_noun(self, meaning: Meaning) -> bool:
        if self._either:
            return self._instead(meaning)
        adjectives, self._next = self._next, SubjectClaim()
        is_agent, self._passive = self._passive, False
        if not self._may_follow(meaning.names, is_agent) or not _may_be(meaning.names, adjectives):
            return False
        adjectives = replace(adjectives, looks=_looks(meaning.names, adjectives.colour))
        self.vague |= meaning.value == "sort"
        if self._is_object(meaning.names):
            return self._done_to(meaning, adjectives)
        roles = {things()[name].role for name in meaning.names}
        if (
            self._place in _UNTOLD and roles != {"sky"} and (self._place, roles) != ("on", {"hand"})
        ):  # on the phone
            return self._placed(meaning, adjectives)
        return self._named(meaning, adjectives, is_agent)

    def _may_follow(self, names: Names, is_agent: bool) -> bool:
        if is_agent:
            return self._after == "by"  # not "a dog chased | a cat"
        if self._after == "by" and not self._whos and names <= persons():
            return False  # "eaten by a girl, but not | by a boy"
        return not (self._moody and self._who.names)  # "a man sings and a smiling | girl"

    def _named(self, meaning: Meaning, adjectives: SubjectClaim, is_agent: bool) -> bool:
        """Add somebody, or name the one whose deed was read: "a smiling | girl", "a ball thrown by a | girl"."""
        self._aside = self._after == "with" and bool(
            self._whos
        )  # "with a girl | dancing" is about her
        acts = (*adjectives.acts, meaning.act) if meaning.act else adjectives.acts
        if self._whos and not self._who.names and (is_agent or not (self._orders or self._joint)):
            acts = (*self._whos.pop().acts, *acts)
            if not all(may_do(meaning.names, act) for act in acts):
                return False  # "a sleeping | bag"
        least = max(
            adjectives.least, meaning.least, 2 if meaning.plural and not adjectives.total else 1
        )
        who = replace(adjectives, names=meaning.names, least=least, acts=acts)
        self._whos.append(replace(who, most=TOGETHER) if meaning.least > 1 else who)
        return True

    def _placed(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        """Read what somebody is on or in: a horse that is ridden, a car that is driven, or where nobody can tell."""
        who, place, self._object = self._who, self._place, ""
        if place == "of":  # "a statue of | a man"
            self.vague = True
            return True
        rests = bool(who.acts) and who.acts[-1].verbs <= {"sit", "stand", "sit on"}
        acts = who.acts[:-1] if rests else who.acts
        is_plain = (
            replace(adjectives, colour="", looks=frozenset()) == SubjectClaim()
            and meaning.least == 1
        )
        is_free = is_plain and not self._orders and all(act.verbs <= {"wear"} for act in acts)
        able = [verb for verb in _PLACED.get(place, ()) if deeds()[verb].objects & meaning.names]
        able = [verb for verb in able if not who.names or who.names & deeds()[verb].who]
        if (
            not able
            or not is_free
            or (place == "under" and meaning.names != meanings()["umbrella"])
        ):
            self.vague = True
            return self._named(meaning, adjectives, False)
        objects = meaning.names & frozenset[str]().union(*(deeds()[verb].objects for verb in able))
        act = Act(frozenset(able), objects, adjectives.colour, looks=adjectives.looks)
        self._whos = [*self._whos[:-1], replace(who, acts=(*acts, act))]
        self._relate()
        return True

    def _done_to(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        if (
            meaning.act
            or adjectives.acts
            or max(adjectives.least, meaning.least) > 1
            or adjectives.total
        ):
            return False  # "eating a drummer", "photographing a singer", "holding two balls"
        *others, act = self._who.acts
        on = frozenset(verb for verb in _PLACED["on"] if meaning.names & deeds()[verb].objects)
        act = (
            replace(act, verbs=on) if on and act.verbs == {"sit on"} else act
        )  # sitting on a horse
        verbs = _verbs_with(meaning.names, act.verbs)
        targets = {deeds()[verb].targets for verb in verbs if meaning.names & deeds()[verb].objects}
        if act.verbs and not verbs:  # "playing a pizza", "looking at a book"
            self._object, self.vague, self._last = "", True, None
            self._whos[-1] = replace(self._who, acts=tuple(others))
            return not (self._orders or self._joint) and self._named(meaning, adjectives, False)
        if len(targets) > 1:
            return False
        act = replace(act, **{"targets" if True in targets else "objects": meaning.names})  # type: ignore[arg-type]
        act = replace(act, verbs=verbs, colour=adjectives.colour, looks=adjectives.looks)
        self._whos[-1] = replace(self._who, acts=(*others, act))
        self._object = ""
        return not (True in targets and adjectives.colour) and not adjectives.size

    def _instead(self, meaning: Meaning) -> bool:
        """Read the second noun of "a cat or a dog", "eating pizza or pasta": either will do."""
        who, self._either = self._who, False
        if (
            self._next != SubjectClaim()
            or meaning.act
            or self._aside
            or meaning.value
            or meaning.least > 1
        ):
            return False
        if who.names and who == SubjectClaim(who.names, least=who.least):
            self._whos[-1] = replace(who, names=who.names | meaning.names)
            return True
        act = (Act(), *who.acts)[-1]
        if not act.objects or act != Act(act.verbs, act.objects):
            return False
        self._whos[-1] = replace(
            who, acts=(*who.acts[:-1], replace(act, objects=act.objects | meaning.names))
        )
        return True

    def _predicate(self) -> None:
        """Take adjectives that no noun follows for those of the last one: "the girl is happy"."""
        quality, who = self._next, self._who
        is_counted = (quality.least, quality.most, quality.total) != (1, MANY, False)
        if (
            quality == SubjectClaim()
            or self._object
            or is_counted
            or not who.names
            or not _may_be(who.names, quality)
        ):
            return
        if quality.colour:
            who = replace(who, colour=quality.colour, looks=_looks(who.names, quality.colour))
        who = replace(who, size=quality.size or who.size)
        self._whos[-1], self._next = replace(who, acts=(*who.acts, *quality.acts)), SubjectClaim()

    def _read_pronoun(self, meaning: Meaning) -> bool:
        """Read a "he" or "she": the last one, or somebody new of that sex; of animals it cannot be told."""
        last = self._who.names
        if self._object or self._passive or self._next != SubjectClaim():
            return False
        if last & meaning.names:
            return True
        self._whos.append(SubjectClaim(meaning.names))
        return last <= lexicon()[("he",)].names | lexicon()[("she",)].names

    def _read_passive(self, meaning: Meaning) -> bool:
        """Read what is done to the last one, by somebody who may be named after "by"."""
        who = self._who
        able = frozenset(verb for verb in meaning.names if who.names & deeds()[verb].objects)
        targets = {deeds()[verb].targets for verb in able}
        if (
            len(targets) != 1
            or self._object
            or self._aside
            or who != SubjectClaim(who.names, colour=who.colour)
        ):
            return False
        is_target = targets == {True}
        act = Act(able, colour=who.colour, **{"targets" if is_target else "objects": who.names})  # type: ignore[arg-type]
        self._whos[-1] = SubjectClaim(acts=(act,))
        self._relate()
        self._passive = True
        return not (is_target and who.colour)

    def _is_object(self, names: Names) -> bool:
        """Return whether the last verb takes some things for its object; clothes are worn."""
        who = self._who
        if self._worn and self._whos and any(things()[name].role == "worn" for name in names):
            self._read_verb(Meaning("verb", takes_object=True))
        elif self._object == "may":
            kinds = map(deeds().__getitem__, who.acts[-1].verbs)
            if not any(
                names & kind.objects and (not who.names or who.names & kind.who) for kind in kinds
            ):
                self._object = ""  # "a bird is flying near | a kite"
        return bool(self._object)

    def _read_shirt(self, _: Meaning | None = None) -> bool:
        """Take the colour that was read for that of a person's clothes."""
        colour, who = self._next.colour, self._who
        if not (colour and who.names and who.names <= persons()):
            return False
        if self._object:  # "wearing a red | shirt"
            act = len(self._whos) - 1, len(who.acts) - 1
            if any(act in order for order in self._orders) or not who.acts[-1].verbs <= {"wear"}:
                return False  # "dances, then wears a red | shirt": clothes are worn all the time
            who, self._last = (
                replace(who, acts=who.acts[:-1]),
                None,
            )  # no deed to be "before" or "while"
        self._whos[-1], self._next, self._object = replace(who, colour=colour), SubjectClaim(), ""
        return True


_FIRST = re.compile(
    r"\b(at )?first\b(?=.*\bthen\b)", re.IGNORECASE
)  # it says no more than the "then" after it
_NOBODY = frozenset({"anyone", "anybody", "anything"})
MAX_READ = 4096  # phrases remembered: a search judges many clips by the same ones
NOTHING = Claim((SubjectClaim(least=MANY, total=True),))  # holds for no scene


@lru_cache(MAX_READ)
def read_phrase(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has no content, or what the world cannot tell.

    The claim is `vague` if it holds for other scenes, too. What the world lacks is NOTHING.
    """
    phrase = _FIRST.sub("", phrase, count=1)
    tokens = tokens_of(phrase)
    if "before" in tokens and not _NOBODY.isdisjoint(tokens):
        return None  # "flies away before anyone catches it": nobody does
    if any(map(_is_young, pairwise(phrase.lower().split()))):
        return None  # "baby animals" are drawn like others
    words = [*words_in(phrase)]
    if _lacks(words):
        return None if "or" in tokens else NOTHING
    known, is_vague = _known(words)
    reader, named = _Reader("background" in tokens, is_vague), frozenset[str]()
    for word in known:
        if word.text[0] not in emojis() or not word.meaning.names <= named:  # "a rocket 🚀"
            if not reader.read(word):
                return None
            named |= word.meaning.names
    return reader.claim


def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has unknown words, no content, or says what the world cannot tell."""
    claim = read_phrase(phrase)
    return claim if claim and not claim.vague and claim != NOTHING else None


def read_asked(phrase: str) -> Claim | None:
    """Parse a part of a query: who asks for "dogs" is content with one, and "no dogs" excludes a single one, too."""
    claim = read_phrase(phrase)
    if claim is None or claim == NOTHING:
        return claim
    some = (
        replace(who, least=1) if who.most == MANY and not who.total else who
        for who in claim.subjects
    )
    return replace(claim, subjects=tuple(some))


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words in a row name a young animal that has no name of its own, as "baby chicken" has."""
    meaning = lexicon().get(words[1:]) if words[0] == "baby" and words not in lexicon() else None
    return meaning is not None and meaning.kind == "noun" and meaning.names <= meanings()["animal"]


class Word(NamedTuple):
    """One word, or several that have a meaning together."""

    meaning: Meaning  # UNKNOWN if it has none
    text: tuple[str, ...]
    gap: str = ","  # between it and the word before

    @property
    def is_glued(self) -> bool:
        """Whether it follows another word without an article or a comma between."""
        return not self.gap.strip(" -") and self.text[0] not in emojis()


UNKNOWN = Meaning("vague", value="unknown")


def words_in(phrase: str) -> Iterator[Word]:
    """Yield the longest words that have a meaning, from left to right, and words without one."""
    tokens, gaps, before = tokens_of(phrase), gaps_in(phrase), Meaning("filler")
    start = 0
    while start < len(tokens):
        words = tokens[start : start + longest()]
        while len(words) > 1 and words not in lexicon():
            words = words[:-1]
        meaning, end = lexicon().get(words, UNKNOWN), start + len(words)
        if words[-1] == "orange" and _is_colour(tokens, end):
            meaning = Meaning("adjective", adjective={"colour": "orange"})
        if before.kind == "noun" and words[-1] in _ambiguous():
            third_person = words[-1].endswith("s") and not before.plural
            meaning = (
                verbs().get(words, UNKNOWN) if third_person else UNKNOWN
            )  # "a chef cooks"; not: "boys fish"
        yield Word(meaning, words, gaps[start])
        before, start = meaning, end


@cache
def _ambiguous() -> Names:
    """Nouns that are verbs as well: "fish", "pets"."""
    first = {phrase.split()[0] for deed in deeds().values() for phrase in deed.phrases}
    first |= {inflect_phrase(verb, "VBZ") for verb in first}
    return frozenset(first & {*meanings(), *(noun.plural for noun in all_nouns())})


def _lacks(words: Sequence[Word]) -> bool:
    """Return whether some are for what the world lacks, and do not describe what follows."""
    described = (
        word.is_glued and word.meaning.kind in ("noun", "vague", "lacking") for word in words[1:]
    )
    return any(
        word.meaning.kind == "lacking" and not each for word, each in zip_longest(words, described)
    )


def _known(words: Sequence[Word]) -> tuple[list[Word], bool]:
    """Return the words that have a meaning, compounds as one, and whether anything was left out.

    Of unknown words, those that may be adjectives are left out: "a fluffy dog" is a dog. Nothing is
    read after others, nor what they may belong to: a "horse trailer" is no horse, and who "runs
    errands" need not run.
    """
    found: list[Word] = []
    is_vague = False
    for word, following in zip(words, [*words[1:], None], strict=False):
        if word.meaning.kind not in ("vague", "lacking"):
            pair, is_compound = (
                _compound(found.pop(), word) if word.is_glued and found else ([word], False)
            )
            found += pair
            is_vague |= is_compound
            continue
        if any(each.meaning.kind in ("or", "time") for each in words):
            return [], True
        is_vague = True
        if word.meaning == UNKNOWN and following and _describes(word.text[0], following):
            continue
        if (
            word.is_glued
            and found
            and found[-1].meaning.kind == "noun"
            and _may_be_head(word.text[0], found[-1])
        ):
            found.pop()
        while found and found[-1].meaning.kind in ("verb", "adjective", "filler"):
            found.pop()
        if word.meaning == UNKNOWN:
            break
    return found, is_vague


def _describes(word: str, following: Word) -> bool:
    """Return whether an unknown word may be an adjective of the next one."""
    is_form = word.endswith(("ing", "s")) and not word.endswith(("ous", "less"))
    is_next = following.is_glued and following.meaning.kind in ("noun", "adjective", "place")
    return is_next and not is_form and word not in listed("function_words", "stop_words")


def _may_be_head(word: str, before: Word) -> bool:
    """Return whether an unknown word may be what a noun describes: "horse | racing", unlike "a dog | fetching"."""
    does = before.meaning.names <= persons() or before.gap.split()[-1:] in (["a"], ["the"])
    return not (word.endswith("ing") and does) and word not in listed(
        "function_words", "stop_words"
    )


def _compound(first: Word, second: Word) -> tuple[list[Word], bool]:
    """Join two words in a row if they are one; return them, and whether one was left out.

    "A woman dancer" is both, and so is "an elephant herd"; "a baseball bat" is no more than a bat,
    if it is one.
    """
    one, other, is_subject = first.meaning, second.meaning, first.text[-1] in _SUBJECTS
    if one.kind == other.kind == "noun":
        if other.least > 1 or one.names | other.names <= persons():
            names, act = one.names & other.names, other.act if one.act is None else one.act
            least, value = max(one.least, other.least), one.value or other.value
            both = other._replace(names=names, act=act, least=least, value=value)
            is_one = bool(names) and None in (one.act, other.act)
            return ([Word(both, second.text, first.gap)], False) if is_one else ([], True)
        return ([first, second], False) if is_subject else ([second], True)
    places = {each.text[0] for each in (first, second) if each.meaning.kind == "place"}
    if {one.kind, other.kind} == {"noun", "place"} and places.isdisjoint(
        _BEFORE_PLACES | _ANYWHERE
    ):
        return (
            ([first, second], False) if is_subject else ([second], True)
        )  # a dog park, street food
    if one.kind == other.kind == "place" and places.isdisjoint(_BEFORE_PLACES | _ANYWHERE):
        return [
            Word(other._replace(names=one.names | other.names), second.text, first.gap)
        ], True  # a city street
    if first.text[-1] in _MEDIA and other.kind == "noun":
        return [], True  # a movie star
    return [first, second], False


def _is_colour(tokens: tuple[str, ...], after: int) -> bool:
    """Return whether the "orange" before a token is a colour: "in orange", "an orange cat"."""
    following = (
        lexicon().get(tokens[after : after + length], UNKNOWN).kind for length in range(1, 4)
    )
    return tokens[after - 2 : after - 1] == ("in",) or not {"noun", "filler", "shirt"}.isdisjoint(
        following
    )


class Label(NamedTuple):
    """A claim in the ways that it may be worded, the shortest first: "drum", "a drum"."""

    texts: tuple[str, ...]
    claim: Claim


@cache
def labels() -> tuple[Label, ...]:
    """Return all labels; no two begin with the same text."""
    nouns = [noun for noun in all_nouns() if noun.word in meanings()]
    found = [
        Label((noun.word, noun.with_article()), Claim((SubjectClaim(meanings()[noun.word]),)))
        for noun in nouns
    ]
    for text, longer in chain.from_iterable(map(_deed_texts, deeds().values())):
        if claim := read_claim(text):  # understood alone
            found.append(Label((text, longer.format(text)), claim))
    for place in places().values():
        found += [
            Label((phrase,), Claim(places=frozenset((place.name,)))) for phrase in place.phrases
        ]
    return tuple({label.texts[0]: label for label in found}.values())


def _deed_texts(deed: DeedKind) -> Iterator[tuple[str, str]]:
    """Yield a deed, also with each object, and words for who does it: "eating", "eating a pizza", "eater"."""
    doing = [inflect_phrase(phrase, "VBG") for phrase in deed.phrases]
    yield from ((each.replace(" {o}", ""), "somebody {}") for each in doing)
    for name in sorted(deed.objects) if not deed.targets else ():
        yield doing[0].format(o=things()[name].nouns[0].with_article()), "somebody {}"
    yield from (
        (doer, Noun(doer, f"{doer}s").with_article())
        for doer, _ in deed.doers
        if deed.layer == "main"
    )
