"""Vocabulary: subjects, activities, places, props, accessories; with names and pictures.

Names are unambiguous: captions avoid "kid" and "horse", which queries may use. Pictures are OpenMoji code points
(CC BY-SA 4.0, see assets/CREDITS.md).
"""

from dataclasses import dataclass
from typing import Literal

Motion = Literal["stay", "walk", "bounce", "sway", "turn", "roll"]


@dataclass(frozen=True)
class Layer:
    """A picture laid over an actor, in the 72-unit coordinates of the actor's picture."""

    picture: str  # OpenMoji code point
    x: float  # left edge
    y: float  # top edge
    scale: float  # 1 is 72 units wide
    angle: float = 0.0  # clockwise degrees about its centre


@dataclass(frozen=True)
class Character:
    """A person, an animal or a vehicle."""

    words: tuple[str, ...]  # synonyms, the plainest first
    kind: Literal["person", "animal", "vehicle"]  # determines its activities
    picture: str  # OpenMoji code point; of the bust, for people
    scale: float = 1.0  # relative to a grown man
    shirt: str = ""  # colour of a person's shirt, one per person to make small figures distinguishable
    extra: tuple[Layer, ...] = ()  # always drawn with it: the girl's bow


@dataclass(frozen=True)
class Activity:
    """An activity of a subject."""

    phrases: tuple[str, ...]  # synonyms with the verb first, as a lemma: "ride a bike"
    motion: Motion = "stay"
    figure: str = ""  # full-body picture whose head is replaced by the person's; empty for a bust with props
    parts: tuple[Layer, ...] = ()  # drawn over a bust or next to an animal


@dataclass(frozen=True)
class Setting:
    """Place of a scene, with people's activities and the animals, vehicles and props found there."""

    phrases: tuple[str, ...]  # synonyms, each with its preposition
    activities: tuple[str, ...]
    animals: tuple[str, ...]
    vehicles: tuple[str, ...]
    props: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """A prop or an accessory."""

    words: tuple[str, ...]  # synonyms with their articles, the plainest first
    picture: str  # OpenMoji code point
    scale: float = 0.6  # 1 is 72 units wide, next to a grown man
    sky: bool = False  # in the sky instead of on the ground


SUBJECTS: dict[str, Character] = {
    "man": Character(("man", "guy", "male person"), "person", "1F9D4", 1.0, "#2F6FD0"),
    "woman": Character(("woman", "lady", "female person"), "person", "1F469", 1.0, "#E0457B"),
    "boy": Character(("boy", "little boy", "young boy"), "person", "1F466", 0.76, "#35A853"),
    "girl": Character(
        ("girl", "little girl", "young girl"),
        "person",
        "1F467",
        0.76,
        "#8E4EC6",
        (Layer("1F380", 15, 3, 0.36, -20),),
    ),
    "dog": Character(("dog", "puppy"), "animal", "1F415", 0.85),
    "cat": Character(("cat", "kitten"), "animal", "1F408", 0.75),
    "duck": Character(("duck",), "animal", "1F986", 0.7),
    "cow": Character(("cow",), "animal", "1F404", 1.1),
    "rabbit": Character(("rabbit", "bunny"), "animal", "1F407", 0.65),
    "elephant": Character(("elephant",), "animal", "1F418", 1.25),
    "monkey": Character(("monkey",), "animal", "1F412", 0.8),
    "pig": Character(("pig", "piglet"), "animal", "1F416", 0.8),
    "car": Character(("car",), "vehicle", "1F697", 1.25),
    "bus": Character(("bus",), "vehicle", "1F68C", 1.6),
    "motorbike": Character(("motorbike", "motorcycle"), "vehicle", "1F3CD", 1.1),
    "tractor": Character(("tractor",), "vehicle", "1F69C", 1.2),
    "train": Character(("train", "steam train"), "vehicle", "1F682", 1.4),
    "plane": Character(("plane", "airplane"), "vehicle", "2708", 0.9),
    "helicopter": Character(("helicopter",), "vehicle", "1F681", 1.0),
}

FLYING = frozenset({"plane", "helicopter"})
NOTE = Layer("1F3B5", -10, -6, 0.3)


def _hand(picture: str, scale: float = 0.55, angle: float = 0.0, x: float = 38, y: float = 32) -> tuple[Layer, ...]:
    """Place a prop in front of the chest, on the viewer's right."""
    return (Layer(picture, x, y, scale, angle),)


ACTIVITIES: dict[str, Activity] = {
    # full-body figures
    "run": Activity(("run", "run fast"), "walk", "1F3C3", (Layer("1F4A8", 56, 22, 0.55),)),  # animals raise dust
    "cartwheel": Activity(("do a cartwheel", "turn a cartwheel"), "turn", "1F938"),
    "yoga": Activity(("do yoga", "meditate"), "stay", "1F9D8"),
    "dance": Activity(("dance", "do a dance"), "sway", "1F57A"),
    "bike": Activity(("ride a bike", "ride a bicycle"), "walk", "1F6B4"),
    "lift": Activity(("lift weights", "lift a barbell"), "stay", "1F3CB"),
    "juggle": Activity(("juggle", "juggle balls"), "stay", "1F939"),
    "surf": Activity(("surf", "ride a surfboard"), "sway", "1F3C4"),
    "snowboard": Activity(("snowboard", "ride a snowboard"), "walk", "1F3C2"),
    "ski": Activity(("ski", "go skiing"), "walk", "26F7"),
    "climb": Activity(("climb a wall", "climb up a wall"), "bounce", "1F9D7"),
    "horse": Activity(("ride a horse",), "walk", "1F3C7"),
    "fence": Activity(("fence with a sword", "swing a sword"), "sway", "1F93A"),
    "swim": Activity(("swim", "go swimming"), "walk", "1F3CA"),
    "row": Activity(("row a boat", "paddle a boat"), "walk", "1F6A3"),
    "basketball": Activity(("play basketball", "dribble a basketball"), "bounce", "26F9"),
    "golf": Activity(("play golf", "swing a golf club"), "sway", "1F3CC"),
    # busts with props
    "guitar": Activity(("play the guitar", "strum a guitar"), "sway", parts=(*_hand("1F3B8", 0.62, 0, 30, 28), NOTE)),
    "violin": Activity(("play the violin", "play a fiddle"), "sway", parts=(*_hand("1F3BB", 0.6, 0, 32, 28), NOTE)),
    "trumpet": Activity(("play the trumpet", "blow a trumpet"), "sway", parts=(*_hand("1F3BA", 0.6, 0, 34, 18), NOTE)),
    "saxophone": Activity(("play the saxophone", "blow a saxophone"), "sway", parts=(*_hand("1F3B7", 0.62), NOTE)),
    "drum": Activity(("play the drum", "beat a drum"), "bounce", parts=(*_hand("1F941", 0.72, 0, 10, 28), NOTE)),
    "piano": Activity(("play the piano", "play the keyboard"), "sway", parts=(*_hand("1F3B9", 0.62, 0, 34, 34), NOTE)),
    "accordion": Activity(("play the accordion",), "sway", parts=(*_hand("1FA97", 0.66, 0, 12, 32), NOTE)),
    "sing": Activity(("sing", "sing a song"), "bounce", parts=(*_hand("1F3A4", 0.5, 0, 36, 34), NOTE)),
    "read": Activity(("read a book", "read"), "stay", parts=_hand("1F4D6", 0.6, 0, 15, 36)),
    "pizza": Activity(("eat a pizza", "eat a slice of pizza"), "stay", parts=_hand("1F355", 0.5, 0, 38, 30)),
    "icecream": Activity(("eat ice cream", "eat an ice cream"), "stay", parts=_hand("1F366", 0.55, 0, 38, 26)),
    "burger": Activity(("eat a burger", "eat a hamburger"), "stay", parts=_hand("1F354", 0.48, 0, 38, 34)),
    "coffee": Activity(("drink coffee", "have a cup of coffee"), "stay", parts=_hand("2615", 0.55, 0, 38, 30)),
    "photo": Activity(("take a photo", "take pictures with a camera"), "stay", parts=_hand("1F4F7", 0.52, 0, 36, 34)),
    "phone": Activity(("use a phone", "look at a phone"), "stay", parts=_hand("1F4F1", 0.5, 0, 40, 30)),
    "laptop": Activity(("work on a laptop", "type on a computer"), "stay", parts=_hand("1F4BB", 0.56, 0, 16, 40)),
    "fish": Activity(("catch a fish", "fish"), "sway", parts=_hand("1F3A3", 0.8, 0, 36, 6)),
    "cook": Activity(("cook", "fry an egg"), "bounce", parts=_hand("1F373", 0.62, 0, 34, 28)),
    "paint": Activity(("paint a picture", "paint"), "stay", parts=_hand("1F3A8", 0.56, 0, 36, 34)),
    "sweep": Activity(("sweep the floor", "sweep with a broom"), "sway", parts=_hand("1F9F9", 0.72, 0, 30, 18)),
    "soccer": Activity(("play soccer", "kick a soccer ball"), "bounce", parts=_hand("26BD", 0.46, 0, 46, 40)),
    "pingpong": Activity(("play ping pong", "play table tennis"), "bounce", parts=_hand("1F3D3", 0.58, 0, 36, 26)),
    "archery": Activity(("shoot an arrow", "shoot with a bow"), "stay", parts=_hand("1F3F9", 0.62, 0, 36, 24)),
    "skate": Activity(("ride a skateboard", "skateboard"), "roll", parts=(Layer("1F6F9", 4, 28, 0.9),)),
    "kite": Activity(("fly a kite",), "sway", parts=(Layer("1FA81", 44, -14, 0.8),)),
    "balloon": Activity(("hold a balloon", "play with a balloon"), "bounce", parts=(Layer("1F388", 46, 2, 0.66),)),
    "umbrella": Activity(("hold an umbrella", "walk with an umbrella"), "walk", parts=(Layer("2602", 32, -20, 0.9),)),
    # animals
    "sleep": Activity(("sleep", "take a nap"), "stay", parts=(Layer("1F4A4", 46, -8, 0.5),)),
    "eat": Activity(("eat from a bowl", "eat food"), "stay", parts=(Layer("1F963", -12, 36, 0.5),)),
    "ball": Activity(("play with a ball", "chase a ball"), "bounce", parts=(Layer("1F3BE", -16, 38, 0.42),)),
    # vehicles
    "drive": Activity(("drive past", "drive by"), "roll"),
    "fly": Activity(("fly past", "fly by"), "roll"),
}

ANIMAL_ACTIVITIES = ("run", "sleep", "eat", "ball")

PROPS: dict[str, Item] = {
    "cake": Item(("a cake", "a birthday cake"), "1F382", 0.6),
    "gift": Item(("a gift", "a present"), "1F381", 0.55),
    "flower": Item(("a flower", "a sunflower"), "1F33B", 0.7),
    "snowman": Item(("a snowman",), "26C4", 0.85),
    "campfire": Item(("a fire", "a campfire"), "1F525", 0.6),
    "tent": Item(("a tent",), "26FA", 1.0),
    "teddy": Item(("a teddy bear", "a toy bear"), "1F9F8", 0.65),
    "chair": Item(("a chair",), "1FA91", 0.85),
    "plant": Item(("a potted plant", "a plant in a pot"), "1FAB4", 0.75),
    "trophy": Item(("a trophy", "a golden cup"), "1F3C6", 0.65),
    "basket": Item(("a basket",), "1F9FA", 0.6),
    "bucket": Item(("a bucket",), "1FAA3", 0.55),
    "mushroom": Item(("a mushroom",), "1F344", 0.5),
    "suitcase": Item(("a suitcase",), "1F9F3", 0.7),
    "clock": Item(("a clock",), "1F570", 0.6),
    "sun": Item(("the sun", "a bright sun"), "2600", 0.7, sky=True),
    "moon": Item(("the moon",), "1F319", 0.55, sky=True),
    "rainbow": Item(("a rainbow",), "1F308", 0.85, sky=True),
}

ACCESSORIES: dict[str, Item] = {
    "tophat": Item(("a top hat", "a black hat"), "1F3A9"),
    "crown": Item(("a crown", "a golden crown"), "1F451"),
    "cap": Item(("a cap", "a green cap"), "1F9E2"),
    "sunglasses": Item(("sunglasses", "dark glasses"), "1F576"),
}


def _setting(phrases: tuple[str, ...], activities: str, animals: str, vehicles: str, props: str) -> Setting:
    names = (tuple(text.split()) for text in (activities, animals, vehicles, props))
    return Setting(phrases, *names)


PLACES: dict[str, Setting] = {
    "beach": _setting(
        ("on the beach", "at the seaside"),
        "surf swim kite guitar icecream run yoga photo read umbrella saxophone",
        "dog duck monkey",
        "plane helicopter",
        "sun rainbow bucket tent",
    ),
    "park": _setting(
        ("in the park", "in a park"),
        "run bike juggle kite read guitar balloon soccer icecream photo yoga violin",
        "dog duck rabbit cat",
        "helicopter bus",
        "flower sun rainbow basket",
    ),
    "street": _setting(
        ("on the street", "in the city"),
        "bike skate phone trumpet coffee umbrella photo pizza sing accordion sweep",
        "dog cat elephant",
        "car bus motorbike",
        "gift suitcase chair moon",
    ),
    "mountain": _setting(
        ("in the snow", "on a snowy mountain"),
        "ski snowboard climb photo coffee run fence kite",
        "dog rabbit cat",
        "helicopter plane train",
        "snowman sun campfire moon tent",
    ),
    "room": _setting(
        ("in the living room", "at home"),
        "piano violin read laptop yoga dance phone pizza paint sing sweep guitar",
        "cat dog monkey rabbit",
        "",
        "cake gift teddy plant chair clock",
    ),
    "kitchen": _setting(
        ("in the kitchen", "in a kitchen"),
        "cook coffee pizza phone read dance sing burger sweep laptop icecream",
        "cat dog pig",
        "",
        "cake plant chair clock basket",
    ),
    "gym": _setting(
        ("in the gym", "at the gym"),
        "lift basketball yoga fence run cartwheel juggle dance pingpong soccer climb",
        "dog monkey",
        "",
        "trophy chair bucket clock",
    ),
    "stage": _setting(
        ("on stage", "on a stage"),
        "guitar drum trumpet violin piano sing dance juggle saxophone accordion cartwheel",
        "monkey elephant dog",
        "",
        "trophy gift chair flower",
    ),
    "desert": _setting(
        ("in the desert", "in a desert"),
        "horse run photo umbrella skate guitar archery bike trumpet drum",
        "elephant monkey dog",
        "motorbike plane car",
        "sun tent campfire moon suitcase",
    ),
    "lake": _setting(
        ("by the lake", "at a lake"),
        "row swim fish read paint photo guitar saxophone burger",
        "duck dog cow",
        "helicopter plane",
        "tent campfire moon rainbow bucket",
    ),
    "farm": _setting(
        ("on the farm", "on a farm"),
        "horse paint run bike balloon photo sweep archery accordion burger",
        "cow duck rabbit pig cat",
        "tractor train motorbike",
        "flower basket sun bucket",
    ),
    "golf": _setting(
        ("on the golf course", "at the golf course"),
        "golf photo coffee cartwheel soccer run pingpong balloon kite",
        "rabbit duck dog",
        "tractor car",
        "sun flower rainbow trophy",
    ),
    "forest": _setting(
        ("in the forest", "in the woods"),
        "archery horse bike run violin cook paint read climb drum",
        "rabbit monkey pig cow",
        "train motorbike",
        "mushroom tent campfire basket moon",
    ),
}
