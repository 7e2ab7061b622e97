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

from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.content import ContentIndex, Key, VideoContent, VideoIds
from nt2vr.negation.generate.subjects import PERSON, Subject
from nt2vr.negation.generate.things import NamedThing
from nt2vr.negation.generate.wordings import lacking, templates_for
from nt2vr.negation.parse.inflect import inflect_phrase, is_or_are

# Fewest videos that must show B, for "not B".
MIN_VIDEOS = 3


@dataclass(frozen=True)
class AbsenceQuery(ComposedQuery):
    """A query for absent content.

    "not" has no wanted part, and all videos with the unwanted one are hard.
    """

    kind: Literal["without", "not"]


class Absences:
    """Writes queries for content absent from videos of one set."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        self._videos = videos
        self._index = ContentIndex(videos)
        # Distinct things by video.
        self._things = {video: _distinct_things(content) for video, content in videos.items()}
        # Things by name and video.
        self._by_name: dict[str, dict[str, list[NamedThing]]] = defaultdict(dict)
        self._videos_of_kind: dict[str, set[str]] = defaultdict(set)
        for video_id, things in self._things.items():
            for thing in things:
                self._videos_of_kind[_kind(thing)].add(video_id)
                for name in thing.names:
                    self._by_name[name].setdefault(video_id, []).append(thing)

    def write(self, seed: int) -> Iterator[AbsenceQuery]:
        """Yield "A without N" for actions and the videos it is drawn for, then "not B".

        B is each thing, then each action.
        """
        yield from self._without(seed)
        yield from self._no_things(seed)
        yield from self._no_actions(seed)

    def _without(self, seed: int) -> Iterator[AbsenceQuery]:
        done: set[tuple[Subject, Key, str]] = set()
        for video_id, content in self._videos.items():
            for subject, key in _distinct_actions(content):
                rng = random.Random(f"{seed} {video_id} {subject.text} {key}")
                thing = self._draw_thing(video_id, key, rng)
                if thing is None or (subject, key, _kind(thing)) in done:
                    continue
                done.add((subject, key, _kind(thing)))
                query = self._without_thing(subject, key, thing, rng)
                if query:
                    yield query

    def _draw_thing(self, video_id: str, key: Key, rng: random.Random) -> NamedThing | None:
        """Draw a thing that a video's captions name, and that does not belong to an action."""
        words = self._index.words_of(key)
        things = [thing for thing in self._things[video_id] if _kind(thing) not in words]
        return rng.choice(things) if things else None

    def _without_thing(
        self, subject: Subject, key: Key, thing: NamedThing, rng: random.Random
    ) -> AbsenceQuery | None:
        text = self._index.usage.text(subject, key)
        with_action = self._index.usage.shown_by(subject, key)
        with_thing = self._with(thing)
        maybe_with_thing = self._maybe_with(thing)
        relevant = tuple(video for video in with_action if video not in maybe_with_thing)
        if not text or not relevant or len(with_thing) < 2:
            return None

        verb = is_or_are(subject.is_plural)
        wanted = f"{subject.text} {verb} {inflect_phrase(text, 'VBG')}"
        return AbsenceQuery(
            caption=lacking("without", thing, rng, wanted),
            wanted=wanted,
            unwanted=thing.text,
            video_ids=relevant,
            hard_ids=tuple(video for video in with_action if video in with_thing),
            violating_ids=tuple(with_thing),
            kind="without",
        )

    def _no_things(self, seed: int) -> Iterator[AbsenceQuery]:
        counts_of_kind: dict[str, Counter[NamedThing]] = defaultdict(Counter)
        for thing in chain.from_iterable(self._things.values()):
            counts_of_kind[_kind(thing)][thing] += 1
        for kind, counts in counts_of_kind.items():
            thing = _most_frequent(counts)
            text = lacking("no thing", thing, random.Random(f"{seed} no {kind}"))
            yield from self._not(text, thing.text, self._with(thing), self._maybe_with(thing))

    def _no_actions(self, seed: int) -> Iterator[AbsenceQuery]:
        keys: dict[Key, None] = {}
        for content in self._videos.values():
            for subject, phrase in content.actions:
                if subject.generic == PERSON:
                    keys[phrase.key] = None
        for key in keys:
            text = self._index.usage.text(PERSON, key)
            if text and self._index.is_deniable(key):
                yield from self._no_action(key, text, seed)

    def _no_action(self, key: Key, text: str, seed: int) -> Iterator[AbsenceQuery]:
        doing = inflect_phrase(text, "VBG")
        template = random.Random(f"{seed} not {key}").choice(templates_for("no action"))
        sentence = template.format(B_ing=doing, B_s=inflect_phrase(text, "VBZ"))
        with_action = self._index.usage.shown_by(PERSON, key)
        maybe_with_action = self._index.maybe_shown_by(self._index.words_of(key))
        yield from self._not(sentence, doing, with_action, maybe_with_action.union(with_action))

    def _not(
        self, text: str, unwanted: str, showing: VideoIds, maybe_showing: frozenset[str]
    ) -> Iterator[AbsenceQuery]:
        relevant = tuple(video for video in self._videos if video not in maybe_showing)
        if len(showing) < MIN_VIDEOS or not relevant:
            return
        yield AbsenceQuery(
            caption=text,
            wanted="",
            unwanted=unwanted,
            video_ids=relevant,
            hard_ids=tuple(showing),
            violating_ids=tuple(showing),
            kind="not",
        )

    def _with(self, thing: NamedThing) -> VideoIds:
        """Return the videos with a thing, in order."""
        videos: VideoIds = {}
        for video_id, things in self._by_name.get(thing.head, {}).items():
            if any(candidate.is_a(thing) for candidate in things):
                videos[video_id] = None
        return videos

    def _maybe_with(self, thing: NamedThing) -> frozenset[str]:
        kind = _kind(thing)
        return self._index.maybe_shown_by([kind]).union(self._videos_of_kind[kind])


def _distinct_things(content: VideoContent) -> list[NamedThing]:
    """Return the things of a video, without people, whose names vary."""
    things = [thing for thing in content.things if "person" not in thing.names]
    return list(dict.fromkeys(things))


def _distinct_actions(content: VideoContent) -> dict[tuple[Subject, Key], None]:
    """Return the actions of a video, in order."""
    return {(subject, phrase.key): None for subject, phrase in content.actions}


def _most_frequent(counts: Counter[NamedThing]) -> NamedThing:
    """Return the most frequent thing; of several, the first by alphabet."""
    return min(counts, key=lambda thing: (-counts[thing], thing.text))


def _kind(thing: NamedThing) -> str:
    """Return the lemma that things of a kind share: "cat" for a cat and for a kitten."""
    return min(thing.names)
