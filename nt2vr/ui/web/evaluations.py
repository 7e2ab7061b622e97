"""Evaluations that visitors start, from the page or the API, as far as they may."""

from concurrent.futures import Future

from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.runner import Job
from nt2vr.evaluation.sources import Data
from nt2vr.ui.web.permissions import Permissions, Visitor


def start_evaluation(
    evaluations: Evaluations,
    permissions: Permissions,
    visitor: Visitor,
    name: str,
    systems: list[str],
    split: str = "test",
) -> Future[Job]:
    """Start an evaluation on data with a name as in `Data`; return a future of the finished job.

    Raises:
        AccessError: if the visitor may not name data of this machine.
        ConfigError: if there is no room for its report, or it cannot be started.
    """
    if not permissions.may("delete", visitor):
        evaluations.archive.check_room()
    data = Data((name or "").strip())
    if data.is_path:
        permissions.check("paths", visitor)
        data = Data(data.name, split=split)  # type: ignore[arg-type]
    return evaluations.start(data, systems or [])
