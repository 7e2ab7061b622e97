"""Part-of-speech tagging: NLTK's tagger if its data is installed, HanTa's otherwise. Downloads nothing.

Both are mapped to one small tagset:

    NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER
    VB VBZ VBP VBD VBG VBN MD (Penn's verb forms, which the negator needs; MD for can, will, must …)

DET: articles, demonstratives, possessives. WH: who, which, where, and relative "that". NEG: not, n't, never. POS: the
possessive 's. OTHER: anything but English (emoji, other scripts).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple, Protocol

import nltk
from HanTa.HanoverTagger import HanoverTagger
from nltk.tag.perceptron import PerceptronTagger
from nltk.tokenize import NLTKWordTokenizer

from nt2vr.language.wordlists import ACTORS, ROLES

VERB_TAGS = frozenset({"VB", "VBZ", "VBP", "VBD", "VBG", "VBN", "MD"})
FINITE_TAGS = frozenset({"VBZ", "VBP", "VBD", "MD"})
NLTK_DATA = "taggers/averaged_perceptron_tagger_eng"

_C5_FORMS = {"Z": "VBZ", "B": "VBP", "D": "VBD", "I": "VB", "G": "VBG", "N": "VBN"}
_MAX_WORD_CHARS = 30  # HanTa takes cubic time in the length of a word; no English word here is longer
_LIKELY_NATS = 1.0  # margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays
_UNKNOWN_NATS = -20.0  # below this HanTa guesses from the ending
_THINGS_IN_ING = frozenset({"building", "painting"})  # may be nouns even after a noun: "an office building"

_C5 = {  # by full tag, otherwise by its first two letters
    "AT0": "DET", "DPS": "DET", "DT0": "DET", "DTQ": "WH", "AVQ": "WH", "PNQ": "WH", "CJT": "WH", "CRD": "NUM",
    "ORD": "NUM", "VM0": "MD", "TO0": "TO", "POS": "POS", "XX0": "NEG", "EX0": "PRON", "AJ": "ADJ", "AV": "ADV",
    "CJ": "CONJ", "NN": "NOUN", "NP": "NOUN", "PN": "PRON", "PR": "ADP", "PU": "PUNCT",
    **{f"V{verb}{form}": tag for verb in "BDHV" for form, tag in _C5_FORMS.items()},
}  # fmt: skip
_PENN = {  # by full tag, otherwise by its first two letters
    "DT": "DET", "PDT": "DET", "PRP$": "DET", "RP": "ADV", "IN": "ADP", "CD": "NUM", "CC": "CONJ", "TO": "TO",
    "POS": "POS", "PRP": "PRON", "EX": "PRON", "NN": "NOUN", "JJ": "ADJ", "RB": "ADV", "WD": "WH", "WP": "WH",
    "WR": "WH", **{tag: tag for tag in VERB_TAGS},
}  # fmt: skip
_PENN_TO_C5 = {tag: f"VV{form}" for form, tag in _C5_FORMS.items()} | {"NN": "NN1", "NNS": "NN2"}
_BY_WORD = {
    **dict.fromkeys(("not", "n't", "nt", "never"), "NEG"),
    **dict.fromkeys(("and", "or", "nor", "but", "while", "whilst"), "CONJ"),
    **dict.fromkeys(("a", "an", "the", "no", "any", "every", "several"), "DET"),
    **dict.fromkeys(("without", "w/o", "with"), "ADP"),
    **dict.fromkeys(("who", "which", "where"), "WH"),
    **dict.fromkeys(("i", "nobody", "none", "nothing", "anything", "anyone", "everything"), "PRON"),
    **dict.fromkeys(("please", "really"), "ADV"),
}
_CONTRACTED = (
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "ca",
    "could",
    "wo",
    "would",
    "ai",
)
_HELPERS = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "being", "ai", "'re", "'m"), "be"),
    **dict.fromkeys(("do", "does", "did", "done", "doing"), "do"),
    **dict.fromkeys(("have", "has", "had", "having"), "have"),
}
_TOKENIZER = NLTKWordTokenizer()
_BASE = frozenset({"VVB", "VVI", "VDB", "VDI", "VHB", "VHI"})
_OBJECT_NEXT = frozenset({"VB", "VBG"})
_THIRD_PERSON = frozenset({"VVZ", "VBZ", "VDZ", "VHZ"})
_CLITICS = {"s": "'s", "re": "'re", "m": "'m", "ll": "'ll", "ve": "'ve"}  # datasets drop apostrophes: "it s", "we re"
_WITH_IS = frozenset({"thats", "whos", "theres", "hes", "shes"})
_SAME_LENGTH = str.maketrans(
    {ord("\u2019"): "'", ord("\u2018"): "'", **dict.fromkeys(map(ord, '`"\u201c\u201d\x00'), " ")}
)


class Token(NamedTuple):
    """One word of a sentence: `text` is `sentence[start:end]`, `tag` is from this module's tagset."""

    text: str
    tag: str
    lemma: str
    start: int
    end: int


class Tagger(Protocol):
    """Tags the words of a sentence."""

    def tag(self, text: str) -> list[Token]:
        """Return the words and punctuation marks of `text`, in order."""
        ...


def load_tagger() -> Tagger:
    """Return NLTK's tagger if its data is installed, otherwise HanTa's, whose wheel includes its model (0.1 s)."""
    try:
        nltk.data.find(NLTK_DATA)
    except LookupError:
        return HantaTagger()
    return NltkTagger()


class HantaTagger:
    """HanTa's English model (CLAWS C5 tags, mapped)."""

    def __init__(self) -> None:
        """Load the model, 0.1 s."""
        self._hanta: Any = HanoverTagger("morphmodel_en.pgz")
        self._log_probabilities = lru_cache(maxsize=10_000)(self._look_up)
        self._lemmas = lru_cache(maxsize=10_000)(self._find_lemma)

    def tag(self, text: str) -> list[Token]:
        """Return the words and punctuation marks of `text`, in order."""
        spans = _word_spans(text)
        words = [_as_tagged(text[start:end]) for start, end in spans]
        words = [_CLITICS.get(word, word) if i and words[i - 1].isalpha() else word for i, word in enumerate(words)]
        tagged = self._tag_words(words)
        tags = [_BY_WORD.get(word, tag) for word, (tag, _) in zip(words, tagged, strict=True)]
        lemmas = [lemma for _, lemma in tagged]
        for i, word in enumerate(words):
            tags[i], before = self._repaired(words, tags, i), tags[i]
            if tags[i] != before:
                lemmas[i] = self._lemma(word, tags[i])
        if (verb := self._missing_verb(words, tags, lemmas)) is not None:
            i, tags[i] = verb
            lemmas[i] = self._lemma(words[i], tags[i])
        return [
            Token(text[start:end], tag, lemma, start, end)
            for (start, end), tag, lemma in zip(spans, tags, lemmas, strict=True)
        ]

    def _tag_words(self, words: Sequence[str]) -> list[tuple[str, str]]:
        tags = self._hanta.tag_sent(words, taglevel=0)  # without lemmas, which would double the time
        return [(_mapped(_C5, tag), self._lemmas(word, tag)) for word, tag in zip(words, tags, strict=True)]

    def _lemma(self, word: str, tag: str) -> str:
        return _HELPERS[word] if word in _HELPERS else self._lemmas(word, _PENN_TO_C5.get(tag, "EMPTY"))

    def _find_lemma(self, word: str, tag: str) -> str:
        return str(self._hanta.analyze(word, pos=tag)[0]).lower()

    def _look_up(self, word: str) -> dict[str, float]:
        return {tag: float(value) for tag, value in self._hanta.tag_word(word, cutoff=8)}

    def _repaired(self, words: Sequence[str], tags: Sequence[str], i: int) -> str:
        """Correct the tag of word i where both taggers, trained on newspapers, misread captions."""
        return self._tag_by_word(words, tags, i) or self._tag_by_lexicon(words, tags, i)

    def _tag_by_word(self, words: Sequence[str], tags: Sequence[str], i: int) -> str | None:
        """Tag of a few frequent words by their neighbours."""
        tag, before = tags[i], tags[i - 1] if i else ""
        match words[i]:
            case "to":
                return "TO" if i + 1 < len(tags) and tags[i + 1] in {"VB", "VBP"} else "ADP"
            case "that":
                return "WH" if before in {"NOUN", "PRON"} else "DET"
            case "run" | "come" if tag == "VBN" and i and before not in VERB_TAGS:
                return "VBP"
            case "like" if tag in {"ADP", "ADJ"} and self._after_negated_verb(words, tags, i):
                return "VB"  # doesn't really like
            case "one" if i and words[i - 1] == "no":
                return "PRON"
        return None

    def _tag_by_lexicon(self, words: Sequence[str], tags: Sequence[str], i: int) -> str:
        """Tag of a word whose readings in HanTa's lexicon contradict the tagger."""
        tag, chances = tags[i], self._log_probabilities(words[i])
        if tag in {"NOUN", "ADJ"}:
            return self._verb_after_all(words, tags, i, chances) or tag
        if tag == "VBZ" and "NN2" in chances:
            is_noun = chances.keys().isdisjoint(_THIRD_PERSON) or tags[i - 1] in _OBJECT_NEXT
            return "NOUN" if is_noun else tag  # making leaves from clay
        if tag in {"VB", "VBP"} and "NN1" in chances and chances.keys().isdisjoint(_BASE):
            return "NOUN"  # not wine
        return tag

    @staticmethod
    def _after_negated_verb(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
        while i and tags[i - 1] == "ADV":
            i -= 1
        return i > 1 and tags[i - 1] == "NEG" and _HELPERS.get(words[i - 2]) == "do"

    def _missing_verb(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[str]
    ) -> tuple[int, str] | None:
        """Position and tag of the verb in a caption tagged without one: "a man loads a clip", "people dance"."""
        if any(tag in VERB_TAGS and not _describes(tags, i) for i, tag in enumerate(tags)):
            return None
        for i in range(1, len(words)):
            after = tags[i + 1] if i + 1 < len(words) else ""
            follows_actor = tags[i] == "NOUN" and lemmas[i - 1] in ACTORS | ROLES
            if follows_actor and after in {"DET", "PRON", "ADP", "ADV", ""}:
                if words[i].endswith("ing"):
                    return (i, "VBG") if words[i] not in _THINGS_IN_ING else None
                if form := self._form_after_actor(words, tags, lemmas, i, after):
                    return i, form
        return None

    def _form_after_actor(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[str], i: int, after: str
    ) -> str | None:
        """Tag of word i as the finite verb of the actor before it, if it may be one."""
        word, actor = words[i], words[i - 1]
        plural = actor != lemmas[i - 1] or actor in {"people", "men", "women"}
        if word.endswith("s"):
            determined = i == 1 or tags[i - 2] in VERB_TAGS | {"DET", "NUM", "ADJ"}
            return "VBZ" if not plural and determined and self._may_be_verb(word[:-1], word[:-2], word) else None
        agrees = plural or after in {"DET", "PRON"} or "and" in words[:i]
        return "VBP" if agrees and self._may_be_verb(word) else None

    def _may_be_verb(self, *words: str) -> bool:
        return any(
            chances[form] > _UNKNOWN_NATS
            for word in words
            for chances in [self._log_probabilities(word)]
            for form in ("VVB", "VVI", "VVZ")
            if form in chances
        )

    def _verb_after_all(
        self, words: Sequence[str], tags: Sequence[str], i: int, chances: dict[str, float]
    ) -> str | None:
        """Verb tag of a word tagged as a noun, if its neighbours and its form say so."""
        word = words[i]
        before, before_that = tags[i - 1] if i else "", tags[i - 2] if i > 1 else ""
        helper = _HELPERS.get(words[i - 1]) if i else None
        noun = max(chances.get("NN1", -inf), chances.get("NN2", -inf))
        if before in {"DET", "ADJ", "NUM"}:
            return None
        if word.endswith("ing"):
            sure = before in {"PRON", "NEG"} or helper == "be"  # not painting
            return "VBG" if sure or _may_be_progressive(word, chances, noun) else None
        if before == "NEG" and (before_that == "MD" or (i > 1 and _HELPERS.get(words[i - 2]) == "do")):
            return "VB"  # doesn't pitch a ball
        third_person = chances.get("VVZ", -inf)
        after_subject = before in {"PRON", "WH"} or (before == "NOUN" and before_that in {"DET", "ADJ", "NUM"})
        if after_subject and third_person > -inf and not words[i - 1].endswith("s"):  # a man dances
            return "VBZ"
        return "VBZ" if before != "ADP" and third_person > noun - _LIKELY_NATS else None  # but not sits


class NltkTagger(HantaTagger):
    """NLTK's averaged perceptron (Penn tags, mapped), with HanTa's lemmas: NLTK has no data for them."""

    def __init__(self) -> None:
        """Load both models, 0.3 s.

        Raises:
            LookupError: if NLTK's data is not installed; `load_tagger` checks this first.
        """
        super().__init__()
        self._perceptron: Any = PerceptronTagger()

    def _tag_words(self, words: Sequence[str]) -> list[tuple[str, str]]:
        return [
            (_mapped(_PENN, tag) if word[0].isalnum() or tag == "POS" else "PUNCT", self._lemma(word, tag))
            for word, tag in self._perceptron.tag(words)
        ]


def _may_be_progressive(word: str, chances: dict[str, float], noun: float) -> bool:
    """Return whether a word in -ing is more than a noun: "surfing", but not "building"."""
    known = not chances.keys().isdisjoint({"VVG", "VDG"}) or noun < _UNKNOWN_NATS
    return known and word not in _THINGS_IN_ING


def _describes(tags: Sequence[str], i: int) -> bool:
    """Return whether word i modifies the next noun: "a grey haired man"."""
    return i > 0 and tags[i - 1] in {"DET", "ADJ", "ADP"} and tags[i + 1 : i + 2] == ["NOUN"]


def _mapped(table: dict[str, str], tag: str) -> str:
    return table.get(tag) or table.get(tag[:2]) or "OTHER"


def _as_tagged(word: str) -> str:
    """Normalise a word for the taggers: lower case, "n't" for its variants, "x" for overlong words."""
    word = word.translate(_SAME_LENGTH).lower()
    return {"nt": "n't", "n t": "n't"}.get(word, word) if len(word) <= _MAX_WORD_CHARS else "x"


def _ends_in_not(word: str) -> bool:
    return word[-1] == "n" and word[:-1] in _CONTRACTED


def _word_spans(text: str) -> list[tuple[int, int]]:
    """Tokenize; also splits "dont", "don t", a final full stop, and the minus of "beach -man"."""
    spans: list[tuple[int, int]] = []
    same_length = text.translate(_SAME_LENGTH).replace("''", "  ")
    for start, end in _TOKENIZER.span_tokenize(same_length):
        word = same_length[start:end].lower()
        if word == "t" and spans and _ends_in_not(same_length[slice(*spans[-1])].lower()):  # don t
            before, middle = spans.pop()
            spans += [(before, middle - 1), (middle - 1, end)]
            continue
        cut = len(word) - 2 if word[-2:] == "nt" and word[:-2] in _CONTRACTED else 0  # dont, isnt
        if word in _WITH_IS:
            cut = len(word) - 1
        if word[0] == "-" and word[1:2].isalpha() and not same_length[start - 1 : start].strip():
            cut = 1
        elif len(word) > 2 and word[-1] == "." and word[:-1].isalpha():
            cut = len(word) - 1
        spans += [(start, start + cut), (start + cut, end)] if cut else [(start, end)]
    return spans
