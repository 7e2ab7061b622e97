"""The report that comes with the app: of the built-in gallery, ready to be opened."""

import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from nt2vr.evaluation.report import Report
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.settings import ASSETS

# By benchmarks.ready_report.
READY = ASSETS / "report.tar.xz"


def ready_report(path: Path = READY) -> Report:
    with TemporaryDirectory() as folder, tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
        return load_report(Path(folder))
