"""Queries that a dataset's videos are validated with: those that `nt2vr evaluate` generates of the same videos."""

from collections.abc import Sequence
from pathlib import Path

from nt2vr.evaluation.built_in import SEED
from nt2vr.evaluation.dataset_queries import judged_queries
from nt2vr.evaluation.queries import JudgedQueries, row_numbers
from nt2vr.media.gallery import Video
from nt2vr.negation.generate.build import build_query_sets, cached_query_sets
from nt2vr.negation.generate.query_sets import CaptionedVideos
from nt2vr.progress import Progress, silent
from trainer.runs.run_folder import data_dir_of


def evaluation_queries(
    videos: Sequence[Video],
    clips: Sequence[Video],
    folder: Path | None = None,
    progress: Progress = silent,
) -> JudgedQueries:
    """Generate original, negated and composed queries of videos, and judge them for the clips in their order.

    Args:
        videos: all that are searched, in the order of their dataset, on which wordings of composed
            queries depend.
        clips: those of them that could be read; queries without any other relevant video are left
            out.
        folder: keeps the queries for the next time; None generates them anew.
        progress: gets the number of captions that have been parsed.
    """
    captions = CaptionedVideos.all_as_queries({video.video_id: video.captions for video in videos})
    if folder is None:
        sets = build_query_sets(captions, SEED, progress)
    else:
        sets = cached_query_sets(captions, seed=SEED, folder=folder, progress=progress)
    row_of = row_numbers(clip.video_id for clip in clips)
    queries, _ = judged_queries(sets, row_of)
    return queries


def query_folder(cache: Path) -> Path:
    """Return the folder that keeps queries: evaluation's own for runs in a data folder, so that both share them."""
    data_dir = data_dir_of(cache)
    return cache if data_dir is None else data_dir / "evaluation"
