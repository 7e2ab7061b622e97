"""Negations that follow what they deny: "a cat is not visible", "while a truck is not"."""

from nt2vr.negation.parse.cues import LESS
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wanted import CueKind, Negation
from nt2vr.negation.parse.wordlists import listed


class Absence:
    """Finds the thing that stands before a negated predicate, in one sentence."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

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
                return self._not_present(cue, after_cue, first)
        return None

    def _not_present(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "a cat is not visible", "while a truck is not", "with his face not visible"."""
        end = self.phrases.after_predicate(after_cue)
        is_elliptic = self.phrases.tag(after_cue) in {"", "PUNCT"} and self.phrases.lemma(cue - 1) == "be"
        if end == after_cue and not is_elliptic:
            return None
        part = self._with_missing(cue, end, first) if self._before_helpers(cue, first) == cue else None
        return part or self._denied("not", cue, after_cue, self._subject(cue, first), end)

    def _denied(self, kind: CueKind, cue: int, after_cue: int, subject: Phrase | None, end: int) -> Negation | None:
        if subject is None:
            return None
        return Negation(kind, cue, after_cue, (subject,), min(subject.start, cue), max(subject.end, end))

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
            excluded = max(first, phrases.before(start, {"DET", "ADP"}))
        return Negation("free", cue, cue + 1, (item,), excluded, end)

    def _absent(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "a chair is absent", "absent is a chair" or "is missing a chair"."""
        phrases, word, after = self.phrases, self.phrases.word(cue), self.phrases.after_frame(after_cue)
        if phrases.tag(cue - 1) == "DET":
            return None  # a missing slice
        linked = self._before_helpers(cue, first) < cue
        start, i = max(first, phrases.before(cue, {"ADV"})), after
        while phrases.is_auxiliary(i) or phrases.word(i) in {":", "of"}:
            i += 1
        inverted = i > after or phrases.tag(start - 1) in {"", "PUNCT", "CONJ"} or (linked and word == "missing")
        if inverted and (item := phrases.noun_phrase(i)):
            return Negation("absent", cue, after_cue, (item,), start, self.phrases.after_tail(item.end))
        if linked:
            applies = word != "removed"  # the deed: a tree is removed
        elif left := self._with_missing(cue, after_cue, first):
            return left
        else:
            applies = word == "absent" or self._is_remark(cue, after_cue, first)
        subject = self._subject(cue, first) if applies else None
        return self._denied("absent", cue, after_cue, subject, self._after_absent(after_cue))

    def _is_remark(self, cue: int, after_cue: int, first: int) -> bool:
        """Return whether "a boy runs, hat missing" says so; not "dog missing, please help"."""
        word = self.phrases.word(cue)
        if word == "missing" and self.phrases.word(after_cue) == "from":
            return True
        may_follow = word in listed("afterthoughts") or self._clause_start(cue, first) > 0
        return may_follow and self._is_afterthought(cue, after_cue, first)

    def _with_missing(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "with the drummer missing", "has a string missing"."""
        phrases = self.phrases
        i = max(first, phrases.before(cue, {"DET", "NOUN", "ADJ", "NUM", "POS"}))
        noun = phrases.noun_phrase(i)
        is_thing = noun is not None and noun.end == cue and phrases.lemma(noun.head) not in listed("parts_of_wholes")
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
        return max(self.phrases.after_predicate(i), self.phrases.after_frame(i))

    def _subject(self, predicate: int, first: int) -> Phrase | None:
        """Return the thing before the predicate that starts at word `predicate`; words before `first` are taken."""
        end = self._before_helpers(predicate, first)
        start = self._clause_start(end, first)
        start = max(self.phrases.after_frame(start), start)
        is_pronoun = end == start + 1 and self.phrases.tag(start) == "PRON"
        if start >= end or is_pronoun or self.phrases.says_nothing(start, end):
            return None
        return Phrase("noun", start, end, end, end - 1)

    def _before_helpers(self, i: int, first: int) -> int:
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
