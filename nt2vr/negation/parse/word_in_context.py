"""One word of a sentence, whose neighbours say more of it than a tagger knows."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nt2vr.negation.parse.tokens import VERB_TAGS, Lemma
from nt2vr.negation.parse.wordlists import listed, words

# Below this HanTa guesses from the ending.
UNKNOWN_NATS = -20.0
_DENYING = words(
    "no not n't without w/o w/out sans lack lacks lacking excludes omits nor neither missing"
)
# Words that deny after others.
_DENYING_BEFORE = {
    "of": words("free devoid void empty absence sign trace hint bereft bare"),
    **dict.fromkeys(("is", "are"), ("absent", "missing")),
}
_IN_SIGHT = {("in", "sight"), ("in", "view"), ("to", "be")}
# there are no traffic | lights
_NO_BEFORE_NOUN = {("are", "no"), ("with", "no"), ("has", "no")}
PLURALS = words("people men women children")
_ARTICLES = words("a an any the single")
ENDS = frozenset({"", "PUNCT", "CONJ", "WH"})
_LISTED = words("NOUN ADJ NUM DET CONJ PUNCT")
_BEFORE_DENIED_THING = listed("denying_things") - {"no"} | {"any", "of"}

# Returns the log-probabilities of a word's C5 tags.
FindLogProbs = Callable[[str], Mapping[str, float]]


class TaggedSentence(NamedTuple):
    """The words of a sentence, with their tags and functions that look up their lemmas."""

    words: list[str]
    tags: list[str]
    lemmas: list[Lemma]


def value_at(values: Sequence[str], i: int) -> str:
    """Return the word or tag at a position; "" outside the sentence."""
    if 0 <= i < len(values):
        return values[i]
    return ""


class WordInContext:
    """One word of a sentence and its neighbours."""

    def __init__(self, sentence: TaggedSentence, i: int, find_log_probs: FindLogProbs) -> None:
        self.words = sentence.words
        self.tags = sentence.tags
        self.i = i
        self.word = self.words[i]
        self.tag = self.tags[i]
        self.tag_after = value_at(self.tags, i + 1)
        self.word_before = value_at(self.words, i - 1)
        self.tag_before = value_at(self.tags, i - 1)
        self.word_two_before = value_at(self.words, i - 2)
        self.tag_two_before = value_at(self.tags, i - 2)
        self.find_log_probs = find_log_probs

    @cached_property
    def log_probs(self) -> Mapping[str, float]:
        """The log-probabilities of the word's C5 tags."""
        return self.find_log_probs(self.word)

    def may_be(self, tags: frozenset[str]) -> bool:
        """Return whether the word may have one of some C5 tags."""
        return not tags.isdisjoint(self.log_probs)

    def follows_subject(self) -> bool:
        if self.tag_before == "WH":
            return True
        if self.tag_before == "PRON":
            return self.word_before not in {"me", "us", "them", "him"}
        if self.tag_before == "NOUN" and self.tag_two_before in {"DET", "ADJ", "NUM"}:
            cue = (value_at(self.words, self.i - 3), self.word_two_before)
            # without any traffic | signs
            return cue not in _NO_BEFORE_NOUN and self.word_two_before != "any"
        return False

    def is_object(self) -> bool:
        """Return whether a noun is likelier than a verb: "taking | turns"."""
        return self.tag_before in {"VB", "VBG"} and self.tag_after != "DET"

    def is_name(self) -> bool:
        """Return whether a word, guessed from its ending, names a thing: "kiwi", "iPhone 5"."""
        if self.tag == "NUM":
            return self.word.isalpha() and self.log_probs.get("CRD", 0) < UNKNOWN_NATS
        if self.tag_before in VERB_TAGS | {"NOUN", "ADV"}:
            return False
        if self.tag_after not in {"", "PUNCT", "NUM", "CONJ"}:
            return False
        return max(self.log_probs.values(), default=0) < UNKNOWN_NATS

    def ends_denied_noun(self) -> bool:
        """Return whether the word ends a compound after a cue, where a verb would not fit."""
        if self.i < 2 or self.tag_before != "NOUN" or self.tag == "MD":
            return False
        is_plural = _is_plural(self.word_before)
        # exclude swing sets
        if not is_plural and self.word_two_before in _BEFORE_DENIED_THING:
            return self.tag_after in ENDS | {"NOUN"}

        if not self._denies(self._cue_of_noun()):
            return False
        if self.tag_after in VERB_TAGS:
            return True
        # no bus stops are visible; but: no dog barks
        if self.tag == "VBZ" or is_plural:
            return tuple(self.words[self.i + 1 : self.i + 3]) in _IN_SIGHT
        return self.tag_after in ENDS | {"ADP", "ADV"}

    def _cue_of_noun(self) -> int:
        """Return the first word before the noun before this word that cannot be part of it."""
        first = max(0, self.i - 5)
        for cue in range(self.i - 2, first, -1):
            if self.tags[cue] not in {"NOUN", "ADJ", "NUM"} and self.words[cue] not in _ARTICLES:
                return cue
        return first

    def ends_denied_list(self) -> bool:
        """Return whether the word is of a list after a cue: "without icing or | sprinkles"."""
        if self.tag_two_before != "NOUN" or self.tag_after not in ENDS:
            return False
        if self.word_before in {"and", ",", "&"}:
            # minus hats, | floats
            if not self.word_two_before.endswith("s"):
                return False
        elif self.word_before != "or":
            return False

        cues = listed("denying_things")
        start = self.i - 1
        while start > 0 and self.tags[start] in _LISTED and self.words[start] not in cues:
            start -= 1
        return self.words[start] in cues | {"out", "any"} or self._denies(start)

    def _denies(self, i: int) -> bool:
        """Return whether a denied noun may follow word i: "no", "devoid of", "does not show"."""
        word = self.words[i]
        if word in _DENYING:
            return True
        if self.tags[i] in VERB_TAGS and value_at(self.tags, i - 1) == "NEG":
            return True
        return value_at(self.words, i - 1) in _DENYING_BEFORE.get(word, ())


def _is_plural(noun: str) -> bool:
    return noun in PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))
