"""Reading of phrases: the meanings of their words, from left to right, make a claim."""

from dataclasses import replace

from nt2vr.world.claims import MANY, Act, Claim, Order, Who
from nt2vr.world.deeds import deeds
from nt2vr.world.lexicon import Meaning, lexicon
from nt2vr.world.things import Names, things
from nt2vr.world.wording import persons

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
