"""Captions without their negations: "without a shirt" becomes "with a shirt"."""

from nt2vr.negation.generate.subjects import is_plural_noun
from nt2vr.negation.parse.cues import no_negation
from nt2vr.negation.parse.inflect import inflect
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed, renamed

# Affirmative words by the negative ones that they replace, of which each pair has the second.
_POSITIVE = renamed(
    "somebody=nobody someone=noone some=none something=nothing both=neither and=nor"
)
# Auxiliaries by what is left of them before "n't".
_CLIPPED = {"ca": "can", "wo": "will", "ai": "is", "sha": "shall"}

# New texts of words by position.
Replacements = dict[int, str]


def affirm(caption: str, phrases: Phrases) -> str | None:
    """Return `caption` without its negations; None if it has none."""
    replacements: Replacements = {}
    for i in range(len(phrases.tokens)):
        if _is_cue(phrases, i):
            replacements |= _affirmation(phrases, i)
    if not replacements:
        return None

    text = ""
    end = 0
    for i, token in enumerate(phrases.tokens):
        # singing but not dancing: singing and dancing
        word = "and" if phrases.word(i) == "but" else token.text
        text += caption[end : token.start] + replacements.get(i, word)
        end = token.end
    text += caption[end:]
    return " ".join(text.split()).replace(" ,", ",")


def _is_cue(phrases: Phrases, i: int) -> bool:
    word = phrases.word(i)
    if word not in listed("negations") or _is_in_idiom(phrases, i):
        return False
    if word != "no" or phrases.word(i + 1) in {"longer", "one"}:
        return True
    return phrases.noun_phrase(i) is not None


def _is_in_idiom(phrases: Phrases, i: int) -> bool:
    idioms = no_negation()
    starts = range(i + 1 - idioms.longest, i + 1)
    return any(phrases.longest(idioms, start) > i - start for start in starts)


def _affirmation(phrases: Phrases, cue: int) -> Replacements:
    """Return the replacements that take one cue back."""
    word = phrases.word(cue)
    after = cue + 1
    match word, phrases.word(after):
        case (("without" | "w/o"), _):
            if phrases.tag(after) == "VBG":
                return {cue: "while", **_without_any(phrases, after + 1)}
            return {cue: "with", **_without_any(phrases, after)}
        case "no", "one":
            return {cue: "someone", after: ""}
        case "no", "longer":
            return {cue: "still", after: ""}
        case "no", _:
            return {cue: _article(phrases, cue)}
    if word in _POSITIVE:
        return {cue: _POSITIVE[word]}
    return {cue: "", **_without_do(phrases, cue), **_without_any(phrases, after + 1)}


def _without_do(phrases: Phrases, cue: int) -> Replacements:
    """Remove the auxiliary: "does not play" becomes "plays"."""
    helper = cue - 1
    word = phrases.word(helper)
    if word in _CLIPPED:
        return {helper: _CLIPPED[word]}
    verb = phrases.after(cue + 1, {"ADV"})
    if not phrases.is_verb(verb):
        return {}
    match word:
        case "do":
            return {helper: "", verb: phrases.word(verb)}
        case "does":
            return {helper: "", verb: inflect(phrases.lemma(verb), "VBZ")}
        case "did":
            return {helper: "", verb: inflect(phrases.lemma(verb), "VBD")}
    return {}


def _without_any(phrases: Phrases, i: int) -> Replacements:
    if phrases.word(i) == "any":
        return {i: _article(phrases, i)}
    return {}


def _article(phrases: Phrases, i: int) -> str:
    """Return what replaces "no" or "any" at word i: an article before singular count nouns."""
    noun = phrases.noun_phrase(i)
    if noun is None or noun.head == i or phrases.tag(noun.head) != "NOUN":
        return ""
    if phrases.any_form_is_listed(noun.head, "mass_nouns") or is_plural_noun(phrases, noun.head):
        return ""
    if phrases.word(i + 1)[0] in "aeiou":
        return "an"
    return "a"
