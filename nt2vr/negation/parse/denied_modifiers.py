"""Rule 4 of `scope`: the modifiers of a denied noun that belong to it."""

from dataclasses import replace

from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.denied_phrases import US
from nt2vr.negation.parse.negations import CueKind
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wordlists import words

_ARTICLES = words("the a an this")


def with_modifiers(
    phrases: Phrases, noun: Phrase, kind: CueKind, has_wanted_before: bool
) -> Phrase:
    """Extend a noun that can act by the modifiers after it."""
    # where no planes | land
    is_relative = phrases.tag(noun.start - 2) == "WH" and phrases.is_finite(noun.end)
    takes_finite = kind == "no" and (is_relative or not has_wanted_before)
    if not takes_finite and has_wanted_before and not _may_act(phrases, noun, kind):
        return noun

    end = noun.end
    setting = None
    while not _is_closed(phrases, end, kind):
        place = phrases.place_phrase(end)
        if place and after_filler(phrases, end) == end:
            if setting is None and _sets_scene(phrases, place, kind):
                setting = end
            end = place.end
            continue

        verb = _modifying_verb(phrases, end, takes_finite)
        if verb is None:
            break
        if setting is None:
            setting = verb.setting
        end = verb.end

    # everything shot | at night
    if phrases.is_listed(noun.head, "anything"):
        setting = None
    return replace(noun, end=end, setting=setting)


def after_filler(phrases: Phrases, i: int) -> int:
    """Return the end of "in sight", or of the "on" of "no shirt on", at word i."""
    end = phrases.after_tail(i)
    if phrases.word(i) == "on":
        is_particle = phrases.tag(i + 1) == "VBG" or not phrases.place_phrase(i)
        if is_particle:
            return max(end, i + 1)
    return end


def _may_act(phrases: Phrases, noun: Phrase, kind: CueKind) -> bool:
    """Return whether a denied noun is somebody who may act: "people", but not "the people"."""
    head = phrases.word(noun.head)
    # the ones | made of glass
    if kind == "nobody" or head in {"one", "ones", "those"} or head.endswith("ing"):
        return True
    if kind == "without":
        return _may_act_if_lacking(phrases, noun)
    if kind == "no" and _ends_in_participle(phrases, noun):
        return True

    has_article = phrases.tag(noun.start) == "DET" and phrases.word(noun.start) != "any"
    if has_article or not phrases.is_actor(noun):
        return False
    return kind == "no" or _is_actor_in_general(phrases, noun.start)


def _may_act_if_lacking(phrases: Phrases, noun: Phrase) -> bool:
    """Return whether the modifiers of a noun after "without" may be its own."""
    # a bike without a rider | leaning; but not: a man without a child | leaning
    if phrases.lemma_is_listed(noun.start - 2, "actors"):
        return False
    # without the alarm | ringing
    if phrases.word(noun.start) == "the" or phrases.is_actor(noun):
        return True
    return noun.is_word and not phrases.word(noun.head).endswith("s")


def _ends_in_participle(phrases: Phrases, noun: Phrase) -> bool:
    """Return whether only a participle follows in the clause: "no photos | taken"."""
    has_participle = phrases.tag(noun.end) in {"VBN", "VBD"}
    return has_participle and phrases.is_clause_edge(noun.end + 1)


def _is_actor_in_general(phrases: Phrases, start: int) -> bool:
    """Return whether the words before an actor deny it in general: "there are not", "except"."""
    if phrases.word(max(0, start - 3)) == "there":
        return True
    # don't show | kids, don't show me | kids
    if phrases.is_listed(start - 1, "showing") or phrases.word(start - 1) in US:
        return True
    for length in (1, 2, 3):
        cue = phrases.text(max(0, start - length), start)
        if cues().get(cue) == "except":
            return True
    return False


def _is_closed(phrases: Phrases, i: int, kind: CueKind) -> bool:
    """Return whether no modifier may start at word i: "present", another "without"."""
    word = phrases.word(i)
    # w/o people | w/o huts
    if cues().get(word) == "without":
        return True
    if kind == "order" and word == "from":
        return True
    return phrases.after_tail(i) > i


def _sets_scene(phrases: Phrases, place: Phrase, kind: CueKind) -> bool:
    """Return whether a place may be wanted anyway: "nobody sits on | the bench"."""
    if phrases.is_setting(place):
        return True
    if kind not in {"no", "nobody"} or place.object is None:
        return False
    return phrases.word(place.object) in _ARTICLES and phrases.is_listed(place.start, "scenes")


def _modifying_verb(phrases: Phrases, i: int, takes_finite: bool) -> Phrase | None:
    """Return "swimming", "dressed in red" or "who swim" at word i; "swim" if `takes_finite`."""
    verb = i
    if phrases.tag(i) == "WH":
        takes_finite = True
        verb += 1
    if phrases.tag(verb) in {"VBG", "VBN"} or (takes_finite and phrases.is_finite(verb)):
        return phrases.verb_phrase(verb)
    return None
