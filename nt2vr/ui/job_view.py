"""Background jobs as plain data for templates; independent of Gradio."""

from typing import Any

from nt2vr.progress import Job, duration_text, percent_text
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.view import Redact, View

# In place of the data's name, for visitors who may not learn it.
OWN_DATA = "data of the owner"


def job_view(job: Job[Any] | None, running_text: str, redact: Redact = str) -> View:
    """Show a job as plain data for a template; nothing of one that finished.

    Args:
        running_text: says what a running one does, such as "indexing".
        redact: words a message for this visitor, who may not learn every path.
    """
    if job is None or job.state == "finished":
        return {}
    state: str = job.state
    if state in ("waiting", "running") and not job.total:
        state = "preparing"
    doing = job.doing
    if job.total:
        doing += f": {job.done:,} of {job.total:,}"
    times = []
    if job.per_second:
        times.append(f"{job.per_second:,.1f} per second")
    if job.remaining_s is not None:
        times.append(f"about {duration_text(job.remaining_s)} left")
    return {
        "number": job.number,
        "state": state,
        "state_text": state_text(job, running_text),
        "subject": job.subject if redact(job.subject) == job.subject else OWN_DATA,
        "models": ", ".join(map(short_name, job.models)),
        "doing": doing,
        "current": redact(job.current),
        "rate": " · ".join(times),
        "share": percent_text(job.done, job.total),
        "error": redact(job.error),
        "under_way": job.is_under_way,
    }


def is_under_way(job: Job[Any] | None) -> bool:
    return job is not None and job.is_under_way


def state_text(job: Job[Any], running_text: str) -> str:
    """Write a job's state for people; `running_text` says what a running one does."""
    return {"running": running_text, "stopped": "cancelled"}.get(job.state, job.state)
