"""Corrections of tags where HanTa, trained on newspapers, misreads captions and queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS, Lemma
from nt2vr.negation.parse.wordlists import listed

# Margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays.
_LIKELY_NATS = 1.0
# Below this HanTa guesses from the ending.
_UNKNOWN_NATS = -20.0
# These may be nouns even after a noun: "an office building".
_THINGS_IN_ING = frozenset({"building", "painting"})
_BASE = frozenset({"VVB", "VVI", "VDB", "VDI", "VHB", "VHI"})
_DOUBTFUL = frozenset({"NOUN", "ADJ", "VB", "VBP", "VBD", "VBZ", "MD", "NUM"})
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
_PLURALS = frozenset({"people", "men", "women", "children"})
_ARTICLES = frozenset({"a", "an", "any", "the", "single"})
_ENDS = frozenset({"", "PUNCT", "CONJ", "WH"})
_LISTED = frozenset({"NOUN", "ADJ", "NUM", "DET", "CONJ", "PUNCT"})
_THIRD_PERSON = frozenset({"VVZ", "VBZ", "VDZ", "VHZ"})
_VERB_READINGS = frozenset({"VVB", "VVI", "VVZ"})


class MissingVerb(NamedTuple):
    """Position and tag of a word that must be the verb of a caption tagged without one."""

    position: int
    tag: str


def _at(values: Sequence[str], i: int) -> str:
    """Return the word or tag at a position; "" outside the sentence."""
    if 0 <= i < len(values):
        return values[i]
    return ""


class _WordInContext:
    """One word of a sentence and its neighbours."""

    def __init__(self, words: Sequence[str], tags: Sequence[str], i: int) -> None:
        self.words = words
        self.tags = tags
        self.i = i
        self.word = words[i]
        self.tag = tags[i]
        self.after = _at(tags, i + 1)
        self.word_before = _at(words, i - 1)
        self.before = _at(tags, i - 1)
        self.before_that = _at(tags, i - 2)

    def follows_subject(self) -> bool:
        if self.before == "WH":
            return True
        if self.before == "PRON":
            return self.word_before not in {"me", "us", "them", "him"}
        if self.before == "NOUN" and self.before_that in {"DET", "ADJ", "NUM"}:
            cue = tuple(self.words[max(0, self.i - 3) : self.i - 1])
            return cue not in _NO_BEFORE_NOUN
        return False

    def is_object(self) -> bool:
        """Return whether a noun is likelier than a verb: "taking | turns"."""
        return self.before in {"VB", "VBG"} and self.after != "DET"

    def is_name(self, chances: Mapping[str, float]) -> bool:
        """Return whether a word, guessed from its ending, names a thing: "kiwi", "iPhone 5"."""
        if self.tag == "NUM":
            return self.word.isalpha() and chances.get("CRD", 0) < _UNKNOWN_NATS
        if self.before in VERB_TAGS or self.before in {"NOUN", "ADV"}:
            return False
        if self.after not in {"", "PUNCT", "NUM", "CONJ"}:
            return False
        return max(chances.values(), default=0) < _UNKNOWN_NATS

    def ends_denied_noun(self) -> bool:
        """Return whether the word ends a compound after a cue, where a verb would not fit."""
        if self.i < 2 or self.before != "NOUN" or self.tag == "MD":
            return False
        noun = self.word_before
        is_plural = noun in _PLURALS or (noun[-1] == "s" and noun[-2:] not in {"ss", "us", "is"})
        # exclude swing sets
        if not is_plural and self._denies_thing(self.words[self.i - 2]):
            return self.after in _ENDS or self.after == "NOUN"

        if not _denies(self.words, self.tags, self._cue_of_noun()):
            return False
        # no bus stops are visible; but: no dog barks
        if self.tag == "VBZ" or is_plural:
            next_words = tuple(self.words[self.i + 1 : self.i + 3])
            return self.after in VERB_TAGS or next_words in _IN_SIGHT
        return self.after in _ENDS or self.after in VERB_TAGS or self.after in {"ADP", "ADV"}

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
        if self.word_before not in {"or", "and", ",", "&"} or self.before_that != "NOUN":
            return False
        # minus hats, | floats
        is_plural = words[self.i - 2][-1] == "s"
        if self.after not in _ENDS or not (self.word_before == "or" or is_plural):
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
    return _at(words, i - 1) in _DENYING_BEFORE.get(words[i], ())


class TagRepairs:
    """Corrects tags; `chances` are log-probabilities of C5 tags, by tag."""

    def __init__(self, chances: Callable[[str], Mapping[str, float]]) -> None:
        self._chances = chances

    def tag(self, words: Sequence[str], tags: Sequence[str], i: int) -> str:
        """Return the tag of word i, corrected if necessary."""
        spot = _WordInContext(words, tags, i)
        tag = _tag_by_word(spot)
        if tag:
            return tag
        if spot.tag not in _DOUBTFUL:
            return spot.tag

        chances = self._chances(spot.word)
        match spot.tag:
            case "NUM" | "ADJ" if spot.is_name(chances):
                return "NOUN"
            case "NOUN" | "ADJ" | "NUM":
                return _verb_after_all(spot, chances) or spot.tag
        if _is_noun_after_all(spot, chances):
            return "NOUN"
        return spot.tag

    def missing_verb(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[Lemma]
    ) -> MissingVerb | None:
        """Return the verb in a caption tagged without one: "a man loads a clip", "people dance"."""
        if _has_verb(tags):
            return None
        for spot in _nouns_in(words, tags):
            actor = lemmas[spot.i - 1]()
            if actor not in listed("actors", "roles"):
                continue
            if spot.after not in {"DET", "PRON", "ADP", "ADV", ""}:
                continue
            is_plural = spot.word_before != actor or spot.word_before in _PLURALS
            form = self._form_after_actor(spot, is_plural)
            if form:
                return MissingVerb(spot.i, form)
        return None

    def _form_after_actor(self, spot: _WordInContext, is_plural: bool) -> str:
        """Return the verb form that a word after an actor has; "" if it is no verb."""
        word = spot.word
        if word.endswith("s"):
            is_subject = spot.before_that in VERB_TAGS | {"DET", "NUM", "ADJ"}
            if is_plural or not (spot.i == 1 or is_subject):
                return ""
            if self._may_be_verb(word[:-1], word[:-2], word):
                return "VBZ"
            return ""

        agrees = is_plural or spot.after in {"DET", "PRON"} or "and" in spot.words[: spot.i]
        if agrees and self._may_be_verb(word):
            return "VBP"
        return ""

    def _may_be_verb(self, *words: str) -> bool:
        for word in words:
            for tag, log_probability in self._chances(word).items():
                if tag in _VERB_READINGS and log_probability > _UNKNOWN_NATS:
                    return True
        return False


def _nouns_in(words: Sequence[str], tags: Sequence[str]) -> Iterator[_WordInContext]:
    """Yield the nouns of a sentence but a first word."""
    for i in range(1, len(words)):
        if tags[i] == "NOUN":
            yield _WordInContext(words, tags, i)


def _tag_by_word(spot: _WordInContext) -> str:
    """Return the tag of a word whose neighbours alone decide it; "" for other words."""
    match spot.word:
        case "to":
            if spot.after in {"VB", "VBP"}:
                return "TO"
            return "ADP"
        case "that":
            if spot.before in {"NOUN", "PRON"}:
                return "WH"
            return "DET"
        case "run" | "come" if spot.tag == "VBN" and spot.before not in VERB_TAGS | {""}:
            return "VBP"
        case "one" if spot.word_before == "no":
            return "PRON"
        case "does":
            return "VBZ"
    return ""


def _is_noun_after_all(spot: _WordInContext, chances: Mapping[str, float]) -> bool:
    """Return whether a word tagged as a verb is a noun: "without a | can", "no free | throws"."""
    if spot.ends_denied_list():
        return True

    follows_adjective = spot.before == "ADJ"
    word_before = spot.word_before
    if follows_adjective:
        word_before = spot.words[max(0, spot.i - 2)]
    is_denied = word_before in listed("denying_things")
    if is_denied and follows_adjective and spot.after in _ENDS:
        return True

    may_be_singular = "NN1" in chances
    may_be_plural = "NN2" in chances
    if may_be_singular or may_be_plural:
        has_article = spot.word_before in {"a", "an", "any"}
        if is_denied or has_article or spot.ends_denied_noun():
            return True

    # making leaves from clay; but: not singing plays the
    if spot.tag == "VBZ":
        if is_denied:
            return True
        is_no_verb = chances.keys().isdisjoint(_THIRD_PERSON)
        return may_be_plural and (spot.is_object() or is_no_verb)
    # not wine
    is_base_form = spot.tag in {"VB", "VBP"}
    return is_base_form and may_be_singular and chances.keys().isdisjoint(_BASE)


def _verb_after_all(spot: _WordInContext, chances: Mapping[str, float]) -> str:
    """Return the verb tag of a word tagged as a noun, if its neighbours and form say so."""
    is_denied = spot.word_before in listed("denying_things")
    # without petting a cat
    if is_denied and spot.word.endswith("ing") and spot.after == "DET":
        return "VBG"
    # a fight; exclude fights
    if is_denied or spot.before in {"DET", "ADJ", "NUM"}:
        return ""

    noun_chance = max(chances.get("NN1", -inf), chances.get("NN2", -inf))
    if spot.word.endswith("ing"):
        if _is_participle(spot, chances, noun_chance):
            return "VBG"
        return ""
    # nobody strums
    if spot.word.endswith("s") and _follows_nobody(spot):
        return "VBZ"
    if _follows_denied_helper(spot, chances):
        return "VB"

    # a man dances
    verb_chance = chances.get("VVZ", -inf)
    if verb_chance > -inf and spot.follows_subject() and not spot.word_before.endswith("s"):
        return "VBZ"
    # but not sits
    if verb_chance <= noun_chance - _LIKELY_NATS or spot.before == "ADP" or spot.is_object():
        return ""
    if spot.ends_denied_noun() or spot.ends_denied_list():
        return ""
    return "VBZ"


def _is_participle(spot: _WordInContext, chances: Mapping[str, float], noun_chance: float) -> bool:
    """Return whether a word in -ing is a verb: surfing, and building after a form of "be"."""
    if spot.before in {"PRON", "NEG"} or HELPERS.get(spot.word_before) == "be":
        return True
    may_be_verb = not chances.keys().isdisjoint({"VVG", "VDG"}) or noun_chance < _UNKNOWN_NATS
    return may_be_verb and spot.word not in _THINGS_IN_ING


def _follows_nobody(spot: _WordInContext) -> bool:
    if spot.word_before in {"nobody", "noone", "nothing"}:
        return True
    return spot.words[: spot.i][-2:] == ["no", "one"]


def _follows_denied_helper(spot: _WordInContext, chances: Mapping[str, float]) -> bool:
    """Return whether a word is a verb by "doesn't | pitch", "never | hunt in"."""
    may_be_base_form = not chances.keys().isdisjoint(_BASE)
    if may_be_base_form and spot.word_before == "never" and spot.after == "ADP":
        return True
    if spot.before != "NEG":
        return False
    is_do = HELPERS.get(spot.words[max(0, spot.i - 2)]) == "do"
    return is_do or spot.before_that == "MD"


def _has_verb(tags: Sequence[str]) -> bool:
    """Return whether any word is a verb that does not modify a noun: "a grey haired man"."""
    for i, tag in enumerate(tags):
        if tag in VERB_TAGS:
            may_modify = _at(tags, i - 1) in {"DET", "ADJ", "ADP"}
            if not may_modify or _at(tags, i + 1) != "NOUN":
                return True
    return False
