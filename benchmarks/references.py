"""Cost of references in a search: `python -m benchmarks.references [--model CLIP] [--rounds 40]`.

Prints the time of a search of the built-in gallery with a text alone, with a picture and with clips of it, and
that of the image tower alone: a picture should add no more than the tower's time and 1 ms.
"""

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np

import nt2vr
from benchmarks.harness import arguments, in_turns, write_head, write_row
from nt2vr.media.decode import sample_frames
from nt2vr.media.picture import fit

SYSTEMS = ("", " slerp", " parts", " fusion")


def main() -> None:
    """Measure and print a Markdown table."""
    parser = arguments("references", __doc__)
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
        times = in_turns(asked, options.rounds)
    write_head(f"four systems of {options.model}", "ms, median", "90 %")
    for name, found_s in times.items():
        write_row(name, *(f"{1000 * value:.1f}" for value in np.percentile(found_s, (50, 90))))


if __name__ == "__main__":
    main()
