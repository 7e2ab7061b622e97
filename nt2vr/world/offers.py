"""What the Search tab offers for the built-in world: words and stories."""

import re
from functools import cache

from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.things import actions, all_nouns, places, read_table

# Letters of words not worth offering.
_SHORT = 2


def offered_words() -> list[str]:
    """Return the words of the captions for people to choose from, in alphabetical order.

    Verbs are in their -ing form.
    """
    phrases = [noun.word for noun in all_nouns()]
    for action in actions().values():
        for phrase in action.phrases:
            phrases.append(inflect_phrase(phrase, "VBG").replace("{o}", ""))
    for place in places().values():
        phrases += place.phrases

    words: set[str] = set()
    for phrase in phrases:
        words.update(word for word in phrase.split() if len(word) > _SHORT)
    return sorted(words)


@cache
def stories() -> tuple[tuple[str, str], ...]:
    """Return the wanted and the unwanted part of each story."""
    return tuple((row["wanted"], row["unwanted"]) for row in read_table("stories"))


def story_queries() -> list[str]:
    """Return a query per story: "a penguin, no ice", "a dragon and not flying"."""
    queries = []
    for wanted, unwanted in stories():
        first_word = unwanted.split()[0]
        if first_word.endswith("ing"):
            joint = " and not "
        elif first_word in ("at", "in", "on"):
            joint = ", not "
        else:
            joint = ", no "
        queries.append(wanted + joint + re.sub(r"^an? ", "", unwanted))
    return queries
