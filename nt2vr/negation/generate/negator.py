"""Negated captions: the paper's soft negatives (section 3.1.1 and Table 6).

Each verb, auxiliary or "with" of a caption gives the candidates its form allows:

    finds     does not find, doesn't find        running   not running
    drive     do not drive, don't drive          is        is not, isn't
    met       did not meet, didn't meet          with      without

Captions that are already negated become affirmative instead: "without a shirt" gives "with a
shirt". Verbs without visible content ("this is a clip", "talk", which the paper's code skips) are
denied only if the caption has no other.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from nt2vr.negation.generate.actions import is_plural_noun, is_third_person
from nt2vr.negation.parse.cues import no_negation
from nt2vr.negation.parse.inflect import Form, inflect, verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS, Token
from nt2vr.negation.parse.wordlists import listed, listed_runs, renamed

_POSITIVE = renamed(
    "somebody=nobody someone=noone some=none something=nothing both=neither and=nor"
)
_CLIPPED = {"ca": "can", "wo": "will", "ai": "is", "sha": "shall"}  # of can't, won't, ain't, shan't


def affirm(caption: str, phrases: Phrases) -> str | None:
    """Return `caption` without its negations; None if it has none."""
    cues = [i for i in range(len(phrases.tokens)) if _is_cue(phrases, i)]
    if not cues:
        return None
    replaced: dict[int, str] = {}
    for i in cues:
        replaced |= _replacements(phrases, i)
    for i, word in enumerate(phrases.words):
        if word == "but" and i not in replaced:
            replaced[i] = "and"
    text, end = "", 0
    for i, token in enumerate(phrases.tokens):
        text += caption[end : token.start] + replaced.get(i, token.text)
        end = token.end
    return " ".join((text + caption[end:]).split()).replace(" ,", ",")


def _is_cue(phrases: Phrases, i: int) -> bool:
    if phrases.word(i) not in listed("negations"):
        return False
    around = (
        " ".join(phrases.words[j:k])
        for j in range(max(0, i - 3), i + 1)
        for k in range(i + 1, i + 4)
    )
    return not any(run in no_negation() for run in around) and (
        phrases.word(i) != "no"
        or phrases.noun_phrase(i) is not None
        or phrases.word(i + 1) in {"longer", "one"}
    )


def _replacements(phrases: Phrases, i: int) -> dict[int, str]:
    word, following = phrases.word(i), phrases.word(i + 1)
    if word in {"without", "w/o"}:
        if phrases.tag(i + 1) == "VBG":
            return {i: "while", **_any(phrases, i + 2)}
        return {i: "with", **_any(phrases, i + 1)}
    if word == "no":
        if following in {"one", "longer"}:
            return {i: "someone" if following == "one" else "still", i + 1: ""}
        return {i: _article(phrases, i)}
    if word in _POSITIVE:
        return {i: _POSITIVE[word]}
    return {i: "", **_without_do(phrases, i), **_any(phrases, i + 2)}


def _without_do(phrases: Phrases, i: int) -> dict[int, str]:
    """Remove the auxiliary: "does not play" becomes "plays"."""
    helper = phrases.word(i - 1)
    if helper in _CLIPPED:
        return {i - 1: _CLIPPED[helper]}
    verb = phrases.after(i + 1, {"ADV"})
    if helper not in {"do", "does", "did"} or phrases.tag(verb) not in VERB_TAGS:
        return {}
    form: Form = "VBD" if helper == "did" else "VBZ"
    return {
        i - 1: "",
        verb: phrases.word(verb) if helper == "do" else inflect(phrases.lemma(verb), form),
    }


def _any(phrases: Phrases, i: int) -> dict[int, str]:
    return {i: _article(phrases, i)} if phrases.word(i) == "any" else {}


def _article(phrases: Phrases, i: int) -> str:
    """Return the replacement of "no" or "any" at word i: an article before singular count nouns, otherwise none."""
    noun = phrases.noun_phrase(i)
    if noun is None or noun.head == i:
        return ""
    word, lemma = phrases.word(noun.head), phrases.lemma(noun.head)
    is_mass = not listed("mass_nouns").isdisjoint((word, lemma))
    if is_mass or is_plural_noun(word, lemma) or phrases.tag(noun.head) != "NOUN":
        return ""
    return "an" if phrases.word(i + 1)[0] in "aeiou" else "a"


_CONTRACTED = {"can": "can't", "will": "won't", "shall": "shan't", "am": "", "may": "", "might": ""}
_AGENTS = ("er", "or", "ist")
_BEFORE_NOUNS = frozenset({"DET", "ADJ", "NUM", "POS", "ADP"})
_ADDED = {  # tag and lemma of added words; any other is a verb in its base form
    "not": ("NEG", "not"),
    "without": ("ADP", "without"),
    "do": ("VBP", "do"),
    "does": ("VBZ", "do"),
    "did": ("VBD", "do"),
}
_CACHED_CAPTIONS = 100_000  # about 100 MB


class _Edit(NamedTuple):
    start: int
    end: int
    texts: tuple[str, ...]
    says_little: bool

    def applied(self, caption: str) -> tuple[str, ...]:
        """Return the caption with each of the texts filled in."""
        return tuple(caption[: self.start] + text + caption[self.end :] for text in self.texts)


@lru_cache(maxsize=_CACHED_CAPTIONS)
def negations(caption: str) -> tuple[str, ...]:
    """Return all ways to deny one thing in `caption`, in word order; about 1 ms, cached for later epochs."""
    phrases = Phrases(load_tagger().tag(caption))
    if (affirmative := affirm(caption, phrases)) is not None:
        return (affirmative,)
    return tuple(dict.fromkeys(text for edit in _edits(phrases) for text in edit.applied(caption)))


def denials(caption: str, phrases: Phrases) -> Iterator[tuple[tuple[str, ...], Phrases]]:
    """Yield, for each thing in an affirmative caption, its denied versions and the tagged words of the first one."""
    for edit in _edits(phrases):
        yield edit.applied(caption), Phrases(_tokens(phrases, edit))


def _edits(phrases: Phrases) -> list[_Edit]:
    numbers = range(len(phrases.tokens))
    edits = [edit for i in numbers if (edit := _edit(phrases, i))]
    edits = edits or [edit for i in numbers if (edit := _mistagged(phrases, i))][:1]
    return [edit for edit in edits if not edit.says_little] or edits


def _tokens(phrases: Phrases, edit: _Edit) -> list[Token]:
    """Return the tagged words of an edited caption; unchanged words keep their tags."""
    text, tokens = edit.texts[0], phrases.tokens
    replaced = {
        token.text.lower(): token for token in tokens if edit.start <= token.start < edit.end
    }
    made, end = list[Token](), 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        tag, lemma = _ADDED.get(word, ("VB", word))
        if old := replaced.get(word.lower()):
            tag, lemma = old.tag, old.lemma
        made.append(Token(word, tag, partial(str, lemma), edit.start + start, edit.start + end))
    longer = len(text) - (edit.end - edit.start)
    after = (token._replace(start=token.start + longer, end=token.end + longer) for token in tokens)
    return [
        *(token for token in tokens if token.end <= edit.start),
        *made,
        *(token for token in after if token.start >= edit.start + len(text)),
    ]


def _edit(phrases: Phrases, i: int) -> _Edit | None:
    tag = phrases.tag(i)
    if tag in VERB_TAGS:
        return _auxiliary(phrases, i) if phrases.is_auxiliary(i) else _verb(phrases, i)
    if phrases.word(i) == "with" and _can_be_without(phrases, i):
        return _Edit(
            phrases.tokens[i].start, phrases.tokens[i].end, ("without",), says_little=False
        )
    return None


def _mistagged(phrases: Phrases, i: int) -> _Edit | None:
    """Deny a verb that the tagger takes for a noun, in a caption with no other verb: "a player scores a goal"."""
    word, verb, token = phrases.word(i), verb_of(phrases.word(i)), phrases.tokens[i]
    if (
        token.tag not in {"NOUN", "VBZ", "VBG"}
        or not verb
        or word in listed("taken_for_verbs", "video_words")
    ):
        return None
    after_colour = phrases.tag(i - 1) == "ADJ" and phrases.word(i - 2) == "in"
    if word == inflect(verb, "VBG") and after_colour:  # a man in black playing
        return _Edit(token.start, token.start, ("not ",), says_little=False)
    do, acts = "do", word == verb and _follows_many(phrases, i)
    if word == inflect(verb, "VBZ"):
        do, acts = "does", _follows_one(phrases, i, after_colour)
    texts = (f"{do} not {verb}", f"{do}n't {verb}")
    return _Edit(token.start, token.end, texts, verb in listed("uninformative")) if acts else None


def _follows_one(phrases: Phrases, i: int, after_colour: bool) -> bool:
    """Return whether word i, like "scores", has a singular subject before it and something to its right."""
    before, after = phrases.word(i - 1), phrases.tag(i + 1)
    if after_colour or (phrases.tag(i - 1) == "ADJ" and before.endswith(_AGENTS)):
        return after in {"DET", "ADP", "ADV"}
    if phrases.tag(i - 1) != "NOUN" or is_plural_noun(before, phrases.lemma(i - 1)):
        return False
    acts = before in listed("actors", "roles") or before.endswith(_AGENTS)
    return after == "DET" or (acts and after in {"ADP", "ADV"} and phrases.word(i + 1) != "of")


def _follows_many(phrases: Phrases, i: int) -> bool:
    """Return whether word i, like "kick", has a plural subject before it and an object after it."""
    if phrases.tag(i - 1) != "NOUN" or phrases.word(i) in listed("events"):
        return False
    lemma, after = phrases.lemma(i - 1), phrases.word(i + 1)
    if after in {"each", "together", "along"} or phrases.tag(i + 1) == "DET":
        return is_plural_noun(phrases.word(i - 1), lemma) or after in {"each", "together"}
    is_object = phrases.tag(i + 1) == "NOUN" and is_plural_noun(after, phrases.lemma(i + 1))
    return is_object and lemma in listed("actors") and is_plural_noun(phrases.word(i - 1), lemma)


def _auxiliary(phrases: Phrases, i: int) -> _Edit | None:
    """Put "not" after an auxiliary or contract it: is not, isn't."""
    word, token = phrases.word(i), phrases.tokens[i]
    around = (phrases.tag(i - 1), phrases.tag(i + 1))
    if word == "being" and around == ("NOUN", "VBN") and phrases.word(i - 1) != "human":
        return _Edit(
            token.start, token.start, ("not ",), says_little=False
        )  # a car not being driven
    if token.tag not in FINITE_TAGS or around[0] == "MD" or around[1] == "NEG":
        return None
    short = _CONTRACTED.get(word, "" if word in listed("clitics") else f"{token.text}n't")
    texts = (f"{token.text} not", short) if short else (f"{token.text} not",)
    before, after = phrases.lemma(i - 1), phrases.lemma(i + 1)
    says_little = before in listed("video_words") or after in listed("uninformative", "video_words")
    return _Edit(token.start, token.end, texts, says_little)


def _verb(phrases: Phrases, i: int) -> _Edit | None:
    """Put "not" before a participle; replace a finite verb by "do not" and its base form."""
    before, before_that = phrases.tag(i - 1), phrases.tag(i - 2)
    if (
        before in _BEFORE_NOUNS
        or "NEG" in (before, before_that)
        or phrases.word(i) in listed("taken_for_verbs")
    ):
        return None
    lemma = phrases.lemma(i)
    lemma = lemma if verb_of(lemma) == lemma else verb_of(phrases.word(i))
    of_frame = {"have", "feature"} if phrases.lemma(i - 1) in listed("video_words") else set()
    says_little = lemma in listed("uninformative") | of_frame
    first = i  # an adverb before the verb stays with it: does not quickly run
    while phrases.tag(first - 1) == "ADV" and phrases.word(first - 1).endswith("ly"):
        first -= 1
    if phrases.tag(i) in {"VBG", "VBN"}:
        if not _is_participle_clause(phrases, first, i):
            return None
        first -= f"{phrases.word(first - 1)} {phrases.word(i)}" in listed_runs("compound_verbs")
        start = phrases.tokens[first].start
        return _Edit(start, start, ("not ",), says_little)
    return _finite_verb(phrases, first, i, lemma, says_little)


def _finite_verb(
    phrases: Phrases, first: int, i: int, lemma: str, says_little: bool
) -> _Edit | None:
    tag, start = phrases.tag(i), phrases.tokens[first].start
    if not _is_finite(phrases, first, i) or not lemma:  # not a verb in the dictionary: "bollywood"
        return None
    if (
        tag == "VBD"
        and phrases.tag(i + 1) == "ADP"
        and phrases.tag(i - 1) == "NOUN"
        and _finite_follows(phrases, i)
    ):
        return _Edit(start, start, ("not ",), says_little)  # a man dressed in red dances
    do = {"VBZ": "does", "VBD": "did"}.get(tag) or ("does" if is_third_person(phrases, i) else "do")
    base = "".join(f"{phrases.word(j)} " for j in range(first, i)) + inflect(lemma, "VB")
    return _Edit(start, phrases.tokens[i].end, (f"{do} not {base}", f"{do}n't {base}"), says_little)


def _is_finite(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a non-participle is a finite verb; not in "checking twitter", "is fell" or "he test drove"."""
    if first > 0 and phrases.tag(i) in {"VB", "VBP"} and phrases.tag(i - 1) == "VBG":
        return False
    before = phrases.word(first - 1)
    is_second = before in listed_runs("compound_verbs").openers - listed("things_first")
    if first > 0 and (phrases.lemma(i - 1) == "be" or is_second):
        return False
    return phrases.tag(i) != "VB" or not _is_infinitive(phrases, first)


def _is_participle_clause(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a participle is the predicate of its subject: "a man running", but not "a running man"."""
    after = phrases.tag(i + 1)
    if (
        phrases.is_auxiliary(first - 1) or phrases.word(first - 1) == "being"
    ):  # the auxiliary is denied
        return False
    match phrases.tag(first - 1):
        case "":
            return phrases.tag(i) == "VBG" and after != "NOUN"
        case "CONJ" | "PUNCT" | "PRON" | "WH":
            return True
        case "ADV":
            return first > 1 or after != "NOUN"  # fast moving time
        case "NOUN" if phrases.tag(i) == "VBN":
            return after in {"ADP", "ADV", ""}
        case "NOUN":  # about horse racing
            is_bare = phrases.lemma(first - 1) == phrases.word(first - 1)
            return not (
                is_bare
                and phrases.tag(first - 2) == "ADP"
                and phrases.word(first - 2) in listed("of_sports")
            )
        case before:  # starts running; showing helping hands
            return (
                before in VERB_TAGS
                and phrases.lemma(first - 1) not in listed("takes_gerund")
                and after != "NOUN"
            )


def _is_infinitive(phrases: Phrases, first: int) -> bool:
    """Return whether a base form depends on "to", a modal or another verb: "watch a man sing"."""
    if phrases.tag(first - 1) in {"TO", "MD"}:
        return True
    return any(
        phrases.lemma(j) in listed("takes_infinitive")
        or phrases.tag(j) in {"MD", "TO"}
        or phrases.lemma(j) == "do"
        for j in range(max(0, first - 6), first)
        if phrases.tag(j) in {*VERB_TAGS, "TO"}
    )


def _finite_follows(phrases: Phrases, i: int) -> bool:
    ends = {"CONJ", "WH", "PUNCT", *FINITE_TAGS}
    return (
        next((token.tag for token in phrases.tokens[i + 1 :] if token.tag in ends), "")
        in FINITE_TAGS
    )


def _can_be_without(phrases: Phrases, i: int) -> bool:
    noun = phrases.noun_phrase(i + 1)
    if noun is None or phrases.word(i + 1) == "each" or phrases.word(i - 1) in listed("together"):
        return False
    held = phrases.lemma(i - 1) in listed("needs_with") and phrases.tag(i - 1) in VERB_TAGS | {
        "ADJ"
    }
    return not held and phrases.lemma(noun.head) not in listed("sounds")
