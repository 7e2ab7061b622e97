"""Verdicts on the first 8 results of the gallery's stories ("A, no B"): `python -m benchmarks.stories`.

For each story, the gallery has at least 4 clips with A alone and 4 with A and B. The first row is the
largest number that can be right. Clips are judged by the story's parts, however a system reads the
sentence.
"""

from collections import Counter

from benchmarks.harness import app_searcher, arguments, write_head, write_row
from nt2vr.negation.parse.query import Query
from nt2vr.search.searcher import Searcher
from nt2vr.world.offers import stories, story_queries
from nt2vr.world.verdicts import judge_video

SYSTEMS = ("CLIP", "CLIP drop", "CLIP boolean α 0.5", "CLIP-neg")
K = 8
# The row of what can be right at most.
POSSIBLE = "possible"


def count_verdicts(searcher: Searcher) -> dict[str, Counter[str | None]]:
    """Count the verdicts on the first clips of all stories by system, and how many could be right."""
    counts: dict[str, Counter[str | None]] = {name: Counter() for name in (POSSIBLE, *SYSTEMS)}
    for text, (wanted, unwanted) in zip(story_queries(), stories(), strict=True):
        query = Query(text, (wanted,), (unwanted,))
        verdicts = {}
        for video in searcher.gallery.videos:
            verdicts[video.video_id] = judge_video(query, video)
        counts[POSSIBLE]["right"] += min(K, [*verdicts.values()].count("right"))
        rankings = searcher.search(text, SYSTEMS, K).rankings
        for name, ranking in zip(SYSTEMS, rankings, strict=True):
            counts[name].update(verdicts[hit.video_id] for hit in ranking.hits)
    return counts


def main() -> None:
    """Print one table row per system."""
    arguments("stories", __doc__).parse_args()
    with app_searcher() as searcher:
        counts = count_verdicts(searcher)
    total = K * len(stories())
    write_head(f"of {total} clips", "right", "show the unwanted part", "lack the wanted part")
    for name, count_of in counts.items():
        cells = []
        for verdict in ("right", "violation", "miss"):
            cells.append(f"{100 * count_of[verdict] / total:.0f} %")
        if name == POSSIBLE:
            cells = [cells[0], "–", "–"]
        write_row(name, *cells)


if __name__ == "__main__":
    main()
