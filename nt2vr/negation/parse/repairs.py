"""Tag corrections for captions and queries. The taggers were trained on newspapers."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

from nt2vr.negation.parse.tokens import VERB_TAGS, Lemma
from nt2vr.negation.parse.wordlists import listed

HELPERS = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "being", "ai", "'re", "'m"), "be"),
    **dict.fromkeys(("do", "does", "did", "done", "doing"), "do"),
    **dict.fromkeys(("have", "has", "had", "having"), "have"),
}
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
