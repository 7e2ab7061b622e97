"""Words of typed queries that name no single thing of the built-in world, with caption words for models to be asked.

Only those of `assets/world/typed_words.tsv`: other words mean something to the models by their word vectors.
"""

from functools import cache

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world.deeds import deeds
from nt2vr.world.places import places
from nt2vr.world.things import all_nouns, kinds, read_table, things

_SHORT = 2  # letters of words not worth offering


def offered_words() -> list[str]:
    """Return the words of the captions for people to choose from, verbs in their -ing form, in alphabetical order."""
    nouns = [noun.word for noun in all_nouns()]
    doing = [inflect_phrase(phrase, "VBG").replace("{o}", "") for deed in deeds().values() for phrase in deed.phrases]
    where = [phrase for place in places().values() for phrase in place.phrases]
    return sorted({word for phrase in (*nouns, *doing, *where) for word in phrase.split() if len(word) > _SHORT})


@cache
def synonyms() -> dict[str, str]:
    """Map words to words of the world's captions: "someone" to "person"."""
    found = {}
    for row in read_table("typed_words"):
        word, name = row["word"], row["name"].split(",")[0]
        if " " not in word and row["kind"] == "thing" and name in things():
            found[word] = things()[name].nouns[0].word
        elif " " not in word and row["kind"] == "thing" and kinds().get(name):
            found[word] = kinds()[name][0].word
        elif " " not in word and row["kind"] == "place" and name in places():
            found[word] = places()[name].phrases[0].split()[-1]
    return found
