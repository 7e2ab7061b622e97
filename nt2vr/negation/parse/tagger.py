"""Part-of-speech tagging by HanTa, with corrections for captions and queries.

Its tags are mapped to a small tagset:

    NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER
    VB VBZ VBP VBD VBG VBN MD (Penn's verb forms, which the negator needs; MD for can, will, must …)

DET: articles, demonstratives, possessives. WH: who, which, where, and relative "that". NEG: not,
n't, never. POS: the possessive 's. OTHER: anything but English (emoji, other scripts).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from math import inf
from typing import Any

from HanTa.HanoverTagger import HanoverTagger

from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS, Lemma, Token, as_tagged, word_spans
from nt2vr.negation.parse.wordlists import listed, renamed, spellings

_LIKELY_NATS = 1.0  # margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays
_UNKNOWN_NATS = -20.0  # below this HanTa guesses from the ending
_THINGS_IN_ING = frozenset(
    {"building", "painting"}
)  # may be nouns even after a noun: "an office building"
_BASE = frozenset({"VVB", "VVI", "VDB", "VDI", "VHB", "VHI"})
_DOUBTFUL = frozenset({"NOUN", "ADJ", "VB", "VBP", "VBD", "VBZ", "MD", "NUM"})
_DENYING = frozenset(
    "no not n't without w/o w/out sans lack lacks lacking excludes omits nor neither missing".split()
)
_DENYING_BEFORE = {  # words that, after others, deny
    "of": frozenset("free devoid void empty absence sign trace hint bereft bare".split()),
    **dict.fromkeys(("is", "are"), ("absent", "missing")),
}
_IN_SIGHT = {("in", "sight"), ("in", "view"), ("to", "be")}
_PLURALS = frozenset({"people", "men", "women", "children"})
_ARTICLES = frozenset({"a", "an", "any", "the", "single"})
_ENDS = frozenset({"", "PUNCT", "CONJ", "WH"})
_LISTED = frozenset({"NOUN", "ADJ", "NUM", "DET", "CONJ", "PUNCT"})
_THIRD_PERSON = frozenset({"VVZ", "VBZ", "VDZ", "VHZ"})


class _Spot:
    def __init__(self, words: Sequence[str], tags: Sequence[str], i: int) -> None:
        self.words, self.tags, self.i = words, tags, i
        self.word, self.tag, self.after = (
            words[i],
            tags[i],
            tags[i + 1] if i + 1 < len(tags) else "",
        )
        self.word_before, self.before = (words[i - 1], tags[i - 1]) if i else ("", "")
        self.before_that = tags[i - 2] if i > 1 else ""

    def follows_subject(self) -> bool:
        is_noun = self.before == "NOUN" and self.before_that in {"DET", "ADJ", "NUM"}
        cue = tuple(self.words[max(0, self.i - 3) : self.i - 1])
        are_no = cue in {
            ("are", "no"),
            ("with", "no"),
            ("has", "no"),
        }  # there are no traffic | lights
        is_pronoun = self.before == "PRON" and self.word_before not in {"me", "us", "them", "him"}
        return (is_noun and not are_no) or is_pronoun or self.before == "WH"

    def is_object(self) -> bool:
        """Return whether a noun is likelier than a verb: "taking | turns"."""
        return self.before in {"VB", "VBG"} and self.after != "DET"

    def is_name(self, chances: Mapping[str, float]) -> bool:
        """Return whether an unknown word, guessed from its ending, names a thing: "kiwi", "not | iPhone 5"."""
        if self.tag == "NUM":
            return self.word.isalpha() and chances.get("CRD", 0) < _UNKNOWN_NATS
        stands = self.before not in VERB_TAGS | {"NOUN", "ADV"} and self.after in {
            "",
            "PUNCT",
            "NUM",
            "CONJ",
        }
        return stands and max(chances.values(), default=0) < _UNKNOWN_NATS

    def ends_denied_noun(self) -> bool:
        """Return whether the word ends a compound after a cue, where a verb would not agree or not fit."""
        words, tags, cue = self.words, self.tags, self.i - 2
        if cue < 0 or self.before != "NOUN" or self.tag == "MD":
            return False
        while cue > max(0, self.i - 5) and (
            tags[cue] in {"NOUN", "ADJ", "NUM"} or words[cue] in _ARTICLES
        ):
            cue -= 1
        noun = self.word_before
        is_many = noun in _PLURALS or (noun[-1] == "s" and noun[-2:] not in {"ss", "us", "is"})
        if words[self.i - 2] in (listed("denying_things") - {"no"}) | {"any", "of"} and not is_many:
            return self.after in _ENDS | {"NOUN"}  # exclude swing sets
        if not _denies(words, tags, cue):
            return False
        if self.tag == "VBZ" or is_many:  # no bus stops are visible; but: no dog barks
            return self.after in VERB_TAGS or tuple(words[self.i + 1 : self.i + 3]) in _IN_SIGHT
        return self.after in _ENDS | VERB_TAGS | {"ADP", "ADV"}

    def ends_denied_list(self) -> bool:
        """Return whether the word is of a list after a cue: "without icing or | sprinkles", "minus hats, | floats"."""
        words, start, cues = self.words, self.i - 1, listed("denying_things")
        if self.word_before not in {"or", "and", ",", "&"} or self.before_that != "NOUN":
            return False
        while start > 0 and words[start] not in cues and self.tags[start] in _LISTED:
            start -= 1
        is_sure = self.after in _ENDS and (self.word_before == "or" or words[self.i - 2][-1] == "s")
        return is_sure and (
            words[start] in cues | {"out", "any"} or _denies(words, self.tags, start)
        )


def _denies(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Return whether a denied noun may follow word i: "no", "devoid of", "does not show", "absent is"."""
    before = words[i - 1] if i else ""
    after_not = tags[i] in VERB_TAGS and i > 0 and tags[i - 1] == "NEG"
    return words[i] in _DENYING or after_not or before in _DENYING_BEFORE.get(words[i], ())


class Repairs:
    """Corrects tags where taggers, trained on newspapers, misread; `chances` are log-probabilities of C5 tags."""

    def __init__(self, chances: Callable[[str], Mapping[str, float]]) -> None:
        self._log_probabilities = chances

    def tag(self, words: Sequence[str], tags: Sequence[str], i: int) -> str:
        spot = _Spot(words, tags, i)
        tag = self._by_word(spot)
        if tag or spot.tag not in _DOUBTFUL:
            return tag or spot.tag
        chances = self._log_probabilities(spot.word)
        match spot.tag:
            case "NUM" | "ADJ" if spot.is_name(chances):
                is_noun = True
            case "NOUN" | "ADJ" | "NUM":
                return self._verb_after_all(spot, chances) or spot.tag
            case _:
                is_noun = self._is_noun(spot, chances)
        return "NOUN" if is_noun else spot.tag

    @staticmethod
    def _by_word(spot: _Spot) -> str:
        match spot.word:
            case "to":
                return "TO" if spot.after in {"VB", "VBP"} else "ADP"
            case "that":
                return "WH" if spot.before in {"NOUN", "PRON"} else "DET"
            case "run" | "come" if spot.tag == "VBN" and spot.before not in VERB_TAGS | {""}:
                return "VBP"
            case "one" if spot.word_before == "no":
                return "PRON"
            case "does":
                return "VBZ"
        return ""

    @staticmethod
    def _is_noun(spot: _Spot, chances: Mapping[str, float]) -> bool:
        one, many = "NN1" in chances, "NN2" in chances
        before_that = spot.words[max(0, spot.i - 2)] if spot.before == "ADJ" else spot.word_before
        denied = before_that in listed("denying_things")  # without a can, no free throws
        if spot.ends_denied_list() or (denied and spot.before == "ADJ" and spot.after in _ENDS):
            return True
        if (one or many) and (
            denied or spot.word_before in {"a", "an", "any"} or spot.ends_denied_noun()
        ):
            return True
        if spot.tag == "VBZ":  # making leaves from clay, but: not singing plays the
            return denied or (
                many and (spot.is_object() or chances.keys().isdisjoint(_THIRD_PERSON))
            )
        return spot.tag in {"VB", "VBP"} and one and chances.keys().isdisjoint(_BASE)  # not wine

    @staticmethod
    def _verb_after_all(spot: _Spot, chances: Mapping[str, float]) -> str:
        """Verb tag of a word tagged as a noun, if its neighbours and its form say so; "" otherwise."""
        noun, third_person = (
            max(chances.get("NN1", -inf), chances.get("NN2", -inf)),
            chances.get("VVZ", -inf),
        )
        denied = spot.word_before in listed("denying_things")
        if denied and spot.word.endswith("ing") and spot.after == "DET":
            return "VBG"  # without petting a cat
        if denied or spot.before in {"DET", "ADJ", "NUM"}:
            return ""  # a fight; exclude fights
        if spot.word.endswith("ing"):
            known = not chances.keys().isdisjoint({"VVG", "VDG"}) or noun < _UNKNOWN_NATS
            follows = spot.before in {"PRON", "NEG"} or HELPERS.get(spot.word_before) == "be"
            return (
                "VBG" if follows or (known and spot.word not in _THINGS_IN_ING) else ""
            )  # surfing; not: building
        is_nobody = spot.word_before in {"nobody", "noone", "nothing"} or spot.words[: spot.i][
            -2:
        ] == ["no", "one"]
        if spot.word.endswith("s") and is_nobody:
            return "VBZ"  # nobody strums
        never = (
            spot.word_before == "never"
            and spot.after == "ADP"
            and not chances.keys().isdisjoint(_BASE)
        )
        helped = spot.before_that == "MD" or HELPERS.get(spot.words[max(0, spot.i - 2)]) == "do"
        if never or (helped and spot.before == "NEG"):
            return "VB"  # doesn't pitch a ball; birds which never hunt in cages
        if third_person > -inf and spot.follows_subject() and not spot.word_before.endswith("s"):
            return "VBZ"  # a man dances
        is_noun = (
            spot.before == "ADP"
            or spot.is_object()
            or spot.ends_denied_noun()
            or spot.ends_denied_list()
        )
        return "" if is_noun or third_person <= noun - _LIKELY_NATS else "VBZ"  # but not sits

    def missing_verb(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[Lemma]
    ) -> tuple[int, str] | None:
        """Position and tag of the verb in a caption tagged without one: "a man loads a clip", "people dance"."""
        if _has_verb(tags):
            return None
        for spot in (_Spot(words, tags, i) for i in range(1, len(words)) if tags[i] == "NOUN"):
            actor = lemmas[spot.i - 1]()
            acts = actor in listed("actors", "roles") and spot.after in {
                "DET",
                "PRON",
                "ADP",
                "ADV",
                "",
            }
            plural = spot.word_before != actor or spot.word_before in _PLURALS
            if acts and (form := self._form_after_actor(spot, plural)):
                return spot.i, form
        return None

    def _form_after_actor(self, spot: _Spot, plural: bool) -> str:
        word = spot.word
        if word.endswith("s"):
            determined = spot.i == 1 or spot.before_that in VERB_TAGS | {"DET", "NUM", "ADJ"}
            return (
                "VBZ"
                if determined and not plural and self._may_be_verb(word[:-1], word[:-2], word)
                else ""
            )
        agrees = plural or spot.after in {"DET", "PRON"} or "and" in spot.words[: spot.i]
        return "VBP" if agrees and self._may_be_verb(word) else ""

    def _may_be_verb(self, *words: str) -> bool:
        readings = (reading for word in words for reading in self._log_probabilities(word).items())
        return any(
            form in {"VVB", "VVI", "VVZ"} and value > _UNKNOWN_NATS for form, value in readings
        )


def _has_verb(tags: Sequence[str]) -> bool:
    """Return whether any word is a verb that does not modify the next noun: "a grey haired man"."""
    around = zip(("", *tags), tags, (*tags[1:], ""), strict=False)
    describing = {"DET", "ADJ", "ADP"}
    return any(
        tag in VERB_TAGS and not (before in describing and after == "NOUN")
        for before, tag, after in around
    )


_MAX_COMPOUND_CHARS = 10
_MAX_ANALYSED_CHARS = (
    12  # the ending tells the tag, and HanTa takes cubic time in the length of a word
)
_NUM_WORDS = 10_000  # remembered per kind of look-up

_C5_FORMS = {"Z": "VBZ", "B": "VBP", "D": "VBD", "I": "VB", "G": "VBG", "N": "VBN"}
_C5 = {f"V{verb}{form}": tag for verb in "BDHV" for form, tag in _C5_FORMS.items()} | renamed(
    "DET=AT0,DPS,DT0 WH=DTQ,AVQ,PNQ,CJT NUM=CRD,ORD MD=VM0 TO=TO0 POS=POS NEG=XX0 PRON=EX0,PN ADJ=AJ ADV=AV CONJ=CJ "
    "NOUN=NN,NP ADP=PR PUNCT=PU"
)  # by full tag, otherwise by its first two letters
_PENN_TO_C5 = {tag: f"VV{form}" for form, tag in _C5_FORMS.items()} | {"NN": "NN1", "NNS": "NN2"}
_BY_WORD = spellings("tags")
_CLITICS = {
    "s": "'s",
    "re": "'re",
    "m": "'m",
    "ll": "'ll",
    "ve": "'ve",
}  # datasets drop apostrophes: "it s", "we re"


class QuickHanta(HanoverTagger):  # type: ignore[misc]  # HanTa has no types
    """HanTa with the same answers in less time, but for long words, of which only the end is analysed."""

    def __init__(self) -> None:
        super().__init__("morphmodel_en.pgz")
        self._tag_word = lru_cache(_NUM_WORDS)(super()._tag_word)
        self.analyze_forward = lru_cache(_NUM_WORDS)(self._analyze_forward)

    def _analyze_forward(self, word: str) -> list[tuple[int, float]]:
        """Return the tags of a word that is not in the lexicon, with their log-probabilities, best first."""
        if _is_long_compound(word):
            return self._analyze_compound(word.rpartition("-")[2])
        tags: list[tuple[int, float]] = super().analyze_forward(word[-_MAX_ANALYSED_CHARS:])
        return tags

    def _analyze_compound(self, last: str) -> list[tuple[int, float]]:
        """Return the tags of a compound by its last part: "chocolate-|topped", "merry-go-|round"."""
        found = self.cache[last] if last in self.cache else self.analyze_forward(last)
        tags = [
            (tag, value)
            for tag, value in found
            if self.int2tag[tag] in {"NN1", "NN2", "VVG", "AJ0"}
        ]
        return tags or [(self.tag2int["AJ0"], -18.0)]


def _tag_of(word: str, c5: str) -> str:
    """Return a word's own tag, or that of its C5 tag; a quoted phrase is a noun."""
    return _BY_WORD.get(word) or (
        "NOUN" if " " in word else _C5.get(c5) or _C5.get(c5[:2]) or "OTHER"
    )


class Tagger:
    """HanTa's English model (CLAWS C5 tags, mapped)."""

    def __init__(self) -> None:
        """Load the model, 0.1 s."""
        self._hanta: Any = QuickHanta()
        self._repairs = Repairs(lru_cache(_NUM_WORDS)(self._look_up))
        self._lemmas = lru_cache(_NUM_WORDS)(self._find_lemma)

    def tag(self, text: str) -> list[Token]:
        """Return the words and punctuation marks of `text`, in order."""
        spans = word_spans(text)
        words = [as_tagged(text[start:end]) for start, end in spans]
        words = [
            _CLITICS.get(word, word) if i and words[i - 1].isalpha() else word
            for i, word in enumerate(words)
        ]
        c5 = self._hanta.tag_sent(words, taglevel=0)
        tags = list(map(_tag_of, words, c5))
        lemmas: list[Lemma] = [
            partial(self._lemmas, word, tag) for word, tag in zip(words, c5, strict=True)
        ]
        for i, word in enumerate(words):
            tag = self._repairs.tag(words, tags, i)
            if tag != tags[i]:
                tags[i], lemmas[i] = tag, partial(self._lemma, word, tag)
        if (verb := self._repairs.missing_verb(words, tags, lemmas)) is not None:
            i, tags[i] = verb
            lemmas[i] = partial(self._lemma, words[i], tags[i])
        return [
            Token(text[start:end], tag, lemma, start, end)
            for (start, end), tag, lemma in zip(spans, tags, lemmas, strict=True)
        ]

    def _lemma(self, word: str, tag: str) -> str:
        return (
            HELPERS[word] if word in HELPERS else self._lemmas(word, _PENN_TO_C5.get(tag, "EMPTY"))
        )

    def _find_lemma(self, word: str, tag: str) -> str:
        if _is_long_compound(word):
            start = word.rindex("-") + 1
            return word[:start] + self._lemmas(word[start:], tag)
        return str(self._hanta.analyze(word, pos=tag)[0]).lower()

    def _look_up(self, word: str) -> dict[str, float]:
        return {tag: float(value) for tag, value in self._hanta.tag_word(word, cutoff=8)}


@cache
def load_tagger() -> Tagger:
    """Return the tagger, loaded once."""
    return Tagger()


def _is_long_compound(word: str) -> bool:
    """Return whether HanTa would take long, in cubic time, for a word whose last part says enough."""
    return len(word) > _MAX_COMPOUND_CHARS and "-" in word[:-1] and word[-1] != "-"
