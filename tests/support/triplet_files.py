"""Triplets on disk."""

import json
from pathlib import Path

from PIL import Image


def write_triplets(folder: Path, count: int = 40) -> None:
    """Write pictures, and triplets that lead from each to the next two."""
    folder.mkdir()
    lines = []
    for reference in range(count):
        picture = Image.new("RGB", (32, 32), (6 * reference, 200 - 4 * reference, 90))
        picture.save(folder / f"v{reference}.png")
        for step in (1, 2):
            target = (reference + step) % count
            triplet = {
                "reference": f"v{reference}",
                "target": f"v{target}.png",
                "text": f"make it {target}",
                "captions": [f"a {reference}", f"a {target}"],
            }
            lines.append(json.dumps(triplet))
    (folder / "my-triplets.jsonl").write_text("\n".join(lines))
