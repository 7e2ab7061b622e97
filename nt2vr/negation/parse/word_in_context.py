"""One word of a sentence, whose neighbours say more of it than a tagger knows."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nt2vr.negation.parse.tokens import VERB_TAGS, Lemma
from nt2vr.negation.parse.wordlists import listed

# Below this HanTa guesses from the ending.
UNKNOWN_NATS = -20.0
_DENYING = frozenset(
    "no not n't without w/o w/out sans lack lacks lacking "
    "excludes omits nor neither missing".split()
)
# Words that deny after others.
_DENYING_BEFORE = {
    "of": frozenset("free devoid void empty absence sign trace hint bereft bare".split()),
    **dict.fromkeys(("is", "are"), ("absent", "missing")),
}
_IN_SIGHT = {("in", "sight"), ("in", "view"), ("to", "be")}
# there are no traffic | lights
_NO_BEFORE_NOUN = {("are", "no"), ("with", "no"), ("has", "no")}
PLURALS = frozenset({"people", "men", "women", "children"})
_ARTICLES = frozenset({"a", "an", "any", "the", "single"})
ENDS = frozenset({"", "PUNCT", "CONJ", "WH"})
_LISTED = frozenset({"NOUN", "ADJ", "NUM", "DET", "CONJ", "PUNCT"})


# Returns the log-probabilities of a word's C5 tags.
LogProbs = Callable[[str], Mapping[str, float]]


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

    def __init__(self, sentence: TaggedSentence, i: int) -> None:
        self.words = sentence.words
        self.tags = sentence.tags
        self.i = i
        self.word = self.words[i]
        self.tag = self.tags[i]
        self.tag_after = value_at(self.tags, i + 1)
        self.word_before = value_at(self.words, i - 1)
        self.tag_before = value_at(self.tags, i - 1)
        self.tag_two_before = value_at(self.tags, i - 2)

    def follows_subject(self) -> bool:
        if self.tag_before == "WH":
            return True
        if self.tag_before == "PRON":
            return self.word_before not in {"me", "us", "them", "him"}
        if self.tag_before == "NOUN" and self.tag_two_before in {"DET", "ADJ", "NUM"}:
            cue = tuple(self.words[max(0, self.i - 3) : self.i - 1])
            return cue not in _NO_BEFORE_NOUN
        return False

    def is_object(self) -> bool:
        """Return whether a noun is likelier than a verb: "taking | turns"."""
        return self.tag_before in {"VB", "VBG"} and self.tag_after != "DET"

    def is_name(self, log_probs: Mapping[str, float]) -> bool:
        """Return whether a word, guessed from its ending, names a thing: "kiwi", "iPhone 5"."""
        if self.tag == "NUM":
            return self.word.isalpha() and log_probs.get("CRD", 0) < UNKNOWN_NATS
        if self.tag_before in VERB_TAGS or self.tag_before in {"NOUN", "ADV"}:
            return False
        if self.tag_after not in {"", "PUNCT", "NUM", "CONJ"}:
            return False
        return max(log_probs.values(), default=0) < UNKNOWN_NATS

    def ends_denied_noun(self) -> bool:
        """Return whether the word ends a compound after a cue, where a verb would not fit."""
        if self.i < 2 or self.tag_before != "NOUN" or self.tag == "MD":
            return False
        noun = self.word_before
        is_plural = noun in PLURALS or (noun[-1] == "s" and noun[-2:] not in {"ss", "us", "is"})
        # exclude swing sets
        if not is_plural and self._denies_thing(self.words[self.i - 2]):
            return self.tag_after in ENDS or self.tag_after == "NOUN"

        if not _denies(self.words, self.tags, self._cue_of_noun()):
            return False
        # no bus stops are visible; but: no dog barks
        if self.tag == "VBZ" or is_plural:
            next_words = tuple(self.words[self.i + 1 : self.i + 3])
            return self.tag_after in VERB_TAGS or next_words in _IN_SIGHT
        return (
            self.tag_after in ENDS
            or self.tag_after in VERB_TAGS
            or self.tag_after in {"ADP", "ADV"}
        )

    @staticmethod
    def _denies_thing(word: str) -> bool:
        if word == "no":
            return False
        return word in listed("denying_things") or word in {"any", "of"}

    def _cue_of_noun(self) -> int:
        """Return the first word before the noun before this word that cannot be part of it."""
        cue = self.i - 2
        first = max(0, self.i - 5)
        while cue > first:
            is_part = self.tags[cue] in {"NOUN", "ADJ", "NUM"} or self.words[cue] in _ARTICLES
            if not is_part:
                break
            cue -= 1
        return cue

    def ends_denied_list(self) -> bool:
        """Return whether the word is of a list after a cue: "without icing or | sprinkles"."""
        words = self.words
        if self.word_before not in {"or", "and", ",", "&"} or self.tag_two_before != "NOUN":
            return False
        # minus hats, | floats
        is_plural = words[self.i - 2][-1] == "s"
        if self.tag_after not in ENDS or not (self.word_before == "or" or is_plural):
            return False

        cues = listed("denying_things")
        start = self.i - 1
        while start > 0 and words[start] not in cues and self.tags[start] in _LISTED:
            start -= 1
        if words[start] in cues or words[start] in {"out", "any"}:
            return True
        return _denies(words, self.tags, start)


def _denies(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Return whether a denied noun may follow word i: "no", "devoid of", "does not show"."""
    if words[i] in _DENYING:
        return True
    if i > 0 and tags[i] in VERB_TAGS and tags[i - 1] == "NEG":
        return True
    return value_at(words, i - 1) in _DENYING_BEFORE.get(words[i], ())
