"""Words that belong to no thing, action or place: fillers, sizes, colours, numbers, times.

Fillers, words for groups and words of time are listed in `assets/world/small_words.tsv`.
"""

from collections.abc import Iterable, Iterator
from typing import cast

from nt2vr.world.claims import MANY
from nt2vr.world.meaning import Entry, Meaning, MeaningKind, adjective
from nt2vr.world.things import COLOURS, read_table
from nt2vr.world.wording import NUMBERS, SIZES, meanings

NIGHT = ("at night", "in the dark", "after dark")
DAY = ("during the day", "in daylight")
# The end has its words twice, since a choice of one would draw otherwise, and change what is drawn
# after it.
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "at the end")}
# "A crowd" is many, and unlike "dogs" never one.
TOGETHER = MANY - 1
_COUNTED = {1: "one", **NUMBERS, 4: "four", 5: "five"}


def small_words() -> Iterator[Entry]:
    for words, meaning in _small_word_groups():
        for word in words:
            yield word, meaning


def _small_word_groups() -> Iterator[tuple[Iterable[str], Meaning]]:
    yield from _listed()
    for size, words in SIZES.items():
        yield words, adjective(size=size)
    for colour in COLOURS:
        yield (colour,), adjective(colour=colour)
    for number, name in NUMBERS.items():
        yield (name, str(number)), adjective(least=number, most=number)
    yield from _totals()

    yield NIGHT, Meaning("night", value="night")
    yield DAY, Meaning("night", value="day")
    for part, part_words in PARTS.items():
        yield part_words, Meaning("time", value=part)
    yield ("he",), Meaning("pronoun", meanings()["man"] | meanings()["boy"])
    yield ("she",), Meaning("pronoun", meanings()["woman"] | meanings()["girl"])


def _listed() -> Iterator[tuple[list[str], Meaning]]:
    """Yield the words of the table, of which numbers without a limit are for groups."""
    for row in read_table("small_words"):
        words = row["words"].split("|")
        if row["kind"] == "number":
            most = int(row["most"] or TOGETHER)
            yield words, adjective(least=int(row["least"]), most=most)
        else:
            yield words, Meaning(cast(MeaningKind, row["kind"]), value=row["value"])


def _totals() -> Iterator[tuple[list[str], Meaning]]:
    """Yield numbers of all there are; "one dog" says no more than "a dog"."""
    yield ["one", "1"], adjective(least=1, most=MANY, total=False)
    for number, name in _COUNTED.items():
        numerals = (name, str(number))
        yield from _total(
            numerals,
            wordings=("at least", "no fewer than", "no less than"),
            least=number,
            most=MANY,
        )
        yield from _total(numerals, wordings=("more than",), least=number + 1, most=MANY)
        yield from _total(
            numerals, wordings=("at most", "no more than", "up to"), least=1, most=number
        )
        yield from _total(numerals, wordings=("fewer than", "less than"), least=1, most=number - 1)
        yield from _total(numerals, wordings=("exactly", "only", "just"), least=number, most=number)


def _total(
    numerals: tuple[str, str], wordings: tuple[str, ...], least: int, most: int
) -> Iterator[tuple[list[str], Meaning]]:
    """Yield some wordings of a total, unless there can be none: "fewer than one"."""
    if not most:
        return
    texts = []
    for wording in wordings:
        for numeral in numerals:
            texts.append(f"{wording} {numeral}")
    yield texts, adjective(least=least, most=most, total=(least, most) != (1, MANY))
