"""Exceptions: unwanted after "all", wanted after a denial: "all pets but dogs", "no pets except a dog"."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wanted import Negation
from nt2vr.negation.parse.wordlists import listed, words

Status = Literal["unwanted", "wanted", "none"]

_ENTITIES = words("anything anyone anybody any")  # universal, but under a denial they are part of it
_KINDS = _ENTITIES | words(
    "animals people vehicles instruments colours colors sound sounds noise light lights food clothes furniture "
    "company objects things tools plants pets sports"
)
_BARE = words("empty bare clear quiet deserted blank vacant abandoned naked alone plain desolate unoccupied lifeless")
_DENIALS = words("not no n't never nobody none nothing neither nor noone without")  # all | but nothing with skis
_DENYING = _DENIALS | words("lacks lacking zero hardly") | _BARE
_WEAK = words("but bar save besides different")  # exceptions only after "all" and the like
_NAMING = words("bar save all")
_MAX_NOUN = 5  # words between "all" and "but"


class Exceptions:
    """Reads the exceptions of one sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def status(self, cue: int, after_cue: int, found: Sequence[Negation]) -> Status:
        """Return whether the thing after the cue is unwanted, wanted, or the cue is no exception at all."""
        phrases = self.phrases
        if phrases.tag(after_cue) in {"", "PUNCT"} or phrases.word(after_cue) in _DENIALS:
            return "none"
        if (
            phrases.word(after_cue - 1) == "but"
            and phrases.tag(after_cue) == "NUM"
            and phrases.tag(after_cue + 1) != "NOUN"
        ):
            return "none"  # all but one; not: everyone but one boy
        if phrases.word(cue) in _NAMING and phrases.noun_phrase(after_cue) is None:
            return "none"  # every bar in town, all but forgotten
        clause = self._clause_start(cue)
        before = phrases.words[clause:cue]
        if listed("universal").intersection(phrases.words[cue:after_cue]):  # anything but
            return "wanted" if self._denial(cue, clause, found) else "unwanted"
        if clause == cue:  # except for dogs, …
            first = phrases.noun_phrase(after_cue)
            besides = phrases.word(cue) == "besides" and first is not None and phrases.word(first.end) == ","
            if phrases.word(cue) in _WEAK and not besides:
                return "none"
            return "wanted" if self._denies_later(after_cue) else "unwanted"
        universal = next((i for i in range(cue - 1, clause - 1, -1) if phrases.word(i) in listed("universal")), None)
        denied = self._denial(cue, clause, found) is not None
        if phrases.word(cue) in _WEAK and after_cue == cue + 1:
            near = universal is not None and self._names_only(universal + 1, cue)
            if not near and not self._leaves_out(universal, cue) and not (denied and self._is_excepted(cue, found)):
                return "none"
        if universal is not None and phrases.word(universal) not in _ENTITIES:
            return "unwanted"
        noun = phrases.noun_phrase(after_cue)
        enclosed = noun is not None and phrases.word(cue - 1) == phrases.word(noun.end) == ","
        if enclosed and noun and self._denies_later(noun.end):
            return "wanted"  # a clip in which, apart from a boat, there is nothing
        return "wanted" if denied or not _BARE.isdisjoint(before) else "unwanted"

    def wanted(self, cue: int, after_cue: int, found: list[Negation]) -> list[Negation]:
        """Return the negations without the denial from which the exception is made: "no pets except | a dog"."""
        phrases = self.phrases
        denial = self._denial(cue, self._clause_start(cue), found)
        if denial is None:
            link = " with " if phrases.word(cue - 1) == "with" else ", "
            rest = () if self._denies_later(after_cue) else ("anything",)  # an empty room except for a chair
            return [*found, Negation("except", cue, after_cue, (), cue, after_cue, link=link, others=rest)]
        item, last = denial.items[0], denial.items[-1]
        taken = replace(denial, items=(), verb=None, others=self._named(denial, cue))
        link = " with " if denial.kind == "without" or phrases.word(denial.cue - 1) == "with" else " "
        if item.kind == "verb":  # doesn't | wear | anything except | a hat
            start = item.object if item.object is not None and item.object < cue else cue
            taken = replace(taken, end=max(item.start, denial.after_cue), link=link)
            return [*found[:-1], taken, Negation("except", cue, after_cue, (), start, after_cue, link=" ")]
        taken = replace(taken, end=max(min(last.core, cue), denial.after_cue), link="")
        return [*found[:-1], taken, Negation("except", cue, after_cue, (), cue, after_cue, link=link)]

    def take_back(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Return "nobody" without its thing after an exception in front: "except for the dog, | nobody is there"."""
        front = found[-1] if found else None
        if front is None or front.kind != "except" or not negation.thing or len(negation.items) != 1:
            return negation
        end = max(negation.after_cue, negation.items[0].core)
        return replace(negation, items=(), thing="", end=end, others=(negation.thing,))

    def _named(self, denial: Negation, end: int) -> tuple[str, ...]:
        """Return what a denial names before word `end`: "animals", "people"."""
        words = [" ".join(self.phrases.words[max(i.start, denial.after_cue) : min(i.core, end)]) for i in denial.items]
        return tuple(filter(None, (denial.thing, *words)))

    def _denial(self, cue: int, clause: int, found: Sequence[Negation]) -> Negation | None:
        """Return the denial that word `cue` makes an exception from."""
        last = found[-1] if found else None
        if last is None or last.cue < clause or last.kind not in {"no", "not", "without", "nobody"}:
            return None
        return last if last.items and last.after_cue <= cue else None

    def _is_excepted(self, cue: int, found: Sequence[Negation]) -> bool:
        """Return whether "but" after a denial makes an exception: "no one on it but", and not "no dog but"."""
        last, phrases = found[-1], self.phrases
        if phrases.word(cue) != "but":
            return phrases.word(cue) == "besides"
        if last.kind == "nobody" and last.after_cue == cue:
            return True
        follows = phrases.noun_phrase(cue + 1) or phrases.quality(cue + 1)
        generic = last.kind == "nobody" or any(phrases.word(i) in _KINDS for i in range(last.after_cue, cue))
        return (
            generic
            and follows is not None
            and phrases.tag(follows.end) in {"", "PUNCT", "ADP"}
            and phrases.word(cue - 1) != ","
        )

    def _leaves_out(self, universal: int | None, cue: int) -> bool:
        """Return whether "save" or "bar" ends a whole clause about everybody: "everyone dances | save the groom"."""
        phrases = self.phrases
        if universal is None or phrases.word(cue) not in {"save", "bar"} or phrases.tag(cue + 1) not in {"DET", "NUM"}:
            return False
        acts = any(phrases.tag(i) in VERB_TAGS for i in range(universal + 1, cue))
        return acts and phrases.tag(cue - 1) not in {"TO", "MD", "CONJ", "PRON", "NEG", "DET", "ADP"}

    def _names_only(self, start: int, end: int) -> bool:
        """Return whether words `start` to `end` are at most a noun phrase: "every animal | but"."""
        inner = range(start, end)
        return len(inner) <= _MAX_NOUN and not any(
            self.phrases.tag(i) in VERB_TAGS - {"VBG", "VBN"} or self.phrases.tag(i) == "PUNCT" for i in inner
        )

    def _denies_later(self, i: int) -> bool:
        return any(word in _DENYING for word in self.phrases.words[i:])

    def _clause_start(self, cue: int) -> int:
        """Return the first word of the clause; a comma right before the exception is inside."""
        i = cue - (self.phrases.word(cue - 1) == ",")
        while i > 0 and self.phrases.tag(i - 1) != "PUNCT":
            i -= 1
        return cue if i == cue - 1 and self.phrases.word(i) == "," else i
