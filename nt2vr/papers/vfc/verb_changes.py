"""Captions with another verb, by rules, as hard negatives of VFC; and the verb phrases of captions.

Another verb comes from other captions, where it has the same object. Nobody has checked that a
changed caption is false of its video. Files, whoever wrote them, have JSON lines: {"caption",
"phrases": […], "changed": […]}.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.actions import (
    Chunk,
    chunks_of,
    is_bare_noun,
    is_complete,
    needs_object,
    subject_named,
)
from nt2vr.negation.generate.content import groups_in, related
from nt2vr.negation.generate.query_sets import objects_of, write_lines
from nt2vr.negation.parse.inflect import Form, inflect, is_noun, verb_of
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, words
from nt2vr.papers.vfc.rules import Rule

MOST = 10  # changed captions per caption
LEAST_SEEN = 2  # captions that a verb must have with an object
_FORMS: dict[str, Form] = {"VBZ": "VBZ", "VBG": "VBG", "VBD": "VBD", "VBP": "VB"}
_NOUNS_IN_ING = words("molding meeting clothing")
_BEFORE_NOUNS = frozenset({"DET", "ADJ", "NUM", "POS", "NOUN"})
_TARGETS = words("at to for")  # after a particle: looks down at her cast


class Frame(NamedTuple):
    """A verb and what it goes with."""

    start: int  # first character of the verb
    end: int  # character after it
    form: Form
    verb: str  # lemma
    preposition: str  # or particle, between the verb and its noun
    noun: str  # lemma of the object or the noun after the preposition; empty for neither
    rest: str  # the words after the verb as a verb phrase has them
    subject: str  # "person", or the lemma of who or what else acts; empty if unclear
    is_bare: bool  # the noun lacks its article (cooking show, dancing people), so may be the verb's subject

    @property
    def key(self) -> str:
        """The verb phrase as calibration counts it: lemmas of verb and noun."""
        return f"{self.verb} {self.noun}".rstrip()

    @property
    def phrase(self) -> str:
        """The verb phrase as VFC writes it: "cutting cake"."""
        return f"{inflect(self.verb, 'VBG')} {self.rest}".rstrip()


class Changed(NamedTuple):
    """A caption with another verb, and the keys of its verb phrases."""

    text: str
    keys: tuple[str, ...]


class VerbLine(NamedTuple):
    """A caption with all that VFC needs of it."""

    caption: str
    keys: tuple[str, ...]  # of its verb phrases, as calibration counts them
    phrases: tuple[str, ...]  # its verb phrases as texts
    changed: tuple[Changed, ...]  # the caption with another verb


def frames_of(caption: str) -> list[Frame]:
    """Return the verbs of a caption whose phrases are complete, in order."""
    phrases = Phrases(load_tagger().tag(caption))
    chunks = chunks_of(phrases)
    pairs = zip_longest(chunks, chunks[1:])
    return [
        frame
        for chunk, after in pairs
        if chunk.kind == "VP" and (frame := _frame(phrases, chunk, after))
    ]


def _frame(phrases: Phrases, chunk: Chunk, after: Chunk | None) -> Frame | None:
    start, kind = chunk.start, after.kind if after else ""
    form, verb = _FORMS.get(phrases.tag(start)), verb_of(phrases.word(start))
    if (
        form is None
        or not is_complete(phrases, chunk, kind)
        or not _is_deed(phrases, start, verb, form)
    ):
        return None
    place, preposition = start + 1, ""
    while phrases.tag(place) == "ADV" and phrases.word(place) not in listed("verb_particles"):
        place += 1
    if phrases.tag(place) == "ADP" or phrases.word(place) in listed("verb_particles"):
        place, preposition = place + 1, phrases.word(place)
    if needs_object(verb) and preposition not in {"", *listed("verb_particles")}:
        return None  # the picture he was making in a game
    token, subject = phrases.tokens[start], _subject(phrases, start)
    fields = (token.start, token.end, form, verb, preposition)
    if noun := phrases.noun_phrase(place) if place < chunk.end else None:
        said = [phrases.word(i) for i in range(noun.start, noun.end) if phrases.tag(i) != "DET"]
        rest = " ".join([preposition, *said]).lstrip()
        is_compound = (
            form == "VBG" and noun.start == noun.head and not phrases.is_auxiliary(start - 1)
        )
        is_bare = not preposition and (is_compound or is_bare_noun(phrases, start, noun.head))
        is_whole = _is_whole(phrases, noun, verb, preposition)
        return Frame(*fields, _named(phrases, noun), rest, subject, is_bare) if is_whole else None
    is_open = (
        kind == "VP" or needs_object(verb) or _goes_on(phrases, place, preposition)
    )  # starts singing; they cut
    return None if is_open else Frame(*fields, "", preposition, subject, False)


def _named(phrases: Phrases, noun: Phrase) -> str:
    """Return the lemma of a noun; of "a bowl of rice", rice."""
    is_amount = phrases.lemma(noun.head) in listed("collectives", "measures")
    return phrases.lemma(
        noun.end - 1 if is_amount and phrases.word(noun.head + 1) == "of" else noun.head
    )


def _is_deed(phrases: Phrases, i: int, verb: str, form: Form) -> bool:
    """Return whether word i is a verb, and not a slip, a modifier ("watching racing cars") or a noun."""
    return (
        bool(verb)
        and verb not in listed("no_deeds")
        and phrases.tag(i - 1) not in {"DET", "ADJ", "NUM", "POS", "VBG"}
        and inflect(verb, form) == phrases.word(i)
        and not _is_noun(phrases, i, verb)
        and (verb, phrases.word(i + 1)) != ("make", "up")
    )


def _goes_on(phrases: Phrases, i: int, preposition: str) -> bool:
    """Return whether the words from i on belong to a verb without a noun: "talks about | cooking"."""
    is_open = phrases.tag(i - 1) == "ADP" and i < len(phrases.tokens)
    is_joined = phrases.tag(i) == "CONJ" and phrases.tag(i + 1) in _FORMS
    shares_object = is_joined and phrases.tag(i + 2) in {
        "DET",
        "NOUN",
        "PRON",
        "NUM",
        "ADJ",
    }  # rubs | and kneads her
    return is_open or shares_object or (bool(preposition) and phrases.word(i) in _TARGETS)


def _is_whole(phrases: Phrases, noun: Phrase, verb: str, preposition: str) -> bool:
    """Return whether a verb phrase ends with its noun: not in "paints it red", "gives a woman a massage"."""
    following = phrases.tag(noun.end)
    if phrases.tag(noun.head) == "PRON" or following in {
        "VB",
        "ADJ",
        "VBN",
        "TO",
        "VBP",
        "DET",
        "NOUN",
    }:
        return False
    if following == "VBG" and phrases.tag(noun.end + 1) == "NOUN":
        return False  # a water | cooling system
    if preposition:
        return True
    watches = following in VERB_TAGS and (phrases.is_actor(noun) or verb in listed("takes_clause"))
    return not watches and phrases.word(noun.end) not in listed(
        "directions"
    )  # watches a man | dancing


def _is_noun(phrases: Phrases, i: int, verb: str) -> bool:
    """Return whether a verb may be a noun that the tagger mistook: "about some movie | matters"."""
    word = phrases.word(i)
    follows_thing = phrases.tag(i - 1) == "NOUN" and phrases.lemma(i - 1) not in listed(
        "actors", "roles"
    )
    is_joined = phrases.tag(i - 1) == "CONJ" and phrases.tag(i - 2) == "NOUN"  # waiters and | cooks
    is_object = phrases.tag(i - 1) == "VBG"  # watching wrestling | matches
    if word in listed("taken_for_verbs") | _NOUNS_IN_ING:
        return True
    if phrases.tag(i) == "VBG":  # about car | racing, but: of cars | racing
        is_one = phrases.word(i - 1) == phrases.lemma(i - 1)
        return follows_thing and is_one and phrases.tag(i - 2) not in _BEFORE_NOUNS
    return (follows_thing or is_joined or is_object) and is_noun(verb)


def _subject(phrases: Phrases, verb: int) -> str:
    """Return who acts: the last noun before the verb that is neither an object nor after a preposition."""
    j = verb - 1
    while phrases.tag(j) not in {"", "PRON"}:
        first = j
        if phrases.tag(j) == "NOUN":
            first = phrases.before(j, _BEFORE_NOUNS)
            if not _is_object(phrases, first) or phrases.tag(j + 1) == "WH":
                subject = subject_named(phrases, first, j + 1)
                return "person" if subject and subject.is_human else phrases.lemma(j)
        j = first - 1
    return "person" if phrases.word(j) not in {"", "it"} else ""


def _is_object(phrases: Phrases, first: int) -> bool:
    before = phrases.tag(first - 1)
    follows_verb = before in VERB_TAGS and not phrases.is_auxiliary(first - 1)
    return (before == "ADP" and phrases.word(first - 1) != "of") or follows_verb


class VerbChanges:
    """Draws captions with another verb, for captions of many videos."""

    def __init__(self, videos: Iterable[Sequence[str]]) -> None:
        """Parse the captions of each video, in about 2 ms each."""
        self._videos: list[Mapping[str, list[Frame]]] = []
        self._seen: dict[tuple[str, str], Counter[str]] = defaultdict(
            Counter
        )  # by preposition and noun
        self._done: dict[str, Counter[str]] = defaultdict(Counter)  # by subject
        for captions in videos:
            parsed = {caption: frames_of(caption) for caption in captions}
            self._videos.append(parsed)
            for frames in parsed.values():
                for frame in frames:
                    self._seen[frame.preposition, frame.noun][frame.verb] += not frame.is_bare
                    self._done[frame.subject][frame.verb] += 1
        total: Counter[str] = sum(self._done.values(), Counter())
        self._verbs = {verb: count for verb, count in sorted(total.items()) if count >= LEAST_SEEN}

    def __len__(self) -> int:
        return len(self._videos)

    def lines(self, row: int, rule: Rule, seed: int) -> list[VerbLine]:
        """Return the captions of a video with their verb phrases and changes."""
        return [
            VerbLine(
                caption,
                tuple(frame.key for frame in frames),
                tuple(dict.fromkeys(frame.phrase for frame in frames)),
                tuple(self.draw(row, caption, rule, random.Random(f"{seed} {caption}"))),
            )
            for caption, frames in self._videos[row].items()
        ]

    def draw(
        self, row: int, caption: str, rule: Rule, rng: random.Random, most: int = MOST
    ) -> list[Changed]:
        """Change one verb of a caption, in up to `most` ways; verbs that are frequent with its object come first."""
        frames = self._videos[row][caption]
        own = {each.verb for some in self._videos[row].values() for each in some}
        drawn: list[tuple[float, int, str]] = []
        for place, frame in enumerate(frames):
            found = self._others(frame, own, rule)
            total = sum(count**0.5 for count in found.values())
            drawn += [
                (rng.random() ** (total / count**0.5), place, verb) for verb, count in found.items()
            ]
        changed: dict[str, Changed] = {}
        for _, place, verb in sorted(drawn, reverse=True):
            frame = frames[place]
            text = caption[: frame.start] + inflect(verb, frame.form) + caption[frame.end :]
            keys = [other.key for other in frames]
            keys[place] = frame._replace(verb=verb).key
            if text not in self._videos[row]:
                changed[text] = Changed(text, tuple(keys))
        return list(changed.values())[:most]

    def _others(self, frame: Frame, own: set[str], rule: Rule) -> Mapping[str, int]:
        if rule == "antonym":
            pairs = (pair for pair in groups_in("antonyms.txt") if frame.verb in pair)
            return {other: 1 for pair in pairs for other in pair if other != frame.verb}
        if rule == "random":
            return {verb: count for verb, count in self._verbs.items() if verb != frame.verb}
        return self._of_same_things(frame, own)

    def _of_same_things(self, frame: Frame, own: set[str]) -> Mapping[str, int]:
        """Return the verbs that other captions have with the same object and subject."""
        seen, done = self._seen[frame.preposition, frame.noun], self._done[frame.subject]
        unfit: frozenset[str] = frozenset().union(_unfit(frame), *map(_alike, own))
        common = {
            verb: count
            for verb, count in sorted(seen.items())
            if min(count, done[verb]) >= LEAST_SEEN
        }
        return {
            verb: count
            for verb, count in common.items()
            if verb not in unfit and not _alike(verb) & own
        }


def _unfit(frame: Frame) -> frozenset[str]:
    unfit = listed("no_deeds", "not_new")
    if frame.preposition:
        return unfit
    return unfit | (
        listed("intransitive_verbs") | {"dance"} if frame.noun else listed("incomplete_alone")
    )


def _alike(verb: str) -> frozenset[str]:
    """Return a verb, its synonyms and what captions may say instead."""
    return related(verb).union(
        *(group for group in groups_in("verb_synonyms.txt") if verb in group)
    )


def _keys(text: str) -> tuple[str, ...]:
    return tuple(frame.key for frame in frames_of(text))


def write_verbs(path: Path, lines: Iterable[VerbLine]) -> int:
    """Write captions that have a changed version or a verb phrase; return their number."""
    rows = [
        {
            "caption": line.caption,
            "phrases": line.phrases,
            "changed": [each.text for each in line.changed],
        }
        for line in lines
        if line.phrases or line.changed
    ]
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))
    return len(rows)


def read_verbs(path: Path) -> dict[str, VerbLine]:
    """Read a file of `write_verbs`, by caption; parses each text."""
    found: dict[str, VerbLine] = {}
    for number, row in objects_of(path):
        caption, *lists = row.get("caption"), row.get("phrases", []), row.get("changed", [])
        fits = all(
            isinstance(some, list) and all(isinstance(text, str) for text in some) for some in lists
        )
        if not isinstance(caption, str) or not fits:
            raise ConfigError(
                f"Line {number} of {path} lacks a caption, or lists of phrases and changed. Add them."
            )
        phrases, changed = lists
        keyed = tuple(Changed(text, _keys(text)) for text in changed)
        found[caption] = VerbLine(caption, _keys(caption), tuple(phrases), keyed)
    return found


Keys = Sequence[str]  # verb phrases of one caption


def calibrated(
    originals: Iterable[Keys], generated: Sequence[Keys], order: Iterable[int] | None = None
) -> list[int]:
    """Return the generated captions to keep, by number, in ascending order; looked at in `order`, or as they come.

    One is kept if each of its verb phrases has been kept less often (G) than it occurs in original
    captions (S), so that no phrase is a negative more often than it is a positive.
    """
    left, kept = Counter(key for keys in originals for key in keys), []
    for number in range(len(generated)) if order is None else order:
        asked = Counter(generated[number])
        if all(left[key] >= count for key, count in asked.items()):
            left.subtract(asked)
            kept.append(number)
    return sorted(kept)


def in_turns(owners: Sequence[int], seed: int) -> list[int]:
    """Order generated captions at random, given the video of each: one of each video, then another one, and so on."""
    rng = random.Random(seed)
    by_owner: dict[int, list[int]] = defaultdict(list)
    for number, owner in enumerate(owners):
        by_owner[owner].append(number)
    queues = list(by_owner.values())
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)
    return [number for turn in zip_longest(*queues) for number in turn if number is not None]


def imbalances(
    originals: Iterable[Keys], generated: Iterable[Keys], batch_size: int
) -> dict[str, float]:
    """Return how often each verb phrase is a negative for each time that it is a positive, the most shifted first.

    R = ((B - 1) · S + G) / S, if a video's generated captions are negatives of it alone; without
    any it is B - 1. A phrase counts as often as it occurs.
    """
    made = Counter(key for keys in generated for key in keys)
    seen = Counter(key for keys in originals for key in keys)
    found = {key: batch_size - 1 + made[key] / count for key, count in seen.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
