"""Composed queries: who, doing A and not B, with the videos for which that is right (nT2VR, section 3.1.2, Figure 3).

A and B are verb phrases that two captions of one video give the same subject, so that video at least shows A and B.
Relevant are the videos whose captions have the subject with A, less all whose captions have a content word of B, or a
word that tells of the same. The paper asks for that word beside the subject; the captions of one video call a person
"man" here and "guy" there, so here it may stand anywhere. A query without relevant videos is dropped.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nt2vr.language.inflect import inflect_phrase
from nt2vr.language.subjects import Subject
from nt2vr.language.wordlists import words
from nt2vr.querygen.actions import Action
from nt2vr.querygen.related import grown_from, related
from nt2vr.querygen.templates import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.querygen.usage import Key, Usage

_LEAST_VIDEOS = 2  # that have a word of the unwanted; a word of one video alone is a name or a slip
# Where captions are silent about these they may still be seen
_UNSAID = words("stand sit smile gesture look walk lay lie move hold hand use wear wait turn step come go stay talk")


@dataclass(frozen=True)
class VideoContent:
    """What the captions of one video say: the actions they describe, and the lemmas of all their words."""

    actions: Sequence[Action]
    lemmas: frozenset[str]


@dataclass(frozen=True)
class ComposedQuery:
    """A query with its answer.

    Attributes:
        caption: the query, "a man plays the guitar and he doesn't sit on a stool".
        wanted: the part to be seen, "a man plays the guitar".
        unwanted: the part not to be seen, "sit on a stool".
        video_ids: the relevant videos.
        violating_ids: videos that show the wanted and the unwanted part.
    """

    caption: str
    wanted: str
    unwanted: str
    video_ids: tuple[str, ...]
    violating_ids: tuple[str, ...]


class Composer:
    """Composes queries over one set of videos."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        """Index what the captions of `videos`, by their ids, say."""
        self._videos = videos
        self._usage = Usage()
        self._content: dict[Key, frozenset[str]] = defaultdict(frozenset)
        self._said_of: dict[str, set[str]] = defaultdict(set)  # videos by the lemmas of their captions
        for video_id, content in videos.items():
            for action in content.actions:
                self._usage.add(video_id, action)
                self._content[action.phrase.key] |= action.phrase.content
            for lemma in content.lemmas:
                self._said_of[lemma].add(video_id)
        self._maybe_said_by = cache(self._find_maybe_said_by)

    def compose(self, seed: int) -> Iterator[ComposedQuery]:
        """Yield every query there is, once, in the order of the videos; `seed` draws the template of each."""
        done: set[tuple[Subject, Key, Key]] = set()
        for content in self._videos.values():
            keys: dict[Subject, dict[Key, None]] = defaultdict(dict)
            for subject, phrase in content.actions:
                keys[subject][phrase.key] = None
            for subject, wanted, unwanted in _pairs(keys):
                if (subject, wanted, unwanted) in done:
                    continue
                done.add((subject, wanted, unwanted))
                query = self._query(subject, wanted, unwanted, seed)
                if query:
                    yield query

    def _query(self, subject: Subject, wanted: Key, unwanted: Key, seed: int) -> ComposedQuery | None:
        a, b = self._usage.text(subject, wanted), self._usage.text(subject, unwanted)
        content = self._content[unwanted]
        if not a or not b or content <= _UNSAID or any(len(self._said_of[word]) < _LEAST_VIDEOS for word in content):
            return None
        shown = self._usage.shown_by(subject, wanted)
        maybe: frozenset[str] = frozenset().union(*map(self._maybe_said_by, content))
        relevant = tuple(video_id for video_id in shown if video_id not in maybe)
        if not relevant:
            return None
        rng = random.Random(f"{seed} {subject.text} {wanted} {unwanted}")
        return ComposedQuery(
            *composed(subject, a, b, rng),
            video_ids=relevant,
            violating_ids=tuple(video_id for video_id in shown if video_id in self._usage.shown_by(subject, unwanted)),
        )

    def _find_maybe_said_by(self, lemma: str) -> frozenset[str]:
        """Return the videos that may show what a content word says: those with a word that tells of the same."""
        lemmas = related(lemma) | grown_from(lemma, self._said_of)
        return frozenset().union(*(self._said_of.get(word, ()) for word in lemmas))


def _pairs(keys: Mapping[Subject, Mapping[Key, None]]) -> Iterator[tuple[Subject, Key, Key]]:
    """Pair what a subject does in one caption with what it may do in another, where it may be called otherwise."""
    for subject, phrases in keys.items():
        others = {
            key: None
            for other, theirs in keys.items()
            if other.generic == subject.generic and {other.pronoun, subject.pronoun} != {"he", "she"}
            for key in theirs
        }
        for wanted in phrases:
            yield from ((subject, wanted, unwanted) for unwanted in others if unwanted != wanted)


def composed(subject: Subject, wanted: str, unwanted: str, rng: random.Random) -> tuple[str, str, str]:
    """Put a subject and two verb phrases into a template: the sentence, its wanted and its unwanted part."""
    template = rng.choice(WITH_PRONOUN if subject.pronoun else WITHOUT_PRONOUN)
    short = rng.random() < 0.5
    do, be = ("do", "are") if subject.is_plural else ("does", "is")
    fields = {
        "S": subject.text,
        "P": subject.pronoun,
        "A": wanted if subject.is_plural else inflect_phrase(wanted, "VBZ"),
        "A_ing": inflect_phrase(wanted, "VBG"),
        "B": unwanted,
        "B_ing": inflect_phrase(unwanted, "VBG"),
        "does_not": f"{do}n't" if short else f"{do} not",
        "is_not": f"{be}n't" if short else f"{be} not",
        "is_": be,
    }
    text, with_a, without_b = (part.format(**fields) for part in template)
    return text, with_a, without_b
