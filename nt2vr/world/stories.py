"""Stories of the gallery: one thing to show, and one that half of its clips add."""

STORIES: tuple[tuple[str, str], ...] = (  # wanted, unwanted
    ("a man is singing", "playing the guitar"),
    ("a woman is playing the violin", "dancing"),
    ("a boy is dancing", "playing the drum"),
    ("a girl is juggling", "a monkey"),
    ("a man is playing the trumpet", "singing"),
    ("a woman is singing", "playing the piano"),
    ("a girl is reading a book", "a cat"),
    ("a man is cooking", "drinking coffee"),
    ("a woman is dancing", "using a phone"),
    ("a boy is eating a pizza", "a dog"),
    ("a woman is working on a laptop", "drinking coffee"),
    ("a girl is painting a picture", "sweeping the floor"),
    ("a man is doing yoga", "playing the piano"),
    ("a boy is eating ice cream", "cooking"),
    ("a woman is surfing", "swimming"),
    ("a man is playing the guitar", "a dog"),
    ("a girl is flying a kite", "running"),
    ("a boy is playing soccer", "juggling"),
    ("a man is riding a bike", "running"),
    ("a woman is taking a photo", "eating ice cream"),
    ("a girl is doing yoga", "reading a book"),
    ("a woman is drinking coffee", "a car"),
    ("a man is sweeping the floor", "using a phone"),
    ("a boy is riding a skateboard", "a bus"),
    ("a girl is playing the accordion", "sweeping the floor"),
    ("a man is skiing", "snowboarding"),
    ("a boy is snowboarding", "a snowman"),
    ("a woman is climbing a wall", "fencing with a sword"),
    ("a man is lifting weights", "doing yoga"),
    ("a girl is playing basketball", "doing a cartwheel"),
    ("a boy is running", "playing ping pong"),
    ("a woman is riding a horse", "an elephant"),
    ("a man is shooting an arrow", "riding a bike"),
    ("a girl is riding a horse", "a cow"),
    ("a boy is catching a fish", "rowing a boat"),
    ("a man is playing golf", "drinking coffee"),
    ("a woman is painting a picture", "a rabbit"),
    ("a man is playing the saxophone", "a hat"),
    ("a girl is taking a photo", "sunglasses"),
    ("a boy is playing the drum", "a crown"),
)


def story_queries() -> list[str]:
    """Return a query per story: "a girl is juggling, no monkey", "a man is singing and not playing the guitar"."""
    return [f"{wanted}{_excluded(unwanted)}" for wanted, unwanted in STORIES]


def _excluded(unwanted: str) -> str:
    article, _, noun = unwanted.partition(" ")
    return f", no {noun}" if article in ("a", "an", "the") else f" and not {unwanted}"
