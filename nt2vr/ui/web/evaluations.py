"""Evaluations started by visitors, from the page or over the API, within their permissions."""

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
    """Start an evaluation; return a future of the finished job.

    Args:
        evaluations: runs it.
        permissions: of visitors.
        visitor: asks for it.
        name: of the data, as in `Data`.
        systems: their names.
        split: of a dataset.

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
