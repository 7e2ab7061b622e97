"""Labels: what captions of the world may say, in the ways that people word it."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.claims import Claim
from nt2vr.world.reader import read_claim
from nt2vr.world.things import ActionKind, Noun, actions, all_nouns, places, things


class WorldLabel(NamedTuple):
    """A claim in the ways that it may be worded, the shortest first: "drum", "a drum"."""

    texts: tuple[str, ...]
    claim: Claim


@cache
def labels() -> tuple[WorldLabel, ...]:
    """Return all labels; no two begin with the same text."""
    by_text = {label.texts[0]: label for label in _all_labels()}
    return tuple(by_text.values())


def _all_labels() -> Iterator[WorldLabel]:
    for noun in all_nouns():
        yield WorldLabel((noun.word, noun.with_article()), Claim.of_things(noun.names))
    for action in actions().values():
        for text, longer_text in _action_texts(action):
            # Some are not understood without a subject.
            action_claim = read_claim(text)
            if action_claim:
                yield WorldLabel((text, longer_text), action_claim)
    for place in places().values():
        for phrase in place.phrases:
            yield WorldLabel((phrase,), Claim.at(place.name))


def _action_texts(action: ActionKind) -> Iterator[tuple[str, str]]:
    """Yield an action, also with each object, and words for who does it.

    Examples are "eating", "eating a pizza" and "eater", each with a longer text.
    """
    phrases = [inflect_phrase(phrase, "VBG") for phrase in action.phrases]
    texts = [phrase.replace(" {o}", "") for phrase in phrases]
    if not action.targets:
        for name in sorted(action.objects):
            thing = things()[name].noun.with_article()
            texts.append(phrases[0].format(o=thing))
    for text in texts:
        yield text, f"somebody {text}"
    if action.layer == "main":
        for doer, _ in action.doers:
            yield doer, Noun(doer).with_article()
