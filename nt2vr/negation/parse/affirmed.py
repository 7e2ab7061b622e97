"""The sentence of a query without its negation: "a bird on the beach".

What is wanted comes first, then what is done, then things, qualities and places.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nt2vr.negation.parse.inflect import is_noun
from nt2vr.negation.parse.phrases import phrases_of
from nt2vr.negation.parse.wordlists import listed

# What joins parts of a kind to those before; actions are joined first.
_JOINTS = {"noun": " and ", "quality": ", ", "place": " "}


def affirmed_text(wanted: Sequence[str], unwanted: Iterable[str]) -> str:
    """Join the wanted parts and those that were not: "a bird" and "on the beach"."""
    parts: dict[str, list[str]] = defaultdict(list)
    for part in unwanted:
        parts[_kind(part)].append(part)

    text = " and ".join(wanted)
    actions = " and ".join(parts["verb"])
    # a man sings | and dances; but: a man | dancing
    phrases = phrases_of(text)
    before_actions = " and " if phrases.acts(range(len(phrases.tokens))) else " "
    text = before_actions.join(filter(None, (text, actions)))
    for kind, joint in _JOINTS.items():
        texts = (text, *parts[kind])
        text = joint.join(filter(None, texts))
    return text


def _kind(part: str) -> str:
    """Return the kind of phrase that a part is; an adverb such as "outside" is a place."""
    phrases = phrases_of(part)
    # Alone, "outside" and "red" are nouns for taggers, and "mirrors" is a verb.
    if phrases.is_listed(0, "settings"):
        return "place"
    if part in listed("colours"):
        return "quality"
    phrase = phrases.any_phrase(0)
    if phrase is None or (phrases.tag(0) == "VBZ" and is_noun(part)):
        return "noun"
    if phrase.kind == "quality" and phrases.tag(phrase.head) == "ADV":
        return "place"
    return phrase.kind
