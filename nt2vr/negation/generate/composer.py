"""Composed queries, A and not B, with relevant videos (paper, section 3.1.2, Figure 3).

Two captions of one video attribute A and B to the same subject, who may be "man" in one and
"person" in the other. Relevant videos have a caption with the subject doing A, and none with a
content word of B or a related word, anywhere; the paper requires it to occur with the subject.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, product
from random import Random
from typing import NamedTuple

from nt2vr.negation.generate.content import ContentIndex, Contents, Key, VideoContent
from nt2vr.negation.generate.denial import Sentence
from nt2vr.negation.generate.subjects import Subject
from nt2vr.negation.parse.inflect import do_or_does, finite, inflect_phrase, is_or_are


class Template(NamedTuple):
    """A sentence pattern and its parts, with fields in braces.

    Those of this module have a subject {S}, its pronoun {P}, a wanted verb phrase A and an unwanted
    one B. {A} agrees with the subject ("plays", "play"), {A_ing} is the participle, {B} the base
    form after {does_not}.
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
    """A query with its videos.

    Attributes:
        caption: "a man plays the guitar and he doesn't sit on a stool".
        wanted: "a man plays the guitar".
        unwanted: "sit on a stool".
        video_ids: relevant videos.
        hard_ids: videos that show both parts.
        violating_ids: videos that show the unwanted part.
        cap_id: in its file.
    """

    caption: str
    wanted: str
    unwanted: str
    video_ids: tuple[str, ...]
    hard_ids: tuple[str, ...]
    violating_ids: tuple[str, ...]
    cap_id: str = field(default="", kw_only=True, compare=False)


def compose_queries(videos: Contents, seed: int) -> Iterator[ComposedQuery]:
    """Yield every possible query over videos once, in their order.

    The seed selects the templates.
    """
    index = ContentIndex(videos)
    pairs_of_videos = map(_pairs, videos.values())
    for subject, wanted, unwanted in dict.fromkeys(chain.from_iterable(pairs_of_videos)):
        query = _query(index, subject, wanted=wanted, unwanted=unwanted, seed=seed)
        if query:
            yield query


def _query(
    index: ContentIndex, subject: Subject, wanted: Key, unwanted: Key, seed: int
) -> ComposedQuery | None:
    """Return the query for two actions of a subject; None if it needs a better wording or video."""
    wanted_text = index.usage.text(subject, wanted)
    unwanted_text = index.usage.text(subject, unwanted)
    if not wanted_text or not unwanted_text or not index.is_deniable(unwanted):
        return None
    showing = index.usage.shown_by(subject, wanted)
    maybe_violating = index.maybe_shown_by(index.words[unwanted])
    relevant = tuple(video for video in showing if video not in maybe_violating)
    if not relevant:
        return None

    rng = Random(f"{seed} {subject.text} {wanted} {unwanted}")
    sentence = fill_template(
        subject, wanted=wanted_text, unwanted=unwanted_text, rng=rng, is_corrected=True
    )
    violating = index.usage.shown_under_any_name(subject, unwanted)
    return ComposedQuery(
        caption=sentence.text,
        wanted=sentence.wanted,
        unwanted=sentence.unwanted,
        video_ids=relevant,
        hard_ids=tuple(video for video in showing if video in violating),
        violating_ids=tuple(violating),
    )


def _pairs(content: VideoContent) -> Iterator[tuple[Subject, Key, Key]]:
    """Pair actions of a subject with its actions in other captions of a video.

    It may have another name there.
    """
    actions: dict[Subject, dict[Key, None]] = defaultdict(dict)
    for subject, phrase in content.actions:
        actions[subject][phrase.key] = None
    for subject, wanted_actions in actions.items():
        unwanted_actions: dict[Key, None] = {}
        for name, actions_of_name in actions.items():
            if subject.may_be(name):
                unwanted_actions |= actions_of_name
        for wanted, unwanted in product(wanted_actions, unwanted_actions):
            if unwanted != wanted:
                yield subject, wanted, unwanted


def fill_template(
    subject: Subject, wanted: str, unwanted: str, rng: Random, is_corrected: bool = False
) -> Sentence:
    """Fill a random template, or its corrected form."""
    templates = WITH_PRONOUN if subject.pronoun else WITHOUT_PRONOUN
    template = rng.choice(templates)
    if is_corrected:
        template = CORRECTED.get(template, template)
    not_ = "n't" if rng.random() < 0.5 else " not"
    do = do_or_does(subject.is_plural)
    be = is_or_are(subject.is_plural)
    fields = {
        "S": subject.text,
        "P": subject.pronoun,
        "A": finite(wanted, subject.is_plural),
        "A_ing": inflect_phrase(wanted, "VBG"),
        "B": unwanted,
        "B_ing": inflect_phrase(unwanted, "VBG"),
        "does_not": f"{do}{not_}",
        "is_not": f"{be}{not_}",
        "is_": be,
    }
    return Sentence(
        text=template.text.format(**fields),
        wanted=template.wanted.format(**fields),
        unwanted=template.unwanted.format(**fields),
    )
