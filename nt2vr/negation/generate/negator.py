"""Negated captions: the paper's soft negatives (section 3.1.1 and Table 6).

Each verb, auxiliary or "with" of a caption gives the candidates its form allows:

    finds     does not find, doesn't find        running   not running
    drive     do not drive, don't drive          is        is not, isn't
    met       did not meet, didn't meet          with      without

Captions that are already negated become affirmative instead: "without a shirt" gives "with a
shirt". Verbs without visible content ("this is a clip", "talk", which the paper's code skips) are
denied only if the caption has no other.

Comments with no capital are examples of what their line is about.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from nt2vr.negation.generate.subjects import is_plural_noun, is_third_person
from nt2vr.negation.parse.cues import no_negation
from nt2vr.negation.parse.inflect import inflect, verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS, Token
from nt2vr.negation.parse.wordlists import listed, listed_runs, renamed

# Affirmative words by the negative ones that they replace, of which each pair has the second.
_POSITIVE = renamed(
    "somebody=nobody someone=noone some=none something=nothing both=neither and=nor"
)
# Auxiliaries by what is left of them before "n't".
_CLIPPED = {"ca": "can", "wo": "will", "ai": "is", "sha": "shall"}

# New texts of words by position.
Replacements = dict[int, str]


def affirm(caption: str, phrases: Phrases) -> str | None:
    """Return `caption` without its negations; None if it has none."""
    cues = [i for i in range(len(phrases.tokens)) if _is_cue(phrases, i)]
    if not cues:
        return None
    replacements: Replacements = {}
    for cue in cues:
        replacements |= _affirmation(phrases, cue)
    for i, word in enumerate(phrases.words):
        if word == "but":
            replacements.setdefault(i, "and")

    pieces = []
    end = 0
    for i, token in enumerate(phrases.tokens):
        pieces.append(caption[end : token.start])
        pieces.append(replacements.get(i, token.text))
        end = token.end
    pieces.append(caption[end:])
    return " ".join("".join(pieces).split()).replace(" ,", ",")


def _is_cue(phrases: Phrases, i: int) -> bool:
    word = phrases.word(i)
    if word not in listed("negations") or _is_in_idiom(phrases, i):
        return False
    if word != "no" or phrases.word(i + 1) in {"longer", "one"}:
        return True
    return phrases.noun_phrase(i) is not None


def _is_in_idiom(phrases: Phrases, i: int) -> bool:
    for start in range(max(0, i - 3), i + 1):
        for end in range(i + 1, i + 4):
            if " ".join(phrases.words[start:end]) in no_negation():
                return True
    return False


def _affirmation(phrases: Phrases, cue: int) -> Replacements:
    """Return the replacements that take one cue back."""
    word = phrases.word(cue)
    if word in {"without", "w/o"}:
        if phrases.tag(cue + 1) == "VBG":
            return {cue: "while", **_without_any(phrases, cue + 2)}
        return {cue: "with", **_without_any(phrases, cue + 1)}
    if word == "no":
        following = phrases.word(cue + 1)
        if following == "one":
            return {cue: "someone", cue + 1: ""}
        if following == "longer":
            return {cue: "still", cue + 1: ""}
        return {cue: _article(phrases, cue)}
    if word in _POSITIVE:
        return {cue: _POSITIVE[word]}
    return {cue: "", **_without_do(phrases, cue), **_without_any(phrases, cue + 2)}


def _without_do(phrases: Phrases, cue: int) -> Replacements:
    """Remove the auxiliary: "does not play" becomes "plays"."""
    helper = phrases.word(cue - 1)
    if helper in _CLIPPED:
        return {cue - 1: _CLIPPED[helper]}
    verb = phrases.after(cue + 1, {"ADV"})
    if phrases.tag(verb) not in VERB_TAGS:
        return {}
    match helper:
        case "do":
            return {cue - 1: "", verb: phrases.word(verb)}
        case "does":
            return {cue - 1: "", verb: inflect(phrases.lemma(verb), "VBZ")}
        case "did":
            return {cue - 1: "", verb: inflect(phrases.lemma(verb), "VBD")}
    return {}


def _without_any(phrases: Phrases, i: int) -> Replacements:
    if phrases.word(i) == "any":
        return {i: _article(phrases, i)}
    return {}


def _article(phrases: Phrases, i: int) -> str:
    """Return what replaces "no" or "any" at word i: an article before singular count nouns."""
    noun = phrases.noun_phrase(i)
    if noun is None or noun.head == i or phrases.tag(noun.head) != "NOUN":
        return ""
    word = phrases.word(noun.head)
    lemma = phrases.lemma(noun.head)
    is_mass = word in listed("mass_nouns") or lemma in listed("mass_nouns")
    if is_mass or is_plural_noun(word, lemma):
        return ""
    if phrases.word(i + 1)[0] in "aeiou":
        return "an"
    return "a"


_CONTRACTED = {"can": "can't", "will": "won't", "shall": "shan't", "am": "", "may": "", "might": ""}
_AGENTS = ("er", "or", "ist")
_BEFORE_NOUNS = frozenset({"DET", "ADJ", "NUM", "POS", "ADP"})
# About 100 MB.
_CACHED_CAPTIONS = 100_000


class _TagAndLemma(NamedTuple):
    tag: str
    lemma: str


# Tags and lemmas of words that a denial adds; any other is a verb in its base form.
_ADDED = {
    "not": _TagAndLemma("NEG", "not"),
    "without": _TagAndLemma("ADP", "without"),
    "do": _TagAndLemma("VBP", "do"),
    "does": _TagAndLemma("VBZ", "do"),
    "did": _TagAndLemma("VBD", "do"),
}


class _CaptionDenial(NamedTuple):
    """Characters `start` to `end` of a caption, and texts that deny something there."""

    start: int
    end: int
    texts: tuple[str, ...]
    says_little: bool = False

    def applied(self, caption: str) -> tuple[str, ...]:
        """Return the caption with each of the texts filled in."""
        before = caption[: self.start]
        after = caption[self.end :]
        return tuple(before + text + after for text in self.texts)


@lru_cache(maxsize=_CACHED_CAPTIONS)
def negations(caption: str) -> tuple[str, ...]:
    """Return all ways to deny one thing in `caption`, in word order.

    This takes about 1 ms, and is cached for later epochs.
    """
    phrases = Phrases(load_tagger().tag(caption))
    affirmative = affirm(caption, phrases)
    if affirmative is not None:
        return (affirmative,)
    texts: list[str] = []
    for denial in _denials(phrases):
        texts += denial.applied(caption)
    return tuple(dict.fromkeys(texts))


class DeniedThing(NamedTuple):
    """A caption with one thing denied, in some versions, and the tagged words of the first one."""

    texts: tuple[str, ...]
    phrases: Phrases


def denials(caption: str, phrases: Phrases) -> Iterator[DeniedThing]:
    """Yield the denials of each thing in an affirmative caption."""
    for denial in _denials(phrases):
        yield DeniedThing(denial.applied(caption), Phrases(_tokens(phrases, denial)))


def _denials(phrases: Phrases) -> list[_CaptionDenial]:
    """Return the denials of a caption; those that say little only if there are no others."""
    possible: list[_CaptionDenial] = []
    for i in range(len(phrases.tokens)):
        denial = _denial(phrases, i)
        if denial:
            possible.append(denial)
    if not possible:
        return _denials_of_mistagged(phrases)
    telling = [denial for denial in possible if not denial.says_little]
    return telling or possible


def _denials_of_mistagged(phrases: Phrases) -> list[_CaptionDenial]:
    """Return the denial of the first verb that the tagger takes for a noun, if there is one."""
    for i in range(len(phrases.tokens)):
        denial = _denial_of_mistagged(phrases, i)
        if denial:
            return [denial]
    return []


def _tokens(phrases: Phrases, denial: _CaptionDenial) -> list[Token]:
    """Return the tagged words of a caption with a denial; unchanged words keep their tags."""
    text = denial.texts[0]
    num_added = len(text) - (denial.end - denial.start)
    before: list[Token] = []
    after: list[Token] = []
    replaced: dict[str, Token] = {}
    for token in phrases.tokens:
        if denial.start <= token.start < denial.end:
            replaced[token.text.lower()] = token
        if token.end <= denial.start:
            before.append(token)
        if token.start + num_added >= denial.start + len(text):
            moved = token._replace(start=token.start + num_added, end=token.end + num_added)
            after.append(moved)
    return [*before, *_added_tokens(text, denial.start, replaced), *after]


def _added_tokens(text: str, offset: int, replaced: dict[str, Token]) -> Iterator[Token]:
    """Yield the words of a text that starts at a character; replaced words keep their tags."""
    end = 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        old = replaced.get(word.lower())
        if old:
            tag = old.tag
            lemma = old.lemma
        else:
            tag, lemma = _ADDED.get(word, _TagAndLemma("VB", word))
        yield Token(
            text=word,
            tag=tag,
            # The lemma is known, so it need not be looked up.
            find_lemma=partial(str, lemma),
            start=offset + start,
            end=offset + end,
        )


def _denial(phrases: Phrases, i: int) -> _CaptionDenial | None:
    """Return the denial of the verb, auxiliary or "with" at word i."""
    if phrases.tag(i) in VERB_TAGS:
        if phrases.is_auxiliary(i):
            return _denied_auxiliary(phrases, i)
        return _denied_verb(phrases, i)
    if phrases.word(i) == "with" and _can_be_without(phrases, i):
        return _CaptionDenial(phrases.tokens[i].start, phrases.tokens[i].end, ("without",))
    return None


def _denial_of_mistagged(phrases: Phrases, i: int) -> _CaptionDenial | None:
    """Deny a verb that the tagger takes for a noun: "a player scores a goal"."""
    word = phrases.word(i)
    verb = verb_of(word)
    token = phrases.tokens[i]
    if not verb or token.tag not in {"NOUN", "VBZ", "VBG"}:
        return None
    if word in listed("taken_for_verbs", "video_words"):
        return None

    # a man in black playing
    after_colour = phrases.tag(i - 1) == "ADJ" and phrases.word(i - 2) == "in"
    if after_colour and word == inflect(verb, "VBG"):
        return _CaptionDenial(token.start, token.start, ("not ",))

    if word == inflect(verb, "VBZ"):
        helper = "does"
        is_verb = _follows_one(phrases, i, after_colour)
    else:
        helper = "do"
        is_verb = word == verb and _follows_many(phrases, i)
    if not is_verb:
        return None
    texts = (f"{helper} not {verb}", f"{helper}n't {verb}")
    says_little = verb in listed("uninformative")
    return _CaptionDenial(token.start, token.end, texts, says_little)


def _follows_one(phrases: Phrases, i: int, after_colour: bool) -> bool:
    """Return whether word i, like "scores", follows a singular subject, and words follow it."""
    before = phrases.word(i - 1)
    after = phrases.tag(i + 1)
    is_agent = before.endswith(_AGENTS)
    if after_colour or (phrases.tag(i - 1) == "ADJ" and is_agent):
        return after in {"DET", "ADP", "ADV"}
    if phrases.tag(i - 1) != "NOUN" or is_plural_noun(before, phrases.lemma(i - 1)):
        return False
    if after == "DET":
        return True
    if not is_agent and before not in listed("actors", "roles"):
        return False
    return after in {"ADP", "ADV"} and phrases.word(i + 1) != "of"


def _follows_many(phrases: Phrases, i: int) -> bool:
    """Return whether word i, like "kick", follows a plural subject, and an object follows it."""
    if phrases.tag(i - 1) != "NOUN" or phrases.word(i) in listed("events"):
        return False
    subject = phrases.lemma(i - 1)
    is_plural = is_plural_noun(phrases.word(i - 1), subject)
    after = phrases.word(i + 1)
    if after in {"each", "together"}:
        return True
    if after == "along" or phrases.tag(i + 1) == "DET":
        return is_plural
    if not is_plural or subject not in listed("actors"):
        return False
    return phrases.tag(i + 1) == "NOUN" and is_plural_noun(after, phrases.lemma(i + 1))


def _denied_auxiliary(phrases: Phrases, i: int) -> _CaptionDenial | None:
    """Put "not" after an auxiliary or contract it: is not, isn't."""
    word = phrases.word(i)
    token = phrases.tokens[i]
    before = phrases.tag(i - 1)
    after = phrases.tag(i + 1)
    # a car not being driven
    is_human = phrases.word(i - 1) == "human"
    if word == "being" and before == "NOUN" and after == "VBN" and not is_human:
        return _CaptionDenial(token.start, token.start, ("not ",))
    if token.tag not in FINITE_TAGS or before == "MD" or after == "NEG":
        return None

    texts = [f"{token.text} not"]
    contracted = _CONTRACTED.get(word)
    if contracted is None and word not in listed("clitics"):
        contracted = f"{token.text}n't"
    if contracted:
        texts.append(contracted)
    is_about_video = phrases.lemma(i - 1) in listed("video_words")
    says_little = is_about_video or phrases.lemma(i + 1) in listed("uninformative", "video_words")
    return _CaptionDenial(
        start=token.start,
        end=token.end,
        texts=tuple(texts),
        says_little=says_little,
    )


def _denied_verb(phrases: Phrases, i: int) -> _CaptionDenial | None:
    """Put "not" before a participle; replace a finite verb by "do not" and its base form."""
    before = phrases.tag(i - 1)
    if before in _BEFORE_NOUNS or "NEG" in (before, phrases.tag(i - 2)):
        return None
    if phrases.word(i) in listed("taken_for_verbs"):
        return None

    lemma = phrases.lemma(i)
    if verb_of(lemma) != lemma:
        lemma = verb_of(phrases.word(i))
    says_little = lemma in listed("uninformative")
    if lemma in {"have", "feature"} and phrases.lemma(i - 1) in listed("video_words"):
        says_little = True

    # An adverb before the verb stays with it: does not quickly run
    first = i
    while phrases.tag(first - 1) == "ADV" and phrases.word(first - 1).endswith("ly"):
        first -= 1
    if phrases.tag(i) not in {"VBG", "VBN"}:
        return _denied_finite_verb(phrases, first, i, lemma, says_little)
    if not _is_participle_clause(phrases, first, i):
        return None
    if f"{phrases.word(first - 1)} {phrases.word(i)}" in listed_runs("compound_verbs"):
        first -= 1
    start = phrases.tokens[first].start
    return _CaptionDenial(
        start=start,
        end=start,
        texts=("not ",),
        says_little=says_little,
    )


def _denied_finite_verb(
    phrases: Phrases, first: int, i: int, lemma: str, says_little: bool
) -> _CaptionDenial | None:
    # The dictionary lists no verb for "bollywood".
    if not lemma or not _is_finite(phrases, first, i):
        return None
    start = phrases.tokens[first].start
    # a man dressed in red dances
    follows_noun = phrases.tag(i) == "VBD" and phrases.tag(i - 1) == "NOUN"
    if follows_noun and phrases.tag(i + 1) == "ADP" and _finite_follows(phrases, i):
        return _CaptionDenial(
            start=start,
            end=start,
            texts=("not ",),
            says_little=says_little,
        )

    helper = _helper_of(phrases, i)
    base = " ".join([*phrases.words[first:i], inflect(lemma, "VB")])
    texts = (f"{helper} not {base}", f"{helper}n't {base}")
    return _CaptionDenial(start, phrases.tokens[i].end, texts, says_little)


def _helper_of(phrases: Phrases, verb: int) -> str:
    """Return the form of "do" by which a finite verb is denied."""
    match phrases.tag(verb):
        case "VBZ":
            return "does"
        case "VBD":
            return "did"
    if is_third_person(phrases, verb):
        return "does"
    return "do"


def _is_finite(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a verb that is no participle is finite.

    It is not in "checking twitter", "is fell" or "he test drove".
    """
    tag = phrases.tag(i)
    if first > 0:
        if tag in {"VB", "VBP"} and phrases.tag(i - 1) == "VBG":
            return False
        first_parts = listed_runs("compound_verbs").openers - listed("things_first")
        if phrases.lemma(i - 1) == "be" or phrases.word(first - 1) in first_parts:
            return False
    return tag != "VB" or not _is_infinitive(phrases, first)


def _is_participle_clause(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a participle is the predicate of its subject: "a man running"."""
    # The auxiliary is denied.
    if phrases.is_auxiliary(first - 1) or phrases.word(first - 1) == "being":
        return False

    tag = phrases.tag(i)
    after = phrases.tag(i + 1)
    match phrases.tag(first - 1):
        case "":
            return tag == "VBG" and after != "NOUN"
        case "CONJ" | "PUNCT" | "PRON" | "WH":
            return True
        case "ADV":
            # fast moving time
            return first > 1 or after != "NOUN"
        case "NOUN" if tag == "VBN":
            return after in {"ADP", "ADV", ""}
        case "NOUN":
            # about horse racing
            is_sport = phrases.tag(first - 2) == "ADP"
            is_sport = is_sport and phrases.word(first - 2) in listed("of_sports")
            return not is_sport or phrases.lemma(first - 1) != phrases.word(first - 1)
        case before:
            # starts running; showing helping hands
            if before not in VERB_TAGS or after == "NOUN":
                return False
            return phrases.lemma(first - 1) not in listed("takes_gerund")


def _is_infinitive(phrases: Phrases, first: int) -> bool:
    """Return whether a base form depends on "to", a modal or another verb: "watch a man sing"."""
    if phrases.tag(first - 1) in {"TO", "MD"}:
        return True
    for i in range(max(0, first - 6), first):
        tag = phrases.tag(i)
        if tag in {"MD", "TO"}:
            return True
        if tag in VERB_TAGS and phrases.lemma(i) in listed("takes_infinitive") | {"do"}:
            return True
    return False


def _finite_follows(phrases: Phrases, i: int) -> bool:
    """Return whether a finite verb follows before the end of the clause."""
    for token in phrases.tokens[i + 1 :]:
        if token.tag in FINITE_TAGS:
            return True
        if token.tag in {"CONJ", "WH", "PUNCT"}:
            return False
    return False


def _can_be_without(phrases: Phrases, i: int) -> bool:
    """Return whether "with" at word i tells of something that may be missing."""
    noun = phrases.noun_phrase(i + 1)
    if noun is None or phrases.word(i + 1) == "each" or phrases.word(i - 1) in listed("together"):
        return False
    if phrases.lemma(noun.head) in listed("sounds"):
        return False
    may_need_with = phrases.tag(i - 1) in VERB_TAGS | {"ADJ"}
    return not may_need_with or phrases.lemma(i - 1) not in listed("needs_with")
