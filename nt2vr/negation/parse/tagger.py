"""Part-of-speech tagging by HanTa, with corrections for captions and queries.

Its tags are mapped to a small tagset:

    NOUN PRON DET ADJ ADV NUM ADP CONJ WH NEG TO POS PUNCT OTHER
    VB VBZ VBP VBD VBG VBN MD (Penn's verb forms, which the negator needs; MD for can, will, must …)

DET: articles, demonstratives, possessives. WH: who, which, where, and relative "that". NEG: not, n't, never. POS: the
possessive 's. OTHER: anything but English (emoji, other scripts).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from math import inf
from typing import Any

from HanTa.HanoverTagger import EMPTY, END, START, UNKNOWN, HanoverTagger

from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS, Lemma, Token, as_tagged, word_spans
from nt2vr.negation.parse.wordlists import listed, renamed

_LIKELY_NATS = 1.0  # margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays
_UNKNOWN_NATS = -20.0  # below this HanTa guesses from the ending
_THINGS_IN_ING = frozenset({"building", "painting"})  # may be nouns even after a noun: "an office building"
_BASE = frozenset({"VVB", "VVI", "VDB", "VDI", "VHB", "VHI"})
_DOUBTFUL = frozenset({"NOUN", "ADJ", "VB", "VBP", "VBD", "VBZ", "MD", "NUM"})
_DENYING = frozenset("no not n't without w/o w/out sans lack lacks lacking excludes omits nor neither missing".split())
_DENYING_OF = frozenset("free devoid void empty absence sign trace hint bereft bare".split())
_ARTICLES = frozenset({"a", "an", "any", "the", "single"})
_ENDS = frozenset({"", "PUNCT", "CONJ", "WH"})
_OBJECT_NEXT = frozenset({"VB", "VBG"})
_THIRD_PERSON = frozenset({"VVZ", "VBZ", "VDZ", "VHZ"})


class Repairs:
    """Corrects the tags of one sentence.

    Args:
        chances: returns the readings of a word: C5 tags with their log-probabilities.
    """

    def __init__(self, chances: Callable[[str], Mapping[str, float]]) -> None:
        self._log_probabilities = chances

    def tag(self, words: Sequence[str], tags: Sequence[str], i: int) -> str:
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
        tag = tags[i]
        if tag not in _DOUBTFUL:
            return tag
        chances, word_before = self._log_probabilities(words[i]), words[i - 1] if i else ""
        if tag == "NUM":
            return "NOUN" if words[i].isalpha() and chances.get("CRD", 0) < _UNKNOWN_NATS else tag  # kiwi
        if tag in {"NOUN", "ADJ"}:
            return self._verb_after_all(words, tags, i, chances) or tag
        if not chances.keys().isdisjoint({"NN1", "NN2"}) and (
            _ends_denied_noun(words, tags, i) or word_before in {"a", "an", "any", "no"}
        ):
            return "NOUN"  # no bus stop; without a can
        if tag == "VBZ" and word_before in listed("denying_things"):
            return "NOUN"  # sans subtitles
        if tag == "VBZ" and "NN2" in chances:
            after_verb = i > 0 and tags[i - 1] in _OBJECT_NEXT and tags[i + 1 : i + 2] != ["DET"]
            is_noun = after_verb or chances.keys().isdisjoint(_THIRD_PERSON)  # but: not singing plays the
            return "NOUN" if is_noun else tag  # making leaves from clay
        if tag in {"VB", "VBP"} and "NN1" in chances and chances.keys().isdisjoint(_BASE):
            return "NOUN"  # not wine
        return tag

    @staticmethod
    def _after_negated_verb(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
        while i and tags[i - 1] == "ADV":
            i -= 1
        return i > 1 and tags[i - 1] == "NEG" and HELPERS.get(words[i - 2]) == "do"

    def missing_verb(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[Lemma]
    ) -> tuple[int, str] | None:
        """Position and tag of the verb in a caption tagged without one: "a man loads a clip", "people dance"."""
        if any(tag in VERB_TAGS and not _describes(tags, i) for i, tag in enumerate(tags)):
            return None
        for i in range(1, len(words)):
            after = tags[i + 1] if i + 1 < len(words) else ""
            follows_actor = tags[i] == "NOUN" and lemmas[i - 1]() in listed("actors", "roles")
            if follows_actor and after in {"DET", "PRON", "ADP", "ADV", ""}:
                if words[i].endswith("ing"):
                    return (i, "VBG") if words[i] not in _THINGS_IN_ING else None
                if form := self._form_after_actor(words, tags, lemmas, i, after):
                    return i, form
        return None

    def _form_after_actor(
        self, words: Sequence[str], tags: Sequence[str], lemmas: Sequence[Lemma], i: int, after: str
    ) -> str | None:
        """Tag of word i as the finite verb of the actor before it, if it may be one."""
        word, actor = words[i], words[i - 1]
        plural = actor != lemmas[i - 1]() or actor in {"people", "men", "women"}
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
        self, words: Sequence[str], tags: Sequence[str], i: int, chances: Mapping[str, float]
    ) -> str | None:
        """Verb tag of a word tagged as a noun, if its neighbours and its form say so."""
        word, word_before = words[i], words[i - 1] if i else ""
        before, before_that = tags[i - 1] if i else "", tags[i - 2] if i > 1 else ""
        noun = max(chances.get("NN1", -inf), chances.get("NN2", -inf))
        if before in {"DET", "ADJ", "NUM"} or word_before in listed("denying_things"):
            return None  # a fight; exclude fights
        if word.endswith("s") and (
            word_before in {"nobody", "noone", "nothing"} or list(words[max(0, i - 2) : i]) == ["no", "one"]
        ):
            return "VBZ"  # nobody strums
        if word.endswith("ing"):
            sure = before in {"PRON", "NEG"} or HELPERS.get(word_before) == "be"  # not painting
            return "VBG" if sure or _may_be_progressive(word, chances, noun) else None
        if before == "NEG" and (before_that == "MD" or (i > 1 and HELPERS.get(words[i - 2]) == "do")):
            return "VB"  # doesn't pitch a ball
        third_person = chances.get("VVZ", -inf)
        after_subject = before in {"PRON", "WH"} or (before == "NOUN" and before_that in {"DET", "ADJ", "NUM"})
        if after_subject and third_person > -inf and not word_before.endswith("s"):  # a man dances
            return "VBZ"
        if before == "ADP" or (before in _OBJECT_NEXT and tags[i + 1 : i + 2] != ["DET"]):
            return None  # taking turns
        return "VBZ" if third_person > noun - _LIKELY_NATS else None  # but not sits


def _may_be_progressive(word: str, chances: Mapping[str, float], noun: float) -> bool:
    """Return whether a word in -ing is more than a noun: "surfing", but not "building"."""
    known = not chances.keys().isdisjoint({"VVG", "VDG"}) or noun < _UNKNOWN_NATS
    return known and word not in _THINGS_IN_ING


def _ends_denied_noun(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Return whether word i ends a compound after a cue, where a verb would not agree or not fit."""
    if i < 2 or tags[i - 1] != "NOUN" or tags[i] == "MD":
        return False
    cue = i - 2
    while cue > max(0, i - 5) and (tags[cue] in {"NOUN", "ADJ", "NUM"} or words[cue] in _ARTICLES):
        cue -= 1
    after = tags[i + 1] if i + 1 < len(tags) else ""
    if not _denies(words, tags, cue):
        return False
    if words[cue] != "no" and after == "NOUN":
        return True  # without chain saw noises
    noun = words[i - 1]
    plural = noun in {"people", "men", "women", "children"} or (
        noun[-1] == "s" and noun[-2:] not in {"ss", "us", "is"}
    )
    if plural or tags[i] == "VBZ":  # no bus stops are visible, no traffic lights in sight; but: no dog barks
        return after in VERB_TAGS or list(words[i + 1 : i + 3]) in (["in", "sight"], ["in", "view"], ["to", "be"])
    return after in _ENDS | VERB_TAGS | {"ADP", "ADV"}


def _denies(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Return whether a denied noun may follow word i: "no", "devoid of", "does not show", "absent is"."""
    before = words[i - 1] if i else ""
    return (
        words[i] in _DENYING
        or (words[i] == "of" and before in _DENYING_OF)
        or (words[i] in {"is", "are"} and before in {"absent", "missing"})
        or (tags[i] in VERB_TAGS and i > 0 and tags[i - 1] == "NEG")
    )


def _describes(tags: Sequence[str], i: int) -> bool:
    """Return whether word i modifies the next noun: "a grey haired man"."""
    return i > 0 and tags[i - 1] in {"DET", "ADJ", "ADP"} and tags[i + 1 : i + 2] == ["NOUN"]


_MAX_COMPOUND_CHARS = 10
_MAX_ANALYSED_CHARS = 12  # the ending tells the tag, and HanTa takes cubic time in the length of a word
_HOPELESS_NATS = 8.0  # a tag this far behind does not win: the tags of 7,703 captions are HanTa's
_NUM_WORDS = 10_000  # remembered per kind of look-up

_C5_FORMS = {"Z": "VBZ", "B": "VBP", "D": "VBD", "I": "VB", "G": "VBG", "N": "VBN"}
_C5 = {f"V{verb}{form}": tag for verb in "BDHV" for form, tag in _C5_FORMS.items()} | renamed(
    "DET=AT0,DPS,DT0 WH=DTQ,AVQ,PNQ,CJT NUM=CRD,ORD MD=VM0 TO=TO0 POS=POS NEG=XX0 PRON=EX0,PN ADJ=AJ ADV=AV CONJ=CJ "
    "NOUN=NN,NP ADP=PR PUNCT=PU"
)  # by full tag, otherwise by its first two letters
_PENN_TO_C5 = {tag: f"VV{form}" for form, tag in _C5_FORMS.items()} | {"NN": "NN1", "NNS": "NN2"}
_BY_WORD = renamed(
    "NEG=not,n't,nt,never CONJ=and,or,nor,but,while,whilst DET=a,an,the,no,any,every,several ADP=without,w/o,with "
    "WH=who,which,where PRON=i,nobody,none,nothing,anything,anyone,everything ADV=please,really,nowhere "
    "ADJ=-free"
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
        return [(_mapped(tag), partial(self._lemmas, word, tag)) for word, tag in zip(words, tags, strict=True)]

    def _lemma(self, word: str, tag: str) -> str:
        return HELPERS[word] if word in HELPERS else self._lemmas(word, _PENN_TO_C5.get(tag, "EMPTY"))

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


def _is_name(text: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    """Return whether only word i is capitalised: "an absent Boeing", but not "A Dog Barking"."""
    before = text[slice(*spans[i - 1])] if i else ""
    return (before[:1].islower() or before in {"No", "Without"}) and text[slice(*spans[i])].istitle()


def _mapped(tag: str) -> str:
    return _C5.get(tag) or _C5.get(tag[:2]) or "OTHER"
