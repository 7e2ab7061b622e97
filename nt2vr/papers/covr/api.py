"""What `import nt2vr` offers for retrieval by a picture plus a text."""

from contextlib import closing
from pathlib import Path

from nt2vr.api import Evaluation, load_model
from nt2vr.errors import ConfigError
from nt2vr.files import AnyPath, expanded
from nt2vr.papers.covr.data import CovrData
from nt2vr.papers.covr.submission import write_submission
from nt2vr.progress import Progress, silent
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.world import WORLD


def evaluate_covr(
    model: AnyPath,
    data: CovrData,
    data_dir: AnyPath | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate covr, retrieval by a picture plus a text; the Evaluate tab lists the report."""
    encoder = load_model(model, data_dir, device).encoder
    with closing(Services(Settings.read(data_dir, device))) as services:
        report = services.evaluations.evaluate_model(data, encoder, progress)
        services.evaluations.archive.add(report)
    return Evaluation(report)


def submit_covr(
    model: AnyPath,
    data: CovrData,
    file: AnyPath,
    system: str = "sum",
    data_dir: AnyPath | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> list[Path]:
    """Write what the test server of CIRR takes, see `write_submission`."""
    encoder = load_model(model, data_dir, device).encoder
    if data.name == WORLD:
        raise ConfigError("The built-in world has no test server. Name the folder of CIRR.")
    with closing(Services(Settings.read(data_dir, device))) as services:
        benchmark = data.load(encoder, services.evaluations.places, progress)
        return write_submission(
            benchmark, encoder=encoder, system=system, path=expanded(file), progress=progress
        )
