"""Cues of negation: which words deny something, by their form and their place, and which only look like it.

The table `assets/language/forms.tsv` has the forms of negation in English with an example of each, which the tests
check; a form without cues of its own is another form's cue with certain words after it. Idioms that deny nothing are
in `assets/language/idioms.txt`: per line words that begin some, and after a colon what may follow each of them, or
complete idioms; "can't" is tokenized as "ca n't".
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import CueKind, Negation, Presence
from nt2vr.negation.parse.wordlists import Runs, lines_of, listed, renamed, words


class Form(NamedTuple):
    """One form of negation: an example with its wanted and unwanted parts, and the form's cues.

    Parts and cues of the table are separated by commas. In its first rows the cue precedes what it denies, then it
    follows that, and in the last ones it is part of a word.
    """

    name: str
    kind: CueKind
    example: str
    wanted: str
    unwanted: tuple[str, ...]
    cues: tuple[str, ...]


# Words that name what is not there. Not here: those whose ending denies nothing to be seen (stainless, wireless), and
# looks that captions name as such (shirtless, sleeveless, leafless, an unoccupied bench).
LESS: Mapping[str, str] = renamed(
    "beard=beardless branches=branchless car=carless children=childless clouds=cloudless coat=coatless "
    "collar=collarless door=doorless driver=driverless hat=hatless helmet=helmetless jacket=jacketless mask=maskless "
    "moon=moonless people=peopleless rider=riderless shoes=shoeless roof=roofless snow=snowless socks=sockless "
    "trees=treeless wheels=wheelless windows=windowless"
)


@cache
def forms() -> tuple[Form, ...]:
    """Read the table."""
    head, *rows = (line.split("\t") for line in lines_of("language/forms.tsv"))
    return tuple(_form(dict(zip(head, row, strict=True))) for row in rows)


def _form(row: dict[str, Any]) -> Form:
    lists = {name: tuple(filter(None, row[name].split(", "))) for name in ("unwanted", "cues")}
    return Form(**row | lists)


@cache
def cues() -> Mapping[str, CueKind]:
    return {**{cue: form.kind for form in forms() for cue in form.cues}, **dict.fromkeys(LESS, "less")}


@cache
def cue_runs() -> Runs:
    return Runs(cues())


@cache
def denied_by_nobody() -> Mapping[str, str]:
    """Return what is unwanted by each cue of the kind "nobody": "people" or, for "nothing", "anything"."""
    of_nobody = (cue for cue, kind in cues().items() if kind == "nobody")
    return {cue: "anything" if "thing" in cue else "people" for cue in of_nobody}


_SIGNS = words("sign signs signpost poster sticker symbol label signboard notice tape banner mat doormat fence")
_ZONES = words("zone zones area section lane")
_DENIES_SIGN = words("with has have having is are 's")  # a street with | no parking signs
_MAX_SIGN_WORDS = 4
_ASKING = words("show include want give have play find use like need see care")
_WORKS = words("trailer lyrics karaoke remix soundtrack movie film song cover challenge meme theme parody")
_OPENING = words("never do ca wo nobody nothing ai")  # titles that are clauses: never let me go trailer
_SMALL = words("a an the of to in for and on at")
_MIN_NAME = 2  # capitalised words after the cue


@cache
def no_negation() -> Runs:
    """Return the idioms."""
    lines = (line.rpartition(": ") for line in lines_of("language/idioms.txt"))
    pairs = ((start, end) for starts, _, ends in lines for start in starts.split(", ") for end in ends.split(", "))
    return Runs(f"{start} {end}".strip() for start, end in pairs)


def length_of_sign(phrases: Phrases, i: int) -> int:
    """Return the number of words of "no smoking sign", "do not disturb sign" at word i; 0 if there is none."""
    order = phrases.word(i) == "do" and phrases.word(i + 1) in {"not", "n't"}
    if not order and (phrases.word(i) != "no" or phrases.word(i - 1) in _DENIES_SIGN):
        return 0
    start = i + 2 if order else i + 1
    fits = order or phrases.word(start).endswith("ing") or phrases.word(start) in listed("on_signs")
    for j in range(start + 1, start + 1 + _MAX_SIGN_WORDS):
        if phrases.word(j) in _SIGNS or (phrases.word(j) in _ZONES and not order):
            return j + 1 - i if fits else 0
    return 0


def length_of_work(phrases: Phrases, i: int) -> int:
    """Return the length of a title that is the query: "never let me go trailer"; 0 if word i starts none."""
    start = i - (phrases.word(i) in {"not", "n't"})
    start -= phrases.tag(start - 1) == "PRON"  # we | don't talk about bruno karaoke
    opens = start == 0 and not _OPENING.isdisjoint(phrases.words[: i + 1])
    if not opens or phrases.words[-1] not in _WORKS or phrases.word(i + 1) in _ASKING:
        return 0
    return len(phrases.words) - i if phrases.tag(i + 1) in VERB_TAGS and len(phrases.words) > i + 2 else 0


def length_of_name(phrases: Phrases, i: int) -> int:
    """Return the number of words of a capitalised title from the cue at word i on: "No Way Home"; 0 if none."""
    texts = [token.text for token in phrases.tokens]
    start = i - 1 if phrases.word(i) == "n't" else i
    if not texts[start][0].isupper() or (texts[start].isupper() and len(texts[start]) > 1):
        return 0
    end = i + 1
    while end < len(texts) and (texts[end][0].isupper() or (texts[end] in _SMALL and texts[end + 1 : end + 2])):
        end += 1
    while end > i + 1 and not texts[end - 1][0].isupper():
        end -= 1
    if texts[i + 1 : i + 2] and phrases.word(i + 1) in _ASKING:
        return 0  # Don't Show Me cats
    capitalised = sum(text[0].isupper() for text in texts[i + 1 : end])
    in_sentence = start > 0 and phrases.tag(start - 1) != "PUNCT" and any(text[0].islower() for text in texts[:start])
    others = texts[:start] + texts[end:]
    if in_sentence:
        return end - i if capitalised else 0
    least = _MIN_NAME + (phrases.word(i) in {"no", "without"})
    if phrases.word(end) in _WORKS or phrases.word(end) == "by":
        least = 1  # Nowhere Boy trailer, Without Me by Eminem
    return end - i if capitalised >= least and any(text[0].islower() for text in others) else 0


_UNITS = words("degree percent second minute hour euro dollar point mph kmh g %")
_CONTRASTING = words("rather other else different")  # no other pets than dogs
_ENDING = words("stop stops stopping cease ceases quit fail fails tire")
_BETWEEN = words("ever want like seem appear to able be")  # can't seem to | stop
_NAMED_AFTER = {"skip": words("rope to"), "block": words("party print of"), "scrap": words("metal paper yard book")}
_BEFORE_DEEDS = words("gave gives giving given quit quits ceased ceases avoids avoided avoiding")  # gave up | smoking
_MAX_BETWEEN = 4  # words between "never" and "without"
_GETTING, _TIRED = words("get grow be have"), words("tired bored sick weary enough")  # of


class Cues:
    """Finds the cues of one sentence; `edits` are words of editing, by their first word."""

    def __init__(self, phrases: Phrases, presence: Presence, edits: Mapping[int, Negation]) -> None:
        self.phrases, self.presence, self._edits = phrases, presence, edits

    def found(self) -> Iterator[tuple[CueKind, int, int]]:
        """Yield the kind, first word and end of every cue, from left to right."""
        i = 0
        while i < len(self.phrases.tokens):
            if edit := self._edits.get(i):
                yield edit.kind, i, edit.after_cue
                i = edit.end
                continue
            if double := self._without_follows(i):
                yield "double", i, double
                i = double
                continue
            length = self.presence.longest(cue_runs(), i)
            kind = cues()[" ".join(self.phrases.words[i : i + length])] if length else "not"
            idiom = self.presence.longest(no_negation(), i) or (
                length_of_sign(self.phrases, i) if self.phrases.word(i) in {"no", "do"} else 0
            )
            if length and not idiom:
                idiom = (
                    length_of_name(self.phrases, i)
                    or length_of_work(self.phrases, i)
                    or self._goes_on(kind, i + length)
                )
            if not length or idiom or not self._is_cue(kind, i, i + length):
                i += idiom or 1
                continue
            yield kind, i, i + length
            i += length

    def _is_cue(self, kind: CueKind, i: int, end: int) -> bool:
        """Return whether words `i` to `end` deny by their place: "-", "0", "gave up" do so before some words only."""
        phrases = self.phrases
        match phrases.word(i):
            case "-" | "!":
                return phrases.is_prefix(i)
            case "non" | "non-":
                return phrases.tag(end) not in {"", "PUNCT"}
            case "no":  # no. 10; no older than ten
                return not phrases.word(end)[:1].isdigit() and not self._compares(end) and not self._excels(end)
            case "nothing" | "nobody" if self._excels(end + phrases.is_auxiliary(end)):
                return False
            case "not" | "n't" | "never" if self._compares(end):
                return False
            case "hardly" | "rarely" | "seldom" | "scarcely" if end == i + 1:
                return phrases.tag(end) in FINITE_TAGS | {"VB"}  # a cat hardly moves; not: a seldom seen bird
            case "far":
                return phrases.word(end - 1) != "from" or self._is_far_from_being(i, end)
            case "0":
                return phrases.tag(end) in {"NOUN", "ADJ"} and phrases.lemma(end) not in _UNITS
            case word if word in _BEFORE_DEEDS:
                return phrases.tag(end) == "VBG"
            case "run" | "runs" | "ran" | "running":
                return phrases.tag(end) != "DET" or phrases.lemma(i - 1) == "have"  # a dog runs out of a tunnel
            case "is" | "are" | "was":
                return phrases.word(end - 1) != "of" or (
                    phrases.tag(end) == "NOUN" and phrases.word(end) not in listed("outside")
                )  # a fridge is out of milk
            case "hold":
                return phrases.tag(i - 1) == "PUNCT"  # a burger, hold the onions
            case "gone":  # the lights have gone out; gone fishing
                return phrases.tag(end) in {"", "PUNCT", "CONJ", "WH"} or phrases.word(end) in {"from", "in", "on"}
            case "forget":
                return phrases.tag(end) != "TO" and phrases.word(end) not in {"me", "it"}
            case "skip" | "block" | "scrap" as word:
                return phrases.lemma(end) not in _NAMED_AFTER[word]
            case "has" | "have" | "had":
                return phrases.word(end - 1) != "stopped" or phrases.tag(end) == "VBG"  # the rain has stopped
            case "off" if end == i + 1:
                thing = i - 1 - phrases.is_auxiliary(i - 1)
                return phrases.lemma(thing) in listed("taken_off") and phrases.tag(end) in {"", "PUNCT", "CONJ"}
            case "minus":
                return phrases.tag(end) != "NUM"  # minus 40 degrees
            case "leave" | "leaves" | "leaving" | "left" | "keep":
                return kind != "out" or self.left_out(i, end) is not None
        return True

    def _compares(self, i: int) -> bool:
        """Return whether word i begins "older than", or continues "no more" by "than"."""
        words = self.phrases.words[i - 1 : i + 2]
        return "than" in words and not _CONTRASTING.intersection(words)

    def _excels(self, i: int) -> bool:
        """Return whether word i begins "better view than": nothing is denied but that there is a better one."""
        is_more = self.phrases.word(i) == "more" or self.phrases.word(i)[-2:] in {"er", "se"}
        return is_more and self.phrases.tag(i) == "ADJ" and "than" in self.phrases.words[i + 1 : i + 5]

    def _is_far_from_being(self, cue: int, end: int) -> bool:
        """Return whether "far from" denies a quality: "a far from tidy room"; not "far from busy streets"."""
        quality = self.phrases.quality(end)
        alone = quality is not None and self.phrases.tag(quality.end) in {"", "PUNCT", "CONJ", "WH", "ADP"}
        return alone or self.phrases.word(end) == "being" or (quality and self.phrases.tag(cue - 1) == "DET") or False

    def _goes_on(self, kind: CueKind, i: int) -> int:
        """Return the words that make a denial before word i an affirmation: "never | stops barking"; 0 elsewhere."""
        phrases = self.phrases
        if kind != "not":
            return 0
        if phrases.lemma(i) in _GETTING and phrases.word(i + 1) in _TIRED and phrases.word(i + 2) == "of":
            return 3  # never gets tired of
        if phrases.lemma(i) == "give" and phrases.word(i + 1) == "up":
            return 2
        if phrases.word(0) == "who" and i == 3 and phrases.word(i) in {"love", "like", "want", "enjoy"}:
            return 1  # who doesn't | love puppies
        hits = phrases.lemma(i) == "miss" or phrases.tag(i + 1) not in {"", "PUNCT"}
        if phrases.lemma(i) in listed("shunning") and phrases.tag(i) != "VBN" and hits:
            return 2  # doesn't | hate broccoli
        if (phrases.word(i - 2) in {"ca", "can", "could"}) and (better := self._after_better(i)):
            return better - i
        verb = i
        while phrases.lemma(verb) in _BETWEEN:
            verb += 1
        ends = phrases.lemma(verb) in _ENDING
        goes_on = phrases.tag(verb + 1) in {"VBG", "TO"} or phrases.word(verb + 1) == "to"
        return verb + 2 - i if ends and goes_on else 0

    def _without_follows(self, i: int) -> int:
        """Return the end of "n't leave without" at word i, two denials that affirm; 0 elsewhere."""
        phrases, j = self.phrases, i + 1
        if phrases.word(i) not in {"not", "n't", "never"}:
            return 0
        while j <= i + _MAX_BETWEEN and phrases.tag(j) not in {"", "PUNCT", "CONJ", "WH", "NEG"}:
            j += 1
            if phrases.word(j) == "without":
                helped = phrases.word(i) == "never" or phrases.tag(i - 1) == "MD" or phrases.lemma(i - 1) == "do"
                acts = phrases.tag(i + 1) in VERB_TAGS
                return j + 1 if acts and (helped or j == i + 2) else 0
        return 0

    def _after_better(self, i: int) -> int:
        """Return the end of "be happier" at word i, which "couldn't" makes a praise; 0 if there is none."""
        phrases, j = self.phrases, i
        while phrases.word(j) in {"be", "have", "been", "get", "got", "any", "a"}:
            j += 1
        return j + 1 if j > i and phrases.word(j).endswith("er") and phrases.tag(j) in {"ADJ", "ADV"} else 0

    def start_clause(self, i: int) -> bool:
        """Return whether a clause starts at word i."""
        return self.phrases.tag(i - 1) in {"", "PUNCT", "CONJ"} or self.phrases.word(i - 1) == "please"

    def left_out(self, cue: int, after_cue: int) -> Negation | None:
        """Return the negation of "leaves the eggs out"; None if no thing and "out" follow."""
        phrases, noun = self.phrases, self.phrases.noun_phrase(after_cue)
        keeps = phrases.word(cue) == "keep" and not self.start_clause(cue)
        if noun is None or phrases.word(noun.end) != "out" or keeps:
            return None
        end = noun.end + 1
        if phrases.word(end) == "of":
            place = phrases.place_phrase(end)
            end = place.end if place else end
        elif phrases.tag(end) not in {"", "PUNCT", "CONJ"}:
            return None
        return Negation("out", cue, after_cue, (noun,), cue, end)
