"""Evaluations that visitors start, from the page or the API, as far as they may."""

from concurrent.futures import Future

from nt2vr.errors import ConfigError
from nt2vr.evaluation.covr_data import CovrData
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.sources import Data
from nt2vr.files import expanded
from nt2vr.progress import Job
from nt2vr.ui.web.permissions import Permissions, Visitor
from nt2vr.world import WORLD


def start_evaluation(
    evaluations: Evaluations,
    permissions: Permissions,
    visitor: Visitor,
    name: str,
    systems: list[str],
    split: str = "test",
) -> Future[Job[str]]:
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


def start_covr_evaluation(
    evaluations: Evaluations,
    permissions: Permissions,
    visitor: Visitor,
    name: str,
    split: str,
    per_kind: int,
    model: str,
) -> Future[Job[str]]:
    """Start an evaluation of pictures plus texts on data with a name as in `CovrData`; errors as above."""
    if not permissions.may("delete", visitor):
        evaluations.archive.check_room()
    if not name or not model:
        raise ConfigError("Choose data, a model and a number of queries to evaluate.")
    if name != WORLD:
        permissions.check("paths", visitor)
        name = str(expanded(name))
    return evaluations.start_covr(CovrData(name, split, per_kind if name == WORLD else 0), model)
