"""Stories of the gallery, in people's words: something to show, and something that half of its clips add."""

STORIES: tuple[tuple[str, str], ...] = (  # wanted, unwanted
    ("a penguin", "ice"),
    ("a bird", "a penguin"),
    ("a bear", "a polar bear"),
    ("a dog", "a cat"),
    ("a cat sleeping", "a dog"),
    ("a dog chasing a cat", "a person"),
    ("a lion", "sleeping"),
    ("an elephant", "at the circus"),
    ("a monkey", "a banana"),
    ("a horse", "a person"),
    ("a cow", "on the farm"),
    ("a duck", "swimming"),
    ("a rabbit", "jumping"),
    ("a fish", "a shark"),
    ("a dinosaur", "a volcano"),
    ("a dragon", "flying"),
    ("a robot", "dancing"),
    ("an astronaut", "a rocket"),
    ("an alien", "a UFO"),
    ("a ghost", "at night"),
    ("a clown", "juggling"),
    ("a princess", "a castle"),
    ("a superhero", "flying"),
    ("Santa", "a gift"),
    ("a bride", "a groom"),
    ("a doctor", "in the hospital"),
    ("a chef", "cooking"),
    ("a police officer", "a police car"),
    ("a firefighter", "a fire truck"),
    ("a farmer", "a tractor"),
    ("a man singing", "playing the guitar"),
    ("a woman playing the violin", "dancing"),
    ("a musical instrument", "a guitar"),
    ("a woman dancing", "a man"),
    ("a boy dancing", "playing the drum"),
    ("a child crying", "a teddy bear"),
    ("a man eating", "pizza"),
    ("food", "meat"),
    ("fruit", "a banana"),
    ("a woman drinking", "coffee"),
    ("a man in a hat", "a top hat"),
    ("a man in a red shirt", "running"),
    ("a woman on a phone", "walking"),
    ("a child throwing a ball", "a dog"),
    ("a man kicking a ball", "a goal"),
    ("a girl riding a bike", "a dog"),
    ("a boy riding a skateboard", "a car"),
    ("a man skiing", "snowboarding"),
    ("a woman surfing", "a dolphin"),
    ("a man fishing", "a boat"),
    ("a vehicle", "a car"),
    ("a plane", "taking off"),
    ("a ship", "sun"),
    ("a train", "a person"),
    ("a beach", "people"),
    ("a city", "cars"),
    ("a street at night", "people"),
    ("a forest", "animals"),
    ("two dogs", "a person"),
    ("a person eating and then dancing", "a dog"),
)


def story_queries() -> list[str]:
    """Return a query per story: "a penguin, no ice", "a dragon and not flying", "a cow, not on the farm"."""
    return [f"{wanted}{_excluded(unwanted)}" for wanted, unwanted in STORIES]


def _excluded(unwanted: str) -> str:
    first, _, rest = unwanted.partition(" ")
    if first.endswith("ing"):
        return f" and not {unwanted}"
    return f", not {unwanted}" if first in ("at", "in", "on") else f", no {rest if first in ('a', 'an') else unwanted}"
