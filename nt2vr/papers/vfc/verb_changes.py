"""Captions with another verb, by rules, as hard negatives of VFC.

Another verb comes from other captions, where it has the same object. Nobody has checked that a
changed caption is false of its video.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nt2vr.negation.generate.content import groups_in, related
from nt2vr.negation.parse.inflect import inflect
from nt2vr.negation.parse.wordlists import listed
from nt2vr.papers.vfc.verb_sources import Rule
from nt2vr.papers.vfc.verb_uses import Frame, frames_of

MOST = 10  # changed captions per caption
LEAST_SEEN = 2  # captions that a verb must have with an object


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
