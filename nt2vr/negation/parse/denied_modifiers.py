"""Rule 4 of `scope`: the modifiers of a denied noun that belong to it."""

from dataclasses import replace

from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.denied_phrases import US
from nt2vr.negation.parse.negations import CueKind
from nt2vr.negation.parse.phrases import Phrase, Phrases

_ARTICLES = frozenset({"the", "a", "an", "this"})


class ModifierFinder:
    """Finds the verbs, places and relative clauses after a denied noun that belong to it."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def extend(self, noun: Phrase, kind: CueKind, has_wanted_before: bool) -> Phrase:
        """Extend a noun that can act by the modifiers after it."""
        phrases = self.phrases
        # where no planes | land
        is_relative = phrases.tag(noun.start - 2) == "WH" and phrases.is_finite(noun.end)
        takes_finite = kind == "no" and (is_relative or not has_wanted_before)
        if not takes_finite and has_wanted_before and not self._may_act(noun, kind):
            return noun

        end = noun.end
        setting: int | None = None
        while not self._is_closed(end, kind):
            place = phrases.place_phrase(end)
            if place and self.after_filler(end) == end:
                if setting is None and self._sets_scene(place, kind):
                    setting = end
                end = place.end
                continue

            verb = self._modifying_verb(end, takes_finite)
            if verb is None:
                break
            if setting is None:
                setting = verb.setting
            end = verb.end

        # everything shot | at night
        if phrases.is_listed(noun.head, "anything"):
            setting = None
        return replace(noun, end=end, setting=setting)

    def after_filler(self, i: int) -> int:
        """Return the end of "in sight", or of the "on" of "no shirt on", at word i."""
        phrases = self.phrases
        end = phrases.after_tail(i)
        if phrases.word(i) == "on":
            is_particle = phrases.tag(i + 1) == "VBG" or not phrases.place_phrase(i)
            if is_particle:
                return max(end, i + 1)
        return end

    def _may_act(self, noun: Phrase, kind: CueKind) -> bool:
        """Return whether a denied noun is somebody who may act: "people", but not "the people"."""
        phrases = self.phrases
        head = phrases.word(noun.head)
        # the ones | made of glass
        if kind == "nobody" or head in {"one", "ones", "those"} or head.endswith("ing"):
            return True
        if kind == "without":
            return self._may_act_if_lacking(noun)
        if kind == "no" and self._ends_in_participle(noun):
            return True

        has_article = phrases.tag(noun.start) == "DET" and phrases.word(noun.start) != "any"
        if has_article or not phrases.is_actor(noun):
            return False
        return kind == "no" or self._is_actor_in_general(noun.start)

    def _may_act_if_lacking(self, noun: Phrase) -> bool:
        """Return whether the modifiers of a noun after "without" may be its own."""
        phrases = self.phrases
        # a bike without a rider | leaning; but not: a man without a child | leaning
        if phrases.lemma_is_listed(noun.start - 2, "actors"):
            return False
        # without the alarm | ringing
        if phrases.word(noun.start) == "the" or phrases.is_actor(noun):
            return True
        return noun.is_word and not phrases.word(noun.head).endswith("s")

    def _ends_in_participle(self, noun: Phrase) -> bool:
        """Return whether only a participle follows in the clause: "no photos | taken"."""
        has_participle = self.phrases.tag(noun.end) in {"VBN", "VBD"}
        return has_participle and self.phrases.is_clause_edge(noun.end + 1)

    def _is_actor_in_general(self, start: int) -> bool:
        """Return whether the words before an actor deny it in general: "there are not", "except"."""
        phrases = self.phrases
        if phrases.word(max(0, start - 3)) == "there":
            return True
        # don't show | kids, don't show me | kids
        if phrases.is_listed(start - 1, "showing") or phrases.word(start - 1) in US:
            return True
        for length in (1, 2, 3):
            cue = " ".join(phrases.words[max(0, start - length) : start])
            if cues().get(cue) == "except":
                return True
        return False

    def _is_closed(self, i: int, kind: CueKind) -> bool:
        """Return whether no modifier may start at word i: "present", another "without"."""
        word = self.phrases.word(i)
        # w/o people | w/o huts
        if cues().get(word) == "without":
            return True
        if kind == "order" and word == "from":
            return True
        return self.phrases.after_tail(i) > i

    def _sets_scene(self, place: Phrase, kind: CueKind) -> bool:
        """Return whether a place may be wanted anyway: "nobody sits on | the bench"."""
        phrases = self.phrases
        if phrases.is_setting(place):
            return True
        if kind not in {"no", "nobody"} or place.object is None:
            return False
        return phrases.word(place.object) in _ARTICLES and phrases.is_listed(place.start, "scenes")

    def _modifying_verb(self, i: int, takes_finite: bool) -> Phrase | None:
        """Return "swimming", "dressed in red" or "who swim" at word i; "swim" if `takes_finite`."""
        phrases = self.phrases
        verb = i
        if phrases.tag(i) == "WH":
            takes_finite = True
            verb += 1
        if phrases.tag(verb) in {"VBG", "VBN"} or (takes_finite and phrases.is_finite(verb)):
            return phrases.verb_phrase(verb)
        return None
