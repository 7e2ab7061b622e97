"""Which caption fits? Several lines scored for one clip or picture by each system: the opposite question of search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.search.caption_judge import judge_by_captions
from nt2vr.search.embed_query import embed_reference
from nt2vr.search.exclusion import scores_of
from nt2vr.search.references import Reference
from nt2vr.search.searcher import Asked, Searcher
from nt2vr.search.strategies import searched
from nt2vr.search.systems import System

MIN_LINES, MAX_LINES = 2, 8


@dataclass(frozen=True)
class Scored:
    """The scores of one system, one per line; None where the line leaves it nothing to search for."""

    system: System
    scores: tuple[float | None, ...]

    @property
    def best(self) -> int | None:
        """Number of the line with the highest score; None if several share it, or none has a score."""
        known = [score for score in self.scores if score is not None]
        return self.scores.index(max(known)) if known and known.count(max(known)) == 1 else None


@dataclass(frozen=True)
class Match:
    """Lines, as they were understood, scored for one clip or picture."""

    queries: tuple[Query, ...]
    verdicts: tuple[Verdict | None, ...]  # one per line, None where the truth is not known; "right" if it is true
    systems: tuple[Scored, ...]
    judged_by: str = ""  # "captions", if the verdicts derive from them

    def as_dict(self) -> dict[str, Any]:
        """Return the match as the API answers it."""
        judged = zip(self.queries, self.verdicts, strict=True)
        lines = [{"text": query.text, "verdict": verdict} for query, verdict in judged]
        systems = [{"name": each.system.name, "scores": [*each.scores], "best": each.best} for each in self.systems]
        return {"lines": lines, "systems": systems} | ({"judged_by": self.judged_by} if self.judged_by else {})


def match(
    searcher: Searcher,
    shown: Reference,
    lines: Sequence[str],
    systems: Sequence[str],
    strengths: Mapping[str, float] | None = None,
    literal: Collection[str] = (),
) -> Match:
    """Score 2 to 8 lines for a clip of the gallery, or for a picture, as `Searcher.search` for each would score it."""
    if not MIN_LINES <= len(lines) <= MAX_LINES:
        raise ConfigError(f"Give {MIN_LINES} to {MAX_LINES} captions to choose among, not {len(lines):,}.")
    video = searcher.video(shown.video_id) if shown.video_id else None
    panel = searcher.panel(systems, strengths=strengths, literal=literal)
    views = {name: model.view(searcher) for name, model in panel.loaded.items()}
    clips = {name: embed_reference(encoder, shown, views[name]) for name, encoder in panel.encoders.items()}

    def scored(query: Asked) -> tuple[Query, list[float | None]]:
        assert isinstance(query, Query), "lines are texts"
        scores: list[float | None] = []
        for system, parts in zip(panel.systems, searcher.parts(query, panel), strict=True):
            gallery, clip = views[system.model], clips[system.model]
            vector, exclusion = searched(system.strategy, parts, gallery.embeddings)
            if exclusion and exclusion.focus is not None and video:
                clip = gallery.clips(exclusion, [gallery.row_of[video.video_id]])[0]
            scores.append(None if vector is None else round(float(scores_of(clip, vector, exclusion)), 4))
        return query, scores

    found = []
    for number, each in enumerate(searcher.each(lines, panel, scored), 1):
        if isinstance(each, Nt2vrError):
            raise type(each)(f"Line {number}: {each}")
        found.append(each)
    queries = tuple(query for query, _ in found)
    verdicts = tuple(searcher.judge(query, video) if video else None for query in queries)
    by_system = zip(panel.systems, zip(*(scores for _, scores in found), strict=True), strict=True)
    judged_by = "captions" if any(verdicts) and searcher.judge is judge_by_captions else ""
    return Match(queries, verdicts, tuple(Scored(system, scores) for system, scores in by_system), judged_by)
