"""Verdicts on the first 8 results of the gallery's 40 stories ("A and not B"): `python -m benchmarks.stories`.

Per story, the gallery has 5 clips with A alone and 5 with A and B, so hardly more than 5 results can be right.
"""

import sys
from collections import Counter

from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.models.catalog import Catalog
from nt2vr.search.searcher import Searcher
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.edits.edits import judge_video
from nt2vr.world.stories import STORIES

SYSTEMS = (
    *("CLIP", "CLIP*", "CLIP-snl", "CLIP-bnl", "CLIP-neg"),
    *("CLIP boolean α 0.5", "CLIP boolean α 1", "CLIP anchored", "CLIP spherical", "CLIP drop"),
)
K = 8


def main() -> None:
    """Print one table row per system."""
    prepare_environment()
    settings = Settings.read()
    gallery = load_gallery(settings.assets / "gallery" / "gallery.jsonl")
    models = Catalog([settings.assets / "models", settings.data_dir / "models"], settings.device)
    counts: dict[str, Counter[str | None]] = {name: Counter() for name in SYSTEMS}
    with Decoder() as decoder, Cache.of(settings.data_dir) as cache:
        searcher = Searcher(models, gallery, decoder, cache, judge_video)
        for wanted, unwanted in STORIES:
            query = searcher.understand(f"{wanted} and not {unwanted}")
            for name in SYSTEMS:
                (ranking,) = searcher.search(query, [name], K).rankings
                counts[name].update(hit.verdict for hit in ranking.hits)
    total = K * len(STORIES)
    sys.stdout.write(f"| of {total} clips shown | right | show the unwanted | lack the wanted |\n|:--|--:|--:|--:|\n")
    for name, verdicts in counts.items():
        shares = " | ".join(f"{100 * verdicts[kind] / total:.0f} %" for kind in ("right", "violation", "miss"))
        sys.stdout.write(f"| {name} | {shares} |\n")


if __name__ == "__main__":
    main()
