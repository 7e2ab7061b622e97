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

from functools import lru_cache
from itertools import islice

from nt2vr.negation.generate.affirming import affirm
from nt2vr.negation.generate.caption_edits import CaptionEdit, not_before
from nt2vr.negation.generate.mistagged import edit_of_mistagged
from nt2vr.negation.generate.subjects import is_third_person
from nt2vr.negation.parse.inflect import inflect, verb_of, with_not
from nt2vr.negation.parse.phrases import Phrases, phrases_of
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import listed, listed_runs, words

_CONTRACTED = {"can": "can't", "will": "won't", "shall": "shan't", "am": "", "may": "", "might": ""}
# Tags before nouns that look like verbs, and before verbs that are denied already.
_NOT_BEFORE_VERBS = words("DET ADJ NUM POS ADP NEG")
# About 100 MB.
_CACHED_CAPTIONS = 100_000


@lru_cache(maxsize=_CACHED_CAPTIONS)
def negations(caption: str) -> tuple[str, ...]:
    """Return all ways to deny one thing in `caption`, in word order.

    This takes about 1 ms, and is cached for later epochs.
    """
    phrases = phrases_of(caption)
    affirmative = affirm(caption, phrases)
    if affirmative is not None:
        return (affirmative,)
    texts: list[str] = []
    for denial in denials(phrases):
        texts += denial.applied(caption)
    return tuple(dict.fromkeys(texts))


def denials(phrases: Phrases) -> list[CaptionEdit]:
    """Return the denials of an affirmative caption; those that say little only if there are no others."""
    positions = range(len(phrases.tokens))
    possible = list(filter(None, (_denial(phrases, i) for i in positions)))
    if not possible:
        # The tagger may take the verb for a noun.
        mistagged = filter(None, (edit_of_mistagged(phrases, i) for i in positions))
        return list(islice(mistagged, 1))
    telling = [denial for denial in possible if not denial.says_little]
    return telling or possible


def _denial(phrases: Phrases, i: int) -> CaptionEdit | None:
    """Return the denial of the verb, auxiliary or "with" at word i."""
    if phrases.is_auxiliary(i):
        return _denied_auxiliary(phrases, i)
    if phrases.is_verb(i):
        return _denied_verb(phrases, i)
    if phrases.word(i) == "with" and _can_be_without(phrases, i):
        token = phrases.tokens[i]
        return CaptionEdit(token.start, token.end, ("without",))
    return None


def _denied_auxiliary(phrases: Phrases, i: int) -> CaptionEdit | None:
    """Put "not" after an auxiliary or contract it: is not, isn't."""
    if phrases.word(i) == "being" and _is_passive_of_thing(phrases, i):
        return not_before(phrases, i)
    before = i - 1
    after = i + 1
    if not phrases.is_finite(i) or phrases.tag(before) == "MD" or phrases.tag(after) == "NEG":
        return None

    token = phrases.tokens[i]
    texts = [f"{token.text} not", _contraction(phrases, i)]
    is_about_video = phrases.lemma_is_listed(before, "video_words")
    says_little = is_about_video or phrases.lemma_is_listed(after, "uninformative", "video_words")
    return CaptionEdit(
        start=token.start,
        end=token.end,
        texts=tuple(filter(None, texts)),
        says_little=says_little,
    )


def _is_passive_of_thing(phrases: Phrases, being: int) -> bool:
    """Return whether "being" is that of "a car being driven", and not of a human being."""
    before = being - 1
    if phrases.word(before) == "human":
        return False
    return phrases.tag(before) == "NOUN" and phrases.tag(being + 1) == "VBN"


def _contraction(phrases: Phrases, i: int) -> str:
    """Return an auxiliary with "n't"; "" if it cannot be contracted."""
    if phrases.is_listed(i, "clitics"):
        return ""
    return _CONTRACTED.get(phrases.word(i), f"{phrases.tokens[i].text}n't")


def _denied_verb(phrases: Phrases, i: int) -> CaptionEdit | None:
    """Put "not" before a participle; replace a finite verb by "do not" and its base form."""
    if phrases.tag(i - 1) in _NOT_BEFORE_VERBS or phrases.is_listed(i, "taken_for_verbs"):
        return None
    # not really running
    if phrases.tag(i - 2) == "NEG":
        return None
    # An adverb before the verb stays with it: does not quickly run
    first = i
    while phrases.tag(first - 1) == "ADV" and phrases.word(first - 1).endswith("ly"):
        first -= 1
    if phrases.tag(i) in {"VBG", "VBN"}:
        return _denied_participle(phrases, first, i)
    return _denied_finite_verb(phrases, first, i)


def _denied_participle(phrases: Phrases, first: int, i: int) -> CaptionEdit | None:
    if not _is_participle_clause(phrases, first, i):
        return None
    if f"{phrases.word(first - 1)} {phrases.word(i)}" in listed_runs("compound_verbs"):
        first -= 1
    return not_before(phrases, first, _says_little(phrases, i))


def _denied_finite_verb(phrases: Phrases, first: int, i: int) -> CaptionEdit | None:
    lemma = _verb_lemma(phrases, i)
    # The dictionary lists no verb for "bollywood".
    if not lemma or not _is_finite(phrases, first, i):
        return None
    if _is_likely_participle(phrases, i):
        return not_before(phrases, first, _says_little(phrases, i))

    helper = _helper_of(phrases, i)
    base = " ".join([*phrases.words[first:i], inflect(lemma, "VB")])
    return CaptionEdit(
        start=phrases.tokens[first].start,
        end=phrases.tokens[i].end,
        texts=with_not(helper, base),
        says_little=_says_little(phrases, i),
    )


def _verb_lemma(phrases: Phrases, i: int) -> str:
    """Return the lemma of word i as a verb; "" if the dictionary lists none."""
    lemma = phrases.lemma(i)
    if lemma == verb_of(lemma):
        return lemma
    return verb_of(phrases.word(i))


def _says_little(phrases: Phrases, verb: int) -> bool:
    lemma = _verb_lemma(phrases, verb)
    if lemma in listed("uninformative"):
        return True
    return lemma in {"have", "feature"} and phrases.lemma_is_listed(verb - 1, "video_words")


def _helper_of(phrases: Phrases, verb: int) -> str:
    """Return the form of "do" by which a finite verb is denied."""
    tag = phrases.tag(verb)
    if tag == "VBD":
        return "did"
    if tag == "VBZ" or is_third_person(phrases, verb):
        return "does"
    return "do"


def _is_finite(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a verb that is no participle is finite.

    It is not in "checking twitter", "is fell" or "he test drove".
    """
    before = i - 1
    tag = phrases.tag(i)
    if tag in {"VB", "VBP"} and phrases.tag(before) == "VBG":
        return False
    if phrases.lemma(before) == "be":
        return False
    first_parts = listed_runs("compound_verbs").openers - listed("things_first")
    if phrases.word(first - 1) in first_parts:
        return False
    return tag != "VB" or not _is_infinitive(phrases, first)


def _is_participle_clause(phrases: Phrases, first: int, i: int) -> bool:
    """Return whether a participle is the predicate of its subject: "a man running"."""
    before = first - 1
    # The auxiliary is denied.
    if phrases.is_auxiliary(before) or phrases.word(before) == "being":
        return False

    tag = phrases.tag(i)
    tag_after = phrases.tag(i + 1)
    match phrases.tag(before):
        case "":
            return tag == "VBG" and tag_after != "NOUN"
        case "CONJ" | "PUNCT" | "PRON" | "WH":
            return True
        case "ADV":
            # fast moving time
            return before > 0 or tag_after != "NOUN"
        case "NOUN" if tag == "VBN":
            return tag_after in {"ADP", "ADV", ""}
        case "NOUN":
            # about horse racing
            if phrases.tag(first - 2) == "ADP" and phrases.is_listed(first - 2, "of_sports"):
                return phrases.lemma(before) != phrases.word(before)
            return True
    # starts running; showing helping hands
    if not phrases.is_verb(before) or tag_after == "NOUN":
        return False
    return not phrases.lemma_is_listed(before, "takes_gerund")


def _is_infinitive(phrases: Phrases, first: int) -> bool:
    """Return whether a base form depends on "to", a modal or another verb: "watch a man sing"."""
    for i in range(max(0, first - 6), first):
        if phrases.tag(i) in {"MD", "TO"}:
            return True
        if not phrases.is_verb(i):
            continue
        if phrases.lemma(i) == "do" or phrases.lemma_is_listed(i, "takes_infinitive"):
            return True
    return False


def _is_likely_participle(phrases: Phrases, i: int) -> bool:
    """Return whether a finite verb follows a past form in its clause: "a man dressed in red dances"."""
    if phrases.tags[i - 1 : i + 2] != ["NOUN", "VBD", "ADP"]:
        return False
    for token in phrases.tokens[i + 1 :]:
        # The clause ends.
        if token.tag in {"CONJ", "WH", "PUNCT"}:
            return False
        if token.tag in FINITE_TAGS:
            return True
    return False


def _can_be_without(phrases: Phrases, i: int) -> bool:
    """Return whether "with" at word i tells of something that may be missing."""
    before = i - 1
    after = i + 1
    noun = phrases.noun_phrase(after)
    if noun is None or phrases.lemma_is_listed(noun.head, "sounds"):
        return False
    # together | with; with | each other
    if phrases.is_listed(before, "together") or phrases.word(after) == "each":
        return False
    # filled with water
    is_predicate = phrases.is_verb(before) or phrases.tag(before) == "ADJ"
    return not is_predicate or not phrases.lemma_is_listed(before, "needs_with")
