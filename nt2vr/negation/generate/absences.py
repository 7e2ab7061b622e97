"""Queries for what a video lacks ("A without N", "not B" alone), with their videos.

A video has what one of its captions mentions, and lacks what none mentions in any related word.
Other videos count as neither, such as one with a metal bowl for "no white bowl".
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Literal

from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.content import (
    ContentIndex,
    Contents,
    Key,
    SubjectAction,
    VideoIds,
)
from nt2vr.negation.generate.subjects import PERSON
from nt2vr.negation.generate.things import NamedThing
from nt2vr.negation.generate.wordings import lacking, templates_for
from nt2vr.negation.parse.inflect import inflect_phrase, is_or_are

# Fewest videos that must show B, for "not B".
MIN_VIDEOS = 3

ThingsByVideo = dict[str, list[NamedThing]]


@dataclass(frozen=True)
class AbsenceQuery(ComposedQuery):
    """A query for absent content.

    "not" has no wanted part, and all videos with the unwanted one are hard.
    """

    kind: Literal["without", "not"]


class Absences:
    """Writes queries for content absent from videos of one set."""

    def __init__(self, videos: Contents) -> None:
        self._videos = videos
        self._index = ContentIndex(videos)
        # Distinct things by video, without people, whose names vary.
        self._things: ThingsByVideo = {}
        self._by_name: dict[str, ThingsByVideo] = defaultdict(lambda: defaultdict(list))
        for video_id, content in videos.items():
            things = [thing for thing in content.things if "person" not in thing.names]
            self._things[video_id] = list(dict.fromkeys(things))
            for thing in self._things[video_id]:
                for name in thing.names:
                    self._by_name[name][video_id].append(thing)

    def write(self, seed: int) -> Iterator[AbsenceQuery]:
        """Yield "A without N" for actions and the videos it is drawn for, then "not B".

        B is each thing, then each action.
        """
        yield from self._without(seed)
        yield from self._no_things(seed)
        yield from self._no_actions(seed)

    def _without(self, seed: int) -> Iterator[AbsenceQuery]:
        done = set()
        for video_id, content in self._videos.items():
            actions = [(subject, phrase.key) for subject, phrase in content.actions]
            for action in dict.fromkeys(actions):
                subject, key = action
                rng = Random(f"{seed} {video_id} {subject.text} {key}")
                thing = self._draw_thing(video_id, key, rng)
                if thing is None or (action, thing.kind) in done:
                    continue
                done.add((action, thing.kind))
                query = self._without_thing(action, thing, rng)
                if query:
                    yield query

    def _draw_thing(self, video_id: str, key: Key, rng: Random) -> NamedThing | None:
        """Draw a thing that a video's captions name, and that does not belong to an action."""
        words = self._index.words[key]
        things = [thing for thing in self._things[video_id] if thing.kind not in words]
        return rng.choice(things) if things else None

    def _without_thing(
        self, action: SubjectAction, thing: NamedThing, rng: Random
    ) -> AbsenceQuery | None:
        subject, key = action
        text = self._index.usage.text(subject, key)
        with_thing = self._with(thing)
        if not text or len(with_thing) < 2:
            return None

        with_action = self._index.usage.shown_by(subject, key)
        maybe_with_thing = self._maybe_with(thing)
        relevant = tuple(video for video in with_action if video not in maybe_with_thing)
        if not relevant:
            return None

        verb = is_or_are(subject.is_plural)
        doing = inflect_phrase(text, "VBG")
        wanted = f"{subject.text} {verb} {doing}"
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
            counts_of_kind[thing.kind][thing] += 1
        for kind, counts in counts_of_kind.items():
            # The most frequent thing; of several, the first by alphabet.
            thing = min(counts, key=lambda thing: (-counts[thing], thing.text))
            rng = Random(f"{seed} no {kind}")
            yield from self._not(
                lacking("no thing", thing, rng),
                unwanted=thing.text,
                showing=self._with(thing),
                maybe_showing=self._maybe_with(thing),
            )

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
        rng = Random(f"{seed} not {key}")
        template = rng.choice(templates_for("no action"))
        with_action = self._index.usage.shown_by(PERSON, key)
        maybe_with_action = self._index.maybe_shown_by(self._index.words[key])
        yield from self._not(
            template.format(B_ing=doing, B_s=inflect_phrase(text, "VBZ")),
            unwanted=doing,
            showing=with_action,
            maybe_showing=maybe_with_action.union(with_action),
        )

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
        for video_id, things in self._by_name[thing.head].items():
            if any(candidate.is_a(thing) for candidate in things):
                videos[video_id] = None
        return videos

    def _maybe_with(self, thing: NamedThing) -> frozenset[str]:
        return self._index.maybe_shown_by([thing.kind]).union(self._by_name[thing.kind])
