"""Queries to ask instead of one that hardly any clip of the built-in world fits, by what its clips show."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from nt2vr.language.inflect import inflect_phrase, verb_of
from nt2vr.language.query import Query
from nt2vr.search.rewording import reword
from nt2vr.world.captions import with_article
from nt2vr.world.lexicon import Names, lexicon, tokens_of
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import Claim, read_claim
from nt2vr.world.vocabulary import ACTIVITIES, SUBJECTS

FEW = 1  # clips that fit a query for which others are offered
MOST = 3
_ANYBODY = 4  # subjects: "a person" says little


def fitting(query: Query, scenes: Sequence[Scene]) -> int:
    """Count the scenes that show the wanted part and nothing unwanted; 0 where words of the query are unknown."""
    wanted, unwanted = ([read_claim(part) for part in parts] for parts in (query.wanted, query.unwanted))
    claims = [claim for claim in (*wanted, *unwanted) if claim is not None]
    if len(claims) < len(wanted) + len(unwanted) or not claims:
        return 0
    asked, denied = claims[: len(wanted)], claims[len(wanted) :]
    return sum(
        all(claim.holds(scene) for claim in asked) and not any(claim.holds(scene) for claim in denied)
        for scene in scenes
    )


def offers(query: Query, scenes: Sequence[Scene]) -> list[str]:
    """Return other queries that more scenes fit: near ones, with the same exclusions as far as these are known.

    A vague deed is made concrete ("kids playing": "a boy playing the guitar"); of a rare one, the subject or the deed
    changes. Nothing is offered where the query names neither a certain subject nor a deed of the world.
    """
    words = tokens_of(" ".join(query.wanted))
    verbs = {verb for word in words if (verb := verb_of(word))}
    subjects, deeds, places = (_named(words, kind) for kind in ("subject", "activity", "place"))
    subjects = subjects if len(subjects) < _ANYBODY else frozenset()
    unwanted = [part.removeprefix("with ") for part in query.unwanted]
    unwanted = [part for part in unwanted if (claim := read_claim(part)) and not _excludes(claim, deeds)]
    denied = [claim for part in unwanted if (claim := read_claim(part))]

    def nearness(actor: Actor, scene: Scene) -> int:
        same_subject = actor.subject in subjects
        shares_verb = any(phrase.split()[0] in verbs for phrase in ACTIVITIES[actor.activity].phrases)
        same_deed = actor.activity in deeds or (same_subject and not deeds and shares_verb)
        return 2 * same_subject + 2 * same_deed + (same_deed and scene.place in places)

    near: Counter[tuple[int, str, str]] = Counter()
    for scene in scenes:
        if not any(claim.holds(scene) for claim in denied):
            near.update((nearness(actor, scene), actor.subject, actor.activity) for actor in scene.actors)
    ordered = sorted(near, key=lambda one: (one[0], near[one]), reverse=True)
    said = dict[str, str]()  # by deed
    for score, subject, deed in ordered:
        if score > 1:
            said.setdefault(deed, _said(subject, deed, verbs))
    asked = (Query(reword("", wanted, unwanted), (wanted,), tuple(unwanted)) for wanted in said.values())
    return [each.text for each in islice((each for each in asked if fitting(each, scenes) > FEW), MOST)]


def _named(words: Sequence[str], kind: str) -> Names:
    """Return what runs of words mean as a kind of thing."""
    runs = (words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1))
    meant = (lexicon().get(tuple(run)) for run in runs)
    return frozenset[str]().union(*(concept.names for concept in meant if concept and concept.kind == kind))


def _excludes(claim: Claim, deeds: Names) -> bool:
    """Return whether an exclusion takes all that is wanted: "dances, no tango"."""
    return bool(deeds) and any(deeds <= who.activities for who in claim.actors)


def _said(subject: str, deed: str, verbs: set[str]) -> str:
    phrases = ACTIVITIES[deed].phrases
    phrase = next((phrase for phrase in phrases if phrase.split()[0] in verbs), phrases[0])
    return f"{with_article(SUBJECTS[subject].words[0])} {inflect_phrase(phrase, 'VBG')}"
