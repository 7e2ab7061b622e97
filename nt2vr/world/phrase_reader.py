"""Reading of one phrase, word by word from left to right, into a claim.

`_READERS` is the grammar: it says for each kind of word what reads it. The three sets below it say
what a kind ends of the words before.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from nt2vr.world.abilities import (
    is_mood,
    is_stopping,
    looking,
    may_be,
    may_do,
    may_do_to,
    taking,
    verbs_of_place,
    verbs_with,
)
from nt2vr.world.claim_draft import ANYBODY, ClaimDraft
from nt2vr.world.claims import MANY, Act, Claim, SubjectClaim
from nt2vr.world.lexicon import lexicon
from nt2vr.world.meaning import Meaning, MeaningKind, ObjectUse
from nt2vr.world.scenes import ClipPart
from nt2vr.world.small_words import PARTS, TOGETHER
from nt2vr.world.things import ACTING, Names, actions, meanings, persons, roles_of
from nt2vr.world.words import PhraseWord

_JOINTS = frozenset("in on with at near by beside next under who that which".split())
_UNCERTAIN_PLACES = frozenset("on in inside under of across through from".split())
_NEXT_PART = re.compile(r"\band\b|[,;.]")


class PhraseReader:
    """Collects the meanings of a phrase, from left to right.

    Each method for a kind of word returns whether it makes sense there.
    """

    def __init__(self, is_vague: bool, has_background: bool) -> None:
        self._draft = ClaimDraft(is_vague)
        # "With a crown in the background" is not worn.
        self._has_background = has_background
        # Adjectives of the next noun.
        self._adjectives = ANYBODY
        # Whether an object of the last verb may or must follow.
        self._object: ObjectUse = ""
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
        kind = word.kind
        # with a hat on and | a dog
        if _NEXT_PART.search(word.gap):
            self._preposition = ""
        # Nobody is drawn as being "in the background".
        if word.text == ("background",) and roles_of(self._draft.subject.names) & ACTING:
            self._draft.is_vague = True

        if kind in _AFTER_NOUN and self._adjectives.colour and not self._read_shirt(word.meaning):
            return False
        if kind in _AFTER_PREDICATE or word.first in _JOINTS:
            self._end_predicate()
        if kind in _AFTER_OBJECT and self._object == "may":
            self._object = ""
        if not _READERS[kind](self, word.meaning):
            return False
        self._remember(word)
        return True

    def _remember(self, word: PhraseWord) -> None:
        """Note the word for the next one."""
        kind = word.kind
        if kind == "adjective":
            self._is_moody = False
            return
        if kind in ("verb", "place", "night", "filler"):
            self._is_moody = kind == "verb" and is_mood(word.names)
            self._last_word = word.first
        may_be_preposition = kind == "filler" and len(word.text) == 1
        self._preposition = word.first if may_be_preposition else ""

    def finish(self) -> Claim | None:
        """Return what was read; None if words are left over."""
        self._use_colour_for_clothes()
        self._end_predicate()
        if self._is_alternative or self._adjectives != ANYBODY:
            return None
        if self._object == "must" or self._draft.joint:
            return None
        claim = self._draft.claim()
        if claim == Claim(vague=claim.vague) or any(map(is_stopping, claim.subjects)):
            return None
        return claim

    # Adjectives

    def _read_adjective(self, meaning: Meaning) -> bool:
        self._adjectives = replace(self._adjectives, **meaning.adjective)
        return True

    def _end_predicate(self) -> None:
        """Take adjectives that no noun follows for those of the last one: "the girl is happy"."""
        quality = self._adjectives
        subject = self._draft.subject
        if quality == ANYBODY or self._object or not subject.names:
            return
        is_counted = quality.least != 1 or quality.most != MANY or quality.total
        if is_counted or not may_be(subject.names, quality):
            return

        if quality.colour:
            looks = looking(subject.names, quality.colour)
            subject = replace(subject, colour=quality.colour, looks=looks)
        size = quality.size or subject.size
        acts = (*subject.acts, *quality.acts)
        self._draft.replace_subject(replace(subject, size=size, acts=acts))
        self._adjectives = ANYBODY

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
            act = self._draft.last_act
            if any(act in (order.first, order.second) for order in self._draft.orders):
                return False
            self._draft.drop_act()

        self._draft.replace_subject(replace(self._draft.subject, colour=colour))
        self._adjectives = ANYBODY
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
        return self._adjectives == ANYBODY and not self._object

    def _read_time(self, meaning: Meaning) -> bool:
        """Read when the last action is done."""
        draft = self._draft
        if draft.last_act is None or draft.joint or self._object:
            return False
        if meaning.value in PARTS:
            draft.limit_act(draft.last_act, cast(ClipPart, meaning.value))
            return True
        # "A man walks after eating while | a girl sings": which of the two?
        if draft.orders:
            return False
        draft.joint = meaning.value
        return True

    # Verbs

    def _read_verb(self, meaning: Meaning) -> bool:
        self._draft.add_act(Act(meaning.names))
        self._object = meaning.object
        # a man with a ball looking sleepy
        return not self._is_aside

    def _read_passive(self, meaning: Meaning) -> bool:
        """Read what is done to the last subject, by somebody who may be named after "by"."""
        subject = self._draft.subject
        if self._object or self._is_aside:
            return False
        if subject != SubjectClaim(subject.names, colour=subject.colour):
            return False
        verbs = taking(meaning.names, subject.names)
        act = _with_object(Act(verbs), subject.names, adjectives=subject)
        if not verbs or act is None:
            return False

        self._draft.replace_subject(SubjectClaim(acts=(act,)))
        self._draft.relate_act()
        self._is_passive = True
        return True

    # Nouns and pronouns

    def _read_pronoun(self, meaning: Meaning) -> bool:
        """Read a "he" or "she": the last one, or somebody new of that sex."""
        last_names = self._draft.subject.names
        if self._object or self._is_passive or self._adjectives != ANYBODY:
            return False
        if last_names & meaning.names:
            return True
        self._draft.subjects.append(SubjectClaim(meaning.names))
        # Of animals, the sex cannot be told.
        return last_names <= lexicon()[("he",)].names | lexicon()[("she",)].names

    def _read_noun(self, meaning: Meaning) -> bool:
        if self._is_alternative:
            return self._read_alternative(meaning)

        adjectives = self._adjectives
        self._adjectives = ANYBODY
        is_agent = self._is_passive
        self._is_passive = False
        if not self._may_follow(meaning.names, is_agent):
            return False
        if not may_be(meaning.names, adjectives):
            return False
        adjectives = replace(adjectives, looks=looking(meaning.names, adjectives.colour))
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
        if self._wears_next and self._draft.subjects and "worn" in roles_of(names):
            self._read_verb(Meaning("verb", object="must"))
        elif self._object == "may":
            verbs = subject.acts[-1].verbs
            # a bird is flying near | a kite
            if not any(may_do_to(verb, subject.names, names) for verb in verbs):
                self._object = ""
        return bool(self._object)

    def _is_place(self, names: Names) -> bool:
        """Return whether some things are where the last subject is."""
        if self._preposition not in _UNCERTAIN_PLACES:
            return False
        roles = roles_of(names)
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
        most = TOGETHER if meaning.least > 1 else adjectives.most
        subject = replace(
            adjectives,
            names=meaning.names,
            acts=acts,
            least=least,
            most=most,
        )
        draft.subjects.append(subject)
        return True

    def _read_place_of_subject(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        """Read what somebody is on or in, such as a horse that is ridden."""
        draft = self._draft
        self._object = ""
        # a statue of | a man
        if self._preposition == "of":
            draft.is_vague = True
            return True

        acts = draft.subject.acts
        is_at_rest = bool(acts) and acts[-1].verbs <= {"sit", "stand", "sit on"}
        if is_at_rest:
            acts = acts[:-1]
        act_there = None
        # Of "sits, then | on a horse", the order cannot be told.
        if not draft.has_time and all(act.verbs <= {"wear"} for act in acts):
            act_there = self._act_at_place(meaning, adjectives)
        if act_there is None:
            draft.is_vague = True
            return self._read_subject(meaning, adjectives, is_agent=False)

        if is_at_rest:
            draft.drop_act()
        draft.add_act(act_there)
        return True

    def _act_at_place(self, meaning: Meaning, adjectives: SubjectClaim) -> Act | None:
        """Return what the last subject does on or in a thing; None if it is not drawn so."""
        only_coloured = SubjectClaim(colour=adjectives.colour, looks=adjectives.looks)
        if adjectives != only_coloured or meaning.least != 1:
            return None
        if self._preposition == "under" and meaning.names != meanings()["umbrella"]:
            return None
        verbs = verbs_of_place(self._preposition, self._draft.subject.names, meaning.names)
        if not verbs:
            return None
        possible = frozenset().union(*(actions()[verb].objects for verb in verbs))
        objects = meaning.names & possible
        return Act(verbs, objects, adjectives.colour, looks=adjectives.looks)

    def _read_object(self, meaning: Meaning, adjectives: SubjectClaim) -> bool:
        """Read what the last act is done to."""
        # eating a drummer, photographing a singer, holding two balls
        if meaning.act or adjectives.acts or adjectives.total:
            return False
        if max(adjectives.least, meaning.least) > 1:
            return False

        draft = self._draft
        act = draft.subject.acts[-1]
        verbs = verbs_with(meaning.names, act.verbs)
        self._object = ""
        # playing a pizza, looking at a book
        if act.verbs and not verbs:
            draft.is_vague = True
            draft.drop_act()
            return not draft.has_time and self._read_subject(meaning, adjectives, is_agent=False)

        act_to_object = _with_object(replace(act, verbs=verbs), meaning.names, adjectives)
        if act_to_object is None:
            return False
        draft.revise_act(act_to_object)
        return True

    def _read_alternative(self, meaning: Meaning) -> bool:
        """Read the second noun of "a cat or a dog", "eating pizza or pasta": either will do."""
        draft = self._draft
        subject = draft.subject
        self._is_alternative = False
        if self._adjectives != ANYBODY or self._is_aside:
            return False
        if meaning.act or meaning.value or meaning.least > 1:
            return False

        if subject.names and subject == SubjectClaim(subject.names, least=subject.least):
            draft.replace_subject(replace(subject, names=subject.names | meaning.names))
            return True
        if not subject.acts:
            return False
        act = subject.acts[-1]
        if not act.objects or act != Act(act.verbs, act.objects):
            return False
        draft.revise_act(replace(act, objects=act.objects | meaning.names))
        return True


# What reads a word of each kind; in brackets, what may follow it.
_READERS: Mapping[MeaningKind, Callable[[PhraseReader, Meaning], bool]] = {
    # a big | red | (car), the car is | red
    "adjective": PhraseReader._read_adjective,
    # a man | with | (a hat)
    "filler": PhraseReader._read_filler,
    # a man sings | at night
    "night": PhraseReader._read_night,
    # a | man | plays the | guitar
    "noun": PhraseReader._read_noun,
    # a cat | or | (a dog)
    "or": PhraseReader._read_or,
    # a ball is | thrown | (by a boy)
    "passive": PhraseReader._read_passive,
    # a man sings | in the park
    "place": PhraseReader._read_place,
    # a man sings and | he | (dances)
    "pronoun": PhraseReader._read_pronoun,
    # a man in a red | shirt
    "shirt": PhraseReader._read_shirt,
    # a man sings | before | (he dances), a man sings | at the end
    "time": PhraseReader._read_time,
    # a man | sings
    "verb": PhraseReader._read_verb,
}
# A colour before these is of clothes, as no noun can follow: a woman in red | sings.
_AFTER_NOUN = frozenset({"night", "place", "verb"})
# Adjectives before these are of the last noun: the sea is blue | at night.
_AFTER_PREDICATE = frozenset({"night", "place", "time"})
# A verb before these that may have an object has none: a man is eating | at the beach.
_AFTER_OBJECT = frozenset({"night", "place", "time", "verb"})


def _with_object(act: Act, names: Names, adjectives: SubjectClaim) -> Act | None:
    """Return an act that is done to some things, or figures; None if that cannot be told."""
    has_target = {actions()[verb].targets for verb in taking(act.verbs, names)}
    if len(has_target) > 1 or adjectives.size:
        return None
    act = replace(act, colour=adjectives.colour, looks=adjectives.looks)
    if True not in has_target:
        return replace(act, objects=names)
    # An act does not say which colour another figure has.
    return None if adjectives.colour else replace(act, targets=names)
