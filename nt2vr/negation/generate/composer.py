"""Composed queries, A and not B, with relevant videos (paper, section 3.1.2, Figure 3).

Two captions of one video attribute A and B to the same subject, who may be "man" in one and
"person" in the other. Relevant videos have a caption with the subject doing A, and none with a
content word of B or a related word, anywhere; the paper requires it to occur with the subject.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nt2vr.negation.generate.actions import Subject
from nt2vr.negation.generate.content import ContentIndex, Key, VideoContent
from nt2vr.negation.parse.inflect import inflect_phrase


class Template(NamedTuple):
    """A sentence pattern and its parts, with fields in braces.

    Here: a subject {S}, its pronoun {P}, a wanted verb phrase A and an unwanted one B. {A} agrees
    with the subject ("plays", "play"), {A_ing} is the participle, {B} the base form after
    {does_not}.
    """

    text: str
    wanted: str
    unwanted: str = ""


# Two of the paper's lack "is" or have the wrong form of a verb: "and he riding a horse", "while
# rides a horse". Query sets correct them; the built-in world and training keep them, for the sake
# of published numbers and old runs.
_WITHOUT_IS = Template("{S} not {B_ing} and {P} {A_ing}", "{S} {A_ing}", "{B_ing}")
_WHILE_FINITE = Template("{S} {does_not} {B} while {A}", "{S} {A}", "{B}")
CORRECTED = {
    _WITHOUT_IS: Template("{S} not {B_ing} and {P} {is_} {A_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
    _WHILE_FINITE: Template("{S} {does_not} {B} while {A_ing}", "{S} {A_ing}", "{B}"),
}
WITH_PRONOUN = (
    Template("{S} {A} and {P} {does_not} {B}", "{S} {A}", "{B}"),
    Template("{S} {does_not} {B} and {P} {A}", "{S} {A}", "{B}"),
    Template("{S} {A_ing} and not {B_ing}", "{S} {A_ing}", "{B_ing}"),
    _WITHOUT_IS,
    Template("{S} {is_} {A_ing} and not {B_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
    Template("{S} {is_not} {B_ing} and {P} {is_} {A_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
)
WITHOUT_PRONOUN = (
    Template("{S} {A} and {does_not} {B}", "{S} {A}", "{B}"),
    _WHILE_FINITE,
    Template("{S} {A_ing} and not {B_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} not {B_ing} while {A_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} {is_} {A_ing} and not {B_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
    Template("{S} {is_not} {B_ing} while {A_ing}", "{S} {A_ing}", "{B_ing}"),
)


@dataclass(frozen=True)
class ComposedQuery:
    """A query with its videos."""

    caption: str  # "a man plays the guitar and he doesn't sit on a stool"
    wanted: str  # "a man plays the guitar"
    unwanted: str  # "sit on a stool"
    video_ids: tuple[str, ...]  # relevant videos
    hard_ids: tuple[str, ...]  # videos that show both parts
    violating_ids: tuple[str, ...]  # videos that show the unwanted part
    cap_id: str = field(default="", kw_only=True, compare=False)  # in its file


class Composer:
    """Composes queries over one set of videos."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        self._videos, self._index = videos, ContentIndex(videos)

    def compose(self, seed: int) -> Iterator[ComposedQuery]:
        """Yield every possible query once, in the order of the videos; `seed` selects the templates."""
        done: set[tuple[Subject, Key, Key]] = set()
        for content in self._videos.values():
            keys: dict[Subject, dict[Key, None]] = defaultdict(dict)
            for subject, phrase in content.actions:
                keys[subject][phrase.key] = None
            for pair in _pairs(keys):
                if pair not in done and (query := self._query(*pair, seed)):
                    yield query
                done.add(pair)

    def _query(
        self, subject: Subject, wanted: Key, unwanted: Key, seed: int
    ) -> ComposedQuery | None:
        usage, index = self._index.usage, self._index
        a, b = usage.text(subject, wanted), usage.text(subject, unwanted)
        if not (a and b and index.is_deniable(unwanted)):
            return None
        shown, maybe = (
            usage.shown_by(subject, wanted),
            index.maybe_shown_by(index.words_of(unwanted)),
        )
        relevant = tuple(video_id for video_id in shown if video_id not in maybe)
        if not relevant:
            return None
        rng = random.Random(f"{seed} {subject.text} {wanted} {unwanted}")
        violating = usage.shown_under_any_name(subject, unwanted)
        return ComposedQuery(
            *fill_template(subject, a, b, rng, corrected=True),
            video_ids=relevant,
            hard_ids=tuple(video_id for video_id in shown if video_id in violating),
            violating_ids=tuple(violating),
        )


def _pairs(keys: Mapping[Subject, Mapping[Key, None]]) -> Iterator[tuple[Subject, Key, Key]]:
    """Pair actions of a subject with its actions in other captions, where it may have another name."""
    for subject, phrases in keys.items():
        others = {
            key: None for other, theirs in keys.items() if subject.may_be(other) for key in theirs
        }
        for wanted in phrases:
            yield from ((subject, wanted, unwanted) for unwanted in others if unwanted != wanted)


def fill_template(
    subject: Subject, wanted: str, unwanted: str, rng: random.Random, corrected: bool = False
) -> tuple[str, str, str]:
    """Fill a random template, or its corrected form; return the sentence, its wanted and its unwanted part."""
    template = rng.choice(WITH_PRONOUN if subject.pronoun else WITHOUT_PRONOUN)
    template = CORRECTED.get(template, template) if corrected else template
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
