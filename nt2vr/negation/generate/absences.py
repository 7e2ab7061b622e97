"""Queries for what a video lacks ("A without N", "not B" alone), with their videos.

A video has what one of its captions mentions, and lacks what none mentions in any related word.
Other videos count as neither, such as one with a metal bowl for "no white bowl".
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from nt2vr.negation.generate.actions import Subject
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.content import ContentIndex, Key, Thing, VideoContent
from nt2vr.negation.generate.denials import lacking, templates_for
from nt2vr.negation.parse.inflect import inflect_phrase

MIN_VIDEOS = 3  # that show B, for "not B"


@dataclass(frozen=True)
class AbsenceQuery(ComposedQuery):
    """A query for absent content; "not" has no wanted part, and all videos with the unwanted one are hard."""

    kind: Literal["without", "not"]


class Absences:
    """Writes queries for content absent from videos of one set."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        self._videos, self._index = videos, ContentIndex(videos)
        self._named: dict[
            str, dict[Thing, None]
        ] = {  # things of each video, without people, whose names vary
            video_id: {thing: None for thing in content.things if "person" not in thing.names}
            for video_id, content in videos.items()
        }
        self._by_name: dict[str, dict[str, list[Thing]]] = defaultdict(
            lambda: defaultdict(list)
        )  # by video, in order
        self._of_kind: dict[str, set[str]] = defaultdict(set)  # videos
        for video_id, named in self._named.items():
            for thing in named:
                self._of_kind[_kind(thing)].add(video_id)
                for name in thing.names:
                    self._by_name[name][video_id].append(thing)

    def write(self, seed: int) -> Iterator[AbsenceQuery]:
        """Yield "A without N" once per action and video it is drawn for, then "not B" for each thing and action."""
        yield from self._without(seed)
        of_kind: dict[str, Counter[Thing]] = defaultdict(Counter)
        for thing in chain.from_iterable(self._named.values()):
            of_kind[_kind(thing)][thing] += 1
        for kind, counts in of_kind.items():
            thing = min(counts, key=lambda each: (-counts[each], each.text))
            text = lacking("no thing", thing, random.Random(f"{seed} no {kind}"))
            yield from self._not(text, thing.text, self._with(thing), self._maybe_with(thing))
        yield from self._no_deed(seed)

    def _without(self, seed: int) -> Iterator[AbsenceQuery]:
        done: set[tuple[Subject, Key, str]] = set()
        for video_id, content in self._videos.items():
            for subject, key in dict.fromkeys(
                (subject, phrase.key) for subject, phrase in content.actions
            ):
                rng = random.Random(f"{seed} {video_id} {subject.text} {key}")
                things = [
                    thing
                    for thing in self._named[video_id]
                    if _kind(thing) not in self._index.words_of(key)
                ]
                if not things or (subject, key, _kind(thing := rng.choice(things))) in done:
                    continue
                done.add((subject, key, _kind(thing)))
                if query := self._without_thing(subject, key, thing, rng):
                    yield query

    def _without_thing(
        self, subject: Subject, key: Key, thing: Thing, rng: random.Random
    ) -> AbsenceQuery | None:
        text, shown = self._index.usage.text(subject, key), self._index.usage.shown_by(subject, key)
        with_thing, maybe = self._with(thing), self._maybe_with(thing)
        relevant = tuple(video_id for video_id in shown if video_id not in maybe)
        if not (text and relevant and len(with_thing) > 1):
            return None
        wanted = (
            f"{subject.text} {'are' if subject.is_plural else 'is'} {inflect_phrase(text, 'VBG')}"
        )
        query = lacking("without", thing, rng, wanted)
        hard = tuple(video_id for video_id in shown if video_id in with_thing)
        return AbsenceQuery(query, wanted, thing.text, relevant, hard, tuple(with_thing), "without")

    def _no_deed(self, seed: int) -> Iterator[AbsenceQuery]:
        actions = (
            (s.generic, phrase.key)
            for content in self._videos.values()
            for s, phrase in content.actions
        )
        for subject, key in dict.fromkeys(actions):
            text = self._index.usage.text(subject, key)
            if not (
                text and subject.is_human and not subject.is_plural and self._index.is_deniable(key)
            ):
                continue
            doing, does = inflect_phrase(text, "VBG"), inflect_phrase(text, "VBZ")
            template = random.Random(f"{seed} not {key}").choice(templates_for("no deed"))
            sentence = template.format(B_ing=doing, B_s=does)
            shown = self._index.usage.shown_by(subject, key)
            maybe = self._index.maybe_shown_by(self._index.words_of(key)).union(shown)
            yield from self._not(sentence, doing, shown, maybe)

    def _not(
        self, text: str, unwanted: str, shown: Mapping[str, None], maybe: frozenset[str]
    ) -> Iterator[AbsenceQuery]:
        relevant = tuple(video_id for video_id in self._videos if video_id not in maybe)
        if len(shown) >= MIN_VIDEOS and relevant:
            yield AbsenceQuery(text, "", unwanted, relevant, tuple(shown), tuple(shown), "not")

    def _with(self, thing: Thing) -> dict[str, None]:
        named = self._by_name[thing.head]
        return {
            video_id: None
            for video_id, things in named.items()
            if any(each.is_a(thing) for each in things)
        }

    def _maybe_with(self, thing: Thing) -> frozenset[str]:
        return self._index.maybe_shown_by([_kind(thing)]).union(self._of_kind[_kind(thing)])


def _kind(thing: Thing) -> str:
    """Return the lemma that things of a kind share: "cat" for a cat and for a kitten."""
    return min(thing.names)
