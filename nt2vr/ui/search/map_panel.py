"""Map below the results: its component, and the event that draws it."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np

from nt2vr.library.galleries import Galleries
from nt2vr.negation.parse.forms import forms
from nt2vr.search.answers import Answer
from nt2vr.search.reading import with_words
from nt2vr.search.strategies import Vector
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.column_view import Marked
from nt2vr.ui.search.map_view import BAD, GOOD, OTHER, Kind, map_view
from nt2vr.ui.web.inputs import event_value

SAMPLE = 64  # texts whose mean is the mean text
KINDS = {"right": GOOD, "violation": BAD, "miss": OTHER, None: OTHER}


@dataclass(frozen=True)
class MapPanel:
    """Draws the map."""

    galleries: Galleries
    media: Media

    def on_draw(self, answer: Answer | None, marked: Marked, event: gr.EventData) -> dict[str, Any]:
        """Draw the map of one system, the first if there are fewer."""
        column = event_value(event, "column", int)
        if answer is None or not answer.rankings:
            return {"open": True, "note": "Search first."}
        column = column if 0 <= column < len(answer.rankings) else 0
        kind_of = self._kind_of(answer, column, marked)
        return map_view(
            answer,
            column,
            kind_of,
            lambda video: self.media.urls(answer.gallery, video),
            lambda: self._mean_text(answer, column),
        )

    def _kind_of(self, answer: Answer, column: int, marked: Marked) -> Kind:
        """Judge by the evaluation whose query this is, else by the drawn scenes, where these explain the verdicts.

        They do not of a library, whose captions take milliseconds per clip to read: then only results are judged.
        """
        if marked.video_ids:
            return lambda video: GOOD if video.video_id in marked.video_ids else OTHER
        ranking, judge = answer.rankings[column], self.galleries.built_in.judge
        query = with_words(answer.query, ranking.read_as) if ranking.read_as else answer.query
        if answer.gallery or any(
            hit.verdict != judge(query, self.galleries.built_in.video(hit.video_id)) for hit in ranking.hits
        ):
            return lambda video: KINDS[answer.verdict(video.video_id)]
        return lambda video: KINDS[judge(query, video)]

    def _mean_text(self, answer: Answer, column: int) -> Vector:
        """Average captions of the gallery, or example sentences if it has none."""
        encoder = self.galleries.encoder(answer.rankings[column].system.model)
        videos = self.galleries.searcher(answer.gallery).gallery.videos
        captioned = [video.captions[0] for video in videos if video.captions]
        texts = captioned[:: max(1, len(captioned) // SAMPLE)][:SAMPLE] or [form.example for form in forms()]
        return np.asarray(encoder.encode_text(texts).mean(axis=0), np.float32)
