"""Affirmative versions of negated captions: "without a shirt" becomes "with a shirt"."""

from nt2vr.negation.parse.idioms import no_negation
from nt2vr.negation.parse.inflect import Form, inflect
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.subjects import is_plural_noun
from nt2vr.negation.parse.tagger import VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, renamed, words

_CUES = words("not n't nt never no without w/o nobody none nothing neither nor noone cannot")
_POSITIVE = renamed("somebody=nobody someone=noone some=none something=nothing both=neither and=nor")
_CLIPPED = {"ca": "can", "wo": "will", "ai": "is", "sha": "shall"}  # of can't, won't, ain't, shan't


def affirm(caption: str, phrases: Phrases) -> str | None:
    """Return `caption` without its negations; None if it has none."""
    cues = [i for i in range(len(phrases.tokens)) if _is_cue(phrases, i)]
    if not cues:
        return None
    replaced: dict[int, str] = {}
    for i in cues:
        replaced |= _replacements(phrases, i)
    for i, word in enumerate(phrases.words):
        if word == "but" and i not in replaced:
            replaced[i] = "and"
    text, end = "", 0
    for i, token in enumerate(phrases.tokens):
        text += caption[end : token.start] + replaced.get(i, token.text)
        end = token.end
    return " ".join((text + caption[end:]).split()).replace(" ,", ",")


def _is_cue(phrases: Phrases, i: int) -> bool:
    if phrases.word(i) not in _CUES:
        return False
    around = (" ".join(phrases.words[j:k]) for j in range(max(0, i - 3), i + 1) for k in range(i + 1, i + 4))
    return not any(run in no_negation() for run in around) and (
        phrases.word(i) != "no" or phrases.noun_phrase(i) is not None or phrases.word(i + 1) in {"longer", "one"}
    )


def _replacements(phrases: Phrases, i: int) -> dict[int, str]:
    """Return replacements of the cue at word i and of the words that depend on it."""
    word, following = phrases.word(i), phrases.word(i + 1)
    if word in {"without", "w/o"}:
        if phrases.tag(i + 1) == "VBG":
            return {i: "while", **_any(phrases, i + 2)}
        return {i: "with", **_any(phrases, i + 1)}
    if word == "no":
        if following in {"one", "longer"}:
            return {i: "someone" if following == "one" else "still", i + 1: ""}
        return {i: _article(phrases, i)}
    if word in _POSITIVE:
        return {i: _POSITIVE[word]}
    return {i: "", **_without_do(phrases, i), **_any(phrases, i + 2)}


def _without_do(phrases: Phrases, i: int) -> dict[int, str]:
    """Remove the auxiliary: "does not play" becomes "plays"."""
    helper = phrases.word(i - 1)
    if helper in _CLIPPED:
        return {i - 1: _CLIPPED[helper]}
    verb = i + 1
    while phrases.tag(verb) == "ADV":
        verb += 1
    if helper not in {"do", "does", "did"} or phrases.tag(verb) not in VERB_TAGS:
        return {}
    form: Form = "VBD" if helper == "did" else "VBZ"
    return {i - 1: "", verb: phrases.word(verb) if helper == "do" else inflect(phrases.lemma(verb), form)}


def _any(phrases: Phrases, i: int) -> dict[int, str]:
    return {i: _article(phrases, i)} if phrases.word(i) == "any" else {}


def _article(phrases: Phrases, i: int) -> str:
    """Return the replacement of "no" or "any" at word i: an article before singular count nouns, otherwise none."""
    noun = phrases.noun_phrase(i)
    if noun is None or noun.head == i:
        return ""
    word, lemma = phrases.word(noun.head), phrases.lemma(noun.head)
    is_mass = not listed("mass_nouns").isdisjoint((word, lemma))
    if is_mass or is_plural_noun(word, lemma) or phrases.tag(noun.head) != "NOUN":
        return ""
    return "an" if phrases.word(i + 1)[0] in "aeiou" else "a"
