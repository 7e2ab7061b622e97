"""A small captioned dataset of pictures, whose captions allow composed queries with hard pairs."""

import csv
import random
from pathlib import Path

from PIL import Image

WHO = ("a man", "a woman", "a girl", "a dog")
ACTIONS = (
    "playing the guitar",
    "eating an apple",
    "riding a horse",
    "reading a book",
    "holding an umbrella",
)


def write_captioned_pictures(folder: Path, count: int) -> None:
    """Write pictures of one colour, each with two captions that say different actions of the same subject."""
    folder.mkdir(parents=True)
    rng = random.Random(0)
    rows = [("path", "caption")]
    for number in range(count):
        name = f"{number}.png"
        who = rng.choice(WHO)
        for action in rng.sample(ACTIONS, 2):
            rows.append((name, f"{who} is {action}"))
        colour = (3 * number % 256, 90, 200 - number % 100)
        Image.new("RGB", (48, 48), colour).save(folder / name)
    with (folder / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
