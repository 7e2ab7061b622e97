"""Words that belong to no thing, action or place: fillers, sizes, colours, numbers, times."""

from collections.abc import Iterable, Iterator

from nt2vr.world.claims import MANY
from nt2vr.world.meaning import Entry, Meaning, adjective
from nt2vr.world.things import COLOURS
from nt2vr.world.wording import NUMBERS, SIZES, meanings

NIGHT = ("at night", "in the dark", "after dark")
DAY = ("during the day", "in daylight")
# The end has its words twice, since a choice of one would draw otherwise, and change what is drawn
# after it.
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "at the end")}
_BEFORE = ("then", "and then", "before", "and afterwards", "afterwards", "followed by", "later")
_WHILE = ("while", "as", "at the same time as")
# "A crowd" is many, and unlike "dogs" never one.
TOGETHER = MANY - 1
_COUNTED = {1: "one", **NUMBERS, 4: "four", 5: "five"}
_FILLERS = frozenset(
    "in on with of wearing who that which near beside next to background sky under dressed at by "
    "across down through along inside video videos clip clips movie movies footage scene scenes "
    "single show shows showing has have got able to other first something anything everything "
    "stuff place somewhere now recorded filmed cute nice good best great lovely funny cool "
    "beautiful pretty together hopefully please today kind sort type colour color coloured "
    "colored visible from contain contains containing featuring including what real yet already "
    "still ever again anymore really very".split()
)
_IDIOMS = ("in sight", "in view", "in frame", "in shot", "kind of", "sort of", "type of")
_PICTURES = [
    f"{name}{ending} of"
    for name in ("photo", "picture", "image", "video", "clip")
    for ending in ("", "s")
]


def small_words() -> Iterator[Entry]:
    for words, meaning in _small_word_groups():
        for word in words:
            yield word, meaning


def _small_word_groups() -> Iterator[tuple[Iterable[str], Meaning]]:
    yield (*_FILLERS, *_PICTURES, *_IDIOMS, "each other", "for once"), Meaning("filler")
    yield ("shirt", "top"), Meaning("shirt")
    for size, words in SIZES.items():
        yield words, adjective(size=size)
    for colour in COLOURS:
        yield (colour,), adjective(colour=colour)

    for number, name in NUMBERS.items():
        yield (name, str(number)), adjective(least=number, most=number)
    yield from _totals()
    yield ("couple of",), adjective(least=2, most=2)
    many = ("pair of", "group of", "team of", "bunch of")
    yield many, adjective(least=2, most=TOGETHER)
    yield ("herd of", "flock of", "pack of"), adjective(least=3, most=TOGETHER)
    yield ("crowd of",), adjective(least=4, most=TOGETHER)

    yield NIGHT, Meaning("night", value="night")
    yield DAY, Meaning("night", value="day")
    for part, part_words in PARTS.items():
        yield part_words, Meaning("time", value=part)
    yield ("in the end",), Meaning("time", value="end")
    yield _BEFORE, Meaning("time", value="before")
    yield _WHILE, Meaning("time", value="while")
    yield ("after",), Meaning("time", value="after")

    yield ("or",), Meaning("or")
    yield ("he",), Meaning("pronoun", meanings()["man"] | meanings()["boy"])
    yield ("she",), Meaning("pronoun", meanings()["woman"] | meanings()["girl"])


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
