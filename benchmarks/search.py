"""Server time of a search on the built-in gallery: `python -m benchmarks.search [--queries 200]`.

It uses the cache in the app's data folder (NT2VR_DATA). Every query is new, so no text embedding is
cached.
"""

import time
from collections.abc import Iterable, Sequence
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import app_searcher, arguments, built_in_gallery, write_head, write_row
from nt2vr.models.encoder import Encoder
from nt2vr.search.searcher import Searcher
from nt2vr.world.captions import captions
from nt2vr.world.offers import stories
from nt2vr.world.sampling import sample_scenes

MODEL = "CLIP"
SYSTEMS = (MODEL, f"{MODEL} boolean", f"{MODEL} drop")
K = 8
PARTS = ("understanding the sentence", "text encoding", "rest: strategies, index, verdicts")


def queries(count: int) -> list[str]:
    """Return distinct negated queries."""
    unwanted_parts = cycle(unwanted for _, unwanted in stories())
    texts = []
    for scene, unwanted in zip(
        sample_scenes("validation", count, seed=0), unwanted_parts, strict=False
    ):
        texts.append(f"{captions(scene, 1)[0]} and not {unwanted}")
    return texts


class TimedEncoder:
    """Accumulates the time an encoder spends on texts."""

    def __init__(self, encoder: Encoder) -> None:
        """Wrap the method of an encoder."""
        self.spent_s = 0.0
        self._encode_text = encoder.encode_text
        encoder.encode_text = self.encode_text  # type: ignore[method-assign]

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode and measure the time."""
        start_s = time.perf_counter()
        try:
            return self._encode_text(texts)
        finally:
            self.spent_s += time.perf_counter() - start_s


def times_ms(searcher: Searcher, texts: Iterable[str]) -> NDArray[np.float64]:
    """Return the time of each of PARTS per query: (Q, 3)."""
    clock = TimedEncoder(searcher.live.get(MODEL).encoder)
    rows = []
    for text in texts:
        clock.spent_s = 0.0
        start_s = time.perf_counter()
        query = searcher.understand(text)
        understood_s = time.perf_counter()
        searcher.search(query, SYSTEMS, K).as_dict()
        end_s = time.perf_counter()
        rows.append((understood_s - start_s, clock.spent_s, end_s - understood_s - clock.spent_s))
    return 1000 * np.array(rows)


def main() -> None:
    """Print the table: total and parts."""
    parser = arguments("search", __doc__)
    parser.add_argument("--queries", type=int, default=200)
    count = parser.parse_args().queries
    with app_searcher() as searcher:
        searcher.warm_up(MODEL)
        # The first few warm up.
        times = times_ms(searcher, queries(count + 5))[5:]
    num_clips = len(built_in_gallery().videos)
    rows = {f"one search, {len(SYSTEMS)} systems, {num_clips} clips": times.sum(axis=1)}
    rows |= dict(zip(PARTS, times.T, strict=True))
    write_head("", "median ms", "p95 ms")
    for name, of_queries_ms in rows.items():
        p50, p95 = np.percentile(of_queries_ms, (50, 95))
        write_row(name, f"{p50:.1f}", f"{p95:.1f}")


if __name__ == "__main__":
    main()
