"""Enlarged clip: the component's events, which show it, explain its scores, and ask which caption fits it."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.search.answers import Answer
from nt2vr.search.match import match
from nt2vr.search.references import Reference
from nt2vr.search.why import explain, scored_backwards
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.clip_view import backwards_view, detail_view, film_view
from nt2vr.ui.search.match_view import asks, lines_of, match_view, with_change
from nt2vr.ui.search.why_view import chosen_columns, why_view
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions


@dataclass(frozen=True)
class ClipPanel:
    """Shows a clip of the answer on display."""

    galleries: Galleries
    media: Media
    permissions: Permissions

    def on_pick(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        return {} if answer is None else self._enlarged(answer, event_value(event, "id", str), request)

    def on_why(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Explain the scores of the enlarged clip under one or two systems."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        columns = chosen_columns(event_value(event, "columns", str), [seen.rank for seen in answer.see(video_id)])
        detail = self._enlarged(answer, video_id, request)
        whys = explain(answer, video_id, self.galleries.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    def on_match(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Score captions for the enlarged clip with the systems on display, after adding one by rules if asked to."""
        if answer is None:
            return {}
        video_id, change = event_value(event, "id", str), event_value(event, "change", str)
        searcher = self.galleries.searcher(answer.gallery)
        lines = lines_of(event_value(event, "lines", str))
        lines = with_change(searcher, searcher.video(video_id), lines, change)
        systems = [ranking.system.name for ranking in answer.rankings]
        found = match(searcher, Reference((), video_id), lines, systems) if asks(lines) else None
        return {**self._enlarged(answer, video_id, request), "match": match_view(lines, found)}

    def on_backwards(self, answer: Answer | None, event: gr.EventData, request: gr.Request) -> dict[str, Any]:
        """Score the enlarged clip with its frames in reverse order, while it is played so."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        scores = scored_backwards(answer, video_id, self.galleries.encoder)
        return backwards_view(self._enlarged(answer, video_id, request), answer.see(video_id), scores)

    def _enlarged(self, answer: Answer, video_id: str, request: gr.Request) -> dict[str, Any]:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict, urls = answer.verdict(video_id) or "", self.media.urls(answer.gallery, video)
        film = film_view(answer, video, searcher.gallery.videos)
        tells = self.permissions.may("paths", request) and not self.permissions.space_owner
        return detail_view(video, answer.see(video_id), verdict, urls, film, answer.judged_by, tells)
