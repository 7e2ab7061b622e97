"""Background library updates, started from Search and Library alike, as template data."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.errors import NotIndexedError
from nt2vr.library.jobs import IndexJob, IndexJobs
from nt2vr.search.answers import Answer
from nt2vr.search.galleries import Galleries
from nt2vr.ui.job_view import job_view
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions

WORD = "indexing"


@dataclass(frozen=True)
class Indexing:
    """Updates of libraries, after each of which searches see what is new."""

    jobs: IndexJobs
    galleries: Galleries

    def start(self, library_id: str, models: Iterable[str]) -> None:
        """Update a library under each of the models."""
        for model in models:
            self.galleries.built_in.models.find(model)
            ended = self.jobs.start(library_id, model)
            ended.add_done_callback(lambda _: self.galleries.forget(library_id))

    def under_way(self, library_id: str) -> IndexJob | None:
        """Return the update of a library that is running, or else waiting, if any."""
        return next((job for job in self.jobs.jobs if job.key == library_id and job.is_under_way), None)


def index_view(
    answer: Answer | None,
    problem: NotIndexedError | None,
    job: IndexJob | None,
    refusal: str = "",
    tell: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Show what a library lacks of its index, with a button that has it indexed, or how far that has come.

    Args:
        job: the library's update, if it is under way or has failed.
        refusal: why this visitor may not start one; empty if they may.
        tell: as `job_view` takes it.
    """
    if job is not None:
        return {"job": job_view(job, WORD, tell)}
    if problem is not None:
        return {"text": str(problem), "models": "|".join(problem.models), "refusal": refusal}
    behind = (
        {ranking.system.model: ranking.missing for ranking in answer.rankings if ranking.missing} if answer else {}
    )
    if not behind:
        return {}
    parts = [f"{count:,} clips are not indexed by {model}" for model, count in behind.items()]
    return {"text": f"{'; '.join(parts)}: they were not searched.", "models": "|".join(behind), "refusal": refusal}


def wire_indexing(
    indexing: Indexing,
    permissions: Permissions,
    gallery: gr.Dropdown,
    panel: gr.HTML,
    timer: gr.Timer,
    ask: gr.Textbox,
    quiet: Mapping[str, Any],
) -> None:
    """Let a panel start and follow the indexing of the library that is searched.

    Args:
        gallery: the library's key.
        panel: shows `index_view`; its event `start` names the models by which the library is not indexed.
        timer: ticks while it is under way.
        ask: changes when it has ended, to search once more.
    """

    @user_errors
    def on_index(key: str, event: gr.EventData, request: gr.Request) -> tuple[Any, Any]:
        permissions.check("import", request)
        models = event_value(event, "models", str).split("|")
        indexing.start(indexing.galleries.key(key), models)
        return index_view(None, None, indexing.under_way(key)), gr.Timer(active=True)

    @user_errors
    def on_indexing(key: str, request: gr.Request) -> tuple[Any, Any, Any]:
        job = indexing.under_way(key)
        if job is not None:
            return index_view(None, None, job), gr.skip(), gr.skip()
        last = indexing.jobs.of(key) if key else None
        return (
            index_view(None, None, last, tell=permissions.teller(request)),
            gr.Timer(active=False),
            f"{time.monotonic()}",
        )

    panel.start(on_index, gallery, [panel, timer], **quiet)
    timer.tick(on_indexing, gallery, [panel, timer, ask], queue=False, **quiet)
