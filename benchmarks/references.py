"""What references cost: `python -m benchmarks.references [--model CLIP] [--rounds 40]`.

Prints the time of a search of the built-in gallery with a text alone, with a picture and with clips of it, and
that of the image tower alone: a picture should add no more than the tower's time and 1 ms.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np

import nt2vr
from nt2vr.media.decode import sample_frames
from nt2vr.media.picture import fit

SYSTEMS = ("", " slerp", " parts", " fusion")


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="CLIP")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    systems = [f"{options.model}{each}" for each in SYSTEMS]
    with tempfile.TemporaryDirectory() as data, nt2vr.open_searcher(data) as searcher:
        hits = searcher.search("a dog", systems, 8).rankings[0].hits
        clips = [nt2vr.Reference(video_id=hit.video_id) for hit in hits[:4]]
        picture = sample_frames(Path(searcher.video(hits[0].video_id).path), 1)[0]
        encoder = nt2vr.load_model(options.model)
        framed = fit(picture, encoder.card.framing)[None]
        texts = (f"without the dog number {number}" for number in count())  # a text of its own each: none is cached
        asked: dict[str, Callable[[], object]] = {
            "text alone": lambda: searcher.search(next(texts), systems, 8),
            "with a picture": lambda: searcher.search(next(texts), systems, 8, picture),
            "with a clip": lambda: searcher.search(next(texts), systems, 8, references=clips[:1]),
            "with four clips": lambda: searcher.search(next(texts), systems, 8, references=clips),
            "image tower alone": lambda: encoder.encode_frames(framed),
        }
        times: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(options.rounds):  # in turn, so that a busy moment hits all
            for name, ask in asked.items():
                start_s = time.perf_counter()
                ask()
                times[name].append(1000 * (time.perf_counter() - start_s))
    rows = [f"| {name} | {median(found):.1f} | {np.percentile(found, 90):.1f} |\n" for name, found in times.items()]
    sys.stdout.writelines([f"| four systems of {options.model} | ms, median | 90 % |\n|:--|--:|--:|\n", *rows])


if __name__ == "__main__":
    main()
