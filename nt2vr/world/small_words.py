"""Words that belong to no thing, action or place: fillers, sizes, colours, numbers, times.

Fillers, words for groups and words of time are listed in `assets/world/small_words.tsv`.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import cast

from nt2vr.world.claims import MANY
from nt2vr.world.meaning import Entry, Meaning, MeaningKind, adjective
from nt2vr.world.things import COLOURS, meanings, read_table
from nt2vr.world.wording import NUMBERS, SIZES

NIGHT = ("at night", "in the dark", "after dark")
DAY = ("during the day", "in daylight")
# The end has its words twice, since a choice of one would draw otherwise, and change what is drawn
# after it.
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "at the end")}
# "A crowd" is many, and unlike "dogs" never one.
TOGETHER = MANY - 1
# Words with one meaning.
WordGroup = tuple[Iterable[str], Meaning]


def small_words() -> Iterator[Entry]:
    for words, meaning in _small_word_groups():
        for word in words:
            yield word, meaning


def _small_word_groups() -> Iterator[WordGroup]:
    yield from _listed()
    for size, words in SIZES.items():
        yield words, adjective(size=size)
    for colour in COLOURS:
        yield (colour,), adjective(colour=colour)
    for number in (2, 3):
        yield (NUMBERS[number], str(number)), adjective(least=number, most=number)
    yield from _totals()

    yield NIGHT, Meaning("night", value="night")
    yield DAY, Meaning("night", value="day")
    for part, part_words in PARTS.items():
        yield part_words, Meaning("time", value=part)
    male = meanings()["man"] | meanings()["boy"]
    female = meanings()["woman"] | meanings()["girl"]
    yield ("he",), Meaning("pronoun", male)
    yield ("she",), Meaning("pronoun", female)


def _listed() -> Iterator[WordGroup]:
    """Yield the words of the table, of which numbers without a limit are for groups."""
    for row in read_table("small_words"):
        words = row["words"].split("|")
        if row["kind"] == "number":
            yield words, adjective(least=int(row["least"]), most=int(row["most"] or TOGETHER))
        else:
            yield words, Meaning(cast(MeaningKind, row["kind"]), value=row["value"])


def _totals() -> Iterator[WordGroup]:
    """Yield numbers of all there are; "one dog" says no more than "a dog"."""
    yield ["one", "1"], adjective(least=1, most=MANY, total=False)
    for number, name in enumerate(NUMBERS[1:6], start=1):
        limits = {
            ("at least", "no fewer than", "no less than"): (number, MANY),
            ("more than",): (number + 1, MANY),
            ("at most", "no more than", "up to"): (1, number),
            ("fewer than", "less than"): (1, number - 1),
            ("exactly", "only", "just"): (number, number),
        }
        for wordings, (least, most) in limits.items():
            # There are no "fewer than one".
            if not most:
                continue
            texts = map(" ".join, product(wordings, (name, str(number))))
            is_limited = (least, most) != (1, MANY)
            yield texts, adjective(least=least, most=most, total=is_limited)
