"""One clip enlarged: its facts, why it has its scores, and which caption fits it."""

from collections.abc import Callable
from dataclasses import dataclass

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.search.answers import Answer
from nt2vr.search.references import Reference
from nt2vr.search.searcher import MIN_LINES
from nt2vr.search.why import explain, scored_backwards
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip_view import backwards_view, detail_view, timeline_view
from nt2vr.ui.search.columns import boxes_text
from nt2vr.ui.search.match_view import lines_of, match_view, with_and_without_negation, with_change
from nt2vr.ui.search.verdict_texts import verdict_text
from nt2vr.ui.search.why_view import chosen_columns, why_view
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import event_text
from nt2vr.ui.web.permissions import Permissions, Visitor


@dataclass(frozen=True)
class ClipPanel:
    """Shows a clip of the answer on display.

    Attributes:
        first_answer: returns the answer that the page opens with, which is on display until another
            is.
    """

    galleries: Galleries
    media: Media
    permissions: Permissions
    first_answer: Callable[[], Answer]

    def on_pick(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        return self._enlarged(answer or self.first_answer(), event_text(event, "id"), request)

    def on_why(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Explain the scores of the enlarged clip under one or two systems."""
        answer = answer or self.first_answer()
        video_id = event_text(event, "id")
        ranks = [clip_score.rank for clip_score in answer.clip_scores(video_id)]
        columns = chosen_columns(event_text(event, "columns"), ranks)
        detail = self._enlarged(answer, video_id, request)
        whys = explain(answer, video_id, self.galleries.live.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    def on_match(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Score captions for the enlarged clip by the systems on display; a button adds a changed caption first."""
        answer = answer or self.first_answer()
        video_id = event_text(event, "id")
        change = event_text(event, "change")
        searcher = self.galleries.searcher(answer.gallery)
        lines = lines_of(event_text(event, "lines"))
        pair = [] if lines else with_and_without_negation(answer.denied or answer.query)
        lines = pair or with_change(searcher, searcher.video(video_id), lines, change)
        match = None
        if len(lines) >= MIN_LINES:
            systems = [ranking.system.name for ranking in answer.rankings]
            match = searcher.match(Reference(video_id=video_id), lines, systems)
        detail = self._enlarged(answer, video_id, request)
        return {**detail, "match": match_view(lines, match)}

    def on_backwards(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Score the enlarged clip with its frames in reverse order; the browser plays it backwards."""
        answer = answer or self.first_answer()
        video_id = event_text(event, "id")
        scores = scored_backwards(answer, video_id, self.galleries.live.encoder)
        detail = self._enlarged(answer, video_id, request)
        return backwards_view(detail, answer.clip_scores(video_id), scores)

    def _enlarged(self, answer: Answer, video_id: str, request: Visitor) -> View:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict = answer.verdict(video_id)
        may_name_paths = self.permissions.may("paths", request)
        view = detail_view(
            video,
            answer.clip_scores(video_id),
            verdict or "",
            self.media.urls(answer.gallery, video),
            timeline_view(answer, video, searcher.gallery.videos),
            judged_by=answer.judged_by,
            names_paths=may_name_paths and not self.permissions.space_owner,
        )
        text = verdict_text(answer, video, verdict)
        return {
            **view,
            "mark": text.mark,
            "meaning": text.meaning,
            "boxes": boxes_text(answer, video, verdict or ""),
        }
