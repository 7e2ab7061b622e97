"""Shallow parsing: the noun, verb or prepositional phrase that starts at a word.

A full parse is unnecessary: queries are short, and a negation only needs the phrase after it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS, Token, normalised
from nt2vr.negation.parse.wordlists import Runs, listed, listed_runs, words

_LETTING = words("let make help")  # let him score
NEW_START = words("just only instead also then")
HELPING_WORDS = frozenset(
    {*HELPERS, "'s", "s", "'ve", "ve", "'d", "d", "re", "m", "r"}
)  # forms of be, do and have


@dataclass(frozen=True)
class Phrase:
    """Words `start` to `end` (exclusive)."""

    kind: str  # "verb", "noun", "place" (with a preposition) or "quality" (adjectives, adverbs)
    start: int
    end: int
    core: int  # first word of the setting at the end of the phrase; `end` without a setting
    head: int  # the verb, the last noun or the preposition
    object: int | None = None  # first word of the verb's or preposition's object


class Phrases:
    """Finds phrases in one tagged sentence; finders return None, and look-ups "", if there is none at word i."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.words = [normalised(token.text) for token in tokens]

    def tag(self, i: int) -> str:
        return self.tokens[i].tag if 0 <= i < len(self.tokens) else ""

    def word(self, i: int) -> str:
        return self.words[i] if 0 <= i < len(self.tokens) else ""

    def lemma(self, i: int) -> str:
        return self.tokens[i].lemma if 0 <= i < len(self.tokens) else ""

    def after(self, i: int, tags: Collection[str]) -> int:
        """Return the first word from word i on that has none of these tags."""
        while self.tag(i) in tags:
            i += 1
        return i

    def before(self, i: int, tags: Collection[str]) -> int:
        """Return the first of the words right before word i with these tags."""
        while self.tag(i - 1) in tags:
            i -= 1
        return i

    def clause_start(self, i: int) -> int:
        while self.tag(i - 1) not in {"", "PUNCT", "CONJ"}:
            i -= 1
        return i

    def starts_clause(self, i: int) -> bool:
        return self.tag(i - 1) in {"", "PUNCT", "CONJ"} or self.word(i - 1) == "please"

    def is_prefix(self, i: int) -> bool:
        """Return whether mark i is attached to the next word but not to the previous one, as in "beach -man"."""
        after = self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        spaced = i == 0 or self.tokens[i - 1].end < self.tokens[i].start
        return (
            spaced
            and after is not None
            and self.tokens[i].end == after.start
            and after.text[0].isalnum()
        )

    def is_auxiliary(self, i: int) -> bool:
        """Return whether word i is an auxiliary: a modal, a form of be, or do and have before a verb or a negation."""
        tag = self.tag(i)
        if tag not in VERB_TAGS:
            return False
        if tag == "MD" or self.word(i) in {"ai", "ca", "wo"}:
            return True
        if self.word(i) not in HELPING_WORDS:
            return False  # without looking for its lemma
        if self.lemma(i) == "be":
            return True
        follower = self.tag(i + 2 if self.tag(i + 1) == "ADV" else i + 1)
        return self.lemma(i) in {"do", "have"} and (follower == "NEG" or follower in VERB_TAGS)

    def is_actor(self, phrase: Phrase) -> bool:
        return not listed("actors", "roles").isdisjoint(
            {self.word(phrase.head), self.lemma(phrase.head)}
        )

    def any_phrase(self, i: int) -> Phrase | None:
        return self.verb_phrase(i) or self.place_phrase(i) or self.noun_phrase(i) or self.quality(i)

    def noun_phrase(self, i: int) -> Phrase | None:
        """Return "the old man", "a red or blue car", "a glass of water"."""
        if self.tag(i) == "PRON":
            return Phrase("noun", i, i + 1, i + 1, i)
        first = j = self.after(i, {"DET", "NUM"})
        head: int | None = None
        while (is_noun := self._is_noun(j)) or self._modifies_noun(j, first=head is None):
            head = j if is_noun else head
            j += 1
        if head is None:
            return self._without_noun(i, first) if first > i else None
        inner = self.noun_phrase(j + 1) if self.word(j) == "of" else None
        end = inner.end if inner else j
        return Phrase("noun", i, end, end, head)

    def _without_noun(self, i: int, first: int) -> Phrase | None:
        if self.word(first - 1)[-1:].isdigit():
            return Phrase("noun", i, first, first, first - 1)  # not 12, no PS5
        quality = self.quality(first)  # the red, the other
        return quality and Phrase("noun", i, quality.end, quality.end, quality.head)

    def place_phrase(self, i: int) -> Phrase | None:
        """Return "on a stool", "in front of a house", "without singing"."""
        if self.tag(i) != "ADP" or self.word(i) in listed("excepting"):
            return None
        j = self.after(i + 1, {"ADP"})  # out of, next to
        inner = self.noun_phrase(j) or (self.verb_phrase(j) if self.tag(j) == "VBG" else None)
        if inner is None:
            return None
        return Phrase("place", i, inner.end, inner.end, i, j)

    def quality(self, i: int) -> Phrase | None:
        """Return "red", "very happy", "far away"."""
        j = i
        while self.tag(j) in {"ADJ", "ADV", "VBN"} and self.word(j) not in NEW_START:
            j += 1
        inner = (
            self.verb_phrase(j)
            if self.tag(j) == "TO"
            else self.place_phrase(j)
            if self.word(j) == "of"
            else None
        )
        end = inner.end if inner else j  # able to swim, afraid of dogs
        return Phrase("quality", i, end, end, j - 1) if j > i else None

    def is_setting(self, place: Phrase) -> bool:
        """Return whether a place is where everything happens: "in a park", "on the beach", but not "on a phone"."""
        noun = self.noun_phrase(place.object or place.start)
        if (
            noun is None
            or self.tag(noun.head) == "ADJ"
            or self.word(noun.start) in listed("colours")
        ):
            return False  # a person | in green
        return self.word(place.start) in listed("settings") or (
            self.word(place.start) == "on" and self.lemma(noun.head) in listed("grounds")
        )

    def verb_phrase(self, i: int) -> Phrase | None:
        """Return "playing the guitar in a park", without leading auxiliaries and adverbs."""
        verb = i
        while (self.is_auxiliary(verb) and verb - i < 4) or (
            self.tag(verb) in {"ADV", "TO"}
            and self.tag(self.after(verb, {"ADV", "TO"})) in VERB_TAGS
        ):
            verb += 1
        if self.tag(verb) not in VERB_TAGS or self.is_auxiliary(verb):
            return None
        start = verb - 1 if verb > i and self.word(verb - 1) == "being" else verb
        return _read_verb_phrase(self, verb, start)

    def _modifies_noun(self, i: int, *, first: bool) -> bool:
        if self.tag(i) == "POS" or (
            self.tag(i) in {"ADJ", "VBN"} and self.tag(i + 1) == "NOUN"
        ):  # a turn based game
            return True
        return (first or self.tag(i - 1) == "POS") and self._noun_ahead(i)

    def _is_noun(self, i: int) -> bool:
        """Return whether word i is a noun, or the number of a name: "Boeing | 737", "gate | 5"."""
        if self.tag(i) != "NUM" or i == 0:
            return self.tag(i) in {"NOUN", "OTHER"}
        is_name = not self.tokens[i - 1].text.islower() or not is_known(self.word(i - 1))
        return is_name or self.word(i - 1) in listed("numbered")

    def _noun_ahead(self, i: int) -> bool:
        """Return whether word i modifies a later noun: "big", "red or blue", "dancing" in "a dancing bear"."""
        describing = {"ADJ", "ADV", "VBN", "VBG", "NUM"}
        while (
            self.tag(i) in describing and self.word(i) not in NEW_START
        ) or self.joins_adjectives(i):
            i += 1
            if self.tag(i) == "NOUN":
                return True
        return False

    def joins_adjectives(self, i: int) -> bool:
        """Return whether word i joins two adjectives: "black | and white"."""
        is_joint = self.tag(i) == "CONJ" and self.word(i) != "but"  # not red but | blue
        return is_joint and self.tag(i - 1) == self.tag(i + 1) == "ADJ"

    # Words that only say that something is in the picture, or not

    def longest(self, runs: Runs, i: int) -> int:
        """Return the length in words of the longest of `runs` that starts at word i; 0 if none does."""
        first = self.word(i)
        if first not in runs.openers:
            return 0
        if (first, self.word(i + 1)) not in runs.pairs:
            return int(first in runs)
        words = self.words[i : i + runs.longest]
        return next((n for n in range(len(words), 0, -1) if " ".join(words[:n]) in runs), 0)

    def after_frame(self, i: int) -> int:
        """Return the end of "in this image", "in sight", "anywhere in the picture" at word i; i without one."""
        while (end := i + self.longest(listed_runs("fillers"), i)) > i or (
            end := self._after_medium(i)
        ) > i:
            i = end
        return i

    def _after_medium(self, i: int) -> int:
        j = i + 1
        if self.word(i) not in listed("about_frames"):
            return i
        while self.word(j) in listed("pointing"):
            j += 1
        is_last = self.tag(j + 1) not in {"NOUN", "POS"} and self.word(j + 1) != "of"
        return j + 1 if self.word(j) in listed("frames") and is_last else i

    def after_predicate(self, i: int) -> int:
        """Return the end of "visible", "to be seen here", "part of this scene" at word i; i without one."""
        j, there = i, listed("present", "appearing")
        while self.word(j) in listed("helping") and self.word(j + 1):
            j += 1
        if self.word(j) in there:
            j += 1
        elif j == i or self.word(j - 1) not in there:
            frame = self.after_frame(j)
            if frame == j:
                return i
            j = frame
        end, goes_on = (
            self.after_frame(j),
            {"NOUN", "DET", "ADJ", "NUM", "PRON", "OTHER", "POS", *VERB_TAGS},
        )
        return (
            i if self.tag(end) in goes_on else end
        )  # not visible | on a table, but: not shown eating

    def after_tail(self, i: int) -> int:
        """Return the end of "is visible in this image", "in sight" or "present" at word i; i without one."""
        j = i
        while self.is_auxiliary(j):
            j += 1
        return max(
            self.after_predicate(j) if self.after_predicate(j) > j else i, self.after_frame(i)
        )

    def says_nothing(self, start: int, end: int) -> bool:
        """Return whether words `start` to `end` name nothing to be seen: "in this image there is"."""
        return all(
            self.tag(i) in {"DET", "ADP", "PUNCT", "CONJ", "WH", "MD", "TO", "POS"}
            or self.word(i)
            in listed("frames", "present", "appearing", "showing", "helping", "small_words")
            or self.is_auxiliary(i)
            for i in range(start, end)
        )


def _read_verb_phrase(phrases: Phrases, verb: int, start: int) -> Phrase:
    """Extend a main verb to the right: adverbs, places, objects, qualities, particles, and a verb that may end it."""
    lemma, end = phrases.lemma(verb), verb + 1
    core: int | None = None  # where the first setting begins
    first_object: int | None = None
    objects_left, may_describe = 2 if lemma in listed("two_objects") else 1, True
    needs_place, takes_verb = lemma in listed("placed"), lemma in listed("takes_verb")
    while not (inner := _inner_verb_phrase(phrases, verb, end, takes_verb)):
        if phrases.tag(end) == "ADV" and phrases.word(end) not in NEW_START:
            end += 1
        elif place := phrases.place_phrase(end):
            if core is None and not needs_place and phrases.is_setting(place):
                core = place.start
            needs_place, objects_left, end = False, 0, place.end  # no object follows a place
        elif objects_left and (noun := phrases.noun_phrase(end)):
            first_object, objects_left, may_describe = (
                first_object or noun.start,
                objects_left - 1,
                False,
            )
            takes_verb = phrases.is_actor(noun)  # watch a dog running
            end = noun.end
        elif objects_left and may_describe and (quality := phrases.quality(end)):
            objects_left, may_describe, end = objects_left - 1, False, quality.end
        elif _is_particle(phrases, verb, end):
            end += 1
        else:
            return Phrase("verb", start, end, core or end, verb, first_object)
    return Phrase("verb", start, inner.end, core or inner.core, verb, first_object)


def _inner_verb_phrase(phrases: Phrases, verb: int, i: int, takes_verb: bool) -> Phrase | None:
    """Return "to swim", "how to cook", or, after "go" or somebody who acts, "swimming"."""
    i += phrases.tag(i) == "WH" and phrases.tag(i + 1) == "TO"
    somebody = takes_verb or phrases.tag(i - 1) == "PRON"
    lets = somebody and phrases.lemma(verb) in _LETTING and phrases.tag(i) in {"VB", "VBP"}
    if lets or phrases.tag(i) == "TO" or (phrases.tag(i) == "VBG" and takes_verb):
        return phrases.verb_phrase(i)
    return None


def _is_particle(phrases: Phrases, verb: int, i: int) -> bool:
    """Return whether word i is the particle of "taking off" or "take it off"."""
    follows = i == verb + 1 or phrases.tag(i - 1) == "PRON"
    return phrases.tag(i) == "ADP" and follows and phrases.tag(i + 1) != "DET"
