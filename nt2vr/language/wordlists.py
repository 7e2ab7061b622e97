"""Word lists shared by several modules, and how those in `assets/language` are read."""

from collections.abc import Iterable

from nt2vr.settings import ASSETS


def words(text: str) -> frozenset[str]:
    """Split text into a set of words."""
    return frozenset(text.split())


def renamed(text: str) -> dict[str, str]:
    """Map words to the one before them: "man=guy,gentleman dog=puppy" maps "guy" to "man"."""
    pairs = (pair.split("=") for pair in text.split())
    return {other: name for name, others in pairs for other in others.split(",")}


def text_of(file: str) -> str:
    """Read a file of the folder `assets/language`."""
    return (ASSETS / "language" / file).read_text(encoding="utf-8")


def lines_of(file: str) -> list[str]:
    return text_of(file).splitlines()


class Runs(frozenset[str]):
    """A set of runs of words: "in sight", "no one".

    Attributes:
        openers: their first words.
        pairs: their first two words.
        longest: number of words of the longest.
    """

    def __init__(self, runs: Iterable[str]) -> None:
        """Index `runs`, which `frozenset` has stored already."""
        self.openers = frozenset(run.partition(" ")[0] for run in self)
        self.pairs = frozenset(tuple(run.split(" ", 2)[:2]) for run in self if " " in run)
        self.longest = max(run.count(" ") + 1 for run in self)


# Possible subjects of a verb: "a beach without people | swimming".
ACTORS = words(
    "people person man woman boy girl child kid baby lady guy male female human adult crowd player singer dancer "
    "rider driver passenger tourist swimmer runner animal dog puppy cat kitten bird horse cow sheep monkey elephant "
    "lion bear duck fish rabbit pet car truck bus train bike bicycle boat ship plane vehicle anyone anybody someone "
    "somebody"
)
# Nouns used without an article
MASS_NOUNS = words(
    "sound music audio noise snow water rain clothing clothes hair food traffic light power money furniture help "
    "makeup dialogue dialog speech talking grass gravity fear effort meat sugar oil equipment hesitation success "
    "basketball football soccer baseball tennis volleyball hockey rugby golf cricket guitar piano drums minecraft "
    "rice chicken beef fish salt pepper flour milk butter sauce dough bread pasta cheese tea coffee beer wine juice "
    "yoga karate ballet gymnastics wrestling hip-hop rap rock pop skin dirt mud sand wood metal paper plastic clay "
    "ice air smoke fire fun love advice information news stage camera front fabric origami garlic cream batter soup "
    "lipstick mascara blood fruit lunch dinner breakfast bed television tv top work school church land space"
)
# Further possible subjects: roles, professions and rarer animals
ROLES = words(
    "character chef cook band team reporter anchor host singer player soldier officer teacher student actor actress "
    "model athlete wrestler boxer gymnast skater surfer skier cyclist driver pilot doctor nurse policeman fisherman "
    "musician guitarist drummer pianist rapper artist comedian contestant judge cheerleader king queen prince "
    "princess father mother husband wife bride groom friend teenager toddler warrior robot monster gamer narrator "
    "journalist presenter interviewer politician scientist worker farmer fan audience bull pig goat snake squirrel "
    "dolphin shark whale tiger panda wolf fox deer mouse crocodile turtle parrot chicken hamster motorcycle "
    "helicopter jeep tractor mom dad gentleman businessman member person performer speaker swimmer diver hunter "
    "climber trainer"
)
