"""Negation cues of a sentence and their scopes, as word positions.

The cues are in `forms`. Rules, applied to tagged words and phrases (`phrases`):

1. A cue ("not", "without", "instead of" …) negates the phrase after it: a verb with its objects, a noun, a place or a
   quality. Cues with nothing after them are ignored, and so are those in idioms ("not only").
2. Lists share a cue: "not wine or beer", "not eating and drinking". A verb with objects of its own after "and" is
   wanted again: "not running around and playing a guitar" (nT2VR, Table 6).
3. A place at the end of a negated phrase stays wanted if the query otherwise wants only a subject: "a man is not
   dancing on the beach" wants a man on the beach. If the query wants more (nT2VR's composed queries: A and not B), or
   the verb requires its place (sit on a stool), the place is unwanted too.
4. Modifiers of a negated noun belong to it if it names actors in general, otherwise to the rest of the sentence: "a
   beach without people swimming", but "a woman without a hat dancing", "a horse without a rider jumping".
5. A cue that only says "not in the picture" denies the thing before it (`nt2vr.negation.parse.absence`).

6. An exception from a denial is wanted, and the denial is taken back (`nt2vr.negation.parse.exceptions`).
7. What is denied after a comma or a conjunction reaches to the next one: "a river, no boats passing under a bridge". A
   deed after "and not" is of both: "a man and not a woman playing".

"Only" excludes nothing: what else may be there is an open set ("only dogs" wants dogs).
"""

from collections.abc import Sequence
from dataclasses import replace

from nt2vr.negation.parse.absence import Absence
from nt2vr.negation.parse.cues import Cues
from nt2vr.negation.parse.denied import DeniedAfter
from nt2vr.negation.parse.editing import Editing
from nt2vr.negation.parse.exceptions import Exceptions
from nt2vr.negation.parse.forms import CueKind, cues, denied_by_nobody
from nt2vr.negation.parse.lists import Lists
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.presence import Presence
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import Negation, Stretch, WantedFinder
from nt2vr.negation.parse.wordlists import listed, words

__all__ = ["Negation", "ScopeFinder", "Stretch"]

_FORWARD = frozenset({"not", "no", "without", "order", "nobody", "minus"})
_HELD = words("wear hold carry eat drink use play")  # "wearing no hat": the verb is unwanted too; so "eats nothing"
_BEFORE_ABSENCE = words("in the by with a an due to of complete total is notable noticeable marked severe clear")
_ABSENCES = words("absence lack shortage")
_OTHERS = words("other others")
_DEGREES = words("too so very overly particularly especially that")


class ScopeFinder:
    """Finds the negations in one tagged sentence, and the wanted stretches around them."""

    def __init__(self, phrases: Phrases, editing: bool = False) -> None:
        """Prepare to search the sentence behind `phrases`; with `editing`, for words of editing too."""
        self.phrases, self.num_words = phrases, len(phrases.tokens)
        self._edits = {edit.start: edit for edit in Editing(phrases).edits()} if editing else {}
        self.presence = Presence(phrases)
        self._cues = Cues(phrases, self.presence, self._edits)
        self._before = Absence(phrases, self.presence)
        self._after = DeniedAfter(phrases, self.presence)
        self._lists = Lists(phrases, self.presence)
        self._exceptions = Exceptions(phrases)
        self._wanted = WantedFinder(phrases, self.presence)

    def wanted(self, negations: Sequence[Negation]) -> list[Stretch]:
        """Return the stretches outside the negations."""
        return self._wanted.stretches(negations)

    def negations(self) -> list[Negation]:
        """Return all negations from left to right."""
        found: list[Negation] = []
        for kind, cue, after_cue in self._cues.found():
            first = found[-1].end if found else 0
            if kind == "edit":
                found += [self._edits[cue]] if cue >= first else []
                continue
            if kind == "order" and not self._cues.start_clause(cue):
                continue
            if kind == "except" and (not found or cue >= found[-1].after_cue):
                status = self._exceptions.status(cue, after_cue, found)
                if status == "wanted":
                    found = self._exceptions.wanted(cue, after_cue, found)
                if status != "unwanted":
                    continue
                kind = "not"
            if cue < first:
                continue
            left_out = self._cues.left_out(cue, after_cue) if kind == "out" else None
            if backward := left_out or self._before.find(kind, cue, after_cue, first):
                found.append(backward)
                continue
            if kind not in _FORWARD:
                continue
            if several := self._of_subject(cue, after_cue) or self._nothing_else(kind, cue, after_cue):
                found += several
                continue
            before = self._wanted.words(found, cue)
            negation = self._negation(kind, cue, after_cue, bool(before))
            if negation:
                negation = self._exceptions.take_back(negation, found)
            if negation and not negation.items:
                found.append(negation)
            elif negation:
                found.append(self._to_clause_end(negation, self._wanted.acts(before)))
        found = [self._without_setting(negation, found) for negation in found]
        return [self._wanted.without_rest(negation, found) for negation in found]

    def _negation(self, kind: CueKind, cue: int, after_cue: int, wanted_before: bool) -> Negation | None:
        phrases = self.phrases
        first = self._after.first(kind, cue, after_cue, wanted_before)
        quality = phrases.quality(after_cue)
        of_picture = quality is not None and phrases.word(quality.end) in listed("frames")  # not blurry | footage
        if kind == "not" and quality and (of_picture or self._describes(cue, quality)):
            first = quality  # a not very crowded | beach
        if first is None or (
            kind == "without" and first.kind != "noun" and phrases.tag(first.start) in {"ADJ", "VBN", *FINITE_TAGS}
        ):
            return None
        first = self._after.shown(first, cue)
        if first.object and first.kind == "verb" and not wanted_before and phrases.tag(first.end) in FINITE_TAGS:
            first = replace(first, end=first.object, core=first.object)  # instead of singing | a man dances
        if first.kind == "noun" and kind != "minus":
            first = self._after.with_modifiers(first, kind, wanted_before)
        modified = first.kind == "noun" and first.end > getattr(phrases.noun_phrase(first.start), "end", first.end)
        described = kind == "not" and phrases.tag(cue - 1) == "PUNCT" and phrases.tag(cue - 2) == "ADJ"
        alone = described or modified or kind == "minus" or (kind == "nobody" and first.kind != "verb")
        items = [first] if alone else self._lists.items(first, kind, wanted_before)
        items[-1] = self._after.scene_of(items[-1], kind)
        after_verb = phrases.tag(cue - 1) in VERB_TAGS and not phrases.is_auxiliary(cue - 1)
        is_object = kind == "nobody" and first.start == cue and phrases.lemma(cue - 1) not in {"be", "have"}
        is_object &= phrases.word(after_cue) not in {"but", "except", "save", "other", "besides"}
        holds = after_verb and (is_object or (kind == "no" and phrases.lemma(cue - 1) in _HELD))
        end = self._after.after_filler(items[-1].end)
        named = first.start < after_cue or (kind == "nobody" and self._sit_there(first, cue, after_cue))
        thing = denied_by_nobody()[" ".join(phrases.words[cue:after_cue])] if named else ""
        start = self._start(cue)
        return Negation(kind, cue, after_cue, tuple(items), start - holds, end, start - 1 if holds else None, thing)

    def _of_subject(self, cue: int, after_cue: int) -> list[Negation]:
        """Return the negations of "neither the man nor the woman is smiling", which wants both; [] elsewhere.

        Likewise for "neither dog is on a leash", "none of the players wears a hat", "nobody in the audience claps".
        """
        phrases, word = self.phrases, self.phrases.word(cue)
        of = phrases.word(after_cue) == "of"
        people = (
            denied_by_nobody().get(" ".join(phrases.words[cue:after_cue])) == "people"
            and phrases.word(after_cue) != "with"
        )
        people = people and not of and self.presence.after_frame(after_cue) == after_cue
        crowd = phrases.place_phrase(after_cue) if people else None  # nobody | in the audience
        if crowd and phrases.tag(crowd.end) == "TO":
            return []  # nobody at the table to eat
        if not (word == "neither" and self._cues.start_clause(cue)) and not (word == "none" and of) and not crowd:
            return []
        one = last = crowd or phrases.noun_phrase(after_cue + of)
        if one is None:
            return []
        joint: list[Negation] = []
        if word == "neither" and not of and phrases.word(one.end) == "nor":
            last = phrases.noun_phrase(one.end + 1)
            joint = [Negation("not", one.end, one.end + 1, (), one.end, one.end + 1, link=" and ")]
        if last is None:
            return []
        end = max(self.presence.after_tail(last.end), self._before.after_on(last.end))
        if end > last.end:  # none of the lights | are on
            return (
                [Negation("no", cue, after_cue, (last,), cue, end)]
                if word == "none" and phrases.is_auxiliary(last.end)
                else []
            )
        verb = phrases.verb_phrase(last.end)
        if verb and joint and verb.object is not None and not phrases.is_auxiliary(last.end):
            return []  # neither X nor Y hides the dog
        if verb is None and phrases.is_auxiliary(last.end):
            verb = phrases.quality(last.end + 1) or phrases.place_phrase(last.end + 1)
        if verb is None:
            return []
        items = tuple(self._lists.items(verb, "not", wanted_before=True))
        denied = Negation("not", cue, after_cue, items, last.end, items[-1].end)
        skipped = one.end if phrases.tag(one.start) == "PRON" else after_cue + of  # none of them
        skipped = (crowd and crowd.object) or skipped
        return [Negation("not", cue, after_cue, (), cue, skipped), *joint, denied]

    def _nothing_else(self, kind: CueKind, cue: int, after_cue: int) -> list[Negation]:
        """Return "no other dogs", "nobody else" as words that deny nothing: what else there may be is an open set."""
        phrases, i = self.phrases, after_cue
        i += phrases.word(i) in {"any", "the"}
        if phrases.word(after_cue - 1) == "else":
            i = after_cue - 1
            people = listed("humans").intersection(phrases.words) or phrases.word(cue) == "nothing"
        else:
            people = kind in {"no", "without"} and phrases.word(i) in _OTHERS
        if not people or phrases.word(i + 1) in {"than", "but", "except"}:
            return []
        noun = phrases.noun_phrase(i)
        end = noun.end if noun else i + 1
        start = self._start(cue)
        rest = "anything" if kind != "nobody" or phrases.word(cue) == "nothing" else "people"
        others = (" ".join(phrases.words[i + 1 : end]) or rest,)
        return [Negation(kind, cue, after_cue, (), start, self._after.after_filler(end), others=others)]

    def _describes(self, cue: int, quality: Phrase) -> bool:
        """Return whether a denied quality is one of a noun's: "a not crowded beach", "an old but not rusty car"."""
        phrases = self.phrases
        before = cue - 1 - (phrases.word(cue - 1) in {"yet", "and", ","})
        noun_follows = phrases.tag(quality.end) == "NOUN"
        if noun_follows and cue == 0 and phrases.word(quality.start) in _DEGREES:
            return True  # not too spicy | soup
        if noun_follows and cue == 0 and phrases.tag(quality.end - 1) == "VBN":
            return (
                phrases.word(quality.start - 1) != "not" or quality.end - quality.start > 1
            )  # not yet painted | wall
        follows = noun_follows and (before < cue - 1 or phrases.word(cue) == "but")
        first = before
        while follows and phrases.tag(first) in {"ADJ", "ADV"}:
            first -= 1
        while phrases.tag(cue - 1) == "ADV":
            cue -= 1  # a decidedly | not modern kitchen
        return phrases.tag(cue - 1) == "DET" or (first < before and phrases.tag(first) in {"DET", ""})

    def _sit_there(self, verb: Phrase, cue: int, after_cue: int) -> bool:
        """Return whether a clause of its own denies people at a thing named before: "but no one is sitting in it"."""
        phrases = self.phrases
        clause = phrases.is_auxiliary(after_cue) or phrases.is_auxiliary(cue - 1)
        return clause and phrases.word(verb.end - 1) in {"it", "them", "there"}

    def _start(self, cue: int) -> int:
        """Return the first word of "in the complete absence of"; elsewhere the cue."""
        start = cue
        while self.phrases.word(cue) in _ABSENCES and self.phrases.word(start - 1) in _BEFORE_ABSENCE:
            start -= 1
        return start

    def _to_clause_end(self, negation: Negation, composed: bool) -> Negation:
        """Extend B to the end of its clause in a composed query (A and not B, not B while A)."""
        phrases, last, end = self.phrases, negation.items[-1], negation.items[-1].end
        relative = phrases.tag(negation.cue - 1) == "WH" or phrases.tag(negation.cue - 2) == "WH"
        if last.kind == "noun" or negation.end > last.end:
            return negation
        while end < self.num_words and not self._ends_clause(end, relative):
            end += 1
        follows = phrases.tag(end) == "CONJ" and (phrases.word(end) == "while" or phrases.tag(end + 1) == "PRON")
        if end == last.end or not (composed or follows):
            return negation
        core = last.core if last.core < last.end else end
        return replace(negation, items=(*negation.items[:-1], replace(last, end=end, core=core)), end=end)

    def _ends_clause(self, i: int, relative: bool) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "CONJ":
            return phrases.word(i) in {"while", "but"} or phrases.tag(i + 1) in {"PRON", "NEG", "ADP", *VERB_TAGS}
        return (
            phrases.tag(i) in {"PUNCT", "NEG"}
            or cues().get(phrases.word(i), "out") not in {"out", "except", "order"}
            or (relative and phrases.tag(i) in FINITE_TAGS)
        )

    def _is_mentioned(self, place: int, wanted: Sequence[int]) -> bool:
        """Return whether the wanted words name the place at word `place` too: "in the bathroom"."""
        phrases = self.phrases
        noun = phrases.noun_phrase(place + 1)
        return (
            noun is not None
            and phrases.word(noun.start) == "the"
            and phrases.word(noun.head) in {phrases.word(i) for i in wanted}
        )

    def _without_setting(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Rule 3: assign the place at the end to the wanted or to the unwanted part."""
        last = negation.items[-1] if negation.items else None
        if last is None or last.core == last.end or negation.kind == "edit":
            return negation
        wanted = self._wanted.words(found)
        only_after = all(i >= negation.end for i in wanted)
        if (
            last.kind == "noun"
            and (negation.kind in {"no", "nobody"} or self.phrases.word(negation.cue) == "nor")
            and only_after
            and self.phrases.word(last.core + 1) == "the"
        ):
            return replace(negation, end=last.core)  # there is no bread on | the table, only fruit
        if self._is_mentioned(last.core, wanted):
            return negation  # a bathroom with a sink, but there is no one | in the bathroom
        if self._wanted.is_shared(last.core, negation, wanted):
            return replace(negation, end=last.core)  # a dog and no cat | in a field
        if self._wanted.acts(wanted) or self._wanted.placed(wanted) or (last.kind == "noun" and wanted):
            return replace(negation, items=(*negation.items[:-1], replace(last, core=last.end)))
        return replace(negation, end=last.core)
