"""Captions with another verb, by rules, as hard negatives of VFC.

"a man is cutting a cake" becomes "a man is eating a cake", if other captions have "eat" with a cake and
with a person. Nobody has checked that the changed caption is false of the video.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

from nt2vr.negation.generate.related import groups_in, related
from nt2vr.negation.parse.inflect import inflect
from nt2vr.negation.parse.wordlists import listed
from nt2vr.papers.vfc.verb_sources import VerbSource
from nt2vr.papers.vfc.verb_uses import VerbUse, verb_uses_of

# Changed captions per caption, as in the paper.
MAX_CHANGED = 10

# How often captions must have a new verb with the object, and with the subject. Of the source
# "random": how often they must have it.
MIN_CAPTIONS = 2


class ChangedCaption(NamedTuple):
    """A caption with another verb, and the keys of its verb phrases (`VerbUse.key`)."""

    text: str
    keys: tuple[str, ...]


class CaptionVerbs(NamedTuple):
    """What VFC needs of a caption."""

    caption: str

    # Its verb phrases, as calibration counts them and as texts.
    keys: tuple[str, ...]
    phrases: tuple[str, ...]

    # The caption with another verb.
    changed: tuple[ChangedCaption, ...]


class VerbChanges:
    """Gives another verb to captions of many videos."""

    def __init__(self, videos: Iterable[Sequence[str]]) -> None:
        """Parse the captions of each video, in about 2 ms each."""
        # By caption, one mapping per video.
        self._uses: list[Mapping[str, list[VerbUse]]] = []

        # How often verbs occur with a preposition and noun, and with a subject.
        self._verbs_with_noun: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._verbs_of_subject: dict[str, Counter[str]] = defaultdict(Counter)
        verb_counts: Counter[str] = Counter()

        for captions in videos:
            uses_of_caption = {caption: verb_uses_of(caption) for caption in captions}
            self._uses.append(uses_of_caption)
            for use in chain.from_iterable(uses_of_caption.values()):
                verb_counts[use.verb] += 1
                self._verbs_of_subject[use.subject][use.verb] += 1
                if not use.is_bare:
                    self._verbs_with_noun[use.preposition, use.noun][use.verb] += 1

        self._frequent_verbs: dict[str, int] = {}
        for verb, count in sorted(verb_counts.items()):
            if count >= MIN_CAPTIONS:
                self._frequent_verbs[verb] = count

    def __len__(self) -> int:
        return len(self._uses)

    def captions(self, row: int, source: VerbSource, seed: int) -> list[CaptionVerbs]:
        """Return the captions of a video with their verb phrases and changed captions."""
        captions = []
        for caption, uses in self._uses[row].items():
            rng = Random(f"{seed} {caption}")
            captions.append(
                CaptionVerbs(
                    caption=caption,
                    keys=tuple(use.key for use in uses),
                    phrases=tuple(dict.fromkeys(use.phrase for use in uses)),
                    changed=tuple(self.change(row, caption, source, rng=rng)),
                )
            )
        return captions

    def change(
        self, row: int, caption: str, source: VerbSource, rng: Random
    ) -> list[ChangedCaption]:
        """Change one verb of a caption, in up to `MAX_CHANGED` ways that no caption of the video has."""
        captions = self._uses[row]
        uses = captions[caption]
        keys = [use.key for use in uses]
        changed = {}
        for _, number, new_verb in self._ranked_changes(row, caption, source, rng=rng):
            use = uses[number]
            text = _with_verb(caption, use, new_verb)
            if text in captions:
                continue
            new_keys = list(keys)
            new_keys[number] = use._replace(verb=new_verb).key
            changed[text] = ChangedCaption(text, tuple(new_keys))
        return list(changed.values())[:MAX_CHANGED]

    def _ranked_changes(
        self, row: int, caption: str, source: VerbSource, rng: Random
    ) -> list[tuple[float, int, str]]:
        """Return all changes of a caption in random order: a sort key, the number of a verb use, its new verb.

        A verb is drawn with a probability proportional to the root of its count, without
        replacement: of all candidates, those with the largest u^(1/weight) come first, where u is
        uniform from 0 to 1 (Efraimidis & Spirakis, "Weighted random sampling with a reservoir",
        2006). The weights of each verb use sum to 1, so that all have the same chance.
        """
        captions = self._uses[row]
        uses_of_video = chain.from_iterable(captions.values())
        video_verbs = {use.verb for use in uses_of_video}
        changes = []
        for number, use in enumerate(captions[caption]):
            new_verbs = self._new_verbs(use, video_verbs, source)
            sum_of_roots = sum(count**0.5 for count in new_verbs.values())
            for verb, count in new_verbs.items():
                sort_key = rng.random() ** (sum_of_roots / count**0.5)
                changes.append((sort_key, number, verb))
        return sorted(changes, reverse=True)

    def _new_verbs(
        self, use: VerbUse, video_verbs: set[str], source: VerbSource
    ) -> Mapping[str, int]:
        """Return verbs that may take the place of a use's, with their counts.

        The controls, antonyms and random verbs, may be verbs of the video's other captions.
        """
        if source == "rules":
            return self._verbs_with_same_noun(use, video_verbs)
        if source == "antonym":
            antonyms = chain.from_iterable(_groups_with(use.verb, "antonyms.txt"))
            verbs = dict.fromkeys(antonyms, 1)
        else:
            verbs = dict(self._frequent_verbs)
        verbs.pop(use.verb, None)
        return verbs

    def _verbs_with_same_noun(self, use: VerbUse, video_verbs: set[str]) -> Mapping[str, int]:
        """Return verbs that other captions have with the same noun and with the same subject.

        Neither they nor their synonyms are among the verbs of the video.
        """
        with_noun = self._verbs_with_noun[use.preposition, use.noun]
        of_subject = self._verbs_of_subject[use.subject]
        excluded: frozenset[str] = _unsuitable_verbs(use).union(*map(_synonyms, video_verbs))

        verbs = {}
        for verb, count in sorted(with_noun.items()):
            if min(count, of_subject[verb]) < MIN_CAPTIONS or verb in excluded:
                continue
            if _synonyms(verb).isdisjoint(video_verbs):
                verbs[verb] = count
        return verbs


def _with_verb(caption: str, use: VerbUse, verb: str) -> str:
    before = caption[: use.start]
    after = caption[use.end :]
    return f"{before}{inflect(verb, use.form)}{after}"


def _unsuitable_verbs(use: VerbUse) -> frozenset[str]:
    """Return verbs that make no sentence in place of a use's verb, or one that is often true as well."""
    unsuitable = listed("not_actions", "not_new")
    if use.preposition:
        return unsuitable
    if use.noun:
        return unsuitable | listed("intransitive_verbs") | {"dance"}
    return unsuitable | listed("incomplete_alone")


def _synonyms(verb: str) -> frozenset[str]:
    """Return a verb, its synonyms, and words that captions may use instead."""
    return related(verb).union(*_groups_with(verb, "verb_synonyms.txt"))


def _groups_with(verb: str, file: str) -> list[frozenset[str]]:
    return [group for group in groups_in(file) if verb in group]
