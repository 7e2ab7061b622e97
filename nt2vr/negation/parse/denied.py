"""Scope of a cue that comes first: the phrase after it, with its modifiers."""

from dataclasses import replace

from nt2vr.negation.parse.forms import CueKind, cues
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.presence import Presence
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, words

_DEPICTING = words("show feature include contain depict display portray")
_SHOWN = words("shown seen depicted pictured captured portrayed")
_MISTAGGED = frozenset({"VB", "VBP", "VBZ", "VBD", "VBN", "ADJ"})  # no swing | set, without a lug | wrench
_POSTURES = words("sit stand lie lay kneel crouch rest sleep hang wait")
_WATCHING, _US = words("see watch hear"), words("me us")  # don't want to see, don't show me
_TIMES = words("after before during")
_SCENES = words("on at in by near after before during around over under behind")
_ANYTHING = words("anything everything anyone anybody everyone everybody stuff")
_VAGUE = words("a an any the single visible clear slightest")


class DeniedAfter:
    """Finds the first phrase that a cue denies, in one sentence."""

    def __init__(self, phrases: Phrases, presence: Presence) -> None:
        self.phrases, self.presence = phrases, presence

    def first(self, kind: CueKind, cue: int, after_cue: int, wanted_before: bool) -> Phrase | None:
        """Return the phrase that a cue denies; it is the cue itself for "nobody" without a verb."""
        phrases = self.phrases
        if kind == "minus":
            return Phrase("noun", after_cue, after_cue + 1, after_cue + 1, after_cue)
        clause = self._after_frame(after_cue) if kind == "nobody" else after_cue
        i = self._skip_helpers(kind, cue, clause)
        if (
            phrases.word(cue) == "nothing"
            and self.presence.after_tail(i) == i
            and (quality := phrases.quality(i))
            and phrases.tag(quality.end) in {"", "PUNCT", "CONJ", "ADP"}
        ):
            return quality  # nothing modern
        is_quality = phrases.tag(i) in {"ADJ", "VBN"} and self.presence.after_tail(i) == i
        if phrases.word(cue) == "none" and is_quality and (quality := phrases.quality(i)):
            return quality  # eggs, none broken
        if phrases.word(cue) == "none" and phrases.word(after_cue) == "of" and not phrases.verb_phrase(i):
            return phrases.noun_phrase(after_cue + 1)  # knocks none of the hurdles over
        if kind == "nobody" and not (
            (phrases.verb_phrase(i) and self.presence.after_tail(clause) == clause)
            or (phrases.word(cue) == "none" and phrases.place_phrase(i))
        ):
            return Phrase("noun", cue, after_cue, after_cue, cue)
        i = self._after_sign(i)
        i += kind == "not" and phrases.word(i) in _SHOWN and phrases.tag(i + 1) == "VBG"  # not shown | eating
        noun = (phrases.gerund_phrase(i) or phrases.noun_phrase(i)) if kind in {"no", "order"} else None
        found = noun or phrases.any_phrase(i)
        number = i + (phrases.tag(i) == "DET")
        if found is None and phrases.tag(number) == "NUM":
            found = Phrase("noun", i, number + 1, number + 1, number)  # one dog, not three; not the first
        if found and found.kind == "noun" and kind in {"no", "without", "order"}:
            found = self._without_predicate(found)
            found = self._whole_noun(found, attaches=wanted_before and self._attaches(kind, cue))
        return self._specified(found) if found and kind != "nobody" else found

    def _specified(self, found: Phrase) -> Phrase:
        """Add the quality to something vague: "leave out anything | indoors", "don't give me anything | animated"."""
        is_vague = self.phrases.word(found.end - 1) in _ANYTHING and self.presence.after_tail(found.end) == found.end
        quality = self.phrases.quality(found.end) if is_vague else None
        return replace(found, end=quality.end, core=quality.end) if quality else found

    def shown(self, verb: Phrase, cue: int) -> Phrase:
        """Return what is denied to be shown: "does not include | a dog"; any other phrase as it is."""
        phrases = self.phrases
        depicts = verb.kind == "verb" and phrases.lemma(verb.head) in _DEPICTING and verb.end == verb.head + 1
        asks = verb.kind == "verb" and (phrases.lemma(verb.end - 1) in _WATCHING or phrases.word(verb.end - 1) in _US)
        if (depicts or asks) and phrases.tag(verb.end) == "VBG" and (deed := phrases.verb_phrase(verb.end)):
            return deed  # does not feature | frying, don't want to see | playing
        if verb.kind != "verb" or verb.object is None or phrases.word(verb.head) not in listed("showing"):
            return verb
        clause = cue
        while clause > 0 and phrases.tag(clause - 1) not in {"PUNCT", "CONJ"}:
            clause -= 1
        noun = phrases.noun_phrase(verb.object + (phrases.word(verb.object) in _US))
        means_picture = phrases.lemma(verb.head) in _DEPICTING or self.presence.says_nothing(clause, cue)
        names = noun is not None and (
            phrases.tag(noun.start) != "PRON" or phrases.word(noun.start) in listed("actors")
        )
        return self._specified(noun) if noun and names and means_picture else verb

    def _after_frame(self, i: int) -> int:
        """Return the end of "in this clip" at word i, if a clause goes on: "nobody in this clip | is smoking"."""
        end = self.presence.after_frame(i)
        return end if self.phrases.tag(end) in FINITE_TAGS and self.presence.after_tail(end) == end else i

    def _after_sign(self, i: int) -> int:
        """Skip "any sign of", "the need for" at word i."""
        j = i
        while self.phrases.word(j) in _VAGUE:
            j += 1
        return j + 2 if self.phrases.word(j) in listed("signs") and self.phrases.word(j + 1) in {"of", "for"} else i

    def _attaches(self, kind: CueKind, cue: int) -> bool:
        """Return whether what follows may belong to somebody before the cue: "a man with no hair singing"."""
        phrases = self.phrases
        if kind != "without" and phrases.word(cue - 1) != "with":
            return False
        nouns = (i for i in range(cue) if phrases.tag(i) == "NOUN")
        return any({phrases.word(i), phrases.lemma(i)} & listed("actors") for i in nouns)

    def _without_predicate(self, noun: Phrase) -> Phrase:
        """Cut off a "present" or "visible" that was taken for the noun: "no person | present"."""
        last = noun.end - 1
        if noun.start < last and self.presence.after_predicate(last) > last:
            return replace(noun, end=last, core=last, head=last - 1)
        return noun

    def _whole_noun(self, noun: Phrase, *, attaches: bool) -> Phrase:
        """Add the words that the tagger took for verbs: "ice | skating"."""
        end = noun.end
        while self._continues(noun, end, attaches=attaches):
            end += 1
        return replace(noun, end=end, core=end, head=end - 1) if end > noun.end else noun

    def _continues(self, noun: Phrase, i: int, *, attaches: bool) -> bool:
        phrases = self.phrases
        closes = phrases.tag(i + 1) in {"", "PUNCT", "CONJ", "WH"}
        if self.presence.after_tail(i) > i:
            return False  # no handbag | visible
        may_be_noun = phrases.tag(i) == "VBG" or (
            i == noun.head + 1 and phrases.tag(i) in _MISTAGGED and phrases.word(i)[-1] != "s"
        )
        return may_be_noun and closes and not attaches and not phrases.is_actor(noun)

    def _skip_helpers(self, kind: CueKind, cue: int, i: int) -> int:
        """Skip the words between a cue and what it negates, from word i on."""
        phrases = self.phrases
        subject = phrases.noun_phrase(i + 1) if phrases.word(cue) in {"nor", "never"} else None
        if subject and phrases.lemma(i) in {"do", "be", "have"} and phrases.tag(subject.end) in VERB_TAGS:
            i = subject.end  # nor does the man | sing
        if phrases.word(i) == "of" and (group := phrases.noun_phrase(i + 1)):  # none of them
            i = group.end
        while (
            (kind == "nobody" and phrases.tag(i) == "WH")
            or (phrases.is_auxiliary(i) and not phrases.verb_phrase(i))
            or phrases.word(i) in {"gonna", "wanna"}
            or (phrases.word(i) in {"really", "actually", "exactly", "quite"} and phrases.tag(i + 1) == "DET")
        ):
            i += 1
        return i

    def with_modifiers(self, noun: Phrase, kind: CueKind, wanted_before: bool) -> Phrase:
        """Rule 4: extend a noun that can act by the verbs, places and relative clauses after it."""
        phrases = self.phrases
        generic = phrases.tag(noun.start) != "DET" or phrases.word(noun.start) == "any"
        denies_all = kind in {"no", "without"} or self._is_denied_as_such(noun.start)
        acts = kind == "nobody" or (denies_all and generic and phrases.is_actor(noun))
        takes_clause = acts or not wanted_before
        relative = phrases.tag(noun.start - 2) == "WH" and phrases.is_auxiliary(noun.end)  # where no planes | land
        takes_finite = kind == "no" and (relative or not wanted_before or self._opens_clause(noun))
        vague = phrases.word(noun.head) in _ANYTHING  # everything shot | at night
        end, core = noun.end, None
        while True:
            other = cues().get(phrases.word(end)) == "without"  # w/o people | w/o huts
            if other or self.presence.after_tail(end) > end or (kind == "order" and phrases.word(end) == "from"):
                return replace(noun, end=end, core=core or end)
            if phrases.word(end) == "as" and (as_phrase := phrases.noun_phrase(end + 1)):
                end = as_phrase.end
            elif not (takes_clause or takes_finite or self._refers_back(end)):
                return replace(noun, end=end, core=end)
            elif (place := phrases.place_phrase(end)) and self.after_filler(end) == end:
                core = end if core is None and not vague and self.sets_scene(place, kind) else core
                end = place.end
            elif verb := self._modifying_verb(end, takes_finite):
                core = core or (verb.core if verb.core < verb.end and not vague else None)
                end = verb.end
            else:
                return replace(noun, end=end, core=core or end)

    def _refers_back(self, i: int) -> bool:
        """Return whether a deed at word i is done to what was named before: "pizza without a person | eating it"."""
        deed = self.phrases.verb_phrase(i) if self.phrases.tag(i) == "VBG" else None
        return deed is not None and self.phrases.words[i + 1 : deed.end] in (["it"], ["them"])

    def _opens_clause(self, noun: Phrase) -> bool:
        """Return whether a denied noun is the subject of a clause: "a band plays and no fans | are cheering"."""
        phrases = self.phrases
        joined = phrases.tag(noun.start - 2) in {"CONJ", "PUNCT"} or phrases.word(noun.start - 2) in {"yet", "so"}
        return joined and phrases.is_auxiliary(noun.end)

    def _is_denied_as_such(self, i: int) -> bool:
        """Return whether somebody at word i is all that is denied: "except | kids singing", "don't show | kids"."""
        before = self.phrases.words[max(0, i - 3) : i]
        excepts = any(cues().get(" ".join(before[first:])) == "except" for first in range(len(before)))
        return excepts or before[:1] == ["there"] or not (listed("showing") | _US).isdisjoint(before[-1:])

    def sets_scene(self, place: Phrase, kind: CueKind) -> bool:
        """Return whether a place may be wanted though what is there is not: "nobody sits on | the bench"."""
        phrases = self.phrases
        if phrases.is_setting(place):
            return True
        definite = place.object is not None and phrases.word(place.object) in {"the", "a", "an", "this"}
        return kind in {"no", "nobody"} and definite and phrases.word(place.start) in _SCENES

    def scene_of(self, item: Phrase, kind: CueKind) -> Phrase:
        """Return "sits on the bench" of "nobody sits on the bench" with its place as its setting."""
        if kind != "nobody" or item.kind != "verb" or item.core < item.end:
            return item
        stays = self.phrases.lemma(item.head) in _POSTURES
        for i in range(item.head + 1, item.end):
            place = self.phrases.place_phrase(i)
            if place and (stays or self.phrases.word(i) in _TIMES) and self.sets_scene(place, kind):
                return replace(item, core=i)
        return item

    def _modifying_verb(self, i: int, takes_finite: bool) -> Phrase | None:
        """Return "swimming", "dressed in red" or "who swim" at word i, and "swim" if `takes_finite`."""
        phrases = self.phrases
        clause = i + 1 if phrases.tag(i) == "WH" else i
        is_finite = phrases.tag(clause) in FINITE_TAGS
        if phrases.tag(clause) in {"VBG", "VBN"} or (is_finite and (clause > i or takes_finite)):
            return phrases.verb_phrase(clause)
        return None

    def after_filler(self, i: int) -> int:
        """Return the end of "in sight", "is visible in this image" or the "on" of "no shirt on" at word i."""
        ends_on = self.phrases.word(i) == "on" and (
            self.phrases.tag(i + 1) == "VBG" or not self.phrases.place_phrase(i)
        )
        return max(self.presence.after_tail(i), i + ends_on)
