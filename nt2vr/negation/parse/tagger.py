"""Part-of-speech tagging by HanTa, with corrections for captions and queries.

Its tags are mapped to a small tagset:

    NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER
    VB VBZ VBP VBD VBG VBN MD (Penn's verb forms, which the negator needs; MD for can, will, must …)

DET: articles, demonstratives, possessives. WH: who, which, where, and relative "that". NEG: not,
n't, never. POS: the possessive 's. OTHER: anything but English (emoji, other scripts).
"""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import Any

from HanTa.HanoverTagger import HanoverTagger

from nt2vr.negation.parse.missing_verbs import missing_verb
from nt2vr.negation.parse.tag_repairs import repaired_tag
from nt2vr.negation.parse.tokens import HELPERS, Token, as_tagged, word_spans
from nt2vr.negation.parse.word_in_context import TaggedSentence
from nt2vr.negation.parse.wordlists import renamed, spellings

_MAX_COMPOUND_CHARS = 10
# The ending tells the tag, and HanTa takes cubic time in the length of a word.
_MAX_ANALYSED_CHARS = 12
# Remembered per kind of look-up.
_NUM_WORDS = 10_000

# By full tag, otherwise by its first two letters.
_TAGS = renamed(
    "VB=VBI,VDI,VHI,VVI VBP=VBB,VDB,VHB,VVB VBZ=VBZ,VDZ,VHZ,VVZ VBD=VBD,VDD,VHD,VVD "
    "VBG=VBG,VDG,VHG,VVG VBN=VBN,VDN,VHN,VVN MD=VM0 TO=TO0 POS=POS NEG=XX0 PRON=EX0,PN "
    "DET=AT0,DPS,DT0 WH=DTQ,AVQ,PNQ,CJT NUM=CRD,ORD "
    "ADJ=AJ ADV=AV CONJ=CJ NOUN=NN,NP ADP=PR PUNCT=PU"
)
# Of main verbs, by Penn's tags.
_C5_TAGS = {
    "VB": "VVI",
    "VBP": "VVB",
    "VBZ": "VVZ",
    "VBD": "VVD",
    "VBG": "VVG",
    "VBN": "VVN",
}
_COMPOUND_TAGS = frozenset({"NN1", "NN2", "VVG", "AJ0"})
# Log-probability of a compound that is probably an adjective.
_COMPOUND_NATS = -18.0
_BY_WORD = spellings("tags")
# Datasets drop apostrophes: "it s", "we re".
_CLITICS = {"s": "'s", "re": "'re", "m": "'m", "ll": "'ll", "ve": "'ve"}


# Tags of a word, as HanTa numbers them, and their log-probabilities.
_Readings = list[tuple[int, float]]


class QuickHanta(HanoverTagger):  # type: ignore[misc]  # HanTa has no types
    """HanTa with the same answers in less time; only the end of long words is analysed."""

    def __init__(self) -> None:
        super().__init__("morphmodel_en.pgz")
        self._tag_word = lru_cache(_NUM_WORDS)(super()._tag_word)
        self.analyze_forward = lru_cache(_NUM_WORDS)(self._analyze_forward)

    def _analyze_forward(self, word: str) -> _Readings:
        """Return the tags of a word that is not in the lexicon, and their log-probabilities."""
        if _is_long_compound(word):
            return self._analyze_compound(word.rpartition("-")[2])
        tags: _Readings = super().analyze_forward(word[-_MAX_ANALYSED_CHARS:])
        return tags

    def _analyze_compound(self, last: str) -> _Readings:
        """Return the tags of a compound by its last part: "chocolate-|topped"."""
        readings = self.cache.get(last)
        if readings is None:
            readings = self.analyze_forward(last)
        tags = [reading for reading in readings if self.int2tag[reading[0]] in _COMPOUND_TAGS]
        return tags or [(self.tag2int["AJ0"], _COMPOUND_NATS)]


def _tag_of(word: str, c5_tag: str) -> str:
    """Return a word's own tag, or that of its C5 tag; a quoted phrase is a noun."""
    tag = _BY_WORD.get(word)
    if tag:
        return tag
    if " " in word:
        return "NOUN"
    return _TAGS.get(c5_tag) or _TAGS.get(c5_tag[:2]) or "OTHER"


class Tagger:
    """HanTa's English model (CLAWS C5 tags, mapped)."""

    def __init__(self) -> None:
        """Load the model, 0.1 s."""
        self._hanta: Any = QuickHanta()
        self._log_probs = lru_cache(_NUM_WORDS)(self._look_up)
        self._lemmas = lru_cache(_NUM_WORDS)(self._find_lemma)

    def tag(self, text: str) -> list[Token]:
        """Return the words and punctuation marks of `text`, in order."""
        spans = word_spans(text)
        sentence = self._tagged([as_tagged(text[start:end]) for start, end in spans])
        self._repair(sentence)

        tokens = []
        for (start, end), tag, find_lemma in zip(
            spans, sentence.tags, sentence.lemmas, strict=True
        ):
            tokens.append(Token(text[start:end], tag, find_lemma, start, end))
        return tokens

    def _tagged(self, words: Sequence[str]) -> TaggedSentence:
        """Tag words by HanTa; a lemma is looked up only when somebody asks for it."""
        sentence = TaggedSentence(_with_apostrophes(words), [], [])
        c5_tags = self._hanta.tag_sent(sentence.words, taglevel=0)
        for word, c5_tag in zip(sentence.words, c5_tags, strict=True):
            sentence.tags.append(_tag_of(word, c5_tag))
            sentence.lemmas.append(partial(self._lemmas, word, c5_tag))
        return sentence

    def _repair(self, sentence: TaggedSentence) -> None:
        """Correct the tags, from left to right, and then that of a missing verb."""
        for i in range(len(sentence.words)):
            self._set_tag(sentence, i, repaired_tag(sentence, i, self._log_probs))
        missing = missing_verb(sentence, self._log_probs)
        if missing is not None:
            self._set_tag(sentence, *missing)

    def _set_tag(self, sentence: TaggedSentence, i: int, tag: str) -> None:
        if tag != sentence.tags[i]:
            sentence.tags[i] = tag
            sentence.lemmas[i] = partial(self._lemma, sentence.words[i], tag)

    def _lemma(self, word: str, tag: str) -> str:
        return HELPERS.get(word) or self._lemmas(word, _C5_TAGS.get(tag, "EMPTY"))

    def _find_lemma(self, word: str, tag: str) -> str:
        if _is_long_compound(word):
            start = word.rindex("-") + 1
            return word[:start] + self._lemmas(word[start:], tag)
        return str(self._hanta.analyze(word, pos=tag)[0]).lower()

    def _look_up(self, word: str) -> dict[str, float]:
        """Return the log-probabilities of a word's C5 tags."""
        return {tag: float(value) for tag, value in self._hanta.tag_word(word, cutoff=8)}


def _with_apostrophes(words: Sequence[str]) -> list[str]:
    """Restore the apostrophes that datasets drop: "it s" becomes "it 's"."""
    restored = []
    previous = ""
    for word in words:
        restored.append(_CLITICS.get(word, word) if previous.isalpha() else word)
        previous = word
    return restored


@cache
def load_tagger() -> Tagger:
    """Return the tagger, loaded once."""
    return Tagger()


def _is_long_compound(word: str) -> bool:
    """Return whether the last part of a word is enough, as HanTa would take cubic time."""
    return len(word) > _MAX_COMPOUND_CHARS and "-" in word[:-1] and word[-1] != "-"
