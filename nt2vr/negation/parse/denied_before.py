"""Rule 5 of `scope`: what cues deny that come after a thing or name it themselves."""

from nt2vr.negation.parse.cues import LESS
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrase, Phrases, noun_of

_NOUN_TAGS = frozenset({"DET", "NOUN", "ADJ", "NUM", "POS"})


class BackwardFinder:
    """Finds what is denied before a cue; `first` is always the first word that may be denied."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def find(self, cue: Cue, first: int) -> Negation | None:
        """Return a negation whose cue comes after what it denies, or names it."""
        match cue.kind:
            case "less":
                return self._named_by_cue(cue)
            case "free":
                return self._free(cue, first)
            case "absent":
                return self._absent(cue, first)
            case "double":
                return self._affirmed(cue)
            case "not":
                return self._not_present(cue, first)
        return None

    def _named_by_cue(self, cue: Cue) -> Negation:
        """Return the negation of "hatless"."""
        return Negation(
            cue=cue,
            items=(noun_of(cue.start, cue.end),),
            start=cue.start,
            end=cue.end,
            thing=LESS[self.phrases.word(cue.start)],
        )

    def _affirmed(self, cue: Cue) -> Negation:
        """Return two negations that affirm, such as "not without", which deny nothing."""
        start = max(0, cue.start - 1)
        cue_words = self.phrases.words[start : cue.end]
        link = " with "
        if {"with", "without", "of", "lacking"}.isdisjoint(cue_words):
            link = " "
        return Negation(cue=cue, start=cue.start, end=cue.end, link=link)

    def _free(self, cue: Cue, first: int) -> Negation | None:
        """Return the negation of "car-free"."""
        phrases = self.phrases
        start = cue.start
        while start > first and self._may_precede_free(start - 1):
            start -= 1
        if start == cue.start:
            return None

        item = noun_of(start, cue.start)
        cue = cue._replace(end=cue.start + 1)
        end = cue.end
        # In "in a car-free scene", the words around it say nothing more.
        if phrases.is_listed(end, "frames"):
            end += 1
            start = max(first, phrases.before(start, {"DET", "ADP"}))
        return Negation(
            cue=cue,
            items=(item,),
            start=start,
            end=end,
        )

    def _may_precede_free(self, i: int) -> bool:
        is_noun = self.phrases.tag(i) in {"NOUN", "OTHER", "NUM"}
        return is_noun or self.phrases.word(i).endswith("ing")

    def _not_present(self, cue: Cue, first: int) -> Negation | None:
        """Return "a cat is not visible", "while a truck is not", "with his face not visible"."""
        phrases = self.phrases
        after_predicate = phrases.after_predicate(cue.end)
        end = after_predicate
        if end == cue.end:
            # lights are not | on
            if phrases.word(end) in {"on", "in"}:
                end += 1
            if not self._denies_all_before(cue, end):
                return None

        part = self._missing_part(cue, after_predicate, first)
        return part or self._denied_subject(cue, first, end)

    def _denies_all_before(self, cue: Cue, end: int) -> bool:
        """Return whether a clause ends with "not", perhaps with a particle: "while a truck is not"."""
        if not self.phrases.is_end(end):
            return False
        if self.phrases.lemma(cue.start - 1) == "be":
            return True
        has_particle = end > cue.end
        return has_particle and self.phrases.tag(cue.start - 2) == "PUNCT"

    def _absent(self, cue: Cue, first: int) -> Negation | None:
        """Return "a chair is absent", "absent is a chair" or "is missing a chair"."""
        # a missing slice
        if self.phrases.tag(cue.start - 1) == "DET":
            return None

        is_linked = self._before_helpers(cue.start, first) < cue.start
        negation = self._absent_after(cue, first, is_linked)
        if negation is None:
            negation = self._missing_part(cue, cue.end, first)
        if negation or not self._says_absent(cue, first, is_linked):
            return negation
        return self._denied_subject(cue, first, self.phrases.after_tail(cue.end))

    def _says_absent(self, cue: Cue, first: int, is_linked: bool) -> bool:
        """Return whether a cue says that the thing before it is not there."""
        word = self.phrases.word(cue.start)
        # What somebody does denies nothing: a tree is removed
        if is_linked:
            return word != "removed"
        return word == "absent" or self._is_remark(cue, first)

    def _absent_after(self, cue: Cue, first: int, is_linked: bool) -> Negation | None:
        """Return the negation of a thing after its cue: "is missing a chair"."""
        phrases = self.phrases
        after_frame = phrases.after_frame(cue.end)
        thing = after_frame
        while phrases.is_auxiliary(thing) or phrases.word(thing) in {":", "of"}:
            thing += 1

        item = phrases.noun_phrase(thing)
        if item is None:
            return None
        start = max(first, phrases.before(cue.start, {"ADV"}))
        if thing == after_frame and not phrases.is_clause_edge(start - 1):
            # a man missing | a tooth
            loses = is_linked or phrases.is_listed(item.head, "may_be_lost")
            if phrases.word(cue.start) != "missing" or not loses:
                return None
        return Negation(
            cue=cue,
            items=(item,),
            start=start,
            end=phrases.after_tail(item.end),
        )

    def _is_remark(self, cue: Cue, first: int) -> bool:
        """Return whether "a boy runs, hat missing" says so; not "dog missing, please help"."""
        phrases = self.phrases
        if phrases.words[cue.start : cue.end + 1] == ["missing", "from"]:
            return True
        start = self._clause_start(cue.start, first)
        is_clause = phrases.is_clause_edge(start - 1) and phrases.is_end(cue.end)
        if not is_clause:
            return False
        if start == 0 and not phrases.is_listed(cue.start, "afterthoughts"):
            return False

        # crochet excluded
        if cue.start == start + 1 and phrases.tag(start) in {"VB", "VBP", "VBG"}:
            return True
        noun = phrases.noun_phrase(start)
        return noun is not None and noun.end == cue.start

    def _missing_part(self, cue: Cue, after: int, first: int) -> Negation | None:
        """Return "with the drummer missing", "has a string missing"; `after` ends the predicate."""
        phrases = self.phrases
        start = max(first, phrases.before(cue.start, _NOUN_TAGS))
        if phrases.word(start - 1) not in {"with", "has", "have", "had"}:
            return None

        noun = phrases.noun_phrase(start)
        if noun is None or noun.end != cue.start:
            return None
        if phrases.lemma_is_listed(noun.head, "parts_of_wholes"):
            return None
        # has a man missing | a tooth
        if phrases.word(cue.start) == "missing" and phrases.noun_phrase(after):
            return None
        return Negation(
            cue=Cue("absent", cue.start, after),
            items=(noun,),
            start=start - 1,
            end=phrases.after_tail(after),
        )

    def _denied_subject(self, cue: Cue, first: int, end: int) -> Negation | None:
        subject = self._subject(cue.start, first)
        if subject is None:
            return None
        return Negation(cue=cue, items=(subject,), start=subject.start, end=end)

    def _subject(self, predicate: int, first: int) -> Phrase | None:
        """Return the thing before the predicate that starts at word `predicate`."""
        phrases = self.phrases
        end = self._before_helpers(predicate, first)
        start = phrases.after_frame(self._clause_start(end, first))
        if start >= end:
            return None
        if phrases.says_nothing(start, end):
            return None
        subject = noun_of(start, end)
        is_pronoun = subject.is_word and phrases.tag(start) == "PRON"
        return None if is_pronoun else subject

    def _before_helpers(self, i: int, first: int) -> int:
        phrases = self.phrases
        while i > first and (phrases.is_auxiliary(i - 1) or phrases.tag(i - 1) in {"ADV", "TO"}):
            i -= 1
        return i

    def _clause_start(self, end: int, first: int) -> int:
        start = end
        while start > first and not self._ends_clause(start - 1, end):
            start -= 1
        return start

    def _ends_clause(self, i: int, end: int) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "PUNCT" or phrases.is_listed(i, "clause_words"):
            return True
        # A "verb" after an article, or at the end, is a noun.
        is_noun = phrases.tag(i - 1) == "DET" or i + 1 == end
        return phrases.is_finite(i) and not is_noun
