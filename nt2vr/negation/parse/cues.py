"""Cues of negation: which words deny something, by their form and their place.

`assets/language/forms.tsv` has the forms of negation with a tested example of each; one without
cues of its own is another's cue with certain words after it. `assets/language/idioms.txt` has
idioms that deny nothing: per line words that begin some, and after a colon what may follow each of
them, or complete idioms; "can't" is tokenized as "ca n't".
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple, cast

from nt2vr.negation.parse.negations import Cue, CueKind, Negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import Runs, lines_of, spellings


class NegationForm(NamedTuple):
    """One form of negation: an example with its wanted and unwanted parts, and the form's cues."""

    name: str
    kind: CueKind
    example: str
    wanted: str
    unwanted: tuple[str, ...]
    cues: tuple[str, ...]


LESS: Mapping[str, str] = spellings("less")


@cache
def forms() -> tuple[NegationForm, ...]:
    """Return the forms of negation, in the order of their table."""
    rows = []
    # The first line names the columns.
    for line in lines_of("language/forms.tsv")[1:]:
        name, kind, example, wanted, unwanted, cues_of_form = line.split("\t")
        form = NegationForm(
            name=name,
            kind=cast(CueKind, kind),
            example=example,
            wanted=wanted,
            unwanted=_split_list(unwanted),
            cues=_split_list(cues_of_form),
        )
        rows.append(form)
    return tuple(rows)


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()


@cache
def cues() -> Mapping[str, CueKind]:
    """Map the words of each cue to its kind."""
    kinds = {}
    for form in forms():
        for cue in form.cues:
            kinds[cue] = form.kind
    for word in LESS:
        kinds[word] = "less"
    return kinds


@cache
def cue_runs() -> Runs:
    return Runs(cues())


def denied_by_nobody(phrases: Phrases, cue: Cue) -> str:
    """Return what a cue of the kind "nobody" denies: "people" or "anything"."""
    return "anything" if "thing" in phrases.text(cue.start, cue.end) else "people"


@cache
def no_negation() -> Runs:
    """Return the idioms that deny nothing."""
    idioms = []
    for line in lines_of("language/idioms.txt"):
        starts, _, ends = line.rpartition(": ")
        for start in starts.split(", "):
            idioms += [f"{start} {end}".strip() for end in ends.split(", ")]
    return Runs(idioms)


def find_cues(phrases: Phrases, edits: Mapping[int, Negation]) -> Iterator[Cue]:
    """Yield all cues, from left to right; `edits` are words of editing, by their first word."""
    i = 0
    while i < len(phrases.tokens):
        edit = edits.get(i)
        if edit:
            yield edit.cue._replace(start=i)
            i = edit.end
            continue

        cue = _cue_at(phrases, i)
        idiom = phrases.longest(no_negation(), i)
        if not idiom and cue is not None and cue.kind == "not":
            idiom = _affirmation(phrases, cue.end)
        if idiom:
            i += idiom
        elif cue is None or not _is_cue(phrases, cue):
            i += 1
        else:
            yield cue
            i = cue.end


def _cue_at(phrases: Phrases, i: int) -> Cue | None:
    """Return the words at word i that form a cue."""
    length = phrases.longest(cue_runs(), i)
    if not length:
        return None
    end = i + length
    return Cue(cues()[phrases.text(i, end)], i, end)


def _is_cue(phrases: Phrases, cue: Cue) -> bool:
    """Return whether a cue denies where it stands: "-" and "skip" do so before some words only."""
    start = cue.start
    end = cue.end
    is_single = end == start + 1
    match phrases.word(start):
        case "-" | "!":
            return phrases.is_prefix(start)
        case "free" if is_single:
            # smoke | free bar; not: fans free climbing
            if not phrases.tag(start - 1) == phrases.tag(end) == "NOUN":
                return False
            if phrases.word(end).endswith("ing"):
                return False
            return phrases.word(start - 1) == phrases.lemma(start - 1)
        case "no":
            # no. 10
            return not phrases.word(end).isdigit()
        case "hardly" | "rarely" | "seldom" | "scarcely" if is_single:
            # a cat hardly moves; not: a seldom seen bird
            return phrases.tag(end) in FINITE_TAGS | {"VB"}
        case "skip":
            return phrases.lemma(end) not in {"rope", "to"}
        case "minus":
            # minus 40 degrees
            return phrases.tag(end) != "NUM"
    return True


def _affirmation(phrases: Phrases, i: int) -> int:
    """Return how many words affirm, with the cue right before word i: "never | stops barking"; 0 if it denies."""
    # doesn't | hate broccoli
    if phrases.lemma_is_listed(i, "shunning") and phrases.tag(i) != "VBN":
        has_object = phrases.tag(i + 1) not in {"", "PUNCT", "ADP"}
        if has_object or phrases.lemma(i) == "miss":
            return 2

    verb = i
    while phrases.lemma_is_listed(verb, "before_ending"):
        verb += 1
    if not phrases.lemma_is_listed(verb, "ending_verbs"):
        return 0
    goes_on = phrases.tag(verb + 1) in {"VBG", "TO"} or phrases.word(verb + 1) == "to"
    return verb + 2 - i if goes_on else 0
