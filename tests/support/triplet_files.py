"""Triplets on disk."""

import json
from pathlib import Path

from PIL import Image


def write_triplets(folder: Path, count: int = 40) -> None:
    """Write pictures, and triplets that lead from each to the next two."""
    folder.mkdir()
    for number in range(count):
        Image.new("RGB", (32, 32), (6 * number, 200 - 4 * number, 90)).save(
            folder / f"v{number}.png"
        )
    pairs = [(number, (number + step) % count) for number in range(count) for step in (1, 2)]
    lines = [
        {
            "reference": f"v{one}",
            "target": f"v{two}.png",
            "text": f"make it {two}",
            "captions": [f"a {one}", f"a {two}"],
        }
        for one, two in pairs
    ]
    (folder / "my-triplets.jsonl").write_text("\n".join(map(json.dumps, lines)))
