"""Verdicts on the first 8 results of the gallery's 40 stories ("A and not B"): `python -m benchmarks.stories`.

Per story, the gallery has 5 clips with A alone and 5 with A and B, so hardly more than 5 results can be right.
"""

from collections import Counter

from benchmarks.harness import app_searcher, arguments, write_head, write_row
from nt2vr.world.edits.edits import judge_video
from nt2vr.world.stories import STORIES

SYSTEMS = (
    *("CLIP", "CLIP*", "CLIP-snl", "CLIP-bnl", "CLIP-neg"),
    *("CLIP boolean α 0.5", "CLIP boolean α 1", "CLIP anchored", "CLIP spherical", "CLIP drop"),
)
K = 8


def main() -> None:
    """Print one table row per system."""
    arguments("stories", __doc__).parse_args()
    counts: dict[str, Counter[str | None]] = {name: Counter() for name in SYSTEMS}
    with app_searcher(judge=judge_video) as searcher:
        for wanted, unwanted in STORIES:
            query = searcher.understand(f"{wanted} and not {unwanted}")
            for name in SYSTEMS:
                (ranking,) = searcher.search(query, [name], K).rankings
                counts[name].update(hit.verdict for hit in ranking.hits)
    total = K * len(STORIES)
    write_head(f"of {total} clips shown", "right", "show the unwanted", "lack the wanted")
    for name, verdicts in counts.items():
        write_row(name, *(f"{100 * verdicts[kind] / total:.0f} %" for kind in ("right", "violation", "miss")))


if __name__ == "__main__":
    main()
