"""Cues of negation in one sentence: which words deny something, by their form and their place."""

from collections.abc import Iterator, Mapping

from nt2vr.negation.parse.forms import CueKind, cue_runs, cues
from nt2vr.negation.parse.idioms import length_of_name, length_of_sign, length_of_work, no_negation
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.presence import Presence
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import Negation
from nt2vr.negation.parse.wordlists import listed, words

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
