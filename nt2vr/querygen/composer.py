"""Composed queries: a subject doing A and not B, with the relevant videos (nT2VR, section 3.1.2, Figure 3).

A and B are verb phrases that two captions of one video attribute to the same subject, so at least this video shows
both. Relevant videos have a caption with the subject doing A, and no caption with a content word of B or a related
word. The paper requires that word to occur with the subject; here it may occur anywhere, because captions of one video
call the same person "man" or "guy". Queries without relevant videos are dropped.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from nt2vr.language.inflect import inflect_phrase
from nt2vr.language.subjects import Subject
from nt2vr.language.wordlists import words
from nt2vr.querygen.actions import Action
from nt2vr.querygen.related import derived_from, related
from nt2vr.querygen.templates import CORRECTED, WITH_PRONOUN, WITHOUT_PRONOUN, Template
from nt2vr.querygen.usage import Key, Usage

_MIN_VIDEOS = 2  # that mention each word of B: a word of a single video is a name or a typo
# Often visible without being mentioned in captions
_UNSAID = words("stand sit smile gesture look walk lay lie move hold hand use wear wait turn step come go stay talk")


@dataclass(frozen=True)
class VideoContent:
    """Content of one video according to its captions: actions, and the lemmas of all words."""

    actions: Sequence[Action]
    lemmas: frozenset[str]


@dataclass(frozen=True)
class ComposedQuery:
    """A query with its relevant videos.

    Attributes:
        caption: the query, "a man plays the guitar and he doesn't sit on a stool".
        wanted: the wanted part, "a man plays the guitar".
        unwanted: the unwanted part, "sit on a stool".
        video_ids: relevant videos.
        violating_ids: videos that show both parts.
    """

    caption: str
    wanted: str
    unwanted: str
    video_ids: tuple[str, ...]
    violating_ids: tuple[str, ...]


class Composer:
    """Composes queries over one set of videos."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        """Index the content of videos, given by their ids."""
        self._videos = videos
        self._usage = Usage()
        self._content: dict[Key, frozenset[str]] = defaultdict(frozenset)
        self._mentioned_in: dict[str, set[str]] = defaultdict(set)  # lemma -> videos
        for video_id, content in videos.items():
            for action in content.actions:
                self._usage.add(video_id, action)
                self._content[action.phrase.key] |= action.phrase.content
            for lemma in content.lemmas:
                self._mentioned_in[lemma].add(video_id)
        self._maybe_shown_by = cache(self._find_maybe_shown_by)

    def compose(self, seed: int) -> Iterator[ComposedQuery]:
        """Yield every possible query once, in the order of the videos; `seed` selects the templates."""
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
        if (
            not a
            or not b
            or content <= _UNSAID
            or any(len(self._mentioned_in[word]) < _MIN_VIDEOS for word in content)
        ):
            return None
        shown = self._usage.shown_by(subject, wanted)
        maybe: frozenset[str] = frozenset().union(*map(self._maybe_shown_by, content))
        relevant = tuple(video_id for video_id in shown if video_id not in maybe)
        if not relevant:
            return None
        rng = random.Random(f"{seed} {subject.text} {wanted} {unwanted}")
        return ComposedQuery(
            *fill_template(subject, a, b, rng, CORRECTED),
            video_ids=relevant,
            violating_ids=tuple(video_id for video_id in shown if video_id in self._usage.shown_by(subject, unwanted)),
        )

    def _find_maybe_shown_by(self, lemma: str) -> frozenset[str]:
        """Return the videos whose captions have a content word or a related one."""
        lemmas = related(lemma) | derived_from(lemma, self._mentioned_in)
        return frozenset().union(*(self._mentioned_in.get(word, ()) for word in lemmas))


def _pairs(keys: Mapping[Subject, Mapping[Key, None]]) -> Iterator[tuple[Subject, Key, Key]]:
    """Pair actions of a subject with its actions in other captions, where it may have another name."""
    for subject, phrases in keys.items():
        others = {
            key: None
            for other, theirs in keys.items()
            if other.generic == subject.generic and {other.pronoun, subject.pronoun} != {"he", "she"}
            for key in theirs
        }
        for wanted in phrases:
            yield from ((subject, wanted, unwanted) for unwanted in others if unwanted != wanted)


def fill_template(
    subject: Subject,
    wanted: str,
    unwanted: str,
    rng: random.Random,
    instead: Mapping[Template, Template] = MappingProxyType({}),
) -> tuple[str, str, str]:
    """Fill a random template, or the one `instead` of it; return the sentence, its wanted and its unwanted part."""
    template = rng.choice(WITH_PRONOUN if subject.pronoun else WITHOUT_PRONOUN)
    template = instead.get(template, template)
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
