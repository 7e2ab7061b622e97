"""Cues of negation: which words deny something, by their form and their place, and which only look like it.

`assets/language/forms.tsv` has the forms of negation with a tested example of each; one without
cues of its own is another's cue with certain words after it. `assets/language/idioms.txt` has
idioms that deny nothing: per line words that begin some, and after a colon what may follow each of
them, or complete idioms; "can't" is tokenized as "ca n't".
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wanted import CueKind, Negation
from nt2vr.negation.parse.wordlists import Runs, lines_of, listed, spellings


class Form(NamedTuple):
    """One form of negation: an example with its wanted and unwanted parts, and the form's cues."""

    name: str
    kind: CueKind
    example: str
    wanted: str
    unwanted: tuple[str, ...]
    cues: tuple[str, ...]


LESS: Mapping[str, str] = spellings("less")


@cache
def forms() -> tuple[Form, ...]:
    head, *rows = (line.split("\t") for line in lines_of("language/forms.tsv"))
    found: list[dict[str, Any]] = [dict(zip(head, row, strict=True)) for row in rows]
    lists = [
        {name: tuple(filter(None, row[name].split(", "))) for name in ("unwanted", "cues")}
        for row in found
    ]
    return tuple(Form(**row | some) for row, some in zip(found, lists, strict=True))


@cache
def cues() -> Mapping[str, CueKind]:
    return {
        **{cue: form.kind for form in forms() for cue in form.cues},
        **dict.fromkeys(LESS, "less"),
    }


@cache
def cue_runs() -> Runs:
    return Runs(cues())


@cache
def denied_by_nobody() -> Mapping[str, str]:
    """Return what is unwanted by each cue of the kind "nobody": "people" or, for "nothing", "anything"."""
    of_nobody = (cue for cue, kind in cues().items() if kind == "nobody")
    return {cue: "anything" if "thing" in cue else "people" for cue in of_nobody}


@cache
def no_negation() -> Runs:
    lines = (line.rpartition(": ") for line in lines_of("language/idioms.txt"))
    pairs = (
        (start, end)
        for starts, _, ends in lines
        for start in starts.split(", ")
        for end in ends.split(", ")
    )
    return Runs(f"{start} {end}".strip() for start, end in pairs)


class Cues:
    """Finds the cues of one sentence; `edits` are words of editing, by their first word."""

    def __init__(self, phrases: Phrases, edits: Mapping[int, Negation]) -> None:
        self.phrases, self._edits = phrases, edits

    def found(self) -> Iterator[tuple[CueKind, int, int]]:
        """Yield the kind, first word and end of every cue, from left to right."""
        i = 0
        while i < len(self.phrases.tokens):
            if edit := self._edits.get(i):
                yield edit.kind, i, edit.after_cue
                i = edit.end
                continue
            end = i + self.phrases.longest(cue_runs(), i)
            kind = cues()[" ".join(self.phrases.words[i:end])] if end > i else None
            idiom = self.phrases.longest(no_negation(), i) or (
                self._goes_on(end) if kind == "not" else 0
            )
            if kind is None or idiom or not self._is_cue(i, end):
                i += idiom or 1
            else:
                yield kind, i, end
                i = end

    def _is_cue(self, i: int, end: int) -> bool:
        """Return whether words `i` to `end` deny by their place: "-", "skip" do so before some words only."""
        phrases = self.phrases
        match phrases.word(i):
            case "-" | "!":
                return phrases.is_prefix(i)
            case "free" if end == i + 1:  # smoke | free bar; not: fans free climbing
                names = phrases.tag(i - 1) == phrases.tag(end) == "NOUN" and not phrases.word(
                    end
                ).endswith("ing")
                return names and phrases.word(i - 1) == phrases.lemma(i - 1)
            case "no":  # no. 10
                return not phrases.word(end).isdigit()
            case "hardly" | "rarely" | "seldom" | "scarcely" if end == i + 1:
                return phrases.tag(end) in FINITE_TAGS | {
                    "VB"
                }  # a cat hardly moves; not: a seldom seen bird
            case "skip":
                return phrases.lemma(end) not in {"rope", "to"}
            case "minus":
                return phrases.tag(end) != "NUM"  # minus 40 degrees
        return True

    def _goes_on(self, i: int) -> int:
        """Return the words that make a denial before word i an affirmation: "never | stops barking"; 0 elsewhere."""
        phrases = self.phrases
        hits = phrases.lemma(i) == "miss" or phrases.tag(i + 1) not in {"", "PUNCT", "ADP"}
        if phrases.lemma(i) in listed("shunning") and phrases.tag(i) != "VBN" and hits:
            return 2  # doesn't | hate broccoli
        verb = i
        while phrases.lemma(verb) in listed("before_ending"):
            verb += 1
        ends = phrases.lemma(verb) in listed("ending_verbs")
        goes_on = phrases.tag(verb + 1) in {"VBG", "TO"} or phrases.word(verb + 1) == "to"
        return verb + 2 - i if ends and goes_on else 0
