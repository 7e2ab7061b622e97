"""Rule 6 of `scope`: exceptions, which are unwanted, or wanted if they are from a denial."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import listed

ExceptionStatus = Literal["unwanted", "wanted", "none"]


class ExceptionFinder:
    """Reads exceptions from denials and from what is wanted in one tagged sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def status(self, cue: Cue, negations: Sequence[Negation]) -> ExceptionStatus:
        """Return whether the thing after a cue is unwanted or wanted, or is no exception at all."""
        phrases = self.phrases
        next_word = phrases.word(cue.end)
        if phrases.is_end(cue.end) or next_word in listed("denials"):
            return "none"

        clause = self._clause_start(cue)
        if clause == cue.start:
            return self._status_at_start(cue)

        is_denied = self._denial_before(cue, clause, negations) is not None
        universal = self._universal_before(cue, clause)
        has_universal = universal < cue.start
        # "every animal | but" makes an exception; not: all sing | but
        makes_exception = has_universal and not self._acts(universal + 1, cue.start)
        if is_denied:
            makes_exception = makes_exception or self._makes_exception(cue, negations)
        if self._is_weak(cue) and not makes_exception:
            return "none"

        is_of_kind = has_universal and not phrases.is_listed(universal, "entities")
        is_bare = not listed("bare").isdisjoint(phrases.words[clause : cue.start])
        if (is_denied or is_bare) and not is_of_kind:
            return "wanted"
        return "unwanted"

    def _acts(self, start: int, end: int) -> bool:
        verbs_and_marks = {"PUNCT", "MD", "VB", *FINITE_TAGS}
        return any(self.phrases.tag(i) in verbs_and_marks for i in range(start, end))

    def _status_at_start(self, cue: Cue) -> ExceptionStatus:
        """Return the status of an exception that starts its clause: "except for dogs, no pets"."""
        phrases = self.phrases
        first = phrases.noun_phrase(cue.end)
        is_besides = (
            phrases.word(cue.start) == "besides"
            and first is not None
            and phrases.word(first.end) == ","
        )
        if self._is_weak(cue) and not is_besides:
            return "none"
        if listed("denials", "hardly_any", "bare").isdisjoint(phrases.words[cue.end :]):
            return "unwanted"
        return "wanted"

    def take_back(self, cue: Cue, negations: list[Negation]) -> list[Negation]:
        """Return the negations without the denial from which the exception is made."""
        denial = self._denial_before(cue, self._clause_start(cue), negations)
        if denial is None:
            return [*negations, self._exception_from_emptiness(cue)]
        if denial.items[0].kind == "verb":
            pair = self._exception_from_action(cue, denial)
        else:
            pair = self._exception_from_things(cue, denial)
        return [*negations[:-1], *pair]

    def _exception_from_emptiness(self, cue: Cue) -> Negation:
        """Read "an empty room except for a chair"."""
        is_with = self.phrases.word(cue.start - 1) == "with"
        return Negation(
            cue=cue,
            start=cue.start,
            end=cue.end,
            link=" with " if is_with else ", ",
            other_kinds=("anything",) if cue.start else (),
        )

    def _exception_from_action(self, cue: Cue, denial: Negation) -> Iterator[Negation]:
        """Read "doesn't | wear | anything except | a hat"."""
        action = denial.items[0]
        start = cue.start
        if action.object is not None and action.object < cue.start:
            start = action.object
        end = max(action.start, denial.cue.end)
        yield self._taken_back(denial, cue, end=end, link=self._link(denial))
        yield Negation(cue=cue, start=start, end=cue.end, link=" ")

    def _exception_from_things(self, cue: Cue, denial: Negation) -> Iterator[Negation]:
        """Read "no pets except | a dog"."""
        end = max(min(denial.items[-1].core, cue.start), denial.cue.end)
        yield self._taken_back(denial, cue, end=end, link="")
        yield Negation(cue=cue, start=cue.start, end=cue.end, link=self._link(denial))

    def _taken_back(self, denial: Negation, cue: Cue, end: int, link: str) -> Negation:
        other_kinds = self._denied_kinds(denial, cue)
        return replace(denial, items=(), verb=None, other_kinds=other_kinds, end=end, link=link)

    def _link(self, denial: Negation) -> str:
        word_before = self.phrases.word(denial.cue.start - 1)
        is_with = denial.cue.kind == "without" or word_before == "with"
        return " with " if is_with else " "

    def _denied_kinds(self, denial: Negation, cue: Cue) -> tuple[str, ...]:
        """Return the words of a denial for what there may not be, other than the exception."""
        kinds = [denial.thing]
        for item in denial.items:
            start = max(item.start, denial.cue.end)
            kinds.append(" ".join(self.phrases.words[start : min(item.core, cue.start)]))
        return tuple(filter(None, kinds))

    def _denial_before(
        self, cue: Cue, clause: int, negations: Sequence[Negation]
    ) -> Negation | None:
        """Return the last negation if it denies something in the clause of the exception."""
        if not negations:
            return None
        last = negations[-1]
        if last.cue.kind not in {"no", "not", "without", "nobody"} or not last.items:
            return None
        if clause <= last.cue.start and last.cue.end <= cue.start:
            return last
        return None

    def _makes_exception(self, cue: Cue, negations: Sequence[Negation]) -> bool:
        """Return whether "but" makes an exception: "no one on it but", and not "no dog but"."""
        phrases = self.phrases
        last = negations[-1]
        is_nobody = last.cue.kind == "nobody"
        if is_nobody and last.cue.end == cue.start:
            return True

        follows = phrases.noun_phrase(cue.start + 1) or phrases.quality(cue.start + 1)
        if follows is None or phrases.tag(follows.end) not in {"", "PUNCT", "ADP"}:
            return False
        if phrases.word(cue.start - 1) == ",":
            return False
        denied_words = phrases.words[last.cue.end : cue.start]
        return is_nobody or not listed("entities", "kinds").isdisjoint(denied_words)

    def _is_weak(self, cue: Cue) -> bool:
        """Return whether a cue has other meanings as well, as "but" has."""
        return self.phrases.is_listed(cue.start, "weak") and cue.end == cue.start + 1

    def _universal_before(self, cue: Cue, clause: int) -> int:
        """Return the last "all" or "every" of a clause before its cue; the cue without one."""
        for i in range(cue.start - 1, clause - 1, -1):
            if self.phrases.is_listed(i, "universal"):
                return i
        return cue.start

    def _clause_start(self, cue: Cue) -> int:
        """Return the first word of the clause; a comma right before the exception is inside."""
        phrases = self.phrases
        start = cue.start
        if phrases.word(start - 1) == ",":
            start -= 1
        while not phrases.is_end(start - 1):
            start -= 1
        if phrases.word(start) == ",":
            return cue.start
        return start
