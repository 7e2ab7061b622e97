"""Part-of-speech tagging: NLTK's tagger if its data is installed, otherwise HanTa's. Downloads nothing.

Both are mapped to one small tagset:

    NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER
    VB VBZ VBP VBD VBG VBN MD (Penn's verb forms, which the negator needs; MD for can, will, must …)

DET: articles, demonstratives, possessives. WH: who, which, where, and relative "that". NEG: not, n't, never. POS: the
possessive 's. OTHER: anything but English (emoji, other scripts).
"""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from math import inf
from typing import Any

import nltk
from HanTa.HanoverTagger import EMPTY, END, START, UNKNOWN, HanoverTagger
from nltk.tag.perceptron import PerceptronTagger

from nt2vr.negation.parse.repairs import HELPERS, Repairs
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS, Lemma, Token, as_tagged, word_spans
from nt2vr.negation.parse.wordlists import renamed

__all__ = ["FINITE_TAGS", "VERB_TAGS", "NltkTagger", "Tagger", "Token", "load_tagger"]

NLTK_DATA = "taggers/averaged_perceptron_tagger_eng"
_MAX_COMPOUND_CHARS = 10
_MAX_ANALYSED_CHARS = 12  # the ending tells the tag, and HanTa takes cubic time in the length of a word
_HOPELESS_NATS = 8.0  # a tag this far behind does not win: the tags of 7,703 captions are HanTa's
_NUM_WORDS = 10_000  # remembered per kind of look-up

_C5_FORMS = {"Z": "VBZ", "B": "VBP", "D": "VBD", "I": "VB", "G": "VBG", "N": "VBN"}
_C5 = {f"V{verb}{form}": tag for verb in "BDHV" for form, tag in _C5_FORMS.items()} | renamed(
    "DET=AT0,DPS,DT0 WH=DTQ,AVQ,PNQ,CJT NUM=CRD,ORD MD=VM0 TO=TO0 POS=POS NEG=XX0 PRON=EX0,PN ADJ=AJ ADV=AV CONJ=CJ "
    "NOUN=NN,NP ADP=PR PUNCT=PU"
)  # by full tag, otherwise by its first two letters
_PENN = {tag: tag for tag in VERB_TAGS} | renamed(
    "DET=DT,PDT,PRP$ ADV=RP,RB ADP=IN NUM=CD CONJ=CC TO=TO POS=POS PRON=PRP,EX NOUN=NN ADJ=JJ WH=WD,WP,WR"
)  # likewise
_PENN_TO_C5 = {tag: f"VV{form}" for form, tag in _C5_FORMS.items()} | {"NN": "NN1", "NNS": "NN2"}
_BY_WORD = renamed(
    "NEG=not,n't,nt,never CONJ=and,or,nor,but,while,whilst DET=a,an,the,no,any,every,several ADP=without,w/o,with "
    "WH=who,which,where PRON=i,nobody,none,nothing,anything,anyone,everything ADV=please,really,nowhere "
    "ADJ=-free,non-,non"
)
_CLITICS = {"s": "'s", "re": "'re", "m": "'m", "ll": "'ll", "ve": "'ve"}  # datasets drop apostrophes: "it s", "we re"


class QuickHanta(HanoverTagger):  # type: ignore[misc]  # HanTa has no types
    """HanTa with the same answers in less time, but for long words, of which only the end is analysed.

    Words that its lexicon lacks are remembered; the best tags of a sentence are sought among the tags of its words
    instead of all 64.
    """

    def __init__(self) -> None:
        """Load the model, 0.1 s."""
        super().__init__("morphmodel_en.pgz")
        self._tags = lru_cache(_NUM_WORDS)(self._find_tags)
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
        tags = [(tag, value) for tag, value in found if self.int2tag[tag] in {"NN1", "NN2", "VVG", "AJ0"}]
        return tags or [(self.tag2int["AJ0"], -18.0)]

    def _find_tags(self, word: str, casesensitive: bool) -> dict[int, float]:
        tags = dict(self._tag_word(word, cutoff=5, casesensitive=casesensitive, conditional=True))
        return {} if tags.keys() == {UNKNOWN} else tags

    def tag_sent_viterbi(self, sent: Sequence[str], casesensitive: bool = True) -> list[int]:
        """Return the most probable tags of a sentence, as numbers."""
        row: dict[tuple[int, int], float] = {(EMPTY, START): 0.0}
        pointers: list[dict[tuple[int, int], tuple[int, int]]] = []
        for i, word in enumerate(sent):
            tags = self._tags(word, casesensitive and i > 0)
            values = sorted(row.values())
            lowest = max(values[-6] - 1 if len(values) > 5 else -inf, values[-1] - _HOPELESS_NATS)
            before, row = row, {}
            pointers.append({})
            for state, value in before.items():
                following = self.LP_trans_word[state]
                if value < lowest:
                    continue
                for tag, chance in (tags or dict.fromkeys(following.keys() - {END}, 0.0)).items():
                    total = value + following.get(tag, -inf) + chance
                    if total > row.get((state[1], tag), -1e6):
                        row[state[1], tag] = total
                        pointers[-1][state[1], tag] = state
        best = max(row, key=lambda state: row[state] + self.LP_trans_word[state].get(END, -inf))
        found = []
        for steps in reversed(pointers):
            found.append(best[1])
            best = steps[best]
        return found[::-1]


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
        words = [_CLITICS.get(word, word) if i and words[i - 1].isalpha() else word for i, word in enumerate(words)]
        found = self._tag_words(words)
        tags, lemmas = map(list, zip(*found, strict=True)) if found else ([], [])
        tags = [_BY_WORD.get(word) or ("NOUN" if " " in word else tag) for word, tag in zip(words, tags, strict=True)]
        for i, word in enumerate(words):
            tags[i], before = self._repairs.tag(words, tags, i), tags[i]
            if tags[i] in VERB_TAGS and _is_name(text, spans, i):
                tags[i] = "NOUN"
            if tags[i] != before:
                lemmas[i] = partial(self._lemma, word, tags[i])
        if (verb := self._repairs.missing_verb(words, tags, lemmas)) is not None:
            i, tags[i] = verb
            lemmas[i] = partial(self._lemma, words[i], tags[i])
        return [
            Token(text[start:end], tag, lemma, start, end)
            for (start, end), tag, lemma in zip(spans, tags, lemmas, strict=True)
        ]

    def _tag_words(self, words: Sequence[str]) -> list[tuple[str, Lemma]]:
        tags = self._hanta.tag_sent(words, taglevel=0)
        return [(_mapped(_C5, tag), partial(self._lemmas, word, tag)) for word, tag in zip(words, tags, strict=True)]

    def _lemma(self, word: str, tag: str) -> str:
        return HELPERS[word] if word in HELPERS else self._lemmas(word, _PENN_TO_C5.get(tag, "EMPTY"))

    def _find_lemma(self, word: str, tag: str) -> str:
        if _is_long_compound(word):
            start = word.rindex("-") + 1
            return word[:start] + self._lemmas(word[start:], tag)
        return str(self._hanta.analyze(word, pos=tag)[0]).lower()

    def _look_up(self, word: str) -> dict[str, float]:
        return {tag: float(value) for tag, value in self._hanta.tag_word(word, cutoff=8)}


class NltkTagger(Tagger):
    """NLTK's averaged perceptron (Penn tags, mapped), with HanTa's lemmas: NLTK has no data for them."""

    def __init__(self) -> None:
        """Load both models, 0.3 s.

        Raises:
            LookupError: if NLTK's data is not installed; `load_tagger` checks this first.
        """
        super().__init__()
        self._perceptron: Any = PerceptronTagger()

    def _tag_words(self, words: Sequence[str]) -> list[tuple[str, Lemma]]:
        return [
            (_mapped(_PENN, tag) if word[0].isalnum() or tag == "POS" else "PUNCT", partial(self._lemma, word, tag))
            for word, tag in self._perceptron.tag(words)
        ]


@cache
def load_tagger() -> Tagger:
    """Return NLTK's tagger if its data is installed, otherwise HanTa's, whose wheel includes its model (0.1 s)."""
    try:
        nltk.data.find(NLTK_DATA)
    except LookupError:
        return Tagger()
    return NltkTagger()


def _is_long_compound(word: str) -> bool:
    """Return whether HanTa would take long, in cubic time, for a word whose last part says enough."""
    return len(word) > _MAX_COMPOUND_CHARS and "-" in word[:-1] and word[-1] != "-"


def _is_name(text: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    """Return whether only word i is capitalised: "an absent Boeing", but not "A Dog Barking"."""
    before = text[slice(*spans[i - 1])] if i else ""
    return (before[:1].islower() or before in {"No", "Without"}) and text[slice(*spans[i])].istitle()


def _mapped(table: dict[str, str], tag: str) -> str:
    return table.get(tag) or table.get(tag[:2]) or "OTHER"
