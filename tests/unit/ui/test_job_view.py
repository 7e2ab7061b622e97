"""Background jobs, as the page shows them."""

from dataclasses import replace

from nt2vr.progress import Job
from nt2vr.ui.job_view import job_view

RUNNING = Job[str](
    1, "Videos", ("CLIP", "CLIP-neg"), "1", "running", "reading clips", "a.mp4", 30, 120, 2.5, 36.0
)


def test_progress_has_rate_remaining_time_and_current_file() -> None:
    view = job_view(RUNNING, "indexing")
    assert view["doing"] == "reading clips: 30 of 120"
    assert view["rate"] == "2.5 per second · about 36 s left"
    assert view["current"] == "a.mp4"
    assert view["share"] == "25.0"
    assert view["state_text"] == "indexing"
    assert view["models"] == "CLIP, CLIP-neg"


def test_an_unknown_end_prepares_and_a_finished_job_hides() -> None:
    beginning = replace(RUNNING, total=0, done=0, per_second=0, remaining_s=None)
    finished = replace(RUNNING, state="finished", result="r")
    assert job_view(beginning, "")["state"] == "preparing"
    assert job_view(finished, "") == {}
    assert job_view(None, "") == {}


def test_a_failed_job_says_why() -> None:
    view = job_view(replace(RUNNING, state="failed", error="No space."), "indexing")
    assert view["error"] == "No space."
    assert view["state_text"] == "failed"
    assert view["under_way"] is False
    assert job_view(replace(RUNNING, state="stopped"), "indexing")["state_text"] == "cancelled"
