"""Rule-based modification texts from two captions one word apart: this project's, and CoVR's.

The templates are in `assets/wordings/triplets.json`.
"""

import random
from typing import Literal

from nt2vr.negation.generate.triplets.mining import NearCaptions, Words
from nt2vr.negation.generate.written import wordings_in
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tagger import Tagger
from nt2vr.negation.parse.tokens import VERB_TAGS


class Modifier:
    """Writes modification texts."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger

    def write(self, pair: NearCaptions, rng: random.Random) -> str:
        """Write the change of a video of `pair.one` that makes it fit `pair.other`; empty if no rule applies."""
        old, new = (self._phrase(words, pair.place) for words in (pair.one, pair.other))
        match pair.words:
            case (_, ""):
                return self._one_sided(pair.one, pair.place, rng, "remove")
            case ("", _):
                return self._one_sided(pair.other, pair.place, rng, "add")
            case _ if old and new and old != new:
                return str(rng.choice(wordings_in("triplets.json")["replace"]).format(old=old, new=new))
        return ""

    def _one_sided(self, words: Words, place: int, rng: random.Random, change: Literal["add", "remove"]) -> str:
        """Write a text for a word that only one caption has."""
        phrases, templates = self._phrases(words), wordings_in("triplets.json")
        things, qualities = templates[change], templates[f"{change} quality"]
        match phrases.tag(place):
            case "ADJ":
                template, changed = rng.choice(qualities), words[place]
            case "NOUN" if phrases.tag(place + 1) != "NOUN":
                template, changed = rng.choice(things), self._phrase(words, place)
            case "VBG":
                template, changed = rng.choice(qualities[-1:]), self._phrase(words, place)
            case _:
                return ""
        return str(template.format(old=changed, new=changed))

    def _phrase(self, words: Words, place: int) -> str:
        """Return the phrase around a word: a noun with article and qualities, or a verb as "-ing" with its objects."""
        if place >= len(words):
            return ""
        phrases = self._phrases(words)
        if len(phrases.tokens) != len(words):
            return ""
        if phrases.tag(place) in VERB_TAGS and not phrases.is_auxiliary(place):
            verb = phrases.verb_phrase(place)
            said = " ".join(words[place : verb.end if verb else place + 1])
            if phrases.tag(place) == "VBN":
                return f"being {said}"
            return said if phrases.tag(place) == "VBG" else _as_gerund(phrases, place, said)
        noun = self._noun_around(phrases, place)
        if noun is not None:
            return " ".join(words[noun.start : noun.end])
        found = phrases.place_phrase(place)
        return " ".join(words[found.start : found.end]) if found else ""

    def _phrases(self, words: Words) -> Phrases:
        return Phrases(self._tagger.tag(" ".join(words)))

    @staticmethod
    def _noun_around(phrases: Phrases, place: int) -> Phrase | None:
        """Return the longest noun phrase with a word in it that is no other phrase's."""
        found = (phrases.noun_phrase(start) for start in range(max(0, place - 5), place + 1))
        return next((noun for noun in found if noun is not None and noun.end > place), None)


def _as_gerund(phrases: Phrases, place: int, said: str) -> str:
    """Turn "rides a bike" into "riding a bike"."""
    _, _, rest = said.partition(" ")
    return inflect_phrase(f"{phrases.lemma(place)} {rest}".strip(), "VBG")


def write_by_template(pair: NearCaptions, rng: random.Random) -> str:
    """Write the words that differ into one of CoVR's nine templates, the rule-based row of its paper's Table 6.

    Their released code fills both words with the first, so that its "replace A with B" reads "replace A with A". Here
    the words are what the templates mean; a word that only one caption has goes into one that needs no other.
    """
    old, new = pair.words
    absent = [field for field, word in (("{old}", old), ("{new}", new)) if not word]
    templates: list[str] = wordings_in("triplets.json")["CoVR's"]  # one is twice in the paper's list
    usable = [template for template in templates if not any(field in template for field in absent)]
    return rng.choice(usable).format(old=old, new=new)
