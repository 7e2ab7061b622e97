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
from nt2vr.ui.search.clip_view import backwards_view, detail_view, film_view
from nt2vr.ui.search.columns import boxes_text
from nt2vr.ui.search.match_view import lines_of, match_view, own_pair, with_change
from nt2vr.ui.search.verdict_texts import verdict_text
from nt2vr.ui.search.why_view import chosen_columns, why_view
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions


@dataclass(frozen=True)
class ClipPanel:
    """Shows a clip of the answer on display.

    Attributes:
        first: returns the answer that is on display until the page has another.
    """

    galleries: Galleries
    media: Media
    permissions: Permissions
    first: Callable[[], Answer]

    def on_pick(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Enlarge a clip."""
        return self._enlarged(answer or self.first(), event_value(event, "id", str), request)

    def on_why(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Explain the scores of the enlarged clip under one or two systems."""
        answer = answer or self.first()
        video_id = event_value(event, "id", str)
        ranks = [seen.rank for seen in answer.see(video_id)]
        columns = chosen_columns(event_value(event, "columns", str), ranks)
        detail = self._enlarged(answer, video_id, request)
        whys = explain(answer, video_id, self.galleries.live.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    def on_match(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Score captions for the enlarged clip with the systems on display, after adding one by rules if asked to."""
        answer = answer or self.first()
        video_id = event_value(event, "id", str)
        change = event_value(event, "change", str)
        searcher = self.galleries.searcher(answer.gallery)
        typed = lines_of(event_value(event, "lines", str))
        lines = [] if typed else own_pair(answer.denied or answer.query)
        if not lines:
            lines = with_change(searcher, searcher.video(video_id), typed, change)
        match = None
        if len(lines) >= MIN_LINES:
            systems = [ranking.system.name for ranking in answer.rankings]
            match = searcher.match(Reference(video_id=video_id), lines, systems)
        return {**self._enlarged(answer, video_id, request), "match": match_view(lines, match)}

    def on_backwards(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> View:
        """Score the enlarged clip with its frames in reverse order, while it is played so."""
        answer = answer or self.first()
        video_id = event_value(event, "id", str)
        scores = scored_backwards(answer, video_id, self.galleries.live.encoder)
        detail = self._enlarged(answer, video_id, request)
        return backwards_view(detail, answer.see(video_id), scores)

    def _enlarged(self, answer: Answer, video_id: str, request: gr.Request) -> View:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict = answer.verdict(video_id)
        may_name_paths = self.permissions.may("paths", request)
        view = detail_view(
            video,
            answer.see(video_id),
            verdict or "",
            self.media.urls(answer.gallery, video),
            film_view(answer, video, searcher.gallery.videos),
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
