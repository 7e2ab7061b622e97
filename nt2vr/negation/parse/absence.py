"""Negations that follow what they deny: "a cat is not visible", "while a truck is not"."""

from nt2vr.negation.parse.cues import LESS
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wanted import CueKind, Negation, Presence
from nt2vr.negation.parse.wordlists import listed, words

_AFTERTHOUGHTS = words("aside excluded excepted omitted removed")
_OF_WHOLES = words("slice section half part piece bite chunk corner portion quarter end edge bit")  # the others show


class Absence:
    """Finds the thing that stands before a negated predicate, in one sentence."""

    def __init__(self, phrases: Phrases, presence: Presence) -> None:
        self.phrases, self.presence = phrases, presence

    def find(self, kind: CueKind, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return a negation whose cue comes after what it denies, or names it; `first`: the words before are taken."""
        match kind:
            case "less":
                item = Phrase("noun", cue, after_cue, after_cue, cue)
                return Negation(kind, cue, after_cue, (item,), cue, after_cue, thing=LESS[self.phrases.word(cue)])
            case "free":
                return self._free(cue, first)
            case "absent":
                return self._absent(cue, after_cue, first)
            case "double":
                said = self.phrases.words[max(0, cue - 1) : after_cue]
                link = " " if {"with", "without"}.isdisjoint(said) else " with "
                return Negation(kind, cue, after_cue, (), cue, after_cue, link=link)
            case "not":
                end = self.presence.after_predicate(after_cue)
                if end == after_cue and not self._is_elliptic(cue, after_cue):
                    return None
                return self._denied(kind, cue, after_cue, self._subject(cue, first), end)
        return None

    def _denied(self, kind: CueKind, cue: int, after_cue: int, subject: Phrase | None, end: int) -> Negation | None:
        if subject is None:
            return None
        return Negation(kind, cue, after_cue, (subject,), min(subject.start, cue), max(subject.end, end))

    def _is_elliptic(self, cue: int, after_cue: int) -> bool:
        """Return whether the sentence leaves out "present": "while a chair is not"."""
        return self.phrases.tag(after_cue) in {"", "PUNCT"} and self.phrases.lemma(cue - 1) == "be"

    def _free(self, cue: int, first: int) -> Negation | None:
        phrases, start, end = self.phrases, cue, cue + 1
        while start > first and (
            phrases.tag(start - 1) in {"NOUN", "OTHER", "NUM"} or phrases.word(start - 1).endswith("ing")
        ):
            start -= 1
        if start == cue:
            return None
        item, excluded = Phrase("noun", start, cue, cue, cue - 1), start
        if phrases.word(end) in listed("frames"):  # in a | car-free scene
            end += 1
            while excluded > first and phrases.tag(excluded - 1) in {"DET", "ADP"}:
                excluded -= 1
        return Negation("free", cue, cue + 1, (item,), excluded, end)

    def _absent(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "a chair is absent", "absent is a chair" or "is missing a chair"."""
        phrases, start = self.phrases, cue
        if phrases.tag(cue - 1) == "DET":
            return None  # a missing slice
        linked = self._is_linked(cue, first)
        while start > first and phrases.tag(start - 1) == "ADV":
            start -= 1
        i = self.presence.after_frame(after_cue)
        while phrases.is_auxiliary(i) or phrases.word(i) in {":", "of"}:
            i += 1
        inverted = i > self.presence.after_frame(after_cue) or (phrases.tag(start - 1) in {"", "PUNCT", "CONJ"})
        if (inverted or (linked and phrases.word(cue) == "missing")) and (item := self.phrases.noun_phrase(i)):
            return Negation("absent", cue, after_cue, (item,), start, self.presence.after_tail(item.end))
        if not linked:
            if left := self._with_missing(cue, after_cue, first):
                return left
            # a boy runs, hat missing; but not: dog missing, please help
            may_follow = phrases.word(cue) in _AFTERTHOUGHTS or self._clause_start(cue, first) > 0
            remark = may_follow and self._is_afterthought(cue, after_cue, first)
            remark |= phrases.word(cue) == "missing" and phrases.word(after_cue) == "from"
            if phrases.word(cue) != "absent" and not remark:
                return None
        elif phrases.word(cue) == "removed":
            return None  # the deed: a tree is removed
        return self._denied("absent", cue, after_cue, self._subject(cue, first), self._after_absent(after_cue))

    def _with_missing(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "with the drummer missing", "has a string missing"."""
        phrases, i = self.phrases, cue
        while i > first and phrases.tag(i - 1) in {"DET", "NOUN", "ADJ", "NUM", "POS"}:
            i -= 1
        noun = phrases.noun_phrase(i)
        is_thing = noun is not None and noun.end == cue and phrases.lemma(noun.head) not in _OF_WHOLES
        has_part = phrases.word(cue) == "missing" and phrases.noun_phrase(after_cue) is not None
        if phrases.word(i - 1) not in {"with", "has", "have", "had"} or noun is None or not is_thing or has_part:
            return None
        return Negation("absent", cue, after_cue, (noun,), i - 1, self._after_absent(after_cue))

    def _is_afterthought(self, cue: int, after_cue: int, first: int) -> bool:
        """Return whether the thing has a clause of its own: "all instruments, | drums excluded"."""
        phrases = self.phrases
        start = self._clause_start(cue, first)
        is_noun = (noun := phrases.noun_phrase(start)) is not None and noun.end == cue
        is_noun |= cue == start + 1 and phrases.tag(start) in {"VB", "VBP", "VBG"}  # crochet excluded
        return is_noun and phrases.tag(start - 1) in {"", "PUNCT", "CONJ"} and phrases.tag(after_cue) in {"", "PUNCT"}

    def _after_absent(self, i: int) -> int:
        return max(self.presence.after_predicate(i), self.presence.after_frame(i))

    def _subject(self, predicate: int, first: int) -> Phrase | None:
        """Return the thing before the predicate that starts at word `predicate`; words before `first` are taken."""
        end = self._before_helpers(predicate, first)
        start = self._clause_start(end, first)
        start = max(self.presence.after_frame(start), start)
        is_pronoun = end == start + 1 and self.phrases.tag(start) == "PRON"
        if start >= end or is_pronoun or self.presence.says_nothing(start, end):
            return None
        return Phrase("noun", start, end, end, end - 1)

    def _is_linked(self, predicate: int, first: int) -> bool:
        """Return whether a form of be, or the like, leads to the predicate: "is", "remains", "is noticeably"."""
        return self._before_helpers(predicate, first) < predicate

    def _before_helpers(self, i: int, first: int) -> int:
        """Return the first word of the helpers and remarks before word i: "a cup | is noticeably"."""
        phrases = self.phrases
        while i > first and (phrases.is_auxiliary(i - 1) or phrases.tag(i - 1) in {"ADV", "TO"}):
            i -= 1
        return i

    def _clause_start(self, end: int, first: int) -> int:
        i = end
        while i > first and not self._ends_clause(i - 1, end):
            i -= 1
        return i

    def _ends_clause(self, i: int, end: int) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "PUNCT" or phrases.word(i) in listed("clause_words"):
            return True
        return phrases.tag(i) in FINITE_TAGS and not (phrases.tag(i - 1) == "DET" or i + 1 == end)
