"""The wanted part of a sentence: the text outside its negations, without dangling words."""

from collections.abc import Sequence
from typing import NamedTuple

from nt2vr.negation.parse.negations import Cue, Negation, Negations
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagged_words import HELPING_WORDS
from nt2vr.negation.parse.wordlists import listed, words

_SUBJECTS = words("i we you it there")
_PERSONS = words("he she they")
# Kinds of cues that may deny what describes the noun after it.
_BEFORE_NOUN = words("less free minus not")
# Stands before the first word. A preposition stays after it, as after an edit.
_START = Negation(Cue("edit", 0, 0), 0, 0)


class Stretch(NamedTuple):
    """Wanted words `start` to `end` (exclusive), and the text that links them to those before."""

    start: int
    end: int
    link: str


def wanted_positions(phrases: Phrases, negations: Negations, end: int | None = None) -> list[int]:
    """Return the positions of the wanted words, up to word `end` (exclusive; default: all)."""
    positions: list[int] = []
    for stretch in wanted_stretches(phrases, negations, end):
        positions += range(stretch.start, stretch.end)
    return positions


def wanted_stretches(
    phrases: Phrases, negations: Negations, end: int | None = None
) -> list[Stretch]:
    """Return the trimmed stretches outside the negations, up to word `end`."""
    stretches: list[Stretch] = []
    ends = [negation.start for negation in negations]
    ends.append(len(phrases.tokens) if end is None else end)
    for before, gap_end in zip((_START, *negations), ends, strict=True):
        stretch = _stretch_after(phrases, before, gap_end, stretches=stretches, negations=negations)
        if stretch is not None:
            stretches.append(stretch)
    return stretches


def _stretch_after(
    phrases: Phrases,
    before: Negation,
    gap_end: int,
    stretches: Sequence[Stretch],
    negations: Negations,
) -> Stretch | None:
    """Return the words between a negation and the next without what dangles; None if they say nothing."""
    start = before.end
    while start < gap_end and _may_lead(phrases, start):
        start += 1
    if stretches:
        start = _after_pronoun(phrases, start, stretches[-1])
    elif before.cue.kind != "edit":
        start = _after_preposition(phrases, start)

    end = _trimmed_end(phrases, start, gap_end)
    if start >= end:
        return None
    if phrases.says_nothing(start, end) and not _is_article(phrases, end, negations):
        return None
    return Stretch(start, end, before.link or _link(phrases, before.end, start))


def _is_article(phrases: Phrases, end: int, negations: Negations) -> bool:
    """Return whether a stretch ends in the article of a noun: "a | not crowded | beach"."""
    if phrases.tag(end - 1) != "DET":
        return False
    for negation in negations:
        if negation.start == end and negation.cue.kind in _BEFORE_NOUN:
            return phrases.tag(negation.end) in {"NOUN", "ADJ"}
    return False


def _may_lead(phrases: Phrases, i: int) -> bool:
    """Return whether word i dangles at the start of a stretch: "and", "is", a comma."""
    return phrases.tag(i) in {"PUNCT", "CONJ"} or phrases.is_listed(i, "leading")


def _after_pronoun(phrases: Phrases, i: int, previous: Stretch) -> int:
    """Skip the pronoun of a subject that stands alone before: "a man, not sitting, he | sings"."""
    is_pronoun = phrases.tag(i) == "PRON" and phrases.word(i) != "there"
    if is_pronoun and not phrases.acts(range(previous.start, previous.end)):
        return i + 1
    return i


def _after_preposition(phrases: Phrases, i: int) -> int:
    """Skip the preposition of a place at the start: "missing from | the room"."""
    if phrases.word(i) == "from":
        i += 1
    # nobody in | the street
    place = phrases.place_phrase(i)
    if not place:
        return i
    is_way = phrases.word(i) in {"over", "around", "through"}
    if is_way or phrases.is_setting(place):
        return i + 1
    return i


def _trimmed_end(phrases: Phrases, start: int, end: int) -> int:
    """Drop words that dangle at the end of a stretch, if words follow it."""
    if end < len(phrases.tokens):
        end = _without_empty_clause(phrases, start, end)
        while start < end and _dangles(phrases, end - 1):
            end -= 1
    if start >= end:
        return end
    return max(start, phrases.before(end, {"PUNCT"}))


def _without_empty_clause(phrases: Phrases, start: int, end: int) -> int:
    """Return where words end without a clause about the picture: "a dog | , but the image"."""
    clause = phrases.clause_start(end) - 1
    if clause <= start:
        return end

    names_picture = not listed("frames").isdisjoint(phrases.words[clause:end])
    is_about_picture = names_picture or phrases.word(clause + 1) == "it"
    return clause if is_about_picture and phrases.says_nothing(clause, end) else end


def _dangles(phrases: Phrases, i: int) -> bool:
    """Return whether word i cannot end a stretch: a conjunction, an auxiliary, "with"."""
    before = phrases.tag(i - 1)
    match phrases.tag(i):
        case "PUNCT" | "CONJ" | "WH":
            return True
        case "PRON" if before in {"CONJ", "PUNCT", "WH"} or phrases.word(i) in _SUBJECTS:
            return True
        # a runner he | isn't sweating
        case "PRON" if before == "NOUN" and phrases.word(i) in _PERSONS:
            return True
        # a depot | in which no
        case "ADP" if phrases.tag(i + 1) == "WH":
            return True

    if phrases.word(i) in HELPING_WORDS and phrases.lemma(i) in {"have", "be"}:
        return True
    return phrases.is_listed(i, "dangling") or phrases.is_auxiliary(i)


def _link(phrases: Phrases, first: int, start: int) -> str:
    """Return the text before a stretch: its conjunction, a comma before a noun, or a space."""
    tag = phrases.tag(start)
    if tag not in {"DET", "NOUN", "ADJ", "NUM", "PRON"}:
        return " "

    words_before = phrases.words[first:start]
    joints = ["and"]
    # while | a dog runs; but not: while | painting
    if tag in {"DET", "NUM", "PRON"}:
        joints += ["while", "as"]
    for joint in joints:
        if joint in words_before:
            return f" {joint} "
    if "PUNCT" in phrases.tags[first:start]:
        return ", "
    return " "
