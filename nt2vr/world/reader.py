"""Reading of phrases: the meanings of their words, from left to right, make a claim."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from nt2vr.world.claims import MANY, Act, ActOrder, ActPosition, Claim, SubjectClaim
from nt2vr.world.lexicon import (
    PARTS,
    TOGETHER,
    Meaning,
    MeaningKind,
    emojis,
    lexicon,
    tokens_of,
)
from nt2vr.world.things import ACTING, Names, actions, things
from nt2vr.world.wording import meanings, persons
from nt2vr.world.words import PhraseWord, has_lacking, known_words, words_in

_JOINTS = frozenset("in on with at near by beside next under who that which".split())
_GAMES = frozenset({"throw", "catch", "bounce", "kick", "play ball", "game"})
# What is drawn of somebody "on" or "in" something. Where anything else is, the world cannot tell.
_PLACED = {"on": ("ride", "sled", "sit on"), "in": ("drive", "row", "sit on"), "under": ("hold",)}
_UNCERTAIN_PLACES = frozenset("on in inside under of across through from".split())
_NEXT_PART = re.compile(r"\band\b|[,;.]")
# It says no more than the "then" after it.
_FIRST = re.compile(r"\b(at )?first\b(?=.*\bthen\b)", re.IGNORECASE)
_NOBODY = frozenset({"anyone", "anybody", "anything"})

_ANYBODY = SubjectClaim()
# Phrases remembered: a search judges many clips by the same ones.
MAX_READ = 4096
# Holds for no scene.
NOTHING = Claim((SubjectClaim(least=MANY, total=True),))


@lru_cache(MAX_READ)
def read_phrase(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has no content, or what the world cannot tell.

    The claim is `vague` if it holds for other scenes, too. What the world lacks is NOTHING.
    """
    phrase = _FIRST.sub("", phrase, count=1)
    tokens = tokens_of(phrase)
    # In "flies away before anyone catches it", nobody catches it.
    if "before" in tokens and not _NOBODY.isdisjoint(tokens):
        return None
    # "Baby animals" are drawn like others.
    if any(_is_young(pair) for pair in pairwise(phrase.lower().split())):
        return None

    words = words_in(phrase)
    if has_lacking(words):
        return None if "or" in tokens else NOTHING
    meaningful = known_words(words)
    reader = _PhraseReader(meaningful.is_vague, has_background="background" in tokens)
    names: set[str] = set()
    for word in meaningful.words:
        # a rocket 🚀
        is_repeated = word.text[0] in emojis() and word.meaning.names <= names
        if is_repeated:
            continue
        if not reader.read(word):
            return None
        names |= word.meaning.names
    return reader.finish()


def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim that is not vague; None if that is impossible.

    It is with unknown words, without content, or with what the world cannot tell.
    """
    claim = read_phrase(phrase)
    if claim and not claim.vague and claim != NOTHING:
        return claim
    return None


def read_asked(phrase: str) -> Claim | None:
    """Parse a part of a query: "dogs" asks for at least one, and "no dogs" excludes any."""
    claim = read_phrase(phrase)
    if claim is None or claim == NOTHING:
        return claim
    subjects = []
    for subject in claim.subjects:
        has_number = subject.most != MANY or subject.total
        subjects.append(subject if has_number else replace(subject, least=1))
    return replace(claim, subjects=tuple(subjects))


def may_do(names: Names, act: Act) -> bool:
    """Return whether one of some things may do an act."""
    return not act.verbs or any(names & actions()[verb].subjects for verb in act.verbs)


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words name a young animal without a name of its own: "baby panda"."""
    if words[0] != "baby" or words in lexicon():
        return False
    meaning = lexicon().get(words[1:])
    if meaning is None or meaning.kind != "noun":
        return False
    return meaning.names <= meanings()["animal"]


class _Draft:
    """A claim while it is read: its subjects, places, night and orders so far."""

    def __init__(self, is_vague: bool) -> None:
        """Start empty; a vague claim is seen wherever the phrase is true, but not only there."""
        self.is_vague = is_vague
        self.subjects: list[SubjectClaim] = []
        self.places: Names = frozenset()
        self.night: bool | None = None
        self.orders: list[ActOrder] = []
        self.last_act: ActPosition | None = None
        # Relation in time of the last act to the next one.
        self.joint = ""

    @property
    def subject(self) -> SubjectClaim:
        """The last subject; anybody at first."""
        if self.subjects:
            return self.subjects[-1]
        return _ANYBODY

    @property
    def has_time(self) -> bool:
        """Whether acts are related in time."""
        return bool(self.orders or self.joint)

    def replace_subject(self, subject: SubjectClaim) -> None:
        self.subjects[-1] = subject

    def set_acts(self, acts: tuple[Act, ...]) -> None:
        """Replace the acts of the last subject."""
        self.subjects[-1] = replace(self.subject, acts=acts)

    def relate_act(self) -> None:
        """Note the last act, and its relation in time to the one before."""
        new_act = (len(self.subjects) - 1, len(self.subject.acts) - 1)
        if self.last_act is not None:
            if self.joint == "after":
                self.orders.append(ActOrder(new_act, self.last_act, "before"))
            elif self.joint == "while":
                self.orders.append(ActOrder(self.last_act, new_act, "while"))
            elif self.joint:
                self.orders.append(ActOrder(self.last_act, new_act, "before"))
        self.last_act = new_act
        self.joint = ""

    def limit_last_act(self, part: str) -> None:
        """Say that the last act is at the start or at the end of the clip."""
        assert self.last_act is not None, "checked by the reader"
        number, position = self.last_act
        subject = self.subjects[number]
        acts = list(subject.acts)
        acts[position] = replace(acts[position], part=cast(Literal["start", "end"], part))
        self.subjects[number] = replace(subject, acts=tuple(acts))

    def claim(self) -> Claim | None:
        """Return what was read; None if it is nothing, or cannot be told."""
        claim = Claim(
            subjects=tuple(self.subjects),
            places=self.places,
            night=self.night,
            orders=tuple(self.orders),
        )
        if claim == Claim() or any(_is_stopping(subject) for subject in self.subjects):
            return None
        return replace(claim, vague=self.is_vague)


class _PhraseReader:
    """Collects the meanings of a phrase, from left to right.

    Each method for a kind of word returns whether it makes sense there. `_GRAMMAR` has the kinds.
    """

    def __init__(self, is_vague: bool, has_background: bool) -> None:
        self._draft = _Draft(is_vague)
        # "With a crown in the background" is not worn.
        self._has_background = has_background
        # Adjectives of the next noun.
        self._adjectives = _ANYBODY
        # Whether an object of the last verb follows.
        self._object: Literal["", "may", "must"] = ""
        self._preposition = ""
        # The word before this one, nouns and adjectives aside.
        self._last_word = ""
        # After "smiling", which may belong to the next noun.
        self._is_moody = False
        # After "or": the next noun may be there instead of the last one.
        self._is_alternative = False
        # Whether the last noun came after "with".
        self._is_aside = False
        # After "a ball is thrown", until "by a boy".
        self._is_passive = False

    def read(self, word: PhraseWord) -> bool:
        """Read the next word; return whether it makes sense there."""
        rule = _GRAMMAR[word.meaning.kind]
        # with a hat on and | a dog
        if _NEXT_PART.search(word.gap):
            self._preposition = ""
        # Nobody is drawn as being "in the background".
        if word.text == ("background",) and _are_actors(self._draft.subject.names):
            self._draft.is_vague = True

        if rule.starts_part and self._adjectives.colour and not self._read_shirt(word.meaning):
            return False
        if rule.ends_predicate or word.text[0] in _JOINTS:
            self._end_predicate()
        # a man is eating | at the beach
        if rule.closes_object and self._object == "may":
            self._object = ""
        if not rule.read(self, word.meaning):
            return False
        self._remember(word)
        return True

    def _remember(self, word: PhraseWord) -> None:
        """Note the word for the next one."""
        kind = word.meaning.kind
        if kind == "adjective":
            self._is_moody = False
            return
        if kind in ("verb", "place", "night", "filler"):
            self._is_moody = kind == "verb" and _is_mood(word.meaning.names)
            self._last_word = word.text[0]
        may_be_preposition = kind == "filler" and len(word.text) == 1
        self._preposition = word.text[0] if may_be_preposition else ""

    def finish(self) -> Claim | None:
        """Return what was read; None if words are left over."""
        if self._adjectives.colour:
            self._use_colour_for_clothes()
        self._end_predicate()
        if self._is_alternative or self._adjectives != _ANYBODY:
            return None
        if self._object == "must" or self._draft.joint:
            return None
        return self._draft.claim()

    # Adjectives

    def _read_adjective(self, meaning: Meaning) -> bool:
        self._adjectives = replace(self._adjectives, **meaning.adjective)
        return True

    def _take_adjectives(self) -> SubjectClaim:
        adjectives = self._adjectives
        self._adjectives = _ANYBODY
        return adjectives

    def _end_predicate(self) -> None:
        """Take adjectives that no noun follows for those of the last one: "the girl is happy"."""
        quality = self._adjectives
        subject = self._draft.subject
        if quality == _ANYBODY or self._object or not subject.names:
            return
        is_counted = quality.least != 1 or quality.most != MANY or quality.total
        if is_counted or not _may_be(subject.names, quality):
            return

        if quality.colour:
            looks = _looking(subject.names, quality.colour)
            subject = replace(subject, colour=quality.colour, looks=looks)
        size = quality.size or subject.size
        acts = (*subject.acts, *quality.acts)
        self._draft.replace_subject(replace(subject, size=size, acts=acts))
        self._adjectives = _ANYBODY

    def _read_shirt(self, _: Meaning) -> bool:
        return self._use_colour_for_clothes()

    def _use_colour_for_clothes(self) -> bool:
        """Take the colour that was read for that of a person's clothes."""
        colour = self._adjectives.colour
        subject = self._draft.subject
        if not colour or not subject.names or not subject.names <= persons():
            return False

        # wearing a red | shirt
        if self._object:
            if not subject.acts[-1].verbs <= {"wear"}:
                return False
            # "Dances, then wears a red | shirt": clothes are worn all the time.
            act = (len(self._draft.subjects) - 1, len(subject.acts) - 1)
            if any(act in (order.first, order.second) for order in self._draft.orders):
                return False
            subject = replace(subject, acts=subject.acts[:-1])
            # It is no action "before" or "while" which another one is done.
            self._draft.last_act = None

        self._draft.replace_subject(replace(subject, colour=colour))
        self._adjectives = _ANYBODY
        self._object = ""
        return True

    # Places, times and small words

    def _read_place(self, meaning: Meaning) -> bool:
        draft = self._draft
        if self._is_alternative:
            self._is_alternative = False
            if draft.places:
                draft.places |= meaning.names
        elif draft.places:
            draft.places &= meaning.names
        else:
            draft.places = meaning.names
        # Not "in the park on the beach".
        return bool(draft.places)

    def _read_night(self, meaning: Meaning) -> bool:
        self._draft.night = meaning.value == "night"
        return True

    def _read_filler(self, meaning: Meaning) -> bool:
        # in green | with a couch
        if self._wears_next and self._adjectives.colour:
            return self._use_colour_for_clothes()
        return True

    def _read_or(self, meaning: Meaning) -> bool:
        self._is_alternative = True
        return self._adjectives == _ANYBODY and not self._object

    def _read_time(self, meaning: Meaning) -> bool:
        """Read when the last action is done."""
        draft = self._draft
        if draft.last_act is None or draft.joint or self._object:
            return False
        if meaning.value in PARTS:
            draft.limit_last_act(meaning.value)
            return True
        # "A man walks after eating while | a girl sings": which of the two?
        if draft.orders:
            return False
        draft.joint = meaning.value
        return True

    # Verbs

    def _read_verb(self, meaning: Meaning) -> bool:
        draft = self._draft
        if not draft.subjects:
            draft.subjects.append(_ANYBODY)
        draft.set_acts((*draft.subject.acts, Act(meaning.names)))
        if not meaning.takes_object:
            self._object = ""
        else:
            self._object = "may" if meaning.alone else "must"
        draft.relate_act()
        # a man with a ball looking sleepy
        return not self._is_aside

    def _read_passive(self, meaning: Meaning) -> bool:
        """Read what is done to the last subject, by somebody who may be named after "by"."""
        subject = self._draft.subject
        if self._object or self._is_aside:
            return False
        if subject != SubjectClaim(subject.names, colour=subject.colour):
            return False
        verbs = frozenset(verb for verb in meaning.names if subject.names & actions()[verb].objects)
        has_target = {actions()[verb].targets for verb in verbs}
        if len(has_target) != 1:
            return False

        if True in has_target:
            act = Act(verbs, colour=subject.colour, targets=subject.names)
        else:
            act = Act(verbs, colour=subject.colour, objects=subject.names)
        self._draft.replace_subject(SubjectClaim(acts=(act,)))
        self._draft.relate_act()
        self._is_passive = True
        return not (act.targets and act.colour)

    # Nouns and pronouns

    def _read_pronoun(self, meaning: Meaning) -> bool:
        """Read a "he" or "she": the last one, or somebody new of that sex."""
        last_names = self._draft.subject.names
        if self._object or self._is_passive or self._adjectives != _ANYBODY:
            return False
        if last_names & meaning.names:
            return True
        self._draft.subjects.append(SubjectClaim(meaning.names))
        # Of animals, the sex cannot be told.
        return last_names <= lexicon()[("he",)].names | lexicon()[("she",)].names

    def _read_noun(self, meaning: Meaning) -> bool:
        if self._is_alternative:
            return self._read_alternative(meaning)

        adjectives = self._take_adjectives()
        is_agent = self._is_passive
        self._is_passive = False
        if not self._may_follow(meaning.names, is_agent):
            return False
        if not _may_be(meaning.names, adjectives):
            return False
        adjectives = replace(adjectives, looks=_looking(meaning.names, adjectives.colour))
        if meaning.value == "sort":
            self._draft.is_vague = True

        if self._takes_object(meaning.names):
            return self._read_object(meaning, adjectives)
        if self._is_place(meaning.names):
            return self._read_place_of_subject(meaning, adjectives)
        return self._read_subject(meaning, adjectives, is_agent)

    def _may_follow(self, names: Names, is_agent: bool) -> bool:
        # Not "a dog chased | a cat".
        if is_agent:
            return self._last_word == "by"
        # eaten by a girl, but not | by a boy
        if self._last_word == "by" and not self._draft.subjects and names <= persons():
            return False
        # a man sings and a smiling | girl
        return not (self._is_moody and self._draft.subject.names)

    @property
    def _wears_next(self) -> bool:
        """Whether clothes that follow are worn."""
        if self._last_word == "in":
            return True
        return self._last_word == "with" and not self._has_background

    def _takes_object(self, names: Names) -> bool:
        """Return whether the last verb takes some things for its object; clothes are worn."""
        subject = self._draft.subject
        if self._wears_next and self._draft.subjects and _has_clothes(names):
            self._read_verb(Meaning("verb", takes_object=True))
        elif self._object == "may":
            verbs = subject.acts[-1].verbs
            # a bird is flying near | a kite
            if not any(_may_do_to(verb, subject.names, names) for verb in verbs):
                self._object = ""
        return bool(self._object)

    def _is_place(self, names: Names) -> bool:
        """Return whether some things are where the last subject is."""
        if self._preposition not in _UNCERTAIN_PLACES:
            return False
        roles = {things()[name].role for name in names}
        # on the phone
        is_on_thing_in_hand = self._preposition == "on" and roles == {"hand"}
        return roles != {"sky"} and not is_on_thing_in_hand

    def _read_subject(self, meaning: Meaning, adjectives: SubjectClaim, is_agent: bool) -> bool:
        """Add somebody, or name the subject of the action before: "a ball thrown by a | girl"."""
        draft = self._draft
        # "With a girl | dancing" is about her.
        self._is_aside = self._last_word == "with" and bool(draft.subjects)
        acts = adjectives.acts
        if meaning.act:
            acts = (*acts, meaning.act)

        may_name_last = is_agent or not draft.has_time
        if draft.subjects and not draft.subject.names and may_name_last:
            acts = (*draft.subjects.pop().acts, *acts)
            # a sleeping | bag
            if not all(may_do(meaning.names, act) for act in acts):
                return False

        least = max(adjectives.least, meaning.least)
        if meaning.plural and not adjectives.total:
            least = max(least, 2)
        subject = replace(adjectives, names=meaning.names, least=least, acts=acts)
        if meaning.least > 1:
            subject = replace(subject, most=TOGETHER)
        draft.subjects.append(subject)
        return True

    def _read_place_of_subject(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        """Read what somebody is on or in, such as a horse that is ridden."""
        draft = self._draft
        preposition = self._preposition
        self._object = ""
        # a statue of | a man
        if preposition == "of":
            draft.is_vague = True
            return True

        subject = draft.subject
        acts = subject.acts
        is_at_rest = bool(acts) and acts[-1].verbs <= {"sit", "stand", "sit on"}
        if is_at_rest:
            acts = acts[:-1]
        verbs = _verbs_of_place(preposition, subject.names, meaning.names)
        is_plain = replace(adjectives, colour="", looks=frozenset()) == _ANYBODY
        is_free = not draft.orders and all(act.verbs <= {"wear"} for act in acts)
        is_drawn = preposition != "under" or meaning.names == meanings()["umbrella"]
        if not (verbs and is_drawn and is_free and is_plain and meaning.least == 1):
            draft.is_vague = True
            return self._read_subject(meaning, adjectives, is_agent=False)

        objects = meaning.names & frozenset().union(*(actions()[verb].objects for verb in verbs))
        act = Act(verbs, objects, adjectives.colour, looks=adjectives.looks)
        if not draft.subjects:
            draft.subjects.append(_ANYBODY)
        draft.set_acts((*acts, act))
        draft.relate_act()
        return True

    def _read_object(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        """Read what the last act is done to."""
        # eating a drummer, photographing a singer, holding two balls
        if meaning.act or adjectives.acts or adjectives.total:
            return False
        if max(adjectives.least, meaning.least) > 1:
            return False

        draft = self._draft
        *earlier_acts, act = draft.subject.acts
        # sitting on a horse
        ridden_verbs = _taking(_PLACED["on"], meaning.names)
        if ridden_verbs and act.verbs == {"sit on"}:
            act = replace(act, verbs=ridden_verbs)
        verbs = _verbs_with(meaning.names, act.verbs)
        # playing a pizza, looking at a book
        if act.verbs and not verbs:
            self._object = ""
            draft.is_vague = True
            draft.last_act = None
            draft.set_acts(tuple(earlier_acts))
            return not draft.has_time and self._read_subject(meaning, adjectives, is_agent=False)

        has_target = {actions()[verb].targets for verb in _taking(verbs, meaning.names)}
        if len(has_target) > 1:
            return False
        if adjectives.size:
            return False
        act = replace(act, verbs=verbs, colour=adjectives.colour, looks=adjectives.looks)
        if True in has_target:
            # An act does not say which colour another figure has.
            if adjectives.colour:
                return False
            act = replace(act, targets=meaning.names)
        else:
            act = replace(act, objects=meaning.names)
        draft.set_acts((*earlier_acts, act))
        self._object = ""
        return True

    def _read_alternative(self, meaning: Meaning) -> bool:
        """Read the second noun of "a cat or a dog", "eating pizza or pasta": either will do."""
        draft = self._draft
        subject = draft.subject
        self._is_alternative = False
        if self._adjectives != _ANYBODY or self._is_aside:
            return False
        if meaning.act or meaning.value or meaning.least > 1:
            return False

        if subject.names and subject == SubjectClaim(subject.names, least=subject.least):
            draft.replace_subject(replace(subject, names=subject.names | meaning.names))
            return True
        if not subject.acts:
            return False
        *earlier_acts, act = subject.acts
        if not act.objects or act != Act(act.verbs, act.objects):
            return False
        act = replace(act, objects=act.objects | meaning.names)
        draft.set_acts((*earlier_acts, act))
        return True


class _Rule(NamedTuple):
    """What a word of one kind does."""

    read: Callable[[_PhraseReader, Meaning], bool]
    # A colour before it is of clothes, as no noun can follow.
    starts_part: bool = False
    # Adjectives before it are of the last noun.
    ends_predicate: bool = False
    # A verb before it that may have an object gets none.
    closes_object: bool = False


# fmt: off
_GRAMMAR: Mapping[MeaningKind, _Rule] = {
    "adjective": _Rule(_PhraseReader._read_adjective),
    "filler": _Rule(_PhraseReader._read_filler),
    "night": _Rule(_PhraseReader._read_night, starts_part=True, ends_predicate=True, closes_object=True),
    "noun": _Rule(_PhraseReader._read_noun),
    "or": _Rule(_PhraseReader._read_or),
    "passive": _Rule(_PhraseReader._read_passive),
    "place": _Rule(_PhraseReader._read_place, starts_part=True, ends_predicate=True, closes_object=True),
    "pronoun": _Rule(_PhraseReader._read_pronoun),
    "shirt": _Rule(_PhraseReader._read_shirt),
    "time": _Rule(_PhraseReader._read_time, ends_predicate=True, closes_object=True),
    "verb": _Rule(_PhraseReader._read_verb, starts_part=True, closes_object=True),
}
# fmt: on


def _may_be(names: Names, adjectives: SubjectClaim) -> bool:
    """Return whether one of some things can be as adjectives say.

    The colour of a skin, or of many things, cannot be told.
    """
    able = names
    for act in adjectives.acts:
        for verb in act.verbs:
            able &= actions()[verb].subjects
    if not able:
        return False
    return not adjectives.colour or all(_has_one_colour(name) for name in names)


def _has_one_colour(name: str) -> bool:
    thing = things()[name]
    return bool(thing.tint or thing.look) and thing.role != "person"


def _looking(names: Names, colour: str) -> Names:
    """Return those of some things that are always of a colour."""
    return frozenset(name for name in names if colour in things()[name].look)


def _taking(verbs: Names | tuple[str, ...], names: Names) -> Names:
    """Return those of some verbs that take one of some things for their object."""
    return frozenset(verb for verb in verbs if names & actions()[verb].objects)


def _verbs_with(names: Names, verbs: Names) -> Names:
    """Return what verbs mean of some things: "playing basketball" is throwing or bouncing it."""
    if verbs == {"play"} and not _taking(verbs, names):
        return frozenset(verb for verb in _GAMES if names <= actions()[verb].objects)
    if _taking(verbs, names):
        return verbs
    return frozenset()


def _verbs_of_place(preposition: str, subject_names: Names, names: Names) -> Names:
    """Return what subjects may do that are, say, "on" some things."""
    verbs = _taking(_PLACED.get(preposition, ()), names)
    if not subject_names:
        return verbs
    return frozenset(verb for verb in verbs if subject_names & actions()[verb].subjects)


def _may_do_to(verb: str, subject_names: Names, names: Names) -> bool:
    kind = actions()[verb]
    if not names & kind.objects:
        return False
    return not subject_names or bool(subject_names & kind.subjects)


def _is_stopping(subject: SubjectClaim) -> bool:
    """Return whether a person starts or stops: what does "a woman stops" stop?"""
    if not subject.names & persons():
        return False
    return any(act.verbs and act.verbs <= {"start", "stop"} for act in subject.acts)


def _are_actors(names: Names) -> bool:
    return any(things()[name].role in ACTING for name in names)


def _has_clothes(names: Names) -> bool:
    return any(things()[name].role == "worn" for name in names)


def _is_mood(verbs: Names) -> bool:
    return all(actions()[verb].layer == "mood" for verb in verbs)
