"""Shallow parsing: the noun, verb or prepositional phrase that starts at a word.

A full parse is unnecessary: queries are short, and a negation only needs the phrase after it.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.picture_words import PictureWords
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.wordlists import listed, words

NEW_START = words("just only instead also then")
# Let him score.
_LETTING = words("let make help")
_DESCRIBING = words("ADJ ADV VBN VBG NUM")


@dataclass(frozen=True)
class Phrase:
    """Words `start` to `end` (exclusive).

    Attributes:
        kind: "verb", "noun", "place" (with a preposition) or "quality" (adjectives, adverbs).
        start: first word.
        end: exclusive.
        head: the verb, the last noun or the preposition.
        object: first word of the verb's or preposition's object.
        setting: first word of the setting at the end of the phrase, if it has one.
    """

    kind: str
    start: int
    end: int
    head: int
    object: int | None = None
    setting: int | None = None

    @property
    def is_word(self) -> bool:
        return self.end == self.start + 1

    @property
    def core(self) -> int:
        """The end of the phrase without its setting."""
        return self.end if self.setting is None else self.setting


def noun_of(start: int, end: int) -> Phrase:
    """Return words `start` to `end` as a noun phrase without a setting, the last word its head."""
    return Phrase(kind="noun", start=start, end=end, head=end - 1)


class Phrases(PictureWords):
    """Finds phrases in one tagged sentence; finders return None if there is none at word i."""

    def is_actor(self, phrase: Phrase) -> bool:
        return self.any_form_is_listed(phrase.head, "actors", "roles")

    def any_phrase(self, i: int) -> Phrase | None:
        return self.verb_phrase(i) or self.place_phrase(i) or self.noun_phrase(i) or self.quality(i)

    # Nouns

    def noun_phrase(self, i: int) -> Phrase | None:
        """Return "the old man", "a red or blue car", "a glass of water"."""
        if self.tag(i) == "PRON":
            return noun_of(i, i + 1)

        first = self.after(i, {"DET", "NUM"})
        end = first
        head = None
        while True:
            if self._is_noun(end):
                head = end
            elif not self._modifies_noun(end, is_first=head is None):
                break
            end += 1

        if head is None:
            return self._without_noun(i, first)
        if self.word(end) == "of":
            inner = self.noun_phrase(end + 1)
            if inner:
                end = inner.end
        return Phrase(kind="noun", start=i, end=end, head=head)

    def _without_noun(self, i: int, first: int) -> Phrase | None:
        """Return determiners without a noun: "12", "the red", "the other"."""
        if first == i:
            return None
        # not 12, no PS5
        if self.word(first - 1)[-1:].isdigit():
            return noun_of(i, first)
        quality = self.quality(first)
        if quality is None:
            return None
        return replace(quality, kind="noun", start=i)

    def _is_noun(self, i: int) -> bool:
        """Return whether word i is a noun, or the number of a name: "Boeing | 737", "gate | 5"."""
        tag = self.tag(i)
        if tag != "NUM" or i == 0:
            return tag in {"NOUN", "OTHER"}
        if not self.tokens[i - 1].text.islower() or self.is_listed(i - 1, "numbered"):
            return True
        return not is_known(self.words[i - 1])

    def _modifies_noun(self, i: int, *, is_first: bool) -> bool:
        tag = self.tag(i)
        if tag == "POS":
            return True
        # a turn based game
        if tag in {"ADJ", "VBN"} and self.tag(i + 1) == "NOUN":
            return True
        may_begin = is_first or self.tag(i - 1) == "POS"
        return may_begin and self._noun_ahead(i)

    def _noun_ahead(self, i: int) -> bool:
        """Return whether word i modifies a later noun: "big", "red or blue", "a dancing bear"."""
        while self.describes(i, _DESCRIBING) or self.joins_adjectives(i):
            i += 1
            if self.tag(i) == "NOUN":
                return True
        return False

    def describes(self, i: int, tags: Collection[str]) -> bool:
        """Return whether word i has one of some tags and begins nothing new, as "then" does."""
        return self.tag(i) in tags and self.word(i) not in NEW_START

    def joins_adjectives(self, i: int) -> bool:
        """Return whether word i joins two adjectives: "black | and white", but "red but | blue"."""
        is_joint = self.tag(i) == "CONJ" and self.word(i) != "but"
        return is_joint and self.tag(i - 1) == self.tag(i + 1) == "ADJ"

    # Places and qualities

    def place_phrase(self, i: int) -> Phrase | None:
        """Return "on a stool", "in front of a house", "without singing"."""
        if self.tag(i) != "ADP" or self.is_listed(i, "excepting"):
            return None
        # out of, next to
        start = self.after(i + 1, {"ADP"})
        inner = self.noun_phrase(start)
        if inner is None and self.tag(start) == "VBG":
            inner = self.verb_phrase(start)
        if inner is None:
            return None
        return Phrase(kind="place", start=i, end=inner.end, head=i, object=start)

    def quality(self, i: int) -> Phrase | None:
        """Return "red", "very happy", "far away"."""
        end = i
        while self.describes(end, {"ADJ", "ADV", "VBN"}):
            end += 1
        if end == i:
            return None
        head = end - 1

        # able | to swim, afraid | of dogs
        inner = None
        if self.tag(end) == "TO":
            inner = self.verb_phrase(end)
        elif self.word(end) == "of":
            inner = self.place_phrase(end)
        if inner:
            end = inner.end
        return Phrase(kind="quality", start=i, end=end, head=head)

    def is_setting(self, place: Phrase) -> bool:
        """Return whether everything happens at a place: "in a park", but not "on a phone"."""
        noun = self.noun_phrase(place.object or place.start)
        if noun is None:
            return False
        # a person | in green
        if self.tag(noun.head) == "ADJ" or self.is_listed(noun.start, "colours"):
            return False
        if self.word(place.start) == "on":
            return self.lemma_is_listed(noun.head, "grounds")
        return self.is_listed(place.start, "settings")

    # Verbs

    def verb_phrase(self, i: int) -> Phrase | None:
        """Return "playing the guitar in a park", without leading auxiliaries and adverbs."""
        verb = i
        while self._precedes_verb(verb, num_words=verb - i):
            verb += 1
        if not self.is_main_verb(verb):
            return None
        start = verb
        if verb > i and self.word(verb - 1) == "being":
            start -= 1
        return _VerbPhraseReader(self, verb).read(start)

    def _precedes_verb(self, i: int, num_words: int) -> bool:
        """Return whether word i, after `num_words` like it, is an auxiliary or "to" of a verb."""
        if self.is_auxiliary(i) and num_words < 4:
            return True
        if self.tag(i) not in {"ADV", "TO"}:
            return False
        return self.is_verb(self.after(i, {"ADV", "TO"}))


def phrases_of(text: str) -> Phrases:
    """Tag the words of a sentence."""
    return Phrases(load_tagger().tag(text))


class _VerbPhraseReader:
    """Extends one main verb to the right, word by word."""

    def __init__(self, phrases: Phrases, verb: int) -> None:
        self._phrases = phrases
        self._verb = verb
        lemma = phrases.lemma(verb)
        self._end = verb + 1
        self._first_object: int | None = None
        # First word of the first setting.
        self._setting: int | None = None
        # Objects that may still follow.
        self._num_objects = 2 if lemma in listed("two_objects") else 1
        self._may_describe = True
        self._needs_place = lemma in listed("placed")
        self._takes_verb = lemma in listed("takes_verb")

    def read(self, start: int) -> Phrase:
        """Return the phrase with all that belongs to the verb."""
        inner = self._inner_verb_phrase()
        while inner is None and self._take_next():
            inner = self._inner_verb_phrase()

        if inner is not None:
            self._end = inner.end
            if self._setting is None:
                self._setting = inner.setting
        return Phrase(
            kind="verb",
            start=start,
            end=self._end,
            head=self._verb,
            object=self._first_object,
            setting=self._setting,
        )

    def _take_next(self) -> bool:
        """Take an adverb, place, object, quality or particle; return whether one follows."""
        phrases = self._phrases
        end = self._end
        if phrases.describes(end, {"ADV"}):
            self._end += 1
            return True
        place = phrases.place_phrase(end)
        if place:
            self._take_place(place)
            return True
        if self._num_objects and self._take_complement():
            return True
        if self._is_particle(end):
            self._end += 1
            return True
        return False

    def _take_complement(self) -> bool:
        """Take an object or a quality; return whether one follows."""
        phrases = self._phrases
        complement = phrases.noun_phrase(self._end)
        if complement:
            if self._first_object is None:
                self._first_object = complement.start
            # watch a dog running
            self._takes_verb = phrases.is_actor(complement)
        elif self._may_describe:
            complement = phrases.quality(self._end)

        if complement is None:
            return False
        self._num_objects -= 1
        self._may_describe = False
        self._end = complement.end
        return True

    def _take_place(self, place: Phrase) -> None:
        if self._setting is None and not self._needs_place and self._phrases.is_setting(place):
            self._setting = place.start
        self._needs_place = False
        # No object follows a place.
        self._num_objects = 0
        self._end = place.end

    def _inner_verb_phrase(self) -> Phrase | None:
        """Return "to swim", "how to cook", or, after "go" or somebody who acts, "swimming"."""
        phrases = self._phrases
        i = self._end
        match phrases.tag(i):
            case "TO":
                return phrases.verb_phrase(i)
            case "WH" if phrases.tag(i + 1) == "TO":
                return phrases.verb_phrase(i + 1)
            case "VBG" if self._takes_verb:
                return phrases.verb_phrase(i)
            # let him | score
            case "VB" | "VBP" if phrases.lemma(self._verb) in _LETTING:
                if self._takes_verb or phrases.tag(i - 1) == "PRON":
                    return phrases.verb_phrase(i)
        return None

    def _is_particle(self, i: int) -> bool:
        """Return whether word i is the particle of "taking off" or "take it off"."""
        phrases = self._phrases
        if phrases.tag(i) != "ADP" or phrases.tag(i + 1) == "DET":
            return False
        return i == self._verb + 1 or phrases.tag(i - 1) == "PRON"
